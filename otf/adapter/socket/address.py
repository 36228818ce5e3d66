"""Network addresses: as people write them (`127.0.0.1:7000`, `[::1]:7000`) and as sockets take them."""

from __future__ import annotations

import errno
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeAlias

from otf.adapter.third_party import answer
from otf.errors import ContactError, UsageError

Address: TypeAlias = tuple[str, int]
"""A host (a name, or an IPv4 or IPv6 address) and a port number."""

HIGHEST: Final = 65_535


def read_address(text: str, expected: str = "HOST:PORT") -> Address:
    """Return the host and the port that `text` names; the error shows the form `expected`.

    >>> read_address("127.0.0.1:7000"), read_address("[::1]:0")
    (('127.0.0.1', 7000), ('::1', 0))

    Raises UsageError if it is not an address.
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


LOOKUP: Final = 5.0
"""The longest time for looking up a name, in seconds."""

SocketAddress: TypeAlias = Any
"""What `bind` and `sendto` take and `recvfrom` returns: a path or a tuple, depending on the socket family."""

_FAMILIES: Final = {socket.AF_INET: "IPv4 ", socket.AF_INET6: "IPv6 "}
_ADVICE: Final = {
    errno.EADDRINUSE: "another socket has it; stop its program (`ss -tulpn` lists them), or use port 0: a fresh one",
    errno.EADDRNOTAVAIL: "this machine has no such address; `ip address` lists those it has",
    errno.EACCES: "ports below 1024 are for the administrator; use a higher one, or port 0: a fresh one",
}


def resolved(
    address: Address, kind: socket.SocketKind, family: int = 0, *, least: int = 1
) -> tuple[socket.AddressFamily, SocketAddress]:
    """Return the family and the socket address of (host, port); the thread waits for the look-up of a name.

    `family` asks for one of them (0: any); `least` is the lowest valid port. Raises ContactError.
    """
    host, port = address
    if not least <= port <= HIGHEST:
        message = f"no such port: {show_address(address)}; a port is a number from {least} to {HIGHEST}"
        raise ContactError(message)
    try:
        found = _found(host, port, family, kind)
    except (OSError, UnicodeError) as error:
        which = f"{_FAMILIES.get(socket.AddressFamily(family), '')}address"
        message = f"no {which} is known for {show_address(address)}: {error}; check the name, or write numbers"
        raise ContactError(message) from error
    return found[0], found[4]


def _found(host: str, port: int, family: int, kind: socket.SocketKind) -> Any:  # noqa: ANN401 -- as the system has it
    ask = partial(socket.getaddrinfo, host, port, family, kind)
    with suppress(socket.gaierror):
        return ask(flags=socket.AI_NUMERICHOST)[0]
    try:
        # a look-up cannot be cancelled: neither an interruption nor a time limit reaches into the library
        return answer(ask, LOOKUP)[0]
    except TimeoutError as error:
        message = f"its look-up was not answered within {LOOKUP:g} s"
        raise TimeoutError(message) from error


def facing(peer: Address) -> str:
    """Return the address of this machine from which it reaches `peer`. Raises ContactError if it does not."""
    family, address = resolved(peer, socket.SOCK_DGRAM)
    with socket.socket(family, socket.SOCK_DGRAM) as probe, contact(f"reach {show_address(peer)}"):
        probe.connect(address)  # with UDP this sends nothing, and only chooses the route
        host: str = probe.getsockname()[0]
        return host


@contextmanager
def contact(attempt: str) -> Generator[None, None, None]:
    """Turn an OSError into a ContactError: "cannot " `attempt`, why, and what to do."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "check the address and the network")
        message = f"cannot {attempt}: {str(error.strerror).lower()}; {advice}"
        raise ContactError(message) from error
