"""Where does a new import belong? Where isort would have it, as far as the imports that are there are in its order."""

from __future__ import annotations

import re
import sys
from enum import IntEnum

from regreen.edits import with_newline
from regreen.source import Node, ProjectSources, SourceFile
from regreen.values import TextEdit

_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_MODULE = re.compile(r"(from|import)\s+([.\w]+)")
_FOR_THE_FILE = re.compile(r"#!|#.*coding[:=]")
"""Comments that must stay on the first lines."""
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")


class Section(IntEnum):
    """The blocks of imports in isort's order (its setting `sections`), an empty line between them."""

    FUTURE = 0
    STDLIB = 1
    OTHERS = 2
    OWN = 3
    RELATIVE = 4


def insertion(file: SourceFile, code: str, sources: ProjectSources) -> TextEdit:
    """Insert an import line among the module's leading imports, else after its docstring, else at its beginning.

    Within a section `import` comes before `from`, and either by name. Where the imports of the section are in another
    order, the line goes behind the last one that would come before it.

    Args:
        file: the module.
        code: the line, without a line end.
        sources: tell which modules are the project's own.
    """
    there, docstring = _leading(file)
    rank = _rank(code, sources)
    ranks = [_rank(node.text, sources) for node in there]
    same = [number for number, other in enumerate(ranks) if other[0] == rank[0]]
    before = [number for number in same if ranks[number] <= rank]
    earlier = [number for number, other in enumerate(ranks) if other[0] < rank[0]]
    if before:
        return _at(file, file.lines.end(there[before[-1]].last_line), f"\n{code}")
    if same:
        return _at(file, file.lines.start(there[same[0]].line), f"{code}\n")
    if earlier:
        node, follower = there[earlier[-1]], there[earlier[-1] + 1 :]
        end = file.lines.end(node.last_line)
        compact = follower and not _BLANK_LINE.search(file.text[node.span[1] : follower[0].span[0] + 1])
        return _at(file, end, f"\n{code}" if compact else f"\n\n{code}")
    if there:
        return _at(file, file.lines.start(there[0].line), f"{code}\n\n")
    if docstring is not None:
        return _at(file, file.lines.end(docstring.last_line), f"\n\n{code}")
    first = next((node for node in file.top_level if not _FOR_THE_FILE.match(node.text)), None)
    return _at(file, file.lines.start(first.line) if first else len(file.text), f"{code}\n")


def _leading(file: SourceFile) -> tuple[list[Node], Node | None]:
    """The imports at the module's top, and its docstring; comments may stand between."""
    there: list[Node] = []
    docstring: Node | None = None
    for node in file.top_level:
        if node.kind in _IMPORTS:
            there.append(node)
        elif node.kind == "expression_statement" and not there and docstring is None:
            if not node.named or node.named[0].kind != "string":
                break
            docstring = node
        elif node.kind != "comment":
            break
    return there, docstring


def _rank(code: str, sources: ProjectSources) -> tuple[Section, bool, int, str]:
    """Section, whether it begins with `from`, the more dots the earlier, and the name in lower case."""
    match = _MODULE.match(code)
    word, module = match.groups() if match else ("import", "")
    dots = len(module) - len(module.lstrip("."))
    return _section(module, sources), word == "from", -dots, module.lower()


def _section(module: str, sources: ProjectSources) -> Section:
    top = module.partition(".")[0]
    if not top:
        return Section.RELATIVE
    if top == "__future__":
        return Section.FUTURE
    if top in sys.stdlib_module_names:
        return Section.STDLIB
    return Section.OWN if sources.owns(top) else Section.OTHERS


def _at(file: SourceFile, offset: int, text: str) -> TextEdit:
    return TextEdit(offset, offset, with_newline(text, file.newline))
