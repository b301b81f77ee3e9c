"""What is said of each setting?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Repository = Literal["never", "restrict", "free"]
"""May a file in the repository set it? `restrict`: only to a lower number or the stricter choice."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the schema.

    Args:
        key: as the user writes it, without the `regreen.` in front.
        field: the attribute of `Settings` that holds it.
        type: JSON type: "boolean" | "string" | "number" | "integer" | "array" | "object".
        default: the JSON value when nobody sets it.
        description: one or two sentences, Markdown.
        choices: allowed values with their meaning, strictest first; empty when free.
        scope: VS Code's scope ("resource", "machine-overridable", "window"; "machine": not in a folder's own settings).
        repository: what a file in the repository may do with it.
        minimum, maximum: bounds of a number.
        problem: why a value of the right type cannot be used, as the rest of a sentence; "" when it can.
    """

    key: str
    field: str
    type: str
    default: Any
    description: str
    choices: tuple[tuple[str, str], ...] = ()
    scope: str = "resource"
    repository: Repository = "never"
    minimum: float | None = None
    maximum: float | None = None
    problem: Callable[[Any], str] | None = None
