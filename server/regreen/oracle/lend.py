"""What does a project need that has tests but no pytest?

Our own pytest, laid out in a private cache folder that the probe puts on the path of the project's interpreter:
nothing is installed anywhere. Only pure Python is lent, and only where its metadata allow that Python.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from regreen.errors import EnvironmentProblem
from regreen.platform.dirs import cache_dir

PYTEST = "pytest"
DJANGO = "pytest-django"


def lend_pytest(version: tuple[int, int, int], *, django: bool = False) -> tuple[Path, ...]:
    """The folders to put at the END of the probe's import path. Blocks; quick when they are there already.

    Args:
        version: of the Python that borrows.
        django: lend pytest-django too.

    Raises:
        EnvironmentProblem: what we have does not run on that Python.
    """
    wanted = _closure([PYTEST, DJANGO] if django else [PYTEST], version)
    names = "\n".join(f"{name}=={dist.version}" for name, dist in sorted(wanted.items()))
    key = hashlib.sha256(names.encode()).hexdigest()[:16]
    folder = cache_dir("lent") / f"pytest-{wanted[PYTEST].version}-{key}"
    if not folder.is_dir():
        _lay_out(wanted, folder)
    return (folder,)


def _closure(names: list[str], version: tuple[int, int, int]) -> dict[str, Distribution]:
    """The distributions by name, with all that they require on the borrower's Python."""
    marker = {
        "python_version": f"{version[0]}.{version[1]}",
        "python_full_version": ".".join(map(str, version)),
        "extra": "",
    }
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            dist = found[name] = distribution(name)
        except PackageNotFoundError as error:
            raise _cannot(version, f"{name} is not there") from error
        allowed = dist.metadata["Requires-Python"]
        if allowed and marker["python_full_version"] not in SpecifierSet(allowed):
            raise _cannot(version, f"{name} {dist.version} needs Python {allowed}")
        needed = [Requirement(text) for text in dist.requires or ()]
        waiting += [need.name for need in needed if need.marker is None or need.marker.evaluate(marker)]
    return found


def _cannot(version: tuple[int, int, int], why: str) -> EnvironmentProblem:
    python = ".".join(map(str, version))
    return EnvironmentProblem(
        f"pytest is not installed for the project's Python {python}, and ours can't be lent: {why}.",
        "Install pytest in the project's environment.",
    )


def _lay_out(wanted: dict[str, Distribution], folder: Path) -> None:
    """Copy into a folder beside, then rename: another Regreen may do the same at this moment."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as beside:
        new = Path(beside) / "lent"
        new.mkdir()
        for dist in wanted.values():
            for source, relative in _pure_files(dist):
                target = new / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        try:
            new.rename(folder)
        except OSError:
            if not folder.is_dir():  # else the other one was quicker
                raise


def _pure_files(dist: Distribution) -> Iterator[tuple[Path, Path]]:
    """The Python files of a distribution and the metadata that entry points and versions are read from."""
    if not dist.files:
        raise EnvironmentProblem(
            f"Regreen's own {dist.metadata['Name']} cannot be lent: its list of files is missing.",
            "Install Regreen again.",
        )
    for file in dist.files:
        relative = Path(file)
        if ".." in relative.parts or relative.is_absolute():
            continue
        if relative.suffix == ".py" or relative.name in ("METADATA", "entry_points.txt"):
            yield Path(str(dist.locate_file(file))), relative
