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


def test_what_a_conftest_imports_is_imported_by_all_tests_below_it() -> None:
    files = {
        CART: b"x = 1\n",
        ROOT / "tests/shop/conftest.py": b"from cart import x\n",
        ROOT / "tests/shop/test_a.py": b"def test_a(x): pass\n",
        ROOT / "tests/shop/deep/test_b.py": b"def test_b(x): pass\n",
        ROOT / "tests/test_c.py": b"def test_c(): pass\n",
    }
    assert impact.importers(CART, ProjectSources(files, ROOT)) == {
        path for path in files if path.is_relative_to(ROOT / "tests/shop")
    }


@pytest.mark.parametrize(
    "text",
    [
        "pytest_plugins = 'fixtures'\n",
        'pytest_plugins = ["other", "fixtures"]\n',
        'pytest_plugins: tuple[str, ...] = (\n    "other",\n    "fixtures",\n)\n',
    ],
)
def test_what_pytest_loads_as_a_plugin_is_imported(text: str) -> None:
    files = {
        CART: b"x = 1\n",
        ROOT / "fixtures.py": b"from cart import x\n",
        ROOT / "tests/conftest.py": text.encode(),
        ROOT / "tests/test_a.py": b"def test_a(x): pass\n",
    }
    assert impact.importers(CART, ProjectSources(files, ROOT)) == set(files) - {CART}


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
