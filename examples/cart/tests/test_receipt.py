from shop.receipt import due, money, receipt


def test_money():
    assert money(1205) == "12.05"
    assert money(7) == "0.07"


def test_due_includes_shipping(cart):
    cart.add("POT")
    assert due(cart) == 2980


def test_receipt(cart):
    cart.add("MUG", 2)
    assert receipt(cart) == "2 x Mug: 17.00\nTotal: 21.90"
