"""Which real parts do questions to a model stand on?"""

from __future__ import annotations

from regreen.errors import EnvironmentProblem
from regreen.llm.parts import ModelParts, Person
from regreen.platform import dirs
from regreen.ports import Journal, ModelClient
from regreen.settings import Settings

SCRIPTED = "scripted:"


def open_model(settings: Settings, journal: Journal, person: Person) -> ModelParts | None:
    """The parts for the model that the settings name; None where they name none.

    Raises:
        EnvironmentProblem: what asking a model needs is not installed.
        UserError: a file of prompts or of scripted answers makes no sense.
    """
    if settings.llm_mode == "off" or not settings.llm_model:
        return None
    try:
        from regreen.llm.book import PromptBook  # noqa: PLC0415 — what these stand on need not be installed
        from regreen.llm.consent import ConsentStore  # noqa: PLC0415
        from regreen.llm.excluded import exclusions  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise EnvironmentProblem(
            f"`regreen.llm.mode` is {settings.llm_mode}, and {error.name} is not installed beside Regreen.",
            'Install what it takes with `pip install "regreen[llm]"`, or set the mode to off.',
        ) from error
    book = PromptBook(own=dirs.config_dir() / "prompts")
    return ModelParts(_client(settings, person), book, journal, ConsentStore(), person, exclusions)


def _client(settings: Settings, person: Person) -> ModelClient:
    if settings.llm_model.startswith(SCRIPTED):
        from regreen.llm.scripted import ScriptedClient  # noqa: PLC0415 — needs yaml

        return ScriptedClient()
    from regreen.llm.client import WorkerClient  # noqa: PLC0415 — only where it is used

    return WorkerClient(keys=person.keys, tracing=settings.llm_mode != "localOnly")
