"""Any project configuration works, and none of it hides a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from .client import Copy, Probe, probe
from .environments import Python, edges, environment, made

CODE = {
    "shop.py": "def double(n):\n    return n + n\n",
    "test_one.py": (
        "import shop\n"
        "def test_red(): assert shop.double(2) == 5\n"
        "def test_green(): assert shop.double(2) == 4\n"
    ),
    "test_two.py": (
        "import pytest, shop\n"
        "@pytest.mark.slow\n"
        "def test_slow(): assert shop.double(1) == 2\n"
        "def test_red_too(): assert shop.double(1) == 3\n"
    ),
}
ALL = {"test_red": "failed", "test_green": "passed", "test_slow": "passed", "test_red_too": "failed"}
INI = "[pytest]\nmarkers = slow\n"


def ini(addopts: str, *more: str) -> str:
    return INI + f"addopts = {addopts}\n" + "".join(line + "\n" for line in more)


PLAIN = {
    "none": INI,
    "first failure": ini("-x"),
    "few failures": ini("--maxfail=1"),
    "verbose": ini("-vv -ra --durations=3 --tb=long --showlocals"),
    "quiet": ini("-qq --tb=short"),
    "strict": ini("--strict-markers --strict-config"),
    "last failed": ini("--lf --ff"),
    "new first": ini("--nf"),
    "stepwise": ini("--stepwise"),
    "no cache": ini("-p no:cacheprovider --strict-config"),
    "no capture": ini("-s"),
    "capture sys": ini("--capture=sys"),
    "warnings are errors": ini("-W error"),
    "warnings are errors in the file": INI + "filterwarnings = error\n",
    "plain asserts": ini("--assert=plain"),
    "junit": ini("--junitxml=out.xml"),
    "a path": ini("test_one.py test_two.py"),
    "debugger": ini("--pdb"),
    "importlib": ini("--import-mode=importlib"),
    "doctests": ini("--doctest-modules"),
    "no terminal": ini("-p no:terminal"),
}
WITH_PLUGINS = {
    "xdist": ini("-n 2"),
    "xdist auto": ini("-n auto --dist loadfile"),
    "cov": ini("--cov=shop --cov-report=term --cov-fail-under=100"),
    "cov and xdist and errors": ini("-n 2 --cov=shop -W error -p no:asyncio"),
    "randomly": ini("-p randomly"),
    "randomly seeded": ini("--randomly-seed=7"),
    "timeout": ini("--timeout=20"),
    "no plug-in": ini("-p no:xdist -p no:cov -p no:pytest_cov -p no:randomly"),
    "errors": ini("-p no:asyncio", "filterwarnings = error"),
}


@pytest.mark.parametrize("name", PLAIN)
def test_pytest_s_own_options_hide_nothing(host: Probe, tmp_path: Path, name: str) -> None:
    copy = Copy(tmp_path, {**CODE, "pytest.ini": PLAIN[name]})
    ran = host.run(copy)

    assert ran.outcomes == ALL
    assert ran.one("finished")["exit"] == 1
    assert not (copy.root / "out.xml").exists()
    assert host.run(copy, "test_one.py::test_green").outcomes == {"test_green": "passed"}


@pytest.mark.parametrize("name", WITH_PLUGINS)
def test_the_options_of_plug_ins_hide_nothing(equipped: Path, tmp_path: Path, name: str) -> None:
    copy = Copy(tmp_path, {**CODE, "pytest.ini": WITH_PLUGINS[name]})
    with probe(equipped) as started:
        ran = started.run(copy, spectrum=True)

    assert ran.outcomes == ALL
    assert list(ran.outcomes) == list(ALL)
    assert ran.one("finished")["exit"] == 1
    assert ran.lines("test_green", "shop.py") == [2]


def test_options_from_the_environment_give_way_too(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {**CODE, "pytest.ini": INI})
    assert host.run(copy, env={"PYTEST_ADDOPTS": "-x --lf"}).outcomes == ALL


@pytest.mark.parametrize("addopts", ["-m 'not slow'", "-k 'not slow'", "--deselect test_two.py::test_slow"])
def test_what_the_project_deselects_stays_out_and_is_counted(
    host: Probe, tmp_path: Path, addopts: str
) -> None:
    copy = Copy(tmp_path, {**CODE, "pytest.ini": ini(addopts)})
    ran = host.run(copy)
    assert "test_slow" not in ran.outcomes
    assert len(ran.outcomes) == 3
    assert ran.one("collected")["deselected"] == 1


def test_a_stop_at_the_first_failure_wins_over_the_project_s_wish(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {**CODE, "pytest.ini": ini("--maxfail=7")})
    assert host.run(copy, stop_first=True).outcomes == {"test_red": "failed"}


def test_a_test_that_was_red_before_does_not_stop_the_run(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path, {"test_it.py": "def test_a(): assert 0\ndef test_b(): assert 0\ndef test_c(): pass\n"}
    )
    ran = host.run(copy, stop_first=True, known_red=["test_it.py::test_a"])
    assert ran.outcomes == {"test_a": "failed", "test_b": "failed"}


def test_named_tests_run_alone_whatever_paths_addopts_has(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {**CODE, "pytest.ini": ini("test_one.py")})
    assert host.run(copy, "test_two.py::test_slow").outcomes == {"test_slow": "passed"}


def test_node_ids_are_relative_to_rootdir_wherever_the_run_stands(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {**CODE, "pytest.ini": INI, "deep/x.txt": ""})
    ran = host.run(
        copy, "test_one.py::test_green", cwd=str(copy.root / "deep"), env={"PYTHONPATH": str(copy.root)}
    )
    assert list(ran.tests) == ["test_one.py::test_green"]


def test_our_own_loading_warns_of_nothing(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "shop.py": "PATTERN = '\\d'\ndef double(n):\n    return n is 2\n",
            "test_it.py": "import shop\ndef test_it(): shop.double(1)\n",
            "pytest.ini": "[pytest]\nfilterwarnings = error\n",
        },
    )
    assert host.run(copy, spectrum=True).outcomes == {"test_it": "passed"}


ASYNC = {
    "test_async.py": (
        "import asyncio, pytest\n"
        "@pytest.mark.asyncio\n"
        "async def test_asyncio():\n"
        "    await asyncio.sleep(0)\n"
        "    value = 1\n"
        "    assert value == 2\n"
        "@pytest.mark.anyio\n"
        "async def test_anyio():\n"
        "    await asyncio.sleep(0)\n"
        "    assert 1 == 3\n"
        "@pytest.fixture\n"
        "def anyio_backend(): return 'asyncio'\n"
    ),
}


def test_async_tests_fail_like_others(equipped: Path, tmp_path: Path) -> None:
    copy = Copy(tmp_path, ASYNC)
    with probe(equipped) as started:
        ran = started.run(copy)
    assert ran.outcomes == {"test_asyncio": "failed", "test_anyio": "failed"}
    failure = ran.failure("test_asyncio")
    assert failure["comparison"]["left"] == "1"
    own = [f for f in failure["frames"] if f["own"]]
    assert own[-1]["line"] == 6
    assert own[-1]["locals"] == [["value", "int", "1"]]
    assert ran.failure("test_anyio")["comparison"]["right"] == "3"


@pytest.fixture(params=edges(), ids=str)
def bare(request: pytest.FixtureRequest) -> Python:
    found = request.param
    assert isinstance(found, Python)
    return found


@pytest.mark.parametrize("mode", ["host", "run"])
def test_a_lent_pytest_runs_unittest_projects_that_have_none(bare: Python, tmp_path: Path, mode: str) -> None:
    lent = environment(bare).parents[1]
    (site,) = lent.glob("lib/python*/site-packages")
    copy = Copy(
        tmp_path,
        {
            "shop.py": "def double(n):\n    return n + n\n",
            "tests/__init__.py": "",
            "tests/testcart.py": (
                "import unittest, shop\n"
                "class Cart(unittest.TestCase):\n"
                "    def test_red(self): self.assertEqual(shop.double(1), 3)\n"
                "    def test_green(self): self.assertEqual(shop.double(1), 2)\n"
            ),
        },
    )
    with probe(made(bare, ()), mode) as started:
        assert started.hello["pytest"] is None
    with probe(made(bare, ()), mode, lent=[site]) as started:
        assert started.hello["pytest"]
        ran = started.run(copy, kind="unittest")
    assert ran.outcomes == {"test_green": "passed", "test_red": "failed"}


def test_a_lent_pytest_runs_django_projects_that_have_none(newest: Python, tmp_path: Path) -> None:
    bare = made(newest, ("django",))
    lent = made(newest, ("pytest", "pytest-django")).parents[1]
    (site,) = lent.glob("lib/python*/site-packages")
    copy = Copy(
        tmp_path,
        {
            "manage.py": "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
            "shop/__init__.py": "",
            "shop/settings.py": (
                "SECRET_KEY = 'x'\nINSTALLED_APPS = []\n"
                "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n"
            ),
            "shop/tests.py": (
                "from django.test import TestCase\n"
                "from django.conf import settings\n"
                "class Shop(TestCase):\n"
                "    def test_settings(self): self.assertEqual(settings.SECRET_KEY, 'x')\n"
                "    def test_red(self): self.assertEqual(settings.SECRET_KEY, 'y')\n"
            ),
        },
    )
    with probe(bare, lent=[site]) as started:
        ran = started.run(copy, kind="django")
    assert ran.outcomes == {"test_red": "failed", "test_settings": "passed"}, ran.records
