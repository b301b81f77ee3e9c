"""Where may the interpreter of a project be?

Only files are looked at; nothing is started here. The order is that of `places`, nearest to the project first.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regreen.values import Project

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

WINDOWS = os.name == "nt"

SETTING = "setting"  # named by the user: it, or nothing
PROJECT = "project"  # an environment made for this project
ACTIVE = "active"  # the environment that Regreen was started in
SYSTEM = "system"  # a Python on PATH
OWN = "own"  # Regreen's own


@dataclass(frozen=True, slots=True)
class Place:
    """One place where the interpreter may be.

    Args:
        text: the place, for people.
        rank: SETTING, PROJECT, ACTIVE, SYSTEM or OWN.
        executable: what is there; None when nothing is.
        note: why nothing is there, or what is odd.
    """

    text: str
    rank: str
    executable: Path | None = None
    note: str = ""


def places(
    project: Project, setting: str, environment: Mapping[str, str], *, windows: bool = WINDOWS
) -> Iterator[Place]:
    """Every place, in the order of preference. Blocks a little: it reads folders and small files.

    Args:
        project: whose interpreter.
        setting: `regreen.interpreter`; nothing else is looked at when it is given.
        environment: PATH, VIRTUAL_ENV, CONDA_PREFIX … are taken from here.
        windows: use the folders' layout of Windows.
    """
    if setting:
        yield _from_setting(project, setting, environment, windows=windows)
        return
    for folder in _upward(project):
        yield from _beside(folder, project, windows=windows)
    for folder in _upward(project):
        yield from _of_tools(folder, environment, windows=windows)
    yield from _active(environment, windows=windows)
    yield from _on_path(environment, windows=windows)
    yield Place("Regreen's own Python", OWN, Path(sys.executable))


def _upward(project: Project) -> Iterator[Path]:
    """The project's folder, then its parents up to the workspace's."""
    yield project.root
    for folder in project.root.parents:
        if not folder.is_relative_to(project.workspace):
            return
        yield folder


def python_of(environment: Path, *, windows: bool = WINDOWS) -> Path | None:
    """The interpreter of an environment's folder (venv or conda); None when there is none that resolves."""
    names = ("Scripts/python.exe", "python.exe") if windows else ("bin/python", "bin/python3")
    for name in names:
        if (environment / name).exists():
            return environment / name
    return None


def _environment(text: str, rank: str, folder: Path, *, windows: bool) -> Place:
    python = python_of(folder, windows=windows)
    if python is not None:
        return Place(text, rank, python)
    if not folder.is_dir():
        return Place(text, rank, note="not there")
    link = folder / ("Scripts/python.exe" if windows else "bin/python")
    if link.is_symlink():
        return Place(text, rank, note=f"broken: its Python {link.readlink()} is gone")
    return Place(text, rank, note="no Python in it")


def _from_setting(project: Project, setting: str, environment: Mapping[str, str], *, windows: bool) -> Place:
    text = f"setting regreen.interpreter = {setting}"
    values = {
        "workspaceFolder": str(project.workspace),
        "userHome": environment.get("USERPROFILE" if windows else "HOME", str(Path.home())),
    }
    expanded = re.sub(
        r"\$\{(env:)?(\w+)\}",
        lambda m: environment.get(m[2], "") if m[1] else values.get(m[2], m[0]),
        setting,
    )
    if os.sep not in expanded and "/" not in expanded and not (project.root / expanded).exists():
        found = shutil.which(expanded, path=environment.get("PATH", ""))
        return Place(text, SETTING, Path(found)) if found else Place(text, SETTING, note="not on PATH")
    path = project.root / Path(expanded).expanduser()
    path = Path(os.path.abspath(path))  # noqa: PTH100 — links are kept: they make an environment one
    if path.is_dir():
        return _environment(text, SETTING, path, windows=windows)
    if path.exists():
        return Place(text, SETTING, path)
    return Place(text, SETTING, note="not there")


