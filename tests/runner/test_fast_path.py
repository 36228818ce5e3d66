"""The quick way over a wire: whatever happens on it, the run is the one that goes the long way."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, ClassVar, Final

import anyio
import pytest

from otf.adapter import Arrival, Bench, Frame
from otf.adapters import process, tcp
from otf.codec import PortAction
from otf.core import Barrier, Pacing, Session, Symbol, View
from otf.core.burst import Burst
from otf.core.cached_run import LONG, CachedOutput, CachedRun
from otf.core.pacing import Eager, Strict
from otf.errors import CodecError, ModelError
from otf.framing import lines
from otf.runner import drive
from otf.runner.fast_path import FastPath
from otf.runner.waiting import SpinWait
from otf.spec import Spec, Transition, goto
from otf.strategy import Pool, Script, Uniform
from otf.trace.events import Event, Seen, Sent
from otf.trace.verdict import Verdict
from tests.runner.playing import opened
from tests.runner.quickly import (
    Answer,
    Far,
    Near,
    Plan,
    Right,
    Story,
    connected,
    drove,
    kind,
    pinging,
    steps,
    told,
)
from tests.runner.words import Words

pytestmark = pytest.mark.real
Both = Callable[..., Story]


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    """Return a function that conducts a campaign both ways, compares the results, and returns the fast one's story."""
    monkeypatch.setattr("otf.runner.fast_path.SELDOM", 0)  # an attempt at each input

    def compare(**plan: Any) -> Story:  # noqa: ANN401 -- the fields of a plan
        long, quick = (told(Plan(**plan), tmp_path, monkeypatch, quick=each) for each in (False, True))
        assert quick.lines == long.lines
        assert quick.verdicts == long.verdicts
        assert quick.views == long.views
        assert long.quick == 0
        return quick

    return compare


# What is right


def test_a_run_of_known_steps_is_quick(both: Both) -> None:
    """All steps but the first of each path, which follows silence, and those after which silence was not seen yet."""
    story = both(inputs=["p.ping"] * 50)
    assert story.verdicts == [Verdict("pass")] * 2
    # of 100; now and then the event loop has its turn, and after it a step is taken the long way
    assert 85 < story.quick < 98


def test_answers_of_several_frames_on_several_ports(both: Both) -> None:
    """Frames that come together are taken one by one by the session, and the next step may be quick again."""
    story = both(inputs=["p.ping", "q.ping", "p.ping", "q.ping"] * 10, ports="pq")
    assert kind(story) == "pass"
    assert 55 < story.quick < 76
    assert kind(both(inputs=["p.ping", "p.more"] * 10)) == "pass"
    assert kind(both(inputs=["p.ping", "p.long", "p.hush"] * 4)) == "pass"


class Late(Near):
    """A line whose every fifth answer is there only after the event loop had its turn, twice."""

    async def send(self, data: bytes) -> None:
        """Send a frame, and let the other side think."""
        self.sent += 1
        if self.sent % 5:
            self.far.take(self.port, data)
        else:
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self.far.take, self.port, data)  # a time would race with quiescence


def test_an_answer_that_is_not_there_yet(both: Both) -> None:
    """It is waited for as ever, and nothing is chosen before it came."""
    # a machine that stalls for longer than the quiescence time would make a silence of it
    story = both(inputs=["p.ping", "q.ping", "q.ping"] * 12, ports="pq", line=Late, bench={"quiescence": 0.05})
    assert kind(story) == "pass"
    assert story.quick > 20


def test_a_long_frame_is_looked_at_each_time(both: Both) -> None:
    """A long frame hardly ever repeats, and remembering it would take much memory."""
    story = both(inputs=["p.long"] * 10)
    assert (kind(story), story.heard) == ("pass", 0)
    assert story.quick > 10


class Parts(Near):
    """A line that hands out one frame at a time."""

    def receive(self) -> list[Arrival]:
        """Return the next frame."""
        try:
            return [Frame(self.near.recv(4096))]
        except BlockingIOError:
            return []


