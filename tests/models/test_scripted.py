from __future__ import annotations

import asyncio
import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.errors import UserError
from regreen.llm.script import parse
from regreen.llm.scripted import ScriptedClient, role_of
from regreen.values import Message, ModelCall, ModelProblem, ModelReply, Role

ROOT = Path(__file__).parents[2]


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "answers.yaml"
    path.write_text(textwrap.dedent(text), "utf-8")
    return f"scripted:{path}"


def call(model: str, role: str, text: str = "Mend it.", seconds: float = 60.0) -> ModelCall:
    return ModelCall(
        model, (Message("system", f"Role: {role}\nBe brief."), Message("user", text)), 200, seconds
    )


async def texts(client: ScriptedClient, model: str, *roles: str) -> list[str]:
    return [(await client.complete(call(model, role))).text for role in roles]


async def test_answers_come_in_order_each_to_its_role(tmp_path: Path) -> None:
    model = written(
        tmp_path,
        """
        answers:
          - {role: repairer, text: first patch}
          - {role: critic, text: fine, repeat: true}
          - {text: to anyone}
          - {role: repairer, text: second patch}
        """,
    )
    client = ScriptedClient()
    said = await texts(client, model, "critic", "repairer", "critic", "repairer", "repairer", "critic")
    assert said == ["fine", "first patch", "fine", "to anyone", "second patch", "fine"]
    left = await client.complete(call(model, "repairer"))
    assert left.problem is ModelProblem.BAD_REQUEST
    assert "repairer" in left.detail


async def test_an_answer_may_wait_for_words_of_the_prompt(tmp_path: Path) -> None:
    model = written(tmp_path, "answers: [{when: '^E +assert', text: asserted}, {text: other}]")
    client = ScriptedClient()
    assert (await client.complete(call(model, "repairer", "nothing"))).text == "other"
    assert (await client.complete(call(model, "repairer", "x\nE   assert 1 == 2"))).text == "asserted"


async def test_tokens_and_cost_are_as_the_file_says(tmp_path: Path) -> None:
    model = written(
        tmp_path,
        """
        price: {input: 1e-6, output: 0.000002}
        context: 4096
        address: api.example.com
        answers:
          - {text: patch, tokens: {prompt: 1000, completion: 100}}
          - {text: a longer patch}
          - {problem: rate, detail: slower}
        """,
    )
    client = ScriptedClient()
    info = await client.describe(model)
    assert (info.provider, info.address, info.local, info.context) == (
        "scripted",
        "api.example.com",
        False,
        4096,
    )
    assert info.price(1000, 100) == pytest.approx(0.0012)
    first, second, third = [await client.complete(call(model, "repairer")) for _ in range(3)]
    assert first.usd == pytest.approx(0.0012)
    assert replace(first, usd=None) == ModelReply("patch", 1000, 100)
    assert second.prompt_tokens == await client.count(model, call(model, "repairer").messages)
    assert second.completion_tokens > 0
    assert third == ModelReply(problem=ModelProblem.RATE, detail="slower")


async def test_a_file_without_a_price_is_free_and_local_and_one_may_be_unknown(tmp_path: Path) -> None:
    client = ScriptedClient()
    model = written(tmp_path, "answers: [{text: x}]")
    info = await client.describe(model)
    assert (info.price(1000, 1000), info.local, info.address) == (0, True, "")
    written(tmp_path, "price: unknown\nanswers: [{text: x}]")
    assert (await client.describe(model)).price(1, 1) is None
    assert (await client.complete(call(model, "repairer"))).usd is None


async def test_a_changed_file_starts_anew(tmp_path: Path) -> None:
    client = ScriptedClient()
    model = written(tmp_path, "answers: [{text: one}, {text: two}]")
    assert await texts(client, model, "judge", "judge") == ["one", "two"]
    written(tmp_path, "answers: [{text: three}]")
    assert await texts(client, model, "judge") == ["three"]


async def test_an_answer_that_takes_too_long_is_a_timeout_and_can_be_cancelled(tmp_path: Path) -> None:
    client = ScriptedClient()
    model = written(tmp_path, "answers: [{text: x, seconds: 3600, repeat: true}]")
    reply = await client.complete(call(model, "repairer", seconds=0.05))
    assert reply.problem is ModelProblem.TIMEOUT
    asking = asyncio.create_task(client.complete(call(model, "repairer")))
    await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


MALFORMED = {
    "": (1, "name: value"),
    "answers: []": (1, "at least one"),
    "price: unknown": (1, "lacks answers"),
    "answers:\n  - text: x\n    txt: y": (3, '"txt"'),
    "answers:\n  - text: x\nprices: 1": (3, '"prices"'),
    "answers:\n  - role: plumber\n    text: x": (2, "plumber"),
    "answers:\n  - text: x\n    when: '('": (3, "regular expression"),
    "answers:\n  - problem: hunger": (2, "hunger"),
    "answers:\n  - text: 12": (2, "text"),
    "answers:\n  - role: judge": (2, "lacks text or problem"),
    "answers:\n  - text: x\n    text: y": (3, "twice"),
    "answers:\n  - text: x\n    repeat: maybe": (3, "true or false"),
    "answers:\n  - text: x\n    seconds: -1": (3, "from 0"),
    "answers:\n  - text: x\n    tokens: {prompts: 1}": (3, '"prompts"'),
    "answers:\n  - text: x\n    tokens: {prompt: 1.5}": (3, "whole number"),
    "price: {input: 1}\nanswers: [{text: x}]": (1, "lacks output"),
    "price: {input: nan, output: 1}\nanswers: [{text: x}]": (1, "number"),
    "price: cheap\nanswers: [{text: x}]": (1, "unknown"),
    "context: 0\nanswers: [{text: x}]": (1, "from 1"),
    "answers:\n  - text: [x]": (2, "text"),
    "answers:\n  - text: 2020-13-45": (2, "text"),
    "answers:\n  - text: !secret x": (2, "text"),
    "answers:\n  - - x": (2, "name: value"),
    "answers: [{text: 'x}]": (1, "not YAML"),
    "answers:\n\t- x": (2, "not YAML"),
}


@pytest.mark.parametrize("text", list(MALFORMED))
async def test_what_is_wrong_with_a_file_is_told_with_the_line(tmp_path: Path, text: str) -> None:
    line, words = MALFORMED[text]
    model = written(tmp_path, text)
    with pytest.raises(UserError, match=rf"answers\.yaml, line {line}: .*{re.escape(words)}"):
        await ScriptedClient().describe(model)


async def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"There is no file .*nothing\.yaml"):
        await ScriptedClient().describe(f"scripted:{tmp_path / 'nothing.yaml'}")


@given(st.text(max_size=80) | st.binary(max_size=80).map(lambda data: data.decode("latin-1")))
def test_any_text_is_a_script_or_refused_in_a_sentence(text: str) -> None:
    try:
        parse(text, Path("answers.yaml"))
    except UserError as error:
        assert re.match(r"answers\.yaml, line \d+: ", error.what)  # noqa: PT017 — most texts are refused


async def test_the_example_of_the_page_is_a_script(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "models-scripted.md").read_text("utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    script = parse(example, Path("answers.yaml"))
    assert len(script.answers) == 4
    for problem in ModelProblem:
        assert f"`{problem.value}`" in page
    for role in Role:
        assert role.value in page


def test_the_role_is_on_the_first_line_of_the_system_prompt() -> None:
    messages = call("", "critic").messages
    assert role_of(messages) is Role.CRITIC
    assert role_of(messages[1:]) is None
    assert role_of((replace(messages[0], text="Be brief.\nRole: critic"),)) is None
