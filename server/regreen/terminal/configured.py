"""Which settings does a command use for a project?"""

from __future__ import annotations

from collections.abc import Mapping

from regreen.errors import UsageError
from regreen.settings import Settings, from_pyproject, merge
from regreen.values import Project


def settings_for(project: Project, asked: Mapping[str, object]) -> tuple[Settings, tuple[str, ...]]:
    """Defaults, what the repository restricts, and the command line over both.

    Args:
        project: whose pyproject.toml is read.
        asked: settings of the command line, by key ("isolation.network").

    Returns:
        The settings, and a sentence for each thing in pyproject.toml that is not used.

    Raises:
        UsageError: what the command line says makes no sense.
    """
    path = project.root / "pyproject.toml"
    text = path.read_text("utf-8", errors="replace") if path.is_file() else ""
    values, problem = from_pyproject(text)
    settings, complaints = merge(Settings(), values, from_repository=True)
    told = tuple(f"{path}: {sentence}" for sentence in [*([problem] if problem else []), *complaints])
    settings, refused = merge(settings, asked, from_repository=False)
    if refused:
        raise UsageError(refused[0])
    return settings, told
