"""How are many candidates tried in one process?

One after the other: swap the code, run the tests to the first red one, swap it back. Between them the unpatched code is
run again; while it ends as it did at first, what the candidates left behind has not mattered. Only refusals are worth
anything: whoever passes is tried again alone.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable

from regreen_probe import identity, swap

CHECK_EVERY = 8
"""After how many candidates the unpatched code is run again."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")


class TooLong(BaseException):
    """The tests have used up their processor time."""


class Batch:
    """The candidates of one process, and what became of them.

    Args:
        functions: finds what to swap.
        run: runs the tests to the first red one; the `test` records.
        tell: sends a record.
        seconds: processor time for each run of the tests.
    """

    def __init__(
        self,
        functions: swap.Functions,
        run: Callable[[], list[dict]],
        tell: Callable[[dict[str, object]], None],
        seconds: float,
    ) -> None:
        self.functions = functions
        self.run = run
        self.tell = tell
        self.seconds = seconds
        self.same: dict[object, int] = {}  # the code of a candidate → its number
        self.late = False  # whether the run under way has used up its time

    def try_all(self, candidates: list[dict]) -> None:
        """Try them in order, as long as nothing they do matters to the next ones.

        Args:
            candidates: {"path", "text"} of each.
        """
        signal.signal(signal.SIGPROF, self._too_long)
        self.replaced = identity.replaced()
        self.first = self._essence()
        waiting = 0
        for number, candidate in enumerate(candidates):
            waiting += self._try(number, candidate)
            if waiting >= CHECK_EVERY or number == len(candidates) - 1:
                if not self._is_sound():
                    return
                self.tell({"ev": "sound", "upto": number})
                waiting = 0

    def _try(self, number: int, candidate: dict) -> bool:
        """Try one; whether any test was run."""
        try:
            (change,) = self.functions.plan(candidate["path"], candidate["text"])
        except swap.NotSwappable as reason:
            self.tell({"ev": "screened", "number": number, "unswappable": str(reason), "tests": []})
            return False
        twin = self.same.setdefault((candidate["path"], change.code), number)
        if twin != number:
            self.tell({"ev": "screened", "number": number, "same": twin, "tests": []})
            return False
        change.apply()
        try:
            tests = self._run_timed()
        finally:
            change.undo()
        late = {"late": self.seconds} if self.late else {}
        self.tell({"ev": "screened", "number": number, **late, "tests": tests})
        return True

    def _run_timed(self) -> list[dict]:
        """Run the tests; `late` says afterwards whether they were cut short."""
        self.late = False
        # Again after as long: code that swallows the exception goes on, and pytest needs a moment to tell of it.
        signal.setitimer(signal.ITIMER_PROF, self.seconds, self.seconds)
        try:
            return self.run()
        except TooLong:
            return []
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _too_long(self, _number: int, _frame: object) -> None:
        self.late = True
        raise TooLong

    def _essence(self) -> list[tuple[object, object, str]]:
        """How the unpatched code fails."""
        tests = [(test["nodeid"], test["outcome"], test["failure"] or {}) for test in self._run_timed()]
        return [
            (nodeid, outcome, _ADDRESS.sub("", "%s %s" % (failure.get("exception"), failure.get("message"))))
            for nodeid, outcome, failure in tests
        ]

    def _is_sound(self) -> bool:
        """Whether the unpatched code still does what it did, and nothing else of this process has changed."""
        try:
            threads = len(os.listdir("/proc/self/task"))
        except OSError:
            threads = 1
        return threads == 1 and identity.replaced() == self.replaced and self._essence() == self.first
