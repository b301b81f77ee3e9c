"""Text goes through Regreen without losing a byte that nobody meant to change."""

from __future__ import annotations

import codecs
import os
import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen import edits
from regreen.edits import ColumnUnit, LineIndex, Position, Text
from regreen.errors import UnreadableText
from regreen.values import FileEdit, TextEdit

CHARACTERS = st.sampled_from(list("ab \t\f\v\x85\u2028\u00e9\u4e2d\U0001f600\u0301\r\n")) | st.just("\r\n")
TEXTS = st.lists(CHARACTERS, max_size=40).map("".join)
LATIN = st.lists(st.sampled_from(list("ab é\xa0\xff\t\r\n\f")), max_size=30).map("".join)


@given(TEXTS, st.booleans())
def test_utf8_bytes_survive_decoding_and_encoding(text: str, bom: bool) -> None:
    data = (codecs.BOM_UTF8 if bom else b"") + text.encode()
    decoded = edits.decode(data)
    assert decoded == Text(text, "utf-8", bom)
    assert edits.encode(decoded) == data


@given(LATIN, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_coding_line_decides_the_encoding_whatever_the_line_end(text: str, newline: str) -> None:
    data = f"# -*- coding: latin-1 -*-{newline}{text}".encode("latin-1")
    decoded = edits.decode(data)
    assert decoded.encoding == "iso8859-1"
    assert decoded.text.endswith(text)
    assert edits.encode(decoded) == data


@given(TEXTS)
def test_every_codec_is_written_back_exactly_or_refused(text: str) -> None:
    for codec in ("utf-7", "shift_jis", "cp1252", "iso2022_jp"):
        try:
            data = f"# coding: {codec}\n{text}".encode(codec)
        except UnicodeError:
            continue
        try:
            assert edits.encode(edits.decode(data)) == data
        except UnreadableText as error:
            assert "byte for byte" in str(error) or "decoded" in str(error)  # noqa: PT017 — refusing is fine


@pytest.mark.parametrize(
    "data",
    [
        b"x = '\xff'\n",
        b"# coding: no-such-codec\n",
        codecs.BOM_UTF8 + b"# coding: latin-1\n",
        b"\xff\xfea\x00",
    ],
)
def test_bytes_that_are_not_text_are_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(UnreadableText, match="cannot be decoded"):
        edits.decode(data)


def test_a_character_the_encoding_lacks_is_refused() -> None:
    old = edits.decode(b"# coding: latin-1\nx = 1\n")
    with pytest.raises(UnreadableText, match="iso8859-1"):
        edits.encode(replace(old, text=old.text + "# \u4e2d\n"))


@given(TEXTS, TEXTS)
def test_minimal_edits_turn_one_text_into_the_other(old: str, new: str) -> None:
    found = edits.minimal(old, new)
    assert edits.problem(old, found) == ""
    assert edits.apply(old, found) == new
    assert (not found) == (old == new)


@given(TEXTS, TEXTS)
def test_minimal_edits_never_begin_or_end_inside_of_a_line_end(old: str, new: str) -> None:
    for edit in edits.minimal(old, new):
        for at in (edit.start, edit.end):
            assert old[max(at - 1, 0) : at + 1] != "\r\n"


def test_minimal_edits_touch_only_the_characters_that_differ() -> None:
    old = "a = 1\r\nif a < 2:\r\n    b = '中😀'\r\n    c = b\r\n"
    new = old.replace("<", "<=").replace("😀", "😁").replace("c = b", "c = a")
    assert [(old[edit.start : edit.end], edit.new) for edit in edits.minimal(old, new)] == [
        ("", "="),
        ("😀", "😁"),
        ("b", "a"),
    ]
    assert edits.minimal("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 20\nc = 3\n") == (TextEdit(11, 11, "0"),)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ([TextEdit(0, 9, "")], "outside"),
        ([TextEdit(3, 2, "")], "outside"),
        ([TextEdit(-1, 0, "")], "outside"),
        ([TextEdit(2, 3, ""), TextEdit(0, 1, "")], "not after"),
        ([TextEdit(0, 2, ""), TextEdit(1, 3, "")], "not after"),
    ],
)
def test_edits_that_do_not_fit_are_named_and_never_applied(bad: list[TextEdit], why: str) -> None:
    assert why in edits.problem("abcd", bad)
    with pytest.raises(ValueError, match=why):
        edits.apply("abcd", bad)


def test_insertions_at_one_place_keep_their_order() -> None:
    assert edits.apply("ad", [TextEdit(1, 1, "b"), TextEdit(1, 1, "c")]) == "abcd"


@given(LATIN, LATIN)
def test_a_file_edit_keeps_encoding_and_line_ends(before: str, after: str) -> None:
    head = "# coding: latin-1\r\n"
    data = (head + before).encode("latin-1")
    edit = edits.file_edit(Path("/p/x.py"), data, head + after)
    assert edits.apply_to_bytes(data, edit) == (head + after).encode("latin-1")


def test_a_file_edit_is_refused_for_other_bytes() -> None:
    edit = FileEdit(Path("/p/x.py"), edits.digest(b"a = 1\n"), (TextEdit(4, 5, "2"),))
    assert edits.apply_to_bytes(b"a = 1\n", edit) == b"a = 2\n"
    with pytest.raises(ValueError, match="not the text"):
        edits.apply_to_bytes(b"a = 3\n", edit)


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\nb\r\n", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\rb\r", "\r"),
        ("\f\v\x85", "\n"),
    ],
)
def test_the_dominant_newline_is_the_most_frequent_one(text: str, newline: str) -> None:
    assert edits.dominant_newline(text) == newline


