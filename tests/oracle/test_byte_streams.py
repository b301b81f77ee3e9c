"""A verdict needs no more than bytes that come in order; what happens to them on the way never makes it better."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.oracle.relay import FAULTS
from tests.oracle.world import World

from regreen.oracle.backend import Link, LocalBackend, Mode
from regreen.validation.ladder import Step, Target, judge_alone
from regreen.values import Failure, Rung, RunReport, TestStatus, Verdict

RELAY = Path(__file__).with_name("relay.py")
SECONDS = 20.0
"""Within which a probe ends by itself when it reads the end of its input."""
SORTS = {
    Rung.WARM: ("started", "collected", "begin", "test", "finished"),
    Rung.COLD: ("test", "finished"),  # its records are sealed in the same way, and each run takes a second
}
RUNGS = pytest.mark.parametrize("rung", SORTS)
SHOP = "def total(a, b):\n    return a - b\n"
RIGHT, WRONG = SHOP.replace("-", "+"), SHOP.replace("-", "*")
TEST = "from shop import total\n\ndef test_it():\n    assert total(2, 3) == 5\n"
FAILURE = Failure(
    "test_it.py::test_it", "call", "AssertionError", "assert -1 == 5", (), Path("test_it.py"), 2
)


class Elsewhere(LocalBackend):
    """A place to which only the relay leads: none of its processes can be ended, or seen, from here.

    Args:
        world: has the copies.
        plan: the file that tells the relay what to do.
    """

    def __init__(self, world: World, plan: Path) -> None:
        super().__init__(world.mirror)
        self.plan = plan

    async def start(
        self,
        executable: Path,
        environment: Mapping[str, str],
        mode: Mode,
        options: Mapping[str, Any],
        wrapper: Sequence[str] = (),
    ) -> Link:
        relay = (sys.executable, str(RELAY), str(self.plan), *wrapper)
        link = await super().start(executable, environment, mode, options, relay)
        clean_up = link.kill_tree

        async def branch_out_of_reach(pid: int) -> None:
            del pid

        async def strays_out_of_reach() -> None:
            return

        async def end() -> None:
            link.close_stdin()
            await asyncio.wait_for(link.wait(), SECONDS)
            await clean_up()

        link.kill_branch = branch_out_of_reach  # type: ignore[method-assign]
        link.kill_strays = strays_out_of_reach  # type: ignore[method-assign]
        link.kill_tree = end  # type: ignore[method-assign]
        return link


class Far:
    """A project whose tests run elsewhere."""

    def __init__(self, world: World, plan: Path) -> None:
        self.world, self.plan = world, plan
        plan.touch()
        world.oracle = world.make_oracle(backend=Elsewhere(world, plan))
        world.write(shop=SHOP, test_it=TEST)
        (world.root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")

    async def run(self, text: str, rung: Rung, fault: Mapping[str, str] | None = None) -> RunReport:
        """Run the test with a patched module; what the fault says happens on the way."""
        self.plan.write_text(json.dumps(fault) if fault else "")
        return await self.world.run(
            "test_it.py::test_it",
            overlay={self.world.root / "shop.py": text.encode()},
            rung=rung,
            details=False,
            seconds_per_test=1.0,
        )

    async def judged(self, text: str, rung: Rung, fault: Mapping[str, str]) -> Step:
        """What the ladder makes of it."""
        step = judge_alone(await self.run(text, rung, fault), Target(FAILURE))
        self.plan.with_suffix(".done").unlink()
        return step


@pytest.fixture
def far(world: World, tmp_path: Path) -> Far:
    return Far(world, tmp_path / "plan")


@pytest.mark.parametrize("rung", Rung)
async def test_a_run_at_the_other_end_of_a_stream_says_what_one_beside_us_says(far: Far, rung: Rung) -> None:
    reports = {text: await far.run(text, rung) for text in (RIGHT, WRONG)}
    assert {report.rung for report in reports.values()} == {rung}
    far.world.oracle, oracle = far.world.make_oracle(), far.world.oracle
    for text, report in reports.items():
        beside = await far.run(text, rung)
        assert report.collected == beside.collected
        assert report.outcomes.keys() == beside.outcomes.keys()
        assert [o.status for o in report.outcomes.values()] == [o.status for o in beside.outcomes.values()]
        assert (report.exit_status, report.isolation) == (beside.exit_status, beside.isolation)
    assert judge_alone(reports[RIGHT], Target(FAILURE)).verdict is Verdict.PLAUSIBLE
    assert judge_alone(reports[WRONG], Target(FAILURE)).verdict is Verdict.STILL_FAILING
    await far.world.oracle.close()
    far.world.oracle = oracle


@RUNGS
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("def total(a, b):\n    while True: pass\n", TestStatus.TIMEOUT),
        ("def total(a, b):\n    import os\n    os._exit(0)\n", TestStatus.CRASHED),
    ],
    ids=["hangs", "ends"],
)
async def test_what_hangs_or_ends_there_is_noticed_here_and_leaves_nothing(
    far: Far, rung: Rung, text: str, status: TestStatus
) -> None:
    report = await far.run(text, rung)
    assert [outcome.status for outcome in report.outcomes.values()] == [status]


@RUNGS
@pytest.mark.parametrize("what", FAULTS)
async def test_no_byte_that_is_changed_lost_repeated_or_added_leaves_a_patch_plausible(
    far: Far, rung: Rung, what: str
) -> None:
    for ev in SORTS[rung]:
        if what != "tell a better outcome":
            right = await far.judged(RIGHT, rung, {"what": what, "ev": ev})
            assert right.verdict in {Verdict.TAMPERED, Verdict.CRASH}, (ev, right.reason)
        wrong = await far.judged(WRONG, rung, {"what": what, "ev": ev})
        assert wrong.verdict is not Verdict.PLAUSIBLE, ev


async def test_what_an_earlier_run_said_proves_nothing(far: Far) -> None:
    assert judge_alone(await far.run(RIGHT, Rung.WARM), Target(FAILURE)).verdict is Verdict.PLAUSIBLE
    for ev in SORTS[Rung.WARM]:
        wrong = await far.judged(WRONG, Rung.WARM, {"what": "replay", "ev": ev})
        assert wrong.verdict is not Verdict.PLAUSIBLE, ev
        await far.run(RIGHT, Rung.WARM)


@RUNGS
async def test_a_stream_that_is_cut_is_a_crash(far: Far, rung: Rung) -> None:
    for ev in SORTS[rung]:
        step = await far.judged(RIGHT, rung, {"what": "cut", "ev": ev})
        assert step.verdict is Verdict.CRASH, (ev, step.reason)
