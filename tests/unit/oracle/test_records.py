"""The golden files are shared with the tests of the probe, which sends what is decoded here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from regreen.errors import OracleFailed
from regreen.oracle import records
from regreen.oracle.messages import preload_message
from regreen.oracle.records import Held, Paths, Preload
from regreen.oracle.runlog import RunLog, what_is_left
from regreen.values import Comparison, Expression, Frame, Isolation, Local, TestStatus

GOLDEN = Path(__file__).parents[2] / "golden" / "wire"
SHOP, LIB = Path("/home/ann/shop"), Path("/home/ann/lib")
ROOTS = ((SHOP, Path("/copy/shop")), (LIB, Path("/copy/lib")))
TEST_CART = SHOP / "tests/test_cart.py"


def golden(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


def log_of(items: list[dict[str, Any]]) -> RunLog:
    log = RunLog(Paths(ROOTS), Path("/copy/shop"))
    for item in items:
        log.feed(records.parse(json.dumps(item).encode()))
    return log


def test_a_process_that_waits_says_what_it_cannot_hold_and_what_has_changed() -> None:
    hello, checked = golden("waiting.jsonl")
    assert records.facts(hello).bad == "numpy"
    assert records.facts(golden("hello.jsonl")[0]).bad == ""
    assert records.held(checked) == Held("/home/ann/shop/.venv/lib/python3.11/site-packages", 41_943_040)


def test_what_a_run_imported_becomes_the_golden_message() -> None:
    told = log_of(golden("run.jsonl")).preload
    assert told == Preload(("numpy", "numpy.linalg"), ("shop", "conftest"))
    message = next(one for one in golden("request.jsonl") if one["op"] == "preload")
    assert preload_message(told, {"STAGE": "test"}) == message
    assert told.without("numpy") == Preload((), ("shop", "conftest"))


def test_a_whole_run_becomes_a_report() -> None:
    report = log_of(golden("run.jsonl")).report(1.5, "tail")
    assert report.collected == (
        "tests/test_cart.py::test_total",
        "tests/test_cart.py::test_name[é-1]",
        "tests/test_cart.py::test_later",
    )
    assert [(o.nodeid, o.status) for o in report.outcomes.values()] == [
        ("tests/test_broken.py", TestStatus.FAILED),
        ("tests/test_cart.py::test_total", TestStatus.FAILED),
        ("tests/test_cart.py::test_name[é-1]", TestStatus.PASSED),
        ("tests/test_cart.py::test_later", TestStatus.SKIPPED),
    ]
    assert (report.exit_status, report.isolation, report.problem) == (1, "full", "")
    assert report.canary_arrived
    assert report.origins == {SHOP / "src/cart.py"}
    assert report.replaced == {"builtins.print"}
    assert report.foreign == {"money": LIB / "money.py"}
    assert (report.seconds, report.stderr) == (1.5, "tail")


def test_lines_become_0_based_and_paths_the_users() -> None:
    report = log_of(golden("run.jsonl")).report(0, "")
    total = report.outcomes["tests/test_cart.py::test_total"]
    assert (total.path, total.line, total.seconds) == (TEST_CART, 4, 0.25)
    assert total.markers == {"slow", "parametrize"}
    assert report.spectrum.lines["tests/test_cart.py::test_total"] == {
        SHOP / "src/cart.py": {0, 11, 12},
        LIB / "money.py": {6},
    }


def test_a_failure_keeps_all_that_is_known() -> None:
    failure = log_of(golden("run.jsonl")).report(0, "").failures[1]
    assert failure.nodeid == "tests/test_cart.py::test_total"
    assert (failure.phase, failure.exception, failure.message) == (
        "call",
        "AssertionError",
        "assert 10 == 15",
    )
    assert failure.frames == (
        Frame(
            TEST_CART,
            5,
            "test_total",
            own=True,
            locals=(Local("cart", "shop.cart.Cart", "<Cart 2 items>"), Local("password", "str", "<hidden>")),
        ),
        Frame(Path("/usr/lib/python3/json/decoder.py"), 354, "raw_decode", own=False),
    )
    assert failure.comparison == Comparison("==", "10", "15", "int", "int")
    assert failure.hints == {"type": "shop.cart.Cart"}
    assert (failure.output, failure.path, failure.line, failure.seconds) == ("printed\n", TEST_CART, 4, 0.25)


def test_a_collection_error_is_a_red_outcome_under_the_files_own_id() -> None:
    failure = log_of(golden("run.jsonl")).report(0, "").failures[0]
    assert failure.is_collection
    assert (failure.nodeid, failure.path) == ("tests/test_broken.py", SHOP / "tests/test_broken.py")
    assert failure.frames[-1].line == 2


WRAPPER = ("/usr/bin/bwrap", "--ro-bind", "/", "/", "--")


def test_hello_tells_about_the_interpreter() -> None:
    first, second = (records.facts(item) for item in golden("hello.jsonl"))
    assert (first.python, first.pytest, first.fork, first.isolation) == (
        (3, 11, 7),
        "9.2.0",
        True,
        Isolation("partial", ("resources",), "[Errno 1] clone: Operation not permitted", WRAPPER),
    )
    assert first.roots == (Path("/home/ann/shop/src"),)
    assert (second.pytest, second.fork) == (None, False)


def test_what_does_not_compile_is_named_with_its_place() -> None:
    report = log_of(golden("uncompilable.jsonl")).report(0, "")
    assert report.uncompilable == {SHOP / "src/cart.py"}
    assert report.problem == "cannot compile cart.py:12: '(' was never closed"


def test_the_behaviour_of_observed_functions_is_their_digest() -> None:
    (record,) = golden("behaviour.jsonl")
    assert log_of([record]).report(0, "").behaviour == record["digest"]


def test_compared_calls_have_an_answer_of_each_candidate_that_was_asked() -> None:
    first, second = log_of(golden("compared.jsonl")).report(0, "").compared
    assert (first.call, first.test) == ("mean([])", "tests/test_mean.py::test_empty")
    assert (first.before, first.after) == ("ZeroDivisionError", ("0.0", "ZeroDivisionError", None))
    assert (second.test, second.before, second.after) == ("", "3.0", ("3.0", "3.0", None))


def test_an_answer_that_is_not_named_breaks_the_protocol() -> None:
    record = golden("compared.jsonl")[0]
    with pytest.raises(OracleFailed):
        log_of([{**record, "after": [2, 0, None]}])


def test_an_expression_has_its_place_in_our_lines() -> None:
    (record,) = golden("synthesis.jsonl")
    (found,) = log_of([record]).report(0, "").expressions
    assert found == Expression(
        SHOP / "src/cart.py", (11, 11), (11, 16), "price * count", "value", 3, fits=True
    )


def test_a_hang_keeps_its_frames_and_lines() -> None:
    *before, stack, _ended = golden("hang.jsonl")
    log = log_of(before)
    assert log.current == "tests/test_cart.py::test_hang"
    log.lost_test(TestStatus.TIMEOUT, "still running after 30 s", 30.0, stack)
    report = log.report(0, "")
    (failure,) = report.failures
    assert (failure.exception, failure.path, failure.line) == ("Timeout", TEST_CART, 20)
    assert [frame.line for frame in failure.frames] == [21, 39]
    assert report.spectrum.lines[failure.nodeid] == {SHOP / "src/cart.py": {38, 39}}
    assert report.outcomes[failure.nodeid].status is TestStatus.TIMEOUT


def all_fields() -> list[tuple[str, int, tuple[str, ...]]]:
    """(file, record, way to a field) of every field that the wire format demands and we read."""
    optional = {
        "deselected",
        "phases",
        "failure",
        "comparison",
        "lines",
        "seconds",
        "signal",
        "code",
        "pytest",
        "id",
        "preload",
        "bad",
    }
    found = []

    def walk(name: str, number: int, value: Any, way: tuple[str, ...]) -> None:
        if isinstance(value, dict) and not (way and way[-1] in ("places", "lines", "hints", "phases")):
            for key, inner in value.items():
                if key not in optional or (key == "failure" and value["ev"] == "collect_error"):
                    found.append((name, number, (*way, key)))
                walk(name, number, inner, (*way, key))

    for name in ("run.jsonl", "uncompilable.jsonl"):
        for number, record in enumerate(golden(name)):
            walk(name, number, record, ())
    return found


@pytest.mark.parametrize(("name", "number", "way"), all_fields())
def test_a_missing_field_breaks_the_protocol(name: str, number: int, way: tuple[str, ...]) -> None:
    items = golden(name)
    holder: Any = items[number]
    for key in way[:-1]:
        holder = holder[key]
    del holder[way[-1]]
    with pytest.raises(OracleFailed):
        log_of(items)


def test_fields_and_events_of_a_newer_probe_are_ignored() -> None:
    def grow(value: Any) -> Any:
        if isinstance(value, list):
            return [grow(item) for item in value]
        if (
            isinstance(value, dict)
            and "ev" in value | {"ev": 0}
            and ("ev" in value or "phase" in value or "own" in value)
        ):
            return {key: grow(item) for key, item in value.items()} | {"novelty": {"x": [1]}}
        return value

    items = golden("run.jsonl")
    grown = [grow(item) for item in items]
    grown.insert(3, {"id": 1, "ev": "weather", "sky": "blue"})
    assert log_of(grown).report(0, "") == log_of(items).report(0, "")


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[1]", b"3", b'"text"', b"\xff\xfe", b"Traceback (most recent call last):"]
)
def test_a_line_that_is_no_record_breaks_the_protocol(line: bytes) -> None:
    with pytest.raises(OracleFailed):
        records.parse(line)


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "splendid"},
        {"outcome": "failed", "failure": None},
        {"seconds": True},
        {"line": "5"},
        {"lines": {"/copy/shop/a.py": ["1"]}},
        {"markers": [1]},
    ],
)
def test_nonsense_in_a_test_breaks_the_protocol(change: dict[str, Any]) -> None:
    items = golden("run.jsonl")
    items[5] |= change
    with pytest.raises(OracleFailed):
        log_of(items)


@pytest.mark.parametrize(
    "change", [{"v": 2}, {"python": [3, 11]}, {"fork": 1}, {"isolation": True}, {"pytest": 9}, {"roots": "x"}]
)
def test_nonsense_in_hello_breaks_the_protocol(change: dict[str, Any]) -> None:
    with pytest.raises(OracleFailed):
        records.facts(golden("hello.jsonl")[0] | change)


def test_paths_map_to_the_deepest_root_and_back(tmp_path: Path) -> None:
    inner, outer = tmp_path / "user" / "mono" / "pkg", tmp_path / "user" / "mono"
    real = tmp_path / "real"
    (real / "mono" / "pkg").mkdir(parents=True)
    (tmp_path / "copy").symlink_to(real)
    copy = tmp_path / "copy"
    paths = Paths(((inner, copy / "mono" / "pkg"), (outer, copy / "mono")))
    assert paths.user(str(copy / "mono" / "pkg" / "a.py")) == inner / "a.py"
    assert paths.user(str(copy / "mono" / "b.py")) == outer / "b.py"
    assert paths.user(str(copy / "mono")) == outer
    assert paths.user(str(real / "mono" / "b.py")) == outer / "b.py"  # as realpath shows it
    assert paths.user(str(copy / "monorail" / "b.py")) == copy / "monorail" / "b.py"
    assert paths.copy(inner / "a.py") == copy / "mono" / "pkg" / "a.py"
    assert paths.copy(outer / "a.py") == copy / "mono" / "a.py"
    with pytest.raises(KeyError):
        paths.copy(tmp_path / "elsewhere")


def test_what_is_left_of_named_tests_are_their_ids() -> None:
    log = log_of(golden("run.jsonl"))
    del log.outcomes["tests/test_cart.py::test_later"]
    assert what_is_left(("tests/test_cart.py",), log) == ("tests/test_cart.py::test_later",)
    assert what_is_left((), log) == ("tests/test_cart.py::test_later",)


def test_what_is_left_of_a_suite_names_untouched_files_as_files() -> None:
    log = RunLog(
        Paths(ROOTS), Path("/copy/shop"), collected=("a.py::x", "a.py::y", "b.py::x", "b.py::y", "c.py::x")
    )
    log.current = "a.py::x"
    log.lost_test(TestStatus.CRASHED, "gone", 0.0)
    assert what_is_left((), log) == ("a.py::y", "b.py", "c.py")
    assert what_is_left(("a.py", "b.py::x"), log) == ("a.py::y", "b.py::x", "b.py::y", "c.py::x")


def test_nothing_is_left_when_all_have_an_outcome() -> None:
    assert what_is_left((), log_of(golden("run.jsonl"))) is None


@pytest.mark.parametrize(
    ("code", "number", "text"),
    [
        (3, None, "exit status 3"),
        (None, 11, "signal SIGSEGV"),
        (None, 999, "signal 999"),
        (None, None, "unknown exit status"),
    ],
)
def test_how_a_process_ended_is_said_in_words(code: int | None, number: int | None, text: str) -> None:
    log = log_of([{"id": 1, "ev": "ended", "code": code, "signal": number}])
    assert log.how_it_ended() == text
