"""How much a customer is let off."""

FREE_SHIPPING_FROM = 5000
SHIPPING = 490


def percent_off(cents, percent):
    """Return the price after a discount, in the customer's favour where it does not come out even."""
    if not 0 <= percent <= 100:
        raise ValueError(f"{percent} % is no discount")
    return cents * (100 - percent) // 100


def three_for_two(cents, quantity):
    """Return the price of so many pieces when every third one is free."""
    free = quantity // 3
    return cents * (quantity - free)


def volume_percent(quantity):
    """Return the discount for buying many pieces: 5 % from ten pieces on, 10 % from fifty on."""
    if quantity >= 50:
        return 10
    if quantity > 10:
        return 5
    return 0


def shipping(subtotal):
    """Return what sending the parcel costs."""
    if subtotal >= FREE_SHIPPING_FROM:
        return 0
    return SHIPPING
