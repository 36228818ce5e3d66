"""An ELM327, the chip between a serial line and the diagnostic socket of a car; after its data sheet, ELM327DSJ.

`otf run elm327` tests the emulator of the package ELM327-emulator, if you have installed it: its licence forbids
commercial use, so it is not in an extra. `--set emulator='COMMAND {port}'` names another program, and `--sut
serial=/dev/ttyUSB0?baudrate=38400` a real chip. The model leaves the vehicle open: an answer has the right form and the
right service, with any values.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from otf.adapter import Bench, Expect, Life, trace_may_set
from otf.adapter.malformed import Disturbed
from otf.adapters.tcp import tcp
from otf.codec.malformed import Malformed
from otf.core import Barrier
from otf.errors import CodecError, ContactError
from otf.framing import prompt
from otf.models.serving import HOST, chosen, expected, free_port, known_issue
from otf.models.texts import text_of
from otf.spec import Spec, Transition, Where, goto
from otf.values import show

PORT: Final = "serial"
FRAMING: Final = prompt(b">", end=b"\r")
READY: Final = 20.0
"""How many seconds the emulator may take to start."""

IDENTITY: Final = r"ELM327 v\d\.\d\w?"
_SETTING: Final = re.compile("AT([EHLS])([01])")
_SEARCH: Final = ("SEARCHING", "BUS INIT")


@dataclass(frozen=True, slots=True)
class ElmCommand:
    """A line to the chip, in any spelling; "" repeats the last command."""

    text: str


@dataclass(frozen=True, slots=True)
class ElmAnswer:
    """Everything up to the prompt: the non-empty lines, and the end of the last one."""

    lines: tuple[str, ...]
    end: str = "\r"


@dataclass(frozen=True, slots=True)
class ElmState:
    """The settings, and the last command, "" if there is none to repeat."""

    echo: bool = True
    headers: bool = False
    linefeeds: bool = False
    spaces: bool = True
    last: str = ""


@dataclass(frozen=True, slots=True)
class ElmCodec:
    """A command is a line; an answer is everything before the prompt."""

    types: tuple[type, ...] = (ElmCommand, ElmAnswer)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes:
        """Return the line of a command. Raises CodecError."""
        if not isinstance(value, ElmCommand):
            message = f"{show(value)} is not a command of an ELM327"
            raise CodecError(message)
        return value.text.encode("ascii")

    def decode(self, port: str, data: bytes) -> ElmAnswer:
        """Return the lines of an answer. Raises CodecError for bytes that are not text."""
        del port
        # the data sheet warns of zeros that the chip may insert
        text = text_of(data.replace(b"\0", b""))
        lines = tuple(line for line in re.split("[\r\n]+", text) if line)
        # a linefeed may or may not follow an echo
        return ElmAnswer(lines, "\r\n" if text.endswith("\r\n") else "\r")

    def decode_input(self, port: str, data: bytes) -> ElmCommand:
        """Return the command in a line: any ASCII text is one. Raises CodecError."""
        del port
        return ElmCommand(text_of(data, "ascii"))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the line. Raises CodecError if a chip or an emulator may take part of it as its end, or edit it."""
        del port
        if any(byte in data for byte in b"\r\n>\x7f"):
            raise CodecError(f"{show(data)} ends or edits a line")
        return [data]


def step(state: ElmState, inp: ElmCommand) -> Iterator[Transition[ElmState]]:
    """Yield what a command causes; spaces, control characters and capitals make no difference."""
    typed = plain(inp.text)
    text = typed or state.last
    if not text:
        return  # there is nothing to repeat
    typist = inp.text if state.echo else ""
    for then, pattern in _served(state, text):
        is_set = then.linefeeds != state.linefeeds or text in {"ATL0", "ATL1", "ATD", "ATZ", "ATWS"}
        end = "" if is_set else "\r\n" if state.linefeeds else "\r"
        example = EXAMPLES.get(pattern) or _answer_of_one(text, headers=state.headers, spaces=state.spaces)
        yield goto(then, answered(pattern, typist, end, example))


