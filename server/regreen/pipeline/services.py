"""Which service of this machine did a red test ask for, in vain?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.settings import services
from regreen.values import Failure

_ADDRESSES = (
    re.compile(r'"(?P<host>[^"]+)"(?: \([^)]*\))?, port (?P<port>\d+)'),  # libpq
    re.compile(r"host[=:] ?'(?P<host>[^']+)', port[=:] ?(?P<port>\d+)"),  # urllib3, psycopg
    re.compile(r"\('(?P<host>[^']+)', (?P<port>\d+)"),  # asyncio
    re.compile(r"(?P<host>localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0):(?P<port>\d+)"),  # redis, aiohttp
)
_SOCKET = re.compile(
    r'on socket "(?P<libpq>/[^"]+)"|connecting to (?:unix:(?://)?)?(?P<redis>/\S+)\.(?:\s|$)'
)


def asked_for(failure: Failure) -> str:
    """The service as the setting `isolation.services` has it; "" when nothing tells of one of this machine."""
    if socket := _SOCKET.search(failure.message):
        return str(socket["libpq"] or socket["redis"])
    return next((text for host, port in _called(failure) if (text := services.text_of(host, port))), "")


def _called(failure: Failure) -> Iterator[tuple[str, int]]:
    host, _, port = failure.hints.get("address", "").rpartition(" ")
    if port:
        yield host, int(port)
    for form in _ADDRESSES:
        if found := form.search(failure.message):
            yield found["host"].strip("[]"), int(found["port"])
