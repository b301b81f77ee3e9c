"""How does Regreen serve an editor? `serve` is all that the command line calls."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass

from regreen.engine import World
from regreen.lsp import streams
from regreen.lsp.server import Server


@dataclass(frozen=True, slots=True)
class Options:
    """How to serve.

    Args:
        tcp: (host, port) to listen on for one client instead of stdin and stdout.
    """

    tcp: tuple[str, int] | None = None


def serve(make_world: Callable[[], World], options: Options | None = None) -> int:
    """Serve one client until it leaves.

    Args:
        make_world: wires the real parts; called inside of the running loop.
        options: how to serve.

    Returns:
        The exit code of the process.
    """
    options = options or Options()
    _keep_code_out_of_the_log()
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


def _keep_code_out_of_the_log() -> None:
    """The library logs whole messages, and with them the user's code: all at INFO, failed ones with tracebacks."""
    for name in ("pygls", "pygls.protocol.json_rpc", "pygls.server", "pygls.io_"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.WARNING)
        logger.addFilter(lambda record: not record.exc_info)
    # It warns of each request that the client gave up when the answer was on its way already.
    logging.getLogger("pygls.protocol.json_rpc").setLevel(logging.ERROR)


__all__ = ["Options", "Server", "serve"]