def _malformed(state: ElmState, inp: Malformed) -> Iterator[Transition[Any]]:
    """Yield that the settings stay, or that the chip ignores bytes beyond ASCII; repetitions are unspecified."""
    rest = bytes(byte for byte in inp.raw if byte < 0x80).decode()  # noqa: PLR2004 -- ASCII
    if plain(rest):  # or it might be a repetition
        yield goto(Disturbed(replace(state, last=""), inp.port))
        yield from (goto(Disturbed(way.state, inp.port)) for way in step(state, ElmCommand(rest)))


def plain(text: str) -> str:
    """Return a command as the chip reads it."""
    return re.sub(r"[\x00-\x20]", "", text).upper()


def _served(state: ElmState, text: str) -> Iterator[tuple[ElmState, str]]:
    """Yield the next states, each with a pattern of the lines."""
    kept, setting = replace(state, last=text), _SETTING.fullmatch(text)
    match text:
        case _ if setting is not None:
            yield _set(kept, setting[1], is_on=setting[2] == "1"), "OK"
        case "ATSP0":
            yield kept, "OK"
        case "ATI":
            yield kept, IDENTITY
        case "AT@1":
            yield kept, ".+"
        case "ATD" | "ATZ" | "ATWS":
            # a pin of the chip decides whether it sends linefeeds
            for linefeeds in (False, True):
                then = ElmState(linefeeds=linefeeds, last="ATD" if text == "ATD" else "")
                yield then, "OK" if text == "ATD" else IDENTITY
        case _ if text in REQUESTS:
            yield kept, vehicle(text, headers=state.headers, spaces=state.spaces)
        case _:
            # it is unspecified whether it repeats what it did not understand
            yield replace(state, last=""), r"\?"


def _set(state: ElmState, name: str, *, is_on: bool) -> ElmState:
    match name:
        case "E":
            return replace(state, echo=is_on)
        case "H":
            return replace(state, headers=is_on)
        case "L":
            return replace(state, linefeeds=is_on)
        case _:
            return replace(state, spaces=is_on)


def vehicle(request: str, *, headers: bool, spaces: bool) -> str:
    """Return the pattern of the answers of one or several units to a request."""
    gap = " " if spaces else ""
    byte = f"[0-9A-F]{{2}}{gap}?"
    # an identifier of three or eight digits with a length, or three bytes; a checksum may follow
    head = f"(?:[0-9A-F]{{3}}{gap}|(?:{byte}){{2,4}})(?:{byte})?" if headers else ""
    service = f"{int(request[:2], 16) + 0x40:02X}{gap}{request[2:4]}"
    line = f"{head}{service}(?:{gap}[0-9A-F]{{2}})+{gap}?"
    return f"{line}(?:\r{line})*"


def _answer_of_one(request: str, *, headers: bool, spaces: bool) -> str:
    data = ("7E8", "06") * headers + (f"{int(request[:2], 16) + 0x40:02X}", request[2:4], "1A", "F8")
    return (" " if spaces else "").join(data)


def answered(pattern: str, typist: str, end: str, example: str) -> Where:
    """Return the answer with these lines after the echo of the input; `end` "" leaves the ends of lines open."""
    echo = f" after the echo of {typist!r}" if typist else ""
    says = f"{pattern!r}{echo}{f', lines end with {end!r}' if end else ''}"
    lines = (typist, example) if typist.strip() else (example,)
    examples = tuple(ElmAnswer(lines, each) for each in ([end] if end else ["\r", "\r\n"]))
    return Where(partial(_fits, pattern, typist, end), says, examples)


