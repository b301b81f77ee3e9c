"""Are cases read as they are written, and laid out as they are meant?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regreen.bench.cases import Case, digest, lay, load
from regreen.bench.grading import files_to_run
from regreen.errors import UsageError

LINE = {
    "id": "one",
    "module": "shop",
    "buggy": "x = 1\n",
    "tests_visible": "import shop\n",
    "tests_held_out": "1\n",
}


def lines(folder: Path, *cases: dict[str, str]) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return path


def folder_case(root: Path, **meta: object) -> Path:
    for name, text in (
        ("project/shop.py", "x = 1\n"),
        ("held_out/tests/test_more.py", ""),
        ("held_out/data.txt", ""),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "meta.json").write_text(json.dumps({"id": root.name, **meta}))
    return root


def test_a_line_becomes_a_project_and_the_tests_that_grade_it_stay_out_of_it(tmp_path: Path) -> None:
    (case,) = load(lines(tmp_path, LINE | {"tests_differential": "2\n"}))
    lay(case.project, tmp_path / "project")
    laid = {path.name: path.read_text() for path in (tmp_path / "project").iterdir()}
    assert laid == {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "shop.py": "x = 1\n",
        "test_shop.py": "import shop\n",
    }
    assert case.exams == ({"test_shop.py": "1\n"}, {"test_shop.py": "2\n"})


def test_empty_grading_tests_are_none(tmp_path: Path) -> None:
    (case,) = load(lines(tmp_path, LINE | {"tests_held_out": " \n"}))
    assert case.exams == ()


def test_a_folder_has_its_own_interpreter_tests_and_time(tmp_path: Path) -> None:
    root = folder_case(tmp_path / "click", red=["t.py::a"], interpreter="venv/bin/python", seconds=9)
    assert load(tmp_path) == (
        Case("click", root / "project", (root / "held_out",), ("t.py::a",), str(root / "venv/bin/python"), 9),
    )
    assert files_to_run(root / "held_out") == ("tests/test_more.py",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no cases"),
        ("{", "cases.jsonl:1 is not a case"),
        (json.dumps(LINE) + "\n[]\n", "cases.jsonl:2 is not a case"),
        (json.dumps({"id": "x"}), "KeyError: 'module'"),
        (f"{json.dumps(LINE)}\n\n{json.dumps(LINE)}\n", "several cases named one"),
    ],
)
def test_what_is_no_case_is_refused_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=complaint):
        load(path)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file or folder"):
        load(tmp_path / "nothing")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "meta.json").write_text('{"id": "half"}')
    with pytest.raises(UsageError, match="no folder `project`"):
        load(tmp_path)


def test_an_edited_case_is_another_one(tmp_path: Path) -> None:
    (line,) = load(lines(tmp_path, LINE))
    (edited,) = load(lines(tmp_path, LINE | {"tests_held_out": "2\n"}))
    assert digest(line) != digest(edited)
    root = folder_case(tmp_path / "cases" / "one")
    (before,) = load(root.parent)
    told = digest(before)
    (root / "project" / "shop.py").write_text("x = 10\n")
    assert digest(before) != told
