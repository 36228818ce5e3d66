"""Malformed inputs by what a codec declares: wrong lengths behind right checksums, several frames, other states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

import pytest

from otf.adapter import Bench
from otf.adapter.malformed import Anywhere, Disturbed, hardened
from otf.adapters import inprocess
from otf.campaign import run
from otf.campaign.run import NonconformanceError
from otf.codec.malformed import Malformed, MalformedCodec
from otf.errors import CodecError
from otf.spec import Accept, Spec, Transition, goto
from otf.trace.events import Sent

SIZE = 5  # bytes of a message: its kind, its length, two of payload, the sum


@dataclass(frozen=True)
class Open: ...


@dataclass(frozen=True)
class Shut: ...


@dataclass(frozen=True)
class Put:
    slot: int
    value: int


@dataclass(frozen=True)
class Get:
    slot: int


@dataclass(frozen=True)
class Answer:
    number: int


OK, NO = 250, 251
BEHIND = bytes([0, 42])
Input: TypeAlias = Open | Shut | Put | Get


def sealed(data: bytes) -> bytes:
    """Return the bytes with their sum."""
    return data + bytes([sum(data) & 0xFF])


@dataclass(frozen=True)
class Frames:
    """A codec of frames with a length and a sum; a datagram has one of them."""

    types: tuple[type, ...] = (Open, Shut, Put, Get, Answer)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return ""

    def encode(self, value: object) -> bytes:
        """Return the frame of an input."""
        match value:
            case Put(slot, number):
                return sealed(bytes([1, 2, slot, number]))
            case Get(slot):
                return sealed(bytes([2, 2, slot, 0]))
            case _:
                return sealed(bytes([3 if isinstance(value, Open) else 4, 2, 0, 0]))

    def decode(self, port: str, data: bytes) -> Answer:
        """Return the answer."""
        del port
        return Answer(data[0])

    def decode_input(self, port: str, data: bytes) -> Input:
        """Return the input with these bytes."""
        del port
        if len(data) != SIZE or sealed(data[:-1]) != data or data[1] != 2 or data[2] > 1:
            raise CodecError("no frame")
        match data[0]:
            case 1:
                return Put(data[2], data[3])
            case 2 if not data[3]:
                return Get(data[2])
            case 3 | 4 if not any(data[2:4]):
                return Open() if data[0] == 3 else Shut()
            case _:
                raise CodecError("no frame")

    def seal(self, data: bytes) -> bytes:
        """Return the bytes with the right sum at their end."""
        return sealed(data[:-1])


class Streamed(Frames):
    """The same frames in a stream: the system takes one after the other, and waits for the rest of one."""

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the frames."""
        del port
        if len(data) % SIZE or not data:
            raise CodecError("the system waits for more")
        return [data[at : at + SIZE] for at in range(0, len(data), SIZE)]


class State(NamedTuple):
    """Whether the store is open, and its two numbers."""

    opened: bool = False
    content: tuple[int, int] = (0, 0)


def step(state: State, inp: Input) -> Iterator[Transition[State]]:
    """Store numbers while the store is open; nothing is said of other inputs while it is shut."""
    match inp:
        case Open() if not state.opened:
            yield goto(state._replace(opened=True), Answer(OK))
        case Shut() if state.opened:
            yield goto(state._replace(opened=False), Answer(OK))
        case Put(slot, value) if state.opened:
            one, other = state.content
            yield goto(State(opened=True, content=(one, value) if slot else (value, other)), Answer(OK))
        case Get(slot):
            yield goto(state, Answer(state.content[slot]))
        case _:
            return


def refused(state: State, _inp: Malformed) -> Iterator[Transition[State]]:
    """Answer NO, and change nothing."""
    yield goto(state, Answer(NO))


INPUTS: list[Input] = [Open(), Shut(), Put(0, 7), Put(1, 8), Put(0, 9), Get(0), Get(1)]
SPEC = Spec(step, State(), INPUTS, name="frames")
PLAIN = Frames()


class Server:
    """The store; `fault` is one of FAULTS."""

    def __init__(self, fault: str = "", *, streamed: bool = False) -> None:
        self.state = State()
        self.fault, self.streamed = fault, streamed

    def __call__(self, data: bytes) -> list[bytes]:
        """Return the answers to a datagram, or to what came of a stream."""
        if self.fault == "a wrong length that is believed" and 3 <= len(data) < SIZE and sealed(data[:-1]) == data:
            # what is missing is whatever lies behind the datagram
            data = sealed(data[:2] + BEHIND)
        several = self.streamed or self.fault == "two messages in a frame"
        frames = [data[at : at + SIZE] for at in range(0, len(data), SIZE)] if several else [data]
        if self.fault == "the second of two frames is lost":
            frames = frames[:1]
        return [bytes([self.answer(frame)]) for frame in frames]

    def answer(self, frame: bytes) -> int:
        """Return the answer to a frame."""
        try:
            inp = PLAIN.decode_input("", frame)
        except CodecError:
            return NO
        if self.fault == "a message of another state" and isinstance(inp, Put):
            self.state = self.state._replace(opened=True)
        for way in step(self.state, inp):
            self.state = way.state
            [answer] = way.outputs
            assert isinstance(answer, Answer)
            return answer.number
        return NO


