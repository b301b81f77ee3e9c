"""Which tests does a JUnit XML report say are red?"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from regreen.errors import UsageError

MAX_BYTES = 200_000_000


def red_tests(report: Path, root: Path) -> tuple[str, ...]:
    """The node ids of every failure and error in a report that pytest wrote with --junit-xml.

    pytest writes `classname="tests.test_cart.TestTotal" name="test_empty[1]"`; which of the dotted parts are
    folders is found by looking at the project. A collection error has the file's dotted name as its name.

    Args:
        report: the XML file.
        root: the project that its names are relative to.

    Raises:
        UsageError: the file cannot be read, or none of its red tests belongs to this project.
    """
    names = list(dict.fromkeys(_red_names(_parse(report))))
    found = [nodeid for classname, name in names if (nodeid := _nodeid(classname, name, root))]
    if names and not found:
        raise UsageError(
            f"None of the {len(names)} red tests in {report} is a test of {root}.",
            "Give the folder the report was made in.",
        )
    return tuple(dict.fromkeys(found))


def _parse(report: Path) -> ET.Element:
    try:
        if report.stat().st_size > MAX_BYTES:
            raise UsageError(f"{report} is larger than {MAX_BYTES // 1_000_000} MB.")
        data = report.read_bytes()
    except OSError as error:
        raise UsageError(f"{report} cannot be read: {error.strerror}.") from error
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        # Reports have no document type; one could only be there to blow up the parser.
        raise UsageError(f"{report} declares a document type, which no JUnit report does.")
    try:
        return ET.fromstring(data)  # noqa: S314 — without a document type there are no entities to expand
    except ET.ParseError as error:
        raise UsageError(
            f"{report} is not XML: {error}.", "pytest --junit-xml=FILE writes such a report."
        ) from error


def _red_names(root: ET.Element) -> Iterator[tuple[str, str]]:
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            yield case.get("classname", ""), case.get("name", "")


def _nodeid(classname: str, name: str, root: Path) -> str:
    """The node id of one testcase; empty when the project has no such file."""
    parts = [part for part in (classname or name).split(".") if part]
    for length in range(len(parts), 0, -1):
        file = "/".join(parts[:length]) + ".py"
        if (root / file).is_file():
            inner = parts[length:]
            return "::".join([file, *inner, name]) if classname else file
    return ""
