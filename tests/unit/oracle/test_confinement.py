"""What is said of the isolation is never more than what was seen, and never more than the settings leave of it."""

from __future__ import annotations

import pytest

from regreen.errors import EnvironmentProblem
from regreen.oracle.confinement import claimed, in_force, level_for
from regreen.settings import Settings
from regreen.values import Isolation

FULL = Isolation("full")
PARTIAL = Isolation("partial", ("services",), "the kernel refuses it")
WRAPPED = Isolation("partial", ("resources",), "the kernel refuses it", ("/usr/bin/bwrap", "--"))
NONE = Isolation("none", why="this is no Linux")


@pytest.mark.parametrize(
    ("found", "settings", "level", "said", "leaks"),
    [
        (FULL, Settings(), "full", "full", ()),
        (FULL, Settings(isolation="full"), "full", "full", ()),
        (FULL, Settings(isolation="none"), "none", "none", ()),
        (FULL, Settings(network=True), "full", "partial", ("network",)),
        (FULL, Settings(isolation="full", network=True), "full", "partial", ("network",)),
        (PARTIAL, Settings(), "partial", "partial", ("services",)),
        (FULL, Settings(services=("1",)), "full", "full", ()),
        (PARTIAL, Settings(services=("/run/s",)), "partial", "partial", ("services",)),
        (PARTIAL, Settings(services=("1", "/run/s")), "partial", "partial", ("ports", "services")),
        (PARTIAL, Settings(services=("1",), network=True), "partial", "partial", ("network", "services")),
        (PARTIAL, Settings(network=True), "partial", "partial", ("network", "services")),
        (PARTIAL, Settings(isolation="none"), "none", "none", ()),
        (WRAPPED, Settings(), "wrapped", "partial", ("resources",)),
        (WRAPPED, Settings(services=("1", "/run/s")), "wrapped", "partial", ("resources",)),
        (WRAPPED, Settings(network=True), "wrapped", "partial", ("network", "resources")),
        (WRAPPED, Settings(isolation="none"), "none", "none", ()),
        (NONE, Settings(), "none", "none", ()),
        (NONE, Settings(network=True), "none", "none", ()),
        (None, Settings(), "none", "none", ()),
    ],
)
def test_what_is_in_force(
    found: Isolation | None, settings: Settings, level: str, said: str, leaks: tuple[str, ...]
) -> None:
    assert level_for(found, settings) == level
    assert claimed("partial" if level == "wrapped" else level, settings) == said
    told = in_force(found, settings)
    assert (told.level, told.leaks) == (said, leaks)


@pytest.mark.parametrize("found", [PARTIAL, WRAPPED, NONE, None])
def test_who_asks_for_full_isolation_is_told_that_there_is_none_and_what_to_do(
    found: Isolation | None,
) -> None:
    for ask in (level_for, in_force):
        with pytest.raises(EnvironmentProblem) as told:
            ask(found, Settings(isolation="full"))
        assert "cannot be fully isolated on this machine" in told.value.what
        assert found is None or found.why in told.value.what
        assert "regreen.isolation.level" in told.value.hint


@pytest.mark.parametrize("setting", [{"isolation": "none"}, {"network": True}])
def test_a_setting_that_takes_isolation_away_is_named(setting: dict[str, object]) -> None:
    assert "regreen.isolation." in in_force(FULL, Settings(**setting)).why  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ((), "full: test runs reach nothing but their private copy"),
        (("127.0.0.1:5432",), "full: test runs reach nothing but their private copy and 127.0.0.1:5432"),
        (
            ("5432", "/run/s"),
            "full: test runs reach nothing but their private copy, localhost:5432 and /run/s",
        ),
    ],
)
def test_what_runs_reach_besides_is_said(named: tuple[str, ...], said: str) -> None:
    assert str(in_force(FULL, Settings(services=named))) == said


def test_where_only_ports_can_be_allowed_it_is_said() -> None:
    assert "connect to any machine at the ports of the named services" in str(
        in_force(PARTIAL, Settings(services=("5432",)))
    )


def test_that_no_port_is_reached_from_inside_bubblewrap_is_said() -> None:
    told = in_force(WRAPPED, Settings(services=("5432", "/run/s")))
    assert told.services == ("/run/s",)
    assert "no TCP service" in told.why
