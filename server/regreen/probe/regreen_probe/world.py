"""What does a contained run see of the file system?

The user's machine, read-only; the project's copy where the project itself is, with what the copy leaves out beneath;
and empty folders where people keep what is no test's business. What a run writes goes into memory, up to a limit,
and is gone with it. Mounts as in mount(2), open_tree(2) and the kernel's Documentation/filesystems/overlayfs.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import sys

from regreen_probe import kernel, redirect

TEMP = "/tmp"  # noqa: S108 — a memory of the run's own is mounted there
RUN = "/run"
SHARED = "/dev/shm"  # noqa: S108 — as above
EMPTY = (RUN, "/var", "/srv", SHARED)
BYTECODE = RUN + "/regreen/bytecode"
IN_EMPTY = ("/var/tmp", "/var/lib")  # noqa: S108 — folders that programs expect
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
    "/proc", "/sys", "/dev",
)  # fmt: skip
"""What programs need to run."""
_OF_SYSTEM = ("/etc/resolv.conf", "/var/lib/ca-certificates", "/var/cache/fontconfig", "/var/lib/locales")
_NO_DEVICES = kernel.MS_NOSUID | kernel.MS_NODEV


class World:
    """The places of one run.

    Args:
        copies: [the folder of a copy, where it is to be seen] …, of folders that are not inside each other.
        beneath: what is left out of the copies and seen where it is.
        readable: what else can be read.
        bytecode: a folder for compiled files that outlives the run, or "".
        keep_bytecode: whether the run may write there.
        relaxed: empty only the folder for shared memory.

    Attributes:
        empty: the folders that are empty.
        kept: what stays readable in spite of an empty folder above it.
    """

    def __init__(
        self,
        copies: list[list[str]],
        beneath: list[str],
        readable: list[str],
        bytecode: str = "",
        *,
        keep_bytecode: bool = False,
        relaxed: bool = False,
    ) -> None:
        self.copies = [(copy, os.path.realpath(user)) for copy, user in copies]
        self.beneath = [path for path in beneath if not os.path.islink(path)]
        elsewhere = [path for path in beneath if os.path.islink(path)]
        self.homes = _homes()
        self.memory = SHARED if relaxed else TEMP
        self.empty = _empty([self.memory] if relaxed else [*self.homes, *EMPTY, TEMP])
        self.relaxed = relaxed
        self.links: dict[str, str] = {}
        self.kept = self._kept([*_programs(), *_places([*readable, *elsewhere])])
        self.links.update((path, os.path.realpath(path)) for path in elsewhere)
        self.bytecode = "" if relaxed else bytecode
        self.keep_bytecode = keep_bytecode

    def writable(self) -> list[str]:
        """What the run can write."""
        compiled = [BYTECODE] if self.bytecode and self.keep_bytecode else []
        return [*(p for p in self.empty if p != RUN), *compiled, *(user for _, user in self.copies)]

    def readable(self) -> list[str] | None:
        """What the run can read besides; None for everything."""
        return None if self.relaxed else [*SYSTEM, RUN, *self.kept, *self.beneath]

    def build(self, size: int) -> None:
        """Make it so, in mount and process namespaces of our own.

        Args:
            size: bytes that the run may write.

        Raises:
            OSError: the kernel refused a step; it says which.
        """
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        shared = kernel.clone_tree(self.bytecode) if self.bytecode and self.keep_bytecode else None
        kernel.read_only("/")
        if self.bytecode and shared is None:
            shared = kernel.clone_tree(self.bytecode)
        hidden = [path for path in self.kept if self.is_hidden(path)]
        trees = {path: kernel.clone_tree(path) for path in hidden}
        trees.update((path, kernel.clone_tree(path)) for path in self.beneath if os.path.exists(path))
        copies = [kernel.clone_tree(copy) for copy, _ in self.copies]
        memory = "size=%d,nr_inodes=%d,mode=0755" % (size, max(size >> 12, 4096))
        kernel.mount("regreen", self.memory, "tmpfs", _NO_DEVICES, memory)
        # Opened here, used where nothing of it can be seen any more.
        layers = {user: self._layers(n, copies[n]) for n, (_, user) in enumerate(self.copies)}
        modes = [os.stat(path).st_mode & 0o7777 if path != self.memory else 0o1777 for path in self.empty]
        folders = [self._folder("empty%d" % n, mode) for n, mode in enumerate(modes)]
        for n, path in enumerate(self.empty):
            kernel.mount("/proc/self/fd/%d" % folders[n], path, None, kernel.MS_BIND)
        for path in (*self.homes, *IN_EMPTY):
            if self.is_hidden(path):
                _make_folder(path)
        if shared is not None:
            _make_folder(BYTECODE)
            kernel.attach(shared, BYTECODE)
        for path in sorted({*trees, *layers}, key=lambda path: path.count(os.sep)):
            if path in layers:
                _make_folder(path)
                kernel.mount("regreen", path, "overlay", _NO_DEVICES, layers[path])
            else:
                _make_like(path, trees[path])
                kernel.attach(trees[path], path)
        for path, target in self.links.items():
            if not os.path.lexists(path):
                _make_folder(os.path.dirname(path))
                os.symlink(target, path)
        _terminals()
        kernel.mount("proc", "/proc", "proc", _NO_DEVICES | kernel.MS_NOEXEC | kernel.MS_RDONLY)

    def _layers(self, number: int, copy: int) -> str:
        """The options of an overlay: the copy below, memory above."""
        place = os.path.join(self.memory, "lower%d" % number)
        os.mkdir(place)
        kernel.attach(copy, place)
        lower = os.open(place, os.O_PATH | os.O_CLOEXEC)
        upper = self._folder("upper%d" % number, os.fstat(lower).st_mode & 0o7777)
        work = self._folder("work%d" % number, 0o700)
        layers = "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,userxattr"
        return layers % (lower, upper, work)

    def _folder(self, name: str, mode: int) -> int:
        path = os.path.join(self.memory, name)
        os.mkdir(path)
        os.chmod(path, mode)
        return os.open(path, os.O_PATH | os.O_CLOEXEC)

    def _kept(self, places: list[tuple[str, str]]) -> list[str]:
        """The real ones of `places` and no more: neither twice, nor what would fill an empty folder again."""
        real: list[str] = []
        for path, place in places:
            whole = any(redirect.below(folder, place) for folder in self.empty)
            ours = any(redirect.below(place, user) for _, user in self.copies)
            if whole or ours:
                continue
            real.append(place)
            if place != path and self.is_hidden(path):
                self.links[path] = place
        shortest = sorted(set(real), key=len)
        return [p for n, p in enumerate(shortest) if not any(redirect.below(p, q) for q in shortest[:n])]

    def is_hidden(self, path: str) -> bool:
        """Whether a place is in one of the empty folders."""
        return any(redirect.below(path, folder) for folder in self.empty)


def _homes() -> list[str]:
    """The home folders of the user, by the environment and by the system."""
    homes = [os.path.expanduser("~")]
    with contextlib.suppress(KeyError):  # a user without an entry
        homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    return [
        home for home in dict.fromkeys(map(os.path.realpath, homes)) if os.path.isdir(home) and home != os.sep
    ]


def _empty(folders: list[str]) -> list[str]:
    """The folders that are empty for a run; none is inside another one."""
    places = list(dict.fromkeys(os.path.realpath(path) for path in folders if os.path.isdir(path)))
    return [p for p in places if not any(p != q and redirect.below(p, q) for q in places)]


def _places(paths: list[str]) -> list[tuple[str, str]]:
    """[(path, where it really is) …] of those that exist."""
    absolute = dict.fromkeys(os.path.abspath(path) for path in paths if path)
    pairs = [(path, os.path.realpath(path)) for path in absolute]
    return [pair for pair in pairs if os.path.exists(pair[1])]


def _programs() -> list[tuple[str, str]]:
    """The interpreter, what it imports from, the commands on PATH, and this package."""
    return _found(tuple(sys.path), os.environ.get("PATH", ""))


@functools.lru_cache(maxsize=1)
def _found(imported: tuple[str, ...], path: str) -> list[tuple[str, str]]:
    interpreter = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
    interpreter += [os.path.dirname(sys.executable), os.path.dirname(os.path.realpath(sys.executable))]
    interpreter += [path for path in imported if os.path.isabs(path)]
    interpreter += [link for folder in imported for link in _links(folder)]
    commands = [path for path in path.split(os.pathsep) if os.path.isabs(path)]
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return _places([*interpreter, *redirect.editable_folders(), *commands, here, *_OF_SYSTEM])


def _links(folder: str) -> list[str]:
    """Where packages really are that are linked from the environment, as a whole or file by file."""
    found = []
    if os.path.basename(folder) in ("site-packages", "dist-packages") and os.path.isdir(folder):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            metadata = os.path.join(path, "METADATA")
            if os.path.islink(path):
                found.append(path)
            elif name.endswith(".dist-info") and os.path.islink(metadata):
                found.append(os.path.dirname(os.path.dirname(os.path.realpath(metadata))))
    return found


def _make_folder(path: str) -> None:
    os.makedirs(path, exist_ok=True)


def _make_like(path: str, tree: int) -> None:
    """A place for a mount: a folder or a file, as what is to be seen there is."""
    if os.path.lexists(path):
        return
    if os.path.isdir("/proc/self/fd/%d" % tree):
        _make_folder(path)
    else:
        _make_folder(os.path.dirname(path))
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _terminals() -> None:
    """Terminals of the run's own: nobody else's can be opened."""
    if not os.path.isdir("/dev/pts"):
        return
    kernel.mount(
        "devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, "newinstance,ptmxmode=0666"
    )
    if not os.path.islink("/dev/ptmx"):
        kernel.mount("/dev/pts/ptmx", "/dev/ptmx", None, kernel.MS_BIND)
