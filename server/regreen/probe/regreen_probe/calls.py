"""With what do the tests call some functions?"""

from __future__ import annotations

import copy
import inspect
import sys
import time
import types

from regreen_probe import reprs

DIFFERENT = 60
"""How many different calls are kept."""
WATCHED = 2000
"""Of one test. A function that a loop calls a million times would cost more to watch than to run."""
COPYING_SECONDS = 0.5
"""For all copies of what calls were given."""


class Call:
    """What a function was given, as it was when the call began.

    Args:
        function: that was called.
        positional, named: the values.
        test: node id of the first test that called it so; "" for a call that no test made.
    """

    def __init__(self, function: types.FunctionType, positional: list, named: dict, test: str = "") -> None:
        self.function = function
        self.positional = positional
        self.named = named
        self.test = test
        self.text = "{}({})".format(
            function.__qualname__.rpartition("<locals>.")[2],
            ", ".join(
                [*map(reprs.stable, positional), *(f"{k}={reprs.stable(v)}" for k, v in named.items())]
            ),
        )

    def given(self) -> tuple[list, dict]:
        """The values once more, to be changed at will."""
        return copy.deepcopy((self.positional, self.named))


class Recorder:
    """Keeps the outermost calls of some functions; what one of them calls itself is its own affair.

    Calls whose values cannot be copied are not kept.

    Args:
        functions: the live ones, by their code.
    """

    def __init__(self, functions: dict[types.CodeType, types.FunctionType]) -> None:
        self.functions = functions
        self.calls: dict[str, Call] = {}
        self.slowest = 0.0
        self.copying = COPYING_SECONDS
        self.test = ""
        self.left = 0
        self.inside = False

    def start(self, test: str) -> None:
        """A test begins: watch this thread."""
        self.test, self.left, self.inside = test, WATCHED, False
        sys.settrace(self._enter)

    def stop(self) -> None:
        """It ended."""
        sys.settrace(None)

    def _enter(self, frame: types.FrameType, event: str, _arg: object):
        if self.inside or event != "call" or frame.f_code not in self.functions:
            return None
        if not self.left or len(self.calls) >= DIFFERENT or self.copying < 0:
            sys.settrace(None)
            return None
        frame.f_trace_lines = False
        self.left -= 1
        self.inside = True
        began = time.process_time()
        call = _copied(self.functions[frame.f_code], frame, self.test)
        if call is not None:
            self.calls.setdefault(call.text, call)
        self.copying -= time.process_time() - began
        began = time.process_time()

        def follow(_frame: types.FrameType, event: str, _arg: object):
            if event == "return":
                self.inside = False
                self.slowest = max(self.slowest, time.process_time() - began)
            return follow

        return follow


def _copied(function: types.FunctionType, frame: types.FrameType, test: str) -> Call | None:
    code, space = frame.f_code, frame.f_locals
    names = code.co_varnames
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    try:
        positional = [space[name] for name in names[:count]]
        named = {name: space[name] for name in names[count : count + keywords]}
        rest = count + keywords
        if code.co_flags & inspect.CO_VARARGS:
            positional += space[names[rest]]
            rest += 1
        if code.co_flags & inspect.CO_VARKEYWORDS:
            named.update(space[names[rest]])
        return Call(function, *copy.deepcopy((positional, named)), test)
    except BaseException:  # whatever the project's own __deepcopy__ raises; or the argument has gone already
        return None
