"""Which services of this machine did the user name?"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

_ADDRESS = re.compile(r"(?:(?P<host>\[[^\[\]]+\]|[^:\[\]]+):)?(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Services:
    """What test runs may reach besides.

    Args:
        addresses: (host, TCP port) …; a host is "localhost" or a loopback address without brackets.
        sockets: absolute paths of Unix sockets.
    """

    addresses: tuple[tuple[str, int], ...] = ()
    sockets: tuple[str, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """Each of them as the setting has it."""
        return (*(text_of(*address) for address in self.addresses), *self.sockets)


def named(texts: Iterable[str]) -> Services:
    """The services that texts stand for.

    Args:
        texts: `host:port`, `port`, or an absolute path each.

    Raises:
        ValueError: one of them is none of these, or is not of this machine.
    """
    addresses, sockets = [], []
    for text in texts:
        if text.startswith("/"):
            sockets.append(text)
        else:
            addresses.append(_address(text))
    return Services(tuple(dict.fromkeys(addresses)), tuple(dict.fromkeys(sockets)))


def problem(texts: Iterable[str]) -> str:
    """Why texts do not name services, as the rest of a sentence; "" when they do."""
    try:
        named(texts)
    except ValueError as error:
        return (
            f"must name services of this machine ({error}): "
            '"127.0.0.1:5432", "6379", or the absolute path of a Unix socket'
        )
    return ""


def text_of(host: str, port: int) -> str:
    """An address as it is written in the setting; "" when it is not of this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 — whoever connects there means here
    return f"{f'[{host}]' if ':' in host else host}:{port}" if _is_local(host) else ""


def _address(text: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is neither an address nor a path")
    host, port = (found["host"] or "localhost").strip("[]"), int(found["port"])
    if not _is_local(host):
        raise ValueError(f"{host!r} is neither localhost nor a loopback address")
    if not 0 < port < 1 << 16:
        raise ValueError(f"{port} is no port")
    return host, port


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False
