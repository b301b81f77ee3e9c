"""The client against a scripted other side: a real process over real pipes that says what a test wants.

What the real probe does with real projects is tested in tests/oracle.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from regreen.errors import EnvironmentProblem, OracleFailed
from regreen.oracle import backend, channel, client, drive, zygote
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.platform import processes
from regreen.platform.processors import MOST
from regreen.settings import Settings
from regreen.values import (
    CanaryPoint,
    FileEntry,
    Interpreter,
    Isolation,
    Project,
    Rung,
    RunReport,
    RunRequest,
    Snapshot,
    TestStatus,
    WorkingCopy,
)

MAIN = """
import hashlib, json, os, subprocess, sys, time

def main(mode):
    keys, numbers = {}, {}

    out, inp = os.fdopen(os.dup(1), "w"), os.fdopen(os.dup(0))
    os.dup2(2, 1)
    log = open(os.environ["PROBE_LOG"], "a")

    def say(text):
        out.write(text + "\\n")
        out.flush()

    def send(ev, **fields):
        text, id = json.dumps({"ev": ev, **fields}), fields["id"]
        if ev != "ended" and id in keys:
            numbers[id] += 1
            sealed = b"%d " % numbers[id] + text.encode()
            text = hashlib.blake2b(sealed, key=bytes.fromhex(keys[id]), digest_size=16).hexdigest() + " " + text
            text = text if mode == "run" else "%d %s" % (id, text)
        say(text)

    def receive():
        line = inp.readline()
        if not line:
            sys.exit(0)
        log.write(line)
        log.flush()
        message = json.loads(line)
        if message["op"] == "check":
            if not os.path.exists(os.environ["SCENARIO"] + ".deaf"):
                send("checked", id=message["id"], changed="", memory=0)
            return receive()
        if "key" in message:
            keys[message["id"]], numbers[message["id"]] = message["key"], -1
        return message

    def run():
        while True:
            message = receive()
            if message["op"] == "run":
                return message
            if message["op"] == "kill":
                send("ended", id=message["id"], code=None, signal=9)

    def hello(**fields):
        say(json.dumps({"ev": "hello", "v": 1, "python": [3, 11, 7], "executable": "x", "pytest": "8.0",
                        "fork": True, "isolation": {"level": "none", "leaks": [], "why": "", "wrapper": []}, "prefix": "x", "roots": []} | fields))

    def started(id, pid=None, isolation="none"):
        pid = pid or subprocess.Popen(["sleep", "3600"], start_new_session=True).pid
        send("started", id=id, pid=pid, isolation=isolation)
        return pid

    def collected(id, *ids):
        send("collected", id=id, ids=ids, deselected=0,
             places={i: [os.environ["COPY"] + "/test_a.py", 3] for i in ids})

    def passed(id, nodeid):
        send("test", id=id, nodeid=nodeid, outcome="passed", phases={p: "passed" for p in ("setup", "call", "teardown")}, seconds=0.0, markers=[], failure=None,
             path=os.environ["COPY"] + "/test_a.py", line=3, lines={})

    def finished(id, **fields):
        said = {"exit": 0, "origins": [], "replaced": [], "foreign": [], "loaded": [], "seconds": 0.0} | fields
        send("finished", id=id, **said)
        send("ended", id=id, code=0, signal=None)

    exec(open(os.environ["SCENARIO"]).read(), dict(locals(), **globals()))
