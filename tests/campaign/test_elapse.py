"""Inputs that only wait: a store whose keys expire, in virtual time; live, in replays and while shrinking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench
from otf.adapters import inprocess
from otf.campaign import Campaign, Settings, Summary
from otf.codec import lines
from otf.core import Pacing, Session
from otf.core.burst import Burst
from otf.core.pacing import Eager, Strict
from otf.runner import drive
from otf.spec import Elapse, Spec, Transition, goto, start, stop
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent
from otf.trace.verdict import Verdict
from tests.campaign.machine import inputs, judged
from tests.runner.playing import virtually

EXPIRY = 0.1
SHORT, MIDDLE, LONG = Elapse(0.01), Elapse(0.13), Elapse(0.5)


@dataclass(frozen=True)
class Keep:
    """Store the key, `briefly` or `forever`."""

    how: str


@dataclass(frozen=True)
class Get:
    """Ask for the key."""


@dataclass(frozen=True)
class Answer:
    """What the store has: ok, yes, no."""

    text: str


BRIEF, EVER = Keep("briefly"), Keep("forever")
CODEC = lines({Keep: "keep {how}", Get: "get", Answer: "{text}"})


def step(held: str, inp: object) -> Iterator[Transition[str]]:
    """The store: a key that expires is gone 0.1 s later."""
    match inp:
        case Keep(how):
            yield goto(
                "held", Answer("ok"), timers=[start("key", EXPIRY, EXPIRY + 0.005) if how == "briefly" else stop("key")]
            )
        case Get():
            yield goto(held, Answer("yes" if held else "no"))
        case _:
            return


def emits(held: str) -> Iterator[Transition[str]]:
    """Yield the silent end of the key."""
    if held:
        yield goto("", after="key")


def waiting(state: str, inp: object) -> Iterator[Transition[str]]:
    """The store without a timer: a key that expires may be gone at any time, and is gone after a long wait."""
    match inp:
        case Keep(how):
            yield goto(how, Answer("ok"))
        case Get():
            if state:
                yield goto(state, Answer("yes"))
            if state != "forever":
                yield goto("", Answer("no"))
        case Elapse(seconds) if state == "briefly" and seconds > EXPIRY:
            yield goto("")
        case _:
            return


class Store:
    """The system: `slow` is how many times too long its keys live."""

    def __init__(self, slow: float) -> None:
        self._until = 0.0
        self._slow = slow

    def answer(self, data: bytes) -> bytes:
        """Answer one line."""
        now = anyio.current_time()
        if data == b"get":
            return b"yes" if now < self._until else b"no"
        self._until = now + EXPIRY * self._slow if data == b"keep briefly" else float("inf")
        return b"ok"


TRIED = [Get(), BRIEF, EVER, SHORT, MIDDLE, LONG]
TIMED, WAITING = Spec(step, initial="", inputs=TRIED, emits=emits), Spec(waiting, "", TRIED)


def bench(slow: float = 1.0, spec: Spec[Any, Any] = TIMED) -> Bench:
    """Return the bench of a store."""
    port = inprocess(lambda: Store(slow).answer)
    return Bench.on_ports(spec, CODEC, {"db": port}, name="store", quiescence=0.004)


PACINGS: dict[str, Callable[[Bench], Pacing]] = {
    "strict": lambda tested: Strict(tested.timing),
    "eager": lambda tested: Eager(tested.timing),
    "burst": lambda tested: Burst(tested.timing, 3),
}


def driven(tested: Bench, pacing: Pacing, *inputs: object) -> tuple[Verdict, list[Event], float]:
    """Send these inputs in virtual time; return the verdict, the events, and how long it took."""
    events: list[Event] = []

    async def run() -> tuple[Verdict, list[Event], float]:
        session = Session(tested.oracle(), Script(inputs), pacing, steps=len(inputs))
        began = anyio.current_time()

        def record(event: Event, _raw: bytes | None = None, /, **_more: object) -> None:
            events.append(event)

        verdict = await drive(tested, session, record)
        return verdict, events, anyio.current_time() - began

    return virtually(run)


@pytest.mark.parametrize("mode", PACINGS)
def test_the_time_passes_and_no_bytes_are_sent(mode: str) -> None:
    """In each mode the next input comes when the time is over, and the key has expired."""
    tested = bench()
    verdict, events, took = driven(tested, PACINGS[mode](tested), BRIEF, MIDDLE, Get(), LONG, Get())
    sent = {type(event.input): event.at for event in events if isinstance(event, Sent)}
    assert verdict.outcome == "pass"
    assert [event.output for event in events if isinstance(event, Seen)] == [Answer("ok"), Answer("no"), Answer("no")]
    assert sent[Get] - sent[Elapse] >= LONG.seconds
    assert 0.63 <= took < 0.8  # in strict mode the key's own timer is waited for once


@pytest.mark.parametrize("mode", PACINGS)
def test_a_key_that_lives_too_long(mode: str) -> None:
    """It is found by a wait: keys that live three times as long look right at once, and wrong after 0.13 s."""
    tested = bench(slow=3)
    verdict, _, _ = driven(tested, PACINGS[mode](tested), BRIEF, Get(), MIDDLE, Get())
    assert verdict.failure is not None
    assert (verdict.failure.kind, verdict.failure.seen) == ("wrong", "Answer(text='yes')")
    assert driven(tested, PACINGS[mode](tested), EVER, Get(), MIDDLE, Get())[0].outcome == "pass"


def campaign(slow: float, out: Path, **more: Any) -> Summary:  # noqa: ANN401 -- the fields of Settings
    """Run a campaign in virtual time."""
    given: dict[str, Any] = {"traces": 10, "steps": 30, "seed": 3, "out": out, **more}
    return virtually(Campaign(bench(slow, WAITING), Settings(**given)).run)


def shrunk(summary: Summary) -> Path:
    """Return the shrunk trace of the only failure."""
    (failure,) = summary.failures.values()
    assert failure.shrunk is not None
    return failure.shrunk.trace


@pytest.mark.parametrize("mode", ["strict", "eager"])
def test_a_campaign_finds_it_and_shortens_the_wait(tmp_path: Path, mode: str) -> None:
    """Shrinking drops the waits that do not matter, and replaces a long one by a shorter one that is enough."""
    assert campaign(1, tmp_path / "right", mode=mode).verdict == "pass"
    summary = campaign(3, tmp_path, mode=mode, stop_first=True)
    assert inputs(shrunk(summary), bench(spec=WAITING)) == [BRIEF, MIDDLE, Get()]


def test_a_trace_with_a_wait_is_judged_again(tmp_path: Path) -> None:
    """The trace has the wait as an input without bytes, and replays to the same verdict."""
    summary = campaign(3, tmp_path, stop_first=True)
    trace = shrunk(summary)
    judgement = judged(trace, bench(spec=WAITING))
    assert (judgement.recorded, judgement.verdict.outcome) == ("fail", "fail")
    line = next(line for line in trace.read_text().splitlines() if "Elapse" in line)
    assert '"value":{"type":"Elapse","seconds":0.13}' in line
    assert '"raw"' not in line


def test_outputs_come_in_the_meantime() -> None:
    """What a timer brings while an input waits is judged as usual; outputs of the wait itself are due by its end."""

    def alarm(state: str, inp: object) -> Iterator[Transition[str]]:
        if isinstance(inp, Get):
            yield goto("set", timers=[start("bell", 0.1, 0.12)])
        elif state == "waits":
            yield goto("off", Answer("bell"))

    def rings(state: str) -> Iterator[Transition[str]]:
        if state == "set":
            yield goto("off", Answer("bell"), after="bell")

    port = inprocess(lambda: lambda _: [(0.11, b"bell")])
    spec = Spec(alarm, "off", [Get(), LONG], rings)
    tested = Bench.on_ports(spec, CODEC, {"db": port}, quiescence=0.004)
    verdict, events, took = driven(tested, Strict(tested.timing), Get(), LONG)
    assert verdict.outcome == "pass"
    assert [type(event) for event in events][:2] == [Sent, Quiet]
    (rung,) = [event for event in events if isinstance(event, Seen)]
    assert (rung.output, round(rung.at, 2)) == (Answer("bell"), 0.11)
    assert 0.5 <= took < 0.7
    dead = Bench.on_ports(spec, CODEC, {"db": inprocess(lambda: lambda _: None)}, quiescence=0.004)
    verdict, *_ = driven(dead, Strict(dead.timing), Get(), LONG)
    assert verdict.failure is not None
    assert verdict.failure.kind == "missing"


def test_a_system_in_this_process_is_given_the_wait() -> None:
    """It has no clock that passes by itself: the wait is an input of its own, and the model may give it outputs."""
    from otf.campaign import run

    def clock(hours: int, inp: object) -> Iterator[Transition[int]]:
        if isinstance(inp, Elapse):
            yield goto(hours + 1, hours + 1)

    def system(wrong: int) -> Callable[[], Callable[[object], list[int]]]:
        def make() -> Callable[[object], list[int]]:
            waited: list[object] = []

            def act(inp: object) -> list[int]:
                waited.append(inp)
                return [len(waited) + (len(waited) == wrong)]

            return act

        return make

    spec = Spec(clock, 0, [Elapse(3600)])
    assert run(Bench.in_process(spec, system(0), types=(int,)), traces=2, steps=5).verdict == "pass"
    with pytest.raises(AssertionError):
        run(Bench.in_process(spec, system(4), types=(int,)), traces=2, steps=5)
