"""How does the server talk with one probe process?

Messages out, one JSON object a line; records in, sorted by the run they belong to. The zygote serves many runs by
forking; any other process serves exactly one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Mapping
from typing import Any

from regreen.errors import OracleFailed
from regreen.oracle import records, seals
from regreen.oracle.backend import Link, Mode
from regreen.oracle.records import Held, ProbeFacts, Record
from regreen.oracle.seals import Seal
from regreen.platform.waiting import uninterrupted, within

log = logging.getLogger(__name__)

HELLO_SECONDS = 60.0
"""How long an interpreter may take to start; its own site customisations run before the probe."""
KILL_SECONDS = 3.0
"""How long the host may take to tell that a run which was killed has ended."""
BY_SIGNAL = 128
"""What is added to the number of a signal where an exit status tells of it."""
CHECK_SECONDS = 60.0
"""How long a process may take to say what it holds; it answers between two of the modules that it imports ahead."""
ONLY_RUN = 1
"""The id of the run of a process that serves just one."""


class ProbeEnded(OracleFailed):
    """The process on the other side is gone, or what it says is not the protocol."""


class Channel:
    """One probe process. Made by `open_channel`; `close` must be awaited in the end.

    Attributes:
        link: leads to it.
        mode: what it is for.
        facts: what its `hello` said.
        numbers: the ids of its runs.
    """

    def __init__(self, link: Link, mode: Mode) -> None:
        self.link = link
        self.mode = mode
        self.numbers = itertools.count(ONLY_RUN)
        self._hello: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._runs: dict[int, Run] = {}
        self._unused = asyncio.Event()
        self._unused.set()
        self._why = ""
        self._reader = asyncio.create_task(self._read())
        self.facts: ProbeFacts

    @property
    def ended(self) -> bool:
        """Whether nothing can come from the other side any more."""
        return self._reader.done()

    def last_words(self) -> str:
        """Why the channel ended and what its process wrote last, for the journal."""
        code = self.link.returncode
        state = "still runs" if code is None else f"ended with status {code}"
        said = self.link.stderr_tail().strip()
        return "; ".join(part for part in (f"the probe {state}", self._why, said[-2_000:]) if part)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message; lost when the process is gone, which the reader tells."""
        self.link.write(json.dumps(message).encode() + b"\n")

    async def greet(self) -> None:
        """Wait for the `hello`.

        Raises:
            ProbeEnded: the process ended or said something else.
        """
        try:
            self.facts = records.facts(await within(HELLO_SECONDS, self._hello))
            if self.facts.isolation is not None and self.facts.isolation.wrapper:
                self.link.has_inside = True  # the host has moved
        except asyncio.TimeoutError as error:
            raise ProbeEnded(f"no hello after {HELLO_SECONDS:g} s: {self.last_words()}") from error

    def listen(self, run: Run) -> None:
        """Give a run its records from now on; None when nothing more can come."""
        self._runs[run.number] = run
        self._unused.clear()
        if self.ended:
            run.hear(None)

    def forget(self, run: int) -> None:
        """Drop what still comes for a run."""
        self._runs.pop(run, None)
        if not self._runs:
            self._unused.set()

    @property
    def once(self) -> bool:
        """Whether it serves one run, whose id is `ONLY_RUN`, and then ends."""
        return self.mode is not Mode.HOST

    @property
    def busy(self) -> bool:
        """Whether anyone listens to a run."""
        return bool(self._runs)

    async def unused(self) -> None:
        """Wait until nobody listens to a run."""
        await self._unused.wait()

    async def check(self) -> Held:
        """Ask what it holds.

        Raises:
            ProbeEnded: it does not answer.
        """
        asking = Run(self)
        asking.send({"op": "check"})
        try:
            record = await asking.record(CHECK_SECONDS)
            if record.get("ev") == "ended":
                raise ProbeEnded(self.last_words())
            return records.held(record)
        except asyncio.TimeoutError as error:
            raise ProbeEnded(f"no answer after {CHECK_SECONDS:g} s: {self.last_words()}") from error
        finally:
            asking.forget()

    async def _read(self) -> None:
        stdout = self.link.stdout
        try:
            while stdout is not None and (line := await stdout.readline()):
                self._sort(line)
        except (OracleFailed, ValueError) as error:  # ValueError: a line longer than MAX_LINE
            self._why = str(error)
        finally:
            await self._say_the_end()

    def _sort(self, text: bytes) -> None:
        line = seals.taken_apart(text)
        owner = line.owners[-1] if line.owners else ONLY_RUN if self.once else None
        if not self._hello.done() or owner is None:
            self._hear_host(records.parse(line.text))
            return
        run = self._runs.get(owner)
        if run is None:
            return
        record = seals.genuine(line, owner, run.seal)
        if record is None:
            run.hear({"id": owner, "ev": "forged"})
        elif record.get("id") == owner:
            run.hear(record)
        else:  # a parked run, of its forks
            hot = self._runs.get(records.need(record, "id", int))
            if hot is not None and hot.park == owner:
                hot.hear(record)

    def _hear_host(self, record: Record) -> None:
        if not self._hello.done():
            if record.get("ev") != "hello":
                raise OracleFailed(f"the probe's first record is {record.get('ev')!r}, not hello")
            self._hello.set_result(record)
            return
        run = self._runs.get(records.need(record, "id", int))
        if run is not None:
            run.hear(record)

    async def _say_the_end(self) -> None:
        if not self._why:
            await asyncio.wait({asyncio.ensure_future(self.link.wait())}, timeout=KILL_SECONDS)
            await self.link.drained()
        if not self._hello.done():
            self._hello.set_exception(ProbeEnded(f"no hello: {self.last_words()}"))
            self._hello.exception()  # heard, even if nobody waits any more
        code = self.link.returncode
        for run in self._runs.values():
            if self.once and not self._why and code is not None:
                run.hear({"id": ONLY_RUN, "ev": "ended", **_end(code, inside=self.link.has_inside)})
            run.hear(None)

    async def close(self) -> None:
        """End the process and all it started; safe to call twice."""
        self._reader.cancel()
        await self.link.kill_tree()
        await asyncio.wait({self._reader})


