"""What do the questions to a model stand on, and what is the user asked about them?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from regreen.ports import Journal, ModelClient
from regreen.values import Message, ModelInfo

if TYPE_CHECKING:  # what prompts are made with need not be installed where no model is asked
    from regreen.llm.book import PromptBook
    from regreen.llm.consent import ConsentStore


@dataclass(frozen=True, slots=True)
class Sending:
    """What is about to leave for a model.

    Args:
        folder: the workspace that is asked for.
        info: the model and its provider.
        messages: the exact text of the first call, masked as it would be sent.
        tokens: how many it has.
        usd: the most that this call may cost; None when the price is not known.
        limit_usd: the most that the whole heal may.
    """

    folder: Path
    info: ModelInfo
    messages: tuple[Message, ...]
    tokens: int
    usd: float | None
    limit_usd: float


class Person(Protocol):
    """The user, where Regreen must ask. Nobody there means no."""

    @property
    def keys(self) -> Mapping[str, str]:
        """API keys that the user's client keeps: name of the variable → key. They go to the model's worker only."""
        ...

    @property
    def remembers(self) -> bool:
        """Whether what they allow holds for the next time, too; not where a command line says so for itself."""
        ...

    async def may_send(self, sending: Sending) -> bool | None:
        """Whether this may be sent; None: not now, but ask again another time."""
        ...

    async def review(self, title: str, text: str) -> str | None:
        """Show a plan or a patch: the text as it was approved, edited or not, or None when it was rejected."""
        ...


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What one server or command has for its models.

    Args:
        client: puts the questions.
        book: the prompts.
        journal: keeps what was asked, and what it cost.
        consents: what the user allowed before.
        person: the user.
        sendable: makes, of a project's folder and what git ignores in it, the question why a file must not be
            sent ("" when it may).
    """

    client: ModelClient
    book: PromptBook
    journal: Journal
    consents: ConsentStore
    person: Person
    sendable: Callable[[Path, AbstractSet[Path]], Callable[[Path], str]]


class Nobody:
    """Where no user can be asked."""

    keys: Mapping[str, str] = MappingProxyType({})
    remembers = False

    async def may_send(self, sending: Sending) -> bool | None:
        """No, but another time there may be somebody."""
        del sending
        return None

    async def review(self, title: str, text: str) -> str | None:
        """Nobody approves."""
        del title, text
        return None
