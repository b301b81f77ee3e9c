"""Collect the wheels that make Regreen's own environment without a network, for every system that VS Code runs on.

    python scripts/wheels.py [FOLDER]      by default client-vscode/wheels

The folder then holds Regreen's wheel, one of each package that it needs, those of compiled packages once for each system
and Python, and pip's, which installs them where Python came without it. Versions are those of constraints.txt. What was
made of the same inputs before stays; anything else that ends in .whl is removed. Needs Python >= 3.10 with pip.
"""  # noqa: INP001 — a script

from __future__ import annotations

import email.parser
import functools
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).parents[1]
PIP = "26.3"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
SYSTEMS = {
    "Linux on x86-64": ("manylinux2014_x86_64", "manylinux_2_28_x86_64"),
    "Linux on ARM": ("manylinux2014_aarch64", "manylinux_2_28_aarch64"),
    "macOS on x86-64": ("macosx_11_0_x86_64",),
    "macOS on ARM": ("macosx_11_0_arm64",),
    "Windows on x86-64": ("win_amd64",),
}
"""The platform tags of each system, as pip spells them. An older macOS than 11 runs no supported VS Code."""

COMPILED = ("tree-sitter", "tree-sitter-python", "watchdog")
INSTEAD = {("watchdog", "macOS on x86-64", "3.14"): "7.1.0", ("watchdog", "macOS on ARM", "3.14"): "7.1.0"}
"""Versions where the one of constraints.txt, the last for Python 3.10, has no wheel."""

STAMP = "made.json"


class Failed(Exception):
    """A wheel cannot be had; the message says which, and what pip said."""


def main(arguments: list[str]) -> int:
    """Make the folder and tell its size, or tell what failed and return 1."""
    folder = Path(arguments[0] if arguments else ROOT / "client-vscode" / "wheels").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        wheels = collect(folder)
    except Failed as error:
        print(f"wheels.py: {error}", file=sys.stderr)  # noqa: T201 — a script's face
        return 1
    megabytes = sum((folder / name).stat().st_size for name in wheels) / 1e6
    seconds = time.monotonic() - began
    print(f"{len(wheels)} wheels, {megabytes:.1f} MB, after {seconds:.1f} s: {folder}")  # noqa: T201
    return 0


def collect(folder: Path) -> list[str]:
    """The names of all wheels, which are in the folder then."""
    stamp = folder / STAMP
    before = json.loads(stamp.read_text("utf-8")) if stamp.exists() else {}
    own = part(folder, before, sources(), build)
    needed = requirements(folder / own["wheels"][0])
    others = part(
        folder,
        before,
        [ROOT / "pyproject.toml", ROOT / "constraints.txt", Path(__file__)],
        lambda fresh: download(needed, fresh),
    )
    wheels = sorted(own["wheels"] + others["wheels"])
    for path in folder.glob("*.whl"):
        if path.name not in wheels:
            path.unlink()
    made = {each["inputs"]: each["wheels"] for each in (own, others)}
    stamp.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    return wheels


class Part(TypedDict):
    """Wheels that are made of the same inputs."""

    inputs: str
    wheels: list[str]


def part(
    folder: Path, before: dict[str, list[str]], inputs: Iterable[Path], make: Callable[[Path], None]
) -> Part:
    """The wheels of some inputs: those made of them before, if all are still there, else new ones."""
    digest = digest_of(inputs)
    names = before.get(digest, [])
    if not names or not all((folder / name).exists() for name in names):
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            make(Path(fresh))
            names = sorted(path.name for path in Path(fresh).glob("*.whl"))
            for name in names:
                (Path(fresh) / name).replace(folder / name)
    return {"inputs": digest, "wheels": names}


def sources() -> list[Path]:
    """What Regreen's own wheel is made of."""
    below = (path for path in (ROOT / "server").rglob("*") if "__pycache__" not in path.parts)
    return [
        ROOT / "pyproject.toml",
        ROOT / "README.md",
        ROOT / "LICENSE",
        *sorted(path for path in below if path.is_file()),
    ]


def digest_of(paths: Iterable[Path]) -> str:
    """A digest of the files' paths and contents."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


# ------------------------------------------------------------------ pip


def build(fresh: Path) -> None:
    """Make Regreen's wheel."""
    say("building Regreen's wheel")
    pip("wheel", "--no-deps", "--wheel-dir", str(fresh), str(ROOT))


def download(needed: set[str], fresh: Path) -> None:
    """Fetch everything but Regreen: what it needs, what that needs, and so on; and pip."""
    say("fetching the wheels of what it needs")
    fetch([f"pip=={PIP}"], fresh, PURE)
    seen: set[str] = set()
    while needed - seen:
        fetch([pinned(name) for name in sorted(needed - seen - set(COMPILED))], fresh, PURE)
        seen |= needed
        needed = {name for wheel in fresh.glob("*.whl") for name in requirements(wheel)}
    compiled = [name for name in COMPILED if name in seen]
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(
                fetch, [pinned(name, system, python) for name in compiled], fresh, target(tags, python)
            )
            for system, tags in SYSTEMS.items()
            for python in PYTHONS
        ]
        for job in jobs:
            job.result()


PURE = ("--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", PYTHONS[0])
"""Asks for wheels that fit every system and Python."""


def target(tags: Iterable[str], python: str) -> tuple[str, ...]:
    """Asks for wheels that fit one system and Python."""
    platforms = [word for tag in tags for word in ("--platform", tag)]
    abis = ("--abi", f"cp{python.replace('.', '')}", "--abi", "abi3", "--abi", "none")
    return (*platforms, "--implementation", "cp", *abis, "--python-version", python)


def fetch(pins: list[str], fresh: Path, which: Iterable[str]) -> None:
    """Download one wheel of each; two that fetch the same one at once write the same bytes."""
    if pins:
        with tempfile.TemporaryDirectory(dir=fresh) as own:
            pip("download", "--no-deps", "--only-binary", ":all:", *which, "--dest", own, *pins)
            for wheel in Path(own).iterdir():
                wheel.replace(fresh / wheel.name)


def pip(*arguments: str) -> None:
    """Run pip; what it says matters only where it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"`{' '.join(command[1:])}` failed:\n{done.stdout}{done.stderr}")


# ------------------------------------------------------------------ names and versions


def requirements(wheel: Path) -> set[str]:
    """The names of what a wheel needs anywhere: each of them is needed by some Python or on some system."""
    with zipfile.ZipFile(wheel) as archive:
        path = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.parser.Parser().parsestr(archive.read(path).decode())
    lines = metadata.get_all("Requires-Dist", [])
    return {normal(line) for line in lines if not re.search(r";.*\bextra\b", line)}


def normal(requirement: str) -> str:
    """The name that a requirement begins with, in the spelling that tells no two packages apart that are one."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    if not found:
        raise Failed(f"what is this requirement? {requirement!r}")
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def pinned(name: str, system: str = "", python: str = "") -> str:
    """The requirement of the version that we have tested."""
    version = INSTEAD.get((name, system, python)) or constraints().get(name)
    if not version:
        raise Failed(f"constraints.txt has no version of {name}, which Regreen's environment needs")
    return f"{name}=={version}"


@functools.cache
def constraints() -> dict[str, str]:
    """The versions of constraints.txt, by name."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = (re.split(r"[;#\s]", line)[0].partition("==") for line in lines)
    return {normal(name): version for name, _, version in pins if version}


def say(words: str) -> None:
    """Tell what takes a while."""
    print(words, flush=True)  # noqa: T201 — a script's face


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
