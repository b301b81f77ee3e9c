"""What does the command `regreen` do with its arguments?

The composition root: each command is imported when it is called, so that the language server starts fast and
`--version` costs nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
import traceback
from collections.abc import Awaitable, Sequence
from pathlib import Path

from regreen import __version__
from regreen.bench.arguments import add_arguments
from regreen.errors import RegreenError, StaleFix, UsageError, UserError
from regreen.platform.signals import on_stop
from regreen.terminal.arguments import SettingAction, absolute, add_settings, interpreter
from regreen.terminal.history_arguments import add_history_commands

ENVIRONMENT, CANCELLED = 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 1 (see `heal`), 2 usage or environment, 130 stopped."""
    arguments = parser().parse_args(argv)
    try:
        _log_to(arguments.log_file)
        return int(arguments.run(arguments))
    except UserError as error:
        print(f"regreen: {error.what}", file=sys.stderr)  # noqa: T201 — the terminal face
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)  # noqa: T201 — the terminal face
        return ENVIRONMENT
    except StaleFix as error:
        print(f"regreen: {error}; nothing was changed.", file=sys.stderr)  # noqa: T201 — the terminal face
        return ENVIRONMENT
    except RegreenError as error:
        return _failed(error, arguments.log_file)
    except KeyboardInterrupt:  # before the loop listens, or after it ended
        return CANCELLED
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does; flushing at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="regreen",
        description="Turns red tests green again. Without a command it is a language server on stdin and stdout.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"regreen {__version__}")
    top.add_argument("--log-file", type=Path, metavar="FILE", help="write a detailed log")
    top.add_argument("--stdio", action="store_true", help="serve LSP on stdin and stdout (the default)")
    # Some clients tell every server their process id; ours learns it from `initialize`.
    top.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)
    top.set_defaults(run=_serve, tcp=None, allow_remote=False)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    _add_heal(commands.add_parser("heal", help="find verified fixes for red tests", allow_abbrev=False))
    _add_doctor(commands.add_parser("doctor", help="show how a project is run, and what is not right"))
    _add_trust(commands.add_parser("trust", help="let editors run a folder's tests"))
    _add_cache(commands.add_parser("cache", help="the private copies of projects"))
    runs = add_history_commands(commands)
    _add_fork(runs.add_parser("fork", help="go back to a round of a heal by a model, and on differently"))
    _add_serve(commands.add_parser("serve", help="serve LSP"))
    _add_bench(commands.add_parser("bench", help="measure how many bugs are healed, and how many rightly"))
    return top


# --------------------------------------------------------------------------- heal


def _add_heal(heal: argparse.ArgumentParser) -> None:
    heal.add_argument(
        "what", nargs="*", metavar="PATH | NODEID", help="folders, test files or node ids; default: ."
    )
    use = heal.add_mutually_exclusive_group()
    use.add_argument("--apply", action="store_true", help="write the verified fixes, and print how to undo")
    use.add_argument(
        "--check", action="store_true", help="apply nothing, and exit with 1 when anything is red"
    )
    heal.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    heal.add_argument("--patch", type=Path, metavar="FILE", help="write the fixes as a patch for `git apply`")
    known = heal.add_mutually_exclusive_group()
    known.add_argument("--last-failed", action="store_true", help="only the tests that pytest saw fail last")
    known.add_argument("--junit", type=Path, metavar="FILE", help="only the red tests of a JUnit XML report")
    heal.add_argument(
        "--max-seconds",
        type=float,
        metavar="S",
        action=SettingAction,
        key="heal.maxSeconds",
        help="how long each heal may search",
    )
    heal.add_argument(
        "--max-gigabytes",
        type=float,
        metavar="G",
        action=SettingAction,
        key="mirror.maxGigabytes",
        help="how much may be copied (2 by default)",
    )
    heal.add_argument(
        "--consent",
        action="store_true",
        help="what a language model would be sent may be sent (see llm.mode)",
    )
    add_settings(heal)
    heal.set_defaults(run=_heal)


