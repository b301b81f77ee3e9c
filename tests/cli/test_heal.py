"""Does `regreen heal` do what its arguments say, end with the right status, and leave nothing behind?"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.commands import BRIEF, PLAIN, Regreen, events, tree

GOLDEN = Path(__file__).parents[1] / "golden" / "cli" / "heal.ndjson"
EXAMPLE = Path(__file__).parents[2] / "examples" / "cart"
PYTEST = BRIEF.replace("30", "12") + "\n[tool.pytest.ini_options]\n"
ADD = """def add(first, second):
    return first - second


def double(number):
    return number * 2
"""
FIXED = ADD.replace("first - second", "first + second")
TESTS = """from numbers_of_ours import add, double


def test_add():
    assert add(2, 3) == 5


def test_add_nothing():
    assert add(4, 0) == 4


def test_double():
    assert double(4) == 8
"""
HOPELESS = """

def test_hopeless():
    assert open.__name__ == "something that no patch of the project changes"
"""


def project(root: Path, source: str = ADD, tests: str = TESTS) -> Path:
    root.mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYTEST + 'pythonpath = ["."]\n')
    (root / "numbers_of_ours.py").write_bytes(source.encode())
    (root / "test_numbers.py").write_text(tests)
    return root


@pytest.fixture
def shop(regreen: Regreen) -> Path:
    return project(regreen.cwd / "shop")


def heal(
    regreen: Regreen, *arguments: str | Path, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return regreen("heal", *arguments, "--interpreter", PLAIN, cwd=cwd)


# --------------------------------------------------------------------------- what it says


def test_a_person_sees_the_fix_the_evidence_and_the_way_on(regreen: Regreen, shop: Path) -> None:
    before = tree(shop)
    run = heal(regreen, shop)
    assert run.returncode == 0, run.stderr
    assert "✗ test_numbers.py::test_add\n" in run.stdout
    assert "VERIFIED" in run.stdout
    assert "-    return first - second\n    +    return first + second" in run.stdout
    assert "1 red → green, 1 still green, 3/3 runs, tests untouched, 1 line" in run.stdout
    assert f"reproduce: cd {shop} && {PLAIN} -m pytest" in run.stdout
    assert "1 red test: 1 VERIFIED" in run.stdout
    assert "No file was changed" in run.stdout
    assert "Running the test suite" in run.stderr
    assert "\x1b" not in run.stdout + run.stderr
    assert tree(shop) == before


def test_the_proof_can_be_reproduced_where_no_pytest_is_installed(regreen: Regreen) -> None:
    shop = project(regreen.cwd / "shop")
    (shop / "pyproject.toml").write_text(BRIEF)
    (shop / "test_numbers.py").unlink()
    cases = "".join(f"    {line}\n".rstrip(" ") for line in TESTS.partition("\n")[2].splitlines())
    (shop / "tests").mkdir()
    (shop / "tests" / "test_numbers.py").write_text(
        "import unittest\nfrom numbers_of_ours import add, double\n\nclass Numbers(unittest.TestCase):\n"
        + cases.replace("()", "(self)")
    )
    subprocess.run([PLAIN, "-m", "venv", "--without-pip", shop / ".venv"], check=True)
    run = regreen("heal", shop, "--json", "--apply")
    assert run.returncode == 0, run.stderr
    (result,) = events(run, "result")
    proof = subprocess.run(result["reproduce"], shell=True, capture_output=True, text=True, check=False)
    assert proof.returncode == 0, proof.stderr
    assert "Ran 2 tests" in proof.stderr


def test_a_terminal_shows_colours_and_a_line_that_goes_away(regreen: Regreen, shop: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        regreen.command("heal", shop, "--interpreter", PLAIN),
        env=regreen.environment() | {"TERM": "xterm-256color", "COLUMNS": "100"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert run.wait() == 0
    text = written.decode()
    assert "\x1b[32m    +    return first + second" in text
    # Which stages are drawn depends on how long they take; the last one always is, with all that it counts.
    drawn = [match.end() for match in re.finditer(re.escape("test_numbers.py::test_add · 1 red · "), text)]
    summary = text.index("1 red test: ")
    assert drawn
    assert max(drawn) < summary
    assert "\x1b[2K" in text[max(drawn) : summary], "the line is taken away"
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor comes back"


def normalised(line: str, shop: Path) -> dict[str, Any]:
    """An event without what differs from run to run and machine to machine."""
    text = line.replace(json.dumps(str(shop))[1:-1], "/shop").replace(str(PLAIN), "python")
    text = re.sub(r'("(?:seconds|fix)": )("\w+"|[\d.]+)', r"\1null", text)
    text = re.sub(r"\d+(\.\d)? s\b", "0.0 s", text)
    event: dict[str, Any] = json.loads(re.sub(r'("isolation": )"\w+"', r'\1"any"', text))
    event.pop("tried", None)
    if event.get("heal"):
        event["heal"] = "any"
    return event


RATIO = "def ratio(first, second):\n    return first // second\n"
RATIOS = """from numbers_of_ours import ratio


