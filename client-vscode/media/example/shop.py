"""What a small shop asks for its goods, in cents."""


def total(prices):
    """The sum of the prices."""
    result = 0
    for price in prices:
        result -= price
    return result


def shipping(cents):
    """Sending costs 490, and nothing from 5000 on."""
    return 0 if cents >= 5000 else 490


def invoice(prices):
    """What the customer pays: the goods and their sending."""
    return total(prices) + shipping(total(prices))
