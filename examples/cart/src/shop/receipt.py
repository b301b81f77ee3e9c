"""What the customer gets to read."""

from shop.discounts import percent_off, shipping, volume_percent


def money(cents):
    """Return an amount as people write it: 12.05."""
    return f"{cents // 100}.{cents % 100:02d}"


def due(cart):
    """Return what the customer pays: the discounted price and the shipping."""
    price = percent_off(cart.subtotal(), volume_percent(cart.count()))
    return price + shipping(price)


def receipt(cart):
    """Return the receipt, one line for each product and one for the sum."""
    rows = [f"{quantity} x {product.name}: {money(product.cents * quantity)}" for product, quantity in cart.lines()]
    rows.append(f"Total: {money(due(cart))}")
    return "\n".join(rows)
