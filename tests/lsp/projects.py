"""Small projects that the scenarios open. Each is written into a temporary folder."""

from __future__ import annotations

import json
import site
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

GOOD = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n"
BAD = GOOD.replace("+=", "-=")
TESTS = """from cart import total


def test_total():
    assert total([10, -15]) == -5


def test_empty():
    assert total([]) == 0
"""
CONFIG = "[tool.pytest.ini_options]\npythonpath = ['.']\n"
HOPELESS = "def answer(x):\n" + "".join(f"    x = x + {n} - {n}\n" for n in range(40)) + "    return x\n"
SLOW_TEST = "import time\nfrom deep import answer\n\n\ndef test_answer():\n    time.sleep(0.3)\n    assert answer(1) == 'no edit gives this'\n"


@dataclass(frozen=True)
class Shop:
    """A project with one module and its tests, all green."""

    root: Path

    @property
    def cart(self) -> Path:
        return self.root / "cart.py"

    @property
    def tests(self) -> Path:
        return self.root / "test_cart.py"


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def shop(root: Path, *, tests: str = TESTS, config: str = CONFIG, cart: str = GOOD) -> Shop:
    """Write the shop; pytest's own cache says that its tests were green."""
    write(root, {"pyproject.toml": config, "cart.py": cart, "test_cart.py": tests})
    known_green(root, "test_cart.py::test_total", "test_cart.py::test_empty")
    return Shop(root)


def hopeless(root: Path) -> Path:
    """A red test that a search works on for long, without success."""
    return write(root, {"pyproject.toml": CONFIG, "deep.py": HOPELESS, "test_deep.py": SLOW_TEST})


def known_green(root: Path, *nodeids: str) -> None:
    """What a green run of the user's own pytest leaves behind."""
    last_run(root, green=nodeids)


def last_run(root: Path, *, green: tuple[str, ...] = (), red: tuple[str, ...] = ()) -> None:
    cache = root / ".pytest_cache" / "v" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "nodeids").write_text(json.dumps([*green, *red]))
    (cache / "lastfailed").write_text(json.dumps(dict.fromkeys(red, True)))


def environment(folder: Path, *, with_pytest: bool = True, paths: tuple[Path, ...] = ()) -> Path:
    """A virtual environment that sees this one's pytest; gives its interpreter."""
    venv.create(folder, with_pip=False, symlinks=sys.platform != "win32")
    windows = sys.platform == "win32"
    python = folder / ("Scripts/python.exe" if windows else "bin/python")
    scheme = sysconfig.get_preferred_scheme("prefix")
    packages = Path(
        sysconfig.get_path(
            "purelib",
            "venv" if sys.version_info >= (3, 11) else scheme,
            {"base": str(folder), "platbase": str(folder)},
        )
    )
    lines = [str(path) for path in paths]
    if with_pytest:
        lines += [path for path in site.getsitepackages() if "site-packages" in path]
    packages.mkdir(parents=True, exist_ok=True)
    (packages / "shared.pth").write_text("\n".join(lines) + "\n")
    return python