"""


class Lease:
    """Leases one folder, again and again."""

    def __init__(self, copy: WorkingCopy) -> None:
        self.copy = copy
        self.leased = 0
        self.folder = copy.copy_root.parent

    async def sync(self, unsaved: Mapping[Path, bytes]) -> Snapshot:
        raise NotImplementedError

    async def read(self, snapshot: Snapshot, path: Path) -> bytes:
        raise NotImplementedError

    @asynccontextmanager
    async def lease(
        self, snapshot: Snapshot, overlay: Mapping[Path, bytes], *, fresh: bool = False
    ) -> AsyncIterator[WorkingCopy]:
        self.leased += 1
        try:
            yield self.copy
        finally:
            self.leased -= 1

    async def close(self) -> None:
        return


class Stage:
    """A scripted probe, an oracle that talks with it, and what was said to it."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        probe = tmp_path / "probe" / "regreen_probe"
        probe.mkdir(parents=True)
        (probe / "__init__.py").touch()
        (probe / "main.py").write_text(MAIN)
        monkeypatch.setattr(backend, "PROBE", probe.parent)
        self.root = tmp_path / "user" / "shop"
        self.copy = tmp_path / "copy" / "shop"
        (tmp_path / "temp").mkdir()
        self.copy.mkdir(parents=True)
        self.scenario = tmp_path / "scenario.py"
        self.log = tmp_path / "log"
        self.log.touch()
        self.project = Project(self.root, self.root)
        self.mirror = Lease(WorkingCopy(self.copy, tmp_path / "temp", ((self.root, self.copy),)))
        self.snapshot = Snapshot(
            self.project, 1, {self.root / "a.py": FileEntry("d1", 1, 0o644)}, (self.root,)
        )
        self.environment = {
            **os.environ,
            "SCENARIO": str(self.scenario),
            "PROBE_LOG": str(self.log),
            "COPY": str(self.copy),
        }
        self.oracle = self.make()

    def make(
        self, *, pytest_version: str | None = "8.0", kind: str = "pytest", **settings: Any
    ) -> ProbeOracle:
        project = Project(self.root, self.root, kind=kind)
        interpreter = Interpreter(Path(sys.executable), (3, 11, 7), pytest_version, "test")
        return ProbeOracle(
            project, interpreter, LocalBackend(self.mirror), Settings(**settings), self.environment
        )

    def play(self, text: str) -> None:
        self.scenario.write_text(textwrap.dedent(text))

    async def run(self, *nodeids: str, **fields: Any) -> RunReport:
        return await self.oracle.run(RunRequest(self.snapshot, nodeids, **fields))

    def answer_no_more(self) -> None:
        """Let the other side leave open what it holds."""
        Path(f"{self.scenario}.deaf").touch()

    def heard(self, op: str = "") -> list[dict[str, Any]]:
        messages = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [message for message in messages if not op or message["op"] == op]


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    stage = Stage(tmp_path, monkeypatch)
    yield stage
    await stage.oracle.close()
    assert processes.alive() == frozenset()
    assert stage.mirror.leased == 0


SERVE = """
    hello()
    while True:
        id = run()["id"]
        started(id)
        collected(id, "t::a")
        send("begin", id=id, nodeid="t::a")
        passed(id, "t::a")
        finished(id)
"""


def pids_in(path: Path) -> list[int]:
    return [int(pid) for pid in path.read_text().split()] if path.exists() else []


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_one_zygote_serves_many_runs(stage: Stage) -> None:
    stage.play(SERVE)
    first, second = await asyncio.gather(stage.run("t::a"), stage.run("t::a"))
    third = await stage.run("t::a")
    for report in (first, second, third):
        assert [o.status for o in report.outcomes.values()] == [TestStatus.PASSED]
        assert report.exit_status == 0
        assert report.problem == ""
    assert [message["id"] for message in stage.heard("run")] == [1, 2, 3]
    assert len(processes.alive()) == 1


