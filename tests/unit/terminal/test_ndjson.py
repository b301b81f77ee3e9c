"""Do the events of `--json` keep the shapes that programs rely on?"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

from tests.unit.terminal import made

from regreen.terminal import ndjson
from regreen.values import Outcome, Verdict

GOLDEN = Path(__file__).parents[2] / "golden" / "cli" / "events.ndjson"


def events(root: Path) -> str:
    stream = io.StringIO()
    reporter = ndjson.NdjsonReporter(stream, root)
    path = root / "cart.py"
    fix = made.fix(path, "-=", "+=", root=root)
    other = replace(made.fix(path, "result = 0", "result = 6", root=root), flags=(made.COPIED,))
    results = [made.result(root, fix, other)]
    results.append(made.result(root, outcome=Outcome.NO_FIX, nodeid="tests/test_cart.py::test_ünïcode[→]"))
    for result in results:
        reporter.failure(result.failure)
        reporter.candidate(result.failure, made.judged(path))
    reporter.candidate(results[0].failure, made.judged(path, Verdict.PLAUSIBLE))
    reporter.offer(made.result(root, fix))
    for result in results:
        reporter.result(result)
    summary = ndjson.summary_fields(
        results, tests=40, applied=["cart.py"], undo="git apply -R x", patch="", top="", elapsed=2.5, status=1
    )
    ndjson.write(stream, "summary", summary)
    return stream.getvalue()


def test_events_are_as_recorded(tmp_path: Path) -> None:
    assert events(tmp_path).replace(tmp_path.as_posix(), "/shop") == GOLDEN.read_text(encoding="utf-8")


def test_every_line_is_one_object_of_version_1(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in events(tmp_path).splitlines()]
    assert {line["v"] for line in lines} == {1}
    assert [line["event"] for line in lines] == [
        *["failure", "candidate"] * 2,
        "candidate",
        "offer",
        "result",
        "result",
        "summary",
    ]
    results = [line for line in lines if line["event"] == "result"]
    for result in results:
        assert {"nodeid", "outcome", "cause", "diff", "evidence", "reproduce"} <= set(result)
    assert results[1]["diff"] is results[1]["evidence"] is results[1]["reproduce"] is None
