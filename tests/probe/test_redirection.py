"""What is imported is the copy, wherever the user's tree is installed from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .client import Copy, Probe, probe, write
from .environments import edges, environment, made

CODE = "def where():\n    return __file__\n"
RED = (
    "from {module} import where\ndef test_where():\n    assert '/copies/' in where().replace(chr(92), '/')\n"
)
LAYOUTS = {
    "flat": {"shop/__init__.py": CODE, "tests/test_it.py": RED.format(module="shop")},
    "single file": {"shop.py": CODE, "test_it.py": RED.format(module="shop")},
    "src": {
        "src/shop/__init__.py": CODE,
        "pytest.ini": "[pytest]\npythonpath = src\n",
        "tests/test_it.py": RED.format(module="shop"),
    },
    "namespace": {"acme/shop/cart.py": CODE, "tests/test_it.py": RED.format(module="acme.shop.cart")},
    "importlib mode": {
        "shop/__init__.py": CODE,
        "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
        "tests/test_it.py": RED.format(module="shop"),
    },
    "conftest tree": {
        "shop/__init__.py": CODE,
        "conftest.py": "import pytest\n@pytest.fixture\ndef outer(): return 1\n",
        "tests/__init__.py": "",
        "tests/deep/__init__.py": "",
        "tests/deep/conftest.py": "import pytest\n@pytest.fixture\ndef inner(outer): return outer + 1\n",
        "tests/deep/test_it.py": RED.format(module="shop") + "def test_two(inner): assert inner == 2\n",
    },
    "data files": {
        "shop/__init__.py": CODE,
        "shop/data.json": '{"a": 1}',
        "tests/test_it.py": RED.format(module="shop") + "import json, pathlib, shop\n"
        "def test_data():\n"
        "    folder = pathlib.Path(shop.__file__).parent\n"
        "    assert json.loads((folder / 'data.json').read_text()) == {'a': 1}\n"
        "def test_relative(): assert open('shop/data.json').read()\n",
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", ["host", "run"])
def test_every_layout_imports_the_copy(python: Path, tmp_path: Path, layout: str, mode: str) -> None:
    copy = Copy(tmp_path, LAYOUTS[layout])
    code = next(copy.root / name for name in LAYOUTS[layout] if LAYOUTS[layout][name] == CODE)
    with probe(python, mode) as started:
        plain = started.run(copy)
    with probe(python, mode) as started:
        patched = started.run(copy, overlaid=[str(code)])

    for ran in (plain, patched):
        assert set(ran.outcomes.values()) == {"passed"}
    assert plain.one("finished")["foreign"] == []
    assert str(code) in plain.one("finished")["loaded"]
    assert patched.one("finished")["origins"] == [str(code)]
    assert str(code) in patched.one("finished")["loaded"]


def test_what_is_never_imported_is_no_origin(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {**LAYOUTS["flat"], "other.py": "x = 1\n"})
    ran = host.run(copy, overlaid=[str(copy.root / "other.py")])
    assert ran.one("finished")["origins"] == []


INSTALLED = {
    "pyproject.toml": (
        "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
        "[project]\nname = 'shop'\nversion = '1'\n"
        "[tool.setuptools.packages.find]\nwhere = ['{where}']\n"
    ),
    "src/shop/__init__.py": CODE,
    "src/shop/inner/cart.py": CODE,
    "src/shop/__main__.py": "print(__file__)\n",
    "tests/test_it.py": (
        "import subprocess, sys, shop, shop.inner.cart\n"
        "def test_where(): assert '/copies/' in shop.where()\n"
        "def test_inner(): assert '/copies/' in shop.inner.cart.where()\n"
        "def test_program():\n"
        "    out = subprocess.run([sys.executable, '-m', 'shop'], stdout=subprocess.PIPE, check=True).stdout\n"
        "    assert b'/copies/' in out\n"
    ),
}


@pytest.mark.parametrize("strategy", ["pth", "finder", "strict"])
@pytest.mark.parametrize("mode", ["host", "run"])
@pytest.mark.parametrize("edge", [0, -1], ids=["oldest", "newest"])
def test_editable_installs_import_the_copy(tmp_path: Path, strategy: str, mode: str, edge: int) -> None:
    python = _own_environment(tmp_path, edge)
    copy = Copy(tmp_path, INSTALLED)
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
    )  # fmt: skip
    _install_editable(site, copy.user, strategy)
    assert (
        str(copy.user)
        in subprocess.run(
            [python, "-c", "import shop; print(shop.__file__)"], capture_output=True, text=True, check=True
        ).stdout
        or strategy == "strict"
    )

    with probe(python, mode) as started:
        roots = started.hello["roots"]
        ran = started.run(copy)

    assert set(ran.outcomes.values()) == {"passed"}, ran.records
    assert ran.one("finished")["foreign"] == []
    if strategy != "strict":
        assert roots == [str(copy.user / "src")]


def _own_environment(tmp_path: Path, edge: int) -> Path:
    """A fresh environment that borrows pytest from the shared one."""
    version = edges()[edge]
    shared = environment(version)
    folder = tmp_path / "env"
    subprocess.run([version.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    script = "import sysconfig; print(sysconfig.get_path('purelib'))"
    lent = subprocess.run([shared, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    site = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    (Path(site) / "lent.pth").write_text(lent + "\n")
    return python


def _install_editable(site: Path, user: Path, strategy: str) -> None:
    """What setuptools writes for an editable install, by setuptools itself where it makes a finder."""
    if strategy == "pth":
        (site / "__editable__.shop-1.pth").write_text(f"{user / 'src'}\n")
        return
    setuptools = made(edges()[-1], ("setuptools==75.6.0",))
    mapping = {"shop": str(user / "src/shop")}
    if strategy == "strict":
        mapping = {"shop": str(user / "src/shop/__init__.py"), "shop.inner": str(user / "src/shop/inner")}
    code = (
        "from setuptools.command.editable_wheel import _finder_template as make\n"
        f"print(make('__editable___shop_1_finder', {mapping!r}, {{}}))\n"
    )
    text = subprocess.run([setuptools, "-c", code], capture_output=True, text=True, check=True).stdout
    (site / "__editable___shop_1_finder.py").write_text(text)
    (site / "__editable__.shop-1.pth").write_text(
        "import __editable___shop_1_finder; __editable___shop_1_finder.install()"
    )


def test_a_sibling_project_is_imported_from_its_own_copy(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {"test_it.py": "import money\ndef test_money(): assert '/copies/' in money.__file__\n"},
    )
    for base in ("user", "copies/0"):
        write(tmp_path / base / "lib", {"money.py": "x = 1\n"})
    copy.roots.append([str(tmp_path / "user/lib"), str(tmp_path / "copies/0/lib")])
    ran = host.run(copy, env={"PYTHONPATH": str(tmp_path / "user/lib")})
    assert ran.outcomes == {"test_money": "passed"}


def test_a_project_module_that_comes_from_elsewhere_is_told(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "shop/__init__.py": CODE,
            "test_it.py": "import sys\nsys.path.insert(0, {!r})\nimport shop\ndef test_x(): pass\n".format(
                str(tmp_path / "elsewhere")
            ),
        },
    )
    write(tmp_path / "elsewhere", {"shop/__init__.py": CODE})
    ran = host.run(copy, confine=copy.confine(readable=[str(tmp_path / "elsewhere")]))
    assert ran.one("finished")["foreign"] == [["shop", str(tmp_path / "elsewhere/shop/__init__.py")]]


def test_a_stale_pyc_is_never_believed(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {"shop.py": "ANSWER = 1\n", "test_it.py": "import shop\ndef test_it(): assert shop.ANSWER == 2\n"},
    )
    code = copy.root / "shop.py"
    subprocess.run(
        [host.hello["executable"], "-c", "import shop"], cwd=copy.root, check=True, env={"PATH": ""}
    )
    assert list(copy.root.glob("__pycache__/shop*.pyc"))
    stat = code.stat()
    code.write_text("ANSWER = 2\n")
    os.utime(code, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert host.run(copy).outcomes == {"test_it": "passed"}


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege there")
def test_a_project_reached_through_a_link_is_the_copy_too(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, LAYOUTS["flat"])
    link = tmp_path / "link"
    link.symlink_to(copy.user)
    copy.roots = [[str(link), str(copy.root)]]
    ran = host.run(copy, env={"PYTHONPATH": str(copy.user)})
    assert ran.outcomes == {"test_where": "passed"}
    assert ran.one("finished")["foreign"] == []


def test_a_stale_pyc_of_a_test_file_is_never_believed(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"test_it.py": "def test_it(): assert 1 == 1\n"})
    assert host.run(copy, confine=copy.confine(keep_bytecode=True)).outcomes == {"test_it": "passed"}
    assert list(copy.root.glob("__pycache__/test_it*.pyc"))
    test = copy.root / "test_it.py"
    stat = test.stat()
    test.write_text("def test_it(): assert 1 == 2\n")
    os.utime(test, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert host.run(copy, confine=copy.confine(keep_bytecode=True)).outcomes == {"test_it": "failed"}


def test_without_leave_no_bytecode_is_written(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"shop.py": "x = 1\n", "test_it.py": "import shop\ndef test_it(): pass\n"})
    host.run(copy)
    assert not list(copy.root.rglob("*.pyc"))


def test_programs_that_tests_start_leave_no_bytecode_either(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "shop.py": "x = 1\n",
            "by_path.py": "y = 1\n",
            "test_it.py": (
                "import importlib.util, subprocess, sys\n"
                "def test_it():\n"
                "    subprocess.run([sys.executable, '-c', 'import shop'], check=True)\n"
                "    spec = importlib.util.spec_from_file_location('by_path', 'by_path.py')\n"
                "    spec.loader.exec_module(importlib.util.module_from_spec(spec))\n"
            ),
        },
    )
    assert host.run(copy, confine=copy.confine(keep_bytecode=True)).outcomes == {"test_it": "passed"}
    assert {p.name.partition(".")[0] for p in copy.root.rglob("*.pyc")} == {"test_it"}