def test_an_answer_in_parts(both: Both) -> None:
    """Where each frame is handed out by itself an answer of several is quick too."""
    story = both(inputs=["p.more", "p.ping"] * 10, line=Parts)
    assert kind(story) == "pass"
    assert story.quick > 30


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_part_that_is_wrong(both: Both, at: int) -> None:
    """The first, the second, or one too many."""
    answers: list[Answer] = [("p", b"one"), ("p", b"two")]
    answers[at - 1 : at] = [("p", b"ten")]
    story = both(inputs=["p.more", "p.ping"] * 6, wrong={5: answers}, line=Parts)
    assert kind(story) == "wrong"
    assert story.quick > 10


def test_a_path_has_as_many_steps_as_it_may(both: Both) -> None:
    """The limit is that of the session."""
    story = both(inputs=["p.ping"] * 50, limit=20)
    assert [sum(isinstance(event, Sent) for event in events) for events in story.events] == [20] * 2
    assert story.quick > 30


# What is wrong, in the midst of quick steps


WRONG: Final[list[tuple[list[Answer], str]]] = [
    ([("p", b"pang")], "wrong"),
    ([("p", b"pong"), ("p", b"pong")], "wrong"),
    ([("p", b"pong"), ("p", b"\xff")], "undecodable"),
    ([("p", b"\xff")], "undecodable"),
    ([("p", b"\x05pong")], "undecodable"),
    ([("p", b"x" * 600)], "wrong"),
    ([], "missing"),
    ([("p", None)], "ended"),
    ([("p", b"pong"), ("p", None)], "ended"),
]
ELSEWHERE: Final[list[tuple[list[Answer], str]]] = [
    ([("q", b"pong")], "unasked"),
    ([("q", b"even")], "unasked"),
    ([("p", b"pong"), ("q", b"even")], "unasked"),
]


@pytest.mark.parametrize(
    ("answers", "failure", "ports"),
    [*((*each, "p") for each in WRONG), *((*each, "pq") for each in WRONG[:2] + ELSEWHERE)],
)
def test_what_is_wrong_is_wrong_both_ways(both: Both, answers: list[Answer], failure: str, ports: str) -> None:
    """After seven steps of a path that is known: one more step, and the same failure, event for event."""
    story = both(inputs=["p.ping"] * 12, wrong={8: answers}, ports=ports)
    assert kind(story) == failure
    assert story.quick > 10


def test_a_line_that_is_lost_is_told_by_the_session(both: Both) -> None:
    """Nothing was sent, nothing of it stands in the trace, and the port has ended."""
    story = both(inputs=["p.ping"] * 12, broken=8)
    assert kind(story) == "ended"
    assert sum(isinstance(event, Sent) for event in story.events[-1]) == 7
    assert "the cable was pulled" in str(story.lines[-1])


def test_an_answer_without_end_is_a_flood(both: Both) -> None:
    """What a model allows for ever is known for ever: after so many frames the session counts them."""
    story = both(inputs=["p.ping", "p.ping", "p.go"], flood=100)
    assert kind(story) == "flood"
    assert sum(isinstance(event, Seen) for event in story.events[-1]) == 152


class Endless(Near):
    """A line that has one more frame at each look, once it was started."""

    def receive(self) -> list[Arrival]:
        """Return a frame."""
        try:
            return [Frame(self.near.recv(4096, socket.MSG_PEEK if self.sent > 1 else 0))]
        except BlockingIOError:
            return []


