"""Which text does the editor hold, as the bytes a save would write?

Texts arrive without byte order mark and with the line ends of the document. The encoding follows from the
text itself (PEP 263); the byte order mark and the digest on disk are learnt by reading the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from regreen import edits
from regreen.edits import Text
from regreen.errors import UnreadableText


@dataclass(slots=True)
class Document:
    """One open document.

    Args:
        uri: as the client wrote it.
        version: the client's; None when it gave none.
        typed_at: when the text last changed, on the engine's clock.
        bom: the file on disk begins with a byte order mark.
        disk_digest: of the file as it was last read; None before that, or when there is no file.
    """

    uri: str
    path: Path
    version: int | None
    text: str
    typed_at: float
    bom: bool = False
    disk_digest: str | None = None
    _bytes: bytes | None = field(default=None, repr=False)
    _digest: str | None = None

    def edit(self, text: str, version: int | None, now: float) -> None:
        """Take over a new text."""
        self.text, self.version, self.typed_at = text, version, now
        self._bytes = self._digest = None

    def learn(self, data: bytes | None) -> None:
        """Take over what is on disk now (None: nothing)."""
        self.disk_digest = None if data is None else edits.digest(data)
        bom = data is not None and data.startswith(b"\xef\xbb\xbf")
        if bom != self.bom:
            self.bom = bom
            self._bytes = self._digest = None

    @property
    def data(self) -> bytes | None:
        """The bytes a save would write; None when the text does not exist in its encoding."""
        if self._bytes is None:
            self._bytes = _encoded(self.text, self.bom)
        return self._bytes

    @property
    def digest(self) -> str:
        """Digest of `data`; empty, and equal to no file's, when there is none."""
        if self._digest is None:
            self._digest = "" if self.data is None else edits.digest(self.data)
        return self._digest

    @property
    def dirty(self) -> bool:
        """Whether the editor's text is not what is on disk."""
        return self.digest != self.disk_digest


def _encoded(text: str, bom: bool) -> bytes | None:
    head = "".join(edits.split_lines(text[:2048])[:2])
    try:
        shape = edits.decode(head.encode("ascii", "replace"))
        return edits.encode(replace(shape, text=text, bom=bom))
    except UnreadableText:
        return None


class Documents:
    """The open documents by path."""

    def __init__(self) -> None:
        self._open: dict[Path, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._open.values())

    def get(self, path: Path) -> Document | None:
        """The document, None when it is not open."""
        return self._open.get(path)

    def open(self, document: Document) -> None:
        """A document was opened (or opened again)."""
        self._open[document.path] = document

    def close(self, path: Path) -> None:
        """A document was closed; its unsaved text is gone."""
        self._open.pop(path, None)

    def unsaved(self, root: Path) -> Mapping[Path, bytes]:
        """Text below `root` that is not on disk, encoded; what cannot be encoded is left out."""
        return {
            document.path: document.data
            for document in self
            if document.dirty and document.data is not None and document.path.is_relative_to(root)
        }


def decoded(data: bytes) -> Text | None:
    """The text of a file's bytes, None when it is not text."""
    try:
        return edits.decode(data)
    except UnreadableText:
        return None
