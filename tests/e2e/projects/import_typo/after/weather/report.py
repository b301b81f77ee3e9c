from weather.stations import position


def describe(name):
    latitude, longitude = position(name)
    return f"{name} lies at {latitude} N, {longitude} E"
