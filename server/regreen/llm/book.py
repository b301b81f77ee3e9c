"""What exactly is said to a model in each role?

Prompts are YAML files, one for each role: `version`, `system` (its first line is "Role: " and the role), `template`
(jinja2, rendered strictly), `reply` (the JSON schema of the answer, or null for free text), and for the repairer
`strategies` (name → what it asks for). A file of the same name in the user's own folder takes the place of ours. Files
are read when they are first needed, and again when they have changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
import jinja2.meta
import jinja2.sandbox
import jsonschema
import yaml

from regreen.errors import UserError
from regreen.llm.fence import RULE, fenced
from regreen.values import Diagnosis, Message, Role

OURS = Path(__file__).with_name("prompts")
"""The folder of the prompts that come with Regreen."""

_NEEDED = object()

VALUES: Mapping[Role, Mapping[str, Any]] = MappingProxyType(
    {
        Role.DEBUGGER: {
            "evidence": _NEEDED,
            "tools": _NEEDED,
            "steps_left": _NEEDED,
            "steps": (),
            "hint": "",
            "again": None,
        },
        Role.REPAIRER: {
            "evidence": _NEEDED,
            "files": _NEEDED,
            "strategy": _NEEDED,
            "diagnosis": None,
            "lessons": (),
            "hint": "",
            "again": None,
        },
        Role.CRITIC: {
            "evidence": _NEEDED,
            "diff": _NEEDED,
            "passing": _NEEDED,
            "docstring": "",
            "again": None,
        },
        Role.SUMMARISER: {"evidence": _NEEDED, "outcome": _NEEDED, "diff": "", "again": None},
        Role.JUDGE: {"evidence": _NEEDED, "facts": (), "hint": "", "again": None},
    }
)
"""By role the values that a template may use, with what stands for those that are not given.