def _heal(arguments: argparse.Namespace) -> int:
    from regreen.composition import make_git, open_tools  # noqa: PLC0415 — see the module's docstring
    from regreen.terminal.heal import HealOptions, heal_command  # noqa: PLC0415

    options = HealOptions(
        arguments=tuple(arguments.what),
        cwd=Path.cwd(),
        apply=arguments.apply,
        check=arguments.check,
        json=arguments.json,
        patch=absolute(arguments.patch),
        last_failed=arguments.last_failed,
        junit=absolute(arguments.junit),
        settings=arguments.settings,
        consent=arguments.consent,
    )
    return run_until_stopped(heal_command(options, open_tools, make_git()))


# --------------------------------------------------------------------------- runs fork


def _add_fork(fork: argparse.ArgumentParser) -> None:
    fork.add_argument("id", metavar="ID", help="of the heal, or its first characters")
    fork.add_argument(
        "--round", type=int, metavar="N", help="the last round to keep (all by default); 0 is the diagnosis"
    )
    fork.add_argument(
        "--hint", default="", metavar="TEXT", help="what you know; the model looks again with it"
    )
    fork.add_argument("--model", default="", metavar="NAME", help="ask another one")
    fork.add_argument("--apply", action="store_true", help="write the verified fix, and print how to undo")
    fork.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    fork.add_argument("--consent", action="store_true", help="what the model would be sent may be sent")
    add_settings(fork)
    fork.set_defaults(run=_fork)


def _fork(arguments: argparse.Namespace) -> int:
    from regreen.composition import make_git, open_tools  # noqa: PLC0415 — see the module's docstring
    from regreen.pipeline import Resume  # noqa: PLC0415
    from regreen.terminal.fork import fork_command  # noqa: PLC0415
    from regreen.terminal.heal import HealOptions  # noqa: PLC0415

    options = HealOptions(
        arguments=(),
        cwd=Path.cwd(),
        apply=arguments.apply,
        json=arguments.json,
        settings=arguments.settings,
        consent=arguments.consent,
    )
    resume = Resume(hint=arguments.hint, model=arguments.model)
    return run_until_stopped(
        fork_command(arguments.id, resume, arguments.round, options, open_tools, make_git())
    )


# --------------------------------------------------------------------------- what is set up


