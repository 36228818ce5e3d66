"""A micro:bit with MicroPython at its prompt: names, whole numbers, errors, blocks, Ctrl-C and the soft reboot.

`otf run microbit` tests the firmware of Debian's firmware-microbit-micropython on QEMU's emulated board. The model
follows the Python language reference (sections 4.2, 6.7, 7.2 and 7.5). It judges only the type of an error: the rest of
the text is up to the implementation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from otf.adapter import Bench, trace_may_set
from otf.adapter.malformed import Disturbed
from otf.codec.malformed import Malformed
from otf.errors import CodecError
from otf.models.microbit_board import MORE, PROMPT, connect
from otf.models.serving import chosen, expected, known_issue
from otf.models.texts import printable, text_of, whole_line
from otf.spec import Spec, Transition, Where, goto
from otf.values import show

FIRMWARE: Final = "/usr/share/firmware-microbit-micropython/firmware.hex"
NAMES: Final = ("a", "b")
NUMBERS: Final = (0, -7, 3, 2**30 - 1)
LARGEST: Final = 2**90
"""The model multiplies numbers up to here: from 2**30 on, the firmware uses another type of number."""
ALSO: Final = ("del",)
"""A group of inputs that shows a departure."""

KNOWN: Final = {"del": known_issue("MicroPython 1.9.2 has a KeyError where a name is not bound", "del ", "KeyError")}
BANNER: Final = 2
"""Lines that the firmware prints at its start."""


@dataclass(frozen=True, slots=True)
class Type:
    """A typed line; empty: only the return key."""

    line: str


@dataclass(frozen=True, slots=True)
class Key:
    """Ctrl-C or Ctrl-D, and then the return key."""

    letter: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The output up to the next prompt: the echo, the lines after it, and whether the prompt asks for more."""

    echo: str
    lines: tuple[str, ...] = ()
    more: bool = False


Input: TypeAlias = Type | Key


@dataclass(frozen=True, slots=True)
class Names:
    """The values of the bound names, and how often the block being typed will print, 0 for none."""

    values: tuple[tuple[str, int], ...] = ()
    block: int = 0

    def bound(self, name: str, value: int) -> Names:
        """Return the names with another value for one of them."""
        return replace(self, values=tuple(sorted({**dict(self.values), name: value}.items())))


def inputs(also: str, state: Names) -> Iterator[Input]:
    """Yield what is worth typing; with `also="del"`, also deletions of unbound names."""
    yield Key("c")
    yield Type("")
    if state.block:
        return
    yield Key("d")
    yield from (Type(f"for i in range({times}): print(i)") for times in (1, 3))
    for name, other in zip(NAMES, reversed(NAMES), strict=True):
        yield from (Type(f"{name} = {number}") for number in NUMBERS)
        yield from (Type(line) for line in (name, f"{name} += 1"))
        if also or name in dict(state.values):
            yield Type(f"del {name}")
        yield from (Type(f"{name} {sign} {other}") for sign in ("//", "%", "-", "<"))
        if abs(dict(state.values).get(name, 0)) < LARGEST:
            yield Type(f"{name} *= {other}")


def step(state: Names, inp: Input) -> Iterator[Transition[Names]]:
    """Yield what an input causes; each gets a prompt as an answer, and Ctrl-C two."""
    again = Answer("")
    match inp:
        case Key("c"):
            yield goto(replace(state, block=0), again, again)
        case Key():
            # input during the start may be lost
            example = Answer("", ("soft reboot", *[""] * BANNER))
            started = Where(_is_start, says="the lines of a start", examples=(example,))
            yield goto(Names(), started)
            yield goto(Names(), started, again)
        case Type("") if state.block:
            yield goto(replace(state, block=0), Answer("", tuple(map(str, range(state.block)))))
        case Type(line) if line.startswith("for "):
            times = int(line.partition("(")[2].partition(")")[0])
            yield goto(replace(state, block=times), Answer(line, more=True))
        case Type(line):
            yield _evaluated(state, line)


