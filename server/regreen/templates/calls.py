"""Calls: easily confused functions, ones that are missing around a value, and ones too many."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Node, Role, role_of
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, replace_lines, stands_alone, swap

KINDS = frozenset({"call"})

CONFUSABLE: tuple[tuple[str, ...], ...] = (
    ("append", "extend", "insert", "add", "update"), ("lower", "upper", "title", "capitalize", "casefold", "swapcase"),
    ("islower", "isupper"), ("isdigit", "isnumeric", "isdecimal", "isalnum", "isalpha"), ("min", "max", "sum"),
    ("any", "all"), ("floor", "ceil", "round", "trunc", "int"), ("strip", "lstrip", "rstrip"),
    ("removeprefix", "removesuffix", "lstrip", "rstrip"), ("keys", "values", "items"), ("sorted", "reversed"),
    ("sort", "reverse"), ("startswith", "endswith"), ("index", "find", "rfind", "rindex"), ("split", "rsplit", "splitlines", "partition"),
    ("match", "search", "fullmatch"), ("findall", "finditer"), ("pop", "popleft", "popitem", "remove"), ("appendleft", "append"),
    ("union", "intersection", "difference", "symmetric_difference"), ("issubset", "issuperset"), ("remove", "discard"),
    ("ljust", "rjust", "center"), ("str", "repr"), ("int", "float"), ("list", "tuple"), ("bin", "hex", "oct"),
    ("ord", "chr"), ("map", "filter"), ("zip", "zip_longest"), ("dumps", "dump"), ("loads", "load"), ("join", "split"),
    ("read", "readlines", "readline"), ("encode", "decode"), ("permutations", "combinations", "product"), ("getattr", "hasattr"),
    ("isinstance", "issubclass"), ("heappush", "heappop"), ("bisect_left", "bisect_right"), ("now", "utcnow", "today"),
    ("sqrt", "cbrt", "isqrt"), ("sin", "cos", "tan"), ("log", "log2", "log10"), ("get", "pop", "setdefault"), ("mean", "median", "mode"),
    ("stdev", "pstdev"), ("variance", "pvariance"), ("basename", "dirname"), ("exists", "isfile", "isdir"), ("count", "index"),
    ("most_common", "elements"), ("degrees", "radians"), ("lru_cache", "cached_property"), ("copy", "deepcopy"), ("enter", "exit"),
)  # fmt: skip

_VALUE_PARENTS = frozenset({
    "return_statement", "argument_list", "comparison_operator", "for_statement", "for_in_clause", "binary_operator",
    "assignment", "augmented_assignment", "keyword_argument", "expression_list", "yield", "tuple", "list", "subscript",
    "parenthesized_expression", "pair", "interpolation",
})  # fmt: skip
_TARGETS = frozenset({"assignment", "augmented_assignment", "for_statement", "for_in_clause"})
_VALUES = frozenset({
    "identifier", "call", "subscript", "attribute", "binary_operator", "list_comprehension", "generator_expression",
    "string", "integer", "float",
})  # fmt: skip
_WRAPPERS: dict[str, tuple[str, ...]] = {
    # type of the value → functions that are put around it
    "int": ("str", "abs", "float", "range"),
    "float": ("round", "int", "abs", "str"),
    "number": ("abs", "int", "round", "str", "float"),
    "str": ("int", "list", "set", "float", "len", "sorted", "reversed"),
    "list": ("sorted", "set", "len", "tuple", "sum", "max", "min", "list", "reversed", "enumerate"),
    "tuple": ("list", "sorted", "set", "len", "sum"),
    "set": ("list", "sorted", "len", "sum"),
    "dict": ("list", "sorted", "len", "dict"),
    "sized": ("sorted", "set", "len", "list", "sum", "max", "min", "tuple", "enumerate"),
    "bool": ("int", "str"),
    "range": ("list",),
    "": (
        "str",
        "int",
        "list",
        "abs",
        "sorted",
        "set",
        "len",
        "float",
        "tuple",
        "round",
        "sum",
        "bool",
        "max",
        "min",
    ),
}


def confusable(site: Site) -> Iterator[Change]:
    """A function → one it is easily confused with: append/extend, min/max, strip/rstrip …."""
    for node in site.of("call", "attribute"):
        function = node.field("function") if node.kind == "call" else _handed_on(node)
        name = (
            function.field("attribute") if function is not None and function.kind == "attribute" else function
        )
        if name is None or name.kind != "identifier":
            continue
        builtin = function is not None and function.kind == "identifier"
        others = [
            other for group in CONFUSABLE if name.text in group for other in group if other != name.text
        ]
        for rank, new in enumerate(dict.fromkeys(others)):
            if builtin and new not in _BUILTIN and new not in site.file.names.bound:
                continue
            if builtin and _calls_already(node, new):
                continue
            yield Change((swap(name, new),), arrow(name.text, new), 1 / (1 + 0.25 * rank))


def _handed_on(node: Node) -> Node | None:
    """The attribute itself if it is assigned, passed or returned, as a method may be: `match = pattern.match`."""
    around = node.parent
    return (
        node
        if around is not None
        and around.kind in {"assignment", "argument_list", "keyword_argument", "return_statement"}
        and node != around.field("left")
        else None
    )


_BUILTIN = frozenset({
    "min", "max", "sum", "any", "all", "round", "int", "float", "str", "repr", "list", "tuple", "set", "sorted", "reversed",
    "bin", "hex", "oct", "ord", "chr", "map", "filter", "zip", "getattr", "hasattr", "isinstance", "issubclass",
})  # fmt: skip


def values(site: Site) -> Iterator[Node]:
    """Yield the expressions of the statement's header whose value is used: what can be wrapped or replaced."""
    for node in site.of(*_VALUES):
        around = node.parent
        if around is None or around.kind not in _VALUE_PARENTS:
            continue
        if node in (around.field("left"), around.field("type")) and around.kind in _TARGETS:
            continue
        if around.kind == "subscript" and around.field("value") == node:
            continue
        if node.kind == "identifier" and role_of(node) is not Role.READ:
            continue
        yield node


