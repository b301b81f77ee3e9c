"""Which arguments have the commands that show what happened and what was agreed to?

Each is imported when it is called.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from regreen.terminal.arguments import absolute, add_set


def add_history_commands(commands: Any) -> Any:
    """Add them all to the sub-commands of `regreen`; gives those of `runs`, for the one that heals."""
    runs = _add_runs(commands.add_parser("runs", help="earlier heals: what was tried, asked and said"))
    _add_cost(commands.add_parser("cost", help="what models cost, and what is left of today's budget"))
    _add_egress(commands.add_parser("egress", help="what left this machine, when, and to whom"))
    _add_stats(commands.add_parser("stats", help="offers, acceptances, undos, times and costs"))
    _add_lessons(commands.add_parser("lessons", help="what models are told of earlier heals"))
    _add_consent(commands.add_parser("consent", help="which folders' code may go to which models"))
    return runs


def _add_runs(runs: argparse.ArgumentParser) -> Any:
    do = runs.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show_all = do.add_parser("list", help="the last heals, newest first")
    show_all.add_argument("path", nargs="?", type=Path, metavar="PATH", help="only of projects there")
    show_all.add_argument("--limit", type=_positive, default=20, metavar="N", help="how many (20)")
    _add_json(show_all)
    show_all.set_defaults(run=_runs_list)
    show = do.add_parser("show", help="one heal: its rounds, attempts, calls and fixes")
    show.add_argument("id", metavar="ID", help="or its first characters")
    show.add_argument("--prompts", action="store_true", help="also all that was sent and came back")
    _add_json(show)
    show.set_defaults(run=_runs_show)
    export = do.add_parser("export", help="all of one heal as one JSON document")
    export.add_argument("id", metavar="ID", help="or its first characters")
    export.add_argument("file", nargs="?", type=Path, metavar="FILE", help="where to; default: stdout")
    export.set_defaults(run=_runs_export)
    return do


def _runs_list(arguments: argparse.Namespace) -> int:
    from regreen.terminal.runs import list_runs  # noqa: PLC0415 — see the module's docstring

    return list_runs(absolute(arguments.path), limit=arguments.limit, as_json=arguments.json)


def _runs_show(arguments: argparse.Namespace) -> int:
    from regreen.terminal.runs import show_run  # noqa: PLC0415

    return show_run(arguments.id, prompts=arguments.prompts, as_json=arguments.json)


def _runs_export(arguments: argparse.Namespace) -> int:
    from regreen.terminal.runs import export_run  # noqa: PLC0415

    return export_run(arguments.id, absolute(arguments.file))


def _add_cost(cost: argparse.ArgumentParser) -> None:
    cost.add_argument("--days", type=_positive, default=30, metavar="N", help="how many, today included (30)")
    _add_json(cost)
    add_set(cost)
    cost.set_defaults(run=_cost)


def _cost(arguments: argparse.Namespace) -> int:
    from regreen.terminal.costs import cost_command  # noqa: PLC0415

    return cost_command(Path.cwd(), days=arguments.days, as_json=arguments.json, asked=arguments.settings)


def _add_egress(egress: argparse.ArgumentParser) -> None:
    egress.add_argument("--since", metavar="DATE", help="2026-03-14, or with a time: 2026-03-14T15:30 (UTC)")
    egress.add_argument("--local", action="store_true", help="also what models on this machine were sent")
    _add_json(egress)
    egress.set_defaults(run=_egress)


def _egress(arguments: argparse.Namespace) -> int:
    from regreen.terminal.egress import egress_command  # noqa: PLC0415

    return egress_command(arguments.since, local=arguments.local, as_json=arguments.json)


def _add_stats(stats: argparse.ArgumentParser) -> None:
    stats.add_argument("path", nargs="?", type=Path, metavar="PATH", help="only of projects there")
    _add_json(stats)
    stats.set_defaults(run=_stats)


def _stats(arguments: argparse.Namespace) -> int:
    from regreen.terminal.stats import stats_command  # noqa: PLC0415

    return stats_command(absolute(arguments.path), as_json=arguments.json)


def _add_lessons(lessons: argparse.ArgumentParser) -> None:
    do = lessons.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = do.add_parser("list", help="all lessons, newest first")
    _add_json(show)
    show.set_defaults(run=_lessons_list)
    delete = do.add_parser("delete", help="forget one lesson")
    delete.add_argument("id", type=_positive, metavar="ID")
    delete.set_defaults(run=_lessons_delete)
    clear = do.add_parser("clear", help="forget all lessons")
    clear.set_defaults(run=_lessons_clear)


def _lessons_list(arguments: argparse.Namespace) -> int:
    from regreen.terminal.lessons import list_lessons  # noqa: PLC0415

    return list_lessons(as_json=arguments.json)


def _lessons_delete(arguments: argparse.Namespace) -> int:
    from regreen.terminal.lessons import delete_lesson  # noqa: PLC0415

    return delete_lesson(arguments.id)


def _lessons_clear(arguments: argparse.Namespace) -> int:
    from regreen.terminal.lessons import clear_lessons  # noqa: PLC0415

    del arguments
    return clear_lessons()


def _add_consent(consent: argparse.ArgumentParser) -> None:
    do = consent.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = do.add_parser("list", help="what you answered for which folder")
    show.set_defaults(run=_consent_list)
    revoke = do.add_parser("revoke", help="forget the answers for a folder; you are asked again")
    revoke.add_argument("path", type=Path, metavar="PATH")
    revoke.set_defaults(run=_consent_revoke)


def _consent_list(arguments: argparse.Namespace) -> int:
    from regreen.terminal.consents import list_consents  # noqa: PLC0415

    del arguments
    return list_consents()


def _consent_revoke(arguments: argparse.Namespace) -> int:
    from regreen.terminal.consents import revoke_consent  # noqa: PLC0415

    path = absolute(arguments.path)
    assert path is not None  # noqa: S101 — the argument is required
    return revoke_consent(path)


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON object on stdout")


def _positive(text: str) -> int:
    """A whole number from 1 to a million."""
    value = int(text)
    if not 1 <= value <= 1_000_000:
        raise ValueError(text)
    return value


_positive.__name__ = "whole number from 1"  # argparse names a type that refuses so
