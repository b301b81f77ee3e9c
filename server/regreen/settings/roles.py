"""What may `regreen.llm.roles` hold, and what does it make of one role?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

ROLES = ("debugger", "repairer", "critic", "summariser", "judge")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_FIELDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "model": ("text", lambda value: isinstance(value, str) and bool(value)),
    "temperature": ("a number from 0 to 2", lambda value: _is_number(value) and 0 <= value <= 2),
    "maxTokens": (
        "a whole number from 16",
        lambda value: _is_number(value) and value >= 16 and value == int(value),
    ),
    "seconds": ("a number from 1", lambda value: _is_number(value) and value >= 1),
    "fallbacks": (
        "a list of models",
        lambda value: isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value),
    ),
}


def problem(value: Mapping[str, Any]) -> str:
    """Why this cannot be used, as the rest of a sentence; "" when it can."""
    for role, fields in value.items():
        if role not in ROLES:
            return f"knows no role {json.dumps(role)}, only {', '.join(ROLES)}"
        if not isinstance(fields, Mapping):
            return f"needs an object for {json.dumps(role)}"
        for name, one in fields.items():
            if name not in _FIELDS:
                return f"knows no {json.dumps(name)} of a role, only {', '.join(_FIELDS)}"
            wanted, fits = _FIELDS[name]
            if not fits(one):
                return f"needs {wanted} as {json.dumps(f'{role}.{name}')}"
    return ""
