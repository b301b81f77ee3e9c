"""Does `regreen bench` tell the truth of its cases, whatever becomes of one, and leave nothing behind?"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.commands import PLAIN, Regreen, tree
from tests.processes import left_running

SAMPLE = Path(__file__).parents[1] / "repair" / "sample.jsonl"
QUICK = ("--interpreter", PLAIN, "--set", "heal.maxCandidates=12", "--set", "heal.offers=1")
BOUNDARY = "def free(total):\n    return total > 50\n"
VISIBLE = "from shop import free\n\n\ndef test_limit():\n    assert free(50)\n\n\ndef test_less():\n    assert not free(20)\n"


def line(name: str, held_out: str, **others: str) -> dict[str, str]:
    case = {"id": name, "module": "shop", "buggy": BOUNDARY, "tests_visible": VISIBLE}
    return (
        case
        | {"tests_held_out": f"from shop import free\n\n\ndef test_held_out():\n    {held_out}\n"}
        | others
    )


RIGHT = line("right", "assert not free(49) and free(51)")
WRONG = line("wrong", "assert free(45) and free(60)")  # the tests that it sees cannot tell
UNGRADED = line("ungraded", "") | {"tests_held_out": ""}
ENDLESS = line("endless", "pass", tests_visible="import time\n\n\ndef test_slow():\n    time.sleep(100)\n")


def cases(folder: Path, *several: dict[str, str]) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in several), encoding="utf-8")
    return path


def written(path: Path) -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}


def test_what_was_never_seen_decides_what_is_correct(regreen: Regreen) -> None:
    out, page = regreen.cwd / "out.json", regreen.cwd / "out.html"
    run = regreen(
        "bench", cases(regreen.cwd, RIGHT, WRONG, UNGRADED), *QUICK, "--jobs", "2",
        "--json", out, "--html", page, "--gate", "plausible>=1,correct>=0.6",
    )  # fmt: skip
    assert run.returncode == 1, run.stderr
    assert "gate: correct is 0.5, not >=0.6\n" in run.stderr
    results = written(out)
    assert {name: (one["plausible"], one["offered"], one["correct"]) for name, one in results.items()} == {
        "right": (True, True, True),
        "wrong": (True, True, False),
        "ungraded": (True, True, None),
    }
    right = results["right"]
    assert re.search(r"^\+    return total >= 50$", right["patch"], re.MULTILINE)
    assert right["outcome"] == "VERIFIED"
    assert 0 < right["first_plausible"] < right["offer_seconds"] <= right["seconds"]
    assert 0 < right["pytest_seconds"] < right["offer_seconds"]
    assert right["tried"] == sum(family["tried"] for family in right["families"].values()) > 0
    assert re.search(r"correct: held-out tests pass, too +1 of 2 ", run.stdout)
    assert "about" in run.stderr.splitlines()[0]
    assert "<svg" in page.read_text(encoding="utf-8")
    assert sorted(path.name for path in regreen.cwd.iterdir()) == ["cases.jsonl", "out.html", "out.json"]


def test_a_folder_of_projects_is_healed_in_copies_and_one_that_cannot_run_harms_no_other(
    regreen: Regreen,
) -> None:
    shown = VISIBLE.replace("assert free(50)", "assert free(50) and not Path('test_secret.py').exists()")
    shown = f"from pathlib import Path\n\n{shown}"
    hopeless = "\n\ndef test_hopeless():\n    assert free.__name__ == 'other'\n"
    metas: dict[str, dict[str, Any]] = {
        "good": {"red": ["test_shop.py::test_limit"], "interpreter": str(PLAIN), "seconds": 5},
        "broken": {"interpreter": "no/python"},
    }
    for name, meta in metas.items():
        for file, text in {
            "project/pyproject.toml": "[tool.pytest.ini_options]\n",
            "project/shop.py": BOUNDARY,
            "project/test_shop.py": shown + hopeless,
            "project/rich.py": "raise RuntimeError('this is no module of Regreen')\n",
            "held_out/test_secret.py": "from shop import free\n\n\ndef test_secret():\n    assert free(51)\n",
            "meta.json": json.dumps({"id": name} | meta),
        }.items():
            path = regreen.cwd / "cases" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    before = tree(regreen.cwd / "cases")
    out = regreen.cwd / "out.json"
    run = regreen("bench", "cases", *QUICK, "--jobs", "1", "--json", out)
    assert run.returncode == 0, run.stderr
    results = written(out)
    assert [results["good"][name] for name in ("outcome", "plausible", "correct")] == ["VERIFIED", True, True]
    assert [results["broken"][name] for name in ("outcome", "offered", "correct")] == [
        "ENVIRONMENT",
        False,
        False,
    ]
    assert "no/python" in results["broken"]["problem"]
    assert tree(regreen.cwd / "cases") == before


def test_a_run_that_was_killed_goes_on_where_it_was(regreen: Regreen) -> None:
    arguments = (
        "bench",
        cases(regreen.cwd, RIGHT, UNGRADED),
        *QUICK,
        "--jobs",
        "1",
        "--json",
        regreen.cwd / "out.json",
    )
    with regreen.start(*arguments) as first:
        assert first.stderr is not None
        assert first.stderr.readline().startswith("[1/2] right: ")
        begun = psutil.Process(first.pid).children(recursive=True)
        first.kill()
    for process in begun:  # what it would have ended itself
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    again = regreen(*arguments)
    assert again.returncode == 0, again.stderr
    assert again.stderr.splitlines()[0] == "Taken over from a run that did not end: 1 of 2 cases."
    assert [row.partition(":")[0] for row in again.stderr.splitlines()[1:]] == ["[2/2] ungraded"]
    assert list(written(regreen.cwd / "out.json")) == ["right", "ungraded"]
    assert not (regreen.cwd / "out.json.journal").exists()


def test_a_run_that_is_stopped_leaves_no_process(regreen: Regreen) -> None:
    with regreen.start("bench", cases(regreen.cwd, ENDLESS, RIGHT), *QUICK, "--jobs", "1") as run:
        while len(begun := psutil.Process(run.pid).children(recursive=True)) < 3:  # the heal runs its tests
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=30)
    assert run.returncode == 130
    assert told == "regreen: stopped; nothing is left running.\n"
    assert not left_running(begun)


def test_a_family_is_left_out_and_what_it_adds_is_told(regreen: Regreen) -> None:
    out = regreen.cwd / "out.json"
    run = regreen(
        "bench", cases(regreen.cwd, RIGHT), *QUICK, "--jobs", "2", "--json", out, "--ablate", "--seconds", "5"
    )
    assert run.returncode == 0, run.stderr
    (case,) = written(out).values()
    families = {one["family"]: one for one in json.loads(out.read_text())["ablation"]}
    assert families.keys() == case["families"].keys()
    assert {name for name, one in families.items() if one["rerun"]} == {
        name for name, one in case["families"].items() if one["plausible"]
    }
    assert families["comparison"]["rerun"] == 1
    assert "Each family left out in turn; healed again were only the cases" in run.stdout
    assert re.search(r"^comparison +[+-]\d +[+-]\d +1 ", run.stdout, re.MULTILINE)


def test_a_family_that_is_left_out_is_not_tried(regreen: Regreen) -> None:
    out = regreen.cwd / "out.json"
    setting = 'heal.without=["comparison", "arithmetic"]'
    regreen("bench", cases(regreen.cwd, RIGHT), *QUICK, "--set", setting, "--seconds", "5", "--json", out)
    (case,) = written(out).values()
    assert case["tried"]
    assert not {"comparison", "arithmetic"} & case["families"].keys()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--engine", "model"), "--engine model needs a language model, and none is named."),
        (("--engine", "both"), "--engine both needs a language model, and none is named."),
        (("--gate", "luck>=1"), "--gate knows no figure 'luck'"),
        (("--only", "nobody"), "has no case named nobody"),
        (("--executor", "tcp://x"), "--executor is of the form dask://HOST:PORT, not 'tcp://x'."),
        (("--seconds", "0"), "`regreen.heal.maxSeconds` must be at least 1"),
        (("--jobs", "0"), "--jobs must be at least 1"),
        (("--json", "nowhere/out.json"), "There is no folder"),
        (("more.jsonl",), "takes one file or folder of cases"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    regreen: Regreen, arguments: tuple[str, ...], complaint: str
) -> None:
    run = regreen("bench", cases(regreen.cwd, RIGHT), *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert complaint in run.stderr


def test_two_runs_are_compared_case_by_case(regreen: Regreen) -> None:
    from tests.unit.bench.made import result

    from regreen.bench.journal import fields

    for name, right in (("a.json", 2), ("b.json", 9)):
        rows = [fields(result(f"c{n}", correct=n < right, seconds=right)) for n in range(10)]
        (regreen.cwd / name).write_text(json.dumps({"cases": [*rows, fields(result(name))]}))
    run = regreen("bench", "compare", "a.json", "b.json")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("10 cases in both; B minus A")
    assert "2 cases are in only one of the files" in run.stdout
    assert re.search(r"correct +2 → 9 +\+7 -0: 70.0 % \(.+ to .+\), p = 0.016", run.stdout)
    assert re.search(r"seconds a case, median +2.00 → 9.00 : 7.00 \(7.00 to 7.00\)", run.stdout)
    assert "newly correct: c2, c3, c4, c5, c6, c7, c8" in run.stdout
    broken = regreen("bench", "compare", "a.json", "cases.jsonl")
    assert (broken.returncode, "cases.jsonl cannot be read" in broken.stderr) == (2, True)


# --------------------------------------------------------------------------- elsewhere

CLUSTER = """
import sys
from distributed import LocalCluster

