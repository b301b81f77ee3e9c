"""How are rounds and calls written as JSON, and is what is read what was written?

What is read may have been damaged, or written by another Regreen: fields that are not known here are left out, and
whatever has not the type that the value's class declares is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields
from typing import Any, TypeVar

from regreen.values import Attempt, Diagnosis, Message, SentRange

T = TypeVar("T", Attempt, Diagnosis, Message, SentRange)

_TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
}


class Damaged(ValueError):
    """What is stored is not what was written."""


def diagnosis_text(diagnosis: Diagnosis | None) -> str | None:
    """A diagnosis as JSON; None for none."""
    return None if diagnosis is None else _text(asdict(diagnosis))


def diagnosis_of(text: str | None) -> Diagnosis | None:
    """The same read. Raises Damaged."""
    return None if text is None else _value(Diagnosis, _json(text))


def attempts_text(attempts: Sequence[Attempt]) -> str:
    """Attempts as JSON."""
    return _text([asdict(attempt) for attempt in attempts])


def attempts_of(text: str) -> tuple[Attempt, ...]:
    """The same read. Raises Damaged."""
    return tuple(_value(Attempt, one) for one in _list(text))


def prompt_text(prompt: Sequence[Message]) -> str:
    """What was sent, as JSON."""
    return _text([asdict(message) for message in prompt])


def prompt_of(text: str) -> tuple[Message, ...]:
    """The same read. Raises Damaged."""
    return tuple(_value(Message, one) for one in _list(text))


def ranges_text(ranges: Sequence[SentRange]) -> str:
    """Parts of files, as JSON."""
    return _text([asdict(one) for one in ranges])


def ranges_of(text: str) -> tuple[SentRange, ...]:
    """The same read. Raises Damaged."""
    return tuple(_value(SentRange, one) for one in _list(text))


def masked_text(masked: Mapping[str, int] | None) -> str:
    """How often which sort of secret was masked, as JSON."""
    return _text(dict(masked or {}))


def masked_of(text: str) -> dict[str, int]:
    """The same read. Raises Damaged."""
    data = _json(text)
    if not isinstance(data, dict) or not all(type(count) is int for count in data.values()):
        raise Damaged("the counts of what was masked are no numbers")
    return data


def _text(data: Any) -> str:
    # Project text may hold lone surrogates, which UTF-8 does not have: as JSON escapes they survive.
    return json.dumps(data, separators=(",", ":"))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Damaged(f"it is no JSON: {error}") from error


def _list(text: str) -> list[Any]:
    data = _json(text)
    if not isinstance(data, list):
        raise Damaged("it is no list")
    return data


def _value(cls: type[T], data: Any) -> T:
    if not isinstance(data, Mapping):
        raise Damaged(f"a {cls.__name__} is no object")
    return cls(**{field.name: _field(cls, field, data) for field in fields(cls)})


def _field(cls: type, field: Field[Any], data: Mapping[str, Any]) -> Any:
    value = data.get(field.name, field.default)
    if value is MISSING:
        raise Damaged(f"a {cls.__name__} has no {field.name}")
    wanted = _TYPES[str(field.type)]
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise Damaged(f"{field.name} of a {cls.__name__} is {type(value).__name__}")
    return value