async def test_the_run_message_is_the_golden_one(tmp_path: Path, stage: Stage) -> None:
    partial = "hello(isolation={'level': 'partial', 'leaks': [], 'why': '', 'wrapper': []})"
    stage.play(SERVE.replace("hello()", partial))
    (tmp_path / "user" / "lib").mkdir(parents=True)
    stage.mirror.copy = WorkingCopy(
        stage.copy,
        tmp_path / "temp",
        ((stage.root, stage.copy), (tmp_path / "user/lib", tmp_path / "copy/lib")),
        tmp_path / "copy/bytecode",
    )
    stage.root.mkdir()
    stage.snapshot = replace(
        stage.snapshot,
        project=Project(stage.root, stage.root.parent),
        beneath=(stage.root / ".venv",),
    )
    (stage.root / "settings.env").write_text("STAGE=test")
    services = ("127.0.0.1:5432", "6379", "/run/postgresql/.s.PGSQL.5432")
    stage.oracle = stage.make(env_file="settings.env", services=services)
    await stage.run(
        "tests/test_cart.py::test_total",
        leave_out=("tests/test_cart.py::test_hang",),
        overlay={stage.root / "src/cart.py": b""},
        spectrum=True,
        known_red=("tests/test_cart.py::test_tax",),
        canaries=(CanaryPoint(stage.root / "src/cart.py", 11),),
        observe=(CanaryPoint(stage.root / "src/cart.py", 11),),
        observe_during=("tests/test_cart.py::test_total",),
        compare=({stage.root / "src/cart.py": b"def total(prices):\n    return sum(prices)\n"},),
        synthesise=(CanaryPoint(stage.root / "src/cart.py", 11),),
    )
    golden = json.loads((Path(__file__).parents[2] / "golden/wire/request.jsonl").read_text().splitlines()[0])
    text = json.dumps(stage.heard("run")[0])
    text = text.replace(f"{tmp_path}/copy", "/copy").replace(f"{tmp_path}/user", "/home/ann")
    told = json.loads(text.replace(f"{tmp_path}/temp", "/copy/temp"))
    assert len(bytes.fromhex(told["key"])) == 16
    told["key"] = golden["key"]
    assert told == golden


async def test_unpatched_runs_may_keep_bytecode_and_patched_ones_may_not(stage: Stage) -> None:
    stage.play(SERVE)
    await stage.run("t::a")
    await stage.run("t::a", overlay={stage.root / "a.py": b""})
    await stage.run("t::a", canaries=(CanaryPoint(stage.root / "a.py", 0),))
    assert [message["confine"]["keep_bytecode"] for message in stage.heard("run")] == [True, False, False]


AT = "hello(isolation={{'level': '{}', 'leaks': [], 'why': 'the kernel is old', 'wrapper': []}})"


async def test_who_asks_for_more_isolation_than_there_is_gets_no_run(stage: Stage) -> None:
    stage.play(SERVE.replace("hello()", AT.format("partial")))
    oracle = stage.make(isolation="full")
    with pytest.raises(
        EnvironmentProblem, match="cannot be fully isolated on this machine: the kernel is old"
    ):
        await oracle.run(RunRequest(stage.snapshot, ("t::a",)))
    assert stage.heard("run") == []
    await oracle.close()


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({}, "full"),
        ({"isolation": "none"}, "none"),
        ({"isolation": "full"}, "full"),
        ({"network": True}, "full"),
    ],
)
async def test_a_run_is_confined_as_the_settings_say(
    stage: Stage, settings: dict[str, Any], level: str
) -> None:
    stage.play(SERVE.replace("hello()", AT.format("full")))
    oracle = stage.make(**settings)
    await oracle.run(RunRequest(stage.snapshot, ("t::a",)))
    [message] = stage.heard("run")
    assert message["confine"]["level"] == level
    assert message["confine"]["network"] is settings.get("network", False)
    await oracle.close()


async def test_with_the_network_allowed_a_run_is_not_called_fully_isolated(stage: Stage) -> None:
    stage.play(
        SERVE.replace("hello()", AT.format("full")).replace("started(id)", "started(id, isolation='full')")
    )
    for network, said in ((False, "full"), (True, "partial")):
        oracle = stage.make(network=network)
        report = await oracle.run(RunRequest(stage.snapshot, ("t::a",)))
        assert report.isolation == said
        await oracle.close()


async def test_a_run_that_could_not_be_confined_is_no_run(stage: Stage) -> None:
    stage.play("""
        hello()
        id = run()["id"]
        say("%d %s" % (id, json.dumps({"ev": "unconfined", "id": id, "why": "the mount of /x is refused"})))
        send("ended", id=id, code=1, signal=None)
        run()
    """)
    with pytest.raises(OracleFailed, match="the mount of /x is refused"):
        await stage.run("t::a")


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        (
            "sys.stderr.write('cannot import x'); sys.exit(4)",
            r"no hello: the probe ended with status 4; cannot import x",
        ),
        ("os.kill(os.getpid(), 9)", r"status -9"),
        ("say('Hello!')", r"not JSON: b'Hello!"),
        ("send('begin', id=1)", r"first record is 'begin'"),
        ("hello(v=2)", r"speaks version 2"),
        ("hello(fork='yes')", r"fork = 'yes'"),
    ],
)
async def test_a_probe_that_does_not_greet_is_a_failure_with_its_last_words(
    stage: Stage, scenario: str, why: str
) -> None:
    stage.play(scenario)
    with pytest.raises(OracleFailed, match=why):
        await stage.run("t::a")
    assert processes.alive() == frozenset()