@pytest.mark.parametrize("flood", [20, LONG, 200])
def test_a_system_that_emits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flood: int) -> None:
    """A frame at each look: it ends as a flood and not never, however much of it is known."""
    quick, seen = list[Event](), CachedRun.seen

    def noting(cached_run: CachedRun, then: CachedOutput, event: Seen) -> None:
        quick.append(event)
        seen(cached_run, then, event)

    monkeypatch.setattr(CachedRun, "seen", noting)
    # a turn of the event loop on a slow machine would take all of 20,000 frames at once
    for module in ("waiting", "lookout"):
        monkeypatch.setattr(f"otf.runner.{module}.TURN", 60.0)
    spec = Spec(steps, 0, ["p.ping", "p.go"])
    bench = Bench(spec, codec=Words(), outputs=("p",), quiescence=0.01, latency=0.0, busy=0.0)
    oracle, story = bench.oracle(), Story()
    proven: set[Hashable] = {(oracle.model.initial, oracle.model.symbol(inp)) for inp in ["p.ping", "p.go"]}
    for _ in range(3):
        with connected(Right(), "p") as found:
            near = found["p"]
            near.far.answering = lambda _port, data: [("p", b"x" if data == b"go" else b"pong")]
            line = Endless("p", near.far, near.near)
            session = Session(oracle, Script(["p.ping", "p.go"]), Eager(bench.timing, proven), steps=9, flood=flood)
            drove(replace(bench, connect=opened(p=line)), session, story, tmp_path)
        assert kind(story) == "flood"
        assert story.lines[-1] == story.lines[0]
    # fewer than a trip counts by itself are the session's; of more, it hears when there are so many
    assert len(quick) == (0 if flood < LONG else 2 * (LONG - 1))


# What else may happen


def test_a_write_that_had_to_wait(both: Both) -> None:
    """If the other side did not read, an input counts as sent at the end of its write; the rest is the same."""
    story = both(inputs=["p.ping"] * 12, slow=8)
    sent = [event.at for event in story.events[-1] if isinstance(event, Sent)]
    assert sent[7] - sent[6] >= 0.005
    assert story.quick > 10


@dataclass(frozen=True)
class Closing(Words):
    """A codec with an input that is not bytes, and one that it cannot say."""

    def encode(self, value: object) -> Any:  # noqa: ANN401 -- bytes or a deed
        """Return the bytes, the deed, or raise."""
        if value == "p.hush":
            raise CodecError("there is no such word")
        return PortAction.CLOSE if value == "p.more" else super().encode(value)


class Doing(Near):
    """A line that performs a port action, and sends two words then."""

    async def perform(self, port_action: PortAction) -> None:
        """Do it."""
        assert port_action is PortAction.CLOSE
        self.far.take("p", b"more")


def test_a_deed_is_for_the_session(both: Both) -> None:
    """A port action never takes the fast path, however often it was performed; the inputs after it do."""
    story = both(inputs=["p.ping", "p.more", "p.ping", "p.ping"] * 4, bench={"codec": Closing()}, line=Doing)
    assert kind(story) == "pass"
    assert story.quick > 10


@pytest.mark.parametrize(("inp", "why"), [("p.hush", "the codec has no bytes"), ("p.more", "cannot take the input")])
def test_what_cannot_be_said_is_an_error_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inp: str, why: str
) -> None:
    """An error of the codec ends the run, with all that came before it in the trace."""
    counts = list[int]()
    for quick in (False, True):
        with pytest.raises(ModelError, match=why):
            told(Plan(inputs=["p.ping"] * 9 + [inp], bench={"codec": Closing()}), tmp_path, monkeypatch, quick=quick)
        counts.append((tmp_path / "trace.jsonl").read_bytes().count(b"\n"))
    assert counts[0] == counts[1]


def test_each_event_is_recorded_before_an_error_comes_out() -> None:
    """Also the last output, which waits for the input that is to follow it."""
    recorded, system = list[Event](), Right()

    class Failing(Script):
        def choose(self, view: View) -> Symbol | None:
            if len(recorded) > 20:
                raise OSError("no more")
            return super().choose(view)

    def record(event: Event, _raw: bytes | None = None, /, **_more: object) -> None:
        recorded.append(event)

    with connected(system, "p") as found:
        bench = pinging(found)
        session = Session(bench.oracle(), Failing(["p.ping"] * 99), Eager(bench.timing), steps=99)
        with pytest.raises(OSError, match="no more"):
            anyio.run(lambda: drive(bench, session, record))
    assert sum(isinstance(event, Seen) for event in recorded) == system.number
    assert len(recorded) == session.monitor.events


