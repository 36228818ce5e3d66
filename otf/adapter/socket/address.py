"""Addresses of ports on a network, as people write them: `127.0.0.1:7000`, `[::1]:7000`, `localhost:7000`."""

from __future__ import annotations

from typing import Final, TypeAlias

from otf.errors import UsageError

Address: TypeAlias = tuple[str, int]
"""A host (a name, or an IPv4 or IPv6 address) and a port number."""

HIGHEST: Final = 65_535


def read_address(text: str, expected: str = "HOST:PORT") -> Address:
    """Return the host and the port that `text` names; `expected` is the form that the error shows.

    >>> read_address("127.0.0.1:7000"), read_address("[::1]:0")
    (('127.0.0.1', 7000), ('::1', 0))

    Raises UsageError where it is no address.
    """
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if colon and _is_port(port) and (bracketed or ":" not in host):
        found = host[1:-1] if bracketed else host
        if found:
            return found, int(port)
    message = f"not an address: {text!r}; write {expected}, an IPv6 host in brackets, and a port from 0 to {HIGHEST}"
    raise UsageError(message)


def show_address(address: Address) -> str:
    """Return an address in the form that `read_address` reads.

    >>> show_address(("::1", 7000))
    '[::1]:7000'
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(HIGHEST)) and int(text) <= HIGHEST
