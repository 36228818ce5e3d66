"""Logs that other tools wrote: each right one passes, and each wrong one fails at its place."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Annotated, ClassVar

import pytest

from otf.adapter import Bench
from otf.adapters import tcp
from otf.cli.foreign import How, form_of, opinion
from otf.codec.can import CanCodec, CanFrame, decode_can
from otf.codec.fields import raw, u8
from otf.codec.records import RecordCodec, records
from otf.errors import TraceError, UsageError
from otf.framing import silence
from otf.models import coffee
from otf.offline.canlogs import asc, candump
from otf.offline.entries import UNTIMED
from otf.offline.formats import guessed
from otf.offline.logs import Opinion
from otf.spec import Spec, Transition, goto

LOGS = Path(__file__).parent / "logs"
BENCH = replace(
    coffee.bench(),
    quiescence=0.05,
    latency=0.002,
    busy=0.002,
    ports={"line": tcp("tcp://127.0.0.1:7000")},
)


@dataclass(frozen=True)
class Coin:
    """A coin, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000010001000000")
    cents: Annotated[int, u8]


@dataclass(frozen=True)
class Button:
    """The button, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000010100000000")


@dataclass(frozen=True)
class Coffee:
    """A coffee, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000020001000000")
    cups: Annotated[int, u8]


def machine(paid: int, inp: Coin | Button) -> Iterator[Transition[int]]:
    """Yield what the machine may do."""
    match inp:
        case Coin(cents) if paid + cents <= 10:
            yield goto(paid + cents)
        case Button() if paid >= 10:
            yield goto(paid - 10, Coffee(1))
        case _:
            return


CODEC: RecordCodec = records(Coin, Button, Coffee)
BUS = Bench.on_ports(
    Spec(machine, 0, [Coin(5), Coin(10), Button()]),
    CODEC,
    {"bus": tcp("tcp://127.0.0.1:7000")},
    quiescence=0.05,
    latency=0.002,
)


def judged(file: str, bench: Bench = BENCH, form: str = "", choice: str = "", **how: str) -> tuple[str, Opinion]:
    """Return the format of a log, and the opinion of it."""
    path = LOGS / file
    with path.open("rb") as log:
        own = How(form=form, choice=choice, **how)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- a port
        own = replace(own, form=form_of(str(path), log, own, lambda _: bench))
        return own.form, opinion(str(path), log, bench, own)


@pytest.mark.parametrize(
    ("file", "form", "choice", "place", "strange"),
    [
        ("script-{}.timing", "script", "", 11, 0),
        ("classic-{}.timing", "script", "classic-{}.typescript", 3, 0),
        ("picocom-{}.log", "raw", "", 4, 0),
        ("minicom-{}.log", "raw", "", 4, 0),
        ("ts-{}.log", "text", "", 4, 0),
        ("journal-{}.export", "journal-export", "", 4, 0),
        ("journal-{}.json", "journal-json", "", 4, 0),
        ("journal-{}.short-precise", "text", "", 4, 0),
        ("sigrok-{}.csv", "sigrok", "9600", 1858, 0),
        ("sigrok-{}.txt", "sigrok", "38400", 29, 0),
        ("saleae-{}.csv", "saleae", "", 30, 0),
        ("net-{}.pcapng", "pcapng", "", 8, 0),
        ("can-{}.log", "candump", "", 6, 2),
        ("can-{}.asc", "asc", "", 11, 2),
        ("can-{}.blf", "blf", "", 6, 2),
        ("canutils-{}.log", "candump", "", 6, 2),
    ],
)
def test_a_log_of_each_tool(file: str, form: str, choice: str, place: int, strange: int) -> None:
    """What the tool itself wrote is recognized, and judged as the same conversation live."""
    bench = BUS if file.startswith("can") else BENCH
    explicit = form if form == "raw" else ""
    found, right = judged(file.format("right"), bench, explicit, choice.format("right"))
    assert (right.verdict.outcome, right.strange) == ("pass", strange)
    assert right.steps >= 2
    assert found in {form, "saleae"}
    _, wrong = judged(file.format("wrong"), bench, explicit, choice.format("wrong"))
    assert (wrong.verdict.outcome, wrong.place) == ("fail", place)
    assert wrong.verdict.failure is not None
    assert wrong.verdict.failure.kind in {"wrong", "unasked"}


def told(text: bytes, bench: Bench = BENCH, form: str = "text") -> Opinion:
    """Return the opinion of a log with this text."""
    return opinion("some.log", io.BytesIO(text), bench, How(form=form))


ECHOED = b"10:00:00 coin 10\n10:00:05 button\n10:00:06 coffee\n"


