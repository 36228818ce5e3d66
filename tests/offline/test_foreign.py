"""Logs that otf did not write: captures and JSON Lines, judged as otf's own traces are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from typing import Any

import pytest

from otf.adapter import Bench
from otf.adapters import tcp, udp
from otf.campaign import Settings
from otf.campaign.settings import header
from otf.core import Session
from otf.core.pacing import Strict
from otf.errors import TraceError, UsageError
from otf.framing import Framing, prompt
from otf.framing import lines as by_line
from otf.models import coffee
from otf.models.coffee import Button, Coin
from otf.models.conference import bench as conference
from otf.models.conference.codec import ConferenceCodec
from otf.offline import judge
from otf.offline.captured import Captured, listed
from otf.offline.logs import Noted, Opinion, judge_foreign, timed
from otf.runner import TraceWriter
from otf.spec import Spec, Transition, goto, on
from otf.strategy import Strategy
from otf.trace.events import Event, Quiet, Seen, Sent, Stalled
from otf.trace.pcap import Capture
from otf.trace.reading import TraceReader
from tests.models.conversation import Conversation, entity, takes
from tests.offline.captures import CaptureWriter

SYSTEM = ("127.0.0.1", 7000)
OURS = {"user": ("127.0.0.1", 7001), "cpe2": ("127.0.0.1", 7002), "cpe3": ("127.0.0.1", 7003)}
UDP = {name: udp(f"udp://127.0.0.1:7000?bind=127.0.0.1:{port}") for name, (_, port) in OURS.items()}
BENCH = replace(conference(), ports=UDP)
CODEC = ConferenceCodec(1, 3)


def conversation(fault: str, seed: int, steps: int) -> list[Event]:
    """Return the events of a run of the reference entity with a fault, as otf would record them."""
    chance, strategy = Random(seed), Strategy("alternating", "mixed", seed)
    session = Session(BENCH.oracle(), strategy.path(1), Strict(BENCH.timing), steps=steps)
    talk = Conversation(session, entity(fault), chance)
    talk.run()
    return talk.events


def captured(events: list[Event], cpe_fault: str) -> bytes:
    """Return the capture of a run: its packets on the network, without quiescence."""
    file, cpe, frames = io.BytesIO(), entity(cpe_fault), list[tuple[str, bytes]]()
    writer = CaptureWriter(file)
    for event in events:
        if isinstance(event, Sent):
            writer.udp(event.at, OURS[event.port], SYSTEM, CODEC.encode(event.input))
            frames = takes(cpe, event.input)
        elif isinstance(event, Seen):
            frame = next(each for each in frames if each[0] == event.port)
            frames.remove(frame)
            writer.udp(event.at, SYSTEM, OURS[event.port], frame[1])
    return file.getvalue()


def recorded(events: list[Event], folder: Path) -> tuple[str, int, Any]:
    """Return otf's judgement of its own trace of these events."""
    head = header(BENCH, Settings(out=folder), 1)
    writer = TraceWriter(folder / "trace.jsonl", head, datetime.now(UTC))
    for event in events:
        writer.event(event)
    writer.close()
    with (folder / "trace.jsonl").open("rb") as file:
        judged = judge(TraceReader(file, "trace"), BENCH)
    return judged.verdict.outcome, judged.steps, judged.verdict.failure and judged.verdict.failure.signature


def opinion(data: bytes, bench: Bench = BENCH, **how: bool) -> Opinion:
    """Judge a capture."""
    return judge_foreign(timed(Captured(Capture(io.BytesIO(data), "a.pcap"), bench)), bench, **how)


@pytest.mark.parametrize("fault", ["", "O1", "O7", "S2", "C1"])
@pytest.mark.parametrize("seed", range(4))
def test_a_capture_is_judged_as_the_trace_of_the_same_run(fault: str, seed: int, tmp_path: Path) -> None:
    """The same verdict after the same number of inputs, with the same signature."""
    events = conversation(fault, seed, 60)
    found = opinion(captured(events, fault), ended=True)
    signature = found.verdict.failure and found.verdict.failure.signature
    assert (found.verdict.outcome, found.steps, signature) == recorded(events, tmp_path)


