"""Where may `serve --tcp` listen?"""

from __future__ import annotations

import ipaddress
import logging

from regreen.errors import UsageError

log = logging.getLogger(__name__)


def parse_address(text: str, *, allow_remote: bool) -> tuple[str, int]:
    """Split HOST:PORT and refuse what other machines could reach, unless that was asked for.

    Whoever reaches the port can run the code of trusted folders, so only the loopback addresses are free.

    Raises:
        UsageError: no host and port, or an address that is not this machine's own.
    """
    host, separator, number = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not host or not (number.isdecimal() and int(number) < 65536):
        raise UsageError(f"{text} is no address.", "Write HOST:PORT, for example 127.0.0.1:8765.")
    if not _is_loopback(host):
        if not allow_remote:
            raise UsageError(
                f"{host} can be reached from other machines, and whoever connects can run code here.",
                "Use 127.0.0.1, or say --allow-remote if you mean it.",
            )
        log.warning("Whoever can reach %s:%s can run code as you.", host, number)
    return host, int(number)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # another name: it may mean anything tomorrow
        return False
