"""Sends the cyclic messages of the rest of a bus on schedule, in a process of its own or in a thread."""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass
from mmap import mmap
from typing import Any, Final

from otf.adapter.canbus import CanBus, bus_failed, message_of

KEPT: Final = 64
"""Late messages that the judge may not have read yet; only this many are kept."""
_PRIORITY: Final = 1
_NICE: Final = -10

Message = tuple[Sequence[str], float]
"""The frames of a message in hexadecimal, and its period in seconds."""


class Table:
    """Shared memory in which the sender shows the judge when each message is due, and which were late.

    So the judge knows that a message is overdue even if the sender gets no processor.
    """

    def __init__(self, memory: mmap, messages: int) -> None:
        self._numbers = memoryview(memory).cast("d")
        self._late = messages + 1

    @staticmethod
    def size(messages: int) -> int:
        """Return the size of the table in bytes."""
        return 8 * (messages + 1 + 2 * KEPT)

    def set_due(self, at: int, due: float) -> None:
        """Note when the next frame of a message is due."""
        self._numbers[at] = due

    def due(self) -> float:
        """Return when the first message is due."""
        return min(self._numbers[: self._late - 1])

    def add_late(self, due: float, doubted: float) -> None:
        """Note a late message, and until when the node may remember it."""
        count = int(self._numbers[self._late - 1])
        place = self._late + 2 * (count % KEPT)
        self._numbers[place], self._numbers[place + 1] = due, doubted
        self._numbers[self._late - 1] = count + 1  # last, so that every counted message is there

    def late(self, known: int) -> list[tuple[float, float]]:
        """Return the late messages after the first `known` ones."""
        count = int(self._numbers[self._late - 1])
        places = (self._late + 2 * (each % KEPT) for each in range(max(known, count - KEPT), count))
        return [(self._numbers[each], self._numbers[each + 1]) for each in places]


@dataclass(slots=True)
class _Sender:
    """The state of one message: how it is sent, its frames, when the next is due, and by how much it is delayed."""

    frames: list[Any]
    every: float
    due: float
    way: str = "on"
    delay: float = 0.0
    at: int = 0
    sent: int = 0
    latest: float = 0.0

    def take(self) -> list[Any]:
        """Return the frames due now, and advance."""
        if self.way == "off":
            return []
        frame = self.frames[self.at]
        if self.way != "stuck":
            self.at = (self.at + 1) % len(self.frames)
        self.sent += 1
        return [_with_wrong_byte(frame) if self.way == "wrong" else frame] * (2 if self.way == "twice" else 1)


class Schedule:
    """Sends the messages until the tester closes the connection; each line received changes how one is sent."""

    def __init__(self, bus: Any, messages: Mapping[str, Message], late: float, memory: float, table: Table) -> None:  # noqa: ANN401 -- a can.BusABC
        self._bus, self._late, self._memory, self._table = bus, late, memory, table
        begun = time.monotonic()
        # not all at once, since a bus carries one frame after another
        self._senders = {
            name: _Sender(
                [message_of(bytes.fromhex(each)) for each in frames], every, begun + every * at / len(messages)
            )
            for at, (name, (frames, every)) in enumerate(messages.items())
        }
        self._places = {name: at for at, name in enumerate(messages)}
        for name in messages:
            self._note_due(name)

    def run(self, tester: socket.socket) -> str:
        """Send until the tester closes the connection; return a summary of what was sent."""
        tester.sendall(b"\n")
        while True:
            name, sender = min(self._senders.items(), key=lambda each: each[1].due + each[1].delay)
            left = sender.due + sender.delay - time.monotonic()
            if select.select([tester], [], [], max(0.0, left))[0]:
                if not (data := tester.recv(1 << 16)):
                    break
                self._change(*data.decode().split())
                tester.sendall(b"\n")
            elif left <= 0:
                self._send(name, sender)
        said = (f"{name}: {each.sent}, {1000 * each.latest:.1f} ms late" for name, each in self._senders.items())
        return "; ".join(said)

    def _note_due(self, name: str) -> None:
        sender = self._senders[name]
        self._table.set_due(self._places[name], sender.due + sender.delay)

    def _change(self, name: str, way: str, seconds: str = "0") -> None:
        sender = self._senders[name]
        sender.way, sender.delay = way, float(seconds)
        # a delayed message that is overdue now is sent at once, and does not count as late
        sender.due = max(sender.due, time.monotonic() - sender.delay)
        self._note_due(name)

    def _send(self, name: str, sender: _Sender) -> None:
        due, frames = sender.due + sender.delay, sender.take()
        for frame in frames:
            self._bus.send(frame)
        now = time.monotonic()
        sender.latest = max(sender.latest, now - due)
        if frames and now - due > self._late:
            self._table.add_late(due, now + self._memory * sender.every)
        sender.due += sender.every  # only now: until it is on the bus it is overdue
        self._note_due(name)
        while self._bus.recv(0) is not None:  # other nodes' messages are read elsewhere, and must not pile up here
            pass


def serve(tester: socket.socket, where: CanBus, given: Mapping[str, Any], table: Table) -> None:
    """Send the given messages until the tester closes the connection; report what was sent, or what failed."""
    with tester, suppress(OSError):
        try:
            bus = where.open()
            try:
                said = Schedule(bus, given["messages"], given["late"], given["memory"], table).run(tester)
            finally:
                bus.shutdown()
        except Exception as error:  # noqa: BLE001 -- a driver may raise anything
            said = f"!{bus_failed(error)}"
        tester.sendall(f"{said}\n".encode())


def described(where: CanBus, given: Mapping[str, Any]) -> bytes:
    """Return the line that starts a separate sender process. Raises TypeError for an option that JSON cannot hold."""
    return json.dumps({"bus": asdict(where), **given}).encode() + b"\n"


def main(arguments: Sequence[str]) -> None:
    """Run as the sender process; the arguments are two descriptors: the connection and the shared memory."""
    connection, memory = map(int, arguments)
    raise_priority()
    tester = socket.socket(fileno=connection)
    data = b""
    while not data.endswith(b"\n"):
        data += tester.recv(1 << 16)
    given = json.loads(data)
    serve(tester, CanBus(**given.pop("bus")), given, Table(mmap(memory, 0), len(given["messages"])))


def raise_priority() -> None:
    """Raise this process's priority above all others on the machine, as far as this user may."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(_PRIORITY))
    except OSError:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, _NICE)


def _with_wrong_byte(frame: Any) -> Any:  # noqa: ANN401 -- a can.Message
    """Return a frame whose last byte is wrong."""
    wrong = copy(frame)
    wrong.data = bytearray([*frame.data[:-1], frame.data[-1] ^ 0xFF]) if frame.data else frame.data
    return wrong


if __name__ == "__main__":
    main(sys.argv[1:])
