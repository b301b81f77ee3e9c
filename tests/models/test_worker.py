from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
from tests.models.provider import Answer, Provider
from tests.models.questions import KEYS, QUESTION, SECRET, call, plain_environment
from tests.processes import ended

from regreen.llm.client import WorkerClient
from regreen.llm.worker import command
from regreen.platform import processes
from regreen.values import ModelProblem, ModelReply


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    yield
    assert processes.alive() == frozenset()


def made(folder: Path, **variables: str) -> WorkerClient:
    return WorkerClient(KEYS, environment={**plain_environment(), **variables}, folder=folder)


def litellm_folder() -> Path:
    spec = importlib.util.find_spec("litellm")  # not imported here: that takes seconds
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


async def until(condition: Callable[[], object]) -> None:
    while not condition():  # noqa: ASYNC110 — what is waited for tells nobody
        await asyncio.sleep(0.01)


def files_with(folder: Path, words: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


async def asked(client: WorkerClient) -> ModelReply:
    with Provider() as provider:
        return await client.complete(call("openai", provider.base_url("openai")))


def worker() -> psutil.Process:
    (process,) = processes.alive()
    return psutil.Process(process.pid)


async def test_what_libraries_print_and_read_never_reaches_the_protocol(folder: Path, tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.mkdir()
    (noise / "sitecustomize.py").write_text(
        textwrap.dedent("""
            import os, sys, threading, time

            def chatter():
                while True:
                    time.sleep(0.05)
                    print("{\\"id\\": 1}", flush=True)
                    os.write(1, b"noise\\n")
                    os.read(0, 10)

            threading.Thread(target=chatter, daemon=True).start()
        """)
    )
    client = made(folder, PYTHONPATH=str(noise))
    await client.warm()
    for _ in range(3):
        assert (await asked(client)).text == "An answer."
    assert "noise" in next(iter(processes.alive())).stderr_tail()
    await client.close()


async def test_an_env_file_above_litellm_changes_nothing(folder: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    site = project / ".venv" / "site"
    site.mkdir(parents=True)
    (site / "litellm").symlink_to(litellm_folder())
    for place in (project, folder):
        (place / ".env").write_text(
            "OPENAI_API_BASE=http://elsewhere.example/v1\nMY_OTHER_KEY=from-the-file\n"
        )
    client = made(folder, PYTHONPATH=str(site))
    assert (await client.describe("openai/some-model")).address == "api.openai.com"
    assert (await client.describe("openai/some-model", "", "MY_OTHER_KEY")).problem is ModelProblem.AUTH
    await client.close()


@pytest.mark.parametrize("version", [(3, 10), (3, 11)], ids=str)
def test_nothing_is_imported_from_its_working_directory(folder: Path, version: tuple[int, int]) -> None:
    for name in ("litellm", "json", "asyncio", "regreen", "runpy", "sitecustomize"):
        (folder / f"{name}.py").write_text("raise SystemExit('imported from the working directory')")
    done = subprocess.run(
        command(version),
        cwd=folder,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["litellm"]


async def test_a_local_model_is_never_asked_through_a_proxy(folder: Path) -> None:
    with Provider() as proxy:
        address = f"http://127.0.0.1:{proxy.port}"
        client = made(folder, HTTP_PROXY=address, http_proxy=address, ALL_PROXY=address)
        with Provider() as provider:
            for name in ("openai", "anthropic", "ollama_chat"):
                reply = await client.complete(call(name, provider.base_url(name)))
                assert reply.problem is None
            await client.describe("ollama_chat/smol", provider.base_url("ollama_chat"))
        await client.close()
    assert not proxy.requests


async def test_a_worker_that_dies_is_told_and_another_one_started(folder: Path) -> None:
    client = made(folder)
    with Provider([Answer(delay=3600), "Here."]) as provider:
        url = provider.base_url("openai")
        asking = asyncio.create_task(client.complete(call("openai", url)))
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.answering == 1)
        first = worker()
        first.kill()
        assert (await asking).problem is ModelProblem.WORKER
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.closed_early == 1)
        assert (await client.complete(call("openai", url))).text == "Here."
        assert worker().pid != first.pid
    await client.close()


@pytest.mark.skipif(os.name == "nt", reason="nothing stops a process there")
async def test_a_worker_that_no_longer_hears_is_ended(folder: Path) -> None:
    client = WorkerClient(KEYS, environment=plain_environment(), folder=folder, grace=1.0)
    await client.warm()
    first = worker()
    first.suspend()
    with Provider(["Here."]) as provider:
        url = provider.base_url("openai")
        reply = await client.complete(call("openai", url, seconds=0.5))
        assert reply.problem is ModelProblem.WORKER
        assert ended(first)
        assert (await client.complete(call("openai", url))).text == "Here."
    await client.close()


@pytest.mark.skipif(os.name == "nt", reason="nothing stops a process there")
async def test_cancelling_ends_a_worker_that_does_not_close_the_connection(folder: Path) -> None:
    client = made(folder)
    with Provider([Answer(delay=3600)]) as provider:
        asking = asyncio.create_task(client.complete(call("openai", provider.base_url("openai"))))
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.answering == 1)
        worker().suspend()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.closed_early == 1)
    await client.close()


