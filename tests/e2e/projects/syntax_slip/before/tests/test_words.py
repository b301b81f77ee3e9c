from tally.words import most_common, words


def test_words():
    assert words("To be or not to be") == ["to", "be", "or", "not", "to", "be"]


def test_most_common():
    assert most_common("b a b a b c", 2) == ["b", "a"]


def test_nothing():
    assert most_common("") == []
