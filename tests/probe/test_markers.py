"""Statement markers tell which lines ran, and change nothing else."""

from __future__ import annotations

import ast
import itertools
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .client import PROBE, Copy, Probe, island
from .environments import Python, pythons

instrument, markers = island("instrument"), island("markers")


TRICKY = {
    "one-line suites": (
        """
        def f(n):
            if n: return 1
            for i in range(2): n += i
            while n < 3: n += 1
            return n
        """,
        "f(0)",
        [3, 4, 5, 6],
    ),
    "semicolons": ("def f():\n    a = 1; b = 2\n    return a + b\n", "f()", [2, 3]),
    "docstring only": ('def f():\n    """Text."""\n', "(f(), f.__doc__)", []),
    "docstring and code": ('def f():\n    """Text."""\n    return 1\n', "(f(), f.__doc__)", [3]),
    "no docstring": ("def f():\n    return 1\n", "(f(), f.__doc__)", [2]),
    "global and nonlocal": (
        """
        count = 0
        def f():
            global count
            count += 1
            def g():
                nonlocal inner
                inner += 1
            inner = 1
            g()
            return inner + count
        """,
        "f()",
        [5, 6, 8, 9, 10, 11],
    ),
    "exceptions": (
        """
        def f(n):
            try:
                return 1 // n
            except ZeroDivisionError as e:
                n = 2
            except (TypeError, ValueError):
                n = 3
            else:
                n = 4
            finally:
                n = 5
            return n
        """,
        "(f(1), f(0))",
        [3, 4, 6, 12, 13],
    ),
    "elif": (
        """
        def f(n):
            if n == 1:
                return 1
            elif n == 2:
                return 2
            elif n == 3:
                return 3
            else:
                return 4
        """,
        "f(2)",
        [3, 5, 6],
    ),
    "class in a function": (
        '''
        def f():
            class C:
                """C."""
                x = 1
                def m(self):
                    return self.x
            return (C().m(), C.__doc__, sorted(n for n in vars(C) if "regreen" in n))
        ''',
        "f()",
        [3, 5, 6, 7, 8],
    ),
    "class at the top": (
        """
        class C:
            x = 1
            def m(self):
                return self.__y()
            def __y(self):
                return 2
        """,
        "C().m()",
        [5, 7],
    ),
    "generators": (
        """
        def f():
            got = yield 1
            yield got
        """,
        "(lambda g: (next(g), g.send(5)))(f())",
        [3, 4],
    ),
    "async": (
        """
        import asyncio
        class A:
            async def __aenter__(self):
                return self
            async def __aexit__(self, *a):
                return True
        async def f():
            async with A() as a:
                await asyncio.sleep(0)
                raise ValueError
            return [x async for x in g()]
        async def g():
            yield 1
        """,
        "asyncio.run(f())",
        [5, 7, 9, 10, 11, 12, 14],
    ),
    "decorated": (
        """
        import functools
        def f():
            @functools.lru_cache(maxsize=None)
            def g(n):
                return n
            return g(1)
        """,
        "f()",
        [5, 6, 7],
    ),
    "lambda and comprehension": (
        "def f():\n    g = lambda x: [y for y in x]\n    return g([1])\n",
        "f()",
        [2, 3],
    ),
    "loop with else": (
        """
        def f():
            for i in range(3):
                if i == 5:
                    break
                continue
            else:
                i = 10
            with open(__import__("os").devnull) as a:
                del i
            assert True, "never"
        """,
        "f()",
        [3, 4, 6, 8, 9, 10, 11],
    ),
    "future": ("from __future__ import annotations\ndef f(x: undefined):\n    return 1\n", "f(1)", [3]),
    "imports": (
        "def f():\n    import os.path as p\n    from os import sep\n    return p.sep == sep\n",
        "f()",
        [2, 3, 4],
    ),
}
TRICKY_310 = {
    "match": (
        """
        def f(x):
            match x:
                case [a, b]:
                    return a + b
                case {"k": v} if v:
                    return v
                case _:
                    return 0
        """,
        "(f([1, 2]), f({'k': 3}), f(1))",
        [3, 5, 7, 9],
    ),
}
TRICKY_311 = {
    "except star": (
        """
        def f():
            try:
                raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
            except* ValueError:
                a = 1
            except* TypeError:
                a = 2
            return a
        """,
        "f()",
        [3, 4, 6, 8, 9],
    ),
}
TRICKY_312 = {
    "type parameters": (
        """
        def f[T](x: T) -> T:
            type A = list[T]
            class C[U]:
                def m(self): return 1
            return C().m()
        """,
        "f(1)",
        [3, 4, 5, 6],
    ),
}


