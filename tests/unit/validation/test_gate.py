"""A candidate that could harm, cheat or break the module is refused before it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import edits
from regreen.source import ProjectSources
from regreen.validation.gate import Gate
from regreen.validation.hazards import dangerous
from regreen.validation.literals import Value
from regreen.values import Candidate, Suspect

FILE = Path("/project/shop.py")


def refusal(before: str, after: str, *, literals: frozenset[Value] = frozenset(), protected: str = "") -> str:
    data = before.encode()
    sources = ProjectSources({FILE: data}, Path("/project"))
    gate = Gate(sources, lambda _: protected, literals)
    candidate = Candidate((edits.file_edit(FILE, data, after),), "t", "t", 1.0, Suspect(FILE, 0, 1.0))
    return gate.examine(candidate, {FILE: after.encode()}).refusal


BODY = "import os\n\ndef total(items):\n    return sum(items) - 1\n\ndef names():\n    return []\n"


def changed(old: str, new: str) -> str:
    assert old in BODY
    return BODY.replace(old, new)


def test_an_ordinary_repair_passes() -> None:
    assert refusal(BODY, changed(" - 1", "")) == ""


@pytest.mark.parametrize(
    ("new", "word"),
    [
        ("return eval('1')", "eval"),
        ("return __import__('os')", "__import__"),
        ("open('x', 'w'); return 1", "writing"),
        ("return os.system('ls')", ".system"),
        ("os.kill(1, 9)", ".kill"),
        ("from os import system as s; s('ls')", "os.system"),
        ("path.write_text('x')", ".write_text"),
    ],
)
def test_newly_added_dangerous_constructs_are_refused(new: str, word: str) -> None:
    assert word in refusal(BODY, changed("return sum(items) - 1", new))


def test_a_dangerous_construct_that_was_there_already_does_not_count() -> None:
    before = "def go(items):\n    eval('1')\n    return len(items) - 1\n"
    assert refusal(before, before.replace(" - 1", "")) == ""


def test_a_method_that_is_called_like_a_dangerous_function_is_none() -> None:
    assert refusal(BODY, changed("sum(items) - 1", "re.compile(items)")) == ""


def test_a_word_completed_by_a_deletion_is_seen() -> None:
    before = "def evals(x):\n    return x\n\ndef go():\n    return evals('1')\n"
    assert "eval" in refusal(before, before.replace("return evals(", "return eval("))


def test_a_top_level_name_may_not_disappear() -> None:
    assert "removes names" in refusal(BODY, changed("def names", "def name"))


def test_elided_code_is_refused() -> None:
    after = changed("    return sum(items) - 1", "    # ... existing code ...\n    return 1")
    assert "left out" in refusal(BODY, after)


def test_a_result_that_is_not_python_is_refused() -> None:
    assert "not valid" in refusal(BODY, changed("sum(items)", "sum(items"))


def test_a_repair_of_a_file_that_is_not_python_yet_may_run() -> None:
    broken = "def total(items)\n    return 1\n"
    assert refusal(broken, broken.replace("(items)", "(items):")) == ""


def test_answering_the_tests_own_input_with_its_own_answer_is_refused() -> None:
    after = changed("    return sum", "    if items == 'abc':\n        return 42\n    return sum")
    assert "own answer" in refusal(BODY, after, literals=frozenset({"'abc'", 42}))
    assert refusal(BODY, after, literals=frozenset({"'xyz'"})) == ""


BULK = """def percent(quantity):
    if quantity == 3:
        return 1
    if quantity > 10:
        return 5
    return 0
"""


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ("quantity > 10", "quantity >= 10", False),
        ("quantity > 10", "quantity > 9", False),
        ("quantity == 3:\n        return 1", "quantity == 3:\n        return 2", False),
        ("quantity > 10", "quantity == 10", True),
        ("quantity > 10", "quantity in (10, 11)", True),
        ("    return 0", "    if quantity == 10:\n        return 5\n    return 0", True),
    ],
)
def test_moving_a_bound_of_the_projects_own_branch_is_no_special_case(
    old: str, new: str, refused: bool
) -> None:
    after = BULK.replace(old, new)
    reason = refusal(BULK, after, literals=frozenset({9, 10, 5, 0, 3}))
    assert ("own answer" in reason) is refused


def test_a_protected_file_is_named_with_its_reason() -> None:
    assert (
        refusal(BODY, changed(" - 1", ""), protected="tests are read-only") == "shop.py: tests are read-only"
    )


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("os.remove(path)", "os.remove"),
        ("shutil.rmtree(path)", "shutil.rmtree"),
        ("subprocess.run(['x'])", "subprocess.run"),
        ("open(path, 'w').write(x)", "open"),
        ("Path(path).write_text(x)", "Path(path).write_text"),
        ("requests.post(path)", "requests.post"),
        ("len(path)", ""),
        ("open(path).read()", ""),
    ],
)
def test_functions_that_delete_overwrite_spawn_or_send_are_recognised(body: str, found: str) -> None:
    sources = ProjectSources({FILE: f"def go(path, x):\n    {body}\n".encode()}, Path("/project"))
    parsed = sources.get(FILE)
    assert parsed is not None
    assert dangerous(parsed, 1) == found
