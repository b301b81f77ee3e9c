"""A structured reply is what its schema asks for, or it is said what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.llm.refusal import Refusal
from regreen.llm.structured import Structured, parse

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["side", "confidence"],
    "properties": {
        "side": {"enum": ["test", "code"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "more": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}
VALUE = {"side": "test", "confidence": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(VALUE),
        f"```json\n{json.dumps(VALUE, indent=1)}\n```",
        f"Here it is:\r\n\r\n```\r\n{json.dumps(VALUE)}\r\n```\r\nDone.",
        f'<think>maybe {{"side": "code"}}</think>\n{json.dumps(VALUE)}',
        json.dumps({**VALUE, "more": None}),
    ],
)
def test_json_is_taken_as_it_is(text: str) -> None:
    assert parse(text, SCHEMA) == Structured(VALUE)


@pytest.mark.parametrize(
    "text",
    [
        '{"side": "test", "confidence": 0.5,}',
        "{'side': 'test', 'confidence': 0.5}",
        'I think {"side": "test", "confidence": 0.5',
        '{side: "test", "confidence": 0.5} // sure',
    ],
)
def test_what_is_nearly_json_is_salvaged_and_said_to_be(text: str) -> None:
    assert parse(text, SCHEMA) == Structured(VALUE, degraded=True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty", " \n", "empty"),
        ("truncated", "<think>so", "not whole"),
        ("not-json", "The test is stale.", "not JSON"),
        ("not-as-asked", '{"side": "test"}', "'confidence' is a required property"),
        ("not-as-asked", '{"side": "both", "confidence": 0.5}', "at side: 'both' is not one of"),
        ("not-as-asked", '{"side": "test", "confidence": NaN}', "confidence"),
        ("not-as-asked", '{"side": "test", "confidence": 1, "x": 1}', "'x' was unexpected"),
        ("not-as-asked", '{"side": "test", "confidence": 1, "more": {"text": 1}}', "at more.text"),
        ("not-as-asked", "[]", "is not of type 'object'"),
    ],
)
def test_a_refusal_says_what_is_missing(name: str, text: str, said: str) -> None:
    refusal = parse(text, SCHEMA)
    assert isinstance(refusal, Refusal)
    assert refusal.name == name
    assert said in refusal.text


def test_a_reply_that_ended_at_its_limit_is_not_salvaged() -> None:
    refusal = parse('{"side": "test", "confidence": 0.5', SCHEMA, truncated=True)
    assert isinstance(refusal, Refusal)
    assert refusal.name == "truncated"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "{" * 1000 + "}" * 1000, "x" * 300_000])
def test_hostile_nesting_and_length_are_refused(text: str) -> None:
    assert isinstance(parse(text, SCHEMA), Refusal)


@given(st.text(alphabet="{}[]\":,'` \nabtrue0.5-", max_size=80))
def test_any_text_is_a_value_of_the_schema_or_a_refusal(text: str) -> None:
    result = parse(text, SCHEMA)
    if isinstance(result, Structured):
        assert result.value["side"] in {"test", "code"}
        assert 0 <= result.value["confidence"] <= 1