async def test_closing_ends_the_worker_and_its_questions(folder: Path) -> None:
    client = made(folder)
    with Provider([Answer(delay=3600)]) as provider:
        asking = asyncio.create_task(client.complete(call("openai", provider.base_url("openai"))))
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.answering == 1)
        process = worker()
        await client.close()
        assert (await asking).problem is not None
        assert await asyncio.to_thread(provider.wait_for, lambda p: p.closed_early == 1)
    assert ended(process)
    await client.close()
    assert (await client.complete(call("openai", ""))).problem is ModelProblem.WORKER


async def test_closing_ends_a_worker_that_is_still_starting(folder: Path) -> None:
    client = made(folder)
    warming = asyncio.create_task(client.warm())
    await until(processes.alive)
    process = worker()
    await client.close()
    assert ended(process)
    await asyncio.wait({warming})


async def test_cancelling_the_first_question_leaves_the_worker_for_the_next(folder: Path) -> None:
    client = made(folder)
    with Provider() as provider:
        asking = asyncio.create_task(client.complete(call("openai", provider.base_url("openai"))))
        await until(processes.alive)
        first = worker()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert (await client.complete(call("openai", provider.base_url("openai")))).text == "An answer."
        assert worker() == first
        assert len(provider.requests) == 1
    await client.close()


async def test_the_worker_ends_with_whoever_started_it(folder: Path) -> None:
    script = textwrap.dedent(f"""
        import asyncio, os
        from pathlib import Path
        from regreen.llm.client import WorkerClient
        from regreen.platform import processes

        async def main():
            await WorkerClient(folder=Path({str(folder)!r})).warm()
            (process,) = processes.alive()
            print(process.pid, flush=True)
            os._exit(1)

        asyncio.run(main())
    """)
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=plain_environment(),
        check=False,
    )
    pid = int(done.stdout)
    await until(lambda: not psutil.pid_exists(pid) or ended(psutil.Process(pid)))


async def test_without_litellm_every_question_says_so(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "litellm.py").write_text("raise ModuleNotFoundError(\"No module named 'litellm'\")")
    client = made(folder, PYTHONPATH=str(site))
    reply = await asked(client)
    assert (reply.problem, "litellm" in reply.detail) == (ModelProblem.MISSING, True)
    assert (await client.describe("openai/some-model")).problem is ModelProblem.MISSING
    assert await client.count("openai/some-model", QUESTION) > 5
    await client.close()


