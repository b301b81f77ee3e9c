from weather.stations import postion


def describe(name):
    latitude, longitude = position(name)
    return f"{name} lies at {latitude} N, {longitude} E"
