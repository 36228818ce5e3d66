"""Spontaneous outputs that nothing needs: they are followed when they come, however fast and in whatever form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from otf.core import Limits, Model, Monitor, Oracle, Timing
from otf.core.compile import Routes
from otf.core.hypothesis import Hypothesis
from otf.core.windows import Windows
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Event, Seen, Sent

TIMING = Timing(quiescence=0.05, latency=0.002, busy=0.005)
TICK = start("tick", 0.01, 0.02)


def _free(state: int) -> Iterator[Transition[int]]:
    yield goto(state, "q.tick")


def _window(state: int) -> Iterator[Transition[int]]:
    yield goto(state, "q.tick", within=(0.01, 0.02))


def _timer(state: int) -> Iterator[Transition[int]]:
    yield goto(state, "q.tick", after="tick", timers=[TICK])


def _numbered(state: int) -> Iterator[Transition[int]]:
    yield goto(state + 1, f"q.tick{state}", within=(0.0, 0.02))


def _counted(state: int) -> Iterator[Transition[int]]:
    yield goto(state + 1, f"q.tick{state}")


def _cycled(state: int) -> Iterator[Transition[int]]:
    yield goto((state + 1) % 3, f"q.tick{state}", within=(0.0, 0.02))


def _twice(state: int) -> Iterator[Transition[int]]:
    yield from _numbered(state)
    yield goto(state + 1_000, f"q.tock{state}", within=(0.0, 0.02))


FORMS = {"free": _free, "window": _window, "timer": _timer}


def _monitor(emits: Callable[[int], Iterator[Transition[int]]], limits: Limits | None = None) -> Monitor:
    spec = Spec(
        lambda state, _: [goto(state, "p.answer")],
        0,
        ["p.ask"],
        emits=emits,
        timers=[start("tick", 0.0, 0.02)] if emits is _timer else [],
    )
    routes = Routes(("p", "q"), lambda value: str(value).partition(".")[0])
    return Monitor(Oracle(Model(spec, routes), timing=TIMING, limits=limits or Limits()))


def _asked(steps: int, every: float) -> Iterator[Event]:
    """Yield a run with a tick each so many seconds, and an answer in between every 2 ms."""
    ticks = 1
    for step in range(1, steps):
        at = step * 0.002
        while ticks * every < at:
            yield Seen("q.tick", "q", ticks * every)
            ticks += 1
        yield Sent("p.ask", "p", at)
        yield Seen("p.answer", "p", at + 0.0005)


@pytest.mark.parametrize("form", FORMS)
def test_a_tick_that_may_be_under_way_is_no_explanation_of_its_own(form: str) -> None:
    """Whether it came before an answer or after it, the answer means the same: nothing is left out."""
    monitor = _monitor(FORMS[form])
    for event in _asked(50, 0.015):
        assert monitor.tell(event) is None
        assert len(monitor.belief.hypotheses) <= 2
        assert not monitor.lookahead.cut


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wrong", ["p.wrong", "p.answer"])
def test_so_a_wrong_or_surplus_answer_is_found_without_following_a_thousand_of_them(form: str, wrong: str) -> None:
    """A tick that leads back to the same state explains no output on another port."""
    monitor = _monitor(FORMS[form])
    events = [*_asked(50, 0.015)]
    for event in events:
        monitor.tell(event)
    before = monitor.explainer.work
    verdict = monitor.tell(Seen(wrong, "p", events[-1].at + 0.0001))
    assert verdict is not None
    assert verdict.failed
    assert monitor.explainer.work - before < 20


@pytest.mark.parametrize(("emits", "moves"), [(_counted, 1), (_numbered, 2)])
def test_ticks_with_numbers_that_may_be_under_way_are_not_followed_to_explain_an_answer(
    emits: Callable[[int], Iterator[Transition[int]]], moves: int
) -> None:
    """Each leads to a state of its own, and an answer means the same before and after it: it takes one (timed) move."""
    monitor = _monitor(emits)
    for step in range(1, 20):
        monitor.tell(Seen(f"q.tick{step - 1}", "q", step * 0.015))
        monitor.tell(Sent("p.ask", "p", step * 0.015 + 0.004))
        before = monitor.explainer.work
        assert monitor.tell(Seen("p.answer", "p", step * 0.015 + 0.005)) is None
        assert monitor.explainer.work - before == moves
        assert monitor.lookahead.cut
    # nor is anything forgotten by that: a tick that was on its way is explained
    assert monitor.tell(Seen("q.tick19", "q", 0.291)) is None


def test_an_input_that_may_have_set_the_window_anew_after_a_tick_that_came_later() -> None:
    """The tick was on its way when the input was taken, and so its next one may be due R after that input."""
    monitor = _monitor(_window)
    events: list[Event] = [
        Seen("q.tick", "q", 0.012),
        Sent("p.ask", "p", 0.022),
        Seen("p.answer", "p", 0.0225),
        Seen("q.tick", "q", 0.0235),
        Seen("q.tick", "q", 0.0490),
    ]
    assert [monitor.tell(each) for each in events] == [None] * 5
    late = _monitor(_window)
    assert [late.tell(each) for each in [*events[:4], Sent("p.ask", "p", 0.0500)]][4] is not None


def test_an_input_that_is_taken_once_a_tick_was_due_comes_after_that_tick() -> None:
    """The tick was emitted in time and is under way; without it the input would be too late for the state."""
    monitor = _monitor(_timer)
    events: list[Event] = [Sent("p.ask", "p", 0.0205), Seen("p.answer", "p", 0.0210), Seen("q.tick", "q", 0.0215)]
    assert [monitor.tell(each) for each in events] == [None] * 3


def test_to_judge_an_event_again_at_all_depths_takes_no_more_work_than_two_searches_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two numbers that go on for ever: with each depth a bound of its own, the tester would compute for seconds."""
    made, spontaneous = 0, Windows.spontaneous

    def counted(self: Windows, *arguments: Any, **more: Any) -> Hypothesis:  # noqa: ANN401 -- handed on
        nonlocal made
        made += 1
        return spontaneous(self, *arguments, **more)

    monkeypatch.setattr(Windows, "spontaneous", counted)
    limits = Limits(hypotheses=100)
    monitor = _monitor(_twice, limits)
    for event in _asked(9, 1.0):
        monitor.tell(event)
    made = 0
    verdict = monitor.tell(Seen("p.wrong", "p", 0.0170))
    assert verdict is not None
    assert verdict.outcome == "inconclusive"
    assert made < 2 * limits.work


