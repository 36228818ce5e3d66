"""A boot loader with the STK500 protocol, after Atmel's application note AVR061: pages of the flash, read and written.

`otf run bootloader` tests optiboot, from Debian's arduino-core-avr, on an ATmega328P that simavr emulates. Each byte of
an answer is an output, since neither a length nor a pause marks where an answer ends.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from otf.adapter import Bench, Line, trace_may_set
from otf.adapter.malformed import Disturbed
from otf.adapters.process import open_process
from otf.codec.malformed import Malformed
from otf.errors import CodecError, ContactError
from otf.framing import measured
from otf.models import bootloader_board
from otf.models.serving import GRACE, UNPACKED, chosen, expected, known_issue, program
from otf.spec import Spec, Transition, goto
from otf.values import show

FIRMWARE: Final = str(UNPACKED / "usr/share/arduino/hardware/arduino/avr/bootloaders/optiboot/optiboot_atmega328.hex")
READY: Final = 20.0
IN_SYNC, NO_SYNC, OK, END = 0x14, 0x15, 0x10, 0x20
SIGNATURE: Final = (0x1E, 0x95, 0x0F)
"""The signature of an ATmega328P, from its data sheet."""

ERASED: Final = 0xFF
PAGES: Final = (0x1000, 0x1080, 0x2000)
"""Byte addresses of the pages to write."""

FILLS: Final = (0x00, 0x10, 0x14, 0xA5)
SIZE: Final = 4
"""Bytes to read and write at a time, from the beginning of a page."""

ALSO: Final = ("sync",)
"""A group of inputs that shows a departure."""

KNOWN: Final = {"sync": known_issue("optiboot 4.4 is silent on a command that does not end with 0x20", "unended")}


@dataclass(frozen=True, slots=True)
class Command:
    """A command: sync, enter, signature, load (of an address), program (with a byte), read, universal, unended."""

    name: str
    argument: int = 0


@dataclass(frozen=True, slots=True)
class Byte:
    """A byte of an answer."""

    value: int


@dataclass(frozen=True, slots=True)
class Flash:
    """The bytes at the beginning of each page, and the loaded address; None: no command may rely on it."""

    pages: tuple[int, ...] = (ERASED,) * len(PAGES)
    page: int | None = None


def inputs(also: str, state: Flash) -> Iterator[Command]:
    """Yield the commands that make sense; with `also="sync"` one without its end, too."""
    yield from map(Command, ("sync", "enter", "signature", "universal"))
    yield from (Command("load", page) for page in range(len(PAGES)))
    if state.page is not None:
        yield Command("read")
        yield from (Command("program", fill) for fill in FILLS)
    if also:
        yield Command("unended")


def step(state: Flash, inp: Command) -> Iterator[Transition[Flash]]:
    """Yield what a command causes: its answer is between two marks."""
    # after reading and writing, a boot loader may or may not advance the address
    after = replace(state, page=None)
    match inp:
        case Command("load", page):
            yield _answered(replace(state, page=page))
        case Command("program", fill) if state.page is not None:
            pages = list(state.pages)
            pages[state.page] = fill
            yield _answered(replace(after, pages=tuple(pages)))
        case Command("read") if state.page is not None:
            yield _answered(after, *[state.pages[state.page]] * SIZE)
        case Command("signature"):
            yield _answered(state, *SIGNATURE)
        case Command("universal"):
            yield _answered(state, 0)
        case Command("unended"):
            yield goto(state, Byte(NO_SYNC))
        case _:
            yield _answered(state)


def _answered(state: Flash, *values: int) -> Transition[Flash]:
    return goto(state, *map(Byte, (IN_SYNC, *values, OK)))


@dataclass(frozen=True, slots=True)
class Stk500Codec:
    """The codec; commands are whole, answers come byte by byte."""

    types: tuple[type, ...] = (Command, Byte)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "serial"

    def encode(self, value: object) -> bytes:
        """Return the bytes of a command. Raises CodecError."""
        match value:
            case Command("load", page):
                return b"U" + (PAGES[page] // 2).to_bytes(2, "little") + bytes([END])  # words, not bytes
            case Command("program", fill):
                return b"d" + SIZE.to_bytes(2, "big") + b"F" + bytes([fill] * SIZE) + bytes([END])
            case Command("read"):
                return b"t" + SIZE.to_bytes(2, "big") + b"F" + bytes([END])
            case Command("universal"):
                return b"V" + bytes(4) + bytes([END])
            case Command("unended"):
                return b"0" + bytes([END + 1])
            case Command(("sync" | "enter" | "signature") as name):
                return {"sync": b"0", "enter": b"P", "signature": b"u"}[name] + bytes([END])
            case _:
                message = f"{show(value)} is not a command of a boot loader"
                raise CodecError(message)

    def decode_input(self, port: str, data: bytes) -> Command:
        """Return the command in these bytes, or the letter of one that the model does not try. Raises CodecError."""
        del port
        if data in _BYTES:
            return _BYTES[data]
        if len(data) == _SHORT and data[0] in LETTERS:
            return Command(chr(data[0]))
        raise CodecError(f"{show(data)} is not a command of a boot loader")

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the command. Raises CodecError if its length is unknown, or if a boot loader would wait for more."""
        del port
        if data not in _BYTES and (len(data) != _SHORT or data[-1] != END):
            raise CodecError("where a command ends depends on its letter")
        return [data]

    def decode(self, port: str, data: bytes) -> Byte:
        """Return a byte of an answer."""
        del port
        return Byte(data[0])


