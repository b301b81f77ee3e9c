"""What must a slot hold to be a copy of a snapshot, and where in it does a path of the user's tree lie?"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from regreen.values import Snapshot
from regreen.workspace import scan
from regreen.workspace.slots import Layout

MODE_OF_NEW_FOLDER = 0o755
LAYOUTS_KEPT = 4
MOST_LINKS = 40


class Layouts:
    """The layouts of the last snapshots: large projects make them slow to compute.

    Args:
        blob: (digest, path in the user's tree) → the file that holds this content.
    """

    def __init__(self, blob: Callable[[str, Path], Path]) -> None:
        self._blob = blob
        self._kept: OrderedDict[int, tuple[Snapshot, Layout]] = OrderedDict()

    def of(self, snapshot: Snapshot) -> tuple[Path, Layout]:
        """Where the roots' common parent is, and what a slot has to hold below it."""
        tops = scan.tops([os.fspath(root) for root in snapshot.roots])
        base = os.path.commonpath([os.path.dirname(top) for top in tops])  # noqa: PTH120 — one string per file
        kept = self._kept.get(snapshot.generation)
        if kept is None or kept[0] is not snapshot:
            kept = (snapshot, _layout(snapshot, base, tops, self._blob))
            self._kept[snapshot.generation] = kept
            while len(self._kept) > LAYOUTS_KEPT:
                self._kept.popitem(last=False)
        return Path(base), kept[1]


def follow_links(path: Path, links: Mapping[Path, str]) -> Path:
    """Where a path of the user's tree leads to when every link of the snapshot on the way is followed."""
    for _ in range(MOST_LINKS):
        step = next((part for part in (*reversed(path.parents), path) if part in links), None)
        if step is None:
            return path
        target = os.path.normpath(os.path.join(step.parent, links[step]))  # noqa: PTH118 — `..` by text
        path = Path(target, path.relative_to(step))
    return path


def _layout(snapshot: Snapshot, base: str, tops: Sequence[str], blob: Callable[[str, Path], Path]) -> Layout:
    cut = len(base.rstrip(os.sep)) + 1
    folders = {os.fspath(path)[cut:]: mode for path, mode in snapshot.folders.items()}
    for top in tops:  # the folders between the slot and a root
        for parent in Path(top[cut:]).parents[:-1]:
            folders.setdefault(os.fspath(parent), MODE_OF_NEW_FOLDER)
    sources = {os.fspath(path)[cut:]: path for path in snapshot.files}
    return Layout(
        files={relative: snapshot.files[path] for relative, path in sources.items()},
        links={os.fspath(path)[cut:]: text for path, text in snapshot.links.items()},
        folders=folders,
        sources=sources,
        blob=blob,
    )
