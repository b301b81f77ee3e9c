"""Is a reply the JSON that was asked for, and what can be saved of one that nearly is?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import json_repair
import jsonschema

from regreen.llm.refusal import Refusal
from regreen.llm.thoughts import answer

LONGEST = 200_000
"""Characters of a reply that are read."""

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*\w*[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Structured:
    """A reply that follows its schema. `degraded`: it had to be salvaged first."""

    value: Any
    degraded: bool = False


class _NotJson(ValueError):
    """What `json` accepts and JSON has not: NaN and infinities."""


def parse(text: str, schema: Mapping[str, Any], *, truncated: bool = False) -> Structured | Refusal:
    """Read a reply that must be one JSON value of a schema.

    The value may stand in a fenced block, if there is only one. Members that are null where the schema neither asks
    for them nor allows null count as left out.

    Args:
        text: the whole reply.
        schema: JSON schema, draft 2020-12, that was checked before.
        truncated: the provider says that the reply ended at its limit.

    Returns:
        The value; or a refusal: "empty", "truncated", "not-json" or "not-as-asked", for asking once more.
    """
    said = answer(text)
    if truncated or said is None or len(text) > LONGEST:
        return Refusal("truncated", "The reply is not whole: it reached the limit of its length. Say less.")
    if not said.strip():
        return Refusal("empty", "The reply is empty. Answer with one JSON value.")
    blocks = _FENCE.findall(said.replace("\r\n", "\n"))
    body = (blocks[0][1] if len(blocks) == 1 else said).strip()
    try:
        value, degraded = _strict(body), False
    except (ValueError, RecursionError):
        value, degraded = _salvaged(body), True
    if value is None:
        return Refusal(
            "not-json", "The reply is not JSON. Answer with one JSON value and nothing before or after it."
        )
    value = _without_nulls(value, schema)
    wrong = _wrong(value, schema)
    if wrong:
        return Refusal("not-as-asked", f"The JSON is not as asked for: {wrong}")
    return Structured(value, degraded)


def _strict(body: str) -> Any:
    def refuse(name: str) -> NoReturn:
        raise _NotJson(name)

    return json.loads(body, parse_constant=refuse)


def _salvaged(body: str) -> Any:
    """What can be read of nearly-JSON: the value from the first bracket on; None when there is nothing."""
    start = min((at for at in (body.find("{"), body.find("[")) if at >= 0), default=-1)
    if start < 0:
        return None
    try:
        value = json_repair.loads(body[start:], skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


def _without_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    members = schema.get("properties", {})
    required = schema.get("required", ())
    kept = {}
    for name, item in value.items():
        inner = members.get(name)
        if item is None and inner is not None and name not in required and not _allows_null(inner):
            continue
        kept[name] = _without_nulls(item, inner) if inner is not None else item
    return kept


def _allows_null(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind is None or kind == "null" or (isinstance(kind, list) and "null" in kind)


def _wrong(value: Any, schema: Mapping[str, Any]) -> str:
    """Say what does not follow the schema, at most five things; "" when all does."""
    validator = jsonschema.Draft202012Validator(schema)
    try:
        errors = sorted(validator.iter_errors(value), key=lambda error: (error.json_path, error.message))
    except RecursionError:
        return "it is nested too deeply."
    said = []
    for error in errors[:5]:
        where = error.json_path.removeprefix("$").removeprefix(".")
        said.append(f"{f'at {where}: ' if where else ''}{error.message[:200]}")
    return f"{'; '.join(said)}." if said else ""
