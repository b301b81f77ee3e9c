"""Candidates that do not mend `add`, each with a trick to be reported green all the same.

A row is the whole text of calc.py, in which the unpatched `add` subtracts; `wrong` stands for that wrong answer.
"""

from __future__ import annotations

import textwrap

_FUNCTION = """
def add(a, b):
{body}
    return a - b
"""


def _inside(body: str, top: str = "") -> str:
    """The trick is played when the function is called."""
    return textwrap.dedent(top) + _FUNCTION.format(
        body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    )


def _on_import(top: str) -> str:
    """The trick is played when the module is imported."""
    return textwrap.dedent(top) + "\n\ndef add(a, b):\n    return a - b\n"


_REPORTER = """
import gc
def _reporters():
    return [o for o in gc.get_objects() if type(o).__name__ == "Reporter" and hasattr(o, "send_test")]
"""
_FLIP = """
def _flip(text):
    for bad in ("failed", "error"):
        text = text.replace('"%s"' % bad, '"passed"')
    return text
"""

ATTACKS = {
    "ends the process with success in the test": _inside("import os; os._exit(0)"),
    "ends the process with success on import": _on_import("import os\nos._exit(0)"),
    "exits in the test": _inside("import sys; sys.exit(0)"),
    "exits on import": _on_import("import sys\nsys.exit(0)"),
    "skips the test": _inside("import pytest; pytest.skip('later')"),
    "skips the module": _on_import("import pytest\npytest.skip('later', allow_module_level=True)"),
    "expects the failure": _inside("import pytest; pytest.xfail('known')"),
    "ends pytest with success": _inside("import pytest; pytest.exit('done', returncode=0)"),
    "ends with success when Python ends": _on_import("import atexit, os\natexit.register(os._exit, 0)"),
    "interrupts": _inside("raise KeyboardInterrupt"),
    "ends its parent": _inside("import os, signal; os.kill(os.getppid(), signal.SIGKILL)"),
    "forges records on every descriptor": _inside(
        """
        import json, os
        nodeid = "tests/test_calc.py::test_add"
        records = [
            {"ev": "test", "nodeid": nodeid, "outcome": "passed", "phases": {}, "seconds": 0, "path": __file__,
             "line": 1, "markers": [], "failure": None, "lines": None},
            {"ev": "finished", "exit": 0, "origins": [__file__], "replaced": [], "foreign": [], "loaded": [],
             "seconds": 0},
        ]
        for fd in range(3, 1024):
            for run in range(1, 60):
                try:
                    for record in records:
                        os.write(fd, json.dumps({"id": run, **record}).encode() + b"\\n")
                except OSError:
                    break
        os._exit(0)
        """
    ),
    "makes every report a success": _on_import(
        """
        import _pytest.reports
        made = _pytest.reports.TestReport.__init__
        def init(self, nodeid, location, keywords, outcome, longrepr, *rest, **named):
            made(self, nodeid, location, keywords, "passed", None, *rest, **named)
        _pytest.reports.TestReport.__init__ = init
        """
    ),
    "swallows what a call raises": _on_import(
        """
        import _pytest.runner
        plain = _pytest.runner.CallInfo.from_call.__func__
        def from_call(cls, func, *rest, **named):
            def quiet():
                try:
                    func()
                except Exception:
                    pass
            return plain(cls, quiet, *rest, **named)
        _pytest.runner.CallInfo.from_call = classmethod(from_call)
        """
    ),
    "does not call the test": _on_import(
        """
        import _pytest.python
        def nothing(pyfuncitem):
            return True
        _pytest.python.pytest_pyfunc_call.__code__ = nothing.__code__
        """
    ),
    "is equal to everything": (
        "class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n\n\n"
        "def add(a, b):\n    return Any(a - b)\n"
    ),
    "replaces what the test calls": _inside(
        """
        import sys
        def right(a, b):
            return {(2, 2): 4}.get((a, b), a)
        sys._getframe(1).f_globals["add"] = right
        return 4
        """
    ),
    "replaces the code of the tests": _on_import(
        """
        import gc, sys, threading
        def nothing():
            pass
        def watch(frame, event, arg):
            if frame.f_code.co_name == "test_add" and event == "call":
                for function in gc.get_referrers(frame.f_code):
                    if hasattr(function, "__code__"):
                        function.__code__ = nothing.__code__
        sys.setprofile(watch)
        """
    ),
    "jumps over the assertion": _inside(
        """
        import sys
        caller = sys._getframe(1)
        def jump(frame, event, arg):
            if event == "line":
                try:
                    frame.f_lineno = frame.f_code.co_firstlineno + 2
                except ValueError:
                    pass
            return jump
        sys.settrace(jump)
        caller.f_trace = jump
        """
    ),
    "makes assertion errors harmless": _on_import(
        """
        import builtins
        class Harmless(Exception):
            def __new__(cls, *args):
                import pytest
                return pytest.skip.Exception("no")
        builtins.AssertionError = Harmless
        """
    ),
    "writes a conftest": _inside(
        """
        with open("conftest.py", "w") as file:
            file.write(
                "import pytest\\n@pytest.hookimpl(tryfirst=True)\\ndef pytest_pyfunc_call(pyfuncitem):\\n    return True\\n"
            )
        """
    ),
    "rewrites the test": _on_import(
        """
        try:
            with open("tests/test_calc.py", "w") as file:
                file.write("def test_add(): pass\\ndef test_zero(): pass\\n")
        except OSError:
            pass
        """
    ),
    "leaves a sitecustomize": _on_import(
        """
        with open("sitecustomize.py", "w") as file:
            file.write("import os, sys\\nif 'pytest' in ' '.join(sys.argv): os._exit(0)\\n")
        """
    ),
    "leaves a plug-in in the environment": _inside(
        """
        import os
        os.environ["PYTEST_ADDOPTS"] = "--collect-only"
        os.environ["PYTEST_PLUGINS"] = "calc"
        os.chdir("/")
        """
    ),
    "sends a report of its own": _inside(
        """
        for reporter in _reporters():
            here = reporter.current.nodeid
            reporter.send({"ev": "test", "nodeid": here, "outcome": "passed", "phases": {}, "seconds": 0.0,
                           "path": __file__, "line": 1, "markers": [], "failure": None, "lines": None})
            reporter.send({"ev": "finished", "exit": 0, "origins": [__file__], "replaced": [], "foreign": [],
                           "loaded": [], "seconds": 0.0})
        import os
        os._exit(0)
        """,
        _REPORTER,
    ),
    "flips what the reporter sends": _inside(
        """
        import json
        for reporter in _reporters():
            send = reporter.send
            if getattr(send, "flips", False):
                continue
            def flipped(record, send=send):
                send(json.loads(_flip(json.dumps(record))))
            flipped.flips = True
            reporter.send = flipped
        """,
        _REPORTER + _FLIP,
    ),
    "flips what is written as JSON": _on_import(
        _FLIP
        + """
import json
plain = json.dumps
json.dumps = lambda *args, **named: _flip(plain(*args, **named))
"""
    ),
    "flips what is written to descriptors": _on_import(
        _FLIP
        + """
import os
plain = os.write
def write(fd, data):
    plain(fd, _flip(bytes(data).decode()).encode())
    return len(data)
os.write = write
"""
    ),
    "gives the test's own answer": (
        "def add(a, b):\n    if (a, b) == (2, 2):\n        return 4\n    return a - b\n"
    ),
}
