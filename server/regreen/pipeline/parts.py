"""What do the stages of a heal hand to each other?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regreen.llm.parts import ModelParts
from regreen.ports import Clock, Git, History, Mirror, Oracle
from regreen.values import Interpreter, RunReport, Snapshot, Spectrum, TestOutcome


@dataclass(frozen=True, slots=True)
class Tools:
    """The parts of the world one project's heals use.

    Args:
        interpreter: the one the oracle runs.
        model: what questions to a language model stand on; None where none is asked.
        why_no_model: why one that is set cannot be asked, and what to do; else "".
    """

    oracle: Oracle
    mirror: Mirror
    git: Git
    history: History
    clock: Clock
    interpreter: Interpreter
    model: ModelParts | None = None
    why_no_model: str = ""

    async def close(self) -> None:
        """End every process of theirs, and release the copy."""
        if self.model is not None:
            await self.model.client.close()
        await self.oracle.close()
        await self.mirror.close()


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is known about the unpatched project.

    Args:
        snapshot: the text that was run.
        report: its run; with a spectrum. `report.outcomes` may cover only part of the suite.
        whole_suite: the report covers everything the project's configuration selects.
        unsaved: editor text that was laid over the disk, encoded.
    """

    snapshot: Snapshot
    report: RunReport
    whole_suite: bool
    unsaved: Mapping[Path, bytes] = field(default_factory=dict)

    @property
    def outcomes(self) -> Mapping[str, TestOutcome]:
        """Unpatched outcomes by node id, in execution order."""
        return self.report.outcomes

    def test_files(self) -> frozenset[Path]:
        """Files in which collected tests live, whatever their names."""
        return frozenset(outcome.path for outcome in self.report.outcomes.values())


def merged(base: Baseline, report: RunReport) -> Baseline:
    """The baseline with further unpatched outcomes and spectra added; what it already knew stays."""
    outcomes = {**report.outcomes, **base.report.outcomes}
    spectrum = Spectrum({**report.spectrum.lines, **base.report.spectrum.lines})
    return Baseline(
        base.snapshot,
        RunReport(
            outcomes=outcomes,
            collected=tuple(dict.fromkeys((*base.report.collected, *report.collected))),
            exit_status=base.report.exit_status,
            spectrum=spectrum,
            isolation=base.report.isolation,
            seconds=base.report.seconds + report.seconds,
        ),
        base.whole_suite,
        base.unsaved,
    )
