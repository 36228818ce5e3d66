"""What arrives on lines: nothing is missed, nothing is taken twice, and not more than can be judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
import anyio.lowlevel
import pytest

from otf.adapter import Arrival, Bench, Ending, Frame
from otf.adapter.line import NEVER
from otf.adapters.inprocess import Reply
from otf.core.session import FLOOD
from otf.runner import Wire
from otf.runner.wire import FULL, HEAVY, Arrived
from otf.spec import Spec, Transition, goto
from tests.runner.playing import Still, hub, on_function, ping, play, spec, virtually
from tests.runner.words import Words

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


@dataclass
class Piped(Still):
    """A line that reads from a pipe, one byte a frame."""

    reader: int = -1
    reads: int = 0

    def descriptors(self) -> tuple[int, ...]:
        """Return the pipe until its end."""
        return (self.reader,) if self.reader >= 0 else ()

    def receive(self) -> list[Arrival]:
        """Return one byte, or the end."""
        self.reads += 1
        if self.reader < 0:
            return []
        try:
            data = os.read(self.reader, 1)
        except BlockingIOError:
            return []
        if data:
            return [Frame(data)]
        self.reader = -1
        return [Ending("end of file")]


@contextmanager
def piped() -> Generator[tuple[Piped, int], None, None]:
    """Yield a line, and the descriptor to write to it."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    try:
        yield Piped(reader=reader), writer
    finally:
        os.close(reader)


@dataclass
class Stock(Still):
    """A line that is readable for ever; `left` frames come of it, seven thousand at a time."""

    reader: int = -1
    left: int = 0

    def descriptors(self) -> tuple[int, ...]:
        """Return something that is readable."""
        return (self.reader,)

    def receive(self) -> list[Arrival]:
        """Return the next frames, each the number of those behind it."""
        batch = [Frame(str(self.left - number).encode()) for number in range(1, min(self.left, 7000) + 1)]
        self.left -= len(batch)
        return [*batch]


SIZE = 1 << 16


@dataclass
class Heavy(Still):
    """A line with large frames that never end; `given` says how many were taken."""

    given: int = 0

    def receive(self) -> list[Arrival]:
        """Return the next frame."""
        self.given += 1
        return [Frame(bytes(SIZE))]


async def _heard(wire: Wire, number: int) -> list[Arrived]:
    arrived: list[Arrived] = []
    patience = wire.now + 30
    while len(arrived) < number and wire.now < patience:
        await wire.wait(patience)
        arrived += wire.arrived()
    return arrived


# The last look


def test_an_output_whose_wake_up_comes_late() -> None:
    """Before silence is believed there is a last look: an arrival without notice is not missed."""
    connect = hub(lambda _port, _frame: [(0.3, "p", b"pong")], "p", deaf=["p"])
    played = play(Bench(spec(ping), codec=Words(), connect=connect, outputs=("p",), quiescence=1.0), "p.ping")
    assert played.script == ["0 > p.ping", "1 < p.pong", "2 quiet"]
    assert (played.verdict.outcome, played.verdict.late) == ("pass", ())


def test_a_last_look_finds_what_is_wrong_too() -> None:
    """An arrival without notice is judged like every other."""
    connect = hub(lambda _port, _frame: [(0.3, "p", b"pong")], "p", deaf=["p"])
    played = play(Bench(spec(ping), codec=Words(), connect=connect, outputs=("p",), quiescence=1.0), "p.hush")
    assert played.failure.kind == "unasked"


# Hints


@dataclass
class Calling(Still):
    """A line that calls for another while it is asked."""

    wake: Callable[[], None] = lambda: None
    other: Callable[[], None] = lambda: None

    def arm(self, wake: Callable[[], None]) -> None:
        """Take whom to wake."""
        self.wake = wake

    def receive(self) -> list[Arrival]:
        """Call for the other line before answering."""
        self.other()
        return super().receive()


def test_ports_that_call_at_once_are_read_in_their_order() -> None:
    """The order is the same in each start of Python, so that a seed determines a run on several ports."""
    ports = [f"port-{number}" for number in range(12)]

    async def order() -> list[str]:
        async with Wire({port: Calling([Frame(b"pong")]) for port in ports}) as wire:
            for line in reversed([*wire.lines.values()]):
                assert isinstance(line, Calling)
                line.wake()
            return [each.port for each in wire.arrived()]

    assert virtually(order) == ports


def test_a_line_may_call_for_another_while_it_is_asked() -> None:
    """A wake-up that comes while lines are asked is not lost."""

    async def both() -> list[str]:
        first, second = Calling([Frame(b"1")]), Calling([Frame(b"2")])
        async with Wire({"first": first, "second": second}) as wire:
            first.other = second.wake
            first.wake()
            seen = [arrived.port for arrived in wire.arrived()]
            await wire.wait(1000)
            return seen + [arrived.port for arrived in wire.arrived()] + [f"{wire.now:g}"]

    assert virtually(both) == ["first", "second", "0"]


