"""Logs that other tools wrote: each right one passes, and each wrong one fails at its place."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.adapters import tcp
from otf.cli.replay_logs import How, form_of, opinion
from otf.codec import LineCodec, PortAction
from otf.errors import TraceError, UsageError
from otf.framing import silence
from otf.models import coffee
from otf.offline.captured import Captured
from otf.offline.entries import Entries, LogEntry
from otf.offline.formats import guessed
from otf.offline.logs import Opinion
from otf.spec import Elapse, Spec, Transition
from otf.trace.pcap import Capture
from tests.offline.captures import CaptureWriter
from tests.offline.test_canlogs import BUS

LOGS = Path(__file__).parent / "logs"
BENCH = replace(
    coffee.bench(),
    quiescence=0.05,
    latency=0.002,
    busy=0.002,
    ports={"line": tcp("tcp://127.0.0.1:7000")},
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
        ("canutils-{}.asc", "asc", "", 9, 2),
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


class Raising(LineCodec):
    """A codec that raises what it likes for values that it does not know."""

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of a message."""
        if not isinstance(value, (coffee.Coin, coffee.Button)):
            raise TypeError(type(value).__name__)
        return super().encode(value)


def test_inputs_without_bytes_are_in_no_log() -> None:
    """Time that passes has none, and neither has an input that the codec refuses; the error names that one."""
    spec = BENCH.spec

    def inputs(state: int) -> list[object]:
        return [Elapse(1.0), object(), *spec.inputs(state)]

    patient = replace(spec, inputs=inputs)
    bench = replace(BENCH, spec=patient, codec=Raising(coffee.codec.rows))
    assert told(ECHOED, bench).verdict.outcome == "pass"
    with pytest.raises(TraceError, match=r"these bytes; the codec encodes no <object.*TypeError: object: b'tea'"):
        told(b"1.000 TX: tea\n", bench)


def test_messages_that_are_neither_are_counted() -> None:
    """A log has lines of others, which are ignored; an input that the model has not is an error."""
    found = told(ECHOED + b"10:00:10 the fridge is open\n   and the door\n")
    assert (found.verdict.outcome, found.strange) == ("pass", 2)
    with pytest.raises(TraceError, match=r"Coin.cents=7. is not an input of the model in its initial state"):
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


@pytest.mark.parametrize(
    "log",
    [
        b"> coin 10\n> button\n< coffee\n",
        b"TX: coin 10\ntx button\nreceived: coffee\n",
        b"0.5 --> coin 10\n0.6 -> button\n0.61 <- coffee\n",
        b"[12.000] sent coin 10\n\n[12.001] send: button\n[12.002] <<< coffee\n",
    ],
)
def test_a_log_that_says_who_spoke(log: bytes) -> None:
    """With times and without, it is recognized, and a wrong answer is one."""
    assert guessed(log) == "directed"
    right = told(log, form="directed")
    assert (right.verdict.outcome, right.steps) == ("pass", 2)
    assert told(log.replace(b"coffee", b"coin 10"), form="directed").verdict.outcome == "fail"


@pytest.mark.parametrize("log", [b"", b"\n", b"coin 10\n> button\n", b"10:00:00 > is a prompt\nno mark\n"])
def test_a_log_in_which_not_each_line_says_so_is_another(log: bytes) -> None:
    """Most of the first lines decide, the first among them."""
    assert guessed(log) != "directed"


def test_a_stray_line_among_the_first() -> None:
    """A line without a direction is not a message, and the others are read as ever."""
    assert guessed(b"0.1 > coin 10\n0.2 < ok\nconnection kept\n0.3 > button\n") == "directed"
    assert guessed(b"connection kept\n0.1 > coin 10\n") != "directed"


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
    # each frame has the time of its last byte, and not that of the next entry, which came after an input
    rows = [(1.0, "sent", b"coin 10"), (2.0, "sent", b"but"), (2.001, "sent", b"ton"), (2.002, "seen", b"coffee")]
    rows += [(3.0, "sent", b"coin 10"), (4.0, "seen", b"cof")]
    entries = Entries([LogEntry(at, data, way) for at, way, data in rows], bench, "a.log")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- words
    assert [(type(each.event).__name__, each.event.at) for each in entries] == [
        ("Sent", 1.0),
        ("Sent", 2.001),
        ("Seen", 2.002),
        ("Sent", 3.0),
    ]
    assert entries.cut


def test_silence_in_a_capture() -> None:
    """Frames end where no packet followed for so long, or the connection ends; the last one may be cut."""
    bench = replace(BENCH, ports={"line": tcp("tcp://127.0.0.1:7000", framing=silence(0.01))})
    here, there = ("127.0.0.1", 7000), ("127.0.0.1", 9)

    def events(last: bytes, flags: int) -> tuple[list[tuple[str, float]], bool]:
        file = io.BytesIO()
        writer = CaptureWriter(file)
        writer.tcp(1.0, there, here, 1, b"coin 10")
        writer.tcp(2.0, there, here, 8, b"but")
        writer.tcp(2.001, there, here, 11, b"ton")
        writer.tcp(2.002, here, there, 1, b"cof")
        writer.tcp(2.003, here, there, 4, last, flags)
        captured = Captured(Capture(io.BytesIO(file.getvalue()), "a.pcap"), bench)
        return [(type(each.event).__name__, each.event.at) for each in captured], captured.cut

    before = [("Sent", 1.0), ("Sent", 2.001)]
    assert events(b"fee", 16) == ([*before, ("Seen", 2.003)], False)
    assert events(b"fe", 16) == (before, True)
    assert events(b"fee", 17) == ([*before, ("Seen", 2.003), ("Closed", 2.003)], False)


def test_a_bench_in_this_process() -> None:
    """Its messages have no bytes."""
    with pytest.raises(UsageError, match="the bench has no codec"):
        told(ECHOED, Bench.in_process(BENCH.spec, lambda: lambda _inp: ()))


class Both:
    """A codec whose answers have the bytes of requests."""

    types = (coffee.Coin, coffee.Button, coffee.Coffee)

    def port(self, value: object) -> str:
        """Return the name of the port."""
        del value
        return "line"

    def encode(self, value: object) -> bytes:
        """Return the bytes of an input."""
        return b"coin" if isinstance(value, coffee.Coin) else b"button"

    def decode(self, port: str, data: bytes) -> object:
        """Return an output."""
        del port, data
        return coffee.Coffee()


def test_bytes_of_an_input_and_of_an_output() -> None:
    """If the log does not say which they are, it cannot be judged."""
    with pytest.raises(
        TraceError, match=r"number 1: b'button' is the input Button\(\) as well as the output Coffee\(\)"
    ):
        told(b"1.0 button\n", replace(BENCH, codec=Both()))
    assert told(b"1.0 TX: coin\n2.0 RX: button\n", replace(BENCH, codec=Both())).verdict.outcome == "fail"
