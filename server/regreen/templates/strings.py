"""Text literals: repaired from what was expected, exchanged for others of the file, prefixes, blanks, case."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.atoms import names_at
from regreen.templates.facts import Facts, plain
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, swap
from regreen.values import TextEdit

KINDS = frozenset({"string"})
_FIELD = re.compile(r"\{([A-Za-z_]\w*)(?:[.\[][^{}]*)?(?:![rsa])?(?::[^{}]*)?\}")


def contents(node: Node) -> list[Node]:
    """Return the pieces of a literal between its quotes and interpolations."""
    return [child for child in node.children if child.kind == "string_content"]


def inside(node: Node, new: str) -> TextEdit:
    """Replace what is between the quotes of a literal by text that is written as it stands."""
    return TextEdit(node.children[0].end, node.children[-1].start, new)


def refilled(node: Node, new: str, likelihood: float) -> Change:
    """Another text between the quotes of a literal, written as it stands."""
    return Change((inside(node, new),), arrow(node.text, _whole(node, new)), likelihood)


def _whole(node: Node, new: str) -> str:
    return f"{node.children[0].text}{new}{node.children[-1].text}"


def fits(node: Node, text: str) -> bool:
    """Whether a text can stand between the quotes of a literal as it is."""
    return node.children[-1].text[0] not in text and "\n" not in text and not text.endswith("\\")


def literals(site: Site) -> list[Node]:
    """Return the statement's literals; docstrings are no code."""
    return [
        node
        for node in site.of("string")
        if len(node.children) >= 2 and not (node.parent and node.parent.kind == "expression_statement")
    ]


def from_pool(site: Site) -> Iterator[Change]:
    """A literal → another of the function, or of the file, or the empty one."""
    nearby = site.scope.facts.texts
    wider = [text for text in site.scope.file_facts.texts if text not in nearby][:12]
    for node in literals(site):
        old = plain(node)
        if old is None:
            continue
        choices = [*nearby, "", " ", *wider] if len(old) < 40 else []
        for rank, new in enumerate(dict.fromkeys(choices)):
            if new != old and len(new) < 40 and fits(node, new):
                likeness = 1.0 if abs(len(new) - len(old)) <= 1 else 0.5
                yield refilled(node, new, likeness / (1 + 0.15 * rank))


def characters(site: Site) -> Iterator[Change]:
    """A short literal with one character less, a blank more, other case, or the matching bracket."""
    for node in literals(site):
        old = plain(node)
        if old is None or len(old) > 40:
            continue
        for rank, new in enumerate(dict.fromkeys(_variants(old))):
            if new != old and fits(node, new):
                yield refilled(node, new, 1 / (1 + 0.3 * rank))


_PAIRS = str.maketrans("()[]{}<>", ")(][}{><")
_OPENERS = {"(": "[", "[": "(", ")": "]", "]": ")", "{": "(", "}": ")"}


def _variants(old: str) -> Iterator[str]:
    yield old.strip()
    if old.translate(_PAIRS) != old and len(old) <= 2:
        yield old.translate(_PAIRS)
        yield "".join(_OPENERS.get(character, character) for character in old)
    if len(old) <= 3:
        yield from (old[:at] + old[at + 1 :] for at in range(len(old)))
    else:
        yield from (old[1:], old[:-1])
    yield from (old.lower(), old.upper(), old.capitalize(), old.title())
    yield from (f"{old} ", f" {old}")
    if old in {"", " "}:
        yield from ("", " ", ", ", "\\n", "0")
    if len(old) == 1:
        yield old * 2
    if old.islower() and len(set(old)) == len(old) > 2:
        yield old + old.upper()  # "aeiou" lacks its capitals


def everywhere(site: Site) -> Iterator[Change]:
    """Every equal literal of a function changed the same way."""
    by_text: dict[str, list[Node]] = {}
    for node in site.body.walk():
        text = plain(node) if node.kind == "string" else None
        if text is not None and len(text) < 20:
            by_text.setdefault(text, []).append(node)
    for text, nodes in by_text.items():
        if len(nodes) < 2:
            continue
        others = [other for other in by_text if other != text]
        for rank, new in enumerate(dict.fromkeys([*_variants(text), *others][:8])):
            if new != text and all(fits(node, new) for node in nodes):
                edits = tuple(inside(node, new) for node in nodes)
                yield Change(
                    edits, f"every {arrow(nodes[0].text, _whole(nodes[0], new))}", 1 / (1 + 0.5 * rank)
                )


def repair(site: Site) -> Iterator[Change]:
    """A literal → what stands in its place in the expected text."""
    pairs = list(text_pairs(site.evidence.expected_value, site.evidence.actual_value))
    for node in literals(site):
        for piece in contents(node):
            for expected, actual in pairs:
                for new in _aligned(piece.text, expected, actual):
                    quoted = _quotable(node, new)
                    if quoted is not None and quoted != piece.text:
                        whole = (
                            node.text[: piece.start - node.start]
                            + quoted
                            + node.text[piece.end - node.start :]
                        )
                        yield Change((swap(piece, quoted),), arrow(node.text, whole))
        if not contents(node) and plain(node) == "":
            for expected, actual in pairs:
                rest = expected[len(actual) :] if expected.startswith(actual) else ""
                quoted = _quotable(node, rest) if rest and len(rest) < 20 else None
                if quoted:
                    yield refilled(node, quoted, 0.3)


