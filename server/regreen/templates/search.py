"""Where are templates tried, and in which order do their candidates come out?

For each suspect the statement on its line is looked at, then the statements around it, then the rest of its
function and the module-level constants it reads, each with less weight. A candidate's score is
suspiciousness × prior × the caller's weight for the template. Suspects are taken in batches: within a batch
the order is by score over all suspects and templates; templates whose trigger names the mistake go first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from regreen.edits import apply, minimal, problem
from regreen.source import CLAUSES, STATEMENTS, Function, Node, ProjectSources, SourceFile
from regreen.templates.catalogue import CATALOGUE
from regreen.templates.evidence import Evidence, read
from regreen.templates.model import Change, Site, Template
from regreen.templates.scope import Scope, argument_types
from regreen.values import Candidate, Failure, FileEdit, Suspect, TextEdit

_BATCH = 24  # suspects ordered together
_AROUND = 0.85  # weight of a statement around the suspect's
_FUNCTION = 0.45  # … of the other statements of its function
_MODULE = 0.4  # … of a module-level statement that the function reads
_EXACT = 10.0  # added to the score of a template whose trigger names the mistake


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
        suspects: best first. May be empty: then only the failure's own frames are looked at.
        sources: the snapshot's Python files. Test files and conftest are never changed.
        weight: a factor for each template by name, for example from what users accepted or took back;
            0 switches a template off.

    Yields:
        Candidates with minimal edits, without duplicates (by the resulting text). Scores descend within a
        batch of suspects; those of exact templates lie above 10, all others are in [0, 1].
    """
    evidence = read(failure, sources)
    seen: set[tuple[tuple[Path, int], ...]] = set()
    frames = [*_frame_suspects(failure), *_named_suspects(failure, sources)]
    first = (_exact(), [*frames, *suspects[:_BATCH]])
    batches: list[tuple[Sequence[Template], Sequence[Suspect]]] = [first]
    rest = [template for template in CATALOGUE if not template.exact]
    general = list(suspects) or [replace(suspect, suspiciousness=0.5) for suspect in frames]
    batches += ((rest, general[low : low + _BATCH]) for low in range(0, len(general), _BATCH))
    done: set[tuple[Path, int, int]] = set()
    for templates, batch in batches:
        ideas = _ideas(
            templates, _sites(batch, sources, evidence, set() if templates is first[0] else done), weight
        )
        for score, site, template, change in sorted(ideas, key=lambda idea: -idea[0]):
            made = _file_edits(site, change, sources)
            if made is None:
                continue
            edits, key = made
            if key in seen:
                continue
            seen.add(key)
            title = " ".join(change.title.split())
            yield Candidate(edits, template.name, title, score, site.suspect, template.kind)


def is_test_path(path: Path, root: Path) -> bool:
    """Whether a file belongs to the tests by its name or folder, so that no candidate may change it."""
    inside = path.relative_to(root) if path.is_relative_to(root) else PurePath(path.name)
    stem = path.stem
    return (
        stem.startswith("test_")
        or stem.endswith("_test")
        or stem in {"conftest", "tests", "test"}
        or any(part in {"test", "tests", "testing"} for part in inside.parts[:-1])
    )


def _exact() -> list[Template]:
    return [template for template in CATALOGUE if template.exact]


def _ideas(
    templates: Sequence[Template], sites: Iterable[tuple[Site, float]], weight: Callable[[str], float]
) -> Iterator[tuple[float, Site, Template, Change]]:
    weights = {template.name: weight(template.name) for template in templates}
    once: set[tuple[str, Path, int]] = set()
    for site, suspiciousness in sites:
        kinds = {node.kind for node in site.nodes}
        for template in templates:
            if not weights[template.name] or (template.kinds and not template.kinds & kinds):
                continue
            if template.only and not any(
                trigger.matches(site.evidence, crashed=site.crashed) for trigger in template.only
            ):
                continue
            if template.once:
                key = (template.name, site.file.path, site.function.span[0] if site.function else -1)
                if key in once:
                    continue
                once.add(key)
            prior = template.prior * _boost(template, site)
            for change in template.generate(site):
                score = suspiciousness * min(1.0, prior * change.factor * weights[template.name])
                yield (score + _EXACT * template.exact, site, template, change)


def _boost(template: Template, site: Site) -> float:
    for trigger, factor in template.likely:
        if trigger.matches(site.evidence, crashed=site.crashed):
            return factor
    return 1.0


