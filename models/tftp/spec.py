"""A TFTP server with one transfer at a time, as a function; after RFC 1350 and RFC 1123, section 4.2.3.1.

A side that waits too long sends its last packet again: by RFC 1350 it "may" (section 2), and "must" for the last block
(section 6); here it must do so once. No RFC says after how long: the bench sets this time for the server and the spec.
The server may give up after several retransmissions; the spec does not wait for that. Nor does an RFC say how soon to
acknowledge a block: here, at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from otf.adapter.malformed import Disturbed
from otf.codec.malformed import Malformed
from otf.errors import CodecError
from otf.models.tftp.messages import FULL, Ack, Data, Error, Read, TftpCodec, Write
from otf.models.tftp.requirements import Rfc
from otf.spec import Spec, Transition, goto

Block: TypeAlias = tuple[str, int]
Content: TypeAlias = tuple[Block, ...]

FILES: Final[dict[str, Content]] = {
    "empty": (("", 0),),
    "short": (("s", 3),),
    "full": (("f", FULL), ("", 0)),
    "long": (("a", FULL), ("b", FULL), ("c", 100)),
}
"""The server's initial files: the blocks of each file, the last of which is not full."""

NEW: Final = "new"
LARGEST: Final = 2
"""The most blocks of a written file."""

NOT_FOUND, EXISTS = 1, 6
PATIENCE: Final = 1.0
"""How many seconds late a timer of the server may be."""

OFTEN: Final = 1
"""How often a packet must come again; after that it may. The tester waits for each time."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is transferred."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The server sent a block of a file, and `again` counts the repeats."""

    name: str
    block: int = 1
    again: int = 0


@dataclass(frozen=True, slots=True)
class Writing:
    """The server acknowledged the blocks in `got`; `again` counts the repeats for the last one."""

    name: str
    got: Content = ()
    again: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """The files, None for one of which a broken transfer left an unknown part; and the transfer."""

    files: tuple[tuple[str, Content | None], ...]
    transfer: Idle | Reading | Writing = Idle()

    def has(self, name: str) -> bool:
        """Return whether there is such a file."""
        return name in dict(self.files)

    def content(self, name: str) -> Content:
        """Return the blocks of a known file."""
        return dict(self.files).get(name) or ()

    def stored(self, name: str, content: Content | None) -> State:
        """Return the state with another content of a file, and no transfer."""
        return State(tuple(sorted((dict(self.files) | {name: content}).items())))


Input: TypeAlias = Read | Write | Data | Ack | Error


@dataclass(frozen=True, slots=True)
class Timer:
    """The seconds after which a server retransmits, whether they double each time, and whether a first block counts."""

    seconds: float
    doubles: bool = False
    first: bool = True

    def due(self, transfer: Reading | Writing) -> tuple[float, float] | None:
        """Return the window in which the last packet must come again; None where it only may."""
        if transfer.again >= OFTEN or (isinstance(transfer, Reading) and transfer.block == 1 and not self.first):
            return None
        after = self.seconds * 2**transfer.again if self.doubles else self.seconds
        return self.seconds / 2, after + PATIENCE


def tftp(timer: Timer, also: str = "") -> Spec[State, Input]:
    """Return the spec of a TFTP server; `timer` says when the server sends a block again.

    `also` adds inputs that the spec leaves out by default: `duplicate`, `first` or `repeat`.

    >>> tftp(Timer(1.0)).name
    'tftp'
    """
    start = State(tuple(sorted(FILES.items())))
    return Spec(_step, start, partial(_inputs, also), partial(_emits, timer), name="tftp", malformed=_malformed)


def _step(state: State, inp: Input) -> Iterator[Transition[State]]:
    match state.transfer, inp:
        case Idle(), Read(name, mode):
            yield from _read(state, name, mode)
        case Idle(), Write(name):
            yield goto(replace(state.stored(name, None), transfer=Writing(name)), Ack(0), req=Rfc.RFC1350_5_WRQ)
            if state.has(name):
                yield goto(state, Error(EXISTS), req=Rfc.RFC1350_5_EXISTS)
        case Reading(), Ack(block):
            yield from _acknowledged(state, state.transfer, block)
        case Writing(), Data(block, fill, size):
            yield from _written(state, state.transfer, block, (fill, size))
        case ((Reading() | Writing()), Error()):
            yield goto(replace(state, transfer=Idle()), req=Rfc.RFC1350_7_ERROR)
        case _:
            return


