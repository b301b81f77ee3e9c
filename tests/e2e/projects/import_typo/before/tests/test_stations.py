from weather.stations import position


def test_position():
    assert position("Rome") == (41.9, 12.5)
