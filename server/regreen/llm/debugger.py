"""What is wrong? A model thinks, looks, and thinks again before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regreen.llm.case import Case
from regreen.llm.desk import Desk, Stop
from regreen.llm.toolbox import TOOLS, Tool, Toolbox
from regreen.values import Diagnosis, Role

STEPS = 6
"""How often it may look before it must say what is wrong."""

SHOWN = 3000
"""How many characters of what a tool showed go into the next step."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the model thought, which tool it used how, and what that showed."""

    think: str
    tool: str
    arguments: Mapping[str, Any]
    observation: str


async def diagnose(desk: Desk, case: Case, toolbox: Toolbox, *, hint: str = "") -> Diagnosis | Stop:
    """Let a model find the cause of a failure.

    Args:
        desk: asks.
        case: the evidence.
        toolbox: what it may look at.
        hint: what the user says.

    Returns:
        Its diagnosis; one that says only where the test fails, with confidence 0, where it came to none.
    """
    steps: list[Step] = []
    degraded = False
    for number in range(STEPS + 1):
        evidence = await case.fitted(Role.DEBUGGER, beside=sum(len(step.observation) for step in steps))
        values = {
            "evidence": evidence.text,
            "tools": [_told(tool) for tool in TOOLS],
            "steps": steps,
            "steps_left": STEPS - number,
            "hint": hint,
        }
        said = await desk.ask_for(Role.DEBUGGER, f"step {number + 1}", values, evidence.ranges)
        if isinstance(said, Stop):
            return said
        degraded = degraded or said.degraded
        answer = said.value or {}
        if "diagnosis" in answer:
            return _diagnosis(answer["diagnosis"], degraded=degraded)
        if "tool" not in answer:
            break
        observation = await toolbox.use(answer["tool"], answer["arguments"])
        steps.append(Step(answer["think"], answer["tool"], answer["arguments"], observation[:SHOWN]))
    path, line = case.place
    return Diagnosis("unknown", path, line, "", "", case.cause, "", 0.0, degraded=True)


def _told(tool: Tool) -> Mapping[str, str]:
    arguments = ", ".join(f"{name}: {what}" for name, what in tool.arguments.items())
    return {"name": tool.name, "arguments": arguments, "does": tool.does}


def _diagnosis(said: Mapping[str, Any], *, degraded: bool) -> Diagnosis:
    return Diagnosis(
        category=said["category"],
        path=said["path"],
        line=said["line"] - 1,
        variable=said["variable"],
        value=said["value"],
        cause=said["cause"],
        plan=said["plan"],
        confidence=float(said["confidence"]),
        degraded=degraded,
    )
