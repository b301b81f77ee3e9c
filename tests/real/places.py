"""How does a pinned source distribution become a working copy with its own environment, red only where we say?

Each project has one folder below the cache: the downloaded file, and `work/<project>-<version>` as a developer would
have it: the unpacked source with `.venv` inside and itself installed there in editable mode. It is built once, and
every bug starts from freshly unpacked files. A file lock keeps two runs out of the same folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs
from tests.real.data import Bug, RealProject

from regreen.platform.locks import locked

CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"
BUILD_SECONDS = 600


class NotPreparedError(Exception):
    """A project could not be downloaded, installed or unpacked."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one project is worked on.

    Args:
        project: which one.
        sdist: the downloaded source distribution.
        root: the unpacked source; its environment is `root/.venv`.
    """

    project: RealProject
    sdist: Path
    root: Path

    @property
    def python(self) -> Path:
        """The interpreter of the project's own environment."""
        return _python(self.root / ".venv")


def cache() -> Path:
    """`REGREEN_REAL_CACHE`, or a folder of the user's cache."""
    named = os.environ.get("REGREEN_REAL_CACHE")
    folder = Path(named) if named else Path(platformdirs.user_cache_dir("regreen-real", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


@contextmanager
def place(project: RealProject) -> Iterator[Place]:
    """The project's place, built if it is not there yet, and ours until the block ends.

    Raises:
        NotPreparedError: with the last words of the step that failed.
    """
    described = repr((asdict(project), sys.version_info[:3], CONSTRAINTS.read_text(encoding="utf-8")))
    key = hashlib.sha256(described.encode()).hexdigest()[:12]
    folder = cache() / f"{project.name}-{project.version}-{key}"
    folder.mkdir(exist_ok=True)
    stem = f"{project.name.replace('-', '_')}-{project.version}"
    at = Place(project, folder / f"{stem}.tar.gz", folder / "work" / stem)
    with locked(folder / "lock"):
        built = folder / "built"
        if not built.exists():
            shutil.rmtree(folder / "work", ignore_errors=True)
            _build(project, at)
            built.touch()
        yield at


def pristine(at: Place) -> None:
    """Put the published files back; only the environment stays."""
    for entry in at.root.iterdir():
        if entry.name != ".venv":
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    _unpack(at.sdist, at.root.parent)


def inject(at: Place, bug: Bug) -> None:
    """Write the bug into freshly unpacked files.

    Raises:
        ValueError: the data does not fit the source.
    """
    pristine(at)
    file = at.root / bug.file
    file.write_bytes(bug.inject(file.read_bytes().decode("utf-8")).encode("utf-8"))


def _build(project: RealProject, at: Place) -> None:
    """The environment first: the source's own build backend is needed to download and to install it."""
    environment = at.root / ".venv"
    environment.parent.mkdir(parents=True)
    _run([sys.executable, "-m", "venv", str(environment)])
    pip = [str(at.python), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    _run([*pip, "install", "--constraint", str(CONSTRAINTS), *project.requirements])

    wanted = at.sdist.with_name("requirement.txt")
    wanted.write_text(f"{project.name}=={project.version} --hash=sha256:{project.sha256}\n", encoding="utf-8")
    source = ["--no-deps", "--no-build-isolation"]
    exactly = ["--no-binary=:all:", "--require-hashes", "--requirement", str(wanted)]
    _run([*pip, "download", *source, *exactly, "--dest", str(at.sdist.parent)])
    _unpack(at.sdist, at.root.parent)
    _run([*pip, "install", *source, "--editable", str(at.root)])


def _unpack(sdist: Path, into: Path) -> None:
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(into, filter="data")
        else:  # the hash is ours, so the members are known
            archive.extractall(into)


def _python(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode:
        raise NotPreparedError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}")
