VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def from_roman(text):
    """The number that a Roman numeral stands for."""
    total = 0
    previous = 0
    for letter in reversed(text.upper()):
        value = VALUES[letter]
        if value < previous:
            total -= value
        else:
            total += value
        previous = value
    return total
