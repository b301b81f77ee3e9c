"""What were the two sides of the comparison that failed?"""

from __future__ import annotations

import sys
import types

from regreen_probe import reprs


class Compared:
    """Remembers the last comparison that pytest explained, and where it was made."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """A new test begins."""
        self.last: dict[str, str] | None = None
        self.place: tuple[int, types.CodeType | None, int] = (0, None, 0)

    def note(self, op: str, left: object, right: object) -> None:
        """Called from inside pytest's explanation of a failing assert."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "_call_reprcompare":
            frame = frame.f_back
        if frame is None:
            return  # somebody else asked for an explanation
        failed = frame.f_locals.get("done", True)
        frame = frame.f_back
        if frame is None or not failed:
            return  # `a == 1 and b`: this part of the assert was true
        self.place = (id(frame), frame.f_code, frame.f_lineno)
        self.last = made(op, left, right)

    def at(self, frame: types.FrameType, line: int) -> dict[str, str] | None:
        """The last comparison, when it was made in this very frame and line."""
        return self.last if self.place == (id(frame), frame.f_code, line) else None


def made(op: str, left: object, right: object) -> dict[str, str]:
    """A `comparison`."""
    return {
        "op": op,
        "left": reprs.show(left),
        "right": reprs.show(right),
        "left_type": reprs.type_name(type(left)),
        "right_type": reprs.type_name(type(right)),
    }


def of(error: BaseException, compared: Compared) -> dict[str, str] | None:
    """The comparison behind an exception, None when there is none to be seen."""
    entry = error.__traceback__
    if entry is None or not isinstance(error, AssertionError):
        return None
    while True:
        asked = _by_unittest(entry.tb_frame)
        if asked is not None:
            return asked
        if entry.tb_next is None:
            break
        entry = entry.tb_next
    return compared.at(entry.tb_frame, entry.tb_lineno) or _bare(error, entry.tb_frame)


_UNITTEST = {
    "assertNotEqual": "!=", "assertNotAlmostEqual": "!=", "assertIn": "in", "assertNotIn": "not in",
    "assertIs": "is", "assertIsNot": "is not", "assertLess": "<", "assertLessEqual": "<=",
    "assertGreater": ">", "assertGreaterEqual": ">=", "assertIsInstance": "isinstance",
    "assertNotIsInstance": "not isinstance",
}  # fmt: skip
_ONE_SIDED = {"assertTrue": ("==", True), "assertFalse": ("==", False)}
_NONE = {"assertIsNone": ("is", None), "assertIsNotNone": ("is not", None)}


def _by_unittest(frame: types.FrameType) -> dict[str, str] | None:
    """The sides of unittest's assert methods: first what the test got, second what it expected."""
    code = frame.f_code
    if not code.co_name.startswith("assert") or frame.f_globals.get("__name__") != "unittest.case":
        return None
    space = frame.f_locals
    names = [n for n in code.co_varnames[1 : code.co_argcount] if n in space]
    if code.co_name in _ONE_SIDED or code.co_name in _NONE:
        op, right = {**_ONE_SIDED, **_NONE}[code.co_name]
        return made(op, space[names[0]], right) if names else None
    if len(names) < 2 or code.co_name in ("assertRaises", "assertWarns", "assertLogs", "assertRegex"):
        return None
    return made(_UNITTEST.get(code.co_name, "=="), space[names[0]], space[names[1]])


def _bare(error: AssertionError, frame: types.FrameType) -> dict[str, str] | None:
    """`assert x`: pytest's message starts with the value, and the frame still holds it."""
    if not any(name.startswith("@py_") for name in frame.f_code.co_varnames + frame.f_code.co_names):
        return None
    for line in reprs.text(error).splitlines():
        if line.startswith("assert ") and not line.startswith("assert ("):
            return _truth(line[len("assert ") :], frame)
    return None


def _truth(shown: str, frame: types.FrameType) -> dict[str, str] | None:
    inverted = shown.startswith("not ")
    if inverted:
        shown = shown[len("not ") :]
    for value in reversed(list(frame.f_locals.values())):
        if reprs.show(value) == shown:
            return made("==", value, not inverted)
    known = {"False": False, "None": None, "True": True, "[]": [], "''": "", "0": 0, "{}": {}}
    if shown in known:
        return made("==", known[shown], not inverted)
    return None
