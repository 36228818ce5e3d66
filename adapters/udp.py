"""UDP: each datagram is a frame, even an empty one; only datagrams from the expected peer count."""

from __future__ import annotations

import errno
import os
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio

from otf.adapter import Arrival, Ending, Frame, LineLost, Port
from otf.adapter.line import NEVER
from otf.adapter.observed_rest.place import Place
from otf.adapter.socket.connection import HIGHEST, Address, facing, read_address, resolved, show_address
from otf.adapter.socket.datagrams import LARGEST, Stamps, ask_for_stamps, datagram_socket, dropped, refusals, stamped
from otf.adapter.waiting import clock
from otf.errors import CodecError, UsageError
from otf.values.arguments import checked

FORM: Final = "udp://HOST:PORT, or udp://HOST:PORT?bind=HOST:PORT with the address of our own side"

Follow = Callable[[bytes], bool]
"""A function that returns whether a datagram goes to the port of the system's last answer, not to its first port."""

_TRIES = range(8192)  # more than fit into the socket's buffer: sees all that was there when `receive` began
_GONE = {
    errno.ECONNREFUSED: "port unreachable",
    errno.EHOSTUNREACH: "host unreachable",
    errno.ENETUNREACH: "network unreachable",
}


class UdpLine:
    """Our UDP socket, which talks to one peer; made by `open_udp`.

    `address` is the (host, port) that it is bound to. `peer` is the (host, port) that it sends to and hears; you may
    set it later, and until then every datagram is a stranger's. The line drops and counts datagrams of strangers. The
    ending "port unreachable" means that the network refused a datagram because the peer's port was closed; only Linux
    reports it. The line does not deliver what the peer sends after an ending. If the kernel drops datagrams because otf
    did not read them in time, the line counts them, and the run is inconclusive. `follow` is for systems that answer
    from another port than the one that received the request (TFTP). The line then takes datagrams from any port of the
    peer's host. Datagrams to send for which `follow` returns True go to the port from which the last one came.
    """

    def __init__(self, sock: socket.socket, follow: Follow | None = None) -> None:
        host, port, *_ = sock.getsockname()
        self.address: Address = (host, port)
        self._socket = sock
        self._peer: tuple[Any, ...] | None = None
        self._last: tuple[Any, ...] | None = None
        self._follow = follow
        self._plain: tuple[Any, ...] | None = None  # the peer, if every datagram goes to it
        self._stamps: Stamps | None = None
        self._clock = clock()
        self._empty = NEVER  # when there was nothing last
        self._gone = ""
        self._over = False
        self._strangers = 0
        self._stranger = ""
        self._troubles: Counter[str] = Counter()
        self._wake: Callable[[], None] = lambda: None

    @property
    def peer(self) -> Address | None:
        """The (host, port) of the other side. Setting it looks a name up. Raises ContactError for an unknown one."""
        return self._peer[:2] if self._peer is not None else None

    @peer.setter
    def peer(self, peer: Address | None) -> None:
        self._peer = resolved(peer, socket.SOCK_DGRAM, self._socket.family)[1] if peer is not None else None
        self._plain = self._peer if self._follow is None else None
        self._last = None

    def claim(self) -> None:
        """Among sockets that share an address, receive only what the peer sends."""
        if self._peer is not None:
            self._socket.connect(self._peer)

    def descriptors(self) -> tuple[int, ...]:
        """Return the socket's descriptor; none after the ending."""
        return () if self._over else (self._socket.fileno(),)

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` when sending reveals the ending."""
        self._wake = wake

    async def send(self, data: bytes) -> None:
        """Send one datagram to the peer. Raises LineLost, or CodecError if it is too large for UDP."""
        while True:
            if self._gone:
                raise LineLost(self._gone)
            try:
                self._socket.sendto(data, self._target(data) if self._plain is None else self._plain)
            except BlockingIOError:
                pass
            except OSError as error:
                self._not_sent(data, error)
            else:
                return
            await anyio.wait_writable(self._socket)

    def receive(self) -> list[Arrival]:
        """Return the next datagram of the peer, or the ending, or nothing."""
        if self._over:
            return []
        for _ in _TRIES:
            try:
                if self._stamps is not None:
                    data, sender, came = self._stamped(self._stamps)
                else:
                    (data, sender), came = self._socket.recvfrom(HIGHEST), None
            except BlockingIOError:
                self._empty = self._clock()
                return self._ending()
            except OSError as error:
                self._hear_of(error)
                continue
            if sender == self._peer or self._heard(sender):
                return [Frame(data, "", came)]
            self._strangers += 1
            self._stranger = show_address(sender[:2])
        return []

    def remarks(self) -> list[str]:
        """Return how many datagrams were ignored, and which other troubles the network reported."""
        remarks = [f"the network reported: {trouble} ({times} times)" for trouble, times in self._troubles.items()]
        if self._strangers == 1:
            remarks.append(f"1 datagram from a stranger was ignored (from {self._stranger})")
        elif self._strangers:
            remarks.append(f"{self._strangers} datagrams from strangers were ignored (the last from {self._stranger})")
        return remarks

    def close(self) -> None:
        """Close the socket."""
        self._over, self._gone = True, "closed"
        anyio.notify_closing(self._socket)
        self._socket.close()

    def place(self) -> Place:
        """Return that the other end is the process that holds the address of the peer."""
        peer = self.peer
        return Place(hidden="it has no peer yet") if peer is None else Place(transport="udp", address=peer)

    def lost(self) -> str:
        """Return how many datagrams the kernel has dropped, "" if none."""
        number = 0 if self._over else dropped(self._socket)
        return f"{number} datagrams came faster than they were read, and the kernel dropped them" if number else ""

    def stamp(self) -> None:
        """From now on, give each datagram the time at which the kernel took it."""
        if not self._over and self._stamps is None:
            self._stamps = Stamps()
            ask_for_stamps(self._socket)

    def _stamped(self, stamps: Stamps) -> tuple[bytes, Any, float | None]:
        data, sender, stamp = stamped(self._socket, HIGHEST)
        now = self._clock()
        ago = None if stamp is None else stamps.ago(stamp, now - self._empty)
        return data, sender, None if ago is None else now - ago

    def _heard(self, sender: Any) -> bool:  # noqa: ANN401 -- a socket address
        if self._follow is None or self._peer is None or sender[0] != self._peer[0]:
            return False
        self._last = sender
        return True

    def _target(self, data: bytes) -> Any:  # noqa: ANN401 -- a socket address
        """Return the address for a datagram. Raises UsageError if no peer is set."""
        if self._peer is None:
            message = f"no peer to send to from udp {show_address(self.address)}; set `line.peer = (host, port)` first"
            raise UsageError(message)
        return self._last if self._follow is not None and self._last and self._follow(data) else self._peer

    def _not_sent(self, data: bytes, error: OSError) -> None:
        if error.errno == errno.ENOBUFS:
            return  # the queue of the network card is full: the kernel reports this to sockets that ask for errors
        if error.errno == errno.EMSGSIZE and len(data) > LARGEST:
            list(refusals(self._socket))  # the kernel has noted it there as well
            message = f"{len(data)} bytes do not fit into a UDP datagram; it holds at most {LARGEST}"
            raise CodecError(message) from error
        self._hear_of(error)
        if self._gone:
            self._wake()  # the descriptor shows nothing any more, since the error was taken here

    def _hear_of(self, error: OSError) -> None:
        # The kernel reports an error to the next call, and lists the datagrams that errors belong to. The socket stays
        # readable until that list is empty.
        listed = list(refusals(self._socket))
        for number in [number for number, sent_to in listed if sent_to in {self._peer, self._last}]:
            if number in _GONE:
                self._gone = _GONE[number]
            else:
                self._troubles[os.strerror(number)] += 1
        if not listed:
            self._gone = _GONE.get(error.errno or 0, str(error.strerror).lower())

    def _ending(self) -> list[Arrival]:
        self._over = bool(self._gone)
        return [Ending(self._gone)] if self._gone else []


@checked
def udp(url: str, *, bind: str = "", follow: Follow | None = None, shared: bool = False) -> Port:
    """Return the port of a UDP peer at the address `url`, such as "udp://127.0.0.1:7000".

    `bind` is otf's own address, such as "127.0.0.1:0" (port 0: any free port). You can also write `bind` into the URL:
    "udp://127.0.0.1:7000?bind=127.0.0.1:7001". If you do not set `bind`, otf uses the address from which this machine
    reaches the peer. Pass `follow` for a system that answers from another port, as TFTP servers do: see `UdpLine`. If
    `shared` is true, several ports of a bench may have one `bind` and different peers, so that one address talks to
    many peers. `udp` raises UsageError for an invalid address; opening the port raises ContactError.

    >>> udp("127.0.0.1:7000", bind="127.0.0.1:7001").url
    'udp://127.0.0.1:7000?bind=127.0.0.1:7001'
    """
    where, _, query = url.removeprefix("udp://").partition("?")
    option, _, value = query.partition("=")
    if query and option != "bind":
        message = f"not a UDP address: {url!r} has the option {option!r}; write {FORM}"
        raise UsageError(message)
    peer, own = read_address(where, FORM), bind or value
    opened = partial(open_udp, read_address(own, FORM) if own else None, peer, follow=follow, shared=shared)
    address = f"udp://{where}" + (f"?bind={own}" if own else "")
    return Port(opened, "udp", None, partial(udp, bind=bind, follow=follow, shared=shared), address)


@asynccontextmanager
async def open_udp(
    bind: Address | None = ("127.0.0.1", 0),
    peer: Address | None = None,
    *,
    follow: Follow | None = None,
    shared: bool = False,
) -> AsyncGenerator[UdpLine, None]:
    """Open a line bound to the (host, port) `bind`; port 0 is a fresh one. The peer may be set later.

    With None for `bind`, it is bound to the address from which this machine reaches the peer. Names are looked up at
    once, and the event loop waits for that. Raises ContactError if the address is not available.
    """
    if shared and (peer is None or follow is not None):
        raise UsageError("a shared address needs a peer for each line, and one that answers from where it is called")
    line = UdpLine(datagram_socket(bind or _side_towards(peer), shared=shared), follow)
    try:
        line.peer = peer
        if shared:
            line.claim()
        yield line
    finally:
        line.close()


def _side_towards(peer: Address | None) -> Address:
    if peer is None:
        raise UsageError("a UDP line needs an address to bind, or a peer that its own address can be derived from")
    return facing(peer), 0