def _end(code: int, *, inside: bool) -> Record:
    """How a process ended, by its exit status; `inside`: that of one which tells of another's."""
    if inside and code > BY_SIGNAL:
        return {"code": None, "signal": code - BY_SIGNAL}
    return {"code": code, "signal": None} if code >= 0 else {"code": None, "signal": -code}


async def open_channel(link: Link, mode: Mode, ahead: Mapping[str, Any] | None = None) -> Channel:
    """Talk with a probe that was just started; wait for its hello.

    Args:
        link: leads to it; ended where this raises.
        mode: what it is for.
        ahead: a message that it gets before its hello: the `preload` of one that is to wait.

    Raises:
        ProbeEnded: no hello came.
    """
    channel = Channel(link, mode)
    try:
        if ahead is not None:
            channel.send(ahead)
        await channel.greet()
    except BaseException:
        await uninterrupted(channel.close())
        raise
    return channel


class Run:
    """One run in a probe process.

    Args:
        channel: the process.

    Attributes:
        number: its id in the process.
        seal: proves its records.
        park: the parked run that it is a fork of, once it was sent.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.number = ONLY_RUN if channel.once else next(channel.numbers)
        self.seal = Seal()
        self.park: int | None = None
        self._records: asyncio.Queue[Record | None] = asyncio.Queue()
        channel.listen(self)

    def hear(self, record: Record | None) -> None:
        """A record came; None when no more can."""
        self._records.put_nowait(record)

    async def record(self, seconds: float) -> Record:
        """The next record.

        Raises:
            asyncio.TimeoutError: none came in time.
            ProbeEnded: none will come any more.
        """
        if self._records.empty():
            record = await within(seconds, self._records.get())
        else:
            record = self._records.get_nowait()
        if record is None:
            self._records.put_nowait(None)
            raise ProbeEnded(self.channel.last_words())
        return record

    @property
    def waits(self) -> bool:
        """Whether nothing was heard of it that has not been taken."""
        return self._records.empty()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message about this run; one that starts it carries the key of its seals."""
        self.park = message.get("park") if message["op"] in {"hot", "batch"} else self.park
        key = {"key": self.seal.key.hex()} if message["op"] in {"run", "hot", "batch"} else {}
        self.channel.send({**message, **key, "id": self.number})

    def ask_for_stack(self) -> None:
        """Ask where the run is; a `stack` follows if it can answer."""
        self.send({"op": "dump"})

    async def kill(self, pid: int) -> None:
        """End the run's process and all below it, and wait until they are gone.

        Args:
            pid: of the run's process; 0 when it has not told yet.
        """
        if self.channel.once:
            await self.channel.close()
            return
        if pid:
            await self.channel.link.kill_branch(pid)
        self.send({"op": "kill"})
        loop = asyncio.get_running_loop()
        deadline = loop.time() + KILL_SECONDS
        try:
            while (await self.record(deadline - loop.time())).get("ev") != "ended":
                pass
        except (asyncio.TimeoutError, ProbeEnded):
            log.warning("the probe did not end a run: %s", self.channel.last_words())
            await self.channel.close()

    def forget(self) -> None:
        """Nobody listens any more."""
        self.channel.forget(self.number)
