"""How does the language server speak, and how does it end, whatever the client does?

Mends what the library leaves open: long work never shares its reader, strings of the protocol that it does not know
are tolerated, malformed requests are answered, errors never pop up, and the process ends with its client.
"""

from __future__ import annotations

import asyncio
import enum
import inspect
import logging
import os
from collections.abc import Callable, Generator
from threading import Event
from typing import Any

import cattrs
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.language_server import lsp_method

from regreen import __version__
from regreen.engine import World
from regreen.lsp import from_proto, streams
from regreen.lsp.commands import COMMANDS
from regreen.lsp.handlers import FEATURES, Feature
from regreen.lsp.session import Session
from regreen.platform import processes
from regreen.platform.alive import is_alive
from regreen.platform.waiting import within

log = logging.getLogger(__name__)

PARENT_SECONDS = 5.0
CLOSE_SECONDS = 5.0


def lenient_converter() -> cattrs.Converter:
    """The protocol's converter, with values of enumerations that it does not know kept as they are."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]

    def structure(value: Any, kind: type[enum.Enum]) -> Any:
        try:
            return kind(value)
        except ValueError:
            return value

    for _, kind in inspect.getmembers(t, inspect.isclass):
        if issubclass(kind, enum.Enum):
            converter.register_structure_hook(kind, structure)
            converter.register_unstructure_hook(kind, lambda value: getattr(value, "value", value))
    return converter


class Protocol(LanguageServerProtocol):
    """The library's protocol with its faults mended."""

    @lsp_method(t.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Any:
        """End our work first, then every request that is still open."""
        if (handler := self.fm.features.get(t.SHUTDOWN)) is not None:
            yield handler, args, None
        own = self.msg_id
        for identity, future in list(self._request_futures.items()):
            if identity != own and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(t.EXIT)
    def lsp_exit(self, *_args: Any) -> Generator[Any, Any, None]:
        """Leave the reading loop; the process ends when everything is closed."""
        yield from ()
        if isinstance(self._server, Server):
            self._server.stop(0 if self._shutdown else 1)

    @lsp_method(t.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(self, params: t.ExecuteCommandParams) -> Any:
        """Call a command with its one object, whatever was sent."""
        if (handler := self.fm.commands.get(params.command)) is None:
            raise JsonRpcInvalidParams(f"There is no command {params.command!r}.")
        return (yield handler, (from_proto.argument(params.arguments),), None)

    def _run_generator(self, future: Any, *, gen: Any, result_future: Any) -> None:
        """Let a handler that was cancelled end its request, instead of failing inside of the loop."""
        if future is not None and future.cancelled():
            result_future.cancel()
            return
        super()._run_generator(future, gen=gen, result_future=result_future)

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        """Drop the reply to a request that nobody waits for any more."""
        future = self._request_futures.get(msg_id)
        if future is not None and future.cancelled():
            self._request_futures.pop(msg_id, None)
            return
        super()._handle_response(msg_id, result, error)

    def structure_message(self, data: Any) -> Any:
        """Answer a request that cannot be understood, so that the client does not wait for ever."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if isinstance(data, dict) and "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class Server(LanguageServer):
    """The server of one client."""

    def __init__(self, world: World) -> None:
        super().__init__(
            "regreen",
            __version__,
            text_document_sync_kind=t.TextDocumentSyncKind.Full,
            protocol_cls=Protocol,
            converter_factory=lenient_converter,
        )
        self.session = Session(self, world)
        self.exit_code = 1  # until the client says shutdown and exit
        self._stopped = Event()
        self._input: asyncio.StreamReader | None = None
        for feature in FEATURES:
            self.feature(feature.method, feature.options)(_bound(feature.handler, self.session))
        for name, command in COMMANDS.items():
            self.command(name)(_bound(command, self.session))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log it; an error of ours is never a pop-up. What was answered on purpose is no error."""
        if isinstance(error, JsonRpcInternalError):  # carries the traceback of the handler as text
            log.error(
                "A message was not handled: %s\n%s", error, "".join((error.data or {}).get("traceback", []))
            )
        elif not isinstance(error, JsonRpcException):
            log.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)

    def stop(self, code: int) -> None:
        """Leave the reading loop."""
        self.exit_code = code
        self._stopped.set()
        if self._input is not None:
            self._input.feed_eof()

    async def serve(self, reader: asyncio.StreamReader, writer: Any) -> int:
        """Serve one client until it leaves, then end every process of ours.

        Returns:
            The exit code of the process: 0 after shutdown and exit, 1 otherwise.
        """
        self._input = reader
        self.protocol.set_writer(writer)
        parent = asyncio.get_running_loop().create_task(self._watch_parent())
        try:
            await run_async(
                self._stopped, streams.Lines(reader), self.protocol, log, self.report_server_error
            )
        except (BrokenPipeError, ConnectionError):
            log.info("The client is gone.")
        finally:
            parent.cancel()
            await self._close()
        return self.exit_code

    async def _close(self) -> None:
        try:
            await within(CLOSE_SECONDS, self.session.close())
        except asyncio.TimeoutError:
            log.warning("Closing took too long; what still runs is killed.")
        processes.kill_all()

    async def _watch_parent(self) -> None:
        """End with the client although another process holds our pipe open."""
        while True:
            await asyncio.sleep(PARENT_SECONDS)
            if self.process_id is not None and not is_alive(self.process_id):
                log.warning("The client (process %s) is gone.", self.process_id)
                await self._close()
                os._exit(1)


def _bound(handler: Callable[..., Any], session: Session) -> Callable[..., Any]:
    """The handler as the library calls it: with the message alone."""
    if inspect.iscoroutinefunction(handler):

        async def call_async(params: Any = None) -> Any:
            return await handler(session, params)

        return call_async

    def call(params: Any = None) -> Any:
        return handler(session, params)

    return call


__all__ = ["Feature", "Server", "lenient_converter"]
