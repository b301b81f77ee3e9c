"""How is a run put into namespaces of its own, and who looks after it there?

The first process of the namespaces makes the run's world, starts the run, and then only waits: it reaps what the run
leaves behind, adds up the memory that all of it takes, and tells how the run ended. When it goes, the kernel ends
everything inside. (clone(2), user_namespaces(7), pid_namespaces(7).)
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
from collections.abc import Callable

from regreen_probe import kernel, relay, world

NAMESPACES = kernel.NEWUSER | kernel.NEWNS | kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS
LOOK_SECONDS = 0.05
PAGE = os.sysconf("SC_PAGE_SIZE")
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40
EXCEEDED = 71
"""Exit status of a run that was ended because it took too much."""


def fork(*, network: bool) -> int:
    """Fork into new namespaces.

    Args:
        network: keep the machine's network; else there is a loopback of the run's own and nothing more.

    Returns:
        0 in the child, else its process id.

    Raises:
        OSError: in the parent: not allowed here.
    """
    return kernel.clone(NAMESPACES | (0 if network else kernel.NEWNET))


def settle(
    place: world.World,
    user: int,
    group: int,
    *,
    network: bool,
    disk: int,
    memory: int,
    processes: int,
    keep: list[int],
    tell: Callable[[dict], None],
    linked: relay.Relay | None,
) -> int:
    """In the child of `fork`: become who we were, make the run's world, and start the run in it.

    Args:
        place: what is to be seen.
        user: who we were.
        group: whose group we had.
        network: as for `fork`.
        disk: bytes that can be written.
        memory: bytes that all processes may take together.
        processes: how many there may be.
        keep: descriptors that the run needs.
        tell: sends a record; used by the first process when the run ended otherwise than by its exit status.
        linked: leads to the services that the run may reach.

    Returns:
        The process id by which the world outside knows the run. Only the run returns.

    Raises:
        OSError: the kernel refused a step.
    """
    outside = int(os.readlink("/proc/self"))
    _be(user, group)
    if not network:
        _raise_loopback()
    if linked is not None:
        linked.listen()
    place.build(disk)
    kernel.close_others(keep)
    kernel.drop_capabilities()
    run = os.fork()
    if run == 0:
        os.setpgid(0, 0)
        return outside
    status = 70
    try:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        status = _look_after(run, memory, processes, tell)
    finally:
        os._exit(status)


def _be(user: int, group: int) -> None:
    """Keep our names in the new namespace; they are the only ones there (user_namespaces(7))."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", "%d %d 1" % (user, user)),
        ("gid_map", "%d %d 1" % (group, group)),
    ):
        fd = os.open("/proc/self/" + name, os.O_WRONLY)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


def _look_after(run: int, memory: int, most: int, tell: Callable[[dict], None]) -> int:
    """Wait for the end of the run; its exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, lambda *_: os.kill(run, signal.SIGUSR1))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    end = os.pidfd_open(run)
    while not select.select([end], [], [], LOOK_SECONDS)[0]:
        with contextlib.suppress(ChildProcessError):
            while _reap(run):
                pass
        processes = [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        if len(processes) > most:  # the kernel's own limit does not hold for root
            tell({"ev": "fate", "signal": None, "memory": None, "processes": len(processes)})
            return EXCEEDED
        taken = _memory(processes, memory)
        if taken > memory:
            tell({"ev": "fate", "signal": None, "memory": taken, "processes": None})
            return EXCEEDED
    _, status = os.waitpid(run, 0)
    if os.WIFSIGNALED(status):
        tell({"ev": "fate", "signal": os.WTERMSIG(status), "memory": None, "processes": None})
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def _reap(run: int) -> bool:
    """Take notice of one process that has ended; False when there is none, or it is the run itself."""
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None or found.si_pid == run:
        return False
    os.waitpid(found.si_pid, 0)
    return True


def _memory(processes: list[str], limit: int) -> int:
    """Bytes that some processes take; a quick and too high sum while that is below the limit."""
    quick = sum(_private(name) for name in processes)
    return quick if quick <= limit else sum(_share(name) for name in processes)


def _private(process: str) -> int:
    try:
        with open("/proc/%s/statm" % process, encoding="ascii") as file:
            fields = file.read().split()
    except OSError:  # it has just ended
        return 0
    return (int(fields[1]) - int(fields[2])) * PAGE


def _share(process: str) -> int:
    """What one process takes, its part of what it shares with others included."""
    try:
        with open("/proc/%s/smaps_rollup" % process, encoding="ascii") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:")), 0)
    except OSError:  # it has just ended
        return 0
