"""What may a file of recorded answers say? (Its format is described in docs/models-scripted.md.)"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from regreen.errors import UserError
from regreen.values import ModelProblem, Role

T = TypeVar("T")

FREE = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Answer:
    """One recorded answer.

    Args:
        role: None for every role.
        when: must be found in the prompt; None for every prompt.
        text: the reply; with a problem, what there is of it.
        problem: what goes wrong instead.
        detail: the provider's words about it.
        prompt_tokens, completion_tokens: None to have them counted.
        seconds: how long it takes.
        repeat: it is never used up.
    """

    text: str = ""
    role: Role | None = None
    when: re.Pattern[str] | None = None
    problem: ModelProblem | None = None
    detail: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    repeat: bool = False

    def fits(self, role: Role | None, prompt: str) -> bool:
        """Whether it is one to a prompt of a role."""
        return self.role in (None, role) and (self.when is None or self.when.search(prompt) is not None)


@dataclass(frozen=True, slots=True)
class Script:
    """A whole file.

    Args:
        price: USD of one token (input, output); None for an unknown one.
        context: the context window in tokens.
        address: where the model pretends to be; "" for this machine.
    """

    answers: tuple[Answer, ...]
    price: tuple[float, float] | None = FREE
    context: int = 8192
    address: str = ""


def parse(text: str, path: Path) -> Script:
    """Read the text of a file.

    Raises:
        UserError: it is not as it should be, with the line; or PyYAML is not installed.
    """
    try:
        import yaml  # noqa: PLC0415 — an extra of those who use models
    except ImportError as error:
        raise UserError(
            f"{path} cannot be read: PyYAML is not installed.",
            'Install it beside Regreen: pip install "regreen[llm]".',
        ) from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        _refuse(path, mark.line if mark is not None else 0, f"is not YAML: {error.problem}")
    except yaml.YAMLError as error:  # letters that YAML does not have
        _refuse(path, 0, f"is not YAML: {error}")
    return _script(_Reader(path, yaml.SafeLoader(""), yaml.YAMLError), node)


class _Reader:
    """Reads values of nodes, and refuses others with the line."""

    def __init__(self, path: Path, loader: Any, unreadable: type[Exception]) -> None:
        self._path = path
        self._loader = loader
        self._unreadable = unreadable

    def refuse(self, node: Any, what: str) -> NoReturn:
        line = 0 if node is None else node.start_mark.line
        _refuse(self._path, line, what)

    def fields(self, node: Any, known: Mapping[str, Any], of: str) -> dict[str, Any]:
        """The nodes of an object by name."""
        if node is None or node.id != "mapping":
            self.refuse(node, f"{of} must be written as name: value")
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            if key.id != "scalar" or name not in known:
                self.refuse(key, f"{of} knows no {json.dumps(name)}, only {', '.join(known)}")
            if name in found:
                self.refuse(key, f"{of} has {name} twice")
            found[name] = value
        return found

    def items(self, node: Any, of: str) -> Iterator[Any]:
        if node.id != "sequence" or not node.value:
            self.refuse(node, f"{of} must be a list with at least one entry")
        yield from node.value

    def value(self, node: Any, wanted: str, read: Callable[[Any], T]) -> T:
        """The value of a node; `read` raises ValueError where it is not what is wanted."""
        if node.id != "scalar":
            self.refuse(node, f"needs {wanted} here")
        try:
            return read(self._loader.construct_object(node))
        except (ValueError, self._unreadable) as error:  # a date that does not exist, a tag that nobody knows
            why = f" ({error.args[0]})" if isinstance(error, ValueError) and error.args else ""
            self.refuse(node, f"needs {wanted} here, not {json.dumps(str(node.value))}{why}")


def _script(reader: _Reader, node: Any) -> Script:
    fields = reader.fields(node, {"answers": 0, "price": 0, "context": 0, "address": 0}, "the file")
    if "answers" not in fields:
        reader.refuse(node, "the file lacks answers")
    answers = tuple(_answer(reader, one) for one in reader.items(fields["answers"], "answers"))
    values: dict[str, Any] = {}
    if "price" in fields:
        values["price"] = _price(reader, fields["price"])
    if "context" in fields:
        values["context"] = reader.value(fields["context"], "a whole number from 1", _at_least(1))
    if "address" in fields:
        values["address"] = reader.value(fields["address"], "the name of a host", _text)
    return Script(answers, **values)


def _price(reader: _Reader, node: Any) -> tuple[float, float] | None:
    if node.id == "scalar":
        return reader.value(node, "unknown, or input and output", _unknown)
    names = ("input", "output")
    fields = reader.fields(node, dict.fromkeys(names), "price")
    for name in names:
        if name not in fields:
            reader.refuse(node, f"price lacks {name}")
    read, written = (reader.value(fields[name], "a number from 0", _amount) for name in names)
    return read, written


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError


def _pattern(value: Any) -> re.Pattern[str]:
    try:
        return re.compile(_text(value), re.MULTILINE)
    except re.error as error:
        raise ValueError(str(error)) from error


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError


def _amount(value: Any) -> float:
    # PyYAML takes 1e-6 for a text, as YAML 1.1 wants a dot
    if not isinstance(value, bool) and isinstance(value, (int, float, str)):
        number = _number(value)
        if math.isfinite(number) and number >= 0:
            return number
    raise ValueError


def _number(value: float | str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError from None  # its words repeat the value


def _at_least(least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not isinstance(value, bool) and isinstance(value, int) and value >= least:
            return value
        raise ValueError

    return read


def _unknown(value: Any) -> None:
    if value != "unknown":
        raise ValueError


_FIELDS: Mapping[str, tuple[str, str, Callable[[Any], Any]]] = {
    "role": ("role", "a role (" + ", ".join(role.value for role in Role) + ")", Role),
    "when": ("when", "a regular expression", _pattern),
    "text": ("text", "text", _text),
    "problem": ("problem", "a problem (" + ", ".join(one.value for one in ModelProblem) + ")", ModelProblem),
    "detail": ("detail", "text", _text),
    "seconds": ("seconds", "a number from 0", _amount),
    "repeat": ("repeat", "true or false", _truth),
}
"""Of an answer: name → (field of `Answer`, what is wanted, how it is read)."""
_TOKENS = {"prompt": "prompt_tokens", "completion": "completion_tokens"}


def _answer(reader: _Reader, node: Any) -> Answer:
    fields = reader.fields(node, {**_FIELDS, "tokens": 0}, "an answer")
    if "text" not in fields and "problem" not in fields:
        reader.refuse(node, "an answer lacks text or problem")
    values = {
        field: reader.value(fields[name], wanted, read)
        for name, (field, wanted, read) in _FIELDS.items()
        if name in fields
    }
    if "tokens" in fields:
        for name, count in reader.fields(fields["tokens"], _TOKENS, "tokens").items():
            values[_TOKENS[name]] = reader.value(count, "a whole number from 0", _at_least(0))
    return Answer(**values)


def _refuse(path: Path, line: int, what: str) -> NoReturn:
    raise UserError(
        f"{path}, line {line + 1}: {what}.", "The format is described in docs/models-scripted.md."
    )
