"""Windows: an answer or a timer comes in its time, or the system fails; the reason is late, early or missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from otf.core import Model, Monitor, Oracle, Routes, Send, Session, Stop, Timing, Wait, timer_waits
from otf.core.burst import Burst
from otf.core.hypothesis import Hypothesis
from otf.core.memory import Symbol
from otf.core.pacing import Eager, Strict
from otf.core.search import HypothesisSet, Search
from otf.core.timer_waits import Timers
from otf.spec import Accept, Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Failure, Verdict

L, R = 0.1, 0.2
TIMING = Timing(quiescence=0.5, latency=L, busy=R)


def _oven(state: str, inp: str) -> Iterator[Transition[str]]:
    """Return an oven: it takes 2 to 3 seconds to answer `ask`, and rings 10 to 12 seconds after `start`."""
    if inp == "ask":
        yield goto(state, "fine", within=(2, 3))
    elif inp == "start":
        yield goto("hot", "on")
    elif inp == "stop":
        yield goto("cold")


def _ring(state: str) -> Iterator[Transition[str]]:
    if state == "hot":
        yield goto("cold", "ring", within=(10, 12))


OVEN: Spec[str, str] = Spec(_oven, initial="cold", inputs=["ask", "start", "stop"], emits=_ring)


def _oracle(spec: Spec[Any, Any] = OVEN) -> Oracle:
    return Oracle(Model(spec, Routes(("p",))), timing=TIMING)


def _event(text: str) -> Event:
    """Return the event of `start?0`, `ring!11.5`, `quiet12` or `taken3`."""
    if "?" in text:
        what, _, at = text.partition("?")
        return Sent(what, "p", float(at))
    if "!" in text:
        what, _, at = text.partition("!")
        return Seen(what, "p", float(at))
    return Quiet(float(text[5:])) if text.startswith("quiet") else Taken(1, float(text[5:]))


def judged(script: str, spec: Spec[Any, Any] = OVEN, slack: float = 0.0) -> str:
    """Return the outcome of a script of events, with the kind of failure."""
    monitor = Monitor(_oracle(spec))
    monitor.slack = slack
    for text in script.split():
        monitor.tell(_event(text))
    verdict = monitor.end()
    return verdict.outcome if verdict.failure is None else f"fail: {verdict.failure.kind}"


@pytest.mark.parametrize("script", ["ask?0 fine!2", "ask?0 fine!2.5", "ask?0 fine!3.2", "ask?0 quiet1 fine!2.5 quiet4"])
def test_an_answer_in_its_window_passes(script: str) -> None:
    """From 2 s after it was sent to 3 s after it was taken: at most L for the way there, and L for the way back."""
    assert judged(script) == "pass"


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("ask?0 fine!1.9", "fail: early"),
        ("ask?0 fine!3.3", "fail: late"),
        ("ask?0 quiet3.3", "fail: missing"),
        ("ask?0 quiet1 quiet3.3", "fail: missing"),
        ("ask?0 fine!2.5 fine!2.6", "fail: wrong"),
        ("ask?0 what!2.5", "fail: wrong"),
    ],
)
def test_an_answer_out_of_its_window_fails(script: str, verdict: str) -> None:
    """The reason shows whether only the time is wrong."""
    assert judged(script) == verdict


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("start?0 on!0.1 quiet1 ring!11 quiet12", "pass"),
        ("start?0 on!0.1 ring!9.5", "fail: early"),
        ("start?0 on!0.1 ring!12.6", "fail: late"),
        ("start?0 on!0.1 quiet12.6", "fail: missing"),
        ("start?0 on!0.1 quiet12.2", "pass"),
        ("start?0 on!0.1 stop?5 quiet13", "pass"),
        ("start?0 on!0.1 stop?5 ring!11", "fail: wrong"),
        ("start?0 on!0.1 stop?12.1 ring!12.15 quiet14", "pass"),
        ("start?0 on!0.1 stop?12.8", "fail: missing"),
        ("start?0 on!0.1 quiet1 ask?4 fine!6.5 ring!11 quiet16", "pass"),
        ("start?0 on!0.1 quiet1 ask?4 fine!6.5 ring!15 quiet16", "pass"),
        ("start?0 on!0.1 quiet1 ask?4 fine!6.5 ring!9", "fail: early"),
        ("start?0 on!0.1 quiet1 ask?4 fine!6.5 ring!19.6", "fail: late"),
        ("start?0 on!0.1 ring!11 quiet11.5 ring!11.6", "fail: unasked"),
    ],
)
def test_a_timer_goes_off_in_its_window_unless_its_state_was_left_before(script: str, verdict: str) -> None:
    """The oven rings 10 to 12 s after it became hot, or was stopped by then."""
    assert judged(script) == verdict


def test_a_failure_says_in_which_step_the_state_was_entered() -> None:
    """Each knock changes a field of the state, and so restarts the window of the ring; a state led to itself may."""

    def step(knocks: int, inp: str) -> Iterator[Transition[int]]:
        yield goto(knocks + (inp == "knock"))

    def ring(_knocks: int) -> Iterator[Transition[int]]:
        yield goto(0, "ring", within=(10, 12))

    spec = Spec(step, 0, ["ask", "knock"], ring)
    told = _failed("ask?1 quiet2 knock?4 quiet5 ring!11", spec).times
    assert told[0].startswith("due 10 to 12 s after the state was entered: between 14.000 s and ")
    assert told[2] == "the state was entered between 4.000 s and 4.300 s of the run, in step 2"
    told = _failed("ask?1 quiet2 knock?4 quiet5 ask?6 quiet7 ring!11", spec).times
    assert told[2] == "the state was entered between 4.000 s and 6.300 s of the run, in steps 2 to 3"
    # the start of the run is no step; and the ring of a state that a ring led to is not due to any input
    assert _failed("quiet12.5", spec).times[2] == "the state was entered between 0.000 s and 0.000 s of the run"


def _failed(script: str, spec: Spec[Any, Any]) -> Failure:
    monitor = Monitor(_oracle(spec))
    for text in script.split():
        monitor.tell(_event(text))
    failure = monitor.end().failure
    assert failure is not None
    return failure


def test_seeing_an_output_tells_when_the_timer_was_set() -> None:
    """Hot since about 1.0 and not since 0: the ring at 13.2 is in time, that at 10.6 was early."""
    assert judged("start?0.7 on!1 ring!12.9") == "pass"
    assert judged("start?0.7 on!1 ring!10.6") == "fail: early"


def test_a_timer_may_run_from_before_the_start() -> None:
    """An oven that is hot when the run begins may ring at once, and must within its window."""
    hot = Spec(_oven, initial="hot", inputs=["ask"], emits=_ring)
    assert judged("ring!0.1", hot) == "pass"
    assert judged("quiet12.2", hot) == "fail: missing"


def test_a_timer_starts_anew_after_each_round() -> None:
    """A clock that ticks once a second is followed for a hundred ticks, and fails when it stops."""
    clock: Spec[int, str] = Spec(lambda _s, _i: [], 0, [], lambda s: [goto(s, "tick", within=(0.9, 1.1))])
    ticks = [f"tick!{tick}" for tick in range(1, 101)]
    assert judged(" ".join(ticks), clock) == "pass"
    assert judged(" ".join([*ticks, "quiet102"]), clock) == "fail: missing"
    assert judged(" ".join([*ticks, "tick!100.5"]), clock) == "fail: early"


def test_an_internal_timer_is_judged_by_what_follows() -> None:
    """The light goes off after 5 to 6 s without an output: only a query shows it."""

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        if inp == "press":
            yield goto("on")
        elif inp == "look":
            yield goto(state, state)

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield goto("off", within=(5, 6))

    light = Spec(step, "off", ["press", "look"], emits)
    assert judged("press?0 look?3 on!3", light) == "pass"
    assert judged("press?0 look?3 off!3", light) in {"fail: early", "fail: wrong"}
    assert judged("press?0 look?7 off!7", light) == "pass"
    assert judged("press?0 quiet5.5 look?5.6 on!5.7", light) == "pass"
    assert judged("press?0 quiet5.5 look?5.6 off!5.7", light) == "pass"
    assert judged("press?0 look?7 on!7", light) in {"fail: late", "fail: wrong"}


def test_an_accept_leads_into_a_timed_state() -> None:
    """The timer runs from when the answer was seen at the latest."""

    def step(_state: str, _inp: str) -> list[Accept]:
        return [Accept(lambda seen: [seen[0]])]

    spec = Spec(step, "cold", ["start"], _ring)
    assert judged("start?0 hot!1 ring!11.5", spec) == "pass"
    assert judged("start?0 hot!1 quiet13.5", spec) == "fail: missing"


def test_taken_leaves_what_is_due_in_a_window_owed() -> None:
    """The answer comes after its input is proven taken."""
    assert judged("ask?0 taken0.5 fine!2.5") == "pass"
    assert judged("ask?0 taken0.5 quiet3.5") == "fail: missing"


def test_a_tester_that_was_late_itself_blames_nobody() -> None:
    """The answer was seen at 3.5, but the tester may have been a second late with it: the path goes on."""
    assert judged("ask?0 fine!3.5", slack=1.0) == "pass"
    assert judged("ask?0 fine!4.5", slack=1.0) == "fail: late"
    assert judged("ask?0 what!2.5", slack=1.0) == "fail: wrong"


def test_times_are_not_remembered_for_other_times() -> None:
    """The same oracle judges a run in time and one too late, in either order."""
    oracle = _oracle()
    for scripts in (["ask?0 fine!2.5", "ask?0 fine!9"], ["ask?7 fine!16", "ask?7 fine!9.5"]):
        outcomes: list[str] = []
        for script in scripts:
            monitor = Monitor(oracle)
            for text in script.split():
                monitor.tell(_event(text))
            outcomes.append(monitor.end().outcome)
        assert sorted(outcomes) == ["fail", "pass"]


def _run(*inputs: str, pacing: Strict | Eager, lost: tuple[str, ...] = ()) -> tuple[Verdict, list[Event]]:
    """Test an oven that answers after 2.5 s and rings after 11, except for what is `lost`; time is but a number."""
    session, due, events = Session(_oracle(), Script(inputs), pacing, steps=50), list[Seen](), list[Event]()
    now = 0.0
    while True:
        match session.command():
            case Stop(verdict):
                return verdict, events
            case Send(inp):
                events.append(Sent(inp.value, "p", now))
                due = _answers(inp.value, now, due, lost)
            case Wait(until) if due and due[0].at <= until:
                events.append(due.pop(0))
                now = events[-1].at
            case Wait(until):
                now = until
                believed = session.silence(now)
                events += [believed] if believed else []
                continue
            case _:
                raise AssertionError
        session.tell(events[-1])


def _answers(inp: object, now: float, due: list[Seen], lost: tuple[str, ...]) -> list[Seen]:
    fresh = {"ask": [("fine", 2.5)], "start": [("on", 0.1), ("ring", 11.0)], "stop": []}[str(inp)]
    kept = [seen for seen in due if inp != "stop"]
    seen = [Seen(output, "p", now + pause) for output, pause in fresh if output not in lost]
    return sorted(kept + seen, key=lambda each: each.at)


@pytest.mark.parametrize("make", [Strict, Eager])
def test_timers_are_waited_for_at_first(make: type[Strict | Eager]) -> None:
    """The first time that the oven is hot its ring is waited for before it is stopped; a dead one is found."""
    verdict, events = _run("start", "stop", pacing=make(TIMING))
    assert verdict.outcome == "pass"
    assert [event.output for event in events if isinstance(event, Seen)] == ["on", "ring"]
    verdict, _ = _run("start", "stop", pacing=make(TIMING), lost=("ring",))
    assert verdict.failure is not None
    assert verdict.failure.kind == "missing"


def test_timers_are_waited_for_less_and_less() -> None:
    """Of eight times that the oven is hot, it is let ring the first, second, fourth and eighth time."""
    _, events = _run(*["start", "stop"] * 8, pacing=Strict(TIMING, Timers()))
    assert [isinstance(event, Seen) and event.output == "ring" for event in events].count(True) == 4


def test_no_timer_is_waited_for_before_the_end() -> None:
    """As late in a campaign: the oven never rings, unless it is hot at the end."""
    _, events = _run(*["start", "stop"] * 8, "start", pacing=Strict(TIMING, Timers(last=True, between=False)))
    assert [event.output for event in events if isinstance(event, Seen)].count("ring") == 1


def test_where_too_many_places_were_passed_the_counting_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs a wait, and no memory."""
    monkeypatch.setattr(timer_waits, "REMEMBERED", 0)
    _, events = _run(*["start", "stop"] * 8, pacing=Strict(TIMING, Timers()))
    assert [isinstance(event, Seen) and event.output == "ring" for event in events].count(True) == 8