async def test_a_probe_that_never_greets_is_given_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "HELLO_SECONDS", 0.2)
    stage.play("time.sleep(3600)")
    with pytest.raises(OracleFailed, match=r"no hello after 0\.2 s"):
        await stage.run("t::a")
    assert processes.alive() == frozenset()


async def test_a_zygote_that_dies_is_replaced_once_within_a_run(stage: Stage) -> None:
    stage.play(
        """
        hello()
        id = run()["id"]
        started(id)
        died = os.environ["SCENARIO"] + ".count"
        count = len(open(died).read()) if os.path.exists(died) else 0
        open(died, "a").write("x")
        if count % 2 == 0:
            sys.stderr.write("segfault in the zygote")
            sys.stderr.flush()
            os.kill(os.getpid(), 11)
        collected(id, "t::a")
        passed(id, "t::a")
        finished(id)
        run()
        """
    )
    report = await stage.run("t::a")
    assert list(report.outcomes) == ["t::a"]
    assert len(stage.heard("run")) == 2


async def test_a_zygote_that_dies_twice_in_a_run_is_a_failure_but_the_next_run_tries_again(
    stage: Stage,
) -> None:
    stage.play("hello(); run(); sys.stderr.write('last words'); sys.exit(7)")
    with pytest.raises(OracleFailed, match="status 7; last words"):
        await stage.run("t::a")
    assert len(stage.heard("run")) == 2
    stage.play(SERVE)
    assert list((await stage.run("t::a")).outcomes) == ["t::a"]


@pytest.mark.parametrize("line", ["garbage", '{"id": 1}', '{"id": 1, "ev": "test"}', '{"ev": "begin"}'])
async def test_nonsense_in_a_run_is_a_failure_and_leaves_nothing(stage: Stage, line: str) -> None:
    stage.play(
        f"hello()\nwhile True:\n  r = run()\n  pid = started(r['id'])\n  say({line!r}.replace('1', str(r['id'])))"
    )
    with pytest.raises(OracleFailed):
        await stage.run("t::a")


async def test_without_fork_every_run_is_its_own_process(stage: Stage) -> None:
    stage.play(
        """
        hello(fork=False)
        if mode == "run":
            r = run()
            started(r["id"], os.getpid())
            collected(r["id"], "t::a")
            passed(r["id"], "t::a")
            send("finished", id=r["id"], exit=0, origins=[], replaced=[], foreign=[], loaded=["a.py"], seconds=0.0)
            sys.exit(0)
        receive()
        """
    )
    for _ in range(2):
        report = await stage.run("t::a")
        assert report.exit_status == 0
        assert report.problem == ""
    assert [message["id"] for message in stage.heard("run")] == [1, 1]
    (host,) = processes.alive()
    assert await asyncio.wait_for(host.wait(), 60) == 0  # it reads the end of its input
    assert not stage.heard("precompile")


async def test_a_cold_run_takes_nothing_from_the_zygote_but_how_runs_are_confined(stage: Stage) -> None:
    told = "{'level': 'partial', 'leaks': [], 'why': '', 'wrapper': []}"
    stage.play(
        f"if mode == 'host':\n    hello(isolation={told})\n    receive()\n    raise AssertionError\n"
        + textwrap.dedent(SERVE)
    )
    for _ in range(2):
        assert list((await stage.run("t::a", rung=Rung.COLD)).outcomes) == ["t::a"]
    assert [message["confine"]["level"] for message in stage.heard("run")] == ["partial", "partial"]
    assert len(processes.alive()) == 1


