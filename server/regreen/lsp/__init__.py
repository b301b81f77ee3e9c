"""How does Regreen serve an editor? `serve` is all that the command line calls."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regreen.engine import World
from regreen.lsp import streams
from regreen.lsp.server import Server


@dataclass(frozen=True, slots=True)
class Options:
    """How to serve.

    Args:
        tcp: (host, port) to listen on for one client instead of stdin and stdout.
        log_file: where the log goes; None: stderr.
        verbose: log what the library says, too; it contains the user's code.
    """

    tcp: tuple[str, int] | None = None
    log_file: Path | None = None
    verbose: bool = False


def serve(make_world: Callable[[], World], options: Options | None = None) -> int:
    """Serve one client until it leaves.

    Args:
        make_world: wires the real parts; called inside of the running loop.
        options: how to serve.

    Returns:
        The exit code of the process.
    """
    options = options or Options()
    _configure_log(options)
    return asyncio.run(_tcp(make_world, *options.tcp) if options.tcp else _stdio(make_world))


async def _stdio(make_world: Callable[[], World]) -> int:
    source, target = streams.take_stdio()
    writer = streams.ThreadWriter(target)
    try:
        return await Server(make_world()).serve(streams.read_in_thread(source), writer)
    finally:
        writer.close()


async def _tcp(make_world: Callable[[], World], host: str, port: int) -> int:
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.close()  # one client is all that one engine serves
        try:
            code = await Server(make_world()).serve(reader, writer)
        finally:
            writer.close()
        if not done.done():
            done.set_result(code)

    listener = await asyncio.start_server(connected, host, port)
    place = listener.sockets[0].getsockname()
    print(f"regreen listens on {place[0]}:{place[1]}", file=sys.stderr)  # noqa: T201 — the answer to `serve --tcp`
    return await done


def _configure_log(options: Options) -> None:
    handler = (
        logging.FileHandler(options.log_file, encoding="utf-8")
        if options.log_file is not None
        else logging.StreamHandler(sys.stderr)
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    if not options.verbose:
        handler.addFilter(_keeps_code_out)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if options.verbose else logging.INFO)
    logging.getLogger("pygls").setLevel(logging.DEBUG if options.verbose else logging.WARNING)


def _keeps_code_out(record: logging.LogRecord) -> bool:
    """Drop what the library says about a message that failed: it quotes the message, and with it the user's code."""
    return not (record.name.startswith("pygls") and record.exc_info)


__all__ = ["Options", "Server", "serve"]
