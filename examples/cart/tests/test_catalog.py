import pytest

from shop.catalog import Catalog, UnknownProduct


def test_find(catalog):
    assert catalog.find("MUG").cents == 850


@pytest.mark.parametrize("written", ["mug", " MUG ", "Mug"])
def test_find_is_lenient(catalog, written):
    assert catalog.find(written).name == "Mug"


def test_unknown_product(catalog):
    with pytest.raises(UnknownProduct):
        catalog.find("CAR")


def test_category_is_sorted_by_price(catalog):
    assert [p.sku for p in catalog.in_category("kitchen")] == ["MUG", "POT"]


def test_empty_category(catalog):
    assert catalog.in_category("toys") == []


def test_length():
    assert len(Catalog([])) == 0
