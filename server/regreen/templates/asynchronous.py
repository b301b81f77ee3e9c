"""Coroutines: a missing `await`, a function that must be async, one that must not."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Function, Node
from regreen.templates.model import Change, Site
from regreen.templates.placing import insertion
from regreen.templates.rewrite import arrow, swap
from regreen.values import TextEdit


def _async_functions(site: Site) -> set[str]:
    """Names of the coroutine functions that this file defines or imports from the project."""
    found = {function.name for function in site.file.functions if function.is_async}
    for one in site.file.imports:
        path = site.sources.module_file(one.module, site.file.path)
        file = site.sources.get(path) if path is not None else None
        if file is not None:
            found |= {function.name for function in file.functions if function.is_async}
    return found | {"sleep", "gather", "wait_for"} if "asyncio" in site.file.names.bound else found


def missing_await(site: Site) -> Iterator[Change]:
    """`x = fetch()` → `x = await fetch()`; in a plain function that function becomes async, too."""
    known = _async_functions(site)
    speaks = "coroutine" in site.evidence.failure.message or "coroutine" in site.evidence.actual
    for node in site.of("call"):
        called = node.field("function")
        around = node.parent
        if called is None or around is None or around.kind == "await" or site.function is None:
            continue
        name = called.text.rpartition(".")[2]
        if name not in known and not (speaks and site.function.is_async):
            continue
        text = f"await {node.text}"
        if (
            around.kind in {"attribute", "subscript", "binary_operator", "comparison_operator", "call"}
            and around.kind != "argument_list"
        ):
            text = f"({text})"
        share = 1.0 if name in known else 0.4
        edits = [swap(node, text)]
        if site.function.is_async:
            yield Change(tuple(edits), arrow(node.text, f"await {node.text}"), share)
            continue
        edits.append(_made_async(site.function))
        yield Change(
            tuple(sorted(edits)), f"`await {name}(…)` in an async `{site.function.name}`", share * 0.7
        )
        run = [swap(node, f"asyncio.run({node.text})")]
        if "asyncio" not in site.file.names.bound:
            run.append(insertion(site.file, "import asyncio", site.sources))
        yield Change(tuple(sorted(run)), arrow(node.text, f"asyncio.run({node.text})"), share * 0.6)


def _made_async(function: Function) -> TextEdit:
    return TextEdit(function.node.start, function.node.start, "async ")


def make_async(site: Site) -> Iterator[Change]:
    """SyntaxError `'await' outside async function`: the function around becomes async."""
    if site.function is not None and not site.function.is_async:
        yield Change((_made_async(site.function),), f"make `{site.function.name}` async")


def drop_await(site: Site) -> Iterator[Change]:
    """TypeError `object int can't be used in 'await' expression`: no `await`."""
    for node in site.of("await"):
        inner = node.named[0] if node.named else None
        if inner is not None:
            yield Change((TextEdit(node.start, inner.start, ""),), arrow(node.text, inner.text))


def make_sync(site: Site) -> Iterator[Change]:
    """A function that the test calls without `await` and that awaits nothing: not async."""
    function = site.function
    if (
        function is None
        or not function.is_async
        or any(node.kind == "await" for node in function.body.walk())
    ):
        return
    token = next((child for child in function.node.children if child.kind == "async"), None)
    if token is not None:
        yield Change((TextEdit(token.start, token.end + 1, ""),), f"make `{function.name}` a plain function")


def loops_and_contexts(site: Site) -> Iterator[Change]:
    """`for` over an async generator → `async for`; `with` → `async with`; and back."""
    statement = site.statement
    if statement.kind not in {"for_statement", "with_statement"}:
        return
    first = statement.children[0]
    if first.kind == "async":
        yield Change((TextEdit(first.start, first.end + 1, ""),), arrow("async", ""))
    elif site.function is not None and site.function.is_async:
        word = "for" if statement.kind == "for_statement" else "with"
        yield Change((TextEdit(statement.start, statement.start, "async "),), arrow(word, f"async {word}"))


def comprehension(site: Site) -> Iterator[Change]:
    """`[x for x in agen()]` → `[x async for x in agen()]`."""
    node: Node
    for node in site.of("for_in_clause"):
        if node.children and node.children[0].kind != "async":
            yield Change((TextEdit(node.start, node.start, "async "),), arrow("for", "async for"))
