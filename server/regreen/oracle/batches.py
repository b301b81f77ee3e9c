"""What do the records of a batch say about each of its candidates?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from regreen.errors import OracleFailed
from regreen.oracle import records
from regreen.oracle.channel import ProbeEnded, Run
from regreen.oracle.messages import swapped
from regreen.oracle.records import Paths, Record, need, need_all
from regreen.values import Rung, RunReport, RunRequest, TestOutcome, TestStatus

log = logging.getLogger(__name__)

MARGIN_SECONDS = 2.0
"""How much longer than its processor time, taken twice, a candidate may keep us waiting."""


def batch_message(requests: Sequence[RunRequest], park: int, paths: Paths, *, temp: Path) -> dict[str, Any]:
    """The `batch` message for requests of the same tests, each of which overlays one file.

    Raises:
        UnreadableText: an overlay is no text.
    """
    return {
        "op": "batch",
        "park": park,
        "temp": str(temp),
        "seconds": requests[0].processor_seconds,
        "candidates": [swapped(request.overlay, paths) for request in requests],
    }


@dataclass(slots=True)
class BatchLog:
    """The answers of one batch.

    Args:
        paths: of the copy.
        refused: by the candidate's place, the report of those that a test refused, and nothing speaks against it.
        sound: whether anything was found sound at all.
    """

    paths: Paths
    refused: dict[int, RunReport] = field(default_factory=dict)
    sound: bool = False
    isolation: str = "none"
    _waiting: dict[int, RunReport] = field(default_factory=dict)
    _same: dict[int, int] = field(default_factory=dict)
    ended: bool = False

    def feed(self, record: Record) -> None:
        """Take one record in. Raises OracleFailed when it makes no sense."""
        event = need(record, "ev", str)
        if event == "started":
            self.isolation = need(record, "isolation", str)
        elif event == "screened":
            self._screened(record)
        elif event == "sound":
            self.sound = True
            self.refused |= self._waiting
            self._waiting.clear()
            for number, twin in self._same.items():
                if twin in self.refused:
                    self.refused[number] = self.refused[twin]
        elif event == "ended":
            self.ended = True
        elif event == "forged":
            raise OracleFailed("a candidate of a batch wrote into the pipe of the results")

    def _screened(self, record: Record) -> None:
        number = need(record, "number", int)
        if "same" in record:
            self._same[number] = need(record, "same", int)
        outcomes = [records.outcome(test, self.paths) for test in need_all(record, "tests", dict)]
        if "late" in record and outcomes:  # the last one was cut short, whatever its code made of that
            outcomes[-1] = replace(outcomes[-1], status=TestStatus.TIMEOUT)
        if any(outcome.status.is_red for outcome in outcomes):
            self._waiting[number] = self._report({outcome.nodeid: outcome for outcome in outcomes})

    def _report(self, outcomes: Mapping[str, TestOutcome]) -> RunReport:
        return RunReport(
            outcomes=outcomes,
            collected=tuple(outcomes),
            exit_status=1,
            isolation=self.isolation,
            seconds=sum(outcome.seconds for outcome in outcomes.values()),
            rung=Rung.HOT,
        )


async def screened(run: Run, paths: Paths, seconds: float) -> BatchLog:
    """Take in the records of a batch that was just sent; its process is ended, also when this is cancelled.

    Args:
        run: of the batch.
        paths: of the copy.
        seconds: processor time for each candidate.
    """
    told = BatchLog(paths)
    try:
        while not told.ended:
            told.feed(await run.record(2 * seconds + MARGIN_SECONDS))
    except (asyncio.TimeoutError, ProbeEnded):
        pass  # what was found sound until then holds
    except OracleFailed as error:
        log.warning("nothing of a batch is believed: %s", error)
        told.refused.clear()
    finally:
        if not told.ended:
            run.send({"op": "kill"})
        run.forget()
    return told
