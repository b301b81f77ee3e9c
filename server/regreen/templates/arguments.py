"""Arguments of calls and parameters of functions: order, number, names, and well-known missing ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from regreen.source import Function, Node
from regreen.templates.atoms import names_at
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, exchange, swap
from regreen.values import TextEdit

KINDS = frozenset({"call"})
MISSING = re.compile(r"(\w+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
TOO_MANY = re.compile(
    r"(\w+)\(\) takes (?:from \d+ to )?(\d+|no) (?:positional )?arguments? but (\d+) (?:was|were) given|takes no arguments"
)
UNEXPECTED = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")

KNOWN: dict[str, tuple[str, ...]] = {
    # function → arguments that are often forgotten
    "sorted": ("reverse=True", "key=len", "key=str.lower", "key=abs", "key=str", "key=lambda item: item[1]"),
    "sort": ("reverse=True", "key=len", "key=str.lower", "key=abs", "key=str", "key=lambda item: item[1]"),
    "max": ("default=0", "default=None", "key=len", "key=abs"),
    "min": ("default=0", "default=None", "key=len", "key=abs"),
    "enumerate": ("1", "start=1"),
    "split": ("','", "1", "None, 1"),
    "rsplit": ("1",),
    "open": ('encoding="utf-8"', '"w"', '"rb"', 'newline=""'),
    "read_text": ('encoding="utf-8"',),
    "write_text": ('encoding="utf-8"',),
    "encode": ('"utf-8"',),
    "decode": ('"utf-8"', 'errors="replace"'),
    "round": ("2", "1", "3"),
    "sum": ("0", "[]", "0.0"),
    "next": ("None",),
    "get": ("0", "None", '""', "[]", "{}", "False"),
    "pop": ("None", "0", "-1"),
    "getattr": ("None",),
    "int": ("2", "16", "10"),
    "dumps": ("default=str", "sort_keys=True", "ensure_ascii=False", "indent=2"),
    "makedirs": ("exist_ok=True",),
    "mkdir": ("parents=True", "exist_ok=True", "parents=True, exist_ok=True"),
    "unlink": ("missing_ok=True",),
    "zip": ("strict=True",),
    "replace": ("1",),
    "findall": ("re.IGNORECASE", "re.MULTILINE", "re.DOTALL"),
    "match": ("re.IGNORECASE", "re.MULTILINE", "re.DOTALL"),
    "search": ("re.IGNORECASE", "re.MULTILINE", "re.DOTALL"),
    "compile": ("re.IGNORECASE", "re.MULTILINE", "re.DOTALL"),
    "range": ("-1",),
    "strip": ("'/'", "'\\n'"),
    "print": ('end=""', 'sep=""'),
    "now": ("timezone.utc", "tz=timezone.utc"),
    "field": ("default_factory=list", "default_factory=dict"),
    "dataclass": ("frozen=True", "order=True", "eq=True"),
    "run": ("check=True", "text=True", "capture_output=True"),
}


def calls(site: Site, name: str = "") -> Iterator[tuple[Node, str, list[Node]]]:
    """Yield (call, simple name of what is called, arguments) of the statement's header."""
    for node in site.of("call"):
        function, listed = node.field("function"), node.field("arguments")
        if function is None or listed is None or listed.kind != "argument_list":
            continue
        simple = function.text.rpartition(".")[2]
        if not name or simple == name:
            yield node, simple, listed.named


def _add(call: Node, arguments: list[Node], text: str, at: int = -1) -> TextEdit:
    """Insert an argument; at the end, or before the argument numbered `at`."""
    if not arguments:
        listed = call.field("arguments") or call
        return TextEdit(listed.start + 1, listed.end - 1, text)
    if at < 0 or at >= len(arguments):
        return TextEdit(arguments[-1].end, arguments[-1].end, f", {text}")
    return TextEdit(arguments[at].start, arguments[at].start, f"{text}, ")


def _drop(arguments: list[Node], at: int) -> TextEdit:
    if at + 1 < len(arguments):
        return TextEdit(arguments[at].start, arguments[at + 1].start, "")
    start = arguments[at - 1].end if at else arguments[at].start
    return TextEdit(start, arguments[at].end, "")


def swapped(site: Site) -> Iterator[Change]:
    """`f(a, b)` → `f(b, a)`, and `f(x=a, y=b)` → `f(x=b, y=a)`."""
    for _, _, arguments in calls(site):
        single = [a for a in arguments if not a.kind.endswith("splat")]
        values = [a.field("value") or a if a.kind == "keyword_argument" else a for a in single]
        for low, one in enumerate(values):
            for high in range(low + 1, len(values)):
                other = values[high]
                if one.text != other.text and (high == low + 1 or len(values) <= 4):
                    share = 1.0 if high == low + 1 else 0.5
                    yield Change(
                        exchange(one, other), f"exchange the arguments `{one.text}` and `{other.text}`", share
                    )


