"""The rest of a CAN bus: the tester's own cyclic messages, sent on schedule whatever else happens."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from mmap import mmap
from queue import SimpleQueue
from subprocess import DEVNULL, Popen, TimeoutExpired
from threading import Thread
from typing import Any, Final

from otf.adapter import Line, Port
from otf.adapter.canbus import CanBus, read_bus
from otf.adapter.cyclic_sender import Table, described, serve
from otf.adapter.log import note
from otf.adapter.mailbox import PATIENCE, Mailbox, open_thread
from otf.errors import CodecError, UsageError
from otf.values.arguments import checked

FORM: Final = "can://INTERFACE/CHANNEL?bitrate=500000, with the names and options of python-can"
WAYS: Final = ("on", "off", "twice", "wrong", "stuck", "late")


@dataclass(frozen=True, slots=True)
class CyclicMessage:
    """A message that a node of a bus sends periodically: the next of its `frames`, every `every` seconds.

    A codec makes all the frames, with counters and checksums: `[codec.encode(Engine(speed=800, alive=n)) for n in
    range(16)]`.

    >>> from otf.codec.can import CanFrame, encode_can
    >>> CyclicMessage([encode_can(CanFrame(0x10, bytes([n]))) for n in range(16)], every=0.1).every
    0.1
    """

    frames: Sequence[bytes]
    every: float


class RestOfBus:
    """The tester's side of the message sender; made by `restbus`."""

    def __init__(
        self, where: CanBus, messages: Mapping[str, CyclicMessage], late: float, memory: float, mailbox: Mailbox
    ) -> None:
        self._mailbox, self._late, self._names, self._over = mailbox, late, messages, False
        # the same text each time, so that a summary has it only once
        self._excuse = f"the tester itself sent a message more than {1000 * late:g} ms late (late=)"
        self._known, self._since, self._doubted = 0, inf, 0.0
        self._answers = SimpleQueue[str]()
        self._own, theirs = socket.socketpair()
        rows = {name: ([frame.hex() for frame in each.frames], each.every) for name, each in messages.items()}
        with os.fdopen(os.memfd_create("otf"), "r+b") as file:
            file.truncate(Table.size(len(messages)))
            self._table = Table(mmap(file.fileno(), 0), len(messages))
            settings = {"messages": rows, "late": late, "memory": memory}
            self._wait = _started(where, settings, self._table, self._own, theirs, file.fileno())
        self._hearing = Thread(target=self._hear, name=f"otf rest of {where.channel}, heard", daemon=True)
        self._hearing.start()
        mailbox.doubt, mailbox.overdue = self._doubt, self._overdue
        try:
            self._answered()
        except BaseException:
            self.close()
            raise

    def send(self, data: bytes) -> None:
        """Change how a message is sent, as described in `restbus`. Raises CodecError."""
        name, _, words = data.decode(errors="replace").partition(" ")
        way, _, seconds = words.partition(" ")
        if name not in self._names or way not in WAYS or (way == "late") != bool(seconds):
            known = f"one of {', '.join(self._names)}, and then {', '.join(WAYS)} (with its seconds)"
            raise CodecError(f"{data!r} changes no message of the rest of the bus; write {known}")
        self._own.sendall(f"{name} {way} {_seconds(seconds) if seconds else 0.0}\n".encode())
        self._answered()

    def close(self) -> None:
        """End the sending, which leaves the bus."""
        self._over = True
        with suppress(OSError):  # it has ended
            self._own.shutdown(socket.SHUT_WR)
        self._wait()
        self._hearing.join()
        self._own.close()

    def _answered(self) -> None:
        if failure := self._answers.get(timeout=PATIENCE):
            raise RuntimeError(failure)

    def _hear(self) -> None:
        """Listen to the sender: an empty line for each command, and at the end what it sent, or what failed."""
        said = ""
        with self._own.makefile() as lines, suppress(OSError):
            for line in lines:
                if said := line.strip():
                    break
                self._answers.put("")
        if self._over and not said.startswith("!"):
            note("rest of the bus was sent", frames=said)
            return
        failure = said.removeprefix("!") or "what sends the rest of the bus has ended"
        self._mailbox.fail(failure)
        self._answers.put(failure)

    def _read_late(self) -> None:
        """Read which messages were late since the last look."""
        for due, doubted in (late := self._table.late(self._known)):
            self._since, self._doubted = min(self._since, due), max(self._doubted, doubted)
            note("the tester was late", "warning", since=round(time.monotonic() - due, 4))
        self._known += len(late)

    def _doubt(self) -> str:
        """Return that the tester is late, or was: the node may notice before the sender gets a processor again."""
        now, due = time.monotonic(), self._table.due()
        self._read_late()
        return self._excuse if now - due > self._late or now < self._doubted else ""

    def _overdue(self) -> float:
        """Return when the first message was due that is late, or was since the last call."""
        now, due = time.monotonic(), self._table.due()
        self._read_late()
        since, self._since = self._since, inf
        return min(since, due) if now - due > self._late else since


