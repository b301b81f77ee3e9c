"""Which tests were red when somebody else ran them: pytest's own cache, or a JUnit report of a build?"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from regreen.errors import UsageError
from regreen.values import Project
from regreen.workspace import pytest_config

MOST_BYTES = 200_000_000
"""A larger report is refused."""


@dataclass(frozen=True, slots=True)
class KnownFailures:
    """Red tests of a report.

    Args:
        nodeids: relative to the project's root, each once, in the report's order.
        unmatched: names of the report for which there is no file in the project.
    """

    nodeids: tuple[str, ...]
    unmatched: tuple[str, ...] = ()


def last_failed(project: Project) -> KnownFailures:
    """The node ids that pytest remembers as failed; none when it remembers nothing. Blocks.

    The cache is where the project's `cache_dir` says, relative to its root, else in `.pytest_cache`.
    """
    try:
        data = json.loads((cache_folder(project) / "v" / "cache" / "lastfailed").read_bytes())
    except (OSError, ValueError):
        return KnownFailures(())
    names = [name for name in data if isinstance(name, str)] if isinstance(data, dict) else []
    here = {name: (project.root / name.partition("::")[0]).exists() for name in names}
    return KnownFailures(
        tuple(name for name, known in here.items() if known),
        tuple(name for name, known in here.items() if not known),
    )


def cache_folder(project: Project) -> Path:
    """Where pytest keeps its cache for this project."""
    options = pytest_config.options(project.config_file) if project.config_file else None
    chosen = str((options or {}).get("cache_dir") or ".pytest_cache")
    added = (options or {}).get("addopts") or []
    try:
        words = shlex.split(added) if isinstance(added, str) else [str(word) for word in added]
    except ValueError:  # pytest will say that the quotes do not match
        words = []
    for word in words:  # `-o cache_dir=x`, `-ocache_dir=x`, `--override-ini=cache_dir=x`
        _, found, value = word.partition("cache_dir=")
        chosen = value if found else chosen
    return project.root / os.path.expandvars(chosen)


def junit(project: Project, report: Path) -> KnownFailures:
    """The failed and broken tests of a JUnit XML report, as node ids. Blocks.

    pytest writes `tests.test_cart.TestTotal` where the node id has `tests/test_cart.py::TestTotal`; which dots
    were slashes is found out from the files that exist.

    Raises:
        UsageError: the file cannot be read or is no such report.
    """
    nodeids: dict[str, None] = {}
    unmatched: dict[str, None] = {}
    for case in _parse(report).iter("testcase"):
        if case.find("failure") is None and case.find("error") is None:
            continue
        name, scope = case.get("name", ""), case.get("classname", "")
        nodeid = _nodeid(project.root, scope, name, case.get("file", ""))
        if nodeid:
            nodeids[nodeid] = None
        else:
            unmatched[f"{scope}.{name}".strip(".")] = None
    return KnownFailures(tuple(nodeids), tuple(unmatched))


def _parse(report: Path) -> ET.Element:
    try:
        if report.stat().st_size > MOST_BYTES:
            raise UsageError(f"{report} is too large for a JUnit report.")
        data = report.read_bytes()
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise UsageError(f"{report} declares entities, which no JUnit report needs.")
        root = ET.fromstring(data)  # noqa: S314 — it declares no entities
    except OSError as error:
        raise UsageError(f"{report} cannot be read: {error.strerror}.") from error
    except ET.ParseError as error:
        raise UsageError(
            f"{report} is not a JUnit report: {error}.", "pytest writes one with --junitxml."
        ) from error
    if root.tag not in {"testsuites", "testsuite"}:
        raise UsageError(f"{report} is not a JUnit report: it begins with <{root.tag}>.")
    return root


def _nodeid(root: Path, scope: str, name: str, file: str) -> str:
    """One test's node id; empty when no file of the project fits."""
    parts = scope.split(".") if scope else []
    for start in range(len(parts)):  # a --junit-prefix or the folders above the project may come first
        best = max(_files(root, "", ".".join(parts[start:])), key=lambda pair: len(pair[0]), default=None)
        if best is not None:
            classes = best[1].split(".") if best[1] else []
            return "::".join((best[0], *classes, name))
    # A file that could not be collected is a test of no class (or only of a prefix), named like a module.
    whole = next((found for found, rest in _files(root, "", name) if not rest), "")
    if whole:
        return whole
    steps = [step for step in file.replace("\\", "/").split("/") if step not in {"", "."}]
    for start in range(len(steps)):
        relative = "/".join(steps[start:])
        if ".." not in steps and (root / relative).is_file():
            return f"{relative}::{name}"
    return ""


def _files(folder: Path, inside: str, dotted: str) -> Iterator[tuple[str, str]]:
    """Files below `folder` whose dotted path begins `dotted`: their path, and what is left (the classes).

    Names of folders and files may hold dots themselves, so the disk is asked instead of the text being cut.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = f"{inside}{entry.name}"
        stem = entry.name.removesuffix(".py")
        if entry.is_dir():
            if dotted.startswith(f"{entry.name}."):
                yield from _files(folder / entry.name, f"{path}/", dotted[len(entry.name) + 1 :])
        elif dotted == stem or dotted.startswith(f"{stem}."):
            yield path, dotted[len(stem) + 1 :]