def dropped(site: Site) -> Iterator[Change]:
    """`f(a, b)` → `f(a)`: one argument less."""
    for _, name, arguments in calls(site):
        for at, argument in enumerate(arguments):
            if (
                len(arguments) > 1
                or argument.kind == "keyword_argument"
                or name in {"split", "strip", "pop", "sort"}
            ):
                yield Change((_drop(arguments, at),), f"drop the argument `{argument.text}` of `{name}`")


def added(site: Site) -> Iterator[Change]:
    """`f(a)` → `f(a, b)` for functions of the project that take one more, with a value in scope."""
    for node, name, arguments in calls(site):
        function = next((f for f in site.file.functions if f.name == name), None)
        if function is None or any(a.kind.endswith("splat") for a in arguments):
            continue
        open_ = _open_parameters(function, arguments)
        named = any(argument.kind == "keyword_argument" for argument in arguments)
        for rank, parameter in enumerate(open_[:2]):
            for value in _values_for(site, parameter):
                text = f"{parameter}={value}" if rank or named else value
                yield Change(
                    (_add(node, arguments, text),),
                    f"pass `{text}` to `{name}`",
                    1.0 if value == parameter else 0.4,
                )


def _open_parameters(function: Function, arguments: list[Node]) -> list[str]:
    plain = [p.name for p in function.parameters if p.kind == "plain"]
    plain = plain[1:] if function.owner and plain else plain
    given = sum(1 for argument in arguments if argument.kind != "keyword_argument")
    named = {n.text for a in arguments if a.kind == "keyword_argument" for n in a.named[:1]}
    return [name for name in plain[given:] if name not in named]


def _values_for(site: Site, parameter: str) -> list[str]:
    usable = names_at(site)
    exact = [name for name in usable if name == parameter]
    close = difflib.get_close_matches(parameter, [n for n in usable if n != parameter], 2, 0.6)
    owner = site.file.class_named(site.function.owner) if site.function and site.function.owner else None
    own = [f"self.{parameter}"] if owner is not None and parameter in owner.attributes else []
    return list(dict.fromkeys([*exact, *own, *close, *usable[:3]]))


def missing(site: Site) -> Iterator[Change]:
    """TypeError `f() missing 1 required positional argument: 'x'`: pass x, or give the parameter a default."""
    match = MISSING.search(site.evidence.failure.message)
    if match is None:
        return
    name, wanted = match.group(1), re.findall(r"'(\w+)'", match.group(2))
    for node, _, arguments in calls(site):
        function = node.field("function")
        if function is None or function.text.rpartition(".")[2] not in {name, *_classes_with(site, name)}:
            continue
        places = sum(a.kind != "keyword_argument" for a in arguments)
        for value in _values_for(site, wanted[0]) if len(wanted) == 1 else ():
            given = _position(site, name, wanted[0])
            for text, at in ((value, given), (f"{wanted[0]}={value}", -1)):
                if text == value and (
                    "keyword-only" in match.group() or at > places or (at < 0 and len(arguments) > places)
                ):
                    continue
                yield Change(
                    (_add(node, arguments, text, at),),
                    f"pass `{text}` to `{name}`",
                    1.0 if value == wanted[0] else 0.3,
                )
        if wanted and all(w in names_at(site) for w in wanted) and len(wanted) > 1:
            text = ", ".join(wanted)
            yield Change((_add(node, arguments, text),), f"pass `{text}` to `{name}`")


def _classes_with(site: Site, method: str) -> list[str]:
    return [c.name for c in site.file.classes if method in {"__init__", c.name}]


def _position(site: Site, name: str, parameter: str) -> int:
    function = next((f for f in site.file.functions if f.name == name), None)
    if function is None:
        return -1
    names = [p.name for p in function.parameters]
    return names.index(parameter) - (1 if function.owner else 0) if parameter in names else -1