def _beside(folder: Path, project: Project, *, windows: bool) -> Iterator[Place]:
    """Environments in a folder of the project: .venv and venv, then any other by its pyvenv.cfg or conda-meta."""
    where = "beside the project" if folder == project.root else f"in {folder}"
    for name in (".venv", "venv"):
        path = folder / name
        if path.is_file():  # a file that names the environment's folder
            named = folder / path.read_text("utf-8", "replace").strip()
            yield _environment(f"`{name}` {where}, a file naming {named}", PROJECT, named, windows=windows)
        else:
            yield _environment(f"`{name}` {where}", PROJECT, path, windows=windows)
    for path in _folders(folder):
        if path.name not in (".venv", "venv") and is_environment(path):
            yield _environment(f"`{path.name}` {where}", PROJECT, path, windows=windows)
    for parent in (".tox", ".nox"):
        for path in _folders(folder / parent):
            if is_environment(path):
                yield _environment(f"`{parent}/{path.name}` {where}", PROJECT, path, windows=windows)


def is_environment(folder: Path) -> bool:
    """Whether a folder is a Python environment: by its content, never by its name."""
    return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:  # not there, or not ours to read: then nothing is in it
        return []


def _of_tools(folder: Path, environment: Mapping[str, str], *, windows: bool) -> Iterator[Place]:
    """Environments that tools keep elsewhere, where files of the project say that the tool is used."""
    config = _toml(folder / "pyproject.toml")
    if (named := environment.get("UV_PROJECT_ENVIRONMENT")) and (folder / "uv.lock").exists():
        yield _environment(f"UV_PROJECT_ENVIRONMENT = {named}", PROJECT, folder / named, windows=windows)
    pdm = folder / ".pdm-python"
    if pdm.is_file():
        python = Path(pdm.read_text("utf-8", "replace").strip())
        yield Place("pdm (.pdm-python)", PROJECT, *((python,) if python.exists() else (None, "not there")))
    if "poetry" in config.get("tool", {}) or (folder / "poetry.lock").exists():
        yield from _poetry(folder, config, environment, windows=windows)
    if (folder / "Pipfile").exists():
        yield from _pipenv(folder, environment, windows=windows)
    if "hatch" in config.get("tool", {}):
        yield from _hatch(config, environment, windows=windows)
    for name in ("environment.yml", "environment.yaml"):
        if (folder / name).is_file():
            yield from _conda(folder / name, environment, windows=windows)


