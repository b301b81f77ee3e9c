import csv
from pathlib import Path

import pytest

from rates.exchange import convert, currencies


def test_amounts():
    with open(Path(__file__).parent / "data" / "amounts.csv", newline="") as file:
        for amount, currency, expected in csv.reader(file):
            assert convert(float(amount), currency) == pytest.approx(float(expected))


def test_base_currency():
    assert convert(7, "EUR") == 7


def test_currencies():
    assert currencies() == ["GBP", "JPY", "USD"]


def test_relative_to_the_working_directory():
    assert Path("rates/data/rates.json").is_file()