with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None, local_directory=sys.argv[1]) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.readline()
    print(cluster.scheduler.transition_counter, flush=True)
"""


@contextlib.contextmanager
def cluster(environment: dict[str, str], scratch: Path) -> Iterator[subprocess.Popen[str]]:
    """A dask scheduler and a worker, as processes of their own; ends when it reads a line."""
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER, scratch],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        me = psutil.Process(process.pid)
        try:
            yield process
        finally:
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended as it should
                for one in [*me.children(recursive=True), me]:
                    one.kill()


def test_cases_run_on_a_dask_cluster(regreen: Regreen) -> None:
    out = regreen.cwd / "out.json"
    with cluster(regreen.environment(), regreen.home) as scheduler:
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip().replace("tcp://", "dask://")
        run = regreen("bench", cases(regreen.cwd, RIGHT, WRONG), *QUICK, "--executor", address, "--json", out)
        told, _ = scheduler.communicate("end\n", timeout=60)
    assert run.returncode == 0, run.stderr
    assert int(told) > 0  # it was the cluster that ran them
    assert {name: one["correct"] for name, one in written(out).items()} == {"right": True, "wrong": False}


def test_a_cluster_that_does_not_answer_is_named(regreen: Regreen) -> None:
    run = regreen("bench", cases(regreen.cwd, RIGHT), "--executor", "dask://127.0.0.1:9")
    assert run.returncode == 2
    assert "No dask scheduler answers at dask://127.0.0.1:9" in run.stderr


# --------------------------------------------------------------------------- how good it is


@pytest.mark.timeout(900)
def test_a_fixed_sample_of_small_bugs_is_healed_rightly(regreen: Regreen) -> None:
    """The gate: the repair may find other patches than before, and none of these bugs is beyond it."""
    command = regreen.command(
        "bench", SAMPLE, "--interpreter", PLAIN, "--seconds", "20", "--jobs", "2", "--set", "heal.offers=1",
        "--gate", "offered>=0.9,correct>=0.9,precision>=0.9",
    )  # fmt: skip
    run = subprocess.run(
        command, env=regreen.environment(), capture_output=True, encoding="utf-8", timeout=800, check=False
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
