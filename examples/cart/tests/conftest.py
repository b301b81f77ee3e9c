import pytest

from shop.cart import Cart
from shop.catalog import Catalog, Product


@pytest.fixture
def catalog():
    return Catalog(
        [
            Product("MUG", "Mug", 850, "kitchen"),
            Product("POT", "Tea pot", 2490, "kitchen"),
            Product("TEA", "Green tea", 420, "food"),
            Product("BAG", "Paper bag", 15),
        ]
    )


@pytest.fixture
def cart(catalog):
    return Cart(catalog)
