"""A confined run reaches the services that are named, and no others; how it is joined with them outlives nothing."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from .client import Copy, Probe, Ran, probe
from .environments import lacking

MUCH = 3_000_000
TALKING = f"""
import os, socket

NAMED, OTHER = int(os.environ["NAMED"]), int(os.environ["OTHER"])


def said(client, text):
    with client:
        client.sendall(text)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


def fails(attempt):
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    raise AssertionError("it worked")


def test_named():
    assert said(socket.create_connection(("127.0.0.1", NAMED)), b"x" * {MUCH}) == b"x" * {MUCH}


def test_by_name():
    assert said(socket.create_connection(("localhost", NAMED)), b"hello") == b"hello"


def test_many_at_once():
    clients = [socket.create_connection(("127.0.0.1", NAMED)) for _ in range(50)]
    for number, client in reversed(list(enumerate(clients))):
        assert said(client, b"%d" % number) == b"%d" % number


def test_other():
    assert fails(lambda: socket.create_connection(("127.0.0.1", OTHER)))
"""
BY_PATH = """

def test_path():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(os.environ["DOOR"])
        assert said(client, b"hello") == b"hello"


def test_other_path():
    with socket.socket(socket.AF_UNIX) as client:
        assert fails(lambda: client.connect(os.environ["OTHER_DOOR"])) == "FileNotFoundError"
"""
PARTIAL = """

def test_other_ways():
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        assert fails(lambda: socket.socket(socket.AF_INET, kind)) == "PermissionError"
    assert fails(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)) == "PermissionError"
    with socket.socket() as server, socket.socket(socket.AF_INET6) as six:
        assert fails(lambda: server.bind(("127.0.0.1", 0))) == "PermissionError"
        assert fails(lambda: six.connect(("::ffff:127.0.0.1", OTHER))) == "PermissionError"


def test_a_connection_by_its_first_packet():
    for port in (NAMED, OTHER):
        for send in ("sendto", "sendmsg"):
            with socket.socket() as client:
                packet = ([b"x"], [], socket.MSG_FASTOPEN, ("127.0.0.1", port))
                fails(lambda: getattr(client, send)(*(packet if send == "sendmsg" else (b"x", *packet[2:]))))
