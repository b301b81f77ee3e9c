"""How does a text leave this machine without the secrets in it?

Each secret is replaced by a name for it, the same wherever it stands, so that code stays readable and two secrets stay
two. What was found to be a secret once is one everywhere: in the next prompt, and beside no telling name.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

from regreen.llm.placeholders import PLACEHOLDER, placeholder
from regreen.llm.secret_rules import Find, finds

SHORTEST = 8
"""Characters that a secret must have to be looked for away from where it was found: shorter ones are words, too."""

LONGEST_WORD = 16
"""Letters or digits alone that are no more than this may be a word, a name or a number."""

_VARIABLE = re.compile(
    r"(?:.*_)?(?:\w*TOKEN|\w*SECRET|\w*PASSWORD|PASSWD|PASS|PWD|PASSPHRASE|\w*KEY|CREDENTIALS?|AUTH)(?:_\d+)?",
    re.IGNORECASE,
)
_NO_KEYS = frozenset({"PWD", "OLDPWD"})


@dataclass(frozen=True, slots=True)
class Masked:
    """A text that may be sent. `kinds`: the sort of secret → how often it was replaced."""

    text: str
    kinds: Mapping[str, int]


class Masker:
    """Masks the texts of one heal, so that a secret has the same name in all of its prompts.

    Args:
        environment: variables; the values of those whose names look like a key's are secrets. By default the process's.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = {}  # secret → its placeholder
        self._kinds: dict[str, str] = {}  # secrets that are looked for everywhere → their sort
        self._taken: set[str] = set()  # placeholders that stand for something, here or in somebody's text
        self._environment = _of_environment(os.environ if environment is None else environment)

    def mask(self, text: str) -> Masked:
        """Replace every secret in a text.

        Placeholders that are in it stay; new secrets get other numbers than these.
        """
        self._taken.update(found.group() for found in PLACEHOLDER.finditer(text))
        kept = [found.span() for found in PLACEHOLDER.finditer(text)]
        certain = [*self._known(text, self._environment), *finds(text)]
        for find in certain:
            value = text[find.start : find.end]
            if len(value) >= SHORTEST and not value.isalpha():
                self._kinds.setdefault(value, find.kind)
        spans = _apart([*certain, *self._known(text, self._kinds)], kept)
        parts: list[str] = []
        counts: Counter[str] = Counter()
        last = 0
        for find in spans:
            parts += (text[last : find.start], self._named(text[find.start : find.end], find.kind))
            counts[find.kind] += 1
            last = find.end
        parts.append(text[last:])
        return Masked("".join(parts), MappingProxyType(dict(sorted(counts.items()))))

    def _known(self, text: str, secrets: Mapping[str, str]) -> Iterator[Find]:
        for secret, kind in secrets.items():
            at = text.find(secret)
            while at >= 0:
                yield Find(at, at + len(secret), kind)
                at = text.find(secret, at + len(secret))

    def _named(self, secret: str, kind: str) -> str:
        if secret not in self._names:
            number = 1
            while placeholder(kind, number) in self._taken:
                number += 1
            self._names[secret] = placeholder(kind, number)
            self._taken.add(self._names[secret])
        return self._names[secret]


def mask(text: str, environment: Mapping[str, str] | None = None) -> Masked:
    """Mask one text by itself; see `Masker`."""
    return Masker(environment).mask(text)


def total(masked: Iterable[Masked]) -> Mapping[str, int]:
    """Add up what was masked in several texts."""
    counts: Counter[str] = Counter()
    for one in masked:
        counts.update(one.kinds)
    return dict(sorted(counts.items()))


def _of_environment(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Find the secrets of the environment, as they are and as literals and addresses spell them."""
    found: dict[str, str] = {}
    for name, value in sorted(variables.items()):
        if name in _NO_KEYS or not _VARIABLE.fullmatch(name) or len(value) < 6:
            continue
        word = value.isalpha() or value.isdigit()
        if value.startswith(("/", "~", "./")) or (word and len(value) < LONGEST_WORD):
            continue  # a path of a key, a word such as "disabled", a number: they stand everywhere
        for spelled in (value, repr(value)[1:-1], quote(value, safe="")):
            found.setdefault(spelled, "environment variable")
    return found


def _apart(found: Iterable[Find], kept: list[tuple[int, int]]) -> list[Find]:
    """Make finds disjoint: the widest at each place wins, and of one that reaches further the rest stays a find."""
    apart: list[Find] = []
    last = 0
    for find in sorted(found, key=lambda find: (find.start, -find.end)):
        for start, end in _outside(max(find.start, last), find.end, kept):
            apart.append(Find(start, end, find.kind))
        last = max(last, find.end)
    return apart


def _outside(start: int, end: int, kept: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range that no placeholder stands in."""
    for low, high in kept:
        if high <= start or low >= end:
            continue
        if start < low:
            yield start, low
        start = high
    if start < end:
        yield start, end
