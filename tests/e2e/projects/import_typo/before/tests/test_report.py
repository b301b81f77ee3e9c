from weather.report import describe


def test_describe():
    assert describe("Oslo") == "Oslo lies at 59.9 N, 10.7 E"
