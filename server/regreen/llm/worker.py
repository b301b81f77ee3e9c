"""How does one worker process start, answer, and end?

Requests go out and replies come in as `regreen.model_worker.wire` describes them, one JSON object a line.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import re
import sys
from collections.abc import Mapping
from typing import Any

from regreen.platform.processes import Process
from regreen.platform.waiting import uninterrupted, within

log = logging.getLogger(__name__)

START_SECONDS = 120.0
"""How long the worker may take to import litellm: seconds, on a machine that does nothing else."""
CANCEL_SECONDS = 2.0
"""How long the worker may take to say that a connection is closed."""
END_SECONDS = 5.0
"""How long the worker may take to end by itself: it closes connections, and sends traces that wait."""
_WITHOUT_CWD = (
    "import sys; sys.path[:] = [part for part in sys.path if part]; import runpy; "
    "runpy.run_module('regreen.model_worker', run_name='__main__', alter_sys=True)"
)
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_SHORTEST = 6


class WorkerEnded(Exception):
    """The worker is gone, or what it says is not the protocol."""


def command(version: tuple[Any, ...] = sys.version_info) -> list[str]:
    """How a worker is started so that nothing is ever imported from its working directory.

    Args:
        version: of our interpreter; the option -P is newer than some.
    """
    if version >= (3, 11):
        return [sys.executable, "-P", "-m", "regreen.model_worker"]
    return [sys.executable, "-c", _WITHOUT_CWD]


def masked(text: str, environment: Mapping[str, str]) -> str:
    """A text without what an environment keeps secret."""
    for name, value in environment.items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    return text


class Worker:
    """One process and the questions that it is asked. `end` must be awaited in the end.

    Args:
        process: started by `command`.
        environment: of the process; what it keeps secret is not logged.

    Attributes:
        ended: nothing can come from it any more.
    """

    def __init__(self, process: Process, environment: Mapping[str, str]) -> None:
        self._process = process
        self._environment = environment
        self._numbers = itertools.count(1)
        loop = asyncio.get_running_loop()
        self._hello: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._why = ""
        self.ended = False
        self._ending = False
        self._reader = asyncio.create_task(self._read())

    async def greet(self) -> None:
        """Wait until it has imported what it needs."""
        try:
            said = await within(START_SECONDS, self._hello)
        except asyncio.TimeoutError as error:
            raise WorkerEnded(f"not ready after {START_SECONDS:g} s") from error
        if said.get("problem"):
            log.info("models cannot be asked: %s", said.get("detail"))

    async def ask(self, kind: str, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request and wait for what is said to it.

        Raises:
            WorkerEnded: it died, or did not answer in time and was ended.
        """
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            if self.ended:
                raise WorkerEnded(self._why)
            self._send({"id": number, "ask": kind, **request})
            said = await within(seconds, asyncio.shield(answer))
        except asyncio.TimeoutError as error:
            await uninterrupted(self.end(deaf=True))
            raise WorkerEnded(f"no answer after {seconds:g} s") from error
        except asyncio.CancelledError:
            await uninterrupted(self._cancel(number, answer))
            raise
        finally:
            self._waiting.pop(number, None)
            answer.cancel()
        if said.get("cancelled"):  # not by us: the worker is closing
            raise WorkerEnded("it was ended")
        return said

    async def _cancel(self, number: int, answer: asyncio.Future[dict[str, Any]]) -> None:
        """Have a connection closed; a worker that does not is ended, and its connections with it."""
        self._send({"cancel": number})
        done, _ = await asyncio.wait({answer}, timeout=CANCEL_SECONDS)
        if not done:
            await self.end(deaf=True)
        elif not answer.cancelled():
            answer.exception()  # it ended meanwhile: that closes connections, too

    async def end(self, *, deaf: bool = False) -> None:
        """Let it close its connections and end; kill it if it does not, at once if it is known not to hear."""
        self._ending = True
        self._process.close_stdin()
        try:
            await within(0.1 if deaf or not self._hello.done() else END_SECONDS, self._process.wait())
        except asyncio.TimeoutError:
            log.debug("the model worker is killed")
        await self._process.kill_tree()
        self._reader.cancel()
        self._fail("it was ended")

    def _send(self, message: Mapping[str, Any]) -> None:
        self._process.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        try:
            stream = self._process.stdout
            while stream is not None and (line := await stream.readline()):
                message = json.loads(line)
                if "ready" in message:
                    if not self._hello.done():
                        self._hello.set_result(message)
                    continue
                answer = self._waiting.get(message["id"])
                if answer is not None and not answer.done():
                    answer.set_result(message)
            why = "its output ended"
        except (ValueError, KeyError, TypeError) as error:
            why = f"it wrote something else than replies ({type(error).__name__})"
        self._fail(why)
        if self._ending:
            return
        await self._process.drained()
        if said := self._process.stderr_tail().strip():
            log.warning("the model worker's last words: %s", masked(said[-2_000:], self._environment))

    def _fail(self, why: str) -> None:
        code = self._process.returncode
        self._why = why if code is None else f"{why}, status {code}"
        self.ended = True
        for future in (self._hello, *self._waiting.values()):
            if not future.done():
                future.set_exception(WorkerEnded(self._why))
                future.exception()  # nobody need be waiting
