"""How does the benchmark talk to the server? As an editor does, over its standard streams, with nothing in between.

Deliberately not a library: what is measured is the server, and a message is two lines of code.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

REPLY_SECONDS = 60.0

CAPABILITIES: dict[str, Any] = {
    "workspace": {"workspaceFolders": True, "applyEdit": True, "executeCommand": {}},
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
        "publishDiagnostics": {"relatedInformation": True},
        "synchronization": {"didSave": True},
    },
    "window": {"workDoneProgress": True},
}


class LspClient:
    """One server process and the conversation with it.

    Args:
        command: starts the server.
        folder: the workspace folder, trusted.
        log: a file that takes what the server writes to its error output.
        environment: for the server.
    """

    def __init__(self, command: Sequence[str], folder: Path, log: Path, environment: dict[str, str]) -> None:
        self._log = log.open("wb")
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self.folder = folder
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.working: set[str] = set()
        self.begun = 0
        self._seen = threading.Condition()
        self._answers: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._sending = threading.Lock()
        self._last = 0
        threading.Thread(target=self._listen, daemon=True).start()

    # ------------------------------------------------------------------ talking

    def request(self, method: str, params: Any) -> Any:
        """Send a request and wait for its result.

        Raises:
            RuntimeError: the server answers with an error, or not at all.
        """
        self._last += 1
        number = self._last
        answer = self._answers[number] = queue.SimpleQueue()
        self._send({"id": number, "method": method, "params": params})
        try:
            message = answer.get(timeout=REPLY_SECONDS)
        except queue.Empty:
            raise RuntimeError(f"no answer to {method} within {REPLY_SECONDS:.0f} s") from None
        finally:
            del self._answers[number]
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def command(self, name: str, argument: dict[str, Any]) -> Any:
        """Run one of the server's commands."""
        return self.request("workspace/executeCommand", {"command": name, "arguments": [argument]})

    def started(self, name: str, argument: dict[str, Any]) -> None:
        """Run a command that starts work, and wait until the work has begun."""
        before = self.begun
        self.command(name, argument)
        self.until(lambda: self.begun > before, REPLY_SECONDS, f"starting {name}")

    def initialize(self) -> None:
        """Shake hands."""
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": self.folder.as_uri(),
                "workspaceFolders": [{"uri": self.folder.as_uri(), "name": self.folder.name}],
                "capabilities": CAPABILITIES,
                "initializationOptions": {"trusted": True},
            },
        )
        self.notify("initialized", {})

    def open(self, path: Path) -> None:
        """Open a file with the text it has on disk."""
        document = {
            "uri": path.as_uri(),
            "languageId": "python",
            "version": 1,
            "text": path.read_text(encoding="utf-8"),
        }
        self.notify("textDocument/didOpen", {"textDocument": document})

    def save(self, path: Path, version: int, text: str) -> None:
        """Type a whole new text into an open document and save it."""
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": path.as_uri(), "version": version},
                "contentChanges": [{"text": text}],
            },
        )
        path.write_text(text, encoding="utf-8")
        self.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}, "text": text})

    def actions(self, path: Path, line: int) -> list[dict[str, Any]]:
        """The code actions at a line."""
        at = {"line": line, "character": 0}
        here = [
            one
            for one in self.diagnostics.get(path.as_uri(), [])
            if one["range"]["start"]["line"] <= line <= one["range"]["end"]["line"]
        ]
        context = {"diagnostics": here, "triggerKind": 1}
        params = {
            "textDocument": {"uri": path.as_uri()},
            "range": {"start": at, "end": at},
            "context": context,
        }
        result: list[dict[str, Any]] = self.request("textDocument/codeAction", params)
        return result

    def until(self, done: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait until something is true, looking again whenever the server said something.

        Raises:
            RuntimeError: it did not become true in time.
        """
        end = time.monotonic() + seconds
        while not done():  # outside of the lock: it may ask the server, and the answer needs the listener
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"{what}: not within {seconds:.0f} s, or the server ended")
            with self._seen:
                self._seen.wait(0.1)

    def close(self) -> None:
        """Shut the server down as the protocol says, or kill it."""
        try:
            self.request("shutdown", None)
            self.notify("exit", None)
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self._log.close()

    # ------------------------------------------------------------------ the wire

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self.process.stdin
        if stream is None:
            raise RuntimeError("the server has no input")
        with self._sending:
            stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            stream.flush()

    def _listen(self) -> None:
        stream = self.process.stdout
        while stream is not None and (header := stream.readline()):
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                header = stream.readline()
            message = json.loads(stream.read(length))
            if "method" not in message:
                if (answer := self._answers.get(message["id"])) is not None:
                    answer.put(message)
                continue
            with self._seen:
                self._take(message["method"], message.get("params") or {})
                self._seen.notify_all()
            if "id" in message:
                self._send({"id": message["id"], "result": _answer(message)})
        for waiting in list(self._answers.values()):
            waiting.put({"error": f"the server ended: {_tail(self._log.name)}"})

    def _take(self, method: str, params: dict[str, Any]) -> None:
        if method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"]] = params["diagnostics"]
        elif method == "$/progress":
            kind = params["value"].get("kind")
            if kind == "begin":
                self.begun += 1
                self.working.add(str(params["token"]))
            elif kind == "end":
                self.working.discard(str(params["token"]))


def _tail(log: str) -> str:
    return Path(log).read_text(encoding="utf-8", errors="replace")[-1000:]


def _answer(message: dict[str, Any]) -> Any:
    """What an editor says to the few things a server asks."""
    if message["method"] == "workspace/configuration":
        return [{} for _ in message["params"]["items"]]
    if message["method"] == "workspace/applyEdit":
        return {"applied": False}
    return None