def _add_doctor(doctor: argparse.ArgumentParser) -> None:
    doctor.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH")
    doctor.add_argument("--json", action="store_true", help="one JSON object on stdout")
    doctor.add_argument("--llm", action="store_true", help="ask the language model something, as a test")
    add_settings(doctor)
    doctor.set_defaults(run=_doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    from regreen.composition import make_git  # noqa: PLC0415 — see the module's docstring
    from regreen.terminal.doctor import doctor_command  # noqa: PLC0415

    path = absolute(arguments.path) or Path.cwd()
    return run_until_stopped(
        doctor_command(path, make_git(), as_json=arguments.json, asked=arguments.settings, llm=arguments.llm)
    )


def _add_trust(trust: argparse.ArgumentParser) -> None:
    trust.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH")
    do = trust.add_mutually_exclusive_group()
    do.add_argument("--revoke", action="store_true", help="trust the folder no longer")
    do.add_argument("--list", action="store_true", help="show the trusted folders")
    trust.set_defaults(run=_trust)


def _trust(arguments: argparse.Namespace) -> int:
    from regreen.terminal.housekeeping import list_trusted, revoke_trust, trust_folder  # noqa: PLC0415

    if arguments.list:
        return list_trusted()
    path = absolute(arguments.path) or Path.cwd()
    return revoke_trust(path) if arguments.revoke else trust_folder(path)


def _add_cache(cache: argparse.ArgumentParser) -> None:
    do = cache.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = do.add_parser("list", help="the private copies, their projects and sizes")
    show.set_defaults(run=_cache_list)
    clear = do.add_parser("clear", help="remove the copies that no running Regreen uses")
    clear.add_argument("path", nargs="?", type=Path, metavar="PATH", help="only this project's")
    clear.set_defaults(run=_cache_clear)


def _cache_list(arguments: argparse.Namespace) -> int:
    from regreen.terminal.housekeeping import list_cache  # noqa: PLC0415

    del arguments
    return list_cache()


def _cache_clear(arguments: argparse.Namespace) -> int:
    from regreen.terminal.housekeeping import clear_cache  # noqa: PLC0415

    return clear_cache(absolute(arguments.path))


# --------------------------------------------------------------------------- serve


def _add_serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--tcp", metavar="HOST:PORT", help="listen there instead of using stdin and stdout")
    serve.add_argument(
        "--allow-remote",
        action="store_true",
        help="let --tcp listen on an address that other machines can reach",
    )
    serve.set_defaults(run=_serve)


def _serve(arguments: argparse.Namespace) -> int:
    from regreen.serving import serve  # noqa: PLC0415 — see the module's docstring

    tcp = None
    if arguments.tcp is not None:
        from regreen.terminal.address import parse_address  # noqa: PLC0415

        tcp = parse_address(arguments.tcp, allow_remote=arguments.allow_remote)
    return serve(tcp)


# --------------------------------------------------------------------------- bench


def _add_bench(bench: argparse.ArgumentParser) -> None:
    add_arguments(bench)
    bench.set_defaults(run=_bench)


def _bench(arguments: argparse.Namespace) -> int:
    from regreen.bench.command import BenchOptions, bench_command  # noqa: PLC0415 — see the module's docstring
    from regreen.bench.compare import compare_command  # noqa: PLC0415
    from regreen.bench.trial import Plan  # noqa: PLC0415

    cases, *others = arguments.what
    if cases == "compare" and len(others) == 2:
        return compare_command(*map(Path, others))
    if others:
        raise UsageError("`regreen bench` takes one file or folder of cases, or `compare` and two files.")
    plan = Plan(arguments.seconds, interpreter(arguments.interpreter), tuple(arguments.set), arguments.engine)
    options = BenchOptions(
        cases=Path(cases),
        plan=plan,
        engine=arguments.engine,
        only=tuple(arguments.only),
        jobs=arguments.jobs,
        executor=arguments.executor,
        json=absolute(arguments.json),
        html=absolute(arguments.html),
        gate=arguments.gate,
        ablate=arguments.ablate,
    )
    return run_until_stopped(bench_command(options))


# --------------------------------------------------------------------------- around every command


def run_until_stopped(work: Awaitable[int]) -> int:
    """Run `work` in an event loop; Ctrl-C or a request to end cancels it, and everything it started is gone then."""

    async def guarded() -> int:
        task = asyncio.ensure_future(work)
        with on_stop(task.cancel):
            try:
                return await task
            except asyncio.CancelledError:
                print("regreen: stopped; nothing is left running.", file=sys.stderr)  # noqa: T201
                return CANCELLED

    return asyncio.run(guarded())


def _log_to(path: Path | None) -> None:
    """Log warnings to stderr, and everything to a file if there is one. Stdout is never logged to."""
    shown = logging.StreamHandler()
    shown.setLevel(logging.WARNING)
    handlers: list[logging.Handler] = [shown]
    if path is not None:
        try:
            handlers.append(logging.FileHandler(path, encoding="utf-8", delay=False))
        except OSError as error:
            raise UsageError(f"The log file {path} cannot be written: {error.strerror}.") from error
    logging.basicConfig(
        level=logging.DEBUG if path else logging.WARNING,
        handlers=handlers,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


def _failed(error: RegreenError, log_file: Path | None) -> int:
    """Our own failure: said in one line, with its traceback where the user asked for a log."""
    logging.getLogger("regreen").debug("failed", exc_info=error)
    where = f"see {log_file}" if log_file else "run it again with --log-file FILE for the details"
    print(f"regreen: internal error: {error}; {where}.", file=sys.stderr)  # noqa: T201
    if log_file is None:
        print("".join(traceback.format_exception_only(error)).rstrip(), file=sys.stderr)  # noqa: T201
    return ENVIRONMENT
