"""How is the worker started, so that nothing but replies ever reaches its output?

The pipes are moved away before anything else is imported: libraries may print what they like, and read what they like.
"""

from __future__ import annotations

import os
import sys


def _pipes() -> tuple[int, int]:
    """Descriptors of the requests and the replies; 0 reads nothing from now on, and 1 is the log."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def main() -> int:
    """Serve until the requests end."""
    requests, replies = _pipes()
    from regreen.model_worker import library, serve  # noqa: PLC0415 — after the pipes are safe

    library.prepare(os.environ)
    serve.run(requests, replies)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # threads of libraries have nothing to finish
