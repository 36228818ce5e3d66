"""Turns the entries of other tools' logs into events, through the framing and the codec of the bench.

A log often does not say which messages went to the system. Then the bytes decide: a message with the bytes of a model's
input was sent, and any other that decodes was received.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

from otf.adapter import Bench, Port
from otf.errors import CodecError, TraceError, UsageError, choose
from otf.framing import Frame, Framer, lines
from otf.framing.lines import LineFraming, Prompt
from otf.offline.logs import Noted
from otf.spec import Elapse
from otf.trace.events import Seen, Sent, Undecodable
from otf.values import as_text, show

Way: TypeAlias = Literal["sent", "seen", "shown", "unknown"]
"""What a log says about an entry. "shown" means received, from a terminal that also shows what was sent."""

UNTIMED: Final = float("inf")
"""The unit of time in a log without times: any pause may lie between two entries."""
KNOWN: Final = 100_000  # inputs whose bytes we keep
_CACHED: Final = 10_000
_CHANNELS: Final = 100


class LogEntry(NamedTuple):
    """A part of a log: bytes of a stream, or a whole frame if `is_frame`; `place` is its line, packet or message.

    `at` is in seconds, rounded down to a multiple of `unit`. The stream of each channel is cut separately.
    """

    at: float
    data: bytes
    way: Way = "unknown"
    place: int = 0
    is_frame: bool = False
    unit: float = 0.0
    channel: str = ""


@dataclass
class InputFinder:
    """Finds the input that some bytes encode: a codec decodes only outputs, so this encodes all inputs once.

    If there are too many inputs, the codec may have a method `decode_input(port, data)` instead. A log cannot contain
    an input that the codec cannot encode; errors about unknown bytes name the first such input.
    """

    bench: Bench
    _known: dict[tuple[str, bytes], object] = field(default_factory=dict[tuple[str, bytes], object])
    _refused: str = ""

    def of(self, port: str, data: bytes) -> object:
        """Return the input, `Undecodable` if there is none."""
        decode = getattr(self.bench.codec, "decode_input", None)
        if decode is not None:
            return decoded(decode, port, data)
        if not self._known:
            self._learn(self.bench.spec.initial)
        return self._known.get((port, data), Undecodable(data, f"no input of the model has these bytes{self._refused}"))

    def has(self, kind: type) -> bool:
        """Return whether only inputs have this type; False if all messages have one type."""
        kinds = {type(inp) for inp in self._known.values()}
        types = self.bench.codec.types if self.bench.codec is not None else ()
        return kind in kinds and not kinds.issuperset(types)

    def _learn(self, state: object) -> None:
        codec = self.bench.codec
        assert codec is not None  # noqa: S101 -- `Captured` has checked it
        for number, inp in enumerate(self.bench.spec.inputs(state)):
            if number > KNOWN:
                return
            if isinstance(inp, Elapse):
                continue  # a wait has no bytes
            try:
                data, port = codec.encode(inp), self.bench.port(inp)
            except Exception as error:  # noqa: BLE001 -- a codec may raise anything, and other inputs have bytes
                self._refused = (
                    self._refused or f"; the codec encodes no {show(inp)}: {type(error).__name__}: {as_text(error)}"
                )
                continue
            if isinstance(data, bytes):
                self._known[port, data] = inp


def decoded(decode: object, port: str, data: bytes) -> object:
    """Return the value of some bytes; `Undecodable` if there is none, or if the codec raises."""
    try:
        return decode(port, data) if callable(decode) else None
    except CodecError as error:
        return Undecodable(data, str(error))
    except Exception as error:  # noqa: BLE001 -- a codec may raise anything on bytes of a capture
        return Undecodable(data, f"{type(error).__name__}: {as_text(error)}")


class Entries:
    """The events in the entries of a log; iterate over it.

    If the log does not mark directions, `strange` counts messages that are neither input nor output. `unit` is the unit
    of time so far. `cut`: the log ends inside a frame, which is ignored.
    """

    def __init__(self, entries: Iterable[LogEntry], bench: Bench, name: str, port: str = "") -> None:
        if bench.codec is None:
            raise UsageError("the bench has no codec: its system is in this process, and a log cannot contain it")
        self.strange: int = 0
        self.unit: float = 0.0
        self.cut: bool = False
        self.guessed: bool = False
        self._waiting = dict[tuple[str, bool], LogEntry]()
        self._entries, self._name = entries, name
        self._codec, self._finder = bench.codec, InputFinder(bench)
        self._port = _chosen(bench, port, name)
        self._make = partial(_framers, bench, self._port)
        self._framers = dict[str, tuple[Framer, Framer]]()
        self._known: dict[tuple[Way, bytes], Sent | Seen | None] = {}

    def __iter__(self) -> Iterator[Noted]:
        """Yield the events with their places. Raises TraceError if sent bytes are not a known input."""
        for entry in self._entries:
            yield from self.events(entry)
        for noted in self._ended(UNTIMED):
            # the log may end inside its last message, which is then not judged
            if isinstance(noted.event, Seen) and isinstance(noted.event.output, Undecodable):
                self.cut = True
            else:
                yield noted
        self.cut = self.cut or any(incoming.begun.strip() for incoming, _ in self._framers.values())

    def events(self, entry: LogEntry) -> Iterator[Noted]:
        """Yield the events of the next entry."""
        self.unit = max(self.unit, entry.unit)
        self.guessed = self.guessed or entry.way in {"shown", "unknown"}
        if self._waiting:
            yield from self._ended(entry.at)
        for frame in self._frames(entry):
            yield from self._event(frame, entry)

    def _ended(self, at: float) -> Iterator[Noted]:
        """Yield the events of the frames that silence ended before this time, in order."""
        for key, last in sorted(self._waiting.items(), key=lambda item: item[1].at):
            framer = self._framers[key[0]][key[1]]
            if at - last.at > framer.gap:
                del self._waiting[key]
                for frame in framer.rest():
                    yield from self._event(frame, last)

    def _framer(self, entry: LogEntry) -> Framer:
        if entry.channel not in self._framers:
            if len(self._framers) >= _CHANNELS:
                raise TraceError(f"{self._where(entry)}: it has more than {_CHANNELS} channels")
            self._framers[entry.channel] = self._make()
        return self._framers[entry.channel][entry.way == "sent"]

    def _frames(self, entry: LogEntry) -> list[Frame]:
        if entry.is_frame:
            return [Frame(entry.data)]
        framer, data = self._framer(entry), entry.data
        if framer.gap and entry.unit >= framer.gap:
            message = f"{self._name}: silence ends the frames of this port, and the log does not show it"
            raise UsageError(f"{message}: its times are in units of {entry.unit:g} s")
        if entry.way == "sent" and isinstance(framer, LineFraming):
            # a terminal sends a different line end from the one that the system sees
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if framer.gap:
            self._waiting[entry.channel, entry.way == "sent"] = entry
        return framer.feed(data)

    def _event(self, frame: Frame, entry: LogEntry) -> Iterator[Noted]:
        event = self._found(frame, entry)
        match event:
            case None:
                self.strange += entry.way == "unknown"
            case Sent(value):
                yield Noted(Sent(value, self._port, entry.at), entry.place)
            case Seen(value):
                yield Noted(Seen(value, self._port, entry.at), entry.place)

    def _found(self, frame: Frame, entry: LogEntry) -> Sent | Seen | None:
        if frame.trouble:
            # anything that was or may have been sent is not a wrong output
            is_output = entry.way in {"seen", "shown"}
            return Seen(Undecodable(frame.data, frame.trouble), "", 0.0) if is_output else None
        key = entry.way, frame.data
        if key not in self._known:
            if len(self._known) > _CACHED:
                self._known.clear()
            self._known[key] = self._judged(frame.data, entry)
        return self._known[key]

    def _judged(self, data: bytes, entry: LogEntry) -> Sent | Seen | None:
        """Return the event of a frame; None for an echo, and for what is neither input nor output."""
        inp = self._finder.of(self._port, data)
        is_input = not isinstance(inp, Undecodable)
        if entry.way == "sent":
            return self._sent(inp, data, entry)
        out = decoded(self._codec.decode, self._port, data)
        is_output = not isinstance(out, Undecodable)
        if entry.way == "unknown" and is_input and is_output and out != inp:
            why = f"{show(data)} is the input {show(inp)} as well as the output {show(out)}"
            raise TraceError(
                f"{self._where(entry)}: {why}, and the log does not say which; a capture with addresses does"
            )
        if is_input and (not is_output or out == inp):
            return Sent(inp, "", 0.0) if entry.way == "unknown" else self._echo(entry, out)
        if entry.way == "unknown" and not is_output:
            return None
        if entry.way == "unknown" and self._finder.has(type(out)):
            return self._sent(
                Undecodable(data, f"{show(out)} is not an input of the model in its initial state"), data, entry
            )
        return Seen(out, "", 0.0)

    def _echo(self, entry: LogEntry, out: object) -> Seen | None:
        return None if entry.way == "shown" else Seen(out, "", 0.0)

    def _sent(self, inp: object, data: bytes, entry: LogEntry) -> Sent:
        if isinstance(inp, Undecodable):
            advice = "add it to the model, or to the codec, in `decode_input(port, data)`"
            raise TraceError(f"{self._where(entry)}: {inp.why}: {show(data)} was sent; {advice}")
        return Sent(inp, "", 0.0)

    def _where(self, entry: LogEntry) -> str:
        return f"{self._name}, number {entry.place}"


def _chosen(bench: Bench, port: str, name: str) -> str:
    ports = tuple(bench.ports)
    if port and port not in ports:
        raise UsageError(f"{name}: the bench has no port {show(port)}; {choose(port, ports, 'it has')}")
    if not port and len(ports) > 1:
        raise UsageError(f"{name}: say of which port of the bench it is: --port {'|'.join(ports)}")
    return port or "".join(ports)


def _framers(bench: Bench, port: str) -> tuple[Framer, Framer]:
    """Return the framers of the received and the sent bytes of a port."""
    opener = bench.ports.get(port)
    framing = (opener.framing if isinstance(opener, Port) else None) or lines()
    incoming = framing()
    # a prompt ends an answer; inputs are lines
    outgoing = lines()() if isinstance(incoming, (LineFraming, Prompt)) else framing()
    return incoming, outgoing
