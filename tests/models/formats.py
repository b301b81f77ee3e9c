"""How does each provider write a reply, an error, and the pieces of a stream?"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.models.provider import Answer

_FINISH = {
    "openai": {"stop": "stop", "length": "length", "filter": "content_filter", "tool": "tool_calls"},
    "anthropic": {"stop": "end_turn", "length": "max_tokens", "filter": "refusal", "tool": "tool_use"},
    "ollama_chat": {"stop": "stop", "length": "length", "filter": "stop", "tool": "stop"},
}
_FINISH["dashscope"] = _FINISH["openai"]
_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def tokens(body: dict[str, Any], answer: Answer) -> tuple[int, int]:
    """How many tokens the provider counts: of the prompt, of the reply."""
    asked = (
        len(json.dumps(body.get("messages", ""))) // 4
        if answer.prompt_tokens is None
        else answer.prompt_tokens
    )
    said = len(answer.text) // 4 + 1 if answer.completion_tokens is None else answer.completion_tokens
    return asked, said


def shown(window: int | None) -> tuple[int, Any]:
    """Ollama's `/api/show`: status and body."""
    if window is None:
        return 404, {"error": "model not found"}
    return 200, {
        "template": "{{ .Prompt }}",
        "model_info": {"general.architecture": "llama", "llama.context_length": window},
        "capabilities": ["completion"],
    }


def error(name: str, answer: Answer) -> Any:
    """The body of an error."""
    if name == "ollama_chat":
        return {"error": answer.message}
    if name == "anthropic":
        kind = answer.code or _ERRORS.get(answer.status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": answer.message}}
    return {"error": {"message": answer.message, "type": "error", "code": answer.code or None}}


def nonsense(name: str) -> bytes:
    """A piece of a stream that is not of its format."""
    return b"{not json\n" if name == "ollama_chat" else b"data: {not json\n\n"


def whole(name: str, body: dict[str, Any], answer: Answer) -> Any:
    """A reply in one piece."""
    asked, said = tokens(body, answer)
    finish = _FINISH[name]["tool" if answer.tool else answer.finish]
    if name == "ollama_chat":
        message: dict[str, Any] = {"role": "assistant", "content": "" if answer.tool else answer.text}
        if answer.tool:
            message["tool_calls"] = [{"function": {"name": answer.tool, "arguments": {}}}]
        counts = {"prompt_eval_count": asked, "eval_count": said}
        return {**_ollama(body), "message": message, "done": True, "done_reason": finish, **counts}
    if name == "anthropic":
        if forced := _forced_tool(body):
            content = [
                {"type": "tool_use", "id": "toolu_1", "name": forced, "input": json.loads(answer.text)}
            ]
            finish = "tool_use"
        elif answer.tool:
            content = [{"type": "tool_use", "id": "toolu_1", "name": answer.tool, "input": {}}]
        else:
            content = [{"type": "text", "text": answer.text}]
        if answer.failure == "no-choices":
            content = []
        return {
            **_message(body, asked),
            "content": content,
            "stop_reason": finish,
            "usage": _usage(asked, said),
        }
    reply: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.tool:
        call = {"id": "call_1", "type": "function", "function": {"name": answer.tool, "arguments": "{}"}}
        reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    choices = [{"index": 0, "message": reply, "finish_reason": finish}]
    return {
        **_completion(body, "chat.completion"),
        "choices": [] if answer.failure == "no-choices" else choices,
        "usage": _counted(asked, said),
    }


def stream(name: str, body: dict[str, Any], answer: Answer) -> Iterator[bytes]:
    """The pieces of a reply."""
    if name == "ollama_chat":
        yield from _ollama_pieces(body, answer)
    elif name == "anthropic":
        yield from _anthropic_pieces(body, answer)
    else:
        yield from _openai_pieces(body, answer)


def endless(name: str, body: dict[str, Any], answer: Answer) -> Iterator[bytes]:
    """The same few letters for ever."""
    first = list(itertools.islice(stream(name, body, answer), 3))
    yield from first
    yield from itertools.repeat(first[-1])


def _split(answer: Answer) -> list[str]:
    size = max(1, -(-len(answer.text) // answer.pieces))
    return [answer.text[at : at + size] for at in range(0, len(answer.text), size)]


def _completion(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": body.get("model", "")}


def _counted(asked: int, said: int) -> dict[str, int]:
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _openai_pieces(body: dict[str, Any], answer: Answer) -> Iterator[bytes]:
    asked, said = tokens(body, answer)
    base = _completion(body, "chat.completion.chunk")

    def event(**more: Any) -> bytes:
        return b"data: " + json.dumps({**base, **more}).encode() + b"\n\n"

    if answer.failure != "no-choices":
        yield event(
            choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]
        )
        if answer.tool:
            call = {
                "index": 0,
                "id": "call_1",
                "type": "function",
                "function": {"name": answer.tool, "arguments": "{}"},
            }
            yield event(choices=[{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}])
        for text in () if answer.tool else _split(answer):
            yield event(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None}])
        finish = _FINISH["openai"]["tool" if answer.tool else answer.finish]
        yield event(choices=[{"index": 0, "delta": {}, "finish_reason": finish}])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield event(choices=[], usage=_counted(asked, said))
    yield b"data: [DONE]\n\n"


def _forced_tool(body: dict[str, Any]) -> str:
    choice = body.get("tool_choice") or {}
    return str(choice.get("name", "")) if choice.get("type") == "tool" else ""


def _usage(asked: int, said: int) -> dict[str, int]:
    return {"input_tokens": asked, "output_tokens": said}


def _message(body: dict[str, Any], asked: int) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(asked, 1),
    }


def _anthropic_pieces(body: dict[str, Any], answer: Answer) -> Iterator[bytes]:
    asked, said = tokens(body, answer)

    def event(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()

    yield event("message_start", message=_message(body, asked))
    forced = _forced_tool(body)
    tool = forced or answer.tool
    if answer.failure != "no-choices":
        empty: dict[str, Any] = {"type": "text", "text": ""}
        if tool:
            empty = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}
        yield event("content_block_start", index=0, content_block=empty)
        for text in _split(answer) if forced or not tool else ["{}"]:
            delta = {"type": "text_delta", "text": text}
            if tool:
                delta = {"type": "input_json_delta", "partial_json": text}
            yield event("content_block_delta", index=0, delta=delta)
        yield event("content_block_stop", index=0)
    finish = _FINISH["anthropic"]["tool" if tool else answer.finish]
    yield event(
        "message_delta", delta={"stop_reason": finish, "stop_sequence": None}, usage={"output_tokens": said}
    )
    yield event("message_stop")


def _ollama(body: dict[str, Any]) -> dict[str, Any]:
    return {"model": body.get("model", ""), "created_at": "2026-01-01T00:00:00.000Z"}


def _ollama_pieces(body: dict[str, Any], answer: Answer) -> Iterator[bytes]:
    asked, said = tokens(body, answer)

    def line(message: dict[str, Any], **more: Any) -> bytes:
        value = {**_ollama(body), "message": {"role": "assistant", **message}, "done": False, **more}
        return json.dumps(value).encode() + b"\n"

    if answer.tool:
        yield line({"content": "", "tool_calls": [{"function": {"name": answer.tool, "arguments": {}}}]})
    elif answer.failure != "no-choices":
        for text in _split(answer):
            yield line({"content": text})
    finish = _FINISH["ollama_chat"][answer.finish]
    yield line({"content": ""}, done=True, done_reason=finish, prompt_eval_count=asked, eval_count=said)
