"""The rest of a CAN bus: the tester's own cyclic messages, sent on schedule by a thread whatever else happens."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from math import inf
from threading import Condition, Thread
from typing import Any, Final

from otf.adapter import Line, Port
from otf.adapter.canbus import CanBus, bus_failed, message_of, read_bus
from otf.adapter.log import note
from otf.adapter.mailbox import PATIENCE, Mailbox, open_thread
from otf.errors import CodecError, UsageError

FORM: Final = "can://INTERFACE/CHANNEL?bitrate=500000, with the names and options of python-can"
WAYS: Final = ("on", "off", "twice", "wrong", "stuck", "late")


@dataclass(frozen=True, slots=True)
class CyclicMessage:
    """A message of the rest of a bus: its `frames` are sent in turn, one in every so many seconds (`every`).

    A codec makes the frames, all that there are: `[codec.encode(Engine(speed=800, alive=n)) for n in range(16)]`, with
    counters and checksums.

    >>> from otf.codec.can import CanFrame, encode_can
    >>> CyclicMessage([encode_can(CanFrame(0x10, bytes([n]))) for n in range(16)], every=0.1).every
    0.1
    """

    frames: Sequence[bytes]
    every: float


class _Sender:
    """What is done with one message: its way, the next frame, when that is due, and by how much it is delayed."""

    def __init__(self, message: CyclicMessage, due: float) -> None:
        self.frames = [message_of(each) for each in message.frames]
        self.every, self.due = message.every, due
        self.way, self.delay, self.at = "on", 0.0, 0
        self.sent, self.latest, self.doubted = 0, 0.0, 0.0

    def take(self) -> list[Any]:
        """Return the frames that are due now, and count on."""
        if self.way == "off":
            return []
        frame = self.frames[self.at]
        if self.way != "stuck":
            self.at = (self.at + 1) % len(self.frames)
        self.sent += 1
        return [_falsified(frame) if self.way == "wrong" else frame] * (2 if self.way == "twice" else 1)


class RestOfBus:
    """A thread that sends the messages; `restbus` makes it."""

    def __init__(
        self, where: CanBus, messages: Mapping[str, CyclicMessage], late: float, memory: float, mailbox: Mailbox
    ) -> None:
        self._mailbox, self._late, self._memory, self._over = mailbox, late, memory, False
        self._since = inf
        # the same words each time, so that a summary has them once
        self._excuse = f"the tester itself sent a message more than {1000 * late:g} ms late (late=)"
        self._bus = where.open()
        begun = time.monotonic()
        # not all at once: a bus carries one frame after another
        self._senders = {
            name: _Sender(each, begun + each.every * at / len(messages))
            for at, (name, each) in enumerate(messages.items())
        }
        self._changed = Condition()
        mailbox.doubt, mailbox.overdue = self._doubt, self._overdue
        self._thread = Thread(target=self._run, name=f"otf rest of {where.channel}", daemon=True)
        self._thread.start()

    def send(self, data: bytes) -> None:
        """Change how a message is sent, as `restbus` says. Raises CodecError."""
        name, _, words = data.decode(errors="replace").partition(" ")
        way, _, seconds = words.partition(" ")
        if name not in self._senders or way not in WAYS or (way == "late") != bool(seconds):
            known = f"one of {', '.join(self._senders)}, and then {', '.join(WAYS)} (with its seconds)"
            raise CodecError(f"{data!r} changes no message of the rest of the bus; write {known}")
        with self._changed:
            sender = self._senders[name]
            sender.way, sender.delay = way, _seconds(seconds) if seconds else 0.0
            # one that was delayed and is overdue now is sent at once, and is not late
            sender.due = max(sender.due, time.monotonic() - sender.delay)
            self._changed.notify()

    def _doubt(self) -> str:
        """Return that the tester is late, or was: the node may notice before this thread gets a processor again."""
        now = time.monotonic()
        late = any(now - each.due - each.delay > self._late or now < each.doubted for each in self._senders.values())
        return self._excuse if late else ""

    def _overdue(self) -> float:
        """Return when the first message was due that has been late since the last call, or is."""
        with self._changed:
            since, self._since = self._since, inf
            due = min(each.due + each.delay for each in self._senders.values())
        return min(since, due) if time.monotonic() - due > self._late else since

    def close(self) -> None:
        """End the thread, and leave the bus."""
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join()
        self._bus.shutdown()
        said = (f"{name}: {each.sent}, {1000 * each.latest:.1f} ms late" for name, each in self._senders.items())
        note("rest of the bus was sent", frames="; ".join(said))

    def _run(self) -> None:
        try:
            while (due := self._wait()) is not None:
                self._send(*due)
        except Exception as error:  # noqa: BLE001 -- a driver may raise anything
            self._mailbox.fail(bus_failed(error))

    def _wait(self) -> tuple[str, _Sender] | None:
        """Wait until a message is due; None at the end."""
        with self._changed:
            while not self._over:
                name, sender = min(self._senders.items(), key=lambda each: each[1].due + each[1].delay)
                left = sender.due + sender.delay - time.monotonic()
                if left <= 0:
                    return name, sender
                self._changed.wait(left)
        return None

    def _send(self, name: str, sender: _Sender) -> None:
        with self._changed:
            due, frames = sender.due + sender.delay, sender.take()
        for frame in frames:
            self._bus.send(frame)
        late = time.monotonic() - due
        with self._changed:
            sender.due += sender.every  # only now: until it is on the bus it is overdue
            sender.latest = max(sender.latest, late)
            if is_late := bool(frames) and late > self._late:
                self._since = min(self._since, due)
                sender.doubted = due + late + self._memory * sender.every
        if is_late:
            note("the tester was late", "warning", message=name, seconds=round(late, 4))
        while self._bus.recv(0) is not None:  # what others send is read elsewhere, and must not wait here for ever
            pass


def _falsified(frame: Any) -> Any:  # noqa: ANN401 -- a can.Message
    """Return a frame whose last byte is wrong."""
    wrong = copy(frame)
    wrong.data = bytearray([*frame.data[:-1], frame.data[-1] ^ 0xFF]) if frame.data else frame.data
    return wrong


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError as error:
        raise CodecError(f"late {text}: {text!r} is no number of seconds") from error
    if not 0 <= seconds < float("inf"):
        raise CodecError(f"late {text}: a number of seconds, 0 or more, is needed")
    return seconds


def restbus(
    url: str,
    messages: Mapping[str, CyclicMessage],
    *,
    late: float = 0.02,
    memory: float = 10.0,
    **options: Any,  # noqa: ANN401 -- those of python-can
) -> Port:
    """Return the port of the rest of a bus: `messages` are sent on schedule while a path lasts, whatever else happens.

    The address is that of `can`. An input of the port changes how a message is sent from now on, as text: "NAME on";
    "NAME off"; "NAME twice" (each frame is doubled); "NAME wrong" (its last byte is inverted, so that no checksum
    fits); "NAME stuck" (its counter stands still); "NAME late 0.05" (each frame comes so many seconds after its time).
    While a message is off its counter stands still. The port brings no outputs.

    The windows of a model allow for frames that come up to `late` seconds after their time. One that comes later is the
    tester's fault: it is a stall in the trace, the windows that were open then are wider by that, and the run goes on.
    What fails within `memory` periods of that message is inconclusive (`math.inf`: until the path ends), since the node
    may have noticed. Raises UsageError; opening raises ContactError.

    >>> engine = CyclicMessage([bytes.fromhex("0000001001000000ff")], every=0.1)
    >>> restbus("can://virtual/test", {"engine": engine}).kind
    'restbus'
    """
    if not messages:
        raise UsageError("restbus: there are no messages; give {name: CyclicMessage(frames, every=0.1)}")
    for name, each in messages.items():
        if not each.frames or not each.every > 0 or " " in name or not name:
            raise UsageError(
                f"restbus: {name!r}: a name without blanks, frames, and seconds above 0 are needed: {each}"
            )
    where = read_bus(url, FORM, options)
    return Port(partial(_opened, where, messages, late, memory), "restbus", None, None, url)


@asynccontextmanager
async def _opened(
    where: CanBus, messages: Mapping[str, CyclicMessage], late: float, memory: float
) -> AsyncGenerator[Line, None]:
    opening = partial(RestOfBus, where, messages, late, memory)
    async with open_thread(
        opening, RestOfBus.send, RestOfBus.close, patience=PATIENCE, name=f"the rest of {where.name}"
    ) as line:
        yield line