def _frame_suspects(failure: Failure) -> list[Suspect]:
    """The project's frames as suspects, innermost first; for a collection error the last frame, whoever's."""
    last = failure.frames[-1:]
    own = [frame for frame in reversed(failure.frames) if frame.own or frame in last]
    return [
        Suspect(frame.path, frame.line, max(0.05, 1.0 - 0.1 * depth), frame.function, "on the traceback")
        for depth, frame in enumerate(own)
    ]


def _named_suspects(failure: Failure, sources: ProjectSources) -> list[Suspect]:
    """What the failing line of the test names: functions that were never entered, modules not imported."""
    test = sources.get(failure.path)
    frame = next((frame for frame in reversed(failure.frames) if frame.path == failure.path), None)
    statement = test.statement_at(frame.line) if test is not None and frame is not None else None
    if test is None or statement is None:
        return []
    named = {node.text for node in statement.walk() if node.kind == "identifier"}
    modules = [sources.module_file(one.module, test.path) for one in test.imports]
    modules += [
        sources.module_file(f"{one.module}.{one.name}", test.path) for one in test.imports if one.name
    ]
    found: list[Suspect] = []
    for path in dict.fromkeys(path for path in modules if path is not None):
        file = sources.get(path)
        functions = [f for f in file.functions if f.name in named] if file is not None else []
        found += [Suspect(path, f.node.line, 0.4, f.qualname, "named by the failing line") for f in functions]
        if file is not None and not functions:
            found.append(Suspect(path, 0, 0.2, "", "imported by the test"))
    return found


def _sites(
    suspects: Sequence[Suspect], sources: ProjectSources, evidence: Evidence, done: set[tuple[Path, int, int]]
) -> list[tuple[Site, float]]:
    """Every statement worth a look, each once, with its highest suspiciousness."""
    best: dict[tuple[Path, int, int], tuple[float, Suspect, SourceFile, Node]] = {}
    for suspect in suspects:
        file = sources.get(suspect.path)
        if file is None or suspect.path == evidence.failure.path or is_test_path(suspect.path, sources.root):
            continue
        for statement, factor in _statements(file, suspect.line):
            key = (file.path, *statement.span)
            score = suspect.suspiciousness * factor
            if key not in best or best[key][0] < score:
                best[key] = (score, suspect, file, statement)
    scopes: dict[tuple[Path, int], Scope] = {}
    test = sources.get(evidence.failure.path)
    found: list[tuple[Site, float]] = []
    for key, (score, suspect, file, statement) in best.items():
        if key in done:
            continue
        done.add(key)
        function = file.function_at(statement.line)
        mark = (file.path, function.span[0] if function else -1)
        if mark not in scopes:
            types = argument_types(function, test) if function and test else {}
            scopes[mark] = Scope(file, function, evidence.failure, types)
        crash = evidence.crash
        crashed = (
            crash is not None
            and crash.path == file.path
            and statement.line <= crash.line <= statement.last_line
        )
        crashed = crashed and file.statement_at(crash.line) == statement if crash else False
        site = Site(evidence, file, sources, function, statement, suspect, scopes[mark], crashed)
        found.append((site, score))
    return found


def _statements(file: SourceFile, line: int) -> Iterator[tuple[Node, float]]:
    """The suspect's statement, those around it inside of its function, and the rest with less weight."""
    function = file.function_at(line)
    around = [s for s in file.statements_around(line) if function is None or _inside(s, function)]
    for depth, statement in enumerate(reversed(around)):
        yield statement, _AROUND**depth
    if function is None:
        if not around:
            yield file.root, 1.0
        return
    for node in function.body.walk():
        if node.kind in STATEMENTS or node.kind in CLAUSES:
            yield node, _FUNCTION
    yield function.node, _FUNCTION
    read_names = function.names().read
    for node in file.top_level:
        if node.kind != "expression_statement":
            continue
        targets = {n.text for n in itertools.islice(node.walk(), 12) if n.kind == "identifier"}
        if any(name in read_names for name in targets):
            yield node, _MODULE


def _inside(statement: Node, function: Function) -> bool:
    return function.span[0] <= statement.start and statement.end <= function.span[1]


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
        ordered = tuple(sorted(edits))
        if problem(file.text, ordered):
            return None  # two ideas of one template met in the same place
        small = tuple(itertools.chain.from_iterable(_shrunk(file, edit) for edit in ordered))
        if small:
            made.append(FileEdit(path, file.digest, small))
            key.append((path, hash(apply(file.text, small))))
    return (tuple(made), tuple(key)) if made else None


def _shrunk(file: SourceFile, edit: TextEdit) -> Iterator[TextEdit]:
    """The minimal edits that do what one edit does, found within what it replaces."""
    for small in minimal(file.text[edit.start : edit.end], edit.new):
        yield TextEdit(small.start + edit.start, small.end + edit.start, small.new)
