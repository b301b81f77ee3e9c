"""Both sides of the wire are held to the same files: what is in them is what the client writes and the worker reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.models.provider import Answer, Provider
from tests.models.questions import KEYS, plain_environment

from regreen.llm import client
from regreen.values import Message, ModelCall, ModelProblem, ModelReply

GOLDEN = Path(__file__).parents[1] / "golden" / "model"
PROMPT = (Message("system", "Role: repairer"), Message("user", "Mend it, ü."))
CALLS = {
    1: ModelCall("anthropic/claude-sonnet-4-5", PROMPT, 200, 60.0, temperature=0.2, base_url="URL/anthropic"),
    4: ModelCall(
        "openai/some-model",
        (Message("user", "Again."),),
        20,
        60.0,
        schema={"type": "object", "properties": {"line": {"type": "integer"}}},
        base_url="URL/openai/v1",
        key_variable="OPENAI_API_KEY",
        context=4096,
        retries=0,
        stream=False,
    ),
    5: ModelCall("openai/some-model", (Message("user", "Wait."),), 20, 60.0, base_url="URL/openai/v1"),
}
REPLIES = {
    1: ModelReply("Done, ü.", 17, 9, 0.000186, 0.5),
    4: ModelReply(seconds=0.5, problem=ModelProblem.RATE, detail="slower"),
}


def golden(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


def test_the_worker_says_the_golden_replies_to_the_golden_requests(folder: Path) -> None:
    answers = [Answer("Done, ü.", 17, 9), Answer(status=429, message="slower"), Answer(delay=3600)]
    with (
        Provider(answers) as provider,
        subprocess.Popen(
            [sys.executable, "-m", "regreen.model_worker"],
            cwd=folder,
            env={**plain_environment(), **KEYS},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        said = [json.loads(process.stdout.readline())]
        for request in golden("requests.jsonl"):
            line = json.dumps(request).replace("URL/", f"http://127.0.0.1:{provider.port}/")
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            if request.get("id") == 5:
                assert provider.wait_for(lambda p: p.answering == 1)
            else:
                said.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0
    said[0]["litellm"] = "VERSION"
    for one in said:
        if "reply" in one:
            one["reply"]["seconds"] = 0.5
            one["reply"]["usd"] = one["reply"]["usd"] and pytest.approx(one["reply"]["usd"])
    assert said == golden("replies.jsonl")


@pytest.mark.parametrize("number", list(CALLS))
def test_the_client_writes_the_golden_requests(number: int) -> None:
    (request,) = (one for one in golden("requests.jsonl") if one.get("id") == number)
    written = {"id": number, "ask": "complete", **client._question(CALLS[number])}
    assert json.loads(json.dumps(written)) == request


@pytest.mark.parametrize("number", list(REPLIES))
def test_the_client_reads_the_golden_replies(number: int) -> None:
    (reply,) = (one["reply"] for one in golden("replies.jsonl") if one.get("id") == number)
    assert client._reply(reply) == REPLIES[number]