@pytest.mark.parametrize("emits", [_counted, _numbered])
def test_an_answer_costs_little_more_where_hundreds_of_ticks_with_numbers_may_be_under_way(
    emits: Callable[[int], Iterator[Transition[int]]],
) -> None:
    """Once 50 came together, 192 are followed: to examine four of them takes as long as a move, and none is made."""
    monitor, work = _monitor(emits), 0
    for step in range(4):
        monitor.tell(Sent("p.ask", "p", step * 0.01))
        before = monitor.explainer.work
        assert monitor.tell(Seen("p.answer", "p", step * 0.01)) is None
        work = monitor.explainer.work - before
        for number in range(50):
            assert monitor.tell(Seen(f"q.tick{50 * step + number}", "q", step * 0.01 + 0.001)) is None
    assert monitor.oracle.limits.spontaneous == 192
    assert 48 < work <= 50
    wrong = monitor.tell(Seen("p.wrong", "p", 0.032))
    assert wrong is not None
    assert wrong.failed


def test_numbers_that_come_again_leave_nothing_out() -> None:
    """After each of three ticks an answer means the same: however many are under way, nothing is judged again."""
    monitor = _monitor(_cycled)
    monitor.tell(Sent("p.ask", "p", 0.001))
    assert monitor.tell(Seen("p.answer", "p", 0.002)) is None
    assert not monitor.lookahead.cut