def optional(site: Site) -> Iterator[Change]:
    """TypeError `missing … argument: 'x'`: the definition gives x the default None."""
    match = MISSING.search(site.evidence.failure.message)
    if match is None:
        return
    wanted = re.findall(r"'(\w+)'", match.group(2))
    for path in site.sources.defining(match.group(1)) or (site.file.path,):
        file = site.sources.get(path)
        functions = [f for f in file.functions if f.name == match.group(1)] if file else []
        for function in functions:
            edits = tuple(
                TextEdit(p.node.end, p.node.end, " = None" if p.annotation else "=None")
                for p in function.parameters
                if p.name in wanted and p.default is None and p.kind == "plain"
            )
            if not edits:
                continue
            title = f"make `{', '.join(wanted)}` of `{function.name}` optional"
            if path == site.file.path:
                yield Change(edits, title)
            else:
                yield Change((), title, others=((path, edits),))


def too_many(site: Site) -> Iterator[Change]:
    """TypeError `takes 1 positional argument but 2 were given`: drop one, or a method lacks `self`."""
    match = TOO_MANY.search(site.evidence.failure.message)
    if match is None:
        return
    for _, simple, arguments in calls(site):
        if not match.group(1) or simple == match.group(1):
            for at in reversed(range(len(arguments))):
                yield Change(
                    (_drop(arguments, at),), f"drop the argument `{arguments[at].text}` of `{simple}`", 0.5
                )


def missing_self(site: Site) -> Iterator[Change]:
    """A method without `self` in the class that the failing call is about: add it, or make it static."""
    match = TOO_MANY.search(site.evidence.failure.message) or MISSING.search(site.evidence.failure.message)
    name = match.group(1) if match else ""
    for path in dict.fromkeys((site.file.path, *_files_of(site))):
        file = site.sources.get(path)
        for function in file.functions if file is not None else ():
            if not function.owner or (name and function.name != name):
                continue
            first = function.parameters[0].name if function.parameters else ""
            if first in {"self", "cls", "mcs"} or any("static" in d.text for d in function.decorators):
                continue
            listed = function.node.field("parameters")
            if listed is None:
                continue
            receiver = "cls" if any("classmethod" in d.text for d in function.decorators) else "self"
            text = f"{receiver}, " if function.parameters else receiver
            edit = TextEdit(listed.start + 1, listed.start + 1, text)
            title = f"give `{function.qualname}` its `{receiver}`"
            if path == site.file.path:
                yield Change((edit,), title)
            else:
                yield Change((), title, others=((path, (edit,)),))


def _files_of(site: Site) -> list[Path]:
    return [frame.path for frame in site.evidence.failure.frames]


def keyword(site: Site) -> Iterator[Change]:
    """TypeError `unexpected keyword argument 'x'`: the nearest parameter's name, or no such argument."""
    match = UNEXPECTED.search(site.evidence.failure.message)
    if match is None:
        return
    name, wrong = match.group(1), match.group(2)
    hints = site.evidence.failure.hints
    near = [one.strip() for one in hints.get("near", "").split(",") if one.strip()]
    near += _MEANT.findall(site.evidence.failure.message)
    for path in site.sources.defining(name):
        file = site.sources.get(path)
        for function in file.functions if file else ():
            if function.name == name:
                near += difflib.get_close_matches(wrong, [p.name for p in function.parameters], 3, 0.4)
    for _, _, arguments in calls(site):
        for at, argument in enumerate(arguments):
            label = argument.field("name") if argument.kind == "keyword_argument" else None
            if label is None or label.text != wrong:
                continue
            for rank, new in enumerate(dict.fromkeys(near)):
                if new.isidentifier():
                    yield Change((swap(label, new),), arrow(f"{wrong}=", f"{new}="), 1 / (1 + 0.5 * rank))
            yield Change((_drop(arguments, at),), f"drop the argument `{argument.text}`", 0.3)


_MEANT = re.compile(r"[Dd]id you mean:? '(\w+)'")


def known(site: Site) -> Iterator[Change]:
    """Arguments that are often forgotten: `reverse=True`, `key=…`, `default=…`, `encoding="utf-8"` …."""
    for node, name, arguments in calls(site):
        present = {n.text for a in arguments if a.kind == "keyword_argument" for n in a.named[:1]}
        positional = [a for a in arguments if a.kind != "keyword_argument"]
        for rank, text in enumerate(KNOWN.get(name, ())):
            label = text.partition("=")[0] if re.match(r"\w+=", text) else ""
            if label in present and label:
                continue
            if not label and (present or len(positional) > (2 if name == "range" else 1)):
                continue
            if name == "int" and site.evidence.exception != "ValueError":
                continue  # a base is only missing where the digits did not fit
            if text.startswith("re.") and "re" not in site.file.names.bound:
                continue
            yield Change((_add(node, arguments, text),), f"pass `{text}` to `{name}`", 1 / (1 + 0.25 * rank))
