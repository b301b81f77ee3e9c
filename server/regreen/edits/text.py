"""What are the characters of a file, and how do they get back into exactly its bytes?"""

from __future__ import annotations

import codecs
import hashlib
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from regreen.errors import UnreadableText
from regreen.values import FileEdit, TextEdit

Newline = Literal["\n", "\r\n", "\r"]

EOL = re.compile(r"\r\n|\n|\r")
_FIRST_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_BIJECTIVE = frozenset({"utf-8", "ascii", "iso8859-1"})  # what decodes is known to encode back


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file.

    Args:
        text: its code points, line ends exactly as they are, without the byte order mark.
        encoding: the codec's name ("utf-8", "iso8859-1").
        bom: whether the bytes begin with a UTF-8 byte order mark.
    """

    text: str
    encoding: str = "utf-8"
    bom: bool = False


def decode(data: bytes) -> Text:
    """Decode Python source (or any UTF-8 text) as Python does: byte order mark, coding line, else UTF-8.

    Raises:
        UnreadableText: unknown encoding, bytes that are not in it, or an encoding that cannot be written
            back exactly.
    """
    lines = (match.group() for match in _FIRST_LINES.finditer(data))
    try:
        name, _ = tokenize.detect_encoding(lambda: next(lines, b""))
        codec = codecs.lookup(name.removesuffix("-sig")).name
        bom = data.startswith(codecs.BOM_UTF8)
        text = data[len(codecs.BOM_UTF8) if bom else 0 :].decode(codec)
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise UnreadableText(f"The text cannot be decoded: {error}.") from error
    result = Text(text, codec, bom)
    if codec not in _BIJECTIVE and encode(result) != data:
        raise UnreadableText(f"Text in {codec} cannot be written back byte for byte.")
    return result


def encode(text: Text) -> bytes:
    """Return the bytes of a text, in its own encoding: `encode(decode(data)) == data`.

    Raises:
        UnreadableText: a character does not exist in the file's encoding.
    """
    try:
        data = text.text.encode(text.encoding)
    except UnicodeError as error:
        raise UnreadableText(f"The text cannot be written as {text.encoding}: {error}.") from error
    return codecs.BOM_UTF8 + data if text.bom else data


def digest(data: bytes) -> str:
    """SHA-256 of the bytes, in hex: what a fix is bound to."""
    return hashlib.sha256(data).hexdigest()


def problem(text: str, edits: Sequence[TextEdit]) -> str:
    """Why `edits` do not fit `text`, in one sentence; empty when they do (sorted, apart, in range)."""
    last = 0
    for edit in edits:
        if not 0 <= edit.start <= edit.end <= len(text):
            return f"The edit at {edit.start}-{edit.end} lies outside of the text of {len(text)} characters."
        if edit.start < last:
            return f"The edit at {edit.start} is not after the one before it, which ends at {last}."
        last = edit.end
    return ""


def apply(text: str, edits: Sequence[TextEdit]) -> str:
    """Make every edit at once; insertions at one place keep their order.

    Raises:
        ValueError: the edits do not fit (see `problem`).
    """
    if wrong := problem(text, edits):
        raise ValueError(wrong)
    parts: list[str] = []
    last = 0
    for edit in edits:
        parts += (text[last : edit.start], edit.new)
        last = edit.end
    parts.append(text[last:])
    return "".join(parts)


def apply_to_bytes(data: bytes, edit: FileEdit) -> bytes:
    """Make a `FileEdit` in the bytes of a file, encoding and byte order mark kept.

    Raises:
        ValueError: the edits do not fit, or the bytes are not those they were made for.
        UnreadableText: the bytes cannot be decoded, or the new text does not exist in their encoding.
    """
    if digest(data) != edit.base_digest:
        raise ValueError(f"{edit.path} is not the text that the edit was made for.")
    old = decode(data)
    return encode(replace(old, text=apply(old.text, edit.edits)))


def split_lines(text: str) -> list[str]:
    """Split into lines with their ends, only at CR LF, LF and CR; the last may lack an end."""
    lines: list[str] = []
    last = 0
    for match in EOL.finditer(text):
        lines.append(text[last : match.end()])
        last = match.end()
    if last < len(text):
        lines.append(text[last:])
    return lines


def dominant_newline(text: str) -> Newline:
    """Find the line end that the text uses most; LF when it has none."""
    crlf = text.count("\r\n")
    lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
    if crlf > max(lf, cr):
        return "\r\n"
    return "\r" if cr > lf else "\n"


def with_newline(text: str, newline: Newline) -> str:
    """Turn every line end into `newline`: for text that is inserted into a file."""
    return EOL.sub(newline, text)
