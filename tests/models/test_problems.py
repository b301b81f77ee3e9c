from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass

import pytest
from tests.models.provider import Answer, Provider
from tests.models.questions import MODELS, SECRET, call

from regreen.llm.client import WorkerClient
from regreen.values import ModelProblem

pytestmark = pytest.mark.asyncio(loop_scope="module")

P = ModelProblem
LONG_PROMPT = "prompt is too long: 9999 tokens exceed the context length of 4096"


@dataclass(frozen=True)
class Case:
    """What an answer is told as, without retries; `only`: in which formats it can be said at all."""

    answer: Answer
    problem: ModelProblem
    streamed: bool = True
    whole: bool = True
    only: tuple[str, ...] = tuple(MODELS)


CASES = {
    "400": Case(Answer(status=400), P.BAD_REQUEST),
    "401": Case(Answer(status=401), P.AUTH),
    "402": Case(Answer(status=402), P.RATE),
    "403": Case(Answer(status=403), P.AUTH),
    "404": Case(Answer(status=404), P.UNKNOWN_MODEL),
    "422": Case(Answer(status=422), P.BAD_REQUEST),
    "429": Case(Answer(status=429), P.RATE),
    "500": Case(Answer(status=500), P.SERVER),
    "503": Case(Answer(status=503), P.SERVER),
    "529": Case(Answer(status=529), P.SERVER),
    "too long": Case(Answer(status=400, message=LONG_PROMPT), P.CONTEXT),
    "closed before": Case(Answer(failure="close"), P.NETWORK),
    "cut": Case(Answer("A longer answer.", pieces=8, failure="cut"), P.NETWORK),
    "malformed": Case(Answer(failure="malformed"), P.MALFORMED, only=("openai", "dashscope")),
    "malformed and whole": Case(Answer(failure="malformed"), P.MALFORMED, streamed=False),
    "a sign-in page": Case(Answer(failure="html"), P.MALFORMED),
    "empty": Case(Answer(failure="empty"), P.MALFORMED),
    "no choices": Case(Answer(failure="no-choices"), P.MALFORMED, only=("openai", "dashscope", "anthropic")),
    "only blanks": Case(Answer(" \n "), P.MALFORMED),
    "a call of a tool": Case(Answer(tool="read_file"), P.MALFORMED),
    "at its limit": Case(Answer(finish="length"), P.TRUNCATED),
    "filtered": Case(Answer(finish="filter"), P.FILTERED, only=("openai", "dashscope", "anthropic")),
}


@pytest.mark.parametrize(("case", "name"), [(case, name) for case in CASES for name in CASES[case].only])
async def test_each_problem_is_told_by_its_name(client: WorkerClient, case: str, name: str) -> None:
    wanted = CASES[case]
    for stream in (True,) * wanted.streamed + (False,) * wanted.whole:
        with Provider([wanted.answer]) as provider:
            reply = await client.complete(call(name, provider.base_url(name), stream=stream, retries=0))
        assert reply.problem is wanted.problem, (stream, reply)
        # after a 422 litellm may leave out what the provider named
        assert reply.tries == 1 <= len(provider.requests) <= 1 + (case == "422")


@pytest.mark.parametrize("name", list(MODELS))
async def test_an_address_where_nothing_listens_refuses(client: WorkerClient, name: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but it does not listen
        reply = await client.complete(call(name, f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert (reply.problem, reply.tries) == (P.REFUSED, 1)


@pytest.mark.parametrize("name", list(MODELS))
async def test_a_host_that_does_not_exist_is_told_from_one_that_refuses(
    client: WorkerClient, name: str
) -> None:
    reply = await client.complete(call(name, "http://no-such-host.invalid/v1", retries=0))
    assert reply.problem is P.DNS


async def test_what_there_is_of_a_reply_that_is_not_whole_comes_back(client: WorkerClient) -> None:
    for answer in (
        Answer("def half(", finish="length"),
        Answer("def half(a): pass", pieces=2, failure="cut"),
    ):
        with Provider([answer]) as provider:
            reply = await client.complete(call("openai", provider.base_url("openai"), retries=0))
        assert reply.text.startswith("def half(")
        assert reply.completion_tokens > 0


async def test_a_provider_that_does_not_stop_at_the_limit_is_stopped(client: WorkerClient) -> None:
    with Provider([Answer("word " * 100_000, pieces=100)]) as provider:
        reply = await client.complete(call("openai", provider.base_url("openai"), max_tokens=20))
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.answering == 0)
    assert reply.problem is P.TRUNCATED
    assert len(reply.text) < 100_000


async def test_what_was_answered_in_vain_is_counted_too(client: WorkerClient) -> None:
    cut = Answer("A longer answer.", pieces=8, failure="cut")
    with Provider([cut, Answer("Here.", 100, 10)]) as provider:
        reply = await client.complete(call("anthropic", provider.base_url("anthropic")))
    assert (reply.text, reply.tries) == ("Here.", 2)
    assert reply.prompt_tokens > 100
    assert reply.completion_tokens > 10
    assert reply.usd is not None
    assert reply.usd > 100 * 3e-6 + 10 * 1.5e-5


async def test_a_provider_that_nobody_knows_is_an_unknown_model(client: WorkerClient) -> None:
    question = call("openai", "", model="no-such-provider/some-model")
    assert (await client.complete(question)).problem is P.UNKNOWN_MODEL
    assert (await client.describe(question.model)).problem is P.UNKNOWN_MODEL


async def test_a_missing_key_is_named_and_nothing_is_asked(client: WorkerClient) -> None:
    question = call("openai", "", model="gemini/gemini-2.5-pro", key_variable="MY_KEY")
    reply = await client.complete(question)
    assert (reply.problem, reply.tries) == (P.AUTH, 1)
    assert "MY_KEY" in reply.detail


@pytest.mark.parametrize(
    "answer", [Answer(status=429), Answer(status=503), Answer(failure="close")], ids=["429", "503", "closed"]
)
async def test_what_may_be_gone_a_moment_later_is_tried_again(client: WorkerClient, answer: Answer) -> None:
    async def one(name: str) -> None:
        with Provider([answer, answer, "Here."]) as provider:
            reply = await client.complete(call(name, provider.base_url(name), retries=2))
        assert (reply.text, reply.problem, reply.tries) == ("Here.", None, 3)
        assert len(provider.requests) == 3

    await asyncio.gather(*map(one, MODELS))


async def test_retries_have_an_end(client: WorkerClient) -> None:
    async def one(name: str) -> None:
        with Provider([Answer(status=500)]) as provider:
            reply = await client.complete(call(name, provider.base_url(name), retries=1))
        assert (reply.problem, reply.tries, len(provider.requests)) == (P.SERVER, 2, 2)

    await asyncio.gather(*map(one, MODELS))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=400),
        Answer(status=401),
        Answer(status=404),
        Answer(status=400, message=LONG_PROMPT),
        Answer(status=429, message="You exceeded your current quota", code="insufficient_quota"),
        Answer(failure="html"),
        Answer(finish="length"),
        Answer(finish="filter"),
    ],
    ids=lambda answer: f"{answer.status}{answer.code}{answer.failure}{answer.finish}",
)
async def test_what_stays_wrong_is_not_tried_again(client: WorkerClient, answer: Answer) -> None:
    with Provider([answer]) as provider:
        reply = await client.complete(call("openai", provider.base_url("openai"), retries=3))
    assert reply.problem is not None
    assert (reply.tries, len(provider.requests)) == (1, 1)


