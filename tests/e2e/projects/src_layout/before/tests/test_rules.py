from ages import may_drive, may_vote, ticket


def test_children_do_not_vote():
    assert not may_vote(17)


def test_grown_ups_vote():
    assert may_vote(40)


def test_voting_starts_on_the_birthday():
    assert may_vote(18)


def test_driving():
    assert may_drive(18)
    assert may_drive(17, accompanied=True)
    assert not may_drive(17)


def test_tickets():
    assert [ticket(age) for age in (13, 14, 64, 65)] == ["child", "adult", "adult", "senior"]
