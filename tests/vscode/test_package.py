"""Is everything in the extension's package that a user needs without a network, and nothing else?"""

from __future__ import annotations

import email.parser
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from regreen import __version__

ROOT = Path(__file__).parents[2]
WHEELS = "extension/client-vscode/wheels/"
MADE_BY_VSCE = {
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/package.json",
    "extension/readme.md",
    "extension/changelog.md",
    "extension/LICENSE.txt",
}
NEEDED = {
    "extension/client-vscode/dist/extension.js",
    "extension/client-vscode/dist/serverConnection.js",
    "extension/docs/troubleshooting.md",
}
ALLOWED = ("extension/docs/*.md", "extension/docs/pictures/*.png")
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def linux(machine: str) -> list[str]:
    return [f"manylinux_2_{minor}_{machine}" for minor in range(28, 16, -1)] + [f"manylinux2014_{machine}"]


SYSTEMS = {  # what markers call it, and its platform tags
    "linux-x86_64": ("linux", linux("x86_64")),
    "linux-aarch64": ("linux", linux("aarch64")),
    "macos-x86_64": ("darwin", list(mac_platforms((11, 0), "x86_64"))),
    "macos-arm64": ("darwin", list(mac_platforms((11, 0), "arm64"))),
    "windows-amd64": ("win32", ["win_amd64"]),
}


def manifest(package: ZipFile) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(package.read("extension/package.json"))
    return loaded


@pytest.fixture
def package(vsix: Path) -> Iterator[ZipFile]:
    """The package, opened; that it was made at all means that nothing warned (see client-vscode/scripts/package.mjs)."""
    with ZipFile(vsix) as archive:
        yield archive


def test_it_is_named_by_the_version_of_the_server(vsix: Path, package: ZipFile) -> None:
    assert vsix.name == f"regreen-{__version__}.vsix"
    assert manifest(package)["version"] == __version__


def test_it_holds_what_it_needs_and_nothing_else(package: ZipFile) -> None:
    names = set(package.namelist())
    media = ROOT / "client-vscode" / "media"
    pictures = {
        f"extension/{p.relative_to(ROOT).as_posix()}"
        for p in media.rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }
    needed = MADE_BY_VSCE | NEEDED | pictures
    assert needed - names == set()
    rest = {name for name in names - needed if not any(fnmatch(name, pattern) for pattern in ALLOWED)}
    assert {name for name in rest if not re.fullmatch(re.escape(WHEELS) + r"[^/]+\.whl", name)} == set()


def test_it_is_no_bigger_than_it_must_be(vsix: Path, package: ZipFile) -> None:
    assert vsix.stat().st_size < 20_000_000


def test_the_manifest_is_that_of_the_repository(package: ZipFile) -> None:
    ours = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    packed = manifest(package)
    for key in ("name", "publisher", "engines", "main", "activationEvents", "capabilities", "contributes"):
        assert packed[key] == ours[key], key
    settings = {key for section in packed["contributes"]["configuration"] for key in section["properties"]}
    assert {"regreen.enable", "regreen.llm.mode"} <= settings
    assert {command["command"] for command in packed["contributes"]["commands"]} >= {"regreen.tryExample"}


def test_every_file_that_the_manifest_names_is_there(package: ZipFile) -> None:
    packed = manifest(package)
    named = {packed["main"], packed["icon"]}
    for walkthrough in packed["contributes"].get("walkthroughs", []):
        for step in walkthrough["steps"]:
            named |= {value for key, value in step["media"].items() if key != "altText"}
    names = set(package.namelist())
    assert {path for path in named if f"extension/{path.removeprefix('./')}" not in names} == set()


def test_every_file_that_the_readme_names_is_there(package: ZipFile) -> None:
    readme = package.read("extension/readme.md").decode()
    links = {link for link in re.findall(r"\]\(([^)#]+)", readme) if "://" not in link}
    names = set(package.namelist())
    assert {link for link in links if f"extension/{link}" not in names} == set()


@pytest.mark.parametrize(
    ("bundle", "loads", "bytes_at_most"),
    [("extension", {"./serverConnection"}, 60_000), ("serverConnection", set(), 600_000)],
)
def test_each_bundle_has_all_it_needs_and_the_one_that_is_loaded_at_once_is_small(
    package: ZipFile, tmp_path: Path, bundle: str, loads: set[str], bytes_at_most: int
) -> None:
    file = tmp_path / f"{bundle}.js"
    file.write_bytes(package.read(f"extension/client-vscode/dist/{bundle}.js"))
    subprocess.run(["node", "--check", str(file)], check=True, timeout=30)
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) < bytes_at_most
    assert "sourceMappingURL" not in text
    assert set(re.findall(r'require\("(\.[^"]*)"\)', text)) == loads


# ------------------------------------------------------------------ wheels


def test_regreen_is_there_at_this_version_and_pip_to_install_it(package: ZipFile) -> None:
    found = {name: version for name, version, _ in wheels(package)}
    assert found["regreen"] == Version(__version__)
    assert "pip" in found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_wheels_are_all_that_an_environment_takes(package: ZipFile, system: str, python: str) -> None:
    sys_platform, platforms = SYSTEMS[system]
    version = tuple(map(int, python.split(".")))
    interpreter = f"cp{python.replace('.', '')}"
    tags = {
        *cpython_tags(version, [interpreter], platforms),
        *compatible_tags(version, interpreter, platforms),
    }
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": sys_platform,
    }
    names = {name: f"{WHEELS}{path}" for name, path in fitting(package, tags)}

    pending, seen, missing = [Requirement("regreen")], set[str](), set[str]()
    while pending:
        requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({**environment, "extra": ""}):
            continue
        if name not in names:
            missing.add(str(requirement))
            continue
        found = parse_wheel_filename(names[name].rpartition("/")[2])[1]
        if not requirement.specifier.contains(found, prereleases=True):
            missing.add(f"{requirement} (there is {found})")
        if name not in seen:
            seen.add(name)
            pending += requirements(package, names[name], python)
    assert missing == set()


def wheels(package: ZipFile) -> Iterable[tuple[str, Version, str]]:
    """The name, the version and the file's name of each wheel."""
    for path in package.namelist():
        if path.startswith(WHEELS):
            file = path.removeprefix(WHEELS)
            name, version, _, _ = parse_wheel_filename(file)
            yield name, version, file


def fitting(package: ZipFile, tags: set[Tag]) -> Iterable[tuple[str, str]]:
    """The name and the file's name of each wheel that one Python on one system can use."""
    return [(name, file) for name, _, file in wheels(package) if parse_wheel_filename(file)[3] & tags]


def requirements(package: ZipFile, path: str, python: str) -> list[Requirement]:
    """What a wheel needs; that it is for this Python is checked on the way."""
    with ZipFile(BytesIO(package.read(path))) as wheel:
        file = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.parser.Parser().parsestr(wheel.read(file).decode())
    pythons = Requirement(f"python{metadata.get('Requires-Python', '')}").specifier
    assert pythons.contains(f"{python}.0"), f"{path} needs Python {pythons}"
    return [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
