"""What the shop sells."""

from dataclasses import dataclass


class UnknownProduct(LookupError):
    """Nothing is sold under this number."""


@dataclass(frozen=True)
class Product:
    """One thing on the shelf; `cents` is the price of one piece."""

    sku: str
    name: str
    cents: int
    category: str = "other"


class Catalog:
    """All products, by their number."""

    def __init__(self, products):
        self._by_sku = {product.sku: product for product in products}

    def __len__(self):
        return len(self._by_sku)

    def find(self, sku):
        """Return the product with this number, written in any case."""
        try:
            return self._by_sku[sku.strip().upper()]
        except KeyError:
            raise UnknownProduct(sku) from None

    def in_category(self, category):
        """Return the products of one category, cheapest first."""
        found = [p for p in self._by_sku.values() if p.category == category]
        return sorted(found, key=lambda p: p.cents)