@pytest.mark.parametrize("rung", Rung)
async def test_cancelling_ends_the_runs_processes_and_keeps_the_zygote(stage: Stage, rung: Rung) -> None:
    stage.play(
        "hello()\nwhile True:\n  r = run()\n  pid = started(r['id'])\n  open(os.environ['SCENARIO'] + '.pid', 'a').write(f'{pid} ')"
    )
    note = Path(f"{stage.scenario}.pid")
    for number in (1, 2):
        task = asyncio.create_task(stage.run("t::a", rung=rung))
        while len(pids_in(note)) < number:  # noqa: ASYNC110 — a file tells
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert all(gone(pid) for pid in pids_in(note))
        assert stage.mirror.leased == 0
    assert len(processes.alive()) == 1


async def test_a_host_that_does_not_end_a_run_is_ended_itself(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "KILL_SECONDS", 0.1)
    stage.play(
        "hello()\nr = run()\nstarted(r['id'])\ncollected(r['id'], 't::a')\nsend('begin', id=r['id'], nodeid='t::a')\ntime.sleep(3600)"
    )
    report = await stage.run("t::a", seconds_per_test=0.1)
    assert report.outcomes["t::a"].status is TestStatus.TIMEOUT
    assert processes.alive() == frozenset()


HANG = """
    hello()
    while True:
        message = receive()
        if message["op"] == "run":
            id, args = message["id"], message["args"]
            started(id)
            collected(id, *args)
            for nodeid in args:
                send("begin", id=id, nodeid=nodeid)
                if "hang" in nodeid:
                    break
                passed(id, nodeid)
            else:
                finished(id)
        elif message["op"] == "dump":
            send("stack", id=id, nodeid=nodeid, lines={os.environ["COPY"] + "/a.py": [4]}, frames=[
                {"path": os.environ["COPY"] + "/a.py", "line": 4, "function": "f", "own": True, "locals": []}])
        elif message["op"] == "kill":
            send("ended", id=id, code=None, signal=9)
"""


async def test_a_test_that_hangs_costs_only_itself(stage: Stage) -> None:
    stage.play(HANG)
    report = await stage.run("t::a", "t::hang1", "t::b", "t::hang2", "t::c", seconds_per_test=0.2)
    assert {nodeid: o.status.value for nodeid, o in report.outcomes.items()} == {
        "t::a": "passed",
        "t::hang1": "timeout",
        "t::b": "passed",
        "t::hang2": "timeout",
        "t::c": "passed",
    }
    assert report.collected == ("t::a", "t::hang1", "t::b", "t::hang2", "t::c")
    assert [message["args"] for message in stage.heard("run")][1:] == [["t::b", "t::hang2", "t::c"], ["t::c"]]
    failure = report.outcomes["t::hang1"].failure
    assert failure is not None
    assert (failure.exception, failure.message) == ("Timeout", "still running after 0.2 s")
    assert (failure.path, failure.line) == (stage.root / "test_a.py", 2)
    assert [(f.path, f.line, f.function) for f in failure.frames] == [(stage.root / "a.py", 3, "f")]
    assert report.spectrum.lines["t::hang1"] == {stage.root / "a.py": {3}}
    assert (report.problem, report.exit_status) == ("", 1)
    temps = [Path(message["temp"]) for message in stage.heard("run")]
    assert len(set(temps)) == 3


async def test_what_a_process_wrote_belongs_to_its_own_run(stage: Stage) -> None:
    stage.play(
        """
        hello()
        while True:
            r = run()
            started(r["id"])
            collected(r["id"])
            sys.stderr.write(f"run {r['id']}\\n")
            sys.stderr.flush()
            time.sleep(0.1)
            finished(r["id"])
        """
    )
    assert (await stage.run()).stderr == "run 1\n"
    assert (await stage.run()).stderr == "run 2\n"


async def test_the_first_failure_ends_the_run_when_asked(stage: Stage) -> None:
    stage.play(HANG)
    report = await stage.run("t::hang", "t::b", seconds_per_test=0.1, stop_at_first_failure=True)
    assert list(report.outcomes) == ["t::hang"]
    assert len(stage.heard("run")) == 1


