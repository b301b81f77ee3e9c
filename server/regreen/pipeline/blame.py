"""Is it our own isolation that makes the test red?

The unpatched test is run once more with nothing kept from it but to change what is the user's. What is green then, or
fails in another way, is no fault of the code.
"""

from __future__ import annotations

from dataclasses import replace

from regreen.pipeline.parts import Baseline, Tools
from regreen.pipeline.reproduce import HANG_SECONDS
from regreen.pipeline.services import asked_for
from regreen.pipeline.triage import environment_problem
from regreen.settings import Settings
from regreen.validation.ladder import Target
from regreen.values import Failure, RunReport, RunRequest, TestStatus

SECONDS = 10.0
"""How long the test may take, if it is not one that hangs."""

CONFIRMED = 4
"""How often it must go the same way again, in turns, before it is believed: a test may end as it likes."""

_OF_NETWORK = frozenset(
    {
        "BlockingIOError", "BrokenPipeError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError",
        "ConnectionResetError", "ConnectTimeout", "ConnectError", "TimeoutError", "URLError", "gaierror", "timeout",
        "OperationalError", "InterfaceError", "NewConnectionError", "MaxRetryError",
    }
)  # fmt: skip
_OF_FILES = frozenset(
    {
        "FileNotFoundError",
        "ImportError",
        "ModuleNotFoundError",
        "NotADirectoryError",
        "OSError",
        "PermissionError",
    }
)


async def refused_by_isolation(target: Target, base: Baseline, tools: Tools, settings: Settings) -> str:
    """Why the test is red only in our runs, and the setting that helps; "" when it is red anyway.

    Args:
        target: a test that is red in our runs.
        base: the unpatched project.
        tools: the oracle is used.
        settings: limits of time.
    """
    if base.report.isolation == "none":
        return ""
    request = RunRequest(
        base.snapshot,
        target.nodeids,
        relaxed=True,
        seconds_per_test=min(
            settings.seconds_per_test, HANG_SECONDS if target.failure.exception == "Timeout" else SECONDS
        ),
    )
    failure = target.failure
    free = await tools.oracle.run(request)
    then = _instead(failure, free)
    if not then:
        return ""
    for _ in range(CONFIRMED):
        isolated = await tools.oracle.run(replace(request, relaxed=False))
        if _instead(failure, isolated) or _instead(failure, await tools.oracle.run(request)) != then:
            return ""  # chance
    for real in free.failures:
        if real.nodeid == failure.nodeid and (problem := environment_problem(real, base.snapshot)):
            return problem
    return f"Isolation keeps the test from something it needs ({_words(failure)}); without it, {then}. {_helps(failure)}"


def _helps(failure: Failure) -> str:
    """Which setting allows what was refused."""
    name = failure.exception.rpartition(".")[2]
    if service := asked_for(failure):
        return (
            f'The setting `regreen.isolation.services` lets test runs reach this service: add "{service}" to it. '
            "`regreen.isolation.network` would let them use the network as a whole."
        )
    if name in _OF_FILES:
        return "The setting `regreen.isolation.readable` names files and folders that test runs may read besides."
    if name in _OF_NETWORK:
        return (
            "The setting `regreen.isolation.services` names services of this machine that test runs may reach, "
            '"127.0.0.1:5432" for example; `regreen.isolation.network` lets them use the network as a whole.'
        )
    return (
        "The settings `regreen.isolation.services`, `regreen.isolation.network` and `regreen.isolation.readable` "
        "allow more."
    )


def _instead(failure: Failure, report: RunReport) -> str:
    """How the test went when it was free, if that is otherwise and not just by chance; else ""."""
    free = report.outcomes.get(failure.nodeid)
    if free is None:
        return "it can be collected" if failure.is_collection and report.collected else ""
    if free.status is TestStatus.PASSED:
        return "it is green"
    refused = failure.exception.rpartition(".")[2] in _OF_FILES | _OF_NETWORK
    if refused and free.failure is not None and free.failure.exception != failure.exception:
        return f"it fails otherwise ({_words(free.failure)})"
    return ""


def _words(failure: Failure) -> str:
    return f"{failure.exception}: {failure.message[:160]}" if failure.message else failure.exception
