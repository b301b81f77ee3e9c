"""Red tests of one cause are searched once; a red test that stands alone stands alone."""

from __future__ import annotations

from pathlib import Path

from regreen.pipeline.groups import grouped
from regreen.values import Failure, Frame

CART, TEST = Path("/p/cart.py"), Path("/p/test_cart.py")


def failure(name: str, line: int | None, exception: str = "TypeError", seconds: float = 0.0) -> Failure:
    frames = [Frame(TEST, 1, name, own=True)]
    if line is not None:
        frames.append(Frame(CART, line, "total", own=True))
    return Failure(name, "call", exception, "", tuple(frames), TEST, 0, seconds=seconds)


def names(failures: list[Failure]) -> list[list[str]]:
    return [[f.nodeid for f in group] for group in grouped(failures, lambda path: path == TEST)]


def test_the_same_exception_at_the_same_line_is_one_cause() -> None:
    assert names([failure("a", 3), failure("b", 3), failure("c", 4), failure("d", 3, "KeyError")]) == [
        ["a", "b"],
        ["c"],
        ["d"],
    ]


def test_a_failure_that_never_left_the_test_is_alone() -> None:
    assert names([failure("a", None), failure("b", None)]) == [["a"], ["b"]]


def test_the_fastest_comes_first_in_its_group_and_among_groups() -> None:
    slow, quick, other = (
        failure("slow", 3, seconds=2),
        failure("quick", 3, seconds=1),
        failure("o", 5, seconds=0.5),
    )
    assert names([slow, quick, other]) == [["o"], ["quick", "slow"]]


def test_thousands_of_failures_fall_into_a_few_groups() -> None:
    failures = [failure(str(n), n % 3) for n in range(4000)]
    assert sorted(map(len, grouped(failures, lambda path: path == TEST))) == [1333, 1333, 1334]