def test_where_most_steps_are_new_attempts_become_rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt that carries few steps costs more than it saves: twice as many inputs pass until the next one."""
    attempts = list[int]()
    start = CachedRun.start

    def noting(session: Session, codec: object) -> CachedRun | None:
        attempts.append(session.monitor.sent)
        return start(session, codec)

    monkeypatch.setattr(CachedRun, "start", noting)
    told(Plan(inputs=["p.ping", "p.long"] * 40, paths=1), tmp_path, monkeypatch, quick=True)
    assert 1 < len(attempts) < 12
    attempts.clear()
    told(Plan(inputs=["p.ping"] * 80, paths=1), tmp_path, monkeypatch, quick=True)
    assert attempts[-1] > 0


# Where nothing is quick


def strict(bench: Bench) -> Pacing:
    """Wait after each input."""
    return Strict(bench.timing)


def burst(bench: Bench) -> Pacing:
    """Send two at a time."""
    return Burst(bench.timing, 2)


def timed(state: int, _inp: str) -> Iterator[Transition[int]]:
    """Answer within a second."""
    yield goto(state, "p.pong", within=(0, 1))


def no_pong(_port: str, _output: object) -> bool:
    """Know no answer to a ping of the barrier."""
    return False


NOT_QUICK: Final[dict[str, dict[str, Any]]] = {
    "strict": {"pacing": strict},
    "burst": {"pacing": burst},
    "barrier": {"bench": {"barrier": Barrier({"p": "p.hush"}, no_pong)}},
    "timed": {"bench": {"spec": Spec(timed, 0, ["p.ping"])}},
}


@pytest.mark.parametrize("plan", NOT_QUICK.values(), ids=NOT_QUICK)
def test_there_nothing_is_quick(both: Both, plan: dict[str, Any]) -> None:
    """Each step has to be thought about."""
    assert both(inputs=["p.ping"] * 6, **plan).quick == 0


class Faulty(Near):
    """A line on which faults are injected."""

    def noted(self) -> list[str]:
        """Say so."""
        return [f"{self.port} out 1 drop"]


def test_where_faults_are_injected_nothing_is_quick(both: Both) -> None:
    """What the tester did to a line belongs to the event that it was done to."""
    story = both(inputs=["p.ping"] * 6, line=Faulty)
    assert story.quick == 0
    assert all(line["faults"] for line in story.lines[-1])


def test_where_others_need_the_loop_nothing_is_quick(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another run under way the loop is not kept from it."""
    monkeypatch.setattr(SpinWait, "open", 1)
    assert both(inputs=["p.ping"] * 6).quick == 0


# Others have their turn


def test_an_interruption_is_heard() -> None:
    """However long a trip might go on, the event loop gets its turn, and all that happened was recorded."""
    recorded, began = list[Event](), time.process_time()
    system = Right()
    with connected(system, "p") as found:
        bench = pinging(found)
        session = Session(
            bench.oracle(), Uniform(Pool("uioco", Random(1))), Eager(bench.timing), steps=10_000_000, flood=10_000
        )

        def record(event: Event, _raw: bytes | None = None, /, **_more: object) -> None:
            recorded.append(event)

        async def run() -> float:
            with anyio.move_on_after(0.1):
                await drive(bench, session, record)
            return time.process_time() - began

        late = anyio.run(run)
    # the turn comes after 20 ms, and the path would take minutes; CPU time, since a busy machine takes longer
    assert late < 2.0
    assert sum(isinstance(event, Sent) for event in recorded) == system.number > 100
    assert sum(isinstance(event, Seen) for event in recorded) in {system.number, system.number - 1}
    assert session.monitor.events == len(recorded)


# Real systems


