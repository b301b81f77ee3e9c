"""How is a run to be confined, and where does it find its copy?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from regreen.errors import EnvironmentProblem
from regreen.settings import Settings, services
from regreen.settings.services import Services
from regreen.values import Isolation, Project, RunRequest, WorkingCopy

MEGABYTE = 1_000_000
TEMP, SHARED = Path("/tmp"), Path("/dev/shm")  # noqa: S108 — the run's own, wherever it is fully isolated


def level_for(found: Isolation | None, settings: Settings) -> str:
    """The level at which the runs of a project are confined.

    Args:
        found: what was seen to hold on this machine; None where nobody looked.
        settings: of the project.

    Returns:
        "full" | "wrapped", which is "partial" inside bubblewrap | "partial" | "none".

    Raises:
        EnvironmentProblem: the settings ask for more than this machine can do.
    """
    level = "none" if found is None or settings.isolation == "none" else found.level
    if found is not None and found.wrapper and level == "partial":
        level = "wrapped"
    if settings.isolation == "full" and level != "full":
        why = f": {found.why}" if found is not None and found.why else ""
        raise EnvironmentProblem(
            f"Test runs cannot be fully isolated on this machine{why}.",
            "Set regreen.isolation.level to auto to run them with what is possible.",
        )
    return level


def refusal(request: RunRequest, level: str, settings: Settings) -> str:
    """Why a request is not run at a level, as `level_for` gives it; "" when it is."""
    if level != "none" or request.origin != "model" or settings.unconfined_models:
        return ""
    return (
        "what a language model wrote is not run where nothing confines it; "
        "the setting regreen.isolation.unconfinedModels allows it"
    )


def claimed(level: str, settings: Settings) -> str:
    """What may be said of a run that was confined at a level: with the network allowed, none is fully isolated."""
    return "partial" if level == "full" and settings.network else level


def in_force(found: Isolation | None, settings: Settings) -> Isolation:
    """What the confinement of runs is worth. Raises as `level_for` does."""
    level = level_for(found, settings)
    if settings.isolation == "none":
        return Isolation("none", why="the setting regreen.isolation.level turns it off")
    if found is None:
        return Isolation("none")
    if level == "none":
        return found
    if not settings.network:
        return _with_services(found, level, services.named(settings.services))
    leaks = tuple(dict.fromkeys(("network", *found.leaks)))
    why = "the setting regreen.isolation.network allows the network"
    return replace(found, level=claimed(found.level, settings), leaks=leaks, why=why)


def _with_services(found: Isolation, level: str, reached: Services) -> Isolation:
    """What is left of it where services are to be reached."""
    if not reached.addresses or level == "full":
        return replace(found, services=reached.texts())
    if level == "wrapped":
        why = "no TCP service of regreen.isolation.services can be reached from inside bubblewrap"
        return replace(found, services=reached.sockets, why="; ".join(filter(None, (found.why, why))))
    return replace(found, leaks=("ports", *found.leaks), services=reached.texts())


def as_seen(copy: WorkingCopy, level: str, *, relaxed: bool = False) -> WorkingCopy:
    """The copy as a run at this level sees it: a fully isolated one finds it where the project itself is.

    Args:
        copy: as it was leased.
        level: as `level_for` gives it.
        relaxed: as in the request.
    """
    if level != "full":
        return copy
    users = [user for user, _ in copy.roots]
    root = next(user for user, folder in copy.roots if folder == copy.copy_root)
    return WorkingCopy(root, SHARED if relaxed else TEMP, tuple((user, user) for user in users))


def wrap(project: Project, settings: Settings, copies: Path) -> dict[str, Any]:
    """The option `wrap` of a host: what is there inside bubblewrap.

    Args:
        project: whose tests.
        settings: of the project.
        copies: the folder of all copies.
    """
    sockets = [path for path in services.named(settings.services).sockets if Path(path).is_socket()]
    return {
        "project": str(project.workspace),
        "readable": [*_readable(project, settings), *sockets],
        "writable": [str(copies)],
        "network": settings.network,
    }


def _readable(project: Project, settings: Settings) -> list[str]:
    return [str(project.workspace), *(str(Path(path).expanduser()) for path in settings.readable)]


def plan(level: str, copy: WorkingCopy, request: RunRequest, settings: Settings) -> dict[str, Any]:
    """The field `confine` of the `run` message.

    Args:
        level: as `level_for` gives it.
        copy: as it was leased.
        request: what is to be run.
        settings: of the project.
    """
    snapshot = request.snapshot
    users = [user for user, _ in copy.roots]
    tops = [
        [str(folder), str(user)]
        for user, folder in copy.roots
        if not any(user != other and user.is_relative_to(other) for other in users)
    ]
    outside = [target for target in snapshot.links.values() if Path(target).is_absolute()]
    readable = [*_readable(snapshot.project, settings), *outside]
    reached = services.named(settings.services)
    return {
        "level": "partial" if level == "wrapped" else level,
        "copies": tops,
        "beneath": [str(path) for path in snapshot.beneath],
        "readable": readable,
        "network": settings.network or request.relaxed or level == "wrapped",  # there is another one
        "services": [[host, port] for host, port in reached.addresses],
        "sockets": list(reached.sockets),
        "relaxed": request.relaxed,
        "memory": int(settings.memory_megabytes * MEGABYTE),
        "processes": settings.processes,
        "disk": int(settings.disk_megabytes * MEGABYTE),
        "file": int(settings.disk_megabytes * MEGABYTE),
        "bytecode": "" if copy.bytecode is None else str(copy.bytecode),
        "keep_bytecode": request.is_unpatched,
    }
