from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from tests.models.provider import Answer, Provider
from tests.models.questions import MODELS, SECRET, call

from regreen.llm.client import WorkerClient
from regreen.values import ModelProblem, ModelReply

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA = {
    "type": "object",
    "properties": {"cause": {"type": "string"}, "line": {"type": "integer"}},
    "required": ["cause", "line"],
    "additionalProperties": False,
}
formats = pytest.mark.parametrize("name", list(MODELS))
ways = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@formats
@ways
async def test_a_question_arrives_and_its_reply_comes_back(
    client: WorkerClient, name: str, stream: bool
) -> None:
    with Provider([Answer("def mend():\n    return 'ü'\n", 17, 9)]) as provider:
        reply = await client.complete(call(name, provider.base_url(name), stream=stream, temperature=0.2))
    assert replace(reply, usd=None, seconds=0.0) == ModelReply("def mend():\n    return 'ü'\n", 17, 9)
    (request,) = provider.requests
    assert request.format == name
    assert "Role: repairer" in request.text
    assert "Mend it, please." in request.text
    assert bool(request.body.get("stream")) is stream
    sent = request.body.get("options", request.body)
    assert sent["temperature"] == 0.2
    assert 200 in (sent.get("max_tokens"), sent.get("num_predict"), sent.get("max_completion_tokens"))


@formats
async def test_the_key_is_sent_to_the_provider_of_the_model(client: WorkerClient, name: str) -> None:
    with Provider() as provider:
        await client.complete(call(name, provider.base_url(name)))
    headers = provider.requests[0].headers
    expected = name != "ollama_chat"  # which has none
    assert (SECRET in (headers.get("authorization", "") + headers.get("x-api-key", ""))) is expected


@formats
@ways
async def test_a_reply_that_follows_a_schema_comes_back_as_json(
    client: WorkerClient, name: str, stream: bool
) -> None:
    said = json.dumps({"cause": "off by one", "line": 3})
    with Provider([said]) as provider:
        reply = await client.complete(call(name, provider.base_url(name), stream=stream, schema=SCHEMA))
    assert reply.problem is None
    assert json.loads(reply.text) == {"cause": "off by one", "line": 3}
    assert "cause" in json.dumps(
        {key: value for key, value in provider.requests[0].body.items() if key != "messages"}
    )


async def test_older_models_of_anthropic_are_given_the_schema_as_a_tool(client: WorkerClient) -> None:
    said = json.dumps({"cause": "off by one", "line": 3})
    question = call("anthropic", "", model="anthropic/claude-3-5-haiku-20241022", schema=SCHEMA)
    for stream in (True, False):
        with Provider([said]) as provider:
            url = provider.base_url("anthropic")
            reply = await client.complete(replace(question, base_url=url, stream=stream))
        assert provider.requests[0].body["tools"]
        assert (reply.problem, json.loads(reply.text)) == (None, {"cause": "off by one", "line": 3})


async def test_ollama_is_always_told_how_much_it_has_to_read(client: WorkerClient) -> None:
    with Provider() as provider:
        url = provider.base_url("ollama_chat")
        await client.complete(call("ollama_chat", url, context=6000))
        await client.complete(call("ollama_chat", url))
    assert provider.requests[0].body["options"]["num_ctx"] == 6000
    assert provider.requests[1].body["options"]["num_ctx"] > 0


async def test_a_temperature_that_a_model_does_not_take_is_left_out(client: WorkerClient) -> None:
    with Provider() as provider:
        url = provider.base_url("openai")
        reply = await client.complete(call("openai", url, model="openai/gpt-5", temperature=0.2))
    assert reply.problem is None
    assert "temperature" not in provider.requests[0].body


async def test_many_questions_are_asked_at_once(client: WorkerClient) -> None:
    with Provider(lambda request: Answer(request.text, delay=0.2)) as provider:
        url = provider.base_url("openai")
        texts = [f"question {number}" for number in range(8)]
        messages = [(replace(call("openai", "").messages[1], text=text),) for text in texts]
        replies = await asyncio.gather(
            *(client.complete(call("openai", url, messages=one)) for one in messages)
        )
        assert [reply.text.strip() for reply in replies] == texts


LONG = "the quick brown fox jumps over the lazy dog\n" * 100


@pytest.mark.parametrize("name", ["ollama_chat", "openai"])
async def test_a_local_server_that_reads_less_than_was_sent_is_caught(
    client: WorkerClient, name: str
) -> None:
    message = (replace(call(name, "").messages[1], text=LONG),)
    whole = await client.count(MODELS[name], message)
    for told, problem in ((whole, None), (int(whole * 0.9), None), (whole // 2, ModelProblem.SILENTLY_CUT)):
        with Provider([Answer("Fine.", told)]) as provider:
            reply = await client.complete(call(name, provider.base_url(name), messages=message))
        assert reply.problem is problem
        assert reply.text == "Fine."
        assert reply.prompt_tokens == told


async def test_letters_that_tokenizers_disagree_about_do_not_look_like_a_cut(client: WorkerClient) -> None:
    message = (replace(call("ollama_chat", "").messages[1], text="测试失败了请修复这个函数" * 200),)
    with Provider([Answer("Fine.", 1200)]) as provider:
        reply = await client.complete(call("ollama_chat", provider.base_url("ollama_chat"), messages=message))
    assert reply.problem is None
