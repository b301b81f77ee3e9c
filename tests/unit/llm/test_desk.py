"""Who is asked with which address and key, after which question to the user, and what is said of it?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.history import Store
from regreen.llm.book import PromptBook
from regreen.llm.consent import ConsentStore
from regreen.llm.desk import Desk, Said, Stop
from regreen.llm.excluded import exclusions
from regreen.llm.parts import ModelParts, Sending
from regreen.platform.clock import SystemClock
from regreen.settings import Settings
from regreen.values import Message, ModelCall, ModelInfo, ModelProblem, ModelReply, Project, Role

SETTINGS = Settings(
    llm_mode="allowed",
    llm_model="openai/first",
    llm_base_url="https://models.example.com/v1",
    llm_key_variable="OUR_KEY",
    llm_fallbacks=("openai/second", "anthropic/third"),
)
VALUES = {"evidence": "It fails.", "outcome": "healed"}
LESSONS = '{"lessons": []}'


class Client:
    """Answers by model: a text, or a problem; keeps what it was asked."""

    def __init__(self, answers: Mapping[str, str | ModelProblem]) -> None:
        self.answers = answers
        self.calls: list[ModelCall] = []
        self.described: dict[str, tuple[str, str]] = {}

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        answer = self.answers[call.model]
        if isinstance(answer, ModelProblem):
            return ModelReply(problem=answer)
        return ModelReply(answer, 10, 5, usd=0.0)

    async def count(self, model: str, messages: Sequence[Message]) -> int:
        return sum(len(one.text) for one in messages) // 4

    async def describe(self, model: str, base_url: str = "", key_variable: str = "") -> ModelInfo:
        self.described[model] = (base_url, key_variable)
        address = base_url or f"api.{model.partition('/')[0]}.com"
        return ModelInfo(model, address=address, context=16_000, input_usd=0.0, output_usd=0.0)

    async def close(self) -> None:
        return


class Somebody:
    """Gives one answer to every question, and keeps them."""

    keys: Mapping[str, str] = {}
    remembers = True

    def __init__(self, answer: bool | None = True) -> None:
        self.answer = answer
        self.asked: list[Sending] = []

    async def may_send(self, sending: Sending) -> bool | None:
        self.asked.append(sending)
        await asyncio.sleep(0)
        return self.answer

    async def review(self, title: str, text: str) -> str | None:
        return text


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, tmp_path)


def desk(
    project: Project, client: Client, person: Somebody, settings: Settings = SETTINGS, model: str = ""
) -> Desk:
    state = project.root / "state"
    store = Store(state / "history.db")
    consents = ConsentStore(state / "consent.json")
    parts = ModelParts(client, PromptBook(), store, consents, person, exclusions)
    return Desk(parts, project, settings, "heal", SystemClock(), model)


async def test_address_and_key_go_to_the_provider_that_they_are_of_and_to_no_other(project: Project) -> None:
    broken = ModelProblem.SERVER
    client = Client({"openai/first": broken, "openai/second": broken, "anthropic/third": LESSONS})
    said = await desk(project, client, Somebody()).ask_for(Role.SUMMARISER, "test", VALUES)
    assert isinstance(said, Said)
    assert said.degraded
    ours = ("https://models.example.com/v1", "OUR_KEY")
    assert client.described == {"openai/first": ours, "openai/second": ours, "anthropic/third": ("", "")}
    assert [(one.base_url, one.key_variable) for one in client.calls] == [ours, ours, ("", "")]


async def test_another_model_that_is_asked_for_gets_no_key_of_the_one_in_the_settings(
    project: Project,
) -> None:
    client = Client({"anthropic/other": LESSONS})
    await desk(project, client, Somebody(), model="anthropic/other").ask_for(Role.SUMMARISER, "test", VALUES)
    assert client.described["anthropic/other"] == ("", "")


async def test_questions_at_once_are_one_question_to_the_user(project: Project) -> None:
    client, person = Client({"openai/first": LESSONS}), Somebody()
    at = desk(project, client, person)
    await asyncio.gather(*(at.ask(Role.SUMMARISER, "test", VALUES) for _ in range(4)))
    assert len(person.asked) == 1
    assert len(client.calls) == 4
    assert person.asked[0].messages == client.calls[0].messages, "what is shown is what is sent"


@pytest.mark.parametrize(("answer", "asked"), [(True, 1), (False, 1), (None, 2)])
async def test_an_answer_holds_for_the_next_heal_unless_it_was_none(
    project: Project, answer: bool | None, asked: int
) -> None:
    client, person = Client({"openai/first": LESSONS}), Somebody(answer)
    for _ in range(2):
        said = await desk(project, client, person).ask(Role.SUMMARISER, "test", VALUES)
        assert isinstance(said, Said) is bool(answer)
    assert len(person.asked) == asked
    assert len(client.calls) == (2 if answer else 0)


async def test_asking_each_time_asks_in_each_heal_and_once_in_it(project: Project) -> None:
    client, person = Client({"openai/first": LESSONS}), Somebody()
    for _ in range(2):
        at = desk(project, client, person, replace(SETTINGS, llm_mode="askEachTime"))
        await at.ask(Role.SUMMARISER, "test", VALUES)
        await at.ask(Role.SUMMARISER, "test", VALUES)
    assert len(person.asked) == 2


async def test_a_reply_that_is_none_is_asked_for_once_more_with_what_was_wrong(project: Project) -> None:
    client = Client({"openai/first": "I would rather talk."})
    said = await desk(project, client, Somebody()).ask_for(Role.SUMMARISER, "test", VALUES)
    assert isinstance(said, Said)
    assert (said.value, said.degraded) == (None, True)
    assert len(client.calls) == 2
    assert "I would rather talk." in client.calls[1].messages[-1].text


@pytest.mark.parametrize(
    ("problem", "asked"), [(ModelProblem.SERVER, 3), (ModelProblem.RATE, 3), (ModelProblem.CONTEXT, 3)]
)
async def test_when_every_model_fails_that_is_said_and_nothing_raised(
    project: Project, problem: ModelProblem, asked: int
) -> None:
    client = Client(dict.fromkeys(("openai/first", "openai/second", "anthropic/third"), problem))
    stop = await desk(project, client, Somebody()).ask(Role.SUMMARISER, "test", VALUES)
    assert isinstance(stop, Stop)
    assert stop.reason == "infrastructure"
    assert "anthropic/third" in stop.text
    assert len(client.calls) == asked


async def test_a_secret_has_one_name_in_all_prompts_of_a_heal_and_is_in_none(project: Project) -> None:
    client = Client({"openai/first": LESSONS})
    at = desk(project, client, Somebody())
    for _ in range(2):
        values = {**VALUES, "evidence": "password = 'hunter2-correct-horse'"}
        await at.ask(Role.SUMMARISER, "test", values)
    first, second = (one.messages[-1].text for one in client.calls)
    assert first == second
    assert "hunter2" not in first
