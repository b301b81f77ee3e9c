STATIONS = {"oslo": (59.9, 10.7), "rome": (41.9, 12.5)}


def position(name):
    return STATIONS[name.lower()]