def text_pairs(expected: object, actual: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the (expected, actual) texts that differ at the same place of two values."""
    if expected == actual or depth > 4:
        return
    if isinstance(expected, str) and isinstance(actual, str):
        yield expected, actual
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in list(expected.items())[:50]:
            if key in actual:
                yield from text_pairs(value, actual[key], depth + 1)
        lost = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if len(lost) == len(extra) == 1:
            yield from text_pairs(lost[0], extra[0], depth + 1)
    elif isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        for one, other in zip(expected[:50], actual, strict=False) if len(expected) == len(actual) else ():
            yield from text_pairs(one, other, depth + 1)


def _aligned(piece: str, expected: str, actual: str) -> Iterator[str]:
    """What stands in `expected` where `piece` stands in `actual`."""
    if not piece or len(actual) > 2000 or len(expected) > 2000:
        return
    blocks = difflib.SequenceMatcher(None, actual, expected, autojunk=False).get_matching_blocks()
    at = actual.find(piece)
    while at >= 0:
        low = _mapped(at, blocks, low=True)
        high = _mapped(at + len(piece), blocks, low=False)
        if low <= high and len(expected[low:high]) < len(piece) + 40:
            yield expected[low:high]
        at = actual.find(piece, at + 1)


def _mapped(at: int, blocks: list[difflib.Match], *, low: bool) -> int:
    """Where an offset of the actual text falls in the expected one; the wider choice at a difference."""
    previous = 0
    for block in blocks:
        if (low and at < block.a) or (not low and at <= block.a):
            return previous if low else block.b
        if block.a <= at < block.a + block.size or (not low and at <= block.a + block.size and block.size):
            return block.b + (at - block.a)
        previous = block.b + block.size
    return previous


def _quotable(node: Node, text: str) -> str | None:
    """The text as it is written inside of this literal; None when it cannot be."""
    opening = node.children[0].text
    if any(ord(character) < 32 for character in text) or "\\" in text:
        if "r" in opening.lower():
            return None
        text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    quote = opening[-1]
    if quote in text:
        if "r" in opening.lower():
            return None
        text = text.replace(quote, "\\" + quote)
    if "f" in opening.lower():
        text = text.replace("{", "{{").replace("}", "}}")
    return text if text.isprintable() else None


def near_miss(site: Site) -> Iterator[Change]:
    """A literal → a similar one that the tests, the expected value or the rest of the project uses."""
    known = dict.fromkeys(_expected_texts(site.evidence.expected_value))
    test = site.sources.get(site.evidence.failure.path)
    if test is not None:
        known |= dict.fromkeys(Facts(test.root).texts)
    rare = [text for text, count in site.sources.strings.items() if count < 50]
    for node in literals(site):
        old = plain(node)
        if old is None or not 3 <= len(old) <= 60:
            continue
        close = difflib.get_close_matches(old, [t for t in known if t != old], 2, 0.7)
        close += difflib.get_close_matches(old, [t for t in rare[:2000] if t != old], 2, 0.8)
        for rank, new in enumerate(dict.fromkeys(close)):
            quoted = _quotable(node, new)
            if quoted is not None:
                yield refilled(node, quoted, 1 / (1 + 0.5 * rank))


def _expected_texts(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < 4:
        for key, inner in value.items():
            yield from _expected_texts(key, depth + 1)
            yield from _expected_texts(inner, depth + 1)
    elif isinstance(value, (list, tuple, set)) and depth < 4:
        for inner in value:
            yield from _expected_texts(inner, depth + 1)


def prefix(site: Site) -> Iterator[Change]:
    """`"{name}"` → `f"{name}"`; a regular expression or a path gets its `r`; text ↔ bytes."""
    usable = set(names_at(site)) | set(site.scope.variables) | {"self"}
    for node in literals(site):
        opening = node.children[0].text
        letters = opening.rstrip("\"'").lower()
        inner = "".join(piece.text for piece in contents(node))
        fields = _FIELD.findall(inner)
        after = node.parent
        formatted = after is not None and after.kind == "attribute"  # "…".format(…)
        if not letters and fields and not formatted and all(name in usable for name in fields):
            yield Change((TextEdit(node.start, node.start, "f"),), arrow(node.text, "f" + node.text))
        if not letters and "\\" in inner and not re.search(r"\\[nrt'\"]", inner):
            yield Change((TextEdit(node.start, node.start, "r"),), arrow(node.text, "r" + node.text), 0.6)
        if site.evidence.exception == "TypeError" and "byte" in site.evidence.failure.message:
            if not letters and node.text.isascii():
                yield Change((TextEdit(node.start, node.start, "b"),), arrow(node.text, "b" + node.text), 0.8)
            elif letters == "b":
                yield Change(
                    (TextEdit(node.start, node.start + 1, ""),), arrow(node.text, node.text[1:]), 0.8
                )


def quoted_name(site: Site) -> Iterator[Change]:
    """`f("text")` → `f(text)`: a variable that was put in quotes by mistake."""
    usable = set(names_at(site))
    for node in literals(site):
        text = plain(node)
        if text in usable and text:
            yield Change((swap(node, text),), arrow(node.text, text))
            if site.evidence.exception == "TypeError" or site.scope.types.get(text) == "str":
                around = [up for up in node.up() if up.kind == "argument_list"]
                if around:
                    yield Change((swap(node, f"{text}.encode()"),), arrow(node.text, f"{text}.encode()"), 0.4)
