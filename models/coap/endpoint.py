"""A client's endpoint: it chooses message ids, and says what incoming ones mean to the client."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from otf.adapter import Arrival, Frame, Line
from otf.adapter.observed_rest.place import Place, Placed
from otf.errors import CodecError
from otf.models.coap.codec import IDS, TWICE
from otf.models.coap.messages import Id
from otf.models.coap.wire import Packet, unpacked, with_id

FIRST: Final = 0x1000
HEADER: Final = 4  # bytes, the last two of which are the id
KEPT: Final = 64  # messages of the server that may recur
_HALF: Final = 1 << 23  # numbers of notifications are compared in a circle of 24 bits (RFC 7641, section 3.4)


class Endpoint:
    """A line of datagrams with its own message ids; it wraps the line to the server."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._ids = itertools.count(FIRST)
        self._last = 0
        self._unanswered = 0
        self._seen: OrderedDict[int, bytes] = OrderedDict()
        self._numbers: dict[bytes, int] = {}

    def descriptors(self) -> tuple[int, ...]:
        """Return those of the line."""
        return self._line.descriptors()

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` as the line does."""
        self._line.arm(wake)

    async def send(self, data: bytes) -> None:
        """Send a message with a fresh id, or the id of the message that it acknowledges or resets."""
        try:
            packet = unpacked(data)
        except CodecError:
            # on purpose: even bytes that are not a message get their own id, lest they repeat another
            self._last = next(self._ids) & 0xFFFF
            await self._line.send(with_id(data, self._last) if len(data) >= HEADER else data)
            return
        if packet.kind in {"ACK", "RST"}:
            await self._line.send(with_id(data, self._unanswered))
            return
        if packet.observe() is not None:
            self._numbers.pop(packet.token, None)  # a registration begins anew
        self._last = next(self._ids) & 0xFFFF
        for _ in range(2 if packet.id == TWICE else 1):
            await self._line.send(with_id(data, self._last))

    def receive(self) -> list[Arrival]:
        """Return what has arrived; its message id tells what it means, by its index in `IDS`."""
        return [self._classified(arrival) for arrival in self._line.receive()]

    def place(self) -> Place:
        """Return that of the line."""
        return self._line.place() if isinstance(self._line, Placed) else Place(hidden="its line does not tell")

    def remarks(self) -> list[str]:
        """Return those of the line."""
        return self._line.remarks()

    def _classified(self, arrival: Arrival) -> Arrival:
        if not isinstance(arrival, Frame):
            return arrival
        try:
            packet = unpacked(arrival.data)
        except CodecError:
            return arrival  # the codec will refuse it
        return Frame(with_id(arrival.data, IDS.index(self._meaning(packet, arrival.data))))

    def _meaning(self, packet: Packet, data: bytes) -> Id:
        if packet.kind in {"ACK", "RST"}:
            self._count(packet)
            return "answer" if packet.id == self._last else "wrong"
        if self._seen.get(packet.id) == data:
            return "again"
        self._seen[packet.id] = data
        if len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        if packet.kind == "CON":
            self._unanswered = packet.id
        return "new" if self._count(packet) else "stale"

    def _count(self, packet: Packet) -> bool:
        """Note the number of a notification; return whether it is newer than the last."""
        number, before = packet.observe(), self._numbers.get(packet.token)
        if number is None:
            return True
        self._numbers[packet.token] = number
        return before is None or 0 < (number - before) % (2 * _HALF) < _HALF