def test_ratio():
    assert ratio(7, 4) == 1.75
    assert ratio(3, 8) == 0.375
    assert ratio(-9, 2) == -4.5


def test_ratio_of_multiples():
    assert ratio(6, 2) == 3
    assert ratio(0, 5) == 0
"""


def test_json_events_are_as_recorded(regreen: Regreen) -> None:
    shop = project(regreen.cwd / "shop", RATIO, RATIOS)
    (shop / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    run = heal(regreen, shop, "--json")
    lines = [normalised(line, shop) for line in run.stdout.splitlines()]
    kept = [line for line in lines if line["event"] != "candidate"]
    recorded = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    assert kept == recorded
    candidates = events(run, "candidate")
    assert any(one["verdict"] == "PLAUSIBLE" for one in candidates)
    assert {frozenset(one) for one in candidates} == {
        frozenset(
            {
                "v",
                "event",
                "project",
                "nodeid",
                "template",
                "title",
                "path",
                "line",
                "verdict",
                "reason",
                "seconds",
                "after",
            }
        )
    }


# --------------------------------------------------------------------------- a second look

STORE = """import json as pickel


def stored(value):
    return len(pickle.dumps(value)) > 1
"""
STORED = """from numbers_of_ours import stored


def test_stored():
    assert stored([1])
