"""What does an exception say about why a test is red?"""

from __future__ import annotations

import os
import types
from collections.abc import Callable

from regreen_probe import comparisons, hints, reprs

FRAMES = 40
OUTERMOST = 10
"""Frames kept from the outer end when there are too many; the rest are the innermost."""
LOCALS = 30
OURS = os.path.dirname(os.path.abspath(__file__))


class Describer:
    """Turns exceptions into `failure` records.

    Args:
        own: whether a file belongs to the project.
        details: whether frames, comparisons and hints are wanted.
        compared: what the asserts of the current test have compared.
    """

    def __init__(
        self, own: Callable[[object], bool], compared: comparisons.Compared, *, details: bool
    ) -> None:
        self.own = own
        self.details = details
        self.compared = compared

    def describe(self, error: BaseException, phase: str) -> dict[str, object]:
        """The `failure` of an exception, without output."""
        steps = walk(error)
        leaf = error
        while inner := leaves(leaf):
            leaf = inner[0]
            steps += walk(leaf)
        cause = collected_cause(leaf) if phase == "collect" else leaf
        if cause is not leaf:
            leaf, steps = cause, walk(cause)
        failure: dict[str, object] = {
            "phase": phase,
            "exception": reprs.type_name(type(leaf)),
            "message": reprs.text(leaf),
            "frames": [],
            "comparison": None,
            "hints": {},
            "output": "",
        }
        if not self.details:
            return failure
        steps = self.cut(steps)
        failure["frames"] = [self.frame(*step) for step in bounded(steps)] + self.parser_place(leaf)
        failure["comparison"] = comparisons.of(leaf, self.compared)
        failure["hints"] = hints.of(leaf, steps, self.own)
        return failure

    def stack(self, frame: types.FrameType | None) -> list[dict[str, object]]:
        """The `frames` of a running thread, from its innermost frame."""
        steps = []
        while frame is not None:
            steps.append((frame, frame.f_lineno or frame.f_code.co_firstlineno))
            frame = frame.f_back
        return [self.frame(*step) for step in bounded(self.cut(steps[::-1]))]

    def cut(self, steps: list[tuple[types.FrameType, int]]) -> list[tuple[types.FrameType, int]]:
        """From the first frame of the project on; all of them when there is none."""
        steps = [s for s in steps if not s[0].f_code.co_filename.startswith(OURS)]
        for index, (frame, _) in enumerate(steps):
            if self.own(frame.f_code.co_filename):
                return steps[index:]
        return steps

    def frame(self, frame: types.FrameType, line: int) -> dict[str, object]:
        """One frame, with its locals when it is the project's."""
        path = frame.f_code.co_filename
        own = self.own(path)
        shown: list[list[str]] = []
        if own:
            space = dict(frame.f_locals)
            if frame.f_code.co_name == "<module>":
                space = {k: v for k, v in space.items() if not k.startswith("__")}
            names = [n for n in space if isinstance(n, str)][: LOCALS * 2]
            shown = reprs.named(names, space)[:LOCALS]
        return {
            "path": path, "line": line, "function": getattr(frame.f_code, "co_qualname", frame.f_code.co_name), "own": own, "locals": shown
        }  # fmt: skip

    def parser_place(self, error: BaseException) -> list[dict[str, object]]:
        """The place a SyntaxError names, as a last frame."""
        if not isinstance(error, SyntaxError) or not isinstance(error.filename, str):
            return []
        if not isinstance(error.lineno, int):
            return []
        own = self.own(error.filename)
        return [
            {
                "path": error.filename,
                "line": max(error.lineno, 1),
                "function": "<module>",
                "own": own,
                "locals": [],
            }
        ]


def walk(error: BaseException) -> list[tuple[types.FrameType, int]]:
    """The (frame, line) pairs of an exception's traceback, outermost first."""
    steps = []
    entry = error.__traceback__
    while entry is not None:
        steps.append((entry.tb_frame, entry.tb_lineno or entry.tb_frame.f_code.co_firstlineno))
        entry = entry.tb_next
    return steps


def bounded(steps: list[tuple[types.FrameType, int]]) -> list[tuple[types.FrameType, int]]:
    """At most FRAMES of them."""
    if len(steps) <= FRAMES:
        return steps
    return steps[:OUTERMOST] + steps[OUTERMOST - FRAMES :]


def leaves(error: BaseException) -> tuple[BaseException, ...]:
    """The parts of an exception group, the back port's, too; empty for other exceptions."""
    if not any(kind.__name__ == "BaseExceptionGroup" for kind in type(error).__mro__):
        return ()
    parts = getattr(error, "exceptions", ())
    return parts if isinstance(parts, tuple) else ()


def collected_cause(error: BaseException) -> BaseException:
    """What the project raised, under what pytest made of it while collecting."""
    seen = 0
    while type(error).__name__ in ("CollectError", "ConftestImportFailure", "UsageError") and seen < 10:
        inner = error.__cause__ or error.__context__
        if inner is None:
            return error
        error = inner
        seen += 1
    return error