async def test_a_provider_is_left_alone_for_as_long_as_it_says(client: WorkerClient) -> None:
    async def one(name: str) -> None:
        with Provider([Answer(status=429, retry_after="2"), "Here."]) as provider:
            reply = await client.complete(call(name, provider.base_url(name)))
        first, second = provider.requests
        assert reply.text == "Here."
        assert second.at - first.at >= 2

    await asyncio.gather(*map(one, MODELS))


@pytest.mark.parametrize("name", list(MODELS))
async def test_a_wait_that_does_not_fit_the_deadline_is_not_begun(client: WorkerClient, name: str) -> None:
    with Provider([Answer(status=429, retry_after="600"), "Here."]) as provider:
        reply = await client.complete(call(name, provider.base_url(name), seconds=300))
    assert (reply.problem, reply.tries) == (P.RATE, 1)


ENDLESS = {
    "silence before the headers": Answer(delay=3600),
    "silence after the headers": Answer(failure="silent"),
    "pieces for ever": Answer(failure="endless", pause=0.05),
}


@pytest.mark.parametrize("answer", list(ENDLESS))
async def test_a_deadline_is_one_however_the_answer_dribbles(client: WorkerClient, answer: str) -> None:
    async def one(name: str) -> None:
        with Provider([ENDLESS[answer]]) as provider:
            reply = await client.complete(call(name, provider.base_url(name), seconds=1.0))
            assert await asyncio.to_thread(provider.wait_for, lambda p: p.closed_early == 1)
        assert (reply.problem, reply.tries) == (P.TIMEOUT, 1)

    await asyncio.gather(*map(one, MODELS))


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_cancelling_closes_the_connection(client: WorkerClient, name: str, stream: bool) -> None:
    answer = Answer("word " * 1000, pieces=1000, pause=0.2) if stream else Answer(delay=3600)
    with Provider([answer]) as provider:
        asking = asyncio.create_task(client.complete(call(name, provider.base_url(name), stream=stream)))
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.answering == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.closed_early == 1)


async def test_cancelling_ends_the_wait_between_two_tries(client: WorkerClient) -> None:
    with Provider([Answer(status=429, retry_after="30"), "Here."]) as provider:
        asking = asyncio.create_task(client.complete(call("openai", provider.base_url("openai"))))
        assert await asyncio.to_thread(provider.wait_for, lambda p: bool(p.requests) and not p.answering)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert len(provider.requests) == 1


async def test_keys_are_never_in_the_details(client: WorkerClient) -> None:
    words = f"Incorrect API key provided: {SECRET}. Authorization: Bearer {SECRET}; sk-other-0123456789abcdef"
    for name in MODELS:
        with Provider([Answer(status=401, message=words)]) as provider:
            reply = await client.complete(call(name, provider.base_url(name)))
        assert reply.problem is P.AUTH
        assert "Incorrect API key" in reply.detail
        assert SECRET not in reply.detail
        assert "0123456789abcdef" not in reply.detail


async def test_the_password_of_an_address_is_never_in_the_details(client: WorkerClient) -> None:
    for name in MODELS:
        reply = await client.complete(
            call(name, "http://me:hunter2secret@no-such-host.invalid/v1", retries=0)
        )
        assert reply.problem is not None
        assert "hunter2secret" not in reply.detail
        info = await client.describe(MODELS[name], "http://me:hunter2secret@no-such-host.invalid/v1")
        assert info.address == "no-such-host.invalid"
