"""What do the templates ask of a file or a function again and again? Each answer is found once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from regreen.source import Node, names


class Facts:
    """Answers about one piece of code: the whole file, or the body of one function."""

    def __init__(self, body: Node) -> None:
        self.body = body

    @cached_property
    def returned(self) -> tuple[Node, ...]:
        """The values of its `return` statements."""
        return tuple(v for node in self.body.walk() if node.kind == "return_statement" for v in node.named)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Its text literals of one line, without prefix, escapes and interpolations; docstrings left out."""
        found = (
            plain(node)
            for node in self.body.walk()
            if node.kind == "string"
            and node.parent is not None
            and node.parent.kind != "expression_statement"
        )
        return tuple(dict.fromkeys(text for text in found if text is not None and "\n" not in text))

    @cached_property
    def comparisons(self) -> tuple[Node, ...]:
        """Its comparisons of fewer than 60 characters."""
        return tuple(n for n in self.body.walk() if n.kind == "comparison_operator" and len(n.text) < 60)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Its number literals, each once."""
        return tuple(dict.fromkeys(n.text for n in self.body.walk() if n.kind in {"integer", "float"}))

    @cached_property
    def simple(self) -> tuple[Node, ...]:
        """Its expression statements of one line."""
        found = (n for n in self.body.walk() if n.kind == "expression_statement" and "\n" not in n.text)
        return tuple(found)

    @cached_property
    def attributes(self) -> dict[str, dict[str, int]]:
        """How often each attribute is taken of each expression (by its text); called ones included."""
        found: dict[str, dict[str, int]] = {}
        for node in self.body.walk():
            if node.kind == "attribute":
                holder, attribute = node.field("object"), node.field("attribute")
                if holder is not None and attribute is not None:
                    counts = found.setdefault(holder.text, {})
                    counts[attribute.text] = counts.get(attribute.text, 0) + 1
        return found

    @cached_property
    def attributes_read(self) -> frozenset[str]:
        """The names of the attributes that it reads, of whatever object."""
        found: set[str] = set()
        for node in self.body.walk():
            around = node.parent
            attribute = node.field("attribute") if node.kind == "attribute" else None
            if attribute is not None and (around is None or around.field("left") != node):
                found.add(attribute.text)
        return frozenset(found)

    @cached_property
    def called(self) -> frozenset[str]:
        """What it calls, as it is written: "make", "self.make", "item.make"."""
        functions = (node.field("function") for node in self.body.walk() if node.kind == "call")
        return frozenset(function.text for function in functions if function is not None)

    @cached_property
    def keywords(self) -> dict[str, dict[str, tuple[Node, ...]]]:
        """What its calls pass by keyword: function, as it is written → keyword → the values."""
        found: dict[str, dict[str, tuple[Node, ...]]] = {}
        for node in self.body.walk():
            around = (
                node.parent.parent if node.kind == "keyword_argument" and node.parent is not None else None
            )
            function = around.field("function") if around is not None else None
            label, value = node.field("name"), node.field("value")
            if function is not None and label is not None and value is not None:
                passed = found.setdefault(function.text, {})
                passed[label.text] = (*passed.get(label.text, ()), value)
        return found

    @cached_property
    def called_names(self) -> frozenset[str]:
        """The names of the methods that it calls, whatever they are called on."""
        return frozenset(text.rpartition(".")[2] for text in self.called if "." in text)

    @cached_property
    def interpolations(self) -> tuple[tuple[int, int, str], ...]:
        """The `{…}` of its f-strings: begin, end, and the quote that ends the literal around them."""
        found = (
            node for node in self.body.walk() if node.kind == "interpolation" and node.parent is not None
        )
        return tuple((*n.span, n.parent.children[-1].text[:1]) for n in found if n.parent is not None)

    @cached_property
    def values(self) -> dict[str, frozenset[str]]:
        """Which attributes that are not called are taken of each plain name."""
        found: dict[str, set[str]] = {}
        for node in self.body.walk():
            if node.kind != "attribute" or (node.parent is not None and node.parent.kind == "call"):
                continue
            holder, attribute = node.field("object"), node.field("attribute")
            if holder is not None and attribute is not None and holder.kind == "identifier":
                found.setdefault(holder.text, set()).add(attribute.text)
        return {name: frozenset(taken) for name, taken in found.items()}

    @cached_property
    def special_cases(self) -> dict[str, dict[str, frozenset[str]]]:
        """How single values of a name are replaced: `None if total == limit else total` by that name, and what it reads.

        Taken from conditional expressions, and from `if total == limit: total = None`.
        """
        found: dict[str, dict[str, frozenset[str]]] = {}
        for node in self.body.walk():
            if node.kind == "conditional_expression" and len(node.named) == 3 and len(node.text) < 60:
                body, condition, other = node.named
                pairs = [(name, node.text) for name in (body.text, other.text)]
            elif node.kind == "if_statement" and node.field("alternative") is None:
                condition = node.field("condition") or node
                pairs = list(_replacement(condition, node.field("consequence")))
            else:
                continue
            tested = {part.text for part in condition.walk() if part.kind in {"identifier", "attribute"}}
            for name, text in pairs:
                if name in tested:
                    found.setdefault(name, {})[text] = frozenset(names(node).read)
        return found


def _replacement(condition: Node, block: Node | None) -> Iterator[tuple[str, str]]:
    """`if total == limit: total = None` → ("total", "None if total == limit else total")."""
    only = block.named[0] if block is not None and len(block.named) == 1 else None
    inner = only.named[0] if only is not None and only.kind == "expression_statement" and only.named else None
    left = inner.field("left") if inner is not None and inner.kind == "assignment" else None
    right = inner.field("right") if inner is not None else None
    if left is None or right is None or right.kind not in _PLAIN or condition.kind != "comparison_operator":
        return
    text = f"{right.text} if {condition.text} else {left.text}"
    if len(text) < 60:
        yield left.text, text


_PLAIN = frozenset({"none", "true", "false", "integer", "float", "string", "list", "tuple", "dictionary"})


def plain(node: Node) -> str | None:
    """Return the text of a literal without prefix, escapes and interpolations; None for any other literal."""
    if node.kind != "string" or not node.children or node.children[0].text not in {'"', "'", '"""', "'''"}:
        return None
    inner = "".join(child.text for child in node.children if child.kind == "string_content")
    return None if "\\" in inner or any(child.kind == "interpolation" for child in node.children) else inner
