"""Regular expressions: what they match too little or too much of, and how they are applied."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice

from regreen.source import Node
from regreen.templates.evidence import literal
from regreen.templates.facts import Facts
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow
from regreen.templates.strings import contents, inside, literals

_FUNCTIONS = frozenset(
    {"match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split", "compile"}
)
_WIDER = (
    ("[a-z]", "[a-zA-Z]"), ("[a-z]", r"\w"), ("[A-Z]", "[a-zA-Z]"), ("[0-9]", r"\d"), ("[a-zA-Z]", "[a-zA-Z0-9]"),
    ("[a-zA-Z0-9]", r"[\w.-]"), (r"\w", r"[\w-]"), (r"\w", r"[\w.-]"), (r"\d", r"\w"), (r"\s", r"\s*"), (r"\w", r"\S"), (" ", r"\s"),
    (".", r"\."), (r"\.", "."), (".*", ".*?"), (".+", ".+?"), (".*?", ".*"), (".+?", ".+"), ("+", "*"), ("*", "+"),
    ("?", ""), ("(?i)", ""), ("\\\\", "\\"),
)  # fmt: skip

MARKS = 8
"""How many of the characters that variables held are tried in each class."""


def patterns(site: Site) -> Iterator[Node]:
    """Yield the literals that are used as regular expressions: given to `re`, or named like one."""
    for node in literals(site):
        around = next((up for up in node.up() if up.kind in {"call", "assignment"}), None)
        if around is None:
            continue
        function = around.field("function")
        if (
            function is not None
            and function.text.rpartition(".")[2] in _FUNCTIONS
            and not function.text.startswith('"')
        ):
            yield node
        left = around.field("left")
        if left is not None and re.search(r"(?i)pat|regex|_re\b|^re_", left.text):
            yield node


def pattern(site: Site) -> Iterator[Change]:
    """A wider class, an escaped dot, another quantifier, an anchor more or less; only what still compiles."""
    seen = _characters_of_test(site)
    held = _characters_of_values(site)
    for node in patterns(site):
        raw = "".join(piece.text for piece in contents(node))
        if any(child.kind == "interpolation" for child in node.children) or len(raw) > 120:
            continue
        is_raw = "r" in node.children[0].text.lower()
        for rank, new in enumerate(dict.fromkeys((*_with_characters(raw, seen), *_variants(raw, held)))):
            if new == raw or not _compiles(new) or (not is_raw and "\\" in new and "\\" not in raw):
                continue
            yield Change((inside(node, new),), arrow(raw, new), 1 / (1 + 0.08 * rank))


def _characters_of_test(site: Site) -> str:
    """The punctuation that the failing test's texts of one character consist of, escaped for a class."""
    test = site.sources.get(site.evidence.failure.path)
    frame = next((f for f in site.evidence.failure.frames if test and f.path == test.path), None)
    function = test.function_at(frame.line) if test is not None and frame is not None else None
    found = (
        text
        for node in ((*function.decorators, function.body) if function else ())
        for text in Facts(node).texts
    )
    return "".join(dict.fromkeys(re.escape(text) for text in found if len(text) == 1 and not text.isalnum()))


def _characters_of_values(site: Site) -> list[str]:
    """The first punctuation of the texts that variables held when the test failed, escaped for a class."""
    values = (
        literal(one.value)
        for frame in reversed(site.evidence.failure.frames)
        for one in frame.locals
        if one.type == "str"
    )
    found = (char for text in values if isinstance(text, str) for char in text)
    marks = dict.fromkeys(char for char in found if char.isprintable() and not char.isalnum())
    return [re.escape(char) for char in islice(marks, MARKS)]


def _with_characters(raw: str, seen: str) -> Iterator[str]:
    r"""A class that takes the characters of the test in, too: `\s` → `[\s/=]`; nothing without any."""
    for match in re.finditer(r"\\[dws]|(?<!\\)\[[^\]\\]+\]" if seen else r"(?!)", raw):
        old = match.group()
        new = f"[{old}{seen}]" if old[0] == "\\" else f"{old[:-1]}{seen}]"
        yield raw[: match.start()] + new + raw[match.end() :]


def _variants(raw: str, held: Sequence[str]) -> Iterator[str]:
    yield from _repeated_elsewhere(raw)
    for match in re.finditer(r"\|[^()|]*\)", raw):
        yield f"{raw[: match.end() - 1]}|$){raw[match.end() :]}"  # the end may follow as well
    for old, new in _WIDER:
        at = raw.find(old)
        while at >= 0:
            escaped = at > 0 and raw[at - 1] == "\\" and old[0] != "\\"
            in_class = raw.rfind("[", 0, at) > raw.rfind("]", 0, at) and old[0] != "["
            if not escaped and not (in_class and old in {".", "+", "*", "?", ".*", ".+"}):
                yield raw[:at] + new + raw[at + len(old) :]
            at = raw.find(old, at + 1)
    yield from (
        raw + "$",
        "^" + raw,
        raw.removesuffix("$"),
        raw.removeprefix("^"),
        raw + "+",
        f"({raw})",
        rf"\b{raw}\b",
    )
    for at, character in enumerate(raw):
        if character in ")]" or (character.isalnum() and raw[at - 1 : at] != "\\" and at == len(raw) - 1):
            for quantifier in "?+*":
                if raw[at + 1 : at + 2] not in {"?", "+", "*", "{"}:
                    yield raw[: at + 1] + quantifier + raw[at + 1 :]
    for at in [m.end() for m in re.finditer(r"\\[dws]", raw)]:
        for quantifier in "+*?":
            if raw[at : at + 1] not in {"?", "+", "*", "{"}:
                yield raw[:at] + quantifier + raw[at:]
    for match in re.finditer(r"\{(\d+)(,?)(\d*)\}", raw):
        low, comma, high = match.groups()
        for text in (
            f"{{{int(low) + 1}{comma}{high}}}",
            f"{{{max(int(low) - 1, 0)}{comma}{high}}}",
            f"{{{low},}}",
        ):
            yield raw[: match.start()] + text + raw[match.end() :]
        if high:
            yield raw[: match.start()] + f"{{{low},{int(high) + 1}}}" + raw[match.end() :]
    for match in re.finditer(r"\[([^\]\\]+)\]", raw):
        for more in dict.fromkeys(("_", "-", ".", *held, "0-9", "A-Z")):
            if more not in match.group(1):
                yield raw[: match.end() - 1] + more + raw[match.end() - 1 :]


def _repeated_elsewhere(raw: str) -> Iterator[str]:
    r"""A class that stands alone here and is repeated elsewhere in the pattern: `\d+.\d` → `\d+.\d+`."""
    found = [
        (m.group(1), m.group(2), m.end())
        for m in re.finditer(r"(\\[dwsDWS]|\[[^\]]+\])([+*?]|\{[^}]*\})?", raw)
    ]
    for alone, quantifier, end in found:
        others = dict.fromkeys(q for text, q, _ in found if text == alone and q)
        for other in others if not quantifier else ():
            yield raw[:end] + other + raw[end:]


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what will mean something else tomorrow is no repair
            re.compile(text)
    except (re.error, OverflowError, RecursionError, Warning):
        return False
    return True
