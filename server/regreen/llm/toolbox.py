"""What may the debugger look at before it says what is wrong?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool, as the model is told of it.

    Args:
        arguments: name → what it is, for the model.
    """

    name: str
    arguments: Mapping[str, str]
    does: str


TOOLS = (
    Tool(
        "read",
        {"path": "a file of the project", "start": "first line, from 1", "end": "last line"},
        "shows lines of a file",
    ),
    Tool("find", {"name": "a name"}, "shows where a name is defined and used"),
    Tool(
        "value",
        {"expression": "a Python expression without side effects"},
        "evaluates it at the failing line of the project's code, just before that line runs",
    ),
    Tool(
        "snippet",
        {"code": "a few Python statements that print"},
        "runs them in the project, confined, and shows what they print",
    ),
    Tool("test", {"nodeid": "a test of the project"}, "runs it as it is and shows how it ends"),
    Tool("signature", {"name": "a function or class of the project"}, "shows its signature and docstring"),
    Tool("attempts", {}, "shows which patches were tried and how each failed"),
)


class Toolbox(Protocol):
    """What does the tools' work."""

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Use a tool; what goes wrong is told in the text, for the model."""
        ...
