"""Where do the cases run? Behind the Executor interface of `concurrent.futures`."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

from regreen.errors import EnvironmentProblem, UsageError

DASK = "dask://"
CONNECT_SECONDS = 5


@contextmanager
def executor(address: str, jobs: int) -> Iterator[Executor]:
    """Threads of this process, each waiting for one case, or the workers of a cluster.

    Args:
        address: "" for threads, or "dask://HOST:PORT" of a dask scheduler, whose workers must have this Regreen, and
            see the same files where cases are folders.
        jobs: how many threads; a cluster has as many as it has.

    Raises:
        UsageError: the address makes no sense.
        EnvironmentProblem: dask is not installed, or nothing answers there.
    """
    if not address:
        with ThreadPoolExecutor(jobs) as threads:
            yield threads
        return
    if not address.startswith(DASK):
        raise UsageError(f"--executor is of the form {DASK}HOST:PORT, not {address!r}.")
    try:
        distributed: Any = import_module("distributed")  # an extra that few have
    except ImportError as error:
        raise EnvironmentProblem(
            "--executor needs dask.distributed.", "Install it with `pip install 'regreen[bench]'`."
        ) from error
    try:
        client = distributed.Client(f"tcp://{address.removeprefix(DASK)}", timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(f"No dask scheduler answers at {address}: {error}.") from error
    with closing(client), client.get_executor(pure=False, retries=0) as workers:
        yield workers