def _malformed(state: State, inp: Malformed) -> Iterator[Transition[Any]] | None:
    """Yield that a transfer may end, as by any error (RFC 1350, section 7); between transfers, the default."""
    if isinstance(state.transfer, Idle) or inp.raw == inp.of:
        return None
    return _disturbed(state, inp)


def _disturbed(state: State, inp: Malformed) -> Iterator[Transition[Any]]:
    with suppress(CodecError):
        meant = TftpCodec().decode_input(inp.port, inp.of)
        # a lenient server may take it for the original packet
        yield from (goto(Disturbed(way.state)) for way in _step(state, meant))
    yield goto(Disturbed(state))
    yield goto(Disturbed(replace(state, transfer=Idle())))


def _read(state: State, name: str, mode: str) -> Iterator[Transition[State]]:
    if not state.has(name):
        yield goto(state, Error(NOT_FOUND), req=Rfc.RFC1350_5_ERROR)
    elif content := state.content(name):
        other = [] if mode.islower() else [Rfc.RFC1350_5_MODE]
        yield goto(replace(state, transfer=Reading(name)), Data(1, *content[0]), req=[Rfc.RFC1350_4_READ, *other])


def _acknowledged(state: State, transfer: Reading, block: int) -> Iterator[Transition[State]]:
    content = state.content(transfer.name)
    if block < transfer.block:
        # RFC 1123: a duplicate acknowledgement must not bring the data again, or every packet would be doubled
        yield goto(state, req=Rfc.RFC1123_4_2_3_1)
    elif block == transfer.block == len(content):
        yield goto(replace(state, transfer=Idle()), req=Rfc.RFC1350_6_END)
    elif block == transfer.block:
        then = replace(state, transfer=Reading(transfer.name, block + 1))
        yield goto(then, Data(block + 1, *content[block]), req=Rfc.RFC1350_5_NUMBERS)


def _written(state: State, transfer: Writing, block: int, data: Block) -> Iterator[Transition[State]]:
    if block == len(transfer.got) + 1:
        got = (*transfer.got, data)
        last = data[1] < FULL
        then = state.stored(transfer.name, got) if last else replace(state, transfer=Writing(transfer.name, got))
        yield goto(then, Ack(block), req=Rfc.RFC1350_5_ECHO)
    elif block == len(transfer.got):
        yield goto(state, Ack(block), req=Rfc.RFC1350_2_AGAIN)  # presumably the acknowledgement was lost


def _emits(timer: Timer, state: State) -> Iterator[Transition[State]]:
    transfer = state.transfer
    if isinstance(transfer, Idle):
        return
    last = Ack(len(transfer.got)) if isinstance(transfer, Writing) else _block(state, transfer)
    then = replace(transfer, again=min(OFTEN, transfer.again + 1))
    final = isinstance(transfer, Reading) and transfer.block == len(state.content(transfer.name))
    req = Rfc.RFC1350_6_LAST if final else Rfc.RFC1350_2_LOST
    yield goto(replace(state, transfer=then), last, within=timer.due(transfer), req=req)


def _block(state: State, transfer: Reading) -> Data:
    return Data(transfer.block, *state.content(transfer.name)[transfer.block - 1])


# ---- what is worth trying ------------------------------------------------------------------------------------------

ALSO: Final = {
    "duplicate": "acknowledgements that were sent before",
    "first": "whether the first block of a file comes again",
    "repeat": "blocks that were acknowledged before",
}
"""Inputs not tried by default with atftpd, which departs from the model there."""


def _inputs(also: str, state: State) -> Iterator[Input]:
    match state.transfer:
        case Idle() if also in {"duplicate", "repeat"}:
            # few states, so that the waits for their timers are soon over
            yield Read("long") if also == "duplicate" else Write(NEW)
        case Idle():
            yield from (Read(name) for name, content in state.files if content)
            yield from (Read("missing"), Read("short", "OcTeT"), Read("full", "NETASCII"), Write(NEW))
        case Reading(_, block) if also == "duplicate":
            yield from (Ack(block), Ack(block - 1))
        case Reading(_, block):
            yield from (Ack(block), Error(0))
        case Writing(_, got) if also == "repeat":
            yield Data(len(got), *got[-1]) if got else Data(1, "x", FULL)
            yield from (Error(0),) if got else ()
        case Writing(_, got):
            fill, following = "xyz"[len(got) % 3], len(got) + 1
            yield from (Data(following, "", 0), Data(following, fill, 5), Error(0))
            yield from (Data(following, fill, FULL),) if following < LARGEST else ()