def test_the_end_of_a_path_waits_for_answers_and_not_for_timers() -> None:
    """What is due for an input is seen before the verdict; a timer is not."""
    verdict, events = _run("ask", pacing=Strict(TIMING))
    assert (verdict.outcome, [event.output for event in events if isinstance(event, Seen)]) == ("pass", ["fine"])
    verdict, _ = _run("ask", pacing=Strict(TIMING), lost=("fine",))
    assert verdict.failure is not None
    verdict, events = _run("start", pacing=Strict(TIMING))
    assert (verdict.outcome, [event.output for event in events if isinstance(event, Seen)]) == ("pass", ["on"])


def twice(state: str, inp: str) -> list[Transition[str]]:
    """Return a system that may say second much later than first, longer than it is busy as a rule."""
    return [goto(state, "first", "second", within=(0, 3))] if inp == "ask" else [goto(state)]


@pytest.mark.parametrize("script", ["ask?0", "ask?0 first!0.1"])
def test_nothing_is_sent_in_a_burst_while_an_answer_lasts_longer_than_r(script: str) -> None:
    """It is not known when the system would take it; nor while only a part of the answer was seen."""
    spec = Spec(twice, "s", ["ask", "start"])
    session = Session(_oracle(spec), Script(["ask", "start"]), Burst(TIMING, 2), steps=50)
    assert isinstance(session.command(), Send)
    for text in script.split():
        session.tell(_event(text))
    assert isinstance(session.command(), Wait)


