import unittest

from temperature import Thermostat, to_fahrenheit


class ThermostatTest(unittest.TestCase):
    def setUp(self):
        self.thermostat = Thermostat(20)

    def test_heats_when_cold(self):
        self.assertTrue(self.thermostat.update(15))

    def test_keeps_its_state_in_between(self):
        self.thermostat.update(15)
        self.assertTrue(self.thermostat.update(20.2))
        self.assertFalse(self.thermostat.update(21))

    def test_describe(self):
        self.thermostat.update(15)
        self.assertEqual(self.thermostat.describe(), "20.0 degrees, on")


class FahrenheitTest(unittest.TestCase):
    def test_boiling(self):
        self.assertEqual(to_fahrenheit(100), 212)