def _toml(path: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # absent, or broken: pytest will say so better than we could here
        return {}
    return table


def _name(config: Mapping[str, Any]) -> str:
    tool = config.get("tool", {}).get("poetry", {})
    return str(config.get("project", {}).get("name") or tool.get("name") or "")


def _home(environment: Mapping[str, str], *, windows: bool) -> Path:
    return Path(environment.get("USERPROFILE" if windows else "HOME") or Path.home())


def _caches(environment: Mapping[str, str], tool: str, *, windows: bool) -> Path:
    """Where a tool keeps its cache by default on this system."""
    home = _home(environment, windows=windows)
    if windows:
        return Path(environment.get("LOCALAPPDATA") or home / "AppData/Local") / tool / "Cache"
    if sys.platform == "darwin":
        return home / "Library/Caches" / tool
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / tool


def _poetry(
    folder: Path, config: Mapping[str, Any], environment: Mapping[str, str], *, windows: bool
) -> Iterator[Place]:
    """Poetry names an environment after the project and a hash of its folder (its documentation, "envs")."""
    cache = Path(environment.get("POETRY_CACHE_DIR") or _caches(environment, "pypoetry", windows=windows))
    parent = Path(environment.get("POETRY_VIRTUALENVS_PATH") or cache / "virtualenvs")
    name = re.sub(r'[ $`!*@"\\\r\n\t]', "_", _name(config).lower())[:42]
    real = os.path.normcase(os.path.realpath(folder))
    digest = base64.urlsafe_b64encode(hashlib.sha256(real.encode()).digest()).decode()[:8]
    found = [path for path in _folders(parent) if path.name.startswith(f"{name}-{digest}-py")]
    chosen = _toml(parent / "envs.toml").get(f"{name}-{digest}", {}).get("minor")
    found.sort(key=lambda path: (path.name.endswith(f"-py{chosen}"), _minor(path.name)), reverse=True)
    for path in found:
        yield _environment(f"poetry's {path.name}", PROJECT, path, windows=windows)
    if not found:
        yield Place(f"poetry's {parent / name}-{digest}-py*", PROJECT, note="not there")


def _minor(name: str) -> int:
    return int(name.rsplit(".", 1)[-1]) if name.rsplit(".", 1)[-1].isdigit() else 0


def _pipenv(folder: Path, environment: Mapping[str, str], *, windows: bool) -> Iterator[Place]:
    """Pipenv writes the project's folder into `.project` of the environment."""
    default = ".virtualenvs" if windows else ".local/share/virtualenvs"
    parent = Path(environment.get("WORKON_HOME") or _home(environment, windows=windows) / default)
    for path in _folders(parent):
        owner = path / ".project"
        if owner.is_file() and Path(owner.read_text("utf-8", "replace").strip()) == folder:
            yield _environment(f"pipenv's {path.name}", PROJECT, path, windows=windows)
            return
    yield Place(f"pipenv's folder {parent}", PROJECT, note="no environment of this project")


def _hatch(config: Mapping[str, Any], environment: Mapping[str, str], *, windows: bool) -> Iterator[Place]:
    """Hatch keeps `<data>/env/virtual/<project>/<hash>/<environment>`; the default one has the project's name."""
    name = re.sub(r"[-_.]+", "-", _name(config)).lower()
    home = _home(environment, windows=windows)
    if windows:
        data = Path(environment.get("LOCALAPPDATA") or home / "AppData/Local") / "hatch"
    elif sys.platform == "darwin":
        data = home / "Library/Application Support/hatch"
    else:
        data = Path(environment.get("XDG_DATA_HOME") or home / ".local/share") / "hatch"
    data = Path(environment.get("HATCH_DATA_DIR") or data)
    found = [path for hashed in _folders(data / "env/virtual" / name) for path in _folders(hashed)]
    found.sort(key=lambda path: ("test" not in path.name, path.name != name))
    for path in found:
        yield _environment(f"hatch's {path.name}", PROJECT, path, windows=windows)


def _conda(file: Path, environment: Mapping[str, str], *, windows: bool) -> Iterator[Place]:
    """The environment that environment.yml names, among those conda has listed in ~/.conda/environments.txt."""
    match = re.search(r"^name:\s*['\"]?([\w.-]+)", file.read_text("utf-8", "replace"), re.MULTILINE)
    listed = _home(environment, windows=windows) / ".conda/environments.txt"
    if match is None or not listed.is_file():
        return
    for line in listed.read_text("utf-8", "replace").splitlines():
        if Path(line.strip()).name == match[1]:
            yield _environment(f"conda's {match[1]}", PROJECT, Path(line.strip()), windows=windows)


def _active(environment: Mapping[str, str], *, windows: bool) -> Iterator[Place]:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = environment.get(name)
        if not folder:
            yield Place(name, ACTIVE, note="not set")
        elif Path(folder) == Path(sys.prefix):
            yield Place(f"{name} = {folder}", ACTIVE, note="is Regreen's own environment")
        else:
            yield _environment(f"{name} = {folder}", ACTIVE, Path(folder), windows=windows)


def _on_path(environment: Mapping[str, str], *, windows: bool) -> Iterator[Place]:
    """python3 and python of every folder on PATH that is not Regreen's own; stubs of the Windows shop left out."""
    own = Path(sys.prefix) if sys.prefix != sys.base_prefix else None
    seen: set[Path] = set()
    for part in environment.get("PATH", "").split(os.pathsep):
        for name in ("python.exe",) if windows else ("python3", "python"):
            path = Path(part) / name
            if not part or not path.is_file() or not os.access(path, os.X_OK):
                continue
            if path.resolve() in seen or (windows and path.stat().st_size == 0):
                continue
            if own is not None and path.parent.parent == own:
                yield Place(f"{path} on PATH", SYSTEM, note="is Regreen's own environment")
                continue
            seen.add(path.resolve())
            yield Place(f"{path} on PATH", SYSTEM, path)