@given(TEXTS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_inserted_text_gets_the_newline_of_the_file(text: str, newline: edits.Newline) -> None:
    converted = edits.with_newline(text, newline)
    assert len(edits.split_lines(converted)) == len(edits.split_lines(text))
    assert converted.replace(newline, "").count("\n") + converted.replace(newline, "").count("\r") == 0


@given(TEXTS)
def test_lines_are_split_only_at_line_ends_and_lose_nothing(text: str) -> None:
    lines = edits.split_lines(text)
    assert "".join(lines) == text
    assert all(line.rstrip("\r\n").count("\n") + line.rstrip("\r\n").count("\r") == 0 for line in lines)
    assert LineIndex(text).line_count == len(lines) + (not text or text[-1] in "\r\n")


@given(TEXTS, st.sampled_from(list(ColumnUnit)))
def test_positions_round_trip_in_every_unit(text: str, unit: ColumnUnit) -> None:
    index = LineIndex(text)
    codecs_of = {ColumnUnit.UTF8: ("utf-8", 1), ColumnUnit.UTF16: ("utf-16-le", 2)}
    codec, size = codecs_of.get(unit, ("utf-32-le", 4))
    for offset in range(len(text) + 1):
        place = index.position(offset, unit)
        if text[max(offset - 1, 0) : offset + 1] != "\r\n":
            assert index.offset(place.line, place.column, unit) == offset
            begin = index.start(place.line)
            assert place.column == len(text[begin:offset].encode(codec)) // size
        assert index.position(offset).line == len(edits.split_lines(text[:offset] + "x")) - 1 or (
            text[max(offset - 1, 0) : offset + 1] == "\r\n"
        )


@given(TEXTS, st.integers(-3, 60), st.integers(-3, 60), st.sampled_from(list(ColumnUnit)))
def test_any_position_is_clamped_into_the_text(text: str, line: int, column: int, unit: ColumnUnit) -> None:
    index = LineIndex(text)
    offset = index.offset(line, column, unit)
    assert 0 <= offset <= len(text)
    if 0 <= line < index.line_count:
        assert index.start(line) <= offset <= index.end(line)
    else:
        assert offset == (0 if line < 0 else len(text))
    place = index.position(offset + column)
    assert 0 <= place.line < index.line_count
    assert 0 <= place.column <= len(index.line_text(place.line))


def test_a_column_inside_of_a_surrogate_pair_is_the_characters_beginning() -> None:
    index = LineIndex("a😀b")
    assert [index.offset(0, column, ColumnUnit.UTF16) for column in range(6)] == [0, 1, 1, 2, 3, 3]
    assert [index.offset(0, column, ColumnUnit.UTF8) for column in range(7)] == [0, 1, 1, 1, 1, 2, 3]


def test_a_form_feed_and_unicode_separators_do_not_end_a_line() -> None:
    index = LineIndex("a\f\v\x85\u2028b\nc")
    assert index.line_count == 2
    assert index.position(7) == Position(1, 0)


@given(TEXTS, TEXTS)
def test_changed_lines_count_at_most_the_larger_text(old: str, new: str) -> None:
    count = edits.changed_lines(old, new)
    assert (count == 0) == (old == new)
    assert count <= max(len(edits.split_lines(old)), 1) + max(len(edits.split_lines(new)), 1)


def test_changed_lines_take_the_larger_side_of_each_hunk() -> None:
    assert edits.changed_lines("a\nb\nc\n", "a\nB\nc\n") == 1
    assert edits.changed_lines("a\nb\nc\n", "a\nc\n") == 1
    assert edits.changed_lines("a\nb\nc\n", "a\nB\nB2\nc\nd\n") == 3


NAMES = ["plain.py", "pkg/with blank.py", "naïve/中.py", 'quo"te.py', "tab\tname.py"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\nb\n", b"a\nc\n"),
        (b"a\r\nb\r\n", b"a\r\nc\r\nd\r\n"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\nb", b"a\nc"),
        ("x = '中😀'\n".encode(), "x = '中'\n".encode()),
        (b"# coding: latin-1\nx = '\xe9'\n", b"# coding: latin-1\nx = '\xe8'\n"),
        (b"".join(b"%d\n" % n for n in range(40)), b"".join(b"%d\n" % n for n in range(40) if n % 13)),
        (b"a\x0cb\rc\n", b"a\x0cB\rc\n"),
    ],
)
def test_git_applies_the_patch_byte_for_byte(tmp_path: Path, name: str, old: bytes, new: bytes) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(old)
    patch = edits.git_patch([(name, old, new)])
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"],
        cwd=tmp_path,
        input=patch,
        check=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
    )
    assert (tmp_path / name).read_bytes() == new


def test_a_patch_names_each_changed_file_once_and_skips_equal_ones() -> None:
    patch = edits.git_patch([("a.py", b"1\n", b"2\n"), ("b.py", b"1\n", b"1\n"), ("c.py", b"1\n", b"3\n")])
    assert patch.count(b"diff --git ") == 2
    assert b"b.py" not in patch


def test_a_diff_for_people_shows_what_changed() -> None:
    assert edits.unified_diff("cart.py", "a\nb\n", "a\nc") == (
        "diff --git a/cart.py b/cart.py\n--- a/cart.py\n+++ b/cart.py\n"
        "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
    )
    assert edits.unified_diff("cart.py", "a\n", "a\n") == ""


def test_paths_are_named_below_the_project_and_stay_whole_outside_of_it() -> None:
    assert edits.relative(Path("/a/b/c/d.py"), Path("/a/b")) == "c/d.py"
    assert PurePosixPath(edits.relative(Path("/x/c.py"), Path("/a/b"))) == PurePosixPath("/x/c.py")
