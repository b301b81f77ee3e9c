from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.errors import EnvironmentProblem
from regreen.oracle import envfile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1", {"A": "1"}),
        ("A=1\nB=2\n", {"A": "1", "B": "2"}),
        ("A=1\r\nB = two words \r\n", {"A": "1", "B": "two words"}),
        ("\ufeffA=1", {"A": "1"}),
        ("export A=1", {"A": "1"}),
        ("  A=1  # why", {"A": "1"}),
        ("A=a#b", {"A": "a#b"}),
        ("A=#", {"A": ""}),
        ("A=", {"A": ""}),
        ("A", {}),
        ("# nothing\n\n   \n#A=1", {}),
        ("A=1\nA=2", {"A": "2"}),
        ("A='x # $y \\n ${Z}'  # c", {"A": "x # $y \\n ${Z}"}),
        ('A="x # y\\n\\t\\"q\\" \\\\ \\z"', {"A": 'x # y\n\t"q" \\ \\z'}),
        ('A="two\nlines"\nB=1', {"A": "two\nlines", "B": "1"}),
        ("A='two\nlines'\nB=1", {"A": "two\nlines", "B": "1"}),
        (
            "A=x\nB=${A}y\nC=\"${A}z\"\nD='${A}'\nE=${NONE}",
            {"A": "x", "B": "xy", "C": "xz", "D": "${A}", "E": ""},
        ),
        ('A=x\nB="\\${A}"', {"A": "x", "B": "${A}"}),
        ("URL=postgres://u:p@h/d?x=1", {"URL": "postgres://u:p@h/d?x=1"}),
        ("A=it's", {"A": "it's"}),
        ("A.B=1", {"A.B": "1"}),
    ],
)
def test_reads_what_other_tools_read(text: str, expected: dict[str, str]) -> None:
    assert envfile.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [("A=1\n=2", 2), ("A=1\n\n?", 3), ("A='x", 1), ('A="x\n', 1), ("A='x' y", 1), ("A B", 1)],
)
def test_names_the_line_it_does_not_understand(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"line {line}:"):
        envfile.parse(text)


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
values = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]))


@given(st.dictionaries(names, values))
def test_any_value_survives_double_quotes(variables: dict[str, str]) -> None:
    def quote(value: str) -> str:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'

    assert (
        envfile.parse("\n".join(f"{name}={quote(value)}" for name, value in variables.items())) == variables
    )


@given(st.text(st.sampled_from("AB= \n\t'\"#\\${}x"), max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = envfile.parse(text)
    except ValueError as error:
        assert str(error).startswith("line ")  # noqa: PT017 — either result is right, a crash is not
    else:
        assert all(set(name) <= set("ABx") for name in found)


def test_a_file_that_is_missing_or_wrong_is_the_users_problem_with_a_hint(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    with pytest.raises(EnvironmentProblem, match="cannot be read") as missing:
        envfile.read(path)
    assert "regreen.envFile" in missing.value.hint
    path.write_bytes(b"A=\xff")
    with pytest.raises(EnvironmentProblem, match="not understood"):
        envfile.read(path)
    path.write_text("A='")
    with pytest.raises(EnvironmentProblem, match="line 1"):
        envfile.read(path)
    path.write_text("A=1")
    assert envfile.read(path) == {"A": "1"}