def test_a_pause_between_whole_seconds_is_no_silence() -> None:
    """A coffee at 5.999 and one at 6.001 look a second apart: nothing is missing, but two seconds are a pause."""
    assert told(ECHOED).verdict.outcome == "pass"
    assert told(ECHOED.replace(b"10:00:06", b"10:00:09")).verdict.outcome == "fail"
    assert told(ECHOED.replace(b":00:05", b":00:05.0").replace(b":06", b":06.0")).verdict.outcome == "pass"
    assert told(ECHOED.replace(b"10:00:06", b"10:00:06.500").replace(b"05", b"05.000")).verdict.outcome == "fail"


@pytest.mark.parametrize(
    "stamp",
    [
        b"2026-11-22 10:00:%02d.000 ",
        b"[2026-11-22T10:00:%02d,000Z] ",
        b"2026-11-22T10:00:%02d.000000+02:00 ",
        b"[10:00:%02d.000] ",
        b"Nov 22 10:00:%02d.000 host machine[12]: ",
        b"[%5d.000000] ",
        b"(%d.0) ",
        b"%d.000\t",
    ],
)
def test_times(stamp: bytes) -> None:
    """Of the forms that tools write; the clock of a log without dates goes on after midnight."""
    said = [b"coin 10", b"button", b"coffee"]
    lines = [stamp % at + line + b"\n" for at, line in zip((1, 2, 2), said, strict=True)]
    assert guessed(lines[0]) == "text"
    right = told(b"".join(lines))
    assert (right.verdict.outcome, right.steps) == ("pass", 2)
    late = told(b"".join([*lines[:2], stamp % 9 + b"coffee\n"]))
    assert (late.verdict.outcome, late.place) == ("fail", 2)


def test_midnight() -> None:
    """A day is added, and not a pause of a day taken back."""
    found = told(b"23:59:59.990 coin 10\n23:59:59.999 button\n00:00:00.001 coffee\n00:00:01.000 coin 5\n")
    assert (found.verdict.outcome, found.steps) == ("pass", 3)
    late = told(b"23:59:59.990 coin 10\n23:59:59.999 button\n00:00:01.001 coffee\n")
    assert late.verdict.outcome == "fail"


def test_marks_say_what_was_sent() -> None:
    """With them bytes of an input may be received, and are wrong then."""
    text = b"boot\n1.000 TX: coin 10\n2.000 -> button\n2.001 RX: coffee\n3.000 <- %b\n"
    assert told(text % b"button").verdict.outcome == "fail"
    assert told(text.replace(b"3.000 <- %b\n", b"")).verdict.outcome == "pass"
    with pytest.raises(TraceError, match=r"some.log, number 1: no input of the model has these bytes: b'tea' was sent"):
        told(b"1.000 TX: tea\n")


def test_messages_that_are_neither_are_counted() -> None:
    """A log has lines of others, which are ignored; an input that the model has not is an error."""
    found = told(ECHOED + b"10:00:10 the fridge is open\n   and the door\n")
    assert (found.verdict.outcome, found.strange) == ("pass", 2)
    with pytest.raises(TraceError, match=r"Coin.cents=7. is no input of the model in its initial state"):
        told(ECHOED + b"10:00:10 coin 7\n")


def test_a_log_without_inputs_is_inconclusive() -> None:
    """It says nothing of what was sent, so a coffee may be right."""
    found = told(b"10:00:00 coffee\n")
    assert found.verdict.outcome == "inconclusive"
    assert "the log does not say what was sent" in found.verdict.why


def test_a_log_of_something_else_is_inconclusive() -> None:
    """It does not pass because it has nothing that could fail."""
    found = told(b"10:00:00 the fridge is open\n")
    assert (found.verdict.outcome, found.strange) == ("inconclusive", 1)
    assert "no message in the log is an input or an output" in found.verdict.why


def test_messages_of_one_type_are_told_apart_by_their_bytes() -> None:
    """Frames as they are: those that the model sends are inputs, all others outputs."""
    bench = Bench.on_ports(Spec(answering, 0, [CanFrame(1)]), CanCodec(), BUS.ports, quiescence=0.05)
    found = told(b"(1.0) can0 001#\n(1.001) can0 002#\n", bench, "candump")
    assert (found.verdict.outcome, found.steps, found.strange) == ("pass", 1, 0)
    assert told(b"(1.0) can0 001#\n(1.001) can0 003#\n", bench, "candump").verdict.outcome == "fail"


