"""How does a text leave this machine without the secrets in it?

Each secret is replaced by a name for it, the same wherever it stands and however it is spelled there (as it is, in a
literal, in an address, broken over lines), so that code stays readable and two secrets stay two. What was found to be a
secret once is one everywhere: in the next prompt, and beside no telling name.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

from regreen.llm.placeholders import PLACEHOLDER, placeholder
from regreen.llm.secret_rules import (
    ENVIRONMENT,
    KINDS,
    Find,
    finds,
    issued,
    passwords_in_addresses,
    random_looking,
)

SHORTEST = 8
"""Characters that a secret must have to be looked for away from where it was found: shorter ones are words, too."""

_VARIABLE = re.compile(
    r"(?:.*_)?(?:\w*TOKEN|\w*SECRET|\w*PASSWORD|PASSWD|PASS|PWD|PASSPHRASE|\w*KEY|ACCESS_KEY_ID|CREDENTIALS?|AUTH"
    r"|PAT|DSN|CONNECTION_STRING|COOKIE)(?:_\d+)?",
    re.IGNORECASE,
)
_NO_KEYS = frozenset({"PWD", "OLDPWD"})

# literals that are one: "a" "b", over lines, with + between them, or a line that goes on behind a backslash
_CONCATENATED = re.compile(r"[\"']\s*(?:\+\s*|\\\s*\n\s*)?[bBfFrRuU]{0,2}[\"']|\\\n[ \t]*")
_WRAPPED = re.compile(rf"{_CONCATENATED.pattern}|[ \t]*\r?\n[ \t>|]*")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text that may be sent. `kinds`: the sort of secret → how often it was replaced."""

    text: str
    kinds: Mapping[str, int]


class Masker:
    """Masks the texts of one heal, so that a secret has the same name in all of its prompts.

    Args:
        environment: variables; the values of those whose names look like a key's are secrets, and so are passwords
            in addresses. Words of fewer than twelve letters, short numbers and paths are none: they stand everywhere.
            By default the process's.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = {}  # secret → its placeholder
        self._plain: dict[str, str] = {}  # each way a secret is spelled → the secret
        self._kinds: dict[str, str] = {}  # ways that are looked for everywhere → the sort of secret
        self._taken: set[str] = set()  # placeholders that stand for something, here or in somebody's text
        for value in _of_environment(os.environ if environment is None else environment):
            self._remember(value, ENVIRONMENT)

    def mask(self, text: str) -> Masked:
        """Replace every secret in a text.

        Placeholders that are in it stay; new secrets get other numbers than these.
        """
        placed = [found for found in PLACEHOLDER.finditer(text) if found[1] in KINDS]
        self._taken.update(found.group() for found in placed)
        kept = [found.span() for found in placed]
        joined, wrapped = _Joined(text, _CONCATENATED), _Joined(text, _WRAPPED)
        certain = list(finds(text))
        across = [
            Find(*joined.original(one), one.kind) for one in issued(joined.text) if joined.holds_break(one)
        ]
        for find in certain:
            self._remember(text[find.start : find.end], find.kind)
        for find in across:
            self._remember(_CONCATENATED.sub("", text[find.start : find.end]), find.kind)
        known = [
            *self._known(text),
            *(
                Find(*wrapped.original(one), one.kind)
                for one in self._known(wrapped.text)
                if wrapped.holds_break(one)
            ),
        ]
        parts: list[str] = []
        counts: Counter[str] = Counter()
        last = 0
        for find in _apart([*certain, *across, *known], kept):
            parts += (text[last : find.start], self._named(text[find.start : find.end], find.kind))
            counts[find.kind] += 1
            last = find.end
        parts.append(text[last:])
        return Masked("".join(parts), MappingProxyType(dict(sorted(counts.items()))))

    def _remember(self, secret: str, kind: str) -> None:
        """Look for a secret everywhere from now on, unless it is so short or plain that it would be found anywhere."""
        if kind != ENVIRONMENT and (len(secret) < SHORTEST or secret.isalpha()):
            return
        for spelled in _spellings(secret):
            self._plain.setdefault(spelled, self._plain.get(secret, secret))
            self._kinds.setdefault(spelled, kind)

    def _known(self, text: str) -> Iterator[Find]:
        for secret, kind in self._kinds.items():
            at = text.find(secret)
            while at >= 0:
                yield Find(at, at + len(secret), kind)
                at = text.find(secret, at + len(secret))

    def _named(self, spelled: str, kind: str) -> str:
        ways = (spelled, _CONCATENATED.sub("", spelled), _WRAPPED.sub("", spelled))
        secret = next((self._plain[way] for way in ways if way in self._plain), spelled)
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


class _Joined:
    """A text without the breaks in it, and where its characters stood."""

    def __init__(self, text: str, breaks: re.Pattern[str]) -> None:
        parts: list[str] = []
        self._at: list[int] = [0]  # where each part begins in the joined text
        self._moved: list[int] = [0]  # and how much was left out before it
        last = 0
        for found in breaks.finditer(text):
            parts.append(text[last : found.start()])
            self._at.append(self._at[-1] + len(parts[-1]))
            self._moved.append(self._moved[-1] + len(found.group()))
            last = found.end()
        self.text = "".join([*parts, text[last:]])

    def original(self, find: Find) -> tuple[int, int]:
        """Where a find in the joined text begins and ends in the original."""
        last = find.end - 1
        return find.start + self._left_out(find.start), last + self._left_out(last) + 1

    def holds_break(self, find: Find) -> bool:
        """Whether something was left out within it."""
        start, end = self.original(find)
        return end - start > find.end - find.start

    def _left_out(self, position: int) -> int:
        return self._moved[bisect_right(self._at, position) - 1]


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret as it is, and as literals, JSON texts and addresses spell it."""
    yield secret
    yield repr(secret)[1:-1]
    yield json.dumps(secret)[1:-1]
    yield json.dumps(json.dumps(secret)[1:-1])[1:-1]
    yield quote(secret, safe="")


def _of_environment(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in sorted(variables.items()):
        yield from (value[one.start : one.end] for one in passwords_in_addresses(value))
        if name in _NO_KEYS or not _VARIABLE.fullmatch(name) or len(value) < 6:
            continue
        path = value.startswith(("/", "~", "./")) and not random_looking(value)  # keys may begin so, too
        word = (value.isalpha() and len(value) < 12) or (value.isdigit() and len(value) < 8)
        if not path and not word:
            yield value


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
