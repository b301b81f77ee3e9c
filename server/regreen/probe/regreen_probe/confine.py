"""What is a run kept from doing?

Levels, strongest first. `full`: namespaces with a world of their own (`contain`), no capabilities, Landlock and
seccomp. `partial`: Landlock and seccomp alone, where a kernel or a container has no namespaces for us. `none`.
What a level is worth on this machine is found out by trying (`effects`).
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable

try:
    import resource
except ImportError:
    resource = None

FULL, PARTIAL, NONE = "full", "partial", "none"
LINUX = sys.platform.startswith("linux")


class Refused(Exception):
    """The kernel does not give what a level is made of."""


class Confinement:
    """The confinement of one run.

    Args:
        plan: `confine` of the `run` message (docs/internals/wire.md).
    """

    def __init__(self, plan: dict) -> None:
        self.plan = plan
        self.level: str = plan["level"] if available() else NONE
        self.outside = os.getpid()  # the process id by which the world outside knows us
        self.relay = None
        if self.level == NONE:
            return
        from regreen_probe import relay, world

        self.user, self.group = os.getuid(), os.getgid()
        self.world = world.World(
            plan["copies"],
            plan["beneath"],
            [*plan["readable"], *filter(_is_socket, plan["sockets"])],
            plan["bytecode"],
            keep_bytecode=plan["keep_bytecode"],
            relaxed=plan["relaxed"],
        )
        if self.level == FULL and plan["services"] and not plan["network"]:
            self.relay = relay.Relay(plan["services"])

    def fork(self) -> int:
        """os.fork(); for a run at level `full` into namespaces of its own.

        Raises:
            Refused: in the parent.
        """
        if self.level != FULL:
            return os.fork()
        from regreen_probe import contain

        def clone() -> int:
            return contain.fork(network=self.plan["network"])

        try:
            return clone() if self.relay is None else self.relay.fork(clone)
        except OSError as error:
            raise Refused(str(error)) from error

    def settle(self, keep: list[int], tell: Callable[[dict], None]) -> None:
        """In the child of `fork`, before anything of the run: make its world; only the run itself returns.

        Args:
            keep: descriptors that the run needs.
            tell: sends a record.

        Raises:
            Refused: not possible here.
        """
        if self.level != FULL:
            self.outside = os.getpid()
            if self.level != NONE:
                from regreen_probe import kernel

                kernel.close_others(keep)
            return
        from regreen_probe import contain

        if self.relay is not None and self.relay.failed is not None:
            raise Refused(str(self.relay.failed))
        try:
            self.outside = contain.settle(
                self.world,
                self.user,
                self.group,
                network=self.plan["network"],
                disk=self.plan["disk"],
                memory=self.plan["memory"],
                processes=self.plan["processes"],
                keep=keep,
                tell=tell,
                linked=self.relay,
            )
        except OSError as error:
            raise Refused(str(error)) from error

    def enter(self, temp: str) -> None:
        """Give up for good what the run must not do. Called by the run itself.

        Args:
            temp: the folder for its temporary files.

        Raises:
            Refused: not possible here.
        """
        try:
            self._limit()
            if self.level == NONE:
                return
            from regreen_probe import kernel, landlock, seccomp

            full, network = self.level == FULL, self.plan["network"]
            copies = [copy for copy, _ in self.plan["copies"]]
            writable = self.world.writable() if full else [*copies, temp]
            readable = self.world.readable()
            if readable is not None:
                readable += copies
            if not full:  # the first process gave them up before it started us
                kernel.drop_capabilities()
            ports: list[int] | None = None
            if not full and not network:
                ports = [port for _, port in self.plan["services"]] if landlock.knows_ports() else []
            landlock.restrict(writable, readable=readable, ports=ports)
            seccomp.enter(internet="all" if ports is None else "tcp" if ports else "none")
        except OSError as error:
            raise Refused(str(error)) from error

    def enter_again(self, temp: str) -> None:
        """In a fork of a run that entered: write nothing but temporary files from now on.

        Raises:
            Refused: not possible here.
        """
        if self.level == NONE:
            return
        from regreen_probe import landlock

        try:
            landlock.restrict([temp], readable=None, ports=None)
        except OSError as error:
            raise Refused(str(error)) from error

    @property
    def bytecode(self) -> str | None:
        """The folder for compiled files that outlives the run; None where they lie in the copy."""
        if self.level != FULL or not self.world.bytecode:
            return None
        from regreen_probe import world

        return world.BYTECODE

    def _limit(self) -> None:
        """No core dumps, no endless files; no endless memory and processes where that is ours to say."""
        if resource is None:
            return  # Windows has none of these
        limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, self.plan["file"])]
        if self.level != NONE:
            limits.append((resource.RLIMIT_DATA, self.plan["memory"]))
        if self.level == FULL:  # counted in the run's own namespace
            limits.append((resource.RLIMIT_NPROC, self.plan["processes"]))
        for kind, value in limits:
            hard = resource.getrlimit(kind)[1]
            top = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (top, top))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:  # there is nothing
        return False


def available() -> bool:
    """Whether any confinement can be tried here."""
    if not LINUX or os.environ.get("REGREEN_NO_CONFINEMENT"):
        return False
    try:
        from regreen_probe import kernel
    except ImportError:  # a Python that was built without libffi
        return False
    return bool(kernel.AUDIT_ARCH)


def die_with_parent(parent: int) -> None:
    """Let the kernel end this process when the process `parent` ends (Linux only)."""
    if not LINUX:
        return
    try:
        from regreen_probe import kernel
    except ImportError:  # as above
        return
    import signal

    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    now = os.getppid()  # 0: outside of our own process namespace
    if now != parent and not (now == 0 and os.path.exists("/proc/%d" % parent)):
        os._exit(0)