ECHO: Final = """
import sys
print("ready", flush=True)
for line in sys.stdin:
    print("pong" if line == "ping\\n" else "what", flush=True)
"""


def test_a_child_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over pipes: the same trace, and where answers come within a fifth of a millisecond much of it is quick."""
    stories = list[Story]()
    port = process([sys.executable, "-c", ECHO], framing=lines())
    bench = Bench(Spec(steps, 0, ["p.ping"]), codec=Words(), ports={"p": port}, quiescence=0.2)
    for quick in (False, True):
        story = Story()
        with monkeypatch.context() as patch:
            if not quick:
                patch.setattr(FastPath, "ready", property(lambda _self: False))
            session = Session(bench.oracle(), Script(["p.ping"] * 100), Eager(bench.timing), steps=100)
            drove(bench, session, story, tmp_path)
        stories.append(story)
    assert stories[0].lines == stories[1].lines
    assert stories[0].verdicts == stories[1].verdicts == [Verdict("pass")]


@contextmanager
def answering(far: socket.socket, pause: Iterable[float]) -> Generator[None, None, None]:
    """Answer at the other end, from a thread, with these pauses."""
    pauses = iter(pause)

    def serve() -> None:
        while far.recv(100):
            time.sleep(next(pauses, 0.0))
            far.send(b"pong")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        far.shutdown(socket.SHUT_RDWR)
        thread.join()


class Passing(Far):
    """Passes on what is sent, for a thread to answer."""

    through: socket.socket

    def take(self, port: str, data: bytes) -> None:
        """Pass it on."""
        del port
        self.through.send(data)


def test_answers_that_take_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, after a moment, after a long moment: an answer that is not there yet is awaited as usual."""
    stories = list[Story]()
    for quick in (False, True):
        story, random = Story(), Random(1)
        with monkeypatch.context() as patch, connected(Right(), "p") as found:
            if not quick:
                patch.setattr(FastPath, "ready", property(lambda _self: False))
            near = found["p"]
            near.far = Passing(Right(), near.far.ends)
            near.far.through = near.near
            bench = pinging({"p": near}, 0.2)
            session = Session(bench.oracle(), Script(["p.ping"] * 30), Eager(bench.timing), steps=30)
            pauses = [random.choice([0.0, 0.0, 0.0003, 0.002, 0.01]) for _ in range(30)]
            with answering(near.far.ends["p"], pauses):
                drove(bench, session, story, tmp_path)
        stories.append(story)
    assert stories[0].lines == stories[1].lines
    assert stories[0].verdicts == stories[1].verdicts == [Verdict("pass")]


def test_answers_within_two_milliseconds_are_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system in another thread or process may think for a moment: the event loop is not needed for that wait."""
    story, heard, seen = Story(), list[Seen](), CachedRun.seen

    def noted(cached_run: CachedRun, then: CachedOutput, event: Seen) -> None:
        heard.append(event)
        seen(cached_run, then, event)

    monkeypatch.setattr(CachedRun, "seen", noted)
    monkeypatch.setattr("otf.runner.fast_path.DOUBT", 1)  # one late answer on a busy machine is not to decide the rest
    with connected(Right(), "p") as found:
        near = found["p"]
        near.far = Passing(Right(), near.far.ends)
        near.far.through = near.near
        bench = pinging({"p": near}, 0.2)
        session = Session(bench.oracle(), Script(["p.ping"] * 1000), Eager(bench.timing), steps=1000)
        with answering(near.far.ends["p"], repeat(0.001)):
            drove(bench, session, story, tmp_path)
    assert story.verdicts == [Verdict("pass")]
    # on a busy machine most answers are late
    assert len(heard) > 50


def test_an_answer_of_two_packets_does_not_wait_for_an_acknowledgement(tmp_path: Path) -> None:
    """A system that leaves Nagle's algorithm on and sends two lines is not slowed down by 40 ms a step."""
    story = Story()

    def serve(listener: socket.socket) -> None:
        far, _ = listener.accept()
        with far:
            while far.recv(100):
                far.send(b"one\n")
                far.send(b"two\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        bench = Bench(
            Spec(steps, 0, ["p.more"]), codec=Words(), ports={"p": tcp(f"127.0.0.1:{listener.getsockname()[1]}")}
        )
        session = Session(bench.oracle(), Script(["p.more"] * 100), Eager(bench.timing), steps=100)
        drove(bench, session, story, tmp_path)
        thread.join()
    assert story.verdicts == [Verdict("pass")]
    seen = [event.at for event in story.events[0] if isinstance(event, Seen)]
    # of most of the pairs, that is: a busy machine delays some of them
    assert median(second - first for first, second in zip(seen[::2], seen[1::2], strict=True)) < 0.01


