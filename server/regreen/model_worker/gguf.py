"""How does a model file on disk answer without any server of the user's?

llama.cpp's own HTTP server runs inside this process, on a loopback port, with a key that nobody else has.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import secrets
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from regreen.model_worker.troubles import NoReply
from regreen.model_worker.wire import Info

PREFIX = "gguf:"
WINDOW = 4096
"""Tokens of prompt and reply where nothing else is said and the file allows them."""
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of the format's numbers, by type (ggml's GGUF specification, version 3)."""
_WHOLE = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_STRING, _ARRAY = 8, 9
_MOST = 100_000
"""Entries of a file that makes sense."""


@dataclass(frozen=True, slots=True)
class Running:
    """A model that answers. `url` is what litellm takes as the address of an OpenAI-like server."""

    path: Path
    window: int
    url: str
    key: str
    server: Any


class Files:
    """The model file that is loaded; another one takes its place."""

    def __init__(self) -> None:
        self._running: Running | None = None
        self._loading = asyncio.Lock()
        self._tasks: set[asyncio.Task[Running]] = set()

    async def running(self, model: str, window: int | None) -> Running:
        """The server of a model, loaded if need be; loading goes on when the caller is cancelled.

        Raises:
            ImportError: xllamacpp is not installed.
            NoReply: the file is missing, or no model.
        """
        task = asyncio.create_task(self._load(path_of(model), window))
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Running]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # told to the caller, if there still is one

    async def _load(self, path: Path, window: int | None) -> Running:
        async with self._loading:
            wanted = window or min(WINDOW, window_of(path) or WINDOW)
            if self._running is None or self._running.path != path or self._running.window < wanted:
                self._running = None  # its memory is needed
                self._running = await asyncio.to_thread(_start, path, wanted)
            return self._running


def path_of(model: str) -> Path:
    """The file of a "gguf:/path"."""
    return Path(model[len(PREFIX) :]).expanduser()


def describe(model: str) -> Info:
    """What the file says about itself, and whether it can run here."""
    window, problem, detail = None, None, ""
    try:
        window = window_of(path_of(model))
    except NoReply as error:
        problem, detail = error.problem, str(error)
    else:
        if importlib.util.find_spec("xllamacpp") is None:
            problem, detail = "missing", "xllamacpp is not installed"
    return Info(model, "gguf", "", True, window, 0.0, 0.0, problem, detail)


def _start(path: Path, window: int) -> Running:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    key = secrets.token_urlsafe(24)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = window
    params.n_parallel = 1
    # Threads that outnumber free processors wait for each other, and tests run at the same time
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 2) // 2)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise NoReply("bad-request", f"{path} could not be loaded: {error}") from error
    return Running(path, window, f"{server.listening_address}/v1", key, server)


def window_of(path: Path) -> int | None:
    """The context window that a model file says it was trained with; None when it does not.

    Raises:
        NoReply: the file is missing, cannot be read, or is no GGUF file.
    """
    try:
        with path.open("rb") as file:
            return _window(file)
    except FileNotFoundError as error:
        raise NoReply("unknown-model", f"there is no file {path}") from error
    except OSError as error:
        raise NoReply("unknown-model", f"{path} cannot be read: {error.strerror}") from error
    except (struct.error, ValueError, UnicodeDecodeError, OverflowError) as error:
        raise NoReply("unknown-model", f"{path} is not a GGUF model file") from error


def _window(file: BinaryIO) -> int | None:
    magic, version, _, entries = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or version < 2 or entries > _MOST:
        raise ValueError
    for _ in range(entries):
        name = _string(file)
        (kind,) = struct.unpack("<I", file.read(4))
        if name.endswith(b".context_length") and kind in _WHOLE:
            return int(struct.unpack(_WHOLE[kind], file.read(_SIZES[kind]))[0])
        _skip(file, kind)
    return None


def _string(file: BinaryIO) -> bytes:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _MOST * 100:
        raise ValueError
    return file.read(length)


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        _string(file)
    elif kind == _ARRAY:
        inner, length = struct.unpack("<IQ", file.read(12))
        if inner in _SIZES:
            file.seek(_SIZES[inner] * length, os.SEEK_CUR)
            return
        if length > _MOST * 100:
            raise ValueError
        for _ in range(length):
            _skip(file, inner)
    elif kind in _SIZES:
        file.seek(_SIZES[kind], os.SEEK_CUR)
    else:
        raise ValueError
