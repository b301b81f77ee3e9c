from shop import invoice, shipping, total


def test_total():
    assert total([120, 80, 50]) == 250


def test_total_of_a_refund():
    assert total([120, -20]) == 100


def test_total_of_nothing():
    assert total([]) == 0


def test_shipping_is_free_for_large_orders():
    assert shipping(4999) == 490
    assert shipping(5000) == 0


def test_invoice():
    assert invoice([3000, 1000]) == 4490
