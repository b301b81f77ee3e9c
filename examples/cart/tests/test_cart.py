import pytest

from shop.catalog import UnknownProduct


def test_new_cart_is_empty(cart):
    assert cart.count() == 0
    assert cart.subtotal() == 0


def test_add_one(cart):
    cart.add("MUG")
    assert cart.count() == 1
    assert cart.subtotal() == 850


def test_adding_twice_adds_up(cart):
    cart.add("TEA")
    cart.add("TEA", 2)
    assert cart.count() == 3


def test_cannot_add_nothing(cart):
    with pytest.raises(ValueError):
        cart.add("MUG", 0)


def test_cannot_add_what_is_not_sold(cart):
    with pytest.raises(UnknownProduct):
        cart.add("CAR")


def test_remove(cart):
    cart.add("MUG")
    cart.add("TEA", 3)
    cart.remove("TEA")
    assert cart.count() == 1


def test_remove_what_is_not_there(cart):
    cart.remove("MUG")
    assert cart.count() == 0


def test_subtotal_of_several_products(cart):
    cart.add("MUG", 2)
    cart.add("TEA")
    assert cart.subtotal() == 2120


def test_average_price(cart):
    cart.add("MUG", 4)
    cart.add("TEA")
    assert cart.average_price() == 635


def test_average_price_of_an_empty_cart(cart):
    assert cart.average_price() is None


def test_dearest(cart):
    cart.add("TEA")
    cart.add("POT")
    assert cart.dearest().sku == "POT"


def test_dearest_of_an_empty_cart(cart):
    assert cart.dearest() is None