def _all() -> list[tuple[str, tuple[str, str, list[int]], tuple[int, int]]]:
    """(name, case, the first Python that has its syntax)."""
    tables = {(3, 9): TRICKY, (3, 10): TRICKY_310, (3, 11): TRICKY_311, (3, 12): TRICKY_312}
    return [(name, case, since) for since, table in tables.items() for name, case in table.items()]


PROGRAM = """
import sys
sys.path.append(sys.argv[1])
from regreen_probe import instrument, markers
def run(code, call):
    space = {}
    exec(code, space)
    names = sorted(n for n in space if not n.startswith('__'))
    return repr((eval(call, space), names))
found = {}
for name, (source, call, since) in eval(sys.stdin.read()).items():
    if sys.version_info < since:
        continue
    table = markers.Table('f.py')
    plain = run(compile(source, 'f.py', 'exec', dont_inherit=True), call)
    marked = run(instrument.compiled('f.py', source.encode(), table=table), call)
    found[name] = (plain, marked, table.executed())
print(repr(found))
"""


@pytest.mark.parametrize("python", pythons(), ids=str)
def test_tricky_source_runs_the_same_and_its_lines_are_right(python: Python) -> None:
    cases = {name: (textwrap.dedent(text), call, since) for name, (text, call, _), since in _all()}
    done = subprocess.run(
        [python.executable, "-B", "-c", PROGRAM, PROBE],
        input=repr(cases), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = eval(done.stdout)
    wanted = {name: lines for name, (_, _, lines), since in _all() if python.version >= since}
    assert {name: plain for name, (plain, _, _) in found.items()} == {
        name: marked for name, (_, marked, _) in found.items()
    }
    assert {name: lines for name, (_, _, lines) in found.items()} == wanted


# --------------------------------------------------------------------------- random programs

_NAMES = st.sampled_from(["a", "b", "c"])
_VALUES = st.one_of(
    st.integers(0, 3).map(str), _NAMES, st.tuples(_NAMES, st.sampled_from("+-*"), _NAMES).map("".join)
)
_CONDITIONS = st.tuples(_NAMES, st.sampled_from([" < ", " == ", " != "]), _VALUES).map("".join)


def _indented(block: list[str]) -> list[str]:
    return ["    " + line for line in block]


_SIMPLE = st.one_of(
    st.tuples(_NAMES, _VALUES).map(lambda t: [f"{t[0]} = {t[1]}"]),
    st.tuples(_NAMES, _VALUES).map(lambda t: [f"{t[0]} = ({t[1]} +", f"    {t[0]})"]),
    _VALUES.map(lambda v: [f"log({v}); log(1)"]),
    _CONDITIONS.map(lambda c: [f"if {c}: log(2)"]),
    _CONDITIONS.map(lambda c: [f"assert {c}"]),
    st.just(["raise KeyError(a)"]),
    st.just(["pass"]),
    _VALUES.map(lambda v: [f"return {v}"]),
    _NAMES.map(lambda n: [f"log([{n} for {n} in range(2)])"]),
)


def _compound(blocks: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    def made(head: str, first: list[str], middle: str, second: list[str]) -> list[str]:
        return [head, *_indented(first), middle, *_indented(second)]

    return st.one_of(
        st.builds(lambda c, x, y: made(f"if {c}:", x, "else:", y), _CONDITIONS, blocks, blocks),
        st.builds(lambda c, x, y: made("if a:", x, f"elif {c}:", y), _CONDITIONS, blocks, blocks),
        st.builds(lambda n, x, y: made(f"for {n} in range(2):", x, "else:", y), _NAMES, blocks, blocks),
        st.builds(lambda x, y: made("try:", x, "except KeyError as e:", y), blocks, blocks),
        st.builds(lambda x, y: made("try:", x, "finally:", y), blocks, blocks),
        st.builds(lambda x: ["def inner(a=a, b=b, c=c):", *_indented(x), "log(inner(1))"], blocks),
        st.builds(lambda x: ["with quiet():", *_indented(x)], blocks),
    )


def _joined(parts: list[list[str]]) -> list[str]:
    return list(itertools.chain.from_iterable(parts))


_BLOCKS: st.SearchStrategy[list[str]] = st.recursive(
    st.lists(_SIMPLE, min_size=1, max_size=3).map(_joined),
    lambda inner: st.lists(st.one_of(_SIMPLE, _compound(inner)), min_size=1, max_size=3).map(_joined),
    max_leaves=12,
)


class _Quiet:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def _run(code: Any, trace: set[int] | None = None) -> tuple[object, list[object]]:
    logged: list[object] = []
    space: dict[str, Any] = {"log": lambda value: logged.append(repr(value)[:50]), "quiet": _Quiet}

    def tracer(frame: Any, event: str, _arg: object) -> Any:
        if frame.f_code.co_filename != "random.py" or frame.f_code.co_name == "<module>":
            return None
        if event == "line" and trace is not None:
            trace.add(frame.f_lineno)
        return tracer

    exec(code, space)
    before = sys.gettrace()
    if trace is not None:
        sys.settrace(tracer)
    try:
        result: object = space["f"](1, 2, 0)
    except Exception as error:  # noqa: BLE001 — whatever a random program raises is its result
        entry = error.__traceback__
        lines = []
        while entry is not None:
            lines.append(entry.tb_lineno)
            entry = entry.tb_next
        result = (type(error), str(error), lines[1:])
    finally:
        sys.settrace(before)
    return result, logged


def _unreachable(source: str) -> set[int]:
    """Lines of the statements after one that always leaves its block."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(body, list):
                left = False
                for statement in body:
                    lines |= {n.lineno for n in ast.walk(statement) if left and isinstance(n, ast.stmt)}
                    left = left or isinstance(statement, (ast.Raise, ast.Return, ast.Break, ast.Continue))
    return lines


@given(_BLOCKS)
@example(["try:", "    assert a < 0", "finally:", "    raise KeyError(a)", "    a = 0"])
@settings(max_examples=150, deadline=None)
def test_markers_do_not_change_what_a_program_does_and_agree_with_a_tracer(block: list[str]) -> None:
    source = "\n".join(["def f(a, b, c):", *_indented(block)]) + "\n"
    traced: set[int] = set()
    plain = _run(compile(source, "random.py", "exec", dont_inherit=True), traced)
    table = markers.Table("random.py")
    marked = _run(instrument.compiled("random.py", source.encode(), table=table))

    assert marked == plain, source
    statements = {n.lineno for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt)}
    assert set(table.lines) == statements - {1}, source
    # a tracer may see more lines of one statement, and nothing where a no-op was optimised away; that of 3.11
    # also sees statements which nothing can reach
    marker_lines = set(table.lines)
    dead = _unreachable(source)
    assert not dead & set(table.executed()), source
    no_ops = dead | {n for n, line in enumerate(source.splitlines(), 1) if line.strip() in ("pass", "try:")}
    assert traced & marker_lines - no_ops == set(table.executed()) - no_ops, source


# --------------------------------------------------------------------------- in a run

FILES = {
    "shop.py": (
        "import inspect, traceback\n"
        "def text():\n"
        "    return inspect.getsource(text)\n"
        "def fails(n):\n"
        "    if n:\n"
        "        n = 2\n"
        "    raise ValueError(n)\n"
        "def local():\n"
        "    x = 1\n"
        "    return sorted(locals())\n"
    ),
    "test_it.py": (
        "import shop, linecache, traceback\n"
        "def test_text(): assert shop.text() == 'def text():\\n    return inspect.getsource(text)\\n'\n"
        "def test_lines():\n"
        "    try: shop.fails(1)\n"
        "    except ValueError as e:\n"
        "        last = traceback.extract_tb(e.__traceback__)[-1]\n"
        "        assert (last.lineno, last.line) == (7, 'raise ValueError(n)')\n"
        "def test_names():\n"
        "    assert shop.local() == ['x']\n"
        "    assert not [n for n in vars(shop) if 'regreen' in n or 'cov' in n]\n"
    ),
}


def test_a_marked_module_looks_as_its_file_does(host: Probe, copied: Copy) -> None:
    ran = host.run(copied, spectrum=True)
    assert set(ran.outcomes.values()) == {"passed"}
    assert ran.lines("test_lines", "shop.py") == [5, 6, 7]


def test_code_that_is_too_deep_for_markers_still_runs(host: Probe, tmp_path: Path) -> None:
    deep = "def f():\n    return " + "+".join(["1"] * 3000) + "\n"
    copy = Copy(
        tmp_path, {"shop.py": deep, "test_it.py": "import shop\ndef test_f(): assert shop.f() == 3000\n"}
    )
    assert host.run(copy, spectrum=True).outcomes == {"test_f": "passed"}


def test_what_is_compiled_ahead_is_not_compiled_again(host: Probe, copied: Copy) -> None:
    path = str(copied.root / "shop.py")
    assert host.run(copied, spectrum=True).one("finished")["loaded"] == [path]
    host.send({"op": "precompile", "files": [path, str(copied.root / "missing.py")]})
    host.run(copied)  # a run never waits for it; the zygote compiles while others work
    for spectrum in (True, False):
        assert host.run(copied, spectrum=spectrum).one("finished")["loaded"] == []
    Path(path).write_text(FILES["shop.py"] + "# changed\n")
    assert host.run(copied, spectrum=True).one("finished")["loaded"] == [path]
