"""Which variables does an env file (`regreen.envFile`) set?

The common ground of the tools that read such files: `NAME=value` lines, `export` in front allowed, comments, single
and double quotes (double ones know the escapes n, r, t, quote, dollar and backslash, and both may span lines), and
`${NAME}`, outside of single quotes, for what the file itself set further up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from regreen.errors import EnvironmentProblem

_BLANK = re.compile(r"[ \t]*(#[^\n]*)?(\n|$)")
_NAME = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*(=?)[ \t]*")
_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_PLAIN = re.compile(r"(?!['\"])[^\n]*")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_.]*)\}")
_MEANING = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


def parse(text: str) -> dict[str, str]:
    """The variables of an env file's text, in order; of a name that is set twice, the last value.

    A name without `=` is left out, as other tools do.

    Raises:
        ValueError: the number of the line (1-based) that is not understood, and why.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        blank = _BLANK.match(text, at)
        if blank:
            at = max(blank.end(), at + 1)
            continue
        start = at
        name = _NAME.match(text, at)
        if name is None:
            raise ValueError(f"line {_line(text, start)}: a name was expected")
        at = name.end()
        if name[2]:
            value, at = _value(text, at, found)
            found[name[1]] = value
        end = _BLANK.match(text, at)
        if end is None:
            raise ValueError(f"line {_line(text, start)}: text after the value of {name[1]}")
        at = end.end()
    return found


def _value(text: str, at: int, found: Mapping[str, str]) -> tuple[str, int]:
    """The value that begins at `at`, and where it ends."""
    if single := _SINGLE.match(text, at):
        return single[1], single.end()
    if double := _DOUBLE.match(text, at):
        # References first in the pieces between escapes: an escaped dollar begins none.
        pieces = _ESCAPE.split(double[1])
        pieces[::2] = [_expand(piece, found) for piece in pieces[::2]]
        pieces[1::2] = [_MEANING.get(escaped, "\\" + escaped) for escaped in pieces[1::2]]
        return "".join(pieces), double.end()
    plain = _PLAIN.match(text, at)
    if plain is None:
        raise ValueError(f"line {_line(text, at)}: the quote is not closed")
    return _expand(_COMMENT.sub("", plain[0]).strip(), found), plain.end()


def _expand(value: str, found: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda match: found.get(match[1], ""), value)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def read(path: Path) -> dict[str, str]:
    """The variables of an env file. Blocks.

    Raises:
        EnvironmentProblem: it cannot be read or understood.
    """
    hint = "Correct the setting regreen.envFile, or the file."
    try:
        return parse(path.read_text("utf-8"))
    except OSError as error:
        raise EnvironmentProblem(f"The env file {path} cannot be read: {error.strerror}.", hint) from error
    except ValueError as error:  # UnicodeDecodeError is one
        raise EnvironmentProblem(f"The env file {path} is not understood: {error}.", hint) from error