_SHORT: Final = 2  # bytes of a command without arguments
LETTERS: Final = frozenset(b"0123@ABEPQRUV`abcdeqrstuvwx")
"""The commands of AVR061."""

_TRIED: Final = (
    *map(Command, ("sync", "enter", "signature", "universal", "read", "unended")),
    *(Command("load", page) for page in range(len(PAGES))),
    *(Command("program", fill) for fill in FILLS),
)
_BYTES: Final = {Stk500Codec().encode(each): each for each in _TRIED}


def _malformed(state: Flash, inp: Malformed) -> Iterator[Transition[Any]]:
    """Yield that an unknown command changes nothing; a command without its end is handled elsewhere (`also`)."""
    if inp.raw[0] not in LETTERS:
        yield goto(Disturbed(state, inp.port))


@trace_may_set(also=ALSO)
def bench(*, firmware: str = "", also: str = "") -> Bench:
    """Return the bench of a boot loader; `also` is one of `ALSO`.

    `firmware` is its program in Intel HEX, by default that of Debian's package.

    >>> bench().name
    'bootloader'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="bootloader",
        known_issues=expected(KNOWN, also),
        spec=Spec(step, Flash(), partial(inputs, also), name="bootloader", guarded=True, malformed=_malformed),
        codec=Stk500Codec(),
        connect=lambda: _connect(firmware or FIRMWARE),
        outputs=("serial",),
        inputs="uioco",
        # the board needs 30 ms of CPU for a command
        quiescence=0.100,
        latency=0.010,
        busy=0.100,
    )


def commanded(firmware: str) -> list[str]:
    """Return the command that starts the board. Raises ContactError if simavr or the program is not there."""
    program("simavr", "simavr")
    if not Path(firmware).is_file():
        message = f"{firmware}: there is no such program for simavr; Debian's package arduino-core-avr has one"
        raise ContactError(message)
    return [sys.executable, "-I", bootloader_board.__file__, firmware]


@asynccontextmanager
async def _connect(firmware: str) -> AsyncGenerator[Mapping[str, Line], None]:
    argv, single = commanded(firmware), measured(lambda _begun: 1)
    async with open_process(argv, ready="R", ready_timeout=READY, grace=GRACE, framing=single) as line:
        yield {"serial": line}