def _started(  # noqa: PLR0913, PLR0917 -- what both ends share, each once
    where: CanBus, settings: Mapping[str, Any], table: Table, own: socket.socket, theirs: socket.socket, memory: int
) -> Callable[[], object]:
    """Start sending; return the function that waits for its end.

    It runs in a process, since the judge's work would hold up a thread of this interpreter. At a load of 30, one
    message in a hundred was 75 ms late from a thread, and 3 ms from a process with raised priority. A bus in this
    process needs a thread.
    """
    if not where.is_virtual:
        with suppress(TypeError):  # an option that no other process can have
            line, given = described(where, settings), (theirs.fileno(), memory)
            argv = [sys.executable, "-P", "-m", "otf.adapter.cyclic_sender", *map(str, given)]
            paths = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            # a session of its own, so that keyboard interrupts only reach the tester
            process = Popen(  # noqa: S603 -- it is ours
                argv, pass_fds=given, env=paths, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
            )
            theirs.close()
            own.sendall(line)
            return partial(_ended, process)
    thread = Thread(
        target=serve, args=(theirs, where, settings, table), name=f"otf rest of {where.channel}", daemon=True
    )
    thread.start()
    return partial(thread.join, PATIENCE)


def _ended(process: Popen[bytes]) -> None:
    try:
        process.wait(PATIENCE)
    except TimeoutExpired:
        process.kill()
        process.wait()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError as error:
        raise CodecError(f"late {text}: {text!r} is not a number of seconds") from error
    if not 0 <= seconds < float("inf"):
        raise CodecError(f"late {text}: a number of seconds, 0 or more, is needed")
    return seconds


@checked
def restbus(
    url: str,
    messages: Mapping[str, CyclicMessage],
    *,
    late: float = 0.02,
    memory: float = 10.0,
    **options: Any,  # noqa: ANN401 -- those of python-can
) -> Port:
    """Return a port that plays the other nodes of a bus: it sends `messages` on schedule throughout a path.

    `restbus` takes the addresses that `can` takes. An input of this port is a text that changes how otf sends a message
    from then on: "NAME on", "NAME off", or a fault. "NAME twice" sends each frame twice. "NAME wrong" inverts the last
    byte, so that no checksum fits. "NAME stuck" stops the counter. "NAME late 0.05" sends each frame 0.05 seconds late.
    While a message is off, its counter stops. The port has no outputs.

    otf may send a frame up to `late` seconds after its scheduled time: the model's time windows allow for that. If otf
    sends a frame later still, the trace records a stall, otf extends the open time windows, and the path goes on. If a
    failure follows within `memory` periods of the late message, the path is inconclusive, since the tested node may
    have noticed the late frame. If `memory` is `math.inf`, failures are inconclusive until the path ends. `restbus`
    raises UsageError for an invalid address or message; opening the port raises ContactError.

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