def wrap(site: Site) -> Iterator[Change]:
    """`x` → `str(x)`, `sorted(x)`, `abs(x)` …, by the type of x and by how the values differ."""
    wanted = _wanted(site)
    for node in values(site):
        if node.kind in {"string", "integer", "float"} and "str" not in wanted:
            continue
        type_ = site.scope.type_of(node)
        around = node.parent
        for rank, name in enumerate(_WRAPPERS.get(type_, _WRAPPERS[""])):
            inner = node.text[1:-1] if node.kind == "generator_expression" else node.text
            if node.kind == "generator_expression" and around is not None and around.kind == "argument_list":
                continue
            if _calls_already(node, name) or _called(node) == name:
                continue
            new = f"{name}({inner})"
            share = 1.0 if name in wanted else 0.5 / (1 + 0.3 * rank)
            if around is not None and around.kind == "return_statement":
                share *= 1.5
            yield Change((swap(node, new),), arrow(node.text, new), min(1.0, share))
            if (
                name == "set"
                and type_ not in {"int", "float", "number"}
                and not _calls_already(node, "sorted")
            ):
                both = f"sorted(set({inner}))"
                yield Change((swap(node, both),), arrow(node.text, both), share * 0.6)


def _called(node: Node) -> str:
    """The text of what a call calls; "" for anything else."""
    function = node.field("function") if node.kind == "call" else None
    return function.text if function is not None else ""


def _calls_already(node: Node, name: str) -> bool:
    """Whether a function is called right around an expression or with the call's own arguments: once is enough."""
    listed = node.field("arguments") if node.kind == "call" else None
    inner = listed.named[0] if listed is not None and len(listed.named) == 1 else None
    around = node.parent.parent if node.parent is not None and node.parent.kind == "argument_list" else None
    alone = node.parent is not None and len(node.parent.named) == 1
    return (inner is not None and _called(inner) == name) or (
        around is not None and alone and _called(around) == name
    )


def _wanted(site: Site) -> frozenset[str]:
    """Functions that would turn the actual value into the expected one, as far as can be seen."""
    evidence = site.evidence
    found: set[str] = set()
    shapes = evidence.shapes
    if shapes & {"container", "type"}:
        found.add(type(evidence.expected_value).__name__)
    for shape, names in (
        ("order", ("sorted", "reversed")),
        ("duplicates", ("set",)),
        ("sign", ("abs",)),
        ("nearly", ("round",)),
    ):
        if shape in shapes or f"items {shape}" in shapes:
            found.update(names)
    message = evidence.failure.message
    if evidence.exception == "TypeError" and ("str" in message or "concatenate" in message):
        found |= {"str", "int"}
    if evidence.exception == "TypeError" and "integer" in message:
        found.add("int")
    if evidence.exception == "RuntimeError" and "changed size" in message:
        found.add("list")
    return frozenset(found)