FAULTS = {
    "a wrong length that is believed": 3,
    "two messages in a frame": 2 * SIZE,
    "the second of two frames is lost": 2 * SIZE,
    "a message of another state": SIZE,
}
"""Each with the bytes of the shortest datagram that shows it."""


def bench(fault: str = "", *, streamed: bool = False, strict: bool = False) -> Bench:
    """Return the bench of a store with malformed inputs."""
    ports = {"": inprocess(partial(Server, fault, streamed=streamed))}
    codec, spec = Streamed() if streamed else Frames(), replaced(strict=strict)
    made = Bench.on_ports(spec, codec, ports, name="frames", inputs="uioco", quiescence=0.0, latency=0.0, busy=0.0)
    return made.with_malformed(0.3)


def replaced(*, strict: bool) -> Spec[State, Input]:
    """Return the model, which says what is refused where it is strict."""
    return Spec(step, State(), INPUTS, name="frames", malformed=refused) if strict else SPEC


@pytest.mark.parametrize(("streamed", "strict"), [(False, False), (True, False), (False, True)])
@pytest.mark.real
def test_a_correct_system_passes(tmp_path: Path, streamed: bool, strict: bool) -> None:
    """With frames of any kind; among them are messages of another state, and two messages in one frame."""
    summary = run(bench(streamed=streamed, strict=strict), out=tmp_path / "out", traces=12, steps=60, seed=2)
    assert summary.verdict == "pass"
    sent = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("path-*.jsonl"))
    assert sent.count('"of another state"') > 1
    assert sent.count('"two messages"') > 3


@pytest.mark.parametrize(
    "fault", [pytest.param(each, marks=[] if each.startswith("a message") else pytest.mark.slow) for each in FAULTS]
)
@pytest.mark.real
def test_a_fault_is_found_and_shrunk_to_its_bytes(tmp_path: Path, fault: str) -> None:
    """Each fault is found, and its run is shrunk to at most four inputs with no byte too many."""
    streamed = fault == "the second of two frames is lost"
    made = bench(fault, streamed=streamed, strict=fault == "a message of another state")
    with pytest.raises(NonconformanceError) as caught:
        run(made, out=tmp_path / "out", traces=400, steps=60, seed=3, stop_first=True)
    [group] = caught.value.summary.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps <= 4
    sent = [event.input for event in group.shrunk.events if isinstance(event, Sent)]
    assert min(len(each.raw) for each in sent if isinstance(each, Malformed)) == FAULTS[fault]


def states(spec: Spec[State, Input], raw: bytes, of: Input, codec: Frames = PLAIN) -> list[object]:
    """Return the states that may follow in an open store."""
    hard = hardened(spec, MalformedCodec(codec), [""])
    opened = State(opened=True, content=(1, 2))
    return [way.state for way in hard.step(opened, Malformed(raw, "", PLAIN.encode(of))) if isinstance(way, Transition)]


def test_frames_are_taken_one_after_the_other() -> None:
    """After two messages of a stream there is one state; in a datagram without frames, the usual ones."""
    put, other = PLAIN.encode(Put(0, 7)), PLAIN.encode(Put(1, 8))
    both = Disturbed(State(opened=True, content=(7, 8)))
    assert states(SPEC, put + other, Put(0, 7), Streamed()) == [both]
    assert both not in states(SPEC, put + other, Put(0, 7))
    garbled = states(SPEC, put + bytes(SIZE), Put(0, 7), Streamed())
    assert garbled == [Disturbed(State(opened=True, content=(7, 2))), Disturbed(State())]
    # the system waits for the rest: what follows cannot be known
    assert states(SPEC, put[:3], Put(0, 7), Streamed()) == []


def test_nothing_is_known_after_what_the_model_leaves_open() -> None:
    """A message that the model does not specify may lead anywhere; with `malformed=`, where that says."""
    twice = PLAIN.encode(Open())
    assert states(SPEC, twice, Open()) == [Anywhere()]
    assert states(replaced(strict=True), twice, Open()) == [State(opened=True, content=(1, 2))]
    assert states(replaced(strict=True), twice + twice, Open(), Streamed()) == [Anywhere()]
    assert states(replaced(strict=True), bytes(2 * SIZE), Open(), Streamed()) == [
        Disturbed(State(opened=True, content=(1, 2)))
    ]
    late = Spec(lambda state, _inp: [Accept(lambda _: [state])], State(), INPUTS)
    assert Anywhere() in states(late, b"?", Open())


def test_a_checksum_is_made_right_now_and_then() -> None:
    """About half of what is damaged has a right sum, so that a parser goes past it."""
    codec, random = MalformedCodec(PLAIN), Random(1)
    made = [each for _ in range(200) if (each := codec.damaged(Put(0, 7), random)) is not None]
    right = sum(bool(each.raw) and sealed(each.raw[:-1]) == each.raw for each in made)
    assert 60 < right < 140


def test_inputs_of_other_ports_are_not_joined() -> None:
    """Nor is an input that has no bytes of its own."""

    class Two(Frames):
        def port(self, value: object) -> str:
            return "a" if isinstance(value, Put) else "b"

    codec = MalformedCodec(Two())
    made = [codec.damaged(Put(0, 7), Random(seed), [Get(0)]) for seed in range(60)]
    assert all(each is None or each.how != "two messages" for each in made)
    assert codec.misplaced(replace(Put(0, 7), slot=9)) is None
