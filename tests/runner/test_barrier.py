"""Barriers on the wire: quiescence that is asked for instead of waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import pytest

from otf.adapter import Bench, Ending, LineLost
from otf.core import Barrier, Session
from otf.core.pacing import Eager, Strict
from otf.errors import CodecError, ModelError
from otf.runner.driving import opened as opened_lines
from otf.runner.lookout import Lookout
from otf.runner.observing import Observer
from otf.runner.path import Conduct
from otf.runner.wire import Wire
from otf.spec import Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Seen
from tests.runner.playing import Answer, Still, hub, on_still, opened, play, spec, virtually
from tests.runner.words import Words

BARRIER = Barrier({"a": "a.are you there", "b": "b.are you there"}, lambda port, output: output == f"{port}.here")
"""Each port answers a question of which the model knows nothing."""


def _chat(state: int, inp: str) -> Iterator[Transition[int]]:
    # what is said on a is heard on b; who whispers is not heard
    yield goto(state, "b.said") if inp == "a.say" else goto(state)


def _bench(answers: Callable[[bytes], Iterable[Answer]], **more: Any) -> Bench:  # noqa: ANN401 -- fields of a bench
    """Return a bench of two ports; the system answers pings after a tenth of a second, and inputs with `answers`."""

    def answering(port: str, frame: bytes) -> Iterable[Answer]:
        return [(0.1, port, b"here")] if frame == b"are you there" else answers(frame)

    given: dict[str, Any] = {"quiescence": 60.0, "barrier": BARRIER, **more}
    return Bench(spec(_chat), codec=Words(), connect=hub(answering, "a", "b"), outputs=("a", "b"), **given)


def test_answers_to_pings_are_quiescence() -> None:
    """No minute is waited for: when both ports have answered, nothing more can come; pings are not in the trace."""
    played = play(_bench(lambda frame: [(0.05, "b", b"said")] if frame == b"say" else []), "a.say", "a.whisper")
    assert played.script == ["0 > a.say", "0.05 < b.said", "0.2 quiet", "0.2 > a.whisper", "0.4 quiet"]
    assert played.verdict.outcome == "pass"


def test_an_output_that_ends_an_answer_is_quiescence() -> None:
    """A prompt, say: nothing is pinged, and only an input without an answer takes the minute."""
    prompting = Barrier({}, lambda _, output: output == "b.said")
    tested = replace(_bench(lambda frame: [(0.05, "b", b"said")] if frame == b"say" else []), barrier=prompting)
    played = play(tested, "a.say", "a.say", "a.whisper")
    says = ["0 > a.say", "0.05 < b.said", "0.05 quiet", "0.05 > a.say", "0.1 < b.said", "0.1 quiet"]
    assert played.script == [*says, "0.1 > a.whisper", "60.1 quiet"]
    assert played.verdict.outcome == "pass"


HUNDRED: Final = 100


@dataclass
class _Looks:
    """An observer that never sees a rest, and counts its looks."""

    why: str = ""
    pause: float = 0.001
    number: int = 0

    def heard(self, _since: float, *, answer: bool) -> None:
        """Blame no thread."""

    def slept(self) -> float:
        """Return that a thread always runs."""
        return 0.0

    def asleep(self) -> bool:
        """Return that the system has taken its connections."""
        return True

    def wait(self, until: float, wanted: float, **more: object) -> None:
        """Begin to wait."""

    def look(self) -> bool:
        """Count a look; give up after a hundred."""
        self.number += 1
        self.why = "it never rests" if self.number > HUNDRED else ""
        return False


@dataclass
class _Rests(_Looks):
    """An observer that always sees a rest, and notes how long each was to last."""

    rests: list[float] = field(default_factory=list[float])

    def wait(self, until: float, wanted: float, **more: object) -> None:
        """Note how long a rest has to last."""
        del until, wanted
        self.rests.append(cast("float", more["rest"]))

    def look(self) -> bool:
        """Return that the system rests."""
        return True


@pytest.mark.parametrize(("after", "looked"), [(0.001, False), (0.01, True)])
def test_prompt_answers_to_pings_save_the_looks_for_a_rest(after: float, *, looked: bool) -> None:
    """The system is looked at only where the answer to a ping does not come within two milliseconds."""
    observer = _Looks()

    def record(event: Event, raw: bytes | None = None, /, **more: object) -> None:
        del event, raw, more

    async def run() -> str:
        def answers(port: str, frame: bytes) -> list[Answer]:
            return [(after, port, b"here")] if frame == b"are you there" else []

        bench = replace(_bench(lambda _frame: []), connect=hub(answers, "a", "b"))
        session = Session(bench.oracle(), Script(["a.whisper"]), Strict(bench.timing), steps=1, barrier=BARRIER)
        async with opened_lines(bench) as lines, Wire(lines) as wire:
            conduct = Conduct(session, wire, Words(), record, cast("Observer", observer))
            return (await conduct.run()).outcome

    assert virtually(run) == "pass"
    assert (observer.number > 0) is looked


@pytest.mark.parametrize(("after", "looked"), [(0.0001, False), (0.01, True)])
def test_a_prompt_answer_saves_the_looks_for_a_rest(after: float, *, looked: bool) -> None:
    """While an answer may come, the ports are waited for first, and the system is looked at later."""
    observer, looks = _Looks(), list[int]()

    def record(event: Event, raw: bytes | None = None, /, **more: object) -> None:
        del raw, more
        if isinstance(event, Seen):
            looks.append(observer.number)

    def answer(_port: str, _data: bytes) -> list[tuple[float, str, bytes]]:
        return [(after, "b", b"said")]

    async def run() -> None:
        bench = replace(
            _bench(lambda _frame: [], quiescence=0.05, barrier=None),
            connect=hub(answer, "a", "b"),
        )
        session = Session(bench.oracle(), Script(["a.say"]), Strict(bench.timing), steps=1)
        async with opened_lines(bench) as lines, Wire(lines) as wire:
            await Conduct(session, wire, Words(), record, cast("Observer", observer)).run()

    virtually(run)
    assert [number > 0 for number in looks] == [looked]


def test_slow_answers_prolong_no_rest() -> None:
    """Where replies took long it lasts 2L + R all the same, ten times that at the end: one input may be unproven."""
    observer = _Rests()

    def record(event: Event, raw: bytes | None = None, /, **more: object) -> None:
        del event, raw, more

    async def run() -> str:
        bench = replace(_bench(lambda _frame: [(0.0, "b", b"said")], quiescence=None, barrier=None), busy=1.0)
        bench.timing.quiescence = 60.0
        session = Session(bench.oracle(), Script(["a.say"] * 20), Eager(bench.timing), steps=20)
        async with opened_lines(bench) as lines, Wire(lines) as wire:
            return (await Conduct(session, wire, Words(), record, cast("Observer", observer)).run()).outcome

    assert virtually(run) == "pass"
    assert {*observer.rests} == {1.004, 10.04}


def test_answers_to_pings_are_no_reason_to_look_at_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with windows does not allow them, and only for outputs of the system it matters what the machine did."""

    def timed(state: int, inp: str) -> Iterator[Transition[int]]:
        yield goto(state, "b.said", within=(0.0, 0.1)) if inp == "a.say" else goto(state)

    looks = list[float]()

    def sample(lookout: Lookout) -> None:
        looks.append(lookout.looked)

    def wrong(_port: str, _data: bytes) -> list[Answer]:
        return [(0.01, "b", b"no")]

    monkeypatch.setattr(Lookout, "sample", sample)
    bench = replace(_bench(lambda frame: [(0.05, "b", b"said")] if frame == b"say" else []), spec=spec(timed))
    assert play(bench, "a.say", "a.whisper").verdict.outcome == "pass"
    assert not looks
    assert play(replace(bench, connect=hub(wrong, "b", "a")), "a.say").verdict.failed
    assert looks


