"""How are many cases run at once, so that none is run twice and nothing is left when it is stopped?"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Executor, Future

from regreen.bench.cases import Case
from regreen.bench.journal import Journal
from regreen.bench.report import progress_line
from regreen.bench.trial import Plan, Result, lost, run
from regreen.bench.waiting import cancel_all
from regreen.values import Outcome


class Runner:
    """Runs cases and tells on stderr how far it is.

    Args:
        workers: where they run.
        journal: what is known already; hears of everything else.
    """

    def __init__(self, workers: Executor, journal: Journal) -> None:
        self._workers = workers
        self._journal = journal

    async def run(self, jobs: Sequence[tuple[Case, Plan]]) -> tuple[Result, ...]:
        """One result for each job, in their order.

        Raises:
            asyncio.CancelledError: stopped; cases that were running in this process are, too.
        """
        results = {
            number: known
            for number, (case, plan) in enumerate(jobs)
            if (known := self._journal.get(case, plan))
        }
        if results:
            tell(f"Taken over from a run that did not end: {len(results)} of {len(jobs)} cases.")
        futures = {
            number: self._workers.submit(run, case, plan)
            for number, (case, plan) in enumerate(jobs)
            if number not in results
        }
        began, already = time.monotonic(), len(results)

        async def one(number: int, future: Future[Result]) -> None:
            case, plan = jobs[number]
            result = await _result(case, future)
            self._journal.add(case, plan, result)
            results[number] = result
            done = len(results)
            left = (time.monotonic() - began) / (done - already) * (len(jobs) - done)
            tell(progress_line(result, done, len(jobs), left))

        try:
            await asyncio.gather(*(one(number, future) for number, future in futures.items()))
        except BaseException:
            await _abandon(futures.values())
            raise
        return tuple(results[number] for number in range(len(jobs)))


def tell(sentence: str) -> None:
    """Say something to whoever waits."""
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


async def _result(case: Case, future: Future[Result]) -> Result:
    try:
        return await asyncio.wrap_future(future)
    except Exception as error:  # noqa: BLE001 — whatever a worker dies of is one lost case
        return lost(case, Outcome.INTERNAL_ERROR, f"{type(error).__name__}: {error}")


async def _abandon(futures: Collection[Future[Result]]) -> None:
    """Let nothing begin any more, and wait for the end of what runs."""
    for future in futures:
        future.cancel()
    while any(future.running() for future in futures):
        cancel_all()
        await asyncio.sleep(0.05)