# Arrivals while an input is being sent


class Halves(Near):
    """A line on which an answer comes in two parts while the input is being sent, each handed out by itself."""

    def receive(self) -> list[Arrival]:
        """Return the next frame."""
        try:
            return [Frame(self.near.recv(100))]
        except BlockingIOError:
            return []


class Slow(Halves):
    """The left part comes first."""

    async def send(self, data: bytes) -> None:
        """Let the answer come."""
        del data
        self.sent += 1
        self.far.ends["p"].send(b"left")
        if self.sent == self.slow:
            await anyio.sleep(0.003)
        self.far.ends["p"].send(b"right")


class Otherwise(Halves):
    """The right part comes first."""

    async def send(self, data: bytes) -> None:
        """Let the answer come."""
        del data
        self.far.ends["p"].send(b"right")
        self.far.ends["p"].send(b"left")


def _order(state: str, _inp: str) -> Iterator[Transition[str]]:
    if state == "left":
        yield goto("left", "p.left", "p.right")
    yield goto("right", "p.right", "p.left")


def test_what_came_while_an_input_was_sent_comes_first(tmp_path: Path) -> None:
    """The loop has taken it already, and later arrivals on the same port come after it."""
    bench = Bench(Spec(_order, "left", ["p.ping"]), codec=Words(), outputs=("p",), quiescence=0.01)
    oracle, proven, story = bench.oracle(), set[Any](), Story()
    # both orders are known
    for kind_of in (Slow, Otherwise, Slow, Slow):
        with connected(Right(), "p", line=kind_of, slow=8 * (len(story.lines) == 3)) as found:
            session = Session(oracle, Script(["p.ping"] * 12), Eager(bench.timing, proven), steps=12)
            drove(replace(bench, connect=opened(**found)), session, story, tmp_path)
        assert kind(story) == "pass"
    assert [event.output for event in story.events[-1] if isinstance(event, Seen)] == ["p.left", "p.right"] * 12


class Calling(Near):
    """One of two lines; the other, q, has no descriptor, and calls when the eighth input is sent on this one."""

    wakes: ClassVar[dict[str, Callable[[], None]]] = {}

    def descriptors(self) -> tuple[int, ...]:
        """Return none for q."""
        return () if self.port == "q" else super().descriptors()

    def arm(self, wake: Callable[[], None]) -> None:
        """Take whom to wake."""
        self.wakes[self.port] = wake

    async def send(self, data: bytes) -> None:
        """Send a frame."""
        await super().send(data)
        if self.sent == self.slow:
            self.wakes["q"]()


@pytest.mark.parametrize("quick", [False, True])
def test_a_line_that_calls_is_heard_before_the_next_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, quick: bool
) -> None:
    """Whatever else arrived: no input is sent before all arrivals are handled. Which port is read first is chance."""
    wrong = {8: [("q", b"even"), ("p", b"pong")]}
    plan = Plan(inputs=["p.ping"] * 12, ports="pq", wrong=wrong, slow=8, line=Calling)
    story = told(plan, tmp_path, monkeypatch, quick=quick)
    assert kind(story) == "unasked"
    assert sum(isinstance(event, Sent) for event in story.events[-1]) == 8