def test_what_the_ping_overtakes_not_is_judged() -> None:
    """An output that comes before the answer is an output; one that is missing then is missing, without patience."""
    heard = play(_bench(lambda _frame: [(0.05, "b", b"said")]), "a.whisper")
    assert heard.script == ["0 > a.whisper", "0.05 < b.said"]
    assert heard.failure.kind == "unasked"
    silent = play(_bench(lambda _frame: []), "a.say")
    assert silent.script == ["0 > a.say", "0.2 quiet"]
    assert silent.failure.kind == "missing"


def test_what_looks_like_an_answer_but_was_not_asked_for() -> None:
    """Without a question the answer is an output like any other."""
    bench = replace(_bench(lambda _frame: [(0.0, "b", b"here")]), barrier=None)
    assert play(bench, "a.whisper").failure.seen == "'b.here'"


def test_a_system_that_does_not_answer_pings() -> None:
    """Where no answer comes, silence is waited for as without a barrier."""
    bench = replace(_bench(lambda _frame: []), connect=hub(lambda _port, _frame: [], "a", "b"))
    played = play(bench, "a.whisper")
    assert played.script == ["0 > a.whisper", "60 quiet"]
    assert played.verdict.outcome == "pass"


def test_a_port_that_ends_while_it_is_asked() -> None:
    """The end of a port is reported, not the missing answer."""

    def dying(port: str, frame: bytes) -> list[Answer]:
        return [(0.1, port, Ending("exit status 3"))] if frame == b"are you there" else []

    played = play(replace(_bench(lambda _frame: []), connect=hub(dying, "a", "b")), "a.whisper")
    assert played.script == ["0 > a.whisper", "0.1 a ended: exit status 3"]


def test_a_line_that_is_lost_at_a_ping() -> None:
    """A line that takes no ping has ended."""
    asked = Barrier({"p": "p.are you there"}, lambda _port, _output: False)
    line = Still(refusal=LineLost("the cable is cut"), willing=1)
    played = play(on_still(barrier=asked, connect=opened(p=line)), "p.hush")
    assert played.script == ["0 > p.hush", "0 p ended: the cable is cut"]


@pytest.mark.parametrize(
    ("ping", "refusal", "says"),
    [
        ("q.are you there", None, "belongs to the port 'q'"),
        ("p.are you there", CodecError("it is too long"), "port 'p' cannot take .*are you there': it is too long"),
    ],
)
def test_a_ping_that_cannot_be_sent(ping: str, refusal: Exception | None, says: str) -> None:
    """A ping for a port that is none, or that its port cannot take, is a mistake in the bench."""
    asked = Barrier({ping[0]: ping}, lambda _port, _output: False)
    line = Still(refusal=refusal, willing=1)
    with pytest.raises(ModelError, match=says):
        play(on_still(barrier=asked, connect=opened(p=line)), "p.hush")