def unwrap(site: Site) -> Iterator[Change]:
    """`f(x)` → `x`, `x.f()` → `x`: a call too many."""
    for node in site.of("call"):
        function, listed = node.field("function"), node.field("arguments")
        if function is None or listed is None or listed.kind != "argument_list":
            continue
        around = node.parent
        if around is not None and around.kind == "expression_statement":
            continue
        if (
            function.kind == "identifier"
            and len(listed.named) >= 1
            and listed.named[0].kind not in {"keyword_argument", "list_splat", "dictionary_splat"}
        ):
            yield Change((swap(node, atom(listed.named[0])),), arrow(node.text, listed.named[0].text))
        holder = function.field("object") if function.kind == "attribute" else None
        if holder is not None and holder.text not in {"self", "cls"} and holder.kind != "string":
            yield Change((swap(node, holder.text),), arrow(node.text, holder.text))


_TEXT_METHODS = ("lower()", "strip()", "upper()", "split()", "rstrip()", "lstrip()")
_LIST_METHODS = ("copy()",)
_DICT_METHODS = ("items()", "values()", "keys()", "copy()")


def method(site: Site) -> Iterator[Change]:
    """`x` → `x.lower()`, `x.strip()`, `x.items()` …, by the type of x."""
    for node in values(site):
        type_ = site.scope.type_of(node)
        if node.kind in {"integer", "float", "binary_operator", "generator_expression"}:
            continue
        methods = {"str": _TEXT_METHODS, "dict": _DICT_METHODS, "list": _LIST_METHODS}.get(type_, ())
        if not type_:
            methods = (*_TEXT_METHODS[:3], "items()", "values()")
        if type_ == "sized":
            methods = ("lower()", "items()", "values()", "copy()", "split()")
        if node.kind == "string" and site.evidence.exception != "TypeError":
            continue
        for rank, name in enumerate(methods):
            new = f"{atom(node)}.{name}"
            yield Change(
                (swap(node, new),), arrow(node.text, new), (1.0 if type_ == "str" else 0.6) / (1 + 0.3 * rank)
            )


def encode(site: Site) -> Iterator[Change]:
    """TypeError about bytes and text: `.encode()` or `.decode()`."""
    for node in values(site):
        for name in ("encode", "decode") if node.kind not in {"integer", "float"} else ():
            new = f"{atom(node)}.{name}()"
            yield Change((swap(node, new),), arrow(node.text, new))


_IN_PLACE = {
    "sort": "sorted({0}{1})",
    "reverse": "{0}[::-1]",
    "append": "{0} + [{2}]",
    "extend": "{0} + {2}",
    "update": "{{**{0}, **{2}}}",
}


def in_place(site: Site) -> Iterator[Change]:
    """`x = xs.sort()`, `return xs.sort()`: the method works in place and returns None."""
    statement = site.statement
    for node in site.of("call"):
        function, listed = node.field("function"), node.field("arguments")
        around = node.parent
        if function is None or listed is None or function.kind != "attribute" or around is None:
            continue
        holder, name = function.field("object"), function.field("attribute")
        if holder is None or name is None or around.kind not in {"assignment", "return_statement"}:
            continue
        if name.text not in {*_IN_PLACE, "add", "insert", "remove", "clear", "discard"}:
            continue
        keywords = "".join(f", {argument.text}" for argument in listed.named)
        values_ = ", ".join(argument.text for argument in listed.named)
        if name.text in _IN_PLACE:
            new = _IN_PLACE[name.text].format(holder.text, keywords, values_)
            yield Change((swap(node, new),), arrow(node.text, new))
        if stands_alone(site.file, statement):
            if around.kind == "return_statement":
                code = f"{node.text}\nreturn {holder.text}"
                yield Change(
                    (replace_lines(site.file, statement, code),), f"`{node.text}` first, then return", 0.9
                )
            elif around.field("left") is not None and (around.field("left") or node).text == holder.text:
                yield Change(
                    (replace_lines(site.file, statement, node.text),), arrow(statement.text, node.text)
                )


def aggregate(site: Site) -> Iterator[Change]:
    """`xs[-1]` → `sum(xs)`, `max(xs)` …: the whole was meant, not one item."""
    for node in site.of("subscript"):
        value, index = node.field("value"), node.fields("subscript")
        if value is None or len(index) != 1 or index[0].kind not in {"integer", "unary_operator"}:
            continue
        for rank, name in enumerate(("sum", "max", "min", "len")):
            new = f"{name}({value.text})"
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.5 * rank))
