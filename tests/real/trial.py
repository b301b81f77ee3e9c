"""Was one injected bug found by the project's tests, healed, and healed without harm?"""

from __future__ import annotations

import ast
import hashlib
import os
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tests.real.data import Bug
from tests.real.healing import Heal, apply, heal
from tests.real.judging import Judgement, NotRunError, judge
from tests.real.places import Place, inject, pristine

VERIFIED = "VERIFIED"


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one bug.

    Args:
        bug: which one.
        problem: why the trial itself is worthless (not caught, no result, a patch that does not apply), else "".
        heal: what the command said; None when it was not run.
        original: the first fix gives the published file back, up to layout and comments.
        mended: every test that the bug turned red is green with the first fix.
        broken: tests that are green as published and red with the first fix.
        seconds: of the whole trial.
    """

    bug: Bug
    problem: str = ""
    heal: Heal | None = None
    original: bool = False
    mended: bool = False
    broken: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def verified(self) -> bool:
        """A fix was offered as verified, and an independent run of the tests agrees."""
        return bool(self.heal) and self.outcome == VERIFIED and not self.problem and not self.broken

    @property
    def outcome(self) -> str:
        """In one word, for the table."""
        if self.problem:
            return "PROBLEM"
        return self.heal.outcome if self.heal else "CAUGHT"


def trial(at: Place, bug: Bug, published: Judgement, *, seconds: float) -> Trial:
    """Inject, catch, heal the first test that caught it (as one clicks in an editor), judge by all tests.

    Args:
        published: what the tests say about the files without the bug.
        seconds: how long a heal may search; 0 to stop once the bug is caught.
    """
    began = time.monotonic()
    done = _trial(at, bug, published, seconds=seconds)
    pristine(at)
    return replace(done, seconds=round(time.monotonic() - began, 1))


def _trial(at: Place, bug: Bug, published: Judgement, *, seconds: float) -> Trial:
    try:
        text = (at.root / bug.file).read_text(encoding="utf-8")
        inject(at, bug)
        red = judge(at, bug.caught).red
    except (NotRunError, ValueError) as wrong:
        return Trial(bug, problem=str(wrong))
    if missed := sorted(set(bug.caught) - red):
        return Trial(bug, problem=f"the bug is not caught by {', '.join(missed)}")
    if not seconds:
        return Trial(bug)

    inject(at, bug)  # the run above left bytecode and caches
    before = _files(at)
    with tempfile.TemporaryDirectory(prefix="regreen-real-") as private:
        healed = heal(at, bug.caught[:1], Path(private), seconds)
    if touched := sorted(name for name, _digest in before ^ _files(at)):
        return Trial(bug, problem=f"healing changed the user's files: {', '.join(touched)}", heal=healed)
    if problem := _unusable(bug, healed):
        return Trial(bug, problem=problem, heal=healed)
    if not healed.diff:
        return Trial(bug, heal=healed)

    inject(at, bug)
    try:
        apply(healed.diff, at.root)
        with_fix = judge(at)
    except (NotRunError, ValueError) as wrong:
        return Trial(bug, problem=str(wrong), heal=healed)
    return Trial(
        bug,
        heal=healed,
        original=_same(text, (at.root / bug.file).read_text(encoding="utf-8")),
        mended=not with_fix.red & set(bug.caught),
        broken=_broken(at, published.green - set(bug.caught) - with_fix.green),
    )


def _broken(at: Place, suspected: frozenset[str]) -> tuple[str, ...]:
    """Those that are not green a second time either: some tests depend on the machine's mood."""
    if not suspected:
        return ()
    return tuple(sorted(suspected - judge(at, sorted(suspected)).green))


def _unusable(bug: Bug, healed: Heal) -> str:
    if healed.status is None:
        return f"the command did not end by itself; its last words: {healed.tail}"
    if healed.status not in (0, 1):
        return f"the command ended with {healed.status}; its last words: {healed.tail}"
    if bug.caught[0] not in healed.outcomes:
        return f"no result for {bug.caught[0]}; the last words: {healed.tail}"
    if broken := [nodeid for nodeid, outcome in healed.outcomes.items() if outcome == "INTERNAL_ERROR"]:
        return f"internal error: {healed.reasons[broken[0]]}"
    return ""


def _files(at: Place) -> frozenset[tuple[str, str]]:
    """Every file of the project with the digest of its bytes."""
    found = set()
    for folder, folders, names in os.walk(at.root):
        folders[:] = [name for name in folders if name != ".venv"]
        for name in names:
            path = Path(folder, name)
            found.add((path.relative_to(at.root).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()))
    return frozenset(found)


def _same(published: str, fixed: str) -> bool:
    """Equal up to layout and comments."""
    return published == fixed or ast.dump(ast.parse(published)) == ast.dump(ast.parse(fixed))
