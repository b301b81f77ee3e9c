"""Which real parts do questions to a model stand on?"""

from __future__ import annotations

from regreen.errors import EnvironmentProblem
from regreen.llm.client import WorkerClient
from regreen.llm.parts import ModelParts, Person
from regreen.platform import dirs
from regreen.ports import Journal
from regreen.settings import Settings


def open_model(settings: Settings, journal: Journal, person: Person) -> ModelParts:
    """The parts for the model that the settings name.

    Raises:
        EnvironmentProblem: they name none, or what asking a model needs is not installed.
    """
    if not settings.llm_model:
        raise EnvironmentProblem(
            f"`regreen.llm.mode` is {settings.llm_mode}, and `regreen.llm.model` names no model.",
            "Name one as docs/models.md has it, or set the mode to off.",
        )
    try:
        from regreen.llm.book import PromptBook  # noqa: PLC0415 — what these stand on need not be installed
        from regreen.llm.consent import ConsentStore  # noqa: PLC0415
        from regreen.llm.excluded import exclusions  # noqa: PLC0415
        from regreen.llm.routing import RoutedClient  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise EnvironmentProblem(
            f"`regreen.llm.mode` is {settings.llm_mode}, and {error.name} is not installed beside Regreen.",
            'Install what it takes with `pip install "regreen[llm]"`, or set the mode to off.',
        ) from error
    worker = WorkerClient(keys=person.keys, tracing=settings.llm_mode != "localOnly")
    book = PromptBook(own=dirs.config_dir() / "prompts")
    return ModelParts(RoutedClient(worker), book, journal, ConsentStore(), person, exclusions)
