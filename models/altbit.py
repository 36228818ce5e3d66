"""The alternating-bit protocol: a sender, whose timer repeats unacknowledged messages, and a receiver.

Source: Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.3; the timer is ours. The user hands
over data on the port `user`; messages and acknowledgements go over the port `net`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from otf.spec import Spec, Transition, goto, on


@dataclass(frozen=True, slots=True)
class Put:
    """The user hands over one piece of data."""

    data: str


@dataclass(frozen=True, slots=True)
class Ack:
    """The receiver acknowledges the message with this bit."""

    bit: int


@dataclass(frozen=True, slots=True)
class Message:
    """Data in flight, with its bit."""

    data: str
    bit: int


@dataclass(frozen=True, slots=True)
class Ready:
    """Nothing is in flight; the next message has the bit `bit`."""

    bit: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """The sender has sent a message, and waits for its acknowledgement."""

    data: str
    bit: int


State: TypeAlias = Ready | Waiting
Input: TypeAlias = Put | Ack


def port(value: Put | Ack | Message) -> str:
    """Return the port of an input or output."""
    return "user" if isinstance(value, Put) else "net"


def sender(timer: tuple[float, float] | None = None) -> Spec[State, Input]:
    """Return the spec of a sender that repeats within the window `timer`, in seconds after sending (None: any time)."""

    def step(state: State, inp: Input) -> Iterator[Transition[State]]:
        match state, inp:
            case Ready(bit), Put(data):
                yield goto(Waiting(data, bit), Message(data, bit))
            case Waiting(_, bit), Ack(acked) if acked == bit:
                yield goto(Ready(1 - bit))
            case _, Ack():
                # an old acknowledgement says nothing new: the timer will repeat the message
                yield goto(state)
            case _:
                pass

    def emits(state: State) -> Iterator[Transition[State]]:
        if isinstance(state, Waiting):
            yield goto(state, Message(state.data, state.bit), within=timer)

    return Spec(step, Ready(), [Put("a"), Put("b"), Ack(0), Ack(1)], emits, name="altbit")


@dataclass(frozen=True, slots=True)
class Error:
    """A message damaged in transit."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """The receiver hands data over to its user."""

    data: str


def receiver() -> Spec[int, Message | Error]:
    """Return the spec of a receiver; its state is the bit that it waits for.

    It acknowledges each message with its bit, and a damaged one with the bit of the last whole one; data reach the user
    once. Acknowledgements and data go to different ports, so their order is open.
    """

    def step(bit: int, inp: Message | Error) -> Iterator[Transition[int]]:
        match inp:
            case Message(data, sent) if sent == bit:
                yield goto(1 - bit, on("net", Ack(bit)), on("user", Deliver(data)))
            case _:
                yield goto(bit, on("net", Ack(1 - bit)))

    inputs = [Message(data, bit) for data in "ab" for bit in (0, 1)]
    return Spec(step, 0, [*inputs, Error()], name="altbit receiver")


SENDER: Final = sender()
RECEIVER: Final = receiver()
