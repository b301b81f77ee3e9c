"""How does text change without losing a byte that nobody meant to change?

Pure functions over text. `text`: decoding and encoding by PEP 263, applying edits. `diff`: minimal edits
between two texts, diffs for people and for `git apply`. `positions`: offsets in the units clients count in.

A line ends with CR LF, LF or CR and with nothing else: form feeds, vertical tabs, U+0085 and U+2028 are
ordinary characters, for Python and for editors.
"""

from regreen.edits.diff import changed_lines, file_edit, git_patch, minimal, relative, unified_diff
from regreen.edits.positions import ColumnUnit, LineIndex, Position
from regreen.edits.text import (
    Newline,
    Text,
    apply,
    apply_to_bytes,
    decode,
    digest,
    dominant_newline,
    encode,
    problem,
    split_lines,
    with_newline,
)

__all__ = [
    "ColumnUnit",
    "LineIndex",
    "Newline",
    "Position",
    "Text",
    "apply",
    "apply_to_bytes",
    "changed_lines",
    "decode",
    "digest",
    "dominant_newline",
    "encode",
    "file_edit",
    "git_patch",
    "minimal",
    "problem",
    "relative",
    "split_lines",
    "unified_diff",
    "with_newline",
]
