"""With the plug-ins that projects have, each rung says of a candidate what a plain pytest of the patched project says."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.probe.environments import edges, environment, pythons

from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.settings import Settings
from regreen.values import Interpreter, Project, Rung, RunReport, RunRequest
from regreen.workspace.mirror import ProjectMirror

MORE = ("hypothesis", "pytest-mock", "pytest-django", "django", "numpy", "pandas")
SHOP = "def total(prices):\n    result = 0\n    for price in prices:\n        result -= price\n    return result\n"
PLAIN = "from shop import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
PROJECTS: dict[str, dict[str, str]] = {
    "warnings are errors": {
        "pytest.ini": "[pytest]\naddopts = -W error -p no:asyncio\n",
        "test_shop.py": PLAIN,
    },
    "warnings are errors by the file": {
        "pytest.ini": "[pytest]\naddopts = -p no:asyncio\nfilterwarnings = error\n",
        "test_shop.py": PLAIN,
    },
    "asyncio": {
        "pytest.ini": "[pytest]\nasyncio_mode = auto\n",
        "test_shop.py": "import asyncio, shop\n\nasync def test_total():\n    await asyncio.sleep(0)\n"
        "    assert shop.total([1, 2]) == 3\n",
    },
    "timeout": {"pytest.ini": "[pytest]\naddopts = --timeout=20\n", "test_shop.py": PLAIN},
    "timeout by a thread": {
        "pytest.ini": "[pytest]\naddopts = --timeout=20 --timeout-method=thread\n",
        "test_shop.py": PLAIN,
    },
    "cov": {"pytest.ini": "[pytest]\naddopts = --cov=shop --cov-fail-under=100\n", "test_shop.py": PLAIN},
    "xdist": {"pytest.ini": "[pytest]\naddopts = -n 2\n", "test_shop.py": PLAIN},
    "randomly": {"pytest.ini": "[pytest]\naddopts = -p randomly\n", "test_shop.py": PLAIN},
    "hypothesis": {
        "pytest.ini": "[pytest]\n",
        "test_shop.py": "from hypothesis import given, strategies as st\nfrom shop import total\n\n"
        "@given(st.lists(st.integers()))\ndef test_total(prices):\n    assert total(prices) == sum(prices)\n",
    },
    "mock": {
        "pytest.ini": "[pytest]\n",
        "test_shop.py": "import shop\n\ndef test_total(mocker):\n    spy = mocker.spy(shop, 'total')\n"
        "    assert shop.total([1, 2]) == 3\n    assert spy.call_count == 1\n",
    },
    "django": {
        "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = site_settings\n",
        "site_settings.py": "SECRET_KEY = 'x'\nINSTALLED_APPS = ['django.contrib.contenttypes', 'django.contrib.auth']\n"
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'site.db'}}\n"
        "DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'\n",
        "test_shop.py": "import pytest\nfrom shop import total\n\n@pytest.mark.django_db\ndef test_total():\n"
        "    from django.contrib.auth.models import User\n    User.objects.create(username='ann')\n"
        "    assert total([1, 2]) == User.objects.count() + 2\n",
    },
    "numpy and pandas": {
        "pytest.ini": "[pytest]\n",
        "test_shop.py": "import numpy, pandas\nfrom shop import total\n\ndef test_total():\n"
        "    frame = pandas.DataFrame({'price': numpy.array([1, 2])})\n    assert total(frame['price']) == 3\n",
    },
    "native threads": {
        "pytest.ini": "[pytest]\n",
        "engine.py": "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n",
        "test_shop.py": "import engine\nfrom shop import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    },
}
NEVER_HOT = {"native threads"}
"""Where a fork of the collected tests would not be what a run of its own is."""


@pytest.fixture(scope="session")
def everything() -> Path:
    """The newest Python for which there are packages of all of it, with every plug-in."""
    python = max((p for p in pythons() if p.version <= (3, 13)), key=lambda p: p.version)
    assert python in edges() or python.version > (3, 9)
    return environment(python, plugins=True, extra=MORE)


@pytest.fixture(params=PROJECTS)
async def equipped(
    request: pytest.FixtureRequest, tmp_path: Path, everything: Path
) -> AsyncIterator[tuple[str, Path, ProjectMirror, ProbeOracle]]:
    root = tmp_path / "shop"
    root.mkdir()
    for name, text in {**PROJECTS[request.param], "shop.py": SHOP}.items():
        (root / name).write_text(text)
    project = Project(root, root)
    mirror = ProjectMirror(project, cache=tmp_path / "cache")
    oracle = ProbeOracle(
        project, Interpreter(everything, (3, 13, 0), "9", "test"), LocalBackend(mirror), Settings()
    )
    yield request.param, everything, mirror, oracle
    await oracle.close()
    await mirror.close()


def by_hand(python: Path, root: Path, text: str) -> str:
    """What a plain pytest says of the project with this text of shop.py."""
    (root / "shop.py").write_text(text)
    try:
        done = subprocess.run(
            [
                python,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "--no-cov",
                "-p",
                "no:randomly",
                "test_shop.py",
            ],
            cwd=root,
            env={"PATH": os.environ["PATH"], "HOME": str(root.parent), "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
            stdout=subprocess.PIPE,
        )
    finally:
        (root / "shop.py").write_text(SHOP)
    return {0: "passed", 1: "failed"}.get(done.returncode, done.stdout.decode())


async def test_each_rung_says_what_a_plain_pytest_says(
    equipped: tuple[str, Path, ProjectMirror, ProbeOracle],
) -> None:
    name, python, mirror, oracle = equipped
    snapshot = await mirror.sync({})
    file = snapshot.project.root / "shop.py"

    async def run(text: str, rung: Rung) -> RunReport:
        overlay = {file: text.encode()} if text != SHOP else {}
        return await oracle.run(
            RunRequest(snapshot, ("test_shop.py::test_total",), overlay=overlay, rung=rung)
        )

    for text, expected in (
        (SHOP, "failed"),
        (SHOP.replace("-=", "+="), "passed"),
        (SHOP.replace("-=", "*="), "failed"),
    ):
        assert by_hand(python, snapshot.project.root, text) == expected
        for rung in (Rung.HOT, Rung.WARM, Rung.COLD):
            report = await run(text, rung)
            said = [outcome.status.value for outcome in report.outcomes.values()]
            assert (said, report.problem) == ([expected], ""), (name, rung, report.failures, report.stderr)
            if rung is Rung.HOT and text != SHOP:
                assert (report.rung is Rung.HOT) is (name not in NEVER_HOT), (name, report.rung)
