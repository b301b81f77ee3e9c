import unittest

from shop import invoice, shipping, total


class ShopTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([120, 80, 50]), 250)

    def test_total_of_a_refund(self):
        self.assertEqual(total([20, -120]), -100)

    def test_total_of_nothing(self):
        self.assertEqual(total([]), 0)

    def test_shipping_is_free_for_large_orders(self):
        self.assertEqual(shipping(4999), 490)
        self.assertEqual(shipping(5000), 0)

    def test_invoice(self):
        self.assertEqual(invoice([3000, 1000]), 4490)