def test_a_burst_waits_for_an_accept_to_be_complete() -> None:
    """Only its end tells the state, and what may be sent there."""

    def step(_state: str, _inp: str) -> list[Accept]:
        return [Accept(lambda _seen: ["hot"], "p", until=2)]

    session = Session(_oracle(Spec(step, "hot", ["ask"], _ring)), Script(["ask", "ask"]), Burst(TIMING, 2), steps=50)
    session.monitor.tell(_event("quiet0"))
    for text in ("ask?0", "one!0.1"):
        session.tell(_event(text))
    assert isinstance(session.command(), Wait)


def test_an_answer_is_waited_for_although_the_system_may_have_said_all() -> None:
    """Whether there is a second part is not known: the next input waits until it would have come."""

    def perhaps(state: str, _inp: str) -> Iterator[Transition[str]]:
        yield goto(state)
        yield goto(state, "fine", within=(2, 3))

    session = Session(_oracle(Spec(perhaps, "s", ["ask"])), Script(["ask", "ask"]), Strict(TIMING), steps=50)
    assert isinstance(session.command(), Send)
    session.tell(_event("ask?0"))
    command = session.command()
    assert isinstance(command, Wait)
    assert session.silence(command.until) == Quiet(command.until)
    command = session.command()
    assert isinstance(command, Wait)
    assert command.until >= 3 + L


