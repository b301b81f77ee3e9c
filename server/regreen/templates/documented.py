"""What do the words about a function say that its code should use?

Names are seldom wrong together with what is written about them: where the docstring, a comment, the function's own name
or the test's name speaks of a sum, a patch that brings in `sum` is more likely meant than its equals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import Function, Node
from regreen.values import TextEdit

FACTOR = 2.0
"""How much likelier an idea gets that uses what is spoken of."""

_MEANT = {
    "abs": "absolute distance difference apart magnitude closer",
    "all": "every",
    "any": "some either",
    "count": "occurrences times often",
    "endswith": "ends suffix ending",
    "float": "floating decimal fraction",
    "isalpha": "letter letters alphabetic",
    "isdigit": "digit digits numeric",
    "islower": "lowercase",
    "isupper": "uppercase",
    "join": "joined concatenate concatenated",
    "len": "length size",
    "lower": "lowercase insensitive",
    "lstrip": "leading",
    "max": "maximum largest biggest greatest highest longest latest most",
    "min": "minimum smallest lowest least shortest earliest",
    "reversed": "reverse reversed backwards",
    "reverse": "reversed descending backwards decreasing",
    "round": "rounded rounding nearest",
    "rstrip": "trailing",
    "set": "unique distinct duplicates duplicate",
    "sorted": "sort sorted order ordered ascending descending alphabetical",
    "split": "words separated",
    "startswith": "starts prefix begins beginning",
    "strip": "whitespace trim trimmed blanks",
    "sum": "total",
    "swapcase": "swap case",
    "title": "titlecase",
    "upper": "uppercase capital capitals",
    "zip": "pairs pairwise",
}
_CODE = {word: code for code, words in _MEANT.items() for word in words.split()}
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+")
_EXAMPLE = re.compile(r"^\s*>>>|==|=>|->|➞|→|\w\(.*\)\s*[:=]")


def spoken_of(function: Function | None, nodeid: str) -> frozenset[str]:
    """Return names and numbers of code that the words about a function speak of; lower case.

    Args:
        function: the function; of a module nothing is known.
        nodeid: the red test, whose name may tell what it expects.
    """
    if function is None:
        return frozenset()
    found: set[str] = set()
    for line in _prose(function):
        found |= {word.lower() for word in re.findall(r"[A-Za-z]{3,}|\b\d+\b", line)} - {"0", "1"}
    for name in (function.name, nodeid.partition("[")[0].rpartition("::")[2]):
        found |= {word.lower() for word in re.findall(r"[A-Za-z][a-z]+", name) if len(word) > 2} - {"test"}
    return frozenset(found | {_CODE[word] for word in found if word in _CODE})


def uses(edit: TextEdit, old: str, spoken: frozenset[str]) -> bool:
    """Whether an edit brings in something that is spoken of.

    Args:
        edit: the edit.
        old: the text that it replaces.
        spoken: what `spoken_of` returned, without the names of variables: these are spoken of everywhere.
    """
    return not spoken.isdisjoint(set(_TOKEN.findall(edit.new)) - set(_TOKEN.findall(old)))


def _prose(function: Function) -> Iterator[str]:
    """The lines of the docstring and the comments of a function; examples with values are none."""
    first = next((node for node in function.body.named if node.kind != "comment"), None)
    texts = [node.text for node in function.body.walk() if node.kind == "comment"]
    if first is not None and _is_text(first):
        texts.append(first.text)
    for text in texts:
        answers = False
        for line in text.splitlines():
            if _EXAMPLE.search(line):
                answers = ">>>" in line
            elif not line.strip():
                answers = False
            elif not answers:
                yield line


def _is_text(statement: Node) -> bool:
    return statement.kind == "expression_statement" and [n.kind for n in statement.named] == ["string"]