def _fits(pattern: str, typist: str, end: str, seen: object) -> bool:
    if not isinstance(seen, ElmAnswer) or (end and seen.end != end):
        return False
    first, rest = (seen.lines[:1], seen.lines[1:]) if typist.strip() else ((), seen.lines)
    echoed = not typist.strip() or (len(first) == 1 and plain(first[0]) == plain(typist))
    lines = [line for line in rest if not line.startswith(_SEARCH)]
    return echoed and re.fullmatch(pattern, "\r".join(lines)) is not None


EXAMPLES: Final = {"OK": "OK", IDENTITY: "ELM327 v2.3", ".+": "OBDII to RS232 Interpreter", r"\?": "?"}
"""A line for each pattern except the vehicle's."""
REQUESTS: Final = ("0100", "010C", "010D")
ALSO: Final[dict[str, tuple[str, ...]]] = {"warm": ("AT WS",), "again": ()}
"""Descriptions of commands that the emulator handles contrary to the data sheet."""
KNOWN: Final = {
    "warm": known_issue("ELM327-emulator 4.0.0: a warm start (AT WS) leaves the settings", "ElmAnswer("),
    "again": known_issue("ELM327-emulator 4.0.0 repeats no AT D, and gives no prompt", "text=''"),
}
"""The known issues that each of `ALSO` shows."""
NO_PROMPT: Final = known_issue("ELM327-emulator 4.0.0 gives no prompt after some lines", "Malformed(", "silence")
INPUTS: Final = (
    *("ATE0", "AT E1", "ath0", "AT H1", "AtL0", "AT L1", "ATS0", "AT\tS1", "ATSP0"),
    *("ATI", "at @1", "ATD", "ATZ", "ATQQ", "XYZ"),
    *("0100", "01 0c", " 01 0D"),
)


def elm327(also: str = "") -> Spec[ElmState, ElmCommand]:
    """Return the spec; `also` names inputs of `ALSO` that are tried too.

    >>> elm327().name
    'elm327'
    """
    return Spec(step, ElmState(), partial(_inputs, also), name="elm327", malformed=_malformed)


def _inputs(also: str, state: ElmState) -> Iterator[ElmCommand]:
    yield from map(ElmCommand, (*INPUTS, *ALSO.get(also, ())))
    if state.last != "ATD" or also == "again":
        yield ElmCommand("")


@trace_may_set(also=ALSO)
def bench(*, emulator: str = "", also: str = "") -> Bench:
    """Return the bench of an ELM327; `emulator` is a command line with {port}, the TCP port at which it listens.

    `also` is one of `ALSO`: the bench tries such commands too.

    >>> bench().name
    'elm327'
    """
    chosen(also, ALSO)
    port = free_port(socket.SOCK_STREAM)
    return Bench.on_ports(
        name="elm327",
        known_issues=(*expected(KNOWN, also), NO_PROMPT),
        spec=elm327(also),
        codec=ElmCodec(),
        ports={PORT: tcp(f"{HOST}:{port}", framing=FRAMING, within=READY)},
        inputs="uioco",
        life=Life(
            server=lambda: (emulator or _own()).replace("{port}", str(port)),
            keep=True,
            inband=[(PORT, b"ATD"), Expect(PORT, rb"OK", 5.0)],
        ),
        # the chip answers each command, and ends the answer with a prompt
        barrier=Barrier({}, lambda _, output: isinstance(output, ElmAnswer)),
        quiescence=0.15,
        latency=0.05,
        busy=0.1,
    )


def _own() -> str:
    if importlib.util.find_spec("elm") is None:
        message = (
            "the Python package ELM327-emulator is not installed; install it yourself, if its licence (CC BY-NC-SA) "
            "allows your use, or name another program with --set emulator='COMMAND {port}'"
        )
        raise ContactError(message)
    # without its own configuration, which writes logs into this folder, and without a module of this folder
    return f"env ELM_LOG_CFG=none {shlex.quote(sys.executable)} -P -m elm -n {{port}} -s car -b /dev/null"
