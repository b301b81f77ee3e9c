"""Can the data and the reading of real-project trials be trusted? The trials themselves run in `make test-real`."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.real import healing
from tests.real.data import bugs, projects
from tests.real.report import line
from tests.real.trial import Trial


def test_every_project_gets_ten_bugs_of_different_kinds_and_each_is_caught_by_a_test() -> None:
    known = {project.name for project in projects()}
    assert Counter(bug.project for bug in bugs()) == dict.fromkeys(known, 10)
    for name in known:
        assert len({bug.kind for bug in bugs() if bug.project == name}) >= 9
    assert len({bug.name for bug in bugs()}) == 50
    assert all(bug.caught and bug.story and bug.mutated != bug.original for bug in bugs())


def test_what_is_healed_by_default_has_bugs_of_every_project_and_of_every_usual_shape() -> None:
    assert Counter(bug.project for bug in bugs() if not bug.extra) == {
        project.name: 3 for project in projects()
    }
    usual = {kind for kind, count in Counter(bug.kind for bug in bugs()).items() if count > 1}
    assert usual <= {bug.kind for bug in bugs() if not bug.extra}


def test_every_requirement_is_pinned() -> None:
    assert all("==" in wanted for project in projects() for wanted in project.requirements)
    assert all(len(project.sha256) == 64 for project in projects())


def test_a_bug_goes_into_its_line_and_nowhere_else() -> None:
    bug = replace(bugs()[0], line=2, original="b", mutated="x")
    assert bug.inject("b\nb\nb\n") == "b\nx\nb\n"
    assert replace(bug, mutated=None).inject("b\nb\nb") == "b\nb"
    assert replace(bug, original="b\nc", mutated="x\ny\nz").inject("b\nb\nc\nd") == "b\nx\ny\nz\nd"


def test_a_bug_is_refused_where_the_original_line_is_not_found() -> None:
    with pytest.raises(ValueError, match=r"holds \['c'\]"):
        replace(bugs()[0], line=1, original="b").inject("c\n")


def _event(**fields: object) -> str:
    return json.dumps({"v": 1, **fields})


def _result(nodeid: str, outcome: str, diff: str | None) -> str:
    return _event(event="result", nodeid=nodeid, outcome=outcome, reason=f"why {nodeid}", diff=diff)


def test_the_first_verified_fix_counts_and_the_second_it_was_seen() -> None:
    read = healing.read(
        [
            (0.5, _event(event="candidate", path="a.py", line=3, template="t", verdict="STILL_FAILING")),
            (1.0, _result("a", "NO_FIX", None)),
            (2.0, _result("b", "VERIFIED_TARGET_ONLY", "weak")),
            (3.0, _result("c", "VERIFIED", "strong")),
            (4.0, _result("d", "VERIFIED", "later")),
        ],
        status=1,
        ended=9.0,
        tail="",
    )
    assert (read.first, read.diff, read.seconds, read.outcome) == ("c", "strong", 3.0, "VERIFIED")
    assert (read.tried, read.suspects) == ({"STILL_FAILING": 1}, ("a.py:3",))
    assert read.reasons["a"] == "why a"


def test_a_run_without_results_is_no_success() -> None:
    read = healing.read([], status=None, ended=70.0, tail="Traceback")
    assert (read.outcome, read.seconds) == ("NO_RESULT", 70.0)
    assert not Trial(bugs()[0], heal=read).verified


def test_a_fix_that_breaks_a_test_is_not_verified_whatever_was_claimed() -> None:
    claimed = healing.read([(1.0, _result("a", "VERIFIED", "diff"))], status=0, ended=1.0, tail="")
    assert Trial(bugs()[0], heal=claimed, mended=True).verified
    harmful = Trial(bugs()[0], heal=claimed, mended=True, broken=("b",))
    assert not harmful.verified
    assert "BREAKS b" in line(harmful)


def test_a_patch_is_applied_as_git_would_or_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    healing.apply("--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n", tmp_path)
    assert (tmp_path / "a.py").read_text() == "one\nthree\n"
    with pytest.raises(ValueError, match="git does not take"):
        healing.apply("--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n", tmp_path)