"""


def test_a_fix_to_look_at_twice_comes_last_and_says_so(regreen: Regreen) -> None:
    shop = project(regreen.cwd / "shop", STORE, STORED)
    (shop / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    seen = heal(regreen, shop).stdout
    warning = "imports a module with much power: pickle"
    assert "VERIFIED  `pickle` → `pickel`\n" in seen
    assert seen.count("Look twice") == 1
    assert f"  ⚠ Look twice: {warning}.\n  reproduce: " in seen
    [result] = events(heal(regreen, shop, "--json"), "result")
    *others, last = result["others"]
    assert [one["flags"] for one in (result, *others)] == [[] for _ in (result, *others)]
    assert last["flags"] == [{"name": "import", "text": warning}]


# --------------------------------------------------------------------------- exit status


def test_status_0_when_nothing_is_red(regreen: Regreen) -> None:
    run = heal(regreen, project(regreen.cwd / "green", FIXED))
    assert (run.returncode, run.stdout.startswith("Nothing is red: 3 tests in")) == (0, True)


def test_status_1_when_a_red_test_has_no_fix(regreen: Regreen) -> None:
    run = heal(regreen, project(regreen.cwd / "shop", ADD, TESTS + HOPELESS), "--json")
    assert run.returncode == 1
    assert {one["nodeid"]: one["outcome"] == "VERIFIED" for one in events(run, "result")} == {
        "test_numbers.py::test_add": True,
        "test_numbers.py::test_hopeless": False,
    }


def test_check_is_1_when_anything_is_red_and_0_when_not(regreen: Regreen, shop: Path) -> None:
    before = tree(shop)
    patch = regreen.cwd / "fix.patch"
    assert heal(regreen, shop, "--check", "--patch", patch).returncode == 1
    assert tree(shop) == before
    assert "+    return first + second" in patch.read_text()
    subprocess.run(["git", "apply", str(patch)], cwd=shop, check=True)
    assert heal(regreen, shop, "--check").returncode == 0


def test_status_2_when_there_are_no_tests(regreen: Regreen) -> None:
    folder = project(regreen.cwd / "empty", tests="")
    run = heal(regreen, folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert "found no tests" in run.stderr


def test_a_project_without_tests_is_no_problem_beside_others(regreen: Regreen, shop: Path) -> None:
    project(regreen.cwd / "empty", tests="")
    run = heal(regreen)
    assert run.returncode == 0, run.stderr
    assert "found no tests" in run.stderr
    (shop / "test_numbers.py").unlink()
    assert heal(regreen).returncode == 2


def test_status_2_when_pytest_itself_cannot_start(regreen: Regreen, shop: Path) -> None:
    (shop / "pyproject.toml").write_text(PYTEST + 'addopts = "--no-such-option"\n')
    run = heal(regreen, shop)
    assert run.returncode == 2
    assert "no-such-option" in run.stderr


def test_status_2_when_a_node_id_does_not_exist(regreen: Regreen, shop: Path) -> None:
    run = heal(regreen, "test_numbers.py::test_none_of_these", cwd=shop)
    assert run.returncode == 2
    assert "test_none_of_these" in run.stderr


def test_one_project_that_cannot_run_does_not_keep_others_from_being_healed(
    regreen: Regreen, shop: Path
) -> None:
    broken = project(regreen.cwd / "broken")
    (broken / "pyproject.toml").write_text(PYTEST + 'addopts = "--no-such-option"\n')
    run = heal(regreen, "--json")
    assert run.returncode == 2
    assert [(one["project"], one["outcome"]) for one in events(run, "result")] == [
        (shop.as_posix(), "VERIFIED")
    ]
    assert "no-such-option" in run.stderr


def test_a_very_large_project_is_copied_only_when_allowed(regreen: Regreen) -> None:
    folder = project(regreen.cwd / "shop", FIXED)
    for number in range(2):
        (folder / f"{number}.bin").write_bytes(os.urandom(6_000_000))
    refused = heal(regreen, folder, "--max-gigabytes", "0.01")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--max-gigabytes" in refused.stderr
    assert heal(regreen, folder, "--max-gigabytes", "0.02").returncode == 0


# --------------------------------------------------------------------------- which tests


def test_a_node_id_heals_only_that_test(regreen: Regreen) -> None:
    folder = project(regreen.cwd / "shop", ADD, TESTS + HOPELESS)
    run = heal(regreen, "test_numbers.py::test_add", "--json", cwd=folder)
    assert [one["nodeid"] for one in events(run, "result")] == ["test_numbers.py::test_add"]


@pytest.mark.parametrize("source", ["--last-failed", "--junit"])
def test_what_another_run_saw_fail_is_healed(regreen: Regreen, shop: Path, source: str) -> None:
    command = [str(PLAIN), "-m", "pytest", "-q", f"--junit-xml={regreen.cwd / 'report.xml'}"]
    subprocess.run(command, cwd=shop, env=regreen.environment(), capture_output=True, check=False)
    arguments = [source] if source == "--last-failed" else [source, str(regreen.cwd / "report.xml")]
    run = heal(regreen, shop, "--json", *arguments)
    [result] = events(run, "result")
    assert (run.returncode, result["outcome"]) == (0, "VERIFIED")
    assert result["evidence"]["still_green"] == 1, "its sibling was run all the same"
    assert [one["nodeid"] for one in events(run, "failure")] == ["test_numbers.py::test_add"]


def test_nothing_failed_last_time_is_nothing_to_do(regreen: Regreen) -> None:
    folder = project(regreen.cwd / "green", FIXED)
    command = [str(PLAIN), "-m", "pytest", "-q"]
    subprocess.run(command, cwd=folder, env=regreen.environment(), capture_output=True, check=True)
    run = heal(regreen, folder, "--last-failed")
    assert (run.returncode, run.stdout.startswith("Nothing is red")) == (0, True)


# --------------------------------------------------------------------------- what becomes of the fixes


@pytest.mark.parametrize(
    "text",
    [
        ADD.replace("\n", "\r\n"),
        "\ufeff# 数字 🙂\r\n" + ADD.replace("\n", "\r\n") + "\f\r\nLAST = 'no line end'",
    ],
    ids=["crlf", "bom, crlf, form feed, no last line end"],
)
@pytest.mark.parametrize("how", ["--apply", "--patch"])
def test_encoding_line_ends_and_mode_stay(regreen: Regreen, text: str, how: str) -> None:
    folder = project(regreen.cwd / "shop", text)
    source = folder / "numbers_of_ours.py"
    source.chmod(0o750)
    subprocess.run(["git", "init", "-q", str(regreen.cwd)], check=True)
    if how == "--apply":
        run = heal(regreen, folder, "--apply")
    else:
        run = heal(regreen, folder, "--patch", regreen.cwd / "fix.patch")
        # from the top of the work tree, as `git apply` counts
        subprocess.run(["git", "apply", "fix.patch"], cwd=regreen.cwd, check=True)
    assert run.returncode == 0, run.stderr
    assert source.read_bytes() == text.replace("first - second", "first + second").encode()
    if how == "--apply":  # git has its own mind about modes
        assert stat.S_IMODE(source.stat().st_mode) == 0o750


def test_latin_1_stays_latin_1(regreen: Regreen) -> None:
    folder = project(regreen.cwd / "shop")
    source = folder / "numbers_of_ours.py"
    text = "# -*- coding: latin-1 -*-\nNAME = 'Zoë'\n" + ADD
    source.write_bytes(text.encode("latin-1"))
    assert heal(regreen, folder, "--apply").returncode == 0
    assert source.read_bytes() == text.replace("first - second", "first + second").encode("latin-1")


def test_a_read_only_file_is_not_written(regreen: Regreen, shop: Path) -> None:
    source = shop / "numbers_of_ours.py"
    source.chmod(0o444)
    run = heal(regreen, shop, "--apply")
    assert run.returncode == 2
    assert "read-only" in run.stderr
    assert source.read_text() == ADD


def test_fixes_of_several_tests_are_applied_together_and_hold_together(regreen: Regreen) -> None:
    shop = regreen.cwd / "cart"
    shutil.copytree(EXAMPLE, shop, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", ".venv"))
    with (shop / "pyproject.toml").open("a") as config:
        config.write(BRIEF)
    run = heal(regreen, shop, "--json", "--apply")
    assert run.returncode == 0, run.stderr
    results = events(run, "result")
    assert [one["outcome"] for one in results] == ["VERIFIED"] * 3
    assert max(one["evidence"]["lines_changed"] for one in results) == 2
    [summary] = events(run, "summary")
    assert sorted(Path(path).name for path in summary["applied"]) == ["cart.py", "discounts.py"]
    check = [str(PLAIN), "-m", "pytest", "-q"]
    subprocess.run(check, cwd=shop, env=regreen.environment(), capture_output=True, check=True)


def test_a_heal_leaves_a_copy_that_can_be_cleared_and_no_trust(regreen: Regreen, shop: Path) -> None:
    assert heal(regreen, shop).returncode == 0
    assert "No folder is trusted" in regreen("trust", "--list").stdout
    assert str(shop) in regreen("cache", "list").stdout
    assert "Removed 1 copy" in regreen("cache", "clear", shop).stdout
    assert "no private copies" in regreen("cache", "list").stdout


# --------------------------------------------------------------------------- stopping


SLOW = (
    TESTS
    + "\n\ndef test_slow():\n    import subprocess, sys, time\n    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n    time.sleep(300)\n"
)


def of_this_run(regreen: Regreen) -> list[psutil.Process]:
    """Every process that has the run's private home in its environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.environ().get("REGREEN_CACHE_DIR") == str(regreen.home / "cache"):
                found.append(process)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_means_nothing_is_left_running(regreen: Regreen, number: signal.Signals) -> None:
    folder = project(regreen.cwd / "slow", ADD, SLOW)
    run = regreen.start("heal", folder, "--json", "--interpreter", PLAIN)
    limit = time.monotonic() + 60
    while (
        len(of_this_run(regreen)) < 4 and time.monotonic() < limit
    ):  # ours, zygote, run, the test's own child
        time.sleep(0.05)
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "stopped; nothing is left running" in err
    assert json.loads(out.splitlines()[-1])["exit"] == 130
    assert of_this_run(regreen) == []


def test_who_stops_it_is_not_told_that_nothing_is_red(regreen: Regreen) -> None:
    folder = project(regreen.cwd / "slow", ADD, SLOW)
    run = regreen.start("heal", folder, "--interpreter", PLAIN)
    limit = time.monotonic() + 60
    while len(of_this_run(regreen)) < 4 and time.monotonic() < limit:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "Nothing is red" not in out
    assert out.splitlines()[-1].startswith("Stopped after ")


def test_a_reader_that_goes_away_is_no_error(regreen: Regreen, shop: Path) -> None:
    run = regreen.start("heal", shop, "--json", "--interpreter", PLAIN)
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.readline()
    run.stdout.close()
    errors = run.stderr.read()
    run.stderr.close()
    assert run.wait(60) in (0, 1)
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
    assert of_this_run(regreen) == []
