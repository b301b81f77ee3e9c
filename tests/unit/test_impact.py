"""A change selects the tests that it may affect, and no fewer."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import impact
from regreen.source import ProjectSources
from regreen.values import Spectrum

ROOT = Path("/p")
CART, SHOP, TEST = ROOT / "cart.py", ROOT / "shop.py", ROOT / "test_cart.py"
FILES = {
    CART: b"import math\n\nRATE = 2\n\n\ndef total(x):\n    return x * RATE\n\n\n@cached\ndef other(x):\n    y = x\n    return y\n",
    SHOP: b"from cart import total\n\n\ndef sell():\n    return total(3)\n",
    TEST: b"import shop\n\n\ndef test_a():\n    assert shop.sell()\n",
}
SPECTRUM = Spectrum(
    {
        "total": {CART: frozenset({6})},
        "other": {CART: frozenset({11, 12})},
        "sell": {SHOP: frozenset({4})},
    }
)


def selected(*lines: int) -> tuple[str, ...]:
    sources = ProjectSources(FILES, ROOT)
    return impact.select({CART: lines}, SPECTRUM, sources, complete=True).nodeids


def test_a_line_selects_the_tests_that_ran_any_line_of_its_function() -> None:
    assert selected(6) == ("total",)
    assert selected(12) == ("other",)


def test_a_constant_selects_the_tests_of_the_functions_that_read_it() -> None:
    assert selected(2) == ("total",)


def test_an_import_selects_every_test_that_ran_the_file() -> None:
    assert selected(0) == ("total", "other")


def test_a_decorator_or_signature_selects_every_test_that_ran_the_file() -> None:
    assert selected(9) == ("total", "other")
    assert selected(10) == ("total", "other")


def test_the_reason_names_the_place() -> None:
    sources = ProjectSources(FILES, ROOT)
    assert impact.select({CART: [6]}, SPECTRUM, sources, complete=True).reason == "cover cart.py:7"


def test_importers_are_found_through_other_files() -> None:
    assert impact.importers(CART, ProjectSources(FILES, ROOT)) == {SHOP, TEST}


@pytest.mark.parametrize(
    "line",
    [
        "from .a import x",
        "from .a import *",
        "from . import a",
        "from ..pkg import a",
        "from ..pkg.a import x",
        "from pkg.a import *",
        "from pkg import a",
        "import pkg.a",
    ],
)
def test_every_way_of_importing_a_module_is_found(line: str) -> None:
    pkg = ROOT / "top" / "pkg"
    files = {
        ROOT / "top" / "__init__.py": b"",
        pkg / "__init__.py": b"",
        pkg / "a.py": b"x = 1\n",
        pkg / "b.py": line.replace(
            "pkg", "top.pkg", 1 if line.startswith(("from pkg", "import")) else 0
        ).encode(),
        pkg / "c.py": b"import os\n",
    }
    assert impact.importers(pkg / "a.py", ProjectSources(files, ROOT)) == {pkg / "b.py"}