async def test_keys_are_in_the_workers_environment_and_nowhere_else(
    folder: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    client = made(folder)
    with Provider([Answer(status=401, message=f"Incorrect API key provided: {SECRET}"), "Here."]) as provider:
        url = provider.base_url("openai")
        await client.complete(call("openai", url))
        await client.complete(call("openai", url))
        assert SECRET in provider.requests[0].headers["authorization"]
    process = worker()
    assert process.environ()["OPENAI_API_KEY"] == SECRET
    assert not any(SECRET in part for part in process.cmdline())
    written = next(iter(processes.alive())).stderr_tail()
    await client.close()
    assert SECRET not in written
    assert SECRET not in caplog.text
    assert SECRET not in "".join(capfd.readouterr())
    assert os.environ.get("OPENAI_API_KEY") != SECRET
    assert not files_with(folder, SECRET)


def test_importing_the_client_imports_nothing_of_litellm() -> None:
    code = "import regreen.llm.client, regreen.llm.problems, regreen.llm.scripted, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {"litellm", "openai", "httpx", "aiohttp", "pydantic", "xllamacpp", "yaml"}


AUDIT = """
import os, sys

def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(os.environ["AUDIT_FILE"], "a") as file:
            print(event, arguments[1] if event != "socket.getaddrinfo" else arguments[:2], file=file)

sys.addaudithook(hook)
"""


async def test_describing_and_counting_connect_nowhere_but_to_a_local_ollama(
    folder: Path, tmp_path: Path
) -> None:
    site, seen = tmp_path / "site", tmp_path / "seen"
    site.mkdir()
    (site / "sitecustomize.py").write_text(AUDIT)
    client = made(folder, PYTHONPATH=str(site), AUDIT_FILE=str(seen), OLLAMA_API_BASE="http://127.0.0.1:1")
    for model in ("openai/gpt-4o", "anthropic/claude-sonnet-4-5", "dashscope/qwen-plus"):
        info = await client.describe(model)
        assert (info.problem, info.local) == (None, False)
        assert info.price(1000, 1000)
        assert info.context
        assert await client.count(model, QUESTION) > 5
    assert await client.count("ollama_chat/meta-llama/x", QUESTION) > 5
    assert (await client.describe("ollama_chat/far", "http://ollama.example:11434")).problem is None
    assert not seen.exists(), seen.read_text()
    assert (await client.describe("ollama_chat/meta-llama/x")).problem is ModelProblem.REFUSED
    assert "127.0.0.1" in seen.read_text()
    assert "ollama.example" not in seen.read_text()
    await client.close()


async def test_the_last_words_of_a_worker_are_logged_without_keys(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "litellm.py").write_text(
        "import os; raise SystemExit('the end of ' + os.environ['OPENAI_API_KEY'])"
    )
    client = made(folder, PYTHONPATH=str(site))
    assert (await asked(client)).problem is ModelProblem.WORKER
    await client.close()
    assert "the end of ***" in caplog.text
    assert SECRET not in caplog.text


PLACES = {
    ("openai/x", "", ""): ("api.openai.com", False),
    ("openai/x", "http://127.0.0.1:8080/v1", ""): ("127.0.0.1:8080", True),
    ("openai/x", "http://[::1]:8080/v1", ""): ("[::1]:8080", True),
    ("openai/x", "http://127.0.0.1.example.com/v1", ""): ("127.0.0.1.example.com", False),
    ("openai/x", "http://192.168.1.5:8080/v1", ""): ("192.168.1.5:8080", False),
    ("openai/x", "", "OPENAI_API_BASE"): ("relay.example", False),
    ("anthropic/claude-sonnet-4-5", "", "ANTHROPIC_BASE_URL"): ("relay.example", False),
    ("dashscope/qwen-plus", "", ""): ("dashscope.aliyuncs.com", False),
    ("gemini/gemini-2.5-pro", "", ""): ("generativelanguage.googleapis.com", False),
    ("openrouter/a/b", "", ""): ("openrouter.ai", False),
    ("huggingface/a/b", "", ""): ("router.huggingface.co", False),
    ("lm_studio/x", "http://localhost:1234/v1", ""): ("localhost:1234", True),
    ("hosted_vllm/x", "", "HOSTED_VLLM_API_BASE"): ("relay.example", False),
    ("ollama_chat/x", "", "OLLAMA_API_BASE"): ("relay.example", False),
}


async def test_where_questions_would_go_is_told(folder: Path) -> None:
    for variable in {variable for _, _, variable in PLACES}:
        client = made(folder, **({variable: "https://relay.example/v1"} if variable else {}))
        for (model, url, where), expected in PLACES.items():
            if where == variable:
                info = await client.describe(model, url)
                assert (info.address, info.local) == expected, model
        await client.close()


async def test_a_price_of_nothing_is_an_unknown_one_unless_the_model_is_here(folder: Path) -> None:
    prices = json.loads((litellm_folder() / "model_prices_and_context_window_backup.json").read_text("utf-8"))
    free = "codestral/codestral-latest"
    assert prices[free]["input_cost_per_token"] == 0
    client = made(folder)
    assert (await client.describe(free)).price(1000, 1000) is None
    assert (await client.describe("openai/nobody-knows-this")).price(1000, 1000) is None
    assert (await client.describe("openai/nobody-knows-this", "http://127.0.0.1:8080")).price(1000, 1000) == 0
    relayed = await client.describe("openai/gpt-4o", "http://127.0.0.1:8080")
    assert relayed.price(1000, 1000)
    await client.close()
