"""What is a probe asked? The messages of docs/internals/wire.md that name a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regreen import edits
from regreen.oracle.records import Paths, Preload
from regreen.values import CanaryPoint, Project, RunRequest, WorkingCopy


def run_message(
    project: Project,
    request: RunRequest,
    copy: WorkingCopy,
    paths: Paths,
    confine: Mapping[str, Any],
    *,
    args: tuple[str, ...],
    temp: Path,
    environment: Mapping[str, str],
    park: bool = False,
) -> dict[str, Any]:
    """The `run` message.

    Args:
        project: whose tests.
        request: what is to be run.
        copy: where, as the run sees it.
        paths: of the copy.
        confine: how it is to be confined.
        args: node ids that are left to run; empty for the project's own selection.
        temp: a folder for this run alone; made when it is not there.
        environment: variables to set.
        park: stop once the tests are collected.
    """
    return {
        "op": "run",
        "cwd": str(copy.copy_root),
        "rootdir": str(copy.copy_root),
        "roots": [[str(user), str(folder)] for user, folder in copy.roots],
        "args": list(args),
        "leave_out": list(request.leave_out),
        "temp": str(temp),
        "env": dict(environment),
        "overlaid": [str(paths.copy(path)) for path in request.overlay],
        "spectrum": request.spectrum or park or bool(request.compare),
        "collect_only": request.collect_only,
        "park": park,
        "details": request.details,
        "stop_first": request.stop_at_first_failure,
        "known_red": list(request.known_red),
        "canaries": _places(request.canaries, paths),
        "observe": _places(request.observe, paths),
        "observe_during": list(request.observe_during),
        "compare": [swapped(overlay, paths) for overlay in request.compare],
        "synthesise": _places(request.synthesise, paths),
        "synthesise_seconds": request.synthesise_seconds,
        "kind": project.kind,
        "confine": dict(confine),
    }


def preload_message(what: Preload, environment: Mapping[str, str]) -> dict[str, Any]:
    """The `preload` message.

    Args:
        what: to import.
        environment: variables to set first; the runs' own.
    """
    return {
        "op": "preload",
        "modules": list(what.modules),
        "never": list(what.never),
        "env": dict(environment),
    }


def hot_message(request: RunRequest, park: int, paths: Paths, *, temp: Path) -> dict[str, Any]:
    """The `hot` message for a request that overlays one file, or none.

    Args:
        request: what is to be run.
        park: the id of the parked run.
        paths: of its copy.
        temp: a folder for this run alone, as it sees it; made, and removed afterwards.

    Raises:
        UnreadableText: the overlay is no text.
    """
    where = swapped(request.overlay, paths) if request.overlay else {"path": "", "text": ""}
    return {"op": "hot", "park": park, **where, "temp": str(temp)}


def swapped(overlay: Mapping[Path, bytes], paths: Paths) -> dict[str, str]:
    """The `path` and `text` of an overlay of one file.

    Raises:
        UnreadableText: it is no text.
    """
    ((path, data),) = overlay.items()
    return {"path": str(paths.copy(path)), "text": edits.decode(data).text}


def _places(points: tuple[CanaryPoint, ...], paths: Paths) -> list[dict[str, Any]]:
    return [{"path": str(paths.copy(point.path)), "line": point.line + 1} for point in points]
