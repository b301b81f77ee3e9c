class Thermostat:
    """Heats below the target and stops a little above it."""

    def __init__(self, target, slack=0.5):
        self.target = target
        self.slack = slack
        self.heating = False

    def update(self, measured):
        if measured < self.target - self.slack:
            self.heating = True
        elif measured > self.target + self.slack:
            self.heating = False
        return self.heating

    def describe(self):
        state = "on" if self.heating else "off"
        return f"{self.target:.1f} degrees, {state}"


def to_fahrenheit(celsius):
    return celsius * 9 / 5 + 32