`evidence`: text of `evidence.joined`, which is fenced already; everything else is fenced by the template. `tools`: each
with `name`, `arguments`, `does`. `steps`: each with `think`, `tool`, `arguments`, `observation`. `again`: the `reply`
that was refused and the `problem` with it, a `Refusal`'s text. `hint`: the user's own words, which are not fenced.
"""

_KEYS = ("version", "system", "template", "reply")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt, ready to be masked and sent.

    Args:
        messages: the system's and the user's.
        schema: of the reply; None for free text.
        version: of the prompt file: its own version and a digest of its text.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    version: str


@dataclass(frozen=True, slots=True)
class _Prompt:
    """One file, read and checked. `stamp`: when and how long it was."""

    stamp: tuple[int, int]
    path: Path
    system: str
    template: jinja2.Template
    schema: Mapping[str, Any] | None
    strategies: Mapping[str, str]
    version: str


class PromptBook:
    """The prompts of all roles.

    Args:
        folder: where every role has a file.
        own: the user's folder, whose files come first; None, or a folder that is not there, for none.
    """

    def __init__(self, folder: Path = OURS, own: Path | None = None) -> None:
        self._folder = folder
        self._own = own
        self._read: dict[Path, _Prompt] = {}
        self._environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # what is made is no HTML
        )
        self._environment.filters.update(fenced=fenced, json=_json, told=_told)

    def render(self, role: Role, **values: Any) -> Rendered:
        """Write the prompt of a role.

        Args:
            role: as what the model is asked.
            values: those of `VALUES`.

        Raises:
            UserError: the file cannot be used, or its template fails; it says which file and why.
            TypeError: the values are not those of the role.
        """
        known = VALUES[role]
        missing = [name for name, value in known.items() if value is _NEEDED and name not in values]
        if missing or not values.keys() <= known.keys():
            raise TypeError(f"values of {role.value}: {sorted(values)}, not {sorted(known)}")
        prompt = self._prompt(role)
        given = {**known, **values, "strategies": prompt.strategies}
        if prompt.strategies and given.get("strategy") not in prompt.strategies:
            raise _useless(prompt.path, f"it has no strategy {given.get('strategy')!r}")
        try:
            text = prompt.template.render(given)
        except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise _useless(prompt.path, f"its template fails: {error}") from error
        messages = (Message("system", f"{prompt.system}\n\n{RULE}"), Message("user", text.strip() + "\n"))
        return Rendered(messages, prompt.schema, prompt.version)

    def strategies(self) -> tuple[str, ...]:
        """Return the names of the repairer's strategies, in the order of the file.

        Raises:
            UserError: the file cannot be used.
        """
        return tuple(self._prompt(Role.REPAIRER).strategies)

    def schema(self, role: Role) -> Mapping[str, Any] | None:
        """Return the schema of a role's replies.

        Raises:
            UserError: the file cannot be used.
        """
        return self._prompt(role).schema

    def _prompt(self, role: Role) -> _Prompt:
        path = self._folder / f"{role.value}.yaml"
        if self._own is not None and (self._own / path.name).exists():
            path = self._own / path.name
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            known = self._read.get(path)
            if known is None or known.stamp != stamp:
                known = self._read[path] = self._load(role, path, stamp)
        except (OSError, UnicodeError) as error:
            raise _useless(path, f"it cannot be read: {error}") from error
        return known

    def _load(self, role: Role, path: Path, stamp: tuple[int, int]) -> _Prompt:
        text = path.read_text("utf-8")
        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise _useless(path, f"it is not YAML: {' '.join(str(error).split())}") from error
        if wrong := _wrong(role, found):
            raise _useless(path, wrong)
        strategies = dict(found.get("strategies", {}))
        try:
            tree = self._environment.parse(found["template"])
            template = self._environment.from_string(found["template"])
        except jinja2.TemplateSyntaxError as error:
            raise _useless(path, f"line {error.lineno} of its template is wrong: {error.message}") from error
        unknown = jinja2.meta.find_undeclared_variables(tree) - VALUES[role].keys() - {"strategies"}
        if unknown:
            raise _useless(
                path,
                f"its template asks for {_listed(unknown)}; known are {_listed(VALUES[role].keys())}",
            )
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return _Prompt(
            stamp,
            path,
            found["system"].strip(),
            template,
            found["reply"],
            MappingProxyType(strategies),
            f"{found['version']}+{digest}",
        )


def _wrong(role: Role, found: Any) -> str:
    """Say why what a file holds is no prompt of a role; "" when it is one."""
    if not isinstance(found, dict):
        return f"it must hold the keys {_listed(_KEYS)}"
    needed = {*_KEYS, "strategies"} if role is Role.REPAIRER else set(_KEYS)
    if unknown := found.keys() - needed:
        return f"it has unknown keys: {_listed(map(str, unknown))}"
    if missing := needed - found.keys():
        return f"it lacks {_listed(missing)}"
    if isinstance(found["version"], bool) or not isinstance(found["version"], int | str):
        return "`version` must be a number or a word"
    for key in ("system", "template"):
        if not isinstance(found[key], str) or not found[key].strip():
            return f"`{key}` must be text"
    if found["system"].lstrip().splitlines()[0].strip() != f"Role: {role.value}":
        return f"the first line of `system` must be `Role: {role.value}`"
    strategies = found.get("strategies", {"": ""})
    if not isinstance(strategies, dict) or not strategies:
        return "`strategies` must name at least one"
    if not all(isinstance(name, str) and isinstance(text, str) for name, text in strategies.items()):
        return "each of `strategies` must be text"
    return _wrong_schema(role, found["reply"])


def _wrong_schema(role: Role, schema: Any) -> str:
    if role is Role.REPAIRER:
        return "" if schema is None else "`reply` must be null: a repairer answers in free text"
    if not isinstance(schema, dict):
        return "`reply` must be a JSON schema"
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return f"`reply` is no JSON schema: at {error.json_path}, {error.message}"
    return ""


def _useless(path: Path, why: str) -> UserError:
    return UserError(
        f"The prompt file {path} cannot be used: {why}.",
        "Mend it; one of your own may also be deleted, and Regreen's is used again.",
    )


def _listed(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _told(diagnosis: Diagnosis) -> str:
    """A diagnosis as lines; the number of its line counts from 1, as all in prompts do."""
    known = asdict(diagnosis)
    known["line"] = diagnosis.line + 1
    order = ("category", "path", "line", "variable", "value", "cause", "plan")
    return "\n".join(f"{name}: {known[name]}" for name in order if known[name] != "")
