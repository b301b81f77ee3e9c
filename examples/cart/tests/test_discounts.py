import pytest

from shop.discounts import percent_off, shipping, three_for_two, volume_percent


@pytest.mark.parametrize(("cents", "percent", "left"), [(1000, 0, 1000), (1000, 25, 750), (99, 50, 49)])
def test_percent_off(cents, percent, left):
    assert percent_off(cents, percent) == left


def test_no_discount_over_the_price():
    with pytest.raises(ValueError):
        percent_off(1000, 101)


@pytest.mark.parametrize(("quantity", "price"), [(1, 300), (2, 600), (3, 600), (7, 1500)])
def test_three_for_two(quantity, price):
    assert three_for_two(300, quantity) == price


def test_volume_discount_starts_at_ten_pieces():
    assert volume_percent(9) == 0
    assert volume_percent(10) == 5


def test_volume_discount_for_many_pieces():
    assert volume_percent(49) == 5
    assert volume_percent(50) == 10


def test_shipping_is_free_for_large_orders():
    assert shipping(4999) == 490
    assert shipping(5000) == 0