def answering(state: int, _inp: CanFrame) -> Iterator[Transition[int]]:
    """Yield the answer to a frame."""
    yield goto(state, CanFrame(2))


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (b"(1.5) can0 123#0102", CanFrame(0x123, b"\1\2")),
        (b"(1.5) can0 00000123#0102 R", CanFrame(0x123, b"\1\2", extended=True)),
        (b"(1.5) can0 123#R", CanFrame(0x123, remote=True)),
        (b"(1.5) can0 123#R2", CanFrame(0x123, b"\0\0", remote=True)),
        (b"(1.5) can0 123##30102", CanFrame(0x123, b"\1\2", fd=True, brs=True, esi=True)),
        (b" (1.5)  can0  123   [2]  01 02", CanFrame(0x123, b"\1\2")),
        (b"  vcan0  TX - -  123   [2]  01 02 ", CanFrame(0x123, b"\1\2")),
        (b"  can0  00000123   [02]  01 02", CanFrame(0x123, b"\1\2", extended=True, fd=True)),
        (b"  can0  123   [2]  remote request", CanFrame(0x123, b"\0\0", remote=True)),
    ],
)
def test_lines_of_candump(line: bytes, frame: CanFrame) -> None:
    """Each form has the bytes that the CAN adapter gives the same frame."""
    (entry,) = candump([line + b"\n"], "some.log")
    assert decode_can(entry.data) == frame
    assert entry.way == ("sent" if b"TX" in line else "unknown")
    assert entry.unit == (UNTIMED if b"(" not in line else 0.0)


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (b" 0.5 1  123  Rx  d 2 01 02", CanFrame(0x123, b"\1\2")),
        (b" 0.5 1  123x  Tx  r 2", CanFrame(0x123, b"\0\0", extended=True, remote=True)),
        (
            b" 0.5 CANFD   1 Rx        123                                   1 0 2  2 01 02   0 0 1000 0 0 0 0 0",
            CanFrame(0x123, b"\1\2", fd=True, brs=True),
        ),
    ],
)
def test_lines_of_asc(line: bytes, frame: CanFrame) -> None:
    """The same for ASC files; times may be relative to the frame before."""
    head = b"date Sun Nov 22 19:46:13.545 2026\nbase hex  timestamps relative\n"
    entries = list(asc((head + line + b"\n" + line + b"\n").splitlines(keepends=True), "some.asc"))
    assert [decode_can(each.data) for each in entries] == [frame, frame]
    assert [each.at for each in entries] == [0.5, 1.0]


def test_a_model_with_times_needs_them() -> None:
    """Whole seconds do not show whether an output came within 10 ms, and a capture of a terminal shows nothing."""
    timed = replace(BENCH, spec=Spec(hurried, 0, [coffee.Button()]))
    for text, form in ((b"10:00:00 button\n10:00:00 coffee\n", "text"), (b"button\ncoffee\n", "raw")):
        with pytest.raises(UsageError, match="the model says when outputs come, and this log has"):
            told(text, timed, form)


def hurried(state: int, _inp: coffee.Button) -> Iterator[Transition[int]]:
    """Yield a coffee that comes at once."""
    yield Transition(state, (coffee.Coffee(),), within=(0.0, 0.01))


def test_silence_that_the_times_cannot_show() -> None:
    """A framing that ends frames by silence needs finer times than the silence."""
    bench = replace(BENCH, ports={"line": tcp("tcp://127.0.0.1:7000", framing=silence(0.01))})
    with pytest.raises(UsageError, match="silence ends the frames of this port, and the log does not show it"):
        told(b"button", bench, "raw")
    text = b"1.000 TX coin 10\n2.000 RX tea\n"
    assert told(text, bench).steps == 0


def test_a_bench_in_this_process() -> None:
    """Its messages have no bytes."""
    with pytest.raises(UsageError, match="the bench has no codec"):
        told(ECHOED, Bench.in_process(BENCH.spec, lambda: lambda _inp: ()))


CYCLES = 250_000


@pytest.mark.slow
def test_a_long_log_of_a_bus_in_constant_memory(tmp_path: Path) -> None:
    """A million frames, wrong at the very end."""
    cycle = b"(%d.0) can0 100#0A T\n(%d.5) can0 101# T\n(%d.501) can0 200#01 R\n(%d.6) can0 7FF#6F74686572 R\n"
    with (tmp_path / "can.log").open("wb") as file:
        for at in range(CYCLES):
            file.write(cycle % (at, at, at, at))
        file.write(b"(%d.0) can0 200#01 R\n" % CYCLES)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with (tmp_path / "can.log").open("rb") as file:
        found = opinion("can.log", file, BUS, How(form="candump"))
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB: the log has twice as many
    assert (found.verdict.outcome, found.place) == ("fail", 4 * CYCLES + 1)
    assert (found.steps, found.strange) == (2 * CYCLES, CYCLES)
