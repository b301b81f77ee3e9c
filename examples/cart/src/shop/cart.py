"""What a customer is about to buy."""


class Cart:
    """Products and how many of each, in the order they were added."""

    def __init__(self, catalog):
        self._catalog = catalog
        self._quantities = {}

    def add(self, sku, quantity=1):
        """Put some pieces of a product into the cart."""
        if quantity < 1:
            raise ValueError(f"cannot add {quantity} pieces")
        product = self._catalog.find(sku)
        self._quantities[product.sku] = self._quantities.get(product.sku, 0) + quantity

    def remove(self, sku):
        """Take a product out again, however many pieces there are."""
        self._quantities.pop(self._catalog.find(sku).sku, None)

    def lines(self):
        """Return (product, quantity) pairs."""
        return [(self._catalog.find(sku), quantity) for sku, quantity in self._quantities.items()]

    def count(self):
        """Return how many pieces are in the cart."""
        return sum(self._quantities.values())

    def subtotal(self):
        """Return the price of everything, before discounts."""
        total = 0
        for product, quantity in self.lines():
            total = product.cents * quantity
        return total

    def average_price(self):
        """Return the mean price of the products, rounded down; None for an empty cart."""
        prices = [product.cents for product, _ in self.lines()]
        return sum(prices) // len(prices)

    def dearest(self):
        """Return the product with the highest price; None for an empty cart."""
        products = [product for product, _ in self.lines()]
        return max(products, key=lambda p: p.cents, default=None)
