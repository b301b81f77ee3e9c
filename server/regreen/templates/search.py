"""In which order do candidates come out?

A candidate's score is suspiciousness × prior × the caller's weight for the template, higher where it uses what the
words about the function speak of. Candidates come by score,
but each one that a template already gave makes its next ones less urgent: had it been that kind of mistake, one
of the earlier, likelier ideas would have mended it. So no template with many ideas crowds out the others. A
template is run at a statement only when no better candidate can come from anywhere else, since the score it can
reach there is known beforehand; so the first candidates come at once, however long the function is. Templates
whose trigger names the mistake go first.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regreen.edits import apply, minimal, problem
from regreen.source import ProjectSources, SourceFile
from regreen.templates import documented
from regreen.templates.catalogue import CATALOGUE
from regreen.templates.evidence import read
from regreen.templates.model import Change, Site, Template
from regreen.templates.sites import find, frame_suspects, is_test_path, named_suspects
from regreen.values import Candidate, Failure, FileEdit, Suspect, TextEdit

_EXACT = 10.0  # added to the score of a template whose trigger names the mistake
_PATIENCE = 10  # ideas of one template after which its next one counts half


def always(_template: str) -> float:
    """Weigh every template as the catalogue does."""
    return 1.0


def candidates(
    failure: Failure,
    suspects: Sequence[Suspect],
    sources: ProjectSources,
    weight: Callable[[str], float] = always,
) -> Iterator[Candidate]:
    """Yield candidate patches for one failure, the most promising first.

    Args:
        failure: the red test, with frames and hints if the run recorded details.
        suspects: best first. May be empty: then the failure's own frames, and what the failing line of the
            test names, are looked at.
        sources: the snapshot's Python files. Test files and conftest are never changed.
        weight: a factor for each template by name, for example from what users accepted or took back;
            0 switches a template off.

    Yields:
        Candidates with minimal edits, without duplicates (by the resulting text). Scores of exact templates
        lie above 10, all others are in [0, 1]; those of one template come in descending order.
    """
    evidence = read(failure, sources)
    seen: set[tuple[tuple[Path, int], ...]] = set()
    frames = [*frame_suspects(failure), *named_suspects(failure, sources)]
    exact = [template for template in CATALOGUE if template.exact]
    general = [template for template in CATALOGUE if not template.exact]
    aimed = list(suspects) or [
        replace(suspect, suspiciousness=suspect.suspiciousness / 2) for suspect in frames
    ]
    ideas = itertools.chain(
        _best_first(exact, find([*frames, *suspects], sources, evidence), weight),
        _best_first(general, find(aimed, sources, evidence), weight),
    )
    for score, site, template, change in ideas:
        made = _file_edits(site, change, sources)
        if made is None or made[1] in seen:
            continue
        seen.add(made[1])
        title = " ".join(change.title.split())
        yield Candidate(made[0], template.name, title, score, site.suspect, template.kind)


_Idea = tuple[float, Site, Template, Change]


@dataclass(frozen=True, slots=True)
class _Task:
    """A template to be run at a statement; `score` is the best it can reach there."""

    template: Template
    site: Site
    suspiciousness: float
    prior: float

    @property
    def bound(self) -> float:
        """The best score an idea of it can have."""
        most = documented.FACTOR if self.site.scope.spoken_of else 1.0
        return self.suspiciousness * min(1.0, self.prior * most) + _EXACT * self.template.exact

    def ideas(self) -> Iterator[_Idea]:
        for change in self.template.generate(self.site):
            likely = min(1.0, change.factor) * (documented.FACTOR if self._is_spoken_of(change) else 1.0)
            score = self.suspiciousness * min(1.0, self.prior * likely)
            yield score + _EXACT * self.template.exact, self.site, self.template, change

    def _is_spoken_of(self, change: Change) -> bool:
        text, spoken = self.site.file.text, self.site.scope.spoken_of
        return bool(spoken) and any(
            documented.uses(edit, text[edit.start : edit.end], spoken) for edit in change.edits
        )


def _best_first(
    templates: Sequence[Template], sites: Sequence[tuple[Site, float]], weight: Callable[[str], float]
) -> Iterator[_Idea]:
    """Yield every idea, the most urgent first, running each template as late as possible."""
    count = itertools.count()
    given: Counter[str] = Counter()
    heap: list[tuple[float, int, _Task | _Idea]] = []

    def push(score: float, template: str, entry: _Task | _Idea) -> None:
        heapq.heappush(heap, (-_urgency(score, given[template]), next(count), entry))

    for task in _tasks(templates, sites, weight):
        push(task.bound, task.template.name, task)
    while heap:
        urgency, _, entry = heapq.heappop(heap)
        score, template = (
            (entry.bound, entry.template.name) if isinstance(entry, _Task) else (entry[0], entry[2].name)
        )
        if _urgency(score, given[template]) < -urgency:  # others of its template came in between
            push(score, template, entry)
        elif isinstance(entry, _Task):
            for idea in entry.ideas():
                push(idea[0], template, idea)
        else:
            given[template] += 1
            yield entry


def _urgency(score: float, given: int) -> float:
    return score if score >= _EXACT else score / (1 + given / _PATIENCE)


def _tasks(
    templates: Sequence[Template], sites: Sequence[tuple[Site, float]], weight: Callable[[str], float]
) -> Iterator[_Task]:
    weights = {template.name: weight(template.name) for template in templates}
    once: set[tuple[str, Path, int]] = set()
    for site, suspiciousness in sites:
        kinds = {node.kind for node in site.nodes}
        for template in templates:
            if not weights[template.name] or (template.kinds and not template.kinds & kinds):
                continue
            if template.only and not any(
                t.matches(site.evidence, crashed=site.crashed) for t in template.only
            ):
                continue
            if template.once:
                key = (template.name, site.file.path, site.function.span[0] if site.function else -1)
                if key in once:
                    continue
                once.add(key)
            prior = template.prior * _boost(template, site) * weights[template.name]
            yield _Task(template, site, suspiciousness, prior)


def _boost(template: Template, site: Site) -> float:
    for trigger, factor in template.likely:
        if trigger.matches(site.evidence, crashed=site.crashed):
            return factor
    return 1.0


def _file_edits(
    site: Site, change: Change, sources: ProjectSources
) -> tuple[tuple[FileEdit, ...], tuple[tuple[Path, int], ...]] | None:
    """The change as minimal edits of each file and a key of the resulting texts; None when it is none."""
    made: list[FileEdit] = []
    key: list[tuple[Path, int]] = []
    for path, edits in ((site.file.path, change.edits), *change.others):
        file = site.file if path == site.file.path else sources.get(path)
        if file is None or path == site.evidence.failure.path or is_test_path(path, sources.root):
            return None
        ordered = tuple(sorted(_other_quotes(site, file, edit) for edit in edits))
        if problem(file.text, ordered):
            return None  # two ideas of one template met in the same place
        small = tuple(itertools.chain.from_iterable(_shrunk(file, edit) for edit in ordered))
        if small:
            made.append(FileEdit(path, file.digest, small))
            key.append((path, hash(apply(file.text, small))))
    return (tuple(made), tuple(key)) if made else None


def _other_quotes(site: Site, file: SourceFile, edit: TextEdit) -> TextEdit:
    """Inside of an f-string new text uses the other quotes: before Python 3.12 the same ones would end it."""
    if file is not site.file or not ({'"', "'"} & set(edit.new)):
        return edit
    for low, high, quote in site.scope.file_facts.interpolations:
        if low < edit.start and edit.end < high and quote in edit.new:
            other = "'" if quote == '"' else '"'
            if other not in edit.new:
                return replace(edit, new=edit.new.replace(quote, other))
    return edit


def _shrunk(file: SourceFile, edit: TextEdit) -> Iterator[TextEdit]:
    """The minimal edits that do what one edit does, found within what it replaces."""
    for small in minimal(file.text[edit.start : edit.end], edit.new):
        yield TextEdit(small.start + edit.start, small.end + edit.start, small.new)