def test_the_place_of_a_failure_is_its_packet() -> None:
    """Of a run that fails by an output, the packet that brought it."""
    events = conversation("S2", 3, 60)
    data = [event for event in events if isinstance(event, (Sent, Seen))]
    found = opinion(captured([*events[:-1], Seen(data[-1], "user", 1e6)][:-1], "S2"), ended=True)
    assert found.place == len(data)


def coffee_log(*events: Event) -> Iterator[Noted]:
    """Return a log of the coffee machine."""
    yield from (Noted(event, number) for number, event in enumerate(events, 1))


COIN, BUTTON, COFFEE = coffee.Coin(10), coffee.Button(), coffee.Coffee()
MACHINE = replace(coffee.bench(), quiescence=0.02, latency=0.002, busy=0.002)


def test_silence_follows_from_the_times() -> None:
    """After a long pause a missing output is missing; after a short one it may still come."""
    missing = coffee_log(Sent(COIN, "line", 0.0), Sent(BUTTON, "line", 1.0), Sent(COIN, "line", 9.0))
    late = coffee_log(Sent(COIN, "line", 0.0), Sent(BUTTON, "line", 1.0), Seen(COFFEE, "line", 1.1))
    assert judge_foreign(missing, MACHINE).verdict.outcome == "fail"
    assert judge_foreign(late, MACHINE).verdict.outcome == "pass"


def test_an_end_proves_no_silence() -> None:
    """What is owed when a log ends may have come after it, unless one knows better."""
    events = Sent(COIN, "line", 0.0), Sent(BUTTON, "line", 1.0)
    assert judge_foreign(coffee_log(*events), MACHINE).verdict.outcome == "inconclusive"
    assert judge_foreign(coffee_log(*events), MACHINE, ended=True).verdict.outcome == "fail"


def test_a_log_without_its_start() -> None:
    """After the first silence the machine may be in any state; a coffee without any coin is wrong in all of them."""
    begun = Seen(COFFEE, "line", 0.0), Sent(BUTTON, "line", 1.0), Seen(COFFEE, "line", 1.001)
    found = judge_foreign(coffee_log(*begun, Sent(COIN, "line", 2.0)), MACHINE, lost=True)
    assert (found.verdict.outcome, found.skipped) == ("pass", 1)
    wrong = judge_foreign(coffee_log(*begun, Seen(COFFEE, "line", 2.0)), MACHINE, lost=True)
    assert wrong.verdict.outcome == "fail"
    assert judge_foreign(coffee_log(begun[0]), MACHINE, lost=True).verdict.outcome == "inconclusive"


def test_a_spec_without_end_cannot_be_entered_anywhere() -> None:
    """There are too many states to begin in."""
    spec = replace(MACHINE, spec=Spec(_count, initial=0, inputs=["x"]))
    with pytest.raises(UsageError, match="a log without its start cannot be judged"):
        judge_foreign(coffee_log(), spec, lost=True)


def _count(number: int, _inp: str) -> list[Transition[int]]:
    return [goto(number + 1)]


def _mapped(line: dict[str, Any]) -> Event | None:
    match line["what"]:
        case "in":
            return Sent(coffee.Coin(line["cents"]) if "cents" in line else BUTTON, "line", line["t"])
        case "out":
            return Seen(COFFEE, "line", line["t"])
        case _:
            return None


MAPPED = replace(MACHINE, foreign=_mapped)


def test_lines_of_another_program() -> None:
    """The bench maps each to an event, or to none; the place is the number of the line."""
    lines = [b'{"what":"hi"}\n', b"\n", b'{"what":"in","cents":10,"t":5}\n', b'{"what":"out","t":5.001}\n']
    found = judge_foreign(timed(listed(lines, "some.log", MAPPED)), MAPPED)
    assert (found.verdict.outcome, found.place, found.steps) == ("fail", 4, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"hello\n", "some.log, line 1: this is not JSON"),
        (b'{"what":"\xff"}\n', "some.log, line 1: this is not JSON"),
        (b"[" * 100_000, "some.log, line 1: this is not JSON"),
        (b'{"what":"in","cents":10}\n', "some.log, line 1: the bench's foreign raised KeyError: 't'"),
        (b"[" * 2_000_000, "some.log, line 1: it is longer than"),
    ],
)
def test_lines_that_mean_nothing(line: bytes, message: str) -> None:
    """An error names the line."""
    with pytest.raises(TraceError, match=message):
        list(listed([line], "some.log", MAPPED))