def _malformed(state: Names, inp: Malformed) -> Iterator[Transition[Any]]:
    """Yield that a line with bytes beyond ASCII is wrong, or that the board drops them; sends no other line."""
    line = bytes(byte for byte in inp.raw if byte < 0x80)  # noqa: PLR2004 -- ASCII
    if state.block or line != inp.of or line.startswith(b"for ") or inp.of in {b"\3", b"\4"}:
        return
    yield goto(Disturbed(state, inp.port))
    yield from (goto(Disturbed(way.state, inp.port)) for way in step(state, Type(line.decode())))


def _is_start(answer: object) -> bool:
    return isinstance(answer, Answer) and len(answer.lines) == BANNER + 1 and answer.lines[0] == "soft reboot"


def _evaluated(state: Names, line: str) -> Transition[Names]:
    try:
        then, shown = _effect(state, line.split())
    except (KeyError, ZeroDivisionError) as error:
        return goto(state, _failed(line, "NameError" if isinstance(error, KeyError) else "ZeroDivisionError"))
    return goto(then, Answer(line, shown))


def _effect(state: Names, words: list[str]) -> tuple[Names, tuple[str, ...]]:  # noqa: PLR0911 -- one for each form of a line
    values = dict(state.values)
    match words:
        case [name, "=", number]:
            return state.bound(name, int(number)), ()
        case [name, "+=", _]:
            return state.bound(name, values[name] + 1), ()
        case [name, "*=", other]:
            return state.bound(name, values[name] * values[other]), ()
        case ["del", name]:
            del values[name]
            return replace(state, values=tuple(sorted(values.items()))), ()
        case [name]:
            return state, (str(values[name]),)
        case [name, sign, other]:
            return state, (str(_result(values[name], sign, values[other])),)
        case _:
            return state, ()


def _result(one: int, sign: str, other: int) -> int:
    match sign:
        case "//":
            return one // other
        case "%":
            return one % other
        case "<":
            return one < other
        case _:
            return one - other


def _failed(line: str, error: str) -> Where:
    def fits(answer: object) -> bool:
        if not isinstance(answer, Answer) or (answer.echo, answer.more) != (line, False) or not answer.lines:
            return False
        return answer.lines[0].startswith("Traceback") and answer.lines[-1].partition(":")[0] == error

    example = Answer(line, ("Traceback (most recent call last):", f"{error}: "))
    return Where(fits, f"the echo of {line!r}, and a traceback that ends with {error}", (example,))


@dataclass(frozen=True, slots=True)
class MicrobitCodec:
    """The codec; a frame is the output up to a prompt."""

    types: tuple[type, ...] = (Type, Key, Answer)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "serial"

    def encode(self, value: object) -> bytes:
        """Return the typed bytes. Raises CodecError."""
        match value:
            case Type(line):
                return line.encode()
            case Key(letter):
                return bytes([ord(letter) & 31])
            case _:
                message = f"{show(value)} cannot be typed"
                raise CodecError(message)

    def decode(self, port: str, data: bytes) -> Answer:
        """Return the answer in the bytes up to a prompt. Raises CodecError."""
        del port
        text = text_of(data[: -len(PROMPT)], "ascii")
        echo, *lines = text.removesuffix("\r\n").split("\r\n")
        return Answer(echo, tuple(lines), data.endswith(MORE))

    def decode_input(self, port: str, data: bytes) -> Input:
        """Return the typed input: any printable line, or a key. Raises CodecError."""
        del port
        if data in {b"\3", b"\4"}:
            return Key(chr(data[0] | 0x60))
        return Type(printable(data))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the line. Raises CodecError if it contains editing keys."""
        del port
        return whole_line(data)


@trace_may_set(also=ALSO)
def bench(*, firmware: str = FIRMWARE, also: str = "") -> Bench:
    """Return the bench of a micro:bit; `firmware` is the image that QEMU's board `microbit` starts.

    `also` is one of `ALSO`: the bench tries such inputs too.

    >>> bench().name
    'microbit'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="microbit",
        known_issues=expected(KNOWN, also),
        spec=Spec(step, Names(), partial(inputs, also), name="microbit", guarded=True, malformed=_malformed),
        codec=MicrobitCodec(),
        connect=lambda: connect(firmware),
        outputs=("serial",),
        inputs="uioco",
        # each line gets an answer that a prompt ends: any later output would be wrong anyway
        quiescence=0.030,
        latency=0.010,
        busy=0.010,
    )
