"""Every template repairs a real red test, and nothing it yields breaks what it must not touch."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from regreen import edits
from regreen.source import ProjectSources
from regreen.templates import CATALOGUE, candidates
from regreen.values import Candidate, Failure, Frame, Suspect

if TYPE_CHECKING:
    from conftest import Case, Red  # type: ignore[import-not-found]


def patched(sources: ProjectSources, candidate: Candidate) -> dict[Path, str]:
    """The texts of the files a candidate changes, as they are after it."""
    found: dict[Path, str] = {}
    for edit in candidate.edits:
        data = sources.data(edit.path)
        assert data is not None
        found[edit.path] = edits.decode(edits.apply_to_bytes(data, edit)).text
    return found


def wanted(red: Red) -> dict[Path, str]:
    """The texts that the row's diff changes, as they are after it."""
    case = red.case
    return {red.folder / name: text for name, text in case.after.items() if text != case.before[name]}


def test_the_table_covers_the_catalogue(cases: list[Case]) -> None:
    assert {case.template for case in cases} >= {template.name for template in CATALOGUE} - {
        "syntax.nested_quotes"
    }
    assert {case.template for case in cases} <= {template.name for template in CATALOGUE}


def test_the_catalogue_is_a_table_without_twins() -> None:
    assert len(CATALOGUE) >= 45
    assert len({template.name for template in CATALOGUE}) == len(CATALOGUE)
    assert all(0 < template.prior <= 1 for template in CATALOGUE)
    assert {template.kind for template in CATALOGUE} == {"cause", "guard", "literal", "deletion"}


def test_every_row_is_red_before(red: Red) -> None:
    assert red.failure.exception


def test_every_row_is_green_after(cases: list[Case], after_run: tuple[Path, dict[str, Any]]) -> None:
    _, record = after_run
    assert [(failure["nodeid"], failure["message"]) for failure in record["failures"]] == []
    ran = {node.partition("::")[0] for node in record["lines"]}
    assert ran == {case.test_name for case in cases}


def test_the_template_itself_yields_the_repair(red: Red) -> None:
    sources = red.sources
    only = candidates(red.failure, red.suspects, sources, lambda name: float(name == red.case.template))
    assert wanted(red) in [patched(sources, candidate) for candidate in only]


def test_the_whole_search_finds_the_repair_early(red: Red) -> None:
    sources = red.sources
    ranks = [rank for rank, one in enumerate(red.search(), 1) if patched(sources, one) == wanted(red)]
    assert ranks
    assert ranks[0] <= red.case.rank


def test_what_is_yielded_is_minimal_ordered_and_new(red: Red) -> None:
    sources = red.sources
    seen: set[tuple[tuple[Path, str], ...]] = set()
    scores: dict[str, list[float]] = {}
    for candidate in red.search():
        texts = patched(sources, candidate)
        key = tuple(sorted(texts.items()))
        assert key not in seen
        seen.add(key)
        scores.setdefault(candidate.template, []).append(candidate.score)
        assert candidate.title.count("\n") == 0
        for edit in candidate.edits:
            assert edit.path != red.failure.path
            old = sources.get(edit.path)
            assert old is not None
            assert texts[edit.path] != old.text
            for one in edit.edits:
                replaced = old.text[one.start : one.end]
                assert (
                    not replaced or not one.new or (replaced[0] != one.new[0] and replaced[-1] != one.new[-1])
                )
    assert all(of_one == sorted(of_one, reverse=True) for of_one in scores.values())


def test_a_title_shows_a_literal_as_it_is_written(red: Red) -> None:
    """Quotes and prefix included: a person compares the title with the diff."""
    for candidate in red.search():
        _, is_swap, new = candidate.title.partition("` → `")
        literal = new.rstrip("`")
        if is_swap and literal[-1:] in {"'", '"'} and "…" not in literal:
            after = "\n".join(patched(red.sources, candidate).values())
            assert " ".join(literal.split()) in " ".join(after.split()), (candidate.template, candidate.title)


def test_every_candidate_parses(red: Red) -> None:
    """For text that was not Python before, the template's first ideas must make it Python."""
    sources = red.sources
    broken = [path for path in sources.paths if not _parses((sources.data(path) or b"").decode())]
    bad = [
        (candidate.template, candidate.title)
        for candidate in red.search()
        if not broken and not all(_parses(text) for text in patched(sources, candidate).values())
    ]
    assert bad == []


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def test_crlf_files_get_the_same_repairs_with_crlf(red: Red) -> None:
    plain = red.sources
    files: Mapping[Path, bytes] = {
        path: (plain.data(path) or b"").replace(b"\n", b"\r\n") for path in plain.paths
    }
    sources = ProjectSources(files)
    only = candidates(red.failure, red.suspects, sources, lambda name: float(name == red.case.template))
    found = [patched(sources, candidate) for candidate in only]
    assert {path: text.replace("\n", "\r\n") for path, text in wanted(red).items()} in found
    for texts in found:
        for text in texts.values():
            assert text.replace("\r\n", "").count("\n") == 0


@pytest.mark.parametrize("name", ["test_shop.py", "shop_test.py", "conftest.py", "tests/helpers.py"])
def test_test_files_are_never_changed(name: str) -> None:
    root = Path("/p")
    test = root / "tests" / "test_all.py"
    text = b"def total(prices):\n    return prices[1] + pirce\n"
    frames = (Frame(test, 3, "test_total", own=True), Frame(root / name, 1, "total", own=True))
    failure = Failure("t", "call", "NameError", "name 'pirce' is not defined", frames, test, 2)
    suspects = [Suspect(root / name, 1, 1.0)]
    files = {root / name: text, test: b"from shop import total\ndef test_total():\n    total([1])\n"}
    assert list(candidates(failure, suspects, ProjectSources(files, root))) == []
    aimed = replace(failure, frames=(frames[0], replace(frames[1], path=root / "shop.py")))
    shop = {root / "shop.py": text, test: files[test]}
    assert list(candidates(aimed, [Suspect(root / "shop.py", 1, 1.0)], ProjectSources(shop, root)))


def test_a_template_weighed_down_to_nothing_is_not_tried(red: Red) -> None:
    family = red.case.template.partition(".")[0]
    without = candidates(
        red.failure,
        red.suspects,
        red.sources,
        lambda name: float(name.startswith(family) and name != red.case.template),
    )
    assert all(candidate.template != red.case.template for candidate in without)
