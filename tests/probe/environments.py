"""In which Pythons, and with which pytest, is the probe tested?

Every CPython from 3.9 to 3.14 that is found; the oldest with the oldest pytest that is supported, the newest with
the latest. The environments are made once and kept below REGREEN_ENVS or the user's cache.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import platformdirs
import pytest

VERSIONS = [(3, minor) for minor in range(9, 15)]
NEEDED_IN_CI = [(3, 9), (3, 13)]
OLD = ("pytest==7.0.1",)
NEW = ("pytest>=9; python_version >= '3.10'", "pytest; python_version < '3.10'")
OLD_PLUGINS = (
    *OLD,
    "pytest-asyncio==0.20.3",
    "anyio==3.7.1",
    "pytest-xdist==2.5.0",
    "pytest-cov==3.0.0",
    "pytest-randomly==3.12.0",
    "pytest-timeout==2.1.0",
)
NEW_PLUGINS = (
    *NEW,
    "pytest-asyncio",
    "anyio",
    "pytest-xdist",
    "pytest-cov",
    "pytest-randomly",
    "pytest-timeout",
)


def lacking(what: str) -> NoReturn:
    """End a test that this machine cannot run: in CI that is a failure."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"CI needs {what}")
    pytest.skip(f"needs {what}")


def bubblewrap() -> Path:
    """The folder of a bwrap: that on PATH, or else the one that `make deps` installs."""
    ours = Path(__file__).parents[2] / ".e2e/bubblewrap/bin"
    found = shutil.which("bwrap") or shutil.which("bwrap", path=ours)
    if found is None:
        lacking("bubblewrap, which `make deps` installs")
    return Path(found).parent


@dataclass(frozen=True)
class Python:
    """An interpreter on this machine."""

    version: tuple[int, int]
    executable: Path

    def __str__(self) -> str:
        return "py{}{}".format(*self.version)


@functools.cache
def pythons() -> tuple[Python, ...]:
    """One interpreter for each version that is found, oldest first.

    Raises:
        LookupError: one that must be there in CI is not.
    """
    found: dict[tuple[int, int], Python] = {}
    for candidate in _candidates():
        version = _version(candidate)
        if version in VERSIONS:
            found.setdefault(version, Python(version, candidate))
    if os.environ.get("CI", "").lower() == "true":
        missing = [v for v in NEEDED_IN_CI if v not in found]
        if missing:
            raise LookupError(f"CI needs these Pythons, too: {missing}; name them in REGREEN_PYTHONS")
    return tuple(found[version] for version in sorted(found))


def edges() -> tuple[Python, ...]:
    """The oldest and the newest Python."""
    every = pythons()
    return every if len(every) < 2 else (every[0], every[-1])


def _candidates() -> Iterator[Path]:
    for entry in os.environ.get("REGREEN_PYTHONS", "").split(os.pathsep):
        if entry:
            yield Path(entry)
    for folder in (
        Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions",
        Path.home() / ".local/share/uv/python",
        Path("/opt/hostedtoolcache/Python"),
    ):
        yield from sorted(folder.glob("*/bin/python")) + sorted(folder.glob("*/*/bin/python"))
    for major, minor in VERSIONS:
        on_path = shutil.which(f"python{major}.{minor}")
        if on_path:
            yield Path(on_path)
    yield Path(getattr(sys, "_base_executable", sys.executable))


@functools.cache
def _version(executable: Path) -> tuple[int, int] | None:
    code = "import sys; print(sys.implementation.name, *sys.version_info[:2], sys.version_info.releaselevel)"
    try:
        done = subprocess.run(
            [executable, "-c", code], capture_output=True, text=True, timeout=20, check=False
        )
    except OSError:
        return None
    parts = done.stdout.split()
    return (int(parts[1]), int(parts[2])) if parts[:1] == ["cpython"] else None


def environment(python: Python, *, plugins: bool = False, extra: tuple[str, ...] = ()) -> Path:
    """The interpreter of an environment that holds pytest, and its usual plug-ins if wanted."""
    kinds = (OLD, OLD_PLUGINS) if python == edges()[0] else (NEW, NEW_PLUGINS)
    wanted: tuple[str, ...] = kinds[plugins]
    return made(python, (*wanted, *extra))


def made(python: Python, wanted: tuple[str, ...]) -> Path:
    """The interpreter of an environment that holds just these requirements."""
    base = Path(os.environ.get("REGREEN_ENVS") or platformdirs.user_cache_path("regreen-test-envs"))
    key = hashlib.sha256(repr((str(python.executable), wanted)).encode()).hexdigest()[:12]
    folder = base / f"{python}-{key}"
    interpreter = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    base.mkdir(parents=True, exist_ok=True)
    with _locked(base / f"{folder.name}.lock"):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([python.executable, "-m", "venv", "--without-pip", folder], check=True)
            if wanted:
                subprocess.run(
                    [sys.executable, "-m", "pip", "--python", interpreter, "install", "--quiet",
                     "--disable-pip-version-check", *wanted],
                    check=True,
                )  # fmt: skip
            (folder / "complete").touch()
    return interpreter


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    if os.name == "nt":
        yield
        return
    import fcntl

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
