import pytest

from roman import from_roman


@pytest.mark.parametrize(
    ("text", "number"),
    [("I", 1), ("iii", 3), ("VI", 6), ("LX", 60), ("MDC", 1600)],
)
def test_adding(text, number):
    assert from_roman(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("IV", 4), ("IX", 9), ("XC", 90), ("MCMXCIV", 1994)],
    ids=["four", "nine", "[90]", "year::1994"],
)
def test_subtracting(text, number):
    assert from_roman(text) == number


def test_unknown_letter():
    with pytest.raises(KeyError):
        from_roman("A")
