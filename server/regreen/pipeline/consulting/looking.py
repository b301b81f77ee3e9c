"""What code of a model is run, and how is a look at a value put into a file?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from regreen.errors import UnreadableText
from regreen.source import BLOCKS, CLAUSES, Node, SourceFile, parse
from regreen.validation.hazards import harmful

MARK = "regreen-saw:"
"""What the value that was looked at stands behind."""

_READERS = frozenset(
    {
        "open", "open_code", "fdopen", "read_text", "read_bytes", "read_binary", "get_data", "getsource",
        "getsourcelines", "findsource", "getline", "getlines", "fileinput", "mmap", "fromfile", "loadtxt",
        "genfromtxt", "environ", "environb", "getenv", "getattr", "__getattribute__", "__dict__", "__builtins__",
        "__loader__", "__subclasses__", "builtins", "ctypes",
    }
)  # fmt: skip
"""Names with which code reads files or the environment, or gets at names without writing them. It is read files with
the tool for that, which knows what must not be shown."""


def refusal(code: str) -> str:
    """Why code of a model is not run, for the model; "" when it may be.

    Refused is what a patch may not hold either, and what reads files.
    """
    try:
        parsed = parse(Path("snippet.py"), code.strip().encode())
    except (UnreadableText, UnicodeEncodeError) as error:
        return f"This is not text: {error}"
    if parsed.has_errors:
        return "This is not Python."
    nodes = list(parsed.root.walk())
    if found := sorted(set(harmful(nodes))):
        return f"Not run: it uses {', '.join(found)}."
    if found := sorted(set(_reading(nodes))):
        return f"Not run: it uses {', '.join(found)}; files of the project are shown by read."
    return ""


def one_expression(text: str) -> str:
    """The one expression that a line of Python is, without a comment behind it; "" when it is anything else."""
    parsed = parse(Path("expression.py"), text.strip().encode("utf-8", "replace"))
    statement = parsed.top_level[0] if len(parsed.top_level) == 1 else None
    if parsed.has_errors or statement is None or statement.kind != "expression_statement":
        return ""
    kinds = {node.kind for node in statement.walk()}
    other = kinds & {"assignment", "augmented_assignment", "yield"}
    return "" if other or "\n" in statement.text or "\r" in statement.text else statement.text


def _reading(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if node.kind == "identifier" and node.text in _READERS:
            yield node.text


def with_look(source: SourceFile, line: int, expression: str) -> str:
    """The text of a file with a look at an expression before the statement on a 0-based line.

    The look ends the test with the value, in an exception that `except Exception` does not catch. It stands before
    a simple statement wherever that begins, also behind `if x:` or a semicolon, and before the whole compound
    statement for a line of its header; for `elif`, `except` and their like before what they belong to. "" when no
    statement is there.
    """
    node = source.statement_at(line)
    while node is not None and (node.kind in CLAUSES | BLOCKS or _is_decorated(node)):
        node = node.parent
    if node is None:
        return ""
    look = f'raise type("RegreenSaw", (BaseException,), {{}})("{MARK}" + repr(({expression})))'
    begins = source.lines.line_text(node.line)[: node.start - source.lines.start(node.line)]
    simple = not any(child.kind in BLOCKS or child.kind in CLAUSES for child in node.children)
    simple = simple and node.kind != "decorated_definition"
    glue = "; " if simple else source.newline + begins
    return f"{source.text[: node.start]}{look}{glue}{source.text[node.start :]}"


def _is_decorated(node: Node) -> bool:
    return node.parent is not None and node.parent.kind == "decorated_definition"
