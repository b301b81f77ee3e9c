"""Which settings does a command use for a project?"""

from __future__ import annotations

from regreen.errors import UsageError
from regreen.settings import Settings, from_pyproject, merge
from regreen.values import Project


def settings_for(
    project: Project,
    *,
    interpreter: str = "",
    max_seconds: float | None = None,
    max_gigabytes: float | None = None,
) -> tuple[Settings, tuple[str, ...]]:
    """Defaults, what the repository restricts, and the command line over both.

    Args:
        project: whose pyproject.toml is read.
        interpreter: `--interpreter`; empty when it was not given.
        max_seconds: `--max-seconds`; None when it was not given.
        max_gigabytes: `--max-gigabytes`; None when it was not given.

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
    asked: dict[str, object] = {}
    if interpreter:
        asked["interpreter"] = interpreter
    if max_seconds is not None:
        asked["heal.maxSeconds"] = max_seconds
    if max_gigabytes is not None:
        asked["mirror.maxGigabytes"] = max_gigabytes
    settings, refused = merge(settings, asked, from_repository=False)
    if refused:
        raise UsageError(refused[0])
    return settings, told