def test_a_part_of_an_answer_does_not_tell_when_all_of_it_was_said() -> None:
    """On came at once, ready may come on another port 3 s later, and only then is the oven hot."""

    def step(_state: str, _inp: str) -> Iterator[Transition[str]]:
        yield goto("hot", "on", "ready", within=(0, 3))

    routes = Routes(("p", "q"), lambda value: "q" if value == "on" else "p")
    oracle = Oracle(Model(Spec(step, "cold", ["start"], _ring), routes), timing=TIMING)
    for ring, verdict in ((15.0, "pass"), (16.0, "fail")):
        monitor = Monitor(oracle)
        for event in (_event("start?0"), Seen("on", "q", 0.1), Seen("ready", "p", 3.1), Seen("ring", "p", ring)):
            monitor.tell(event)
        assert monitor.end().outcome == verdict


def test_an_untimed_move_may_lead_into_a_timed_state() -> None:
    """Somebody else may start the oven at any time: from then on its ring is due."""

    def emits(state: str) -> Iterator[Transition[str]]:
        yield from _ring(state)
        if state == "cold":
            yield goto("hot", "on")
        else:
            yield goto("hot", "tick")

    shared = Spec(_oven, "cold", ["stop"], emits)
    assert judged("quiet50 on!60 ring!71 quiet72", shared) == "pass"
    assert judged("quiet50 on!60 quiet73", shared) == "fail: missing"
    assert judged("quiet50 on!60 ring!65", shared) == "fail: early"
    assert judged("on!60 tick!65 ring!71", shared) == "pass"
    assert judged("on!60 tick!65 ring!76", shared) == "pass"
    assert judged("on!60 tick!65 ring!68", shared) == "fail: early"


def test_an_event_that_is_asked_about_and_then_judged_is_searched_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under windows each output is; a result that time decided holds for this event, and for no other time."""
    searches: list[str] = []
    seen = Search.seen

    def counted(search: Search, starts: Iterable[Hypothesis], port: str, output: Symbol) -> HypothesisSet:
        searches.append(port)
        return seen(search, starts, port, output)

    monitor = Monitor(_oracle())
    for text in ("start?0", "on!0.1", "quiet1"):
        monitor.tell(_event(text))
    monkeypatch.setattr(Search, "seen", counted)
    assert [monitor.would(_event(text)) for text in ("ring!8", "ring!11", "ring!14", "ring!11")] == [0, 1, 0, 1]
    searches.clear()
    assert monitor.tell(_event("ring!11")) is None
    assert searches == []