def test_a_bench_without_a_mapping() -> None:
    """The bench has to map the lines of other logs."""
    with pytest.raises(UsageError, match="the bench coffee does not map the lines of other logs"):
        list(listed([b"{}\n"], "some.log", MACHINE))


TCP = replace(MACHINE, ports={"line": tcp("tcp://127.0.0.1:7000")})


def stream(*parts: tuple[float, bool, int, bytes, int]) -> bytes:
    """Return the capture of a connection: times, directions, numbers, bytes and flags of its segments."""
    file, client = io.BytesIO(), ("127.0.0.1", 5555)
    writer = CaptureWriter(file)
    for at, sent, seq, data, flags in parts:
        ends = (client, SYSTEM) if sent else (SYSTEM, client)
        writer.tcp(at, *ends, seq, data, flags)
    return file.getvalue()


def test_a_connection_in_a_capture() -> None:
    """Lines are cut from streams, whose segments come in any order and more than once."""
    data = stream(
        (1.0, True, 9, b"", 2),
        (1.0, False, 99, b"", 18),
        (2.0, True, 10, b"coin", 24),
        (2.1, True, 17, b"\n", 24),
        (2.1, True, 14, b" 10", 24),
        (2.2, True, 10, b"coin 10\n", 24),
        (3.0, True, 18, b"button\n", 24),
        (3.001, False, 100, b"coffee\n", 24),
        (4.0, True, 25, b"button\n", 24),
        (5.0, False, 107, b"coffee\n", 24),
    )
    found = opinion(data, TCP)
    assert (found.verdict.outcome, found.steps, found.place) == ("fail", 3, 10)


def test_the_end_of_a_connection_is_an_event() -> None:
    """A machine that hangs up has failed."""
    found = opinion(stream((1.0, True, 9, b"", 2), (2.0, True, 10, b"coin 5\n", 24), (3.0, False, 100, b"", 17)), TCP)
    assert found.verdict.failure is not None
    assert found.verdict.failure.kind == "ended"


def test_a_last_line_without_its_end_counts() -> None:
    """The end of a connection ends its last line, as in a run: the coffee came."""
    begun = ((1.0, True, 9, b"", 2), (2.0, True, 10, b"coin 10\nbutton\n", 24))
    log = Captured(Capture(io.BytesIO(stream(*begun, (3.0, False, 100, b"coffee", 17))), "a.pcap"), TCP)
    assert [str(noted.event)[:5] for noted in log] == ["Sent(", "Sent(", "Seen(", "Close"]


def test_a_frame_that_is_too_long_is_undecodable() -> None:
    """Its beginning alone would look like a right answer."""
    bench = replace(TCP, ports={"line": tcp("tcp://127.0.0.1:7000", framing=by_line(largest=6))})
    begun = ((1.0, True, 9, b"", 2), (2.0, True, 10, b"coin 10\nbutton\n", 24))
    found = opinion(stream(*begun, (2.001, False, 100, b"coffee or tea\n", 24)), bench)
    assert found.verdict.failure is not None
    assert found.verdict.failure.kind == "undecodable"


@pytest.mark.parametrize("framing", [by_line(b"\r\n", sent=b"\r"), prompt(b"> ", end=b"\r")])
def test_the_sent_lines_of_a_stream_have_an_end_of_their_own(framing: Framing) -> None:
    """A console takes lines that end with a carriage return, and answers with other ends."""
    bench = replace(TCP, ports={"line": tcp("tcp://127.0.0.1:7000", framing=framing)})
    data = stream((1.0, True, 9, b"", 2), (2.0, True, 10, b"coin 10\rbutton\r", 24))
    events = [noted.event for noted in Captured(Capture(io.BytesIO(data), "a.pcap"), bench)]
    assert [event.input for event in events if isinstance(event, Sent)] == [Coin(10), Button()]


def test_an_unknown_input() -> None:
    """An error names the packet, says what is wrong with it, and what to do."""
    file = io.BytesIO()
    CaptureWriter(file).udp(0.0, OURS["user"], SYSTEM, b"shout hello")
    with pytest.raises(
        TraceError, match=r"packet 1: b'shout hello' is not a command .* add it to the model, or to the codec"
    ):
        opinion(file.getvalue())


