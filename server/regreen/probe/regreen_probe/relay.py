"""How does a contained run reach the services that its user named, and nothing else?

Between the process that asked for the run and the run's first process stands one that stays in the machine's own
network. The first process makes listening sockets in the run's network, where the services are expected, and hands
them over; whoever connects there is joined with the service outside. The relay holds nothing else, ends as the run
does, and takes the run with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable

from regreen_probe import confine, kernel

MOST = 200
"""Connections of one run at a time; others wait."""
CONNECT_SECONDS = 10.0
CHUNK = 1 << 16
LOCALHOST = ("127.0.0.1", "::1")
_NO_IPV6 = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
_AT_ONCE = struct.pack("ii", 1, 0)  # struct linger: closing resets the connection


class Relay:
    """The relay of one run.

    Args:
        services: [host, port] …; a host is "localhost" or a loopback address.

    Attributes:
        failed: why there is no first process.
    """

    def __init__(self, services: list[list]) -> None:
        # Address in the run's network → the addresses outside, of which one has to answer.
        self.places = {(ip, port): addresses(host) for host, port in services for ip in addresses(host)}
        self.room = threading.BoundedSemaphore(MOST)
        self.failed: OSError | None = None

    def fork(self, clone: Callable[[], int]) -> int:
        """Fork the relay, which makes the run's first process.

        Args:
            clone: forks into the run's namespaces.

        Returns:
            0 in the first process, else the process id of the relay, whose exit status is the first process's. Where
            `clone` is refused, the relay itself returns 0, and `failed` says why.
        """
        parent = os.getpid()
        ours, self.theirs = socket.socketpair()
        with ours:
            relay = os.fork()
            if relay:
                self.theirs.close()
                return relay
            confine.die_with_parent(parent)
            try:
                first = clone()
            except OSError as error:
                self.failed = error
                return 0
            if first == 0:
                return 0
            try:
                self._serve(ours, first)
            finally:
                os._exit(70)

    def listen(self) -> None:
        """In the run's first process, its network being up: hand over the listening sockets.

        Raises:
            OSError: an address cannot be had.
        """
        with self.theirs:
            servers = [server for server in map(_server, self.places) if server is not None]
            socket.send_fds(self.theirs, [b"all"], [server.fileno() for server in servers])
            for server in servers:
                server.close()

    # ------------------------------------------------------------------ in the relay

    def _serve(self, ours: socket.socket, first: int) -> None:
        """Relay until the first process ends; ends this process."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGUSR1, lambda *_: os.kill(first, signal.SIGUSR1))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})  # for the threads
        kernel.close_others([ours.fileno()])
        _, fds, _, _ = socket.recv_fds(ours, CHUNK, len(self.places))
        ours.close()
        for fd in fds:
            _start(self._take, socket.socket(fileno=fd))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
        os._exit(code if code >= 0 else 128 - code)

    def _take(self, server: socket.socket) -> None:
        ip, port = server.getsockname()[:2]
        outside = [(other, port) for other in self.places[ip, port]]
        while True:
            self.room.acquire()
            _start(self._join, server.accept()[0], outside)

    def _join(self, inside: socket.socket, places: list[tuple[str, int]]) -> None:
        """Be the line between one connection of the run and the service."""
        try:
            with inside:
                outside = _connected(places)
                if outside is None:
                    inside.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                else:
                    with outside:
                        back = _start(_pump, outside, inside)
                        _pump(inside, outside)
                        back.join()
        finally:
            self.room.release()


def addresses(host: str) -> tuple[str, ...]:
    """The addresses that a host of the setting stands for, without asking anybody."""
    return LOCALHOST if host == "localhost" else (host,)


def _server(place: tuple[str, int]) -> socket.socket | None:
    """A listening socket; None where there is no IPv6."""
    six = ":" in place[0]
    try:
        return socket.create_server(place, family=socket.AF_INET6 if six else socket.AF_INET)
    except OSError as error:
        if six and error.errno in _NO_IPV6:
            return None
        raise


def _start(function: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def _connected(places: list[tuple[str, int]]) -> socket.socket | None:
    """A connection to the first of some places that answers."""
    for place in places:
        with contextlib.suppress(OSError):  # the run is told by the end of its own connection
            outside = socket.create_connection(place, CONNECT_SECONDS)
            outside.settimeout(None)
            return outside
    return None


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Move what comes from one side to the other, its end included."""
    try:
        target.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := source.recv(CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # one side is gone, so the other has to go
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