def test_what_a_long_answer_ends_with_comes_in_time() -> None:
    """A function that gives a thousand replies for later, and then one for now, is asked for that one at once."""
    replies: list[Reply] = [*[(0.5, b"pong")] * 1000, b"now"]
    played = play(on_function(lambda: lambda _frame: list(replies)), "p.ping")
    assert played.script == ["0 > p.ping", "0 < p.now"]


# Descriptors


@pytest.mark.real
def test_an_empty_port_is_read_again_when_the_kernel_has_something() -> None:
    """A look at all ports reads those that were empty only where a poll shows something; after that all are read."""

    async def looks() -> list[tuple[bool, int]]:
        with piped() as (line, to_line):
            async with Wire({"p": line}) as wire:
                found = [(wire.empty(), line.reads) for _ in range(3)]
                os.write(to_line, b"a")
                found += [(wire.empty(), line.reads), (bool(wire.arrived()), line.reads)]
                found += [(wire.empty(), line.reads), (wire.empty(), line.reads)]
                wire.known_empty.clear()
                return [*found, (wire.empty(), line.reads)]

    first = [(True, 1), (True, 1), (True, 1)]
    assert anyio.run(looks) == [*first, (False, 3), (True, 3), (True, 4), (True, 4), (True, 5)]


@dataclass
class Halves(Piped):
    """A line on which half a frame has come, which time may end."""

    def stirred(self) -> float:
        """Return a moment."""
        return 0.0


@pytest.mark.real
def test_a_port_with_half_a_frame_is_read_at_each_look() -> None:
    """Silence may end the frame, and no poll shows that."""

    async def looks() -> list[int]:
        with piped() as (line, _):
            half = Halves(reader=line.reader)
            async with Wire({"p": half}) as wire:
                return [half.reads for _ in range(3) if wire.empty()]

    assert anyio.run(looks) == [1, 2, 3]


@dataclass
class Begun(Piped):
    """A line whose frames never end: what comes is the beginning of one."""

    began: float = NEVER

    def receive(self) -> list[Arrival]:
        """Take what is there, which completes nothing."""
        if super().receive():
            self.began = 0.0
        return []

    def stirred(self) -> float:
        """Return a moment once something has come."""
        return self.began


@pytest.mark.real
def test_a_frame_that_begins_on_an_empty_port_is_known_at_once() -> None:
    """A port that was empty has half a frame after the next look, so a system that sleeps by then does not rest."""

    async def looks() -> list[bool]:
        with piped() as (line, to_line):
            async with Wire({"p": Begun(reader=line.reader)}) as wire:
                found = [wire.empty() and wire.stirred == NEVER]
                os.write(to_line, b"a")
                return [*found, wire.empty(), wire.stirred > NEVER]

    assert anyio.run(looks) == [True, True, True]


@pytest.mark.real
@LOOPS
def test_what_comes_on_a_descriptor_wakes_the_wire(loop: str) -> None:
    """Bytes on two pipes arrive, each on its port, and the end of a pipe after its last byte."""

    async def both() -> list[tuple[str, Arrival]]:
        with piped() as (first, to_first), piped() as (second, to_second):
            async with Wire({"first": first, "second": second}) as wire:
                os.write(to_first, b"ab")
                os.close(to_first)
                arrived = await _heard(wire, 3)
                os.write(to_second, b"c")
                arrived += await _heard(wire, 1)
                os.close(to_second)
                return [(each.port, each.what) for each in arrived + await _heard(wire, 1)]

    assert anyio.run(both, backend=loop) == [
        ("first", Frame(b"a")),
        ("first", Frame(b"b")),
        ("first", Ending("end of file")),
        ("second", Frame(b"c")),
        ("second", Ending("end of file")),
    ]


@pytest.mark.real
@LOOPS
def test_a_pipe_at_its_end_is_left_alone(loop: str) -> None:
    """An ended pipe is readable for ever; the runner does not spin on it."""

    async def ended() -> list[int]:
        with piped() as (line, writer):
            async with Wire({"p": line}) as wire:
                os.close(writer)
                await _heard(wire, 1)
                before = line.reads
                await wire.wait(wire.now + 0.01)
                return [line.reads - before]

    assert anyio.run(ended, backend=loop) == [0]


def test_nothing_is_watched_after_the_run() -> None:
    """Arrivals after the wire was left are ignored."""

    async def left() -> int:
        with piped() as (line, writer):
            async with Wire({"p": line}):
                await anyio.lowlevel.checkpoint()
            os.write(writer, b"x")
            os.close(writer)
            for _ in range(10):
                await anyio.lowlevel.checkpoint()
            return line.reads

    assert anyio.run(left) == 0


# More than can be judged


def _many(number: int) -> Bench:
    """Return a bench with a system that answers so many times at once; the model allows any number."""

    def step(state: int, _inp: str) -> Iterator[Transition[int]]:
        yield goto(state)

    talkative = Spec(step, 0, ["p.ping"], lambda state: [goto(state, "p.pong")])
    return on_function(lambda: lambda _frame: (b"pong" for _ in range(number)), spec=talkative)


