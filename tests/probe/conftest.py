"""Every test here runs the real probe as a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import Copy, Probe
from .environments import Python, edges, environment, pythons


@pytest.fixture(params=pythons(), ids=str, scope="session")
def every_python(request: pytest.FixtureRequest) -> Path:
    """Each Python that is found, with pytest."""
    return environment(request.param)


@pytest.fixture(params=edges(), ids=str, scope="session")
def python(request: pytest.FixtureRequest) -> Path:
    """The oldest Python with the oldest pytest, and the newest with the latest."""
    return environment(request.param)


@pytest.fixture(params=edges(), ids=str, scope="session")
def equipped(request: pytest.FixtureRequest) -> Path:
    """The same with the plug-ins that projects use most."""
    return environment(request.param, plugins=True)


@pytest.fixture(scope="session")
def newest() -> Python:
    """The newest Python."""
    return edges()[-1]


@pytest.fixture(scope="module")
def host(python: Path) -> Iterator[Probe]:
    """A warm probe; all runs of a module are its forks, and no run can change it."""
    with Probe(python) as probe:
        yield probe


@pytest.fixture
def copied(tmp_path: Path, request: pytest.FixtureRequest) -> Copy:
    """The project that the test module describes as FILES."""
    return Copy(tmp_path, request.module.FILES)