async def test_too_many_hanging_tests_end_the_run_with_a_problem(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MOST_PROCESSES", 3)
    stage.play(HANG)
    report = await stage.run(*(f"t::hang{n}" for n in range(10)), seconds_per_test=0.05)
    assert len(report.outcomes) == 3
    assert report.problem == "given up after 3 tests that hang or end their process"


async def test_a_test_that_ends_while_its_stack_is_asked_for_is_not_blamed(stage: Stage) -> None:
    stage.play(
        """
        hello()
        id = run()["id"]
        started(id)
        collected(id, "t::a", "t::b")
        send("begin", id=id, nodeid="t::a")
        while receive()["op"] != "dump":
            pass
        passed(id, "t::a")
        send("begin", id=id, nodeid="t::b")
        passed(id, "t::b")
        finished(id)
        run()
        """
    )
    report = await stage.run("t::a", "t::b", seconds_per_test=0.3)
    assert [o.status for o in report.outcomes.values()] == [TestStatus.PASSED] * 2


async def test_the_limit_of_the_whole_run_is_a_problem_and_blames_no_test(stage: Stage) -> None:
    stage.play(HANG)
    report = await stage.run("t::a", "t::hang", seconds=0.5)
    assert list(report.outcomes) == ["t::a"]
    assert report.problem == "the run took longer than 0.5 s"


async def test_an_import_that_hangs_says_where(stage: Stage) -> None:
    stage.play(
        """
        hello()
        id = run()["id"]
        started(id)
        while receive()["op"] != "dump":
            pass
        send("stack", id=id, nodeid="", lines={}, frames=[
            {"path": os.environ["COPY"] + "/conftest.py", "line": 9, "function": "f", "own": True, "locals": []},
            {"path": "/usr/lib/socket.py", "line": 1, "function": "connect", "own": False, "locals": []}])
        receive()
        send("ended", id=id, code=None, signal=9)
        run()
        """
    )
    report = await stage.run("t::a", import_seconds=0.1)
    assert report.problem == "import and collection took longer than 0.1 s, at conftest.py:9"
    assert report.outcomes == {}


async def test_silence_after_the_last_test_is_a_problem(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "BETWEEN_SECONDS", 0.1)
    stage.play(
        "hello()\nid = run()['id']\nstarted(id)\ncollected(id, 't::a')\npassed(id, 't::a')\nwhile receive()['op'] != 'kill': pass\nsend('ended', id=id, code=None, signal=9)\nrun()"
    )
    report = await stage.run("t::a")
    assert list(report.outcomes) == ["t::a"]
    assert report.problem == "nothing happened for 0.1 s after t::a"


async def test_a_process_that_does_not_end_after_it_finished_is_ended_without_a_word(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "EXIT_SECONDS", 0.1)
    stage.play(
        "hello()\nr = run()\nstarted(1, os.getpid())\ncollected(1, 't::a')\npassed(1, 't::a')\nsend('finished', id=1, exit=0, origins=[], replaced=[], foreign=[], loaded=[], seconds=0)\ntime.sleep(3600)"
    )
    report = await stage.run("t::a", rung=Rung.COLD)
    assert (report.problem, report.exit_status) == ("", 0)
    assert len(processes.alive()) == 1


CRASH = """
    hello()
    r = run()
    started(1, os.getpid())
    collected(1, *r["args"])
    for nodeid in r["args"]:
        send("begin", id=1, nodeid=nodeid)
        if "crash" in nodeid:
            os._exit(3)
        if "segv" in nodeid:
            os.kill(os.getpid(), 11)
        passed(1, nodeid)
        if "between" in nodeid:
            os._exit(0)
    send("finished", id=1, exit=0, origins=[], replaced=[], foreign=[], loaded=[], seconds=0)
"""


async def test_a_test_that_ends_its_process_costs_only_itself(stage: Stage) -> None:
    stage.play(CRASH)
    report = await stage.run("t::a", "t::crash", "t::b", "t::segv", rung=Rung.COLD)
    assert [o.status.value for o in report.outcomes.values()] == ["passed", "crashed", "passed", "crashed"]
    messages = [failure.message for failure in report.failures]
    assert messages == [
        "the process ended inside this test (exit status 3)",
        "the process ended inside this test (signal SIGSEGV)",
    ]
    assert all(failure.exception == "Crash" for failure in report.failures)
    assert report.problem == ""


async def test_an_end_between_tests_is_a_problem_but_the_others_still_run(stage: Stage) -> None:
    stage.play(CRASH)
    report = await stage.run("t::between", "t::b", rung=Rung.COLD)
    assert list(report.outcomes) == ["t::between", "t::b"]
    assert report.problem == "the process ended outside of a test (exit status 0)"
    report = await stage.run("t::a", "t::between", rung=Rung.COLD)
    assert (report.problem, report.exit_status) == (
        "the process ended outside of a test (exit status 0)",
        None,
    )


async def test_a_process_that_ends_again_before_any_test_ends_the_run(stage: Stage) -> None:
    stage.play("hello()\nr = run()\nstarted(1, os.getpid())\ncollected(1, *r['args'])\nos._exit(0)")
    report = await stage.run("t::a", "t::b", rung=Rung.COLD)
    assert report.outcomes == {}
    assert report.problem == "the process ended outside of a test (exit status 0)"


async def test_an_end_during_collection_is_a_problem_with_the_last_line(stage: Stage) -> None:
    stage.play("hello()\nrun()\nsys.stderr.write('boom\\nImportError: libx.so\\n')\nos._exit(3)")
    report = await stage.run("t::a", rung=Rung.COLD)
    assert (
        report.problem
        == "the process ended during import or collection (exit status 3): ImportError: libx.so"
    )
    assert report.stderr.startswith("boom")


async def test_what_a_run_loaded_is_compiled_once_per_content(stage: Stage) -> None:
    stage.play(
        """
        hello()
        while True:
            id = run()["id"]
            started(id)
            collected(id)
            finished(id, loaded=[os.environ["COPY"] + "/a.py", "/usr/lib/x.py"])
        """
    )
    await stage.run()
    await stage.run()
    assert (await stage.run(overlay={stage.root / "a.py": b"1"})).problem == ""
    stage.snapshot = Snapshot(
        stage.project, 2, {stage.root / "a.py": FileEntry("d2", 1, 0o644)}, (stage.root,)
    )
    await stage.run()
    await stage.run()
    file = str(stage.copy / "a.py")
    assert [message["files"] for message in stage.heard("precompile")] == [[file], [file]]
    assert [message["op"] for message in stage.heard()] == [
        "run",
        "precompile",
        "run",
        "run",
        "run",
        "precompile",
        "run",
    ]


async def test_daemons_that_tests_leave_behind_are_ended_when_nothing_runs(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote, "SWEEP_SECONDS", 0.05)
    stage.play(
        """
        hello()
        id = run()["id"]
        child = started(id)
        daemon = subprocess.check_output(["sh", "-c", "setsid sleep 3600 >/dev/null 2>&1 & echo $!"], text=True)
        open(os.environ["SCENARIO"] + ".pid", "w").write(f"{daemon.strip()} {child}")
        collected(id)
        finished(id)
        run()
        """
    )
    await stage.run()
    (host,) = processes.alive()
    daemon, child = pids_in(Path(f"{stage.scenario}.pid"))
    while not gone(daemon):  # noqa: ASYNC110 — nothing signals it
        await asyncio.sleep(0.02)
    assert host.returncode is None
    assert not gone(child)  # what the zygote has under itself is its own affair


async def test_what_an_unpatched_run_imported_is_preloaded_once(stage: Stage) -> None:
    stage.play(
        """
        hello()
        while True:
            id = run()["id"]
            started(id)
            collected(id)
            finished(id, preload={"modules": ["numpy"], "never": ["shop"]})
        """
    )
    await stage.run(overlay={stage.root / "a.py": b""})
    await stage.run()
    await stage.run()
    assert [message["op"] for message in stage.heard()] == ["run", "run", "preload", "run"]
    assert stage.heard("preload") == [{"op": "preload", "modules": ["numpy"], "never": ["shop"], "env": {}}]


async def test_a_zygote_is_asked_whether_it_is_up_to_date_and_replaced_when_it_does_not_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "CHECK_SECONDS", 1.0)
    monkeypatch.setattr(zygote, "CHECK_SECONDS", 0.0)
    stage.play(SERVE)
    await stage.run("t::a")
    before = processes.alive()
    await stage.run("t::a")
    assert stage.heard("check")
    assert processes.alive() == before
    stage.answer_no_more()
    await stage.run("t::a")
    assert processes.alive().isdisjoint(before)