def test_strangers_are_counted() -> None:
    """Packets of other addresses are not the system's."""
    file = io.BytesIO()
    CaptureWriter(file).udp(0.0, ("10.0.0.1", 53), ("10.0.0.2", 99), b"?")
    log = Captured(Capture(io.BytesIO(file.getvalue()), "a.pcap"), BENCH)
    assert (list(log), log.strange) == ([], 1)


def test_a_bench_without_addresses() -> None:
    """The addresses of its ports have to be given."""
    with pytest.raises(
        UsageError, match="the bench conference does not state the addresses of its ports; say where it was"
    ):
        list(Captured(Capture(io.BytesIO(captured(conversation("", 0, 5), "")), "a.pcap"), conference()))


DATAGRAMS = 200_000


@pytest.mark.slow
def test_a_long_capture_in_constant_memory(tmp_path: Path) -> None:
    """A long run of the entity, wrong at its very end: capture and trace are judged alike, and neither is kept."""
    events, packets = tmp_path / "trace.jsonl", tmp_path / "a.pcap"
    written, steps = long_run(events, packets, DATAGRAMS)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with packets.open("rb") as file:
        found = judge_foreign(timed(Captured(Capture(file, "a.pcap"), BENCH)), BENCH)
    with events.open("rb") as file:
        own = judge(TraceReader(file, "trace"), BENCH).verdict
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB: capture and trace have more than that
    assert own.failure is not None
    assert found.verdict.failure is not None
    assert (found.place, found.steps) == (written, steps)
    assert (found.verdict.failure.signature, found.verdict.failure.step) == (own.failure.signature, own.failure.step)


def long_run(events: Path, packets: Path, datagrams: int) -> tuple[int, int]:
    """Write the trace and the capture of the same run; return how many datagrams and inputs it has."""
    chance, cpe, at, written, steps = Random(1), entity(), 0.0, 0, 0
    inputs = list(BENCH.spec.inputs(BENCH.spec.initial))
    trace = TraceWriter(events, header(BENCH, Settings(out=events.parent), 1), datetime.now(UTC))
    with packets.open("wb") as file:
        capture = CaptureWriter(file)
        while written < datagrams:
            inp = chance.choice(inputs)
            port, steps = CODEC.port(inp), steps + 1
            trace.event(Sent(inp, port, at))
            capture.udp(at, OURS[port], SYSTEM, CODEC.encode(inp))
            frames = takes(cpe, inp)
            for where, data in frames:
                at += 0.0001
                trace.event(Seen(CODEC.decode(where, data), where, at))
                capture.udp(at, SYSTEM, OURS[where], data)
            written += 1 + len(frames)
            at += 0.03
            trace.event(Quiet(at - 0.001))
        capture.udp(at, SYSTEM, OURS["user"], b"data nobody nothing")
        trace.event(Seen(CODEC.decode("user", b"data nobody nothing"), "user", at))
    trace.close()
    return written + 1, steps


def test_a_log_that_tests_nothing() -> None:
    """Stalls, silences, or one input that the model does not specify: the log is inconclusive, and says why."""
    spec = Spec[int, str](lambda _state, _inp: [], 0, ["a"], lambda state: [goto(state, on("p", "tick"))])
    beats = Bench(spec, ports={}, codec=CODEC, types=(), foreign=lambda _line: None)
    for events, why in (
        ([Stalled(0.1, 1.0)], "no output was seen"),
        ([Quiet(1.0)], "no output was seen"),
        ([Sent("a", "p", 1.0), Seen("b", "p", 1.1)], "one that the model does not specify"),
        ([Sent("a", "p", 1.0), Seen("b", "p", 1.1), Sent("a", "p", 2.0)], "one that the model does not specify"),
    ):
        found = judge_foreign(coffee_log(*events), beats)
        assert (found.verdict.outcome, why in found.verdict.why) == ("inconclusive", True), events
    heard = judge_foreign(coffee_log(Seen("tick", "p", 1.0), Sent("a", "p", 2.0)), beats)
    assert heard.verdict.outcome == "pass"