"""


def echo(server: socket.socket) -> None:
    def answer(client: socket.socket) -> None:
        with client, contextlib.suppress(ConnectionError):
            while data := client.recv(65536):
                client.sendall(data)

    with contextlib.suppress(OSError):  # closed
        while True:
            threading.Thread(target=answer, args=(server.accept()[0],)).start()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Services of the machine, two by port and two by path: all that they hear they say again."""
    doors = {"DOOR": str(tmp_path / "door"), "OTHER_DOOR": str(tmp_path / "other-door")}
    with contextlib.ExitStack() as held:
        servers = []
        for path in doors.values():
            servers.append(held.enter_context(socket.socket(socket.AF_UNIX)))
            servers[-1].bind(path)
        servers += [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        for server in servers:
            server.listen(100)
            threading.Thread(target=echo, args=(server,)).start()
        yield {
            **doors,
            **{n: str(s.getsockname()[1]) for n, s in zip(("NAMED", "OTHER"), servers[2:], strict=True)},
        }
        for server in servers:
            server.shutdown(socket.SHUT_RDWR)


def run_full(started: Probe, copy: Copy, machine: dict[str, str], host: str = "localhost", *ids: str) -> Ran:
    return started.run(copy, *ids, **asked(copy, machine, host))


def asked(copy: Copy, machine: dict[str, str], host: str = "localhost") -> dict[str, object]:
    """The fields of a run that may reach the first service of each kind."""
    fields = copy.full(services=[[host, int(machine["NAMED"])]], sockets=[machine["DOOR"]])
    return {**fields, "env": {**fields["env"], **machine}}


def needs_full(started: Probe) -> None:
    if started.hello["isolation"]["level"] != "full":
        lacking("full isolation: " + started.hello["isolation"]["why"])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_fully_isolated_run_reaches_what_is_named_and_nothing_else(
    every_python: Path, tmp_path: Path, machine: dict[str, str], host: str
) -> None:
    copy = Copy(tmp_path, {"test_it.py": TALKING + BY_PATH})
    with probe(every_python) as started:
        needs_full(started)
        ran = run_full(started, copy, machine, host)
    assert {r["nodeid"]: r["failure"] for r in ran.of("test") if r["outcome"] != "passed"} == {}
    assert len(ran.of("test")) == 6
    assert ran.one("started")["isolation"] == "full"


def test_so_does_a_run_in_a_process_of_its_own(python: Path, tmp_path: Path, machine: dict[str, str]) -> None:
    copy = Copy(tmp_path, {"test_it.py": TALKING + BY_PATH})
    with probe(python, "run") as started:
        ran = run_full(started, copy, machine)
    assert set(ran.outcomes.values()) == {"passed"}
    assert (ran.one("ended")["code"], ran.one("ended")["signal"]) == (0, None)


def test_so_does_a_hot_run(host: Probe, tmp_path: Path, machine: dict[str, str]) -> None:
    needs_full(host)
    copy = Copy(tmp_path, {"test_it.py": TALKING + BY_PATH})
    number, record = host.park(copy, **asked(copy, machine))
    assert record == {"id": number, "ev": "parked", "unfit": ""}
    for _ in range(2):
        ran = host.hot(copy, number)
        assert set(ran.outcomes.values()) == {"passed"}
    host.send({"op": "kill", "id": number})
    host.until(number, lambda r: r["ev"] == "ended")


def test_a_service_that_does_not_run_ends_the_connection(
    host: Probe, tmp_path: Path, machine: dict[str, str]
) -> None:
    needs_full(host)
    test = (
        "import os, pytest, socket\n"
        "def test_it():\n"
        "    with pytest.raises(ConnectionError):\n"
        "        with socket.create_connection(('127.0.0.1', int(os.environ['NAMED']))) as client:\n"
        "            assert client.recv(1)\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as closed:
        gone = str(closed.getsockname()[1])
    ran = run_full(host, Copy(tmp_path, {"test_it.py": test}), {**machine, "NAMED": gone})
    assert ran.outcomes == {"test_it": "passed"}


def test_a_partly_isolated_run_reaches_the_ports_that_are_named_and_no_others(
    host: Probe, tmp_path: Path, machine: dict[str, str]
) -> None:
    copy = Copy(tmp_path, {"test_it.py": TALKING + PARTIAL})
    plan = copy.confine(network=False, services=[["localhost", int(machine["NAMED"])]])
    ran = host.run(copy, confine=plan, env=machine)
    assert {r["nodeid"]: r["failure"] for r in ran.of("test") if r["outcome"] != "passed"} == {}
    assert len(ran.of("test")) == 6


HANGING = "import time\ndef test_it():\n    while True: time.sleep(0.01)\n"


def begun(started: Probe, copy: Copy, machine: dict[str, str]) -> tuple[int, list[psutil.Process]]:
    """Start a run; its number, and its relay, first process and own process."""
    number = started.begin(copy, **asked(copy, machine))
    (told,) = [r for r in started.until(number, lambda r: r["ev"] == "begin") if r["ev"] == "started"]
    first = psutil.Process(told["pid"])
    relay = first.parent()
    assert relay is not None
    assert relay.children() == [first]
    return number, [relay, first, *first.children()]


def test_a_relay_holds_nothing_but_the_sockets_of_the_services(
    host: Probe, tmp_path: Path, machine: dict[str, str]
) -> None:
    needs_full(host)
    number, (relay, *_) = begun(host, Copy(tmp_path, {"test_it.py": HANGING}), machine)
    held = {int(p.name): str(p.readlink()) for p in Path(f"/proc/{relay.pid}/fd").iterdir()}
    beyond = [target for fd, target in held.items() if fd > 2]
    assert len(beyond) == 2  # 127.0.0.1 and ::1
    assert all(target.startswith("socket:") for target in beyond)
    host.send({"op": "kill", "id": number})
    host.until(number, lambda r: r["ev"] == "ended")


@pytest.mark.parametrize("victim", ["relay", "first process"])
def test_run_and_relay_end_together(
    host: Probe, tmp_path: Path, machine: dict[str, str], victim: str
) -> None:
    needs_full(host)
    number, family = begun(host, Copy(tmp_path, {"test_it.py": HANGING}), machine)
    assert len(family) == 3
    family[["relay", "first process"].index(victim)].kill()
    assert host.until(number, lambda r: r["ev"] == "ended")[-1]["code"] != 0
    assert psutil.wait_procs(family, 5)[1] == []


def test_nothing_of_both_is_left_when_their_host_is_killed(
    python: Path, tmp_path: Path, machine: dict[str, str]
) -> None:
    with probe(python) as started:
        needs_full(started)
        family = psutil.Process(started.process.pid).children(recursive=True)
        family += begun(started, Copy(tmp_path, {"test_it.py": HANGING}), machine)[1]
        started.process.kill()
        assert psutil.wait_procs(family, 5)[1] == []


def test_a_run_behind_a_relay_tells_where_it_is(host: Probe, tmp_path: Path, machine: dict[str, str]) -> None:
    needs_full(host)
    number, _ = begun(host, Copy(tmp_path, {"test_it.py": HANGING}), machine)
    host.send({"op": "dump", "id": number})
    assert host.until(number, lambda r: r["ev"] == "stack")[-1]["nodeid"] == "test_it.py::test_it"
    host.send({"op": "kill", "id": number})
    host.until(number, lambda r: r["ev"] == "ended")


@pytest.mark.parametrize(("body", "code"), [("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", 128 + 9)])
def test_how_a_run_behind_a_relay_ended_is_told(
    host: Probe, tmp_path: Path, machine: dict[str, str], body: str, code: int
) -> None:
    needs_full(host)
    copy = Copy(tmp_path, {"test_it.py": f"import os\ndef test_it(): {body}\n"})
    ran = run_full(host, copy, machine)
    assert ran.one("ended")["code"] == code
    assert [r["signal"] for r in ran.of("fate")] == ([signal.SIGKILL] if code > 128 else [])