@pytest.mark.parametrize(("processors", "runs"), [(1, 1), (2, 2), (64, MOST)])
async def test_no_more_runs_at_once_than_there_are_processors_and_never_many(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, processors: int, runs: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    stage.oracle = stage.make()
    stage.play("hello()\nwhile True: started(run()['id'])")
    tasks = [asyncio.create_task(stage.run("t::a")) for _ in range(MOST + 2)]
    while len(stage.heard("run")) < runs:  # noqa: ASYNC110 — a file tells
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    assert len(stage.heard("run")) == runs
    assert stage.mirror.leased == runs
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_closing_ends_everything_and_nothing_runs_after(stage: Stage) -> None:
    stage.play("hello()\nwhile True: started(run()['id'])")
    task = asyncio.create_task(stage.run("t::a"))
    while not stage.heard("run"):  # noqa: ASYNC110 — a file tells
        await asyncio.sleep(0.01)
    await stage.oracle.close()
    await stage.oracle.close()
    assert processes.alive() == frozenset()
    with pytest.raises(OracleFailed):
        await task
    with pytest.raises(OracleFailed, match="closed"):
        await stage.run("t::a")


async def test_inspect_tells_the_facts_without_a_run(stage: Stage) -> None:
    stage.play("hello(roots=['/home/ann/shop/src']); run()")
    facts = await stage.oracle.inspect()
    assert (facts.python, facts.isolation, facts.roots) == (
        (3, 11, 7),
        Isolation("none"),
        (Path("/home/ann/shop/src"),),
    )
    assert stage.heard() == []


async def test_a_missing_pytest_is_the_users_problem_and_starts_nothing(stage: Stage) -> None:
    stage.oracle = stage.make(pytest_version=None)
    with pytest.raises(EnvironmentProblem, match="pytest is not installed") as caught:
        await stage.run("t::a")
    assert "-m pip install pytest" in caught.value.hint
    stage.oracle = stage.make(pytest_version="6.2.5")
    with pytest.raises(EnvironmentProblem, match=r"pytest 6\.2\.5 .* too old"):
        await stage.run("t::a")
    assert processes.alive() == frozenset()


@pytest.mark.parametrize("kind", ["unittest", "django"])
async def test_projects_that_need_no_pytest_of_their_own_get_ours(
    stage: Stage, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(tmp_path / "cache"))
    told = "log.write(json.dumps({'op': 'argv', 'lent': json.loads(sys.argv[3])['lent']}) + chr(10)); log.flush()\n"
    stage.play(told + textwrap.dedent(SERVE))
    stage.oracle = stage.make(pytest_version=None, kind=kind)
    await stage.run("t::a")
    (message,) = stage.heard("run")
    assert message["kind"] == kind
    (folder,) = stage.heard("argv")[0]["lent"]
    assert (Path(folder) / "pytest" / "__init__.py").is_file()
    assert (Path(folder) / "pytest_django").is_dir() is (kind == "django")


async def test_an_interpreter_that_is_gone_is_the_users_problem(stage: Stage) -> None:
    stage.oracle = ProbeOracle(
        stage.project,
        Interpreter(Path("/nowhere/python"), (3, 11, 7), "8.0", "test"),
        LocalBackend(stage.mirror),
        Settings(),
    )
    with pytest.raises(EnvironmentProblem, match="/nowhere/python cannot be started: No such file"):
        await stage.run("t::a")


async def test_a_missing_env_file_is_the_users_problem(stage: Stage) -> None:
    stage.oracle = stage.make(env_file="missing.env")
    with pytest.raises(EnvironmentProblem, match=r"missing\.env cannot be read"):
        await stage.run("t::a")
