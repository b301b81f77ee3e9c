"""What does a patch newly add, or take away, that asks for a second look?

Two tables of constructs: those that a repair seldom adds, and those that protect and are seldom taken away. Each is
counted in the text before and after, so that only the difference speaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from regreen.source import Node, Role, imports_of, role_of
from regreen.values import Flag

_EXIT = ("exit", "adds an exit")
_RUNNER = ("test-runner", "reaches into what judges tests")
_INTERPRETER = ("interpreter", "reaches into the interpreter")
_ELSEWHERE = ("elsewhere", "may change what other code sees")
_IMPORT = ("import", "imports a module with much power")


def _all(sort: tuple[str, str], words: str) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(words.split(), sort)


_OWNERS: Mapping[str, tuple[str, str]] = {
    **_all(_RUNNER, "pytest _pytest pluggy unittest"),
    **_all(_INTERPRETER, "gc ctypes inspect"),
}
"""Modules that are noticed where they are imported and where they are used."""

_MODULES: Mapping[str, tuple[str, str]] = {
    **_OWNERS,
    **_all(
        _IMPORT,
        "atexit signal builtins importlib marshal pickle subprocess socket multiprocessing faulthandler code codeop"
        " trace bdb pdb sysconfig site runpy imp pkgutil _thread resource mmap fcntl pty cffi dis shutil",
    ),
}
_ATTRIBUTES: Mapping[str, tuple[str, str]] = {
    **_all(_EXIT, "_exit exit abort"),
    **_all(
        _INTERPRETER,
        "_getframe _current_frames f_back f_locals f_globals f_code f_trace f_lineno gi_frame cr_frame tb_frame __code__"
        " __globals__ __closure__ __subclasses__ __bases__ __mro__ __builtins__ settrace setprofile meta_path path_hooks"
        " path_importer_cache excepthook unraisablehook addaudithook register_at_fork get_objects get_referrers",
    ),
    **_all(_ELSEWHERE, "environ putenv"),
}
_NAMES: Mapping[str, tuple[str, str]] = {
    **_all(_EXIT, "exit quit SystemExit KeyboardInterrupt"),
    **_all(_RUNNER, "AssertionError"),
    **_all(_INTERPRETER, "globals vars __builtins__ __loader__ __spec__"),
    **_all(_ELSEWHERE, "setattr delattr"),
}
_VERDICTS = frozenset({"__eq__", "__ne__", "__bool__", "__hash__", "__instancecheck__", "__getattribute__"})
_CONSTANTS = frozenset({"true", "false", "none", "integer", "float", "string"})
_BROAD = frozenset({"Exception", "BaseException"})


def suspicious(nodes: Iterable[Node]) -> Iterator[Flag]:
    """Yield a flag for each construct that a repair seldom adds, as often as it occurs."""
    for node in nodes:
        match node.kind:
            case "import_statement" | "import_from_statement":
                for one in imports_of(node):
                    yield from _noticed(_MODULES, one.module.partition(".")[0], one.module)
                    yield from _noticed(_ATTRIBUTES, one.name, f"{one.module}.{one.name}")
            case "attribute":
                yield from _attribute(node)
            case "identifier" if node.text in _NAMES and role_of(node) is Role.READ:
                yield from _noticed(_NAMES, node.text, node.text)
            case "except_clause" | "except_group_clause":
                yield from _handler(node)
            case "call" if _suppresses(node):
                yield Flag("swallows", "ignores every exception")
            case "function_definition":
                yield from _verdict(_name(node), _returned(node))
                yield from _swallowing(node)
            case "assignment":
                value = node.field("right")
                if value is not None and value.kind == "lambda":
                    yield from _verdict(node.text.partition("=")[0].strip(), value.field("body"))


def protective(nodes: Iterable[Node]) -> Iterator[Flag]:
    """Yield a flag for each construct that is seldom rightly taken away, as often as it occurs."""
    for node in nodes:
        match node.kind:
            case "assert_statement":
                yield Flag("removed-assert", "removes an assert")
            case "raise_statement":
                yield Flag("removed-raise", "removes a raise")
            case "decorator":
                yield Flag("removed-decorator", f"removes the decorator @{_called(node.named[0])}")
            case "if_statement" if _is_guard(node):
                yield Flag("removed-guard", "removes a check that returns early")


def _noticed(table: Mapping[str, tuple[str, str]], word: str, shown: str) -> Iterator[Flag]:
    if word in table:
        name, text = table[word]
        yield Flag(name, f"{text}: {shown}")


def _attribute(node: Node) -> Iterator[Flag]:
    owner, name = node.field("object"), node.field("attribute")
    if owner is None or name is None:
        return
    shown = f"{owner.text if owner.kind == 'identifier' else ''}.{name.text}"
    if owner.text in _OWNERS:
        yield from _noticed(_OWNERS, owner.text, shown)
    elif shown == "sys.modules":
        yield from _noticed({shown: _INTERPRETER}, shown, shown)
    else:
        yield from _noticed(_ATTRIBUTES, name.text, shown)


def _handler(clause: Node) -> Iterator[Flag]:
    parts = [node for node in clause.named if node.kind != "block"]
    named = [node.text for part in parts for node in part.walk() if node.kind in {"identifier", "attribute"}]
    block = next((node for node in clause.named if node.kind == "block"), None)
    if not parts:
        yield Flag("swallows", "catches every exception: except without a type")
    yield from (
        Flag("swallows", f"catches every exception: except {name}") for name in named if name in _BROAD
    )
    if block is not None and all(_does_nothing(node) for node in block.named):
        yield Flag("swallows", f"ignores an exception: {' '.join(['except', *named[:1]])}")


def _does_nothing(statement: Node) -> bool:
    return statement.kind in {"pass_statement", "continue_statement"} or statement.text == "..."


def _suppresses(call: Node) -> bool:
    function, given = call.field("function"), call.field("arguments")
    return (
        function is not None
        and function.text.rpartition(".")[2] == "suppress"
        and given is not None
        and any(node.text in _BROAD for node in given.named)
    )


def _verdict(name: str, value: Node | None) -> Iterator[Flag]:
    if name in _VERDICTS and value is not None and value.kind in _CONSTANTS:
        yield Flag("constant-comparison", f"makes {name} return the same for everything: {value.text}")


def _swallowing(function: Node) -> Iterator[Flag]:
    """Returns that make a `with` block swallow what is raised in it, a test's own assertion included."""
    body = function.field("body")
    if body is None or _name(function) not in {"__exit__", "__aexit__"}:
        return
    for node in body.walk():
        if node.kind == "return_statement" and node.named and node.named[0].text not in {"False", "None"}:
            yield Flag("swallows", "ignores what a with block raises")


def _is_guard(branch: Node) -> bool:
    """Whether it is `if …: return …` and nothing else."""
    body = branch.field("consequence")
    return (
        body is not None
        and branch.field("alternative") is None
        and [node.kind for node in body.named] == ["return_statement"]
    )


def _called(expression: Node) -> str:
    function = expression.field("function") if expression.kind == "call" else None
    return (function or expression).text


def _name(function: Node) -> str:
    name = function.field("name")
    return name.text if name is not None else ""


def _returned(function: Node) -> Node | None:
    """What a function returns that does nothing else, docstring apart."""
    body = function.field("body")
    done = [node for node in body.named if not _is_text(node)] if body is not None else []
    alone = len(done) == 1 and done[0].kind == "return_statement" and done[0].named
    return done[0].named[0] if alone else None


def _is_text(statement: Node) -> bool:
    return statement.kind == "expression_statement" and [node.kind for node in statement.named] == ["string"]
