"""How does a model answer from a file, so that a heal, its consent and its cost can be seen without any model?

`ScriptedClient` implements `ports.ModelClient` for models named "scripted:/path/of/answers.yaml".
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regreen.errors import UserError
from regreen.llm.script import Answer, Script, parse
from regreen.platform.background import run_blocking
from regreen.values import Message, ModelCall, ModelInfo, ModelProblem, ModelReply, Role

PREFIX = "scripted:"
LETTERS_OF_TOKEN = 4
"""How many letters are counted as one token."""


@dataclass(slots=True)
class _Playing:
    """A file and which of its answers were given."""

    text: str
    script: Script
    used: set[int] = field(default_factory=set)


class ScriptedClient:
    """Gives recorded answers: to each question the first one that fits and was not given yet.

    A file that was changed is read again, and starts anew. Its methods raise UserError when the file is missing or is
    not as it should be.
    """

    def __init__(self) -> None:
        self._playing: dict[Path, _Playing] = {}

    async def complete(self, call: ModelCall) -> ModelReply:
        """The next answer; see `ports.ModelClient.complete`."""
        playing = await self._load(call.model)
        prompt = "\n".join(message.text for message in call.messages)
        answer = _next(playing, role_of(call.messages), prompt)
        asked, said = answer.prompt_tokens, answer.completion_tokens
        asked = _tokens(call.messages) if asked is None else asked
        said = len(answer.text) // LETTERS_OF_TOKEN + bool(answer.text) if said is None else said
        await asyncio.sleep(min(answer.seconds, call.seconds))
        if answer.seconds > call.seconds:
            detail = f"no whole reply within {call.seconds:g} s"
            return ModelReply(seconds=call.seconds, problem=ModelProblem.TIMEOUT, detail=detail)
        price = playing.script.price
        usd = None if price is None else asked * price[0] + said * price[1]
        if answer.problem is not None and not answer.text:  # nothing was answered, so nothing is paid
            asked, said, usd = 0, 0, None
        return ModelReply(answer.text, asked, said, usd, answer.seconds, 1, answer.problem, answer.detail)

    async def count(self, model: str, messages: Sequence[Message]) -> int:
        """How many tokens messages are, by their letters alone."""
        del model
        return _tokens(messages)

    async def describe(self, model: str, base_url: str = "", key_variable: str = "") -> ModelInfo:
        """What the file says about its model."""
        del base_url, key_variable
        script = (await self._load(model)).script
        read, written = script.price or (None, None)
        local = not script.address
        return ModelInfo(model, "scripted", script.address, local, script.context, read, written)

    async def close(self) -> None:
        """Forget what was given."""
        self._playing.clear()

    async def _load(self, model: str) -> _Playing:
        path, text = await run_blocking(_read, model.removeprefix(PREFIX))
        playing = self._playing.get(path)
        if playing is None or playing.text != text:
            playing = self._playing[path] = _Playing(text, parse(text, path))
        return playing


def role_of(messages: Sequence[Message]) -> Role | None:
    """The role that the first line of a system prompt names, as in "Role: repairer"; None when it names none."""
    for message in messages:
        if message.role == "system":
            name, _, value = message.text.split("\n", 1)[0].partition(":")
            if name.strip() == "Role" and value.strip() in {role.value for role in Role}:
                return Role(value.strip())
    return None


def _next(playing: _Playing, role: Role | None, prompt: str) -> Answer:
    for number, answer in enumerate(playing.script.answers):
        if number not in playing.used and answer.fits(role, prompt):
            if not answer.repeat:
                playing.used.add(number)
            return answer
    whom = "this question" if role is None else f"this question to the {role.value}"
    return Answer(problem=ModelProblem.BAD_REQUEST, detail=f"the file has no answer left to {whom}")


def _tokens(messages: Sequence[Message]) -> int:
    return sum(len(message.text) // LETTERS_OF_TOKEN + 4 for message in messages)


def _read(name: str) -> tuple[Path, str]:
    path = Path(name).expanduser()
    try:
        return path, path.read_text("utf-8")
    except FileNotFoundError as error:
        raise UserError(
            f"There is no file {path} with answers.", "Check the path in regreen.llm.model."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}.", "It must be a text file in UTF-8.") from error
