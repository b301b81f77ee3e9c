"""What changes in the user's environment is what the next run sees, whatever waits for it with modules in memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.oracle.world import LEAN, World
from tests.processes import left_running

from regreen.oracle import zygote
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.platform import processes
from regreen.settings import Settings
from regreen.values import Interpreter, Rung, RunReport

TEST = """
    import sys
    HELD = "prices" in sys.modules
    import prices

    def test_it():
        print(prices.VALUE, "held" if HELD else "new")
        assert False
    """
SLOW = """
    import subprocess

    def test_slow():
        import prices
        subprocess.run(["sleep", "1"])
        print(prices.VALUE)
        assert False
    """


class Environment:
    """An environment of a project's own: in it, pytest is another's, and a package `prices` is installed.

    Args:
        folder: where to make it.
    """

    def __init__(self, folder: Path) -> None:
        venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
        self.python = folder / "bin/python"
        (self.packages,) = folder.glob("lib/python3*/site-packages")
        (self.packages / "pytest.pth").write_text(sysconfig.get_path("purelib"))
        self.install("1.0", "1")

    def install(self, version: str, value: str) -> None:
        """Do what an installer does."""
        for folder in self.packages.glob("prices-*.dist-info"):
            folder.rmdir()
        (self.packages / f"prices-{version}.dist-info").mkdir()
        self.edit(value)

    def edit(self, value: str) -> None:
        """Do what a person does who looks for a bug there."""
        (self.packages / "prices.py").write_text(f"import os\nVALUE = {value}\n")

    def link(self, value: str) -> None:
        """Do what an installer does with a package that stays where it is."""
        (self.packages / "prices.py").unlink(missing_ok=True)
        folder = self.python.parent.parent / f"prices-{value}"
        folder.mkdir()
        (folder / "prices.py").write_text(f"VALUE = {value}\n")
        (self.packages / "prices.pth").write_text(str(folder))


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "environment")


@pytest.fixture(params=["warm", "no fork"])
def shop(
    request: pytest.FixtureRequest, world: World, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> World:
    """A project whose only test prints what it imports."""
    monkeypatch.setattr(zygote, "CHECK_SECONDS", 0.0)
    no_fork = {"REGREEN_NO_FORK": "1"} if request.param == "no fork" else {}
    world.oracle = make_oracle(world, environment, **no_fork)
    world.write(test_it=TEST)
    return world


forks = pytest.mark.parametrize("shop", ["warm"], indirect=True)


def make_oracle(world: World, environment: Environment, env_file: str = "", **env: str) -> ProbeOracle:
    interpreter = Interpreter(environment.python, sys.version_info[:3], pytest.__version__, "test")
    settings = Settings(env_file=env_file)
    return ProbeOracle(
        world.project, interpreter, LocalBackend(world.mirror), settings, {**os.environ, **LEAN, **env}
    )


async def see(world: World) -> list[str]:
    """The value that a run imports, and whether its process held the package before the run began."""
    return printed(await world.run("test_it.py")).split()


def printed(report: RunReport) -> str:
    (failure,) = report.failures
    return failure.output.strip()


async def until_held(world: World, value: str) -> None:
    while await see(world) != [value, "held"]:  # noqa: ASYNC110 — runs do not wait for it
        await asyncio.sleep(0.05)


def running() -> set[int]:
    return {process.pid for process in processes.alive() if process.returncode is None}


def names_below(pid: int) -> set[str]:
    """The names of all processes that descend from one."""
    names = set()
    for process in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # ended while we looked
            names.add(process.name())
    return names


CHANGES: dict[str, Callable[[Environment], None]] = {
    "an upgrade": lambda environment: environment.install("2.0", "22"),
    "the same version once more": lambda environment: environment.install("1.0", "22"),
    "an edit": lambda environment: environment.edit("22"),
    "a link": lambda environment: environment.link("22"),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_package_that_has_changed_is_the_one_that_the_next_run_imports(
    shop: World, environment: Environment, change: str
) -> None:
    await until_held(shop, "1")
    CHANGES[change](environment)
    assert (await see(shop))[0] == "22"
    await until_held(shop, "22")


async def test_a_link_to_another_place_is_followed(shop: World, environment: Environment) -> None:
    environment.link("1")
    await until_held(shop, "1")
    environment.link("22")
    assert (await see(shop))[0] == "22"


async def test_variables_of_the_env_file_are_there_when_packages_are_imported(
    shop: World, environment: Environment, request: pytest.FixtureRequest
) -> None:
    environment.edit("os.environ['STAGE']")
    file = shop.root / "test.env"
    file.write_text("STAGE=one\n")
    no_fork = {"REGREEN_NO_FORK": "1"} if "no fork" in request.node.name else {}
    shop.oracle = make_oracle(shop, environment, "test.env", **no_fork)
    await until_held(shop, "one")
    file.write_text("STAGE=two\n")
    assert (await see(shop))[0] == "two"
    await until_held(shop, "two")


@forks
async def test_what_changes_nothing_that_is_held_replaces_nothing(
    shop: World, environment: Environment
) -> None:
    await until_held(shop, "1")
    before = running()
    (environment.packages / "__pycache__").mkdir(exist_ok=True)
    (environment.packages / "__pycache__" / "prices.pyc").touch()
    shop.write(conftest="VALUE = 1\n", shop="VALUE = 2\n")
    assert await see(shop) == ["1", "held"]
    assert running() == before


@forks
async def test_a_new_package_is_enough_for_a_new_zygote(shop: World, environment: Environment) -> None:
    await see(shop)
    before = running()
    (environment.packages / "other.py").touch()
    await see(shop)
    assert running().isdisjoint(before)
    assert len(running()) == 1


@forks
async def test_a_look_at_the_disk_is_believed_for_a_moment(
    shop: World, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote, "CHECK_SECONDS", 3600.0)
    await until_held(shop, "1")
    environment.edit("22")
    assert await see(shop) == ["1", "held"]


@forks
async def test_a_zygote_is_not_ended_under_a_run(shop: World, environment: Environment) -> None:
    shop.write(test_slow=SLOW)
    await until_held(shop, "1")
    (old,) = running()
    slow = asyncio.create_task(shop.run("test_slow.py"))
    while "sleep" not in names_below(old):  # noqa: ASYNC110 — processes tell nobody
        await asyncio.sleep(0.02)
    environment.edit("22")
    assert (await see(shop))[0] == "22"
    assert old in running()
    assert printed(await slow) == "1"
    while old in running():  # noqa: ASYNC110 — as above
        await asyncio.sleep(0.02)
    assert len(running()) == 1


@forks
async def test_candidates_are_not_tried_in_what_was_parked_before_the_change(
    shop: World, environment: Environment
) -> None:
    shop.write(
        shop="import prices\n\ndef value():\n    return 0\n",
        test_shop="import shop\n\ndef test_it():\n    assert shop.value() == 22\n",
    )
    (shop.root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    path = shop.root / "shop.py"
    snapshot = await shop.mirror.sync({})
    overlay = {path: path.read_bytes().replace(b"return 0", b"return prices.VALUE")}

    async def hot() -> RunReport:
        report = await shop.run(
            "test_shop.py::test_it", snapshot=snapshot, overlay=overlay, rung=Rung.HOT, details=False
        )
        assert report.rung is Rung.HOT
        return report

    assert len((await hot()).failures) == 1
    before = running()
    environment.install("2.0", "22")
    assert (await hot()).failures == ()
    assert left_running([psutil.Process(pid) for pid in before if psutil.pid_exists(pid)]) == []


@forks
async def test_a_zygote_that_is_old_is_replaced(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygote, "MOST_SECONDS", 0.0)
    await see(shop)
    before = running()
    await see(shop)
    assert running().isdisjoint(before)
    assert len(running()) == 1


@forks
async def test_a_zygote_that_is_large_is_replaced_by_one_that_holds_less(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await until_held(shop, "1")
    before = running()
    with monkeypatch.context() as limits:
        limits.setattr(zygote, "MOST_BYTES", 1)
        await see(shop)
    assert running().isdisjoint(before)
    assert len(running()) == 1
    for _ in range(3):
        assert await see(shop) == ["1", "new"]
        await asyncio.sleep(0.1)
