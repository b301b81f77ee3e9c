"""How does a whole function out of a reply get into the place of the one it replaces?"""

from __future__ import annotations

from pathlib import Path

from regreen.edits import split_lines, with_newline
from regreen.llm.blocks import WholeFunction
from regreen.llm.placing import Replacement
from regreen.llm.refusal import Refusal
from regreen.source import Function, Node, SourceFile, parse


def rewrite(answer: WholeFunction, source: SourceFile) -> Replacement | Refusal:
    """Replace the function that an answer names, indented as its place asks for.

    Decorators stay when the answer leaves them out. Lines inside of strings keep their indentation unless the string
    is the docstring, or the file has them as they would be.

    Returns:
        The replacement; or a refusal: "no-such-function", "ambiguous" or "not-python".
    """
    written = _written(answer)
    if isinstance(written, Refusal):
        return written
    text, function = written
    old = _meant(answer, function, source)
    if isinstance(old, Refusal):
        return old
    start = old.span[0] if function.decorators else old.node.start
    end = _end(old, source)
    new = _moved(text, function, old, source)
    return Replacement(start, end, with_newline(new, source.newline))


def _written(answer: WholeFunction) -> tuple[SourceFile, Function] | Refusal:
    """Read the answer's own function: the shortest reading that is Python and holds it."""
    name = answer.qualname.split(".")[-1]
    problem: Refusal | None = None
    for reading in answer.readings:
        text = parse(Path("reply.py"), _dedented(reading).encode("utf-8", "replace"))
        if text.has_errors:
            line = text.errors[0].line if text.errors else 0
            problem = problem or Refusal(
                "not-python", f"Line {line + 1} of the new `{answer.qualname}` is not valid Python."
            )
            continue
        top = [node for node in text.top_level if _defines(node)]
        if len(top) != 1 or len(text.top_level) != 1:
            problem = Refusal(
                "no-such-function",
                f"The fenced block must hold `{answer.qualname}` and nothing beside it: no import, no other function, no "
                "class around it. Where more has to change, use SEARCH blocks.",
            )
            continue
        function = text.functions[0]
        if function.name == name:
            return text, function
        problem = Refusal(
            "no-such-function", f"The fenced block holds `{function.name}`, not `{answer.qualname}`."
        )
    return problem or Refusal("not-python", f"The fenced block of `{answer.qualname}` is empty.")


def _defines(node: Node) -> bool:
    node = (node.field("definition") or node) if node.kind == "decorated_definition" else node
    return node.kind == "function_definition"


def _meant(answer: WholeFunction, new: Function, source: SourceFile) -> Function | Refusal:
    """Find the function that is to be replaced."""
    named = [f for f in source.functions if f.qualname == answer.qualname] or [
        f for f in source.functions if f.qualname.replace(".<locals>", "") == answer.qualname
    ]
    if len(named) > 1 and new.decorators:  # getter and setter of a property have one name
        texts = [node.text for node in new.decorators]
        named = [f for f in named if [node.text for node in f.decorators] == texts] or named
    if len(named) == 1:
        return named[0]
    if named:
        return Refusal(
            "ambiguous",
            f"{answer.path} has {len(named)} functions named `{answer.qualname}`. Use SEARCH blocks instead.",
        )
    last = answer.qualname.rpartition(".")[2]
    alike = [f.qualname for f in source.functions if f.name == last]
    known = alike or [f.qualname for f in source.functions if "<locals>" not in f.qualname]
    listed = ", ".join(known[:20]) if known else "no function at all"
    return Refusal(
        "no-such-function", f"{answer.path} has no function `{answer.qualname}`. It has: {listed}."
    )


def _end(old: Function, source: SourceFile) -> int:
    """Where a function ends: comments that are indented as its body belong to it."""
    lines = source.lines
    outside = len(source.indentation(lines.line_at(old.node.start)))
    last = old.node.last_line
    end = old.node.end
    for line in range(last + 1, lines.line_count):
        text = lines.line_text(line)
        if not text.strip():
            continue
        if not text.lstrip().startswith("#") or len(source.indentation(line)) <= outside:
            break
        end = lines.end(line)
    return end


def _dedented(text: str) -> str:
    """Take away the indentation of the first line that is not blank, where lines have it."""
    lines = split_lines(text.strip("\r\n"))
    first = next((line for line in lines if line.strip()), "")
    head = first[: len(first) - len(first.lstrip(" \t"))]
    return "".join(line.removeprefix(head) for line in lines).rstrip() + "\n"


def _moved(text: SourceFile, function: Function, old: Function, source: SourceFile) -> str:
    """Write the new function with the indentation of the old one's place; its first line begins at the place."""
    indentation = source.indentation(source.lines.line_at(old.node.start))
    known = {line.rstrip() for line in source.text[old.span[0] : old.node.end].splitlines()}
    inside, documented = _string_lines(function)
    theirs, ours = text.step, source.step
    begins = text.lines.line_at(function.span[0])
    moved: list[str] = []
    for number in range(begins, text.lines.line_count):
        line = text.lines.line_text(number)
        if number not in inside:
            line = _stepped(line, theirs, ours) if "\t" in theirs + ours else line
            moved.append(indentation + line if line.strip() else "")
            continue
        shifted = indentation + line if line.strip() else line
        kept = line.rstrip() in known and shifted.rstrip() not in known
        moved.append(shifted if not kept and (number in documented or shifted.rstrip() in known) else line)
    return "\n".join(moved).rstrip().removeprefix(indentation)


def _stepped(line: str, theirs: str, ours: str) -> str:
    """Write the steps of indentation as the file does: blanks and tabs must not be mixed."""
    depth = 0
    while theirs and line.startswith(theirs):
        line = line[len(theirs) :]
        depth += 1
    return ours * depth + line


def _string_lines(function: Function) -> tuple[frozenset[int], frozenset[int]]:
    """Find the lines that begin inside of a string, and those of them that begin inside of a docstring."""
    inside: set[int] = set()
    documented: set[int] = set()
    statements = function.body.named
    for node in function.node.walk():
        if node.kind == "string" and node.last_line > node.line:
            lines = range(node.line + 1, node.last_line + 1)
            inside.update(lines)
            if statements and statements[0].start == node.start and statements[0].end == node.end:
                documented.update(lines)
    return frozenset(inside), frozenset(documented)