@pytest.mark.real
@LOOPS
def test_a_full_inbox_stops_the_reading(loop: str) -> None:
    """Of a flood, FULL arrivals and the rest of the last read are taken; once these are judged, reading goes on.

    All ports go on, also those that found no room, and everything comes in the order of its port.
    """

    async def flooded() -> tuple[int, dict[str, list[int]]]:
        with piped() as (first, to_first), piped() as (second, to_second):
            for writer in (to_first, to_second):
                os.write(writer, b"x")
                os.close(writer)
            lines = {"a": Stock(reader=first.reader, left=50_000), "b": Stock(reader=second.reader, left=50_000)}
            async with Wire(lines) as wire:
                for _ in range(100):
                    await anyio.lowlevel.checkpoint()
                waiting = 100_000 - sum(line.left for line in lines.values())
                arrived = await _heard(wire, 100_000)
                for line in lines.values():
                    line.left = 5  # those who read have waited for room, and one of them may wait still
                arrived += await _heard(wire, 10)
                return waiting, {port: _numbers(arrived, port) for port in lines}

    waiting, numbers = anyio.run(flooded, backend=loop)
    assert FULL <= waiting < FULL + 7000
    assert numbers == {port: [*range(49_999, -1, -1), 4, 3, 2, 1, 0] for port in "ab"}


def _numbers(arrived: list[Arrived], port: str) -> list[int]:
    return [int(each.what.data) for each in arrived if each.port == port and isinstance(each.what, Frame)]


def test_a_full_inbox_is_judged_without_a_pause() -> None:
    """What did not fit into the inbox is asked for at once, and not at the last look before silence."""
    played = play(_many(2 * FULL + 10), "p.ping", flood=10 * FULL)
    assert [played.script[0], played.script[1], played.script[-1]] == ["1 quiet", "1 > p.ping", "2 quiet"]
    assert played.script[2:-1] == ["1 < p.pong"] * (2 * FULL + 10)


def test_a_flood_is_a_verdict() -> None:
    """A system that never stops to answer does not keep the tester for ever."""
    played = play(_many(10**9), "p.ping")
    assert (played.failure.kind, played.failure.seen) == ("flood", "more than 10000 outputs without a pause")
    assert "flood" in str(played.failure.signature)


def test_a_flood_of_large_outputs_is_a_verdict() -> None:
    """64 MiB of them are enough; those that the model demands do not count."""
    large = b"x" * 60_000
    talkative = Spec[int, str](_listens, 0, ["p.ping"], lambda state: [goto(state, str)])
    played = play(on_function(lambda: lambda _frame: (large for _ in range(10**9)), spec=talkative), "p.ping")
    assert (played.failure.kind, played.failure.seen) == (
        "flood",
        f"more than {FLOOD} bytes of outputs without a pause",
    )
    assert sum(line.startswith("1 <") for line in played.script) >= FLOOD // len(large)
    outstanding = Spec[int, str](lambda state, _inp: [goto(state, *[str] * 1200)], 0, ["p.ping"])
    assert play(on_function(lambda: lambda _frame: [large] * 1200, spec=outstanding), "p.ping").script[-1] == "1 quiet"


def test_a_heavy_inbox_stops_the_reading() -> None:
    """What waits to be judged is bounded in bytes as well as in number; once it is judged, reading goes on."""

    async def flooded() -> list[int]:
        line = Heavy()
        async with Wire({"a": line}) as wire:
            return [await _reads(wire, line) for _ in range(4)]

    assert virtually(flooded) == [HEAVY // SIZE] * 4


async def _reads(wire: Wire, line: Heavy) -> int:
    wire.poll()
    given, line.given = line.given, 0
    wire.arrived()
    # where it was not asked to its end it is asked again with the next question
    line.given = 0
    return given


def _listens(state: int, _inp: str) -> Iterator[Transition[int]]:
    yield goto(state)


@dataclass
class Stamped(Still):
    """A line whose frames say when they came, in seconds since the start of the run."""

    came: tuple[float, ...] = ()

    def stamps(self, zero: float) -> None:
        """Let them arrive."""
        self.arrivals = [Frame(b"%g" % each, "", zero + each) for each in self.came]


def test_frames_of_several_ports_are_in_the_order_of_their_stamps() -> None:
    """Ports are read one after another; a port stays first in, first out, whatever its stamps say."""

    async def run() -> list[tuple[str, bytes]]:
        lines = {"p": Stamped(came=(-4, -1)), "q": Stamped(came=(-3, -2, -2.5))}
        async with Wire(lines) as wire:
            for line in lines.values():
                line.stamps(wire.zero)
            wire.poll()
            return [(each.port, each.what.data) for each in wire.arrived() if isinstance(each.what, Frame)]

    assert anyio.run(run) == [("p", b"-4"), ("q", b"-3"), ("q", b"-2"), ("q", b"-2.5"), ("p", b"-1")]
