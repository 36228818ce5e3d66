"""Named timers: each runs from its start, whatever else happens, until it expires, is stopped, or is started anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from otf.errors import ModelError
from otf.spec import Accept, OneOf, Spec, TimerAction, Transition, goto, on, start, stop
from otf.trace.clock import overdue_timer
from otf.trace.title import title
from tests.core.timed import judged, told

Way = Transition[str] | Accept
TICK = start("tick", 0.08, 0.12)
SESSION = start("session", 0.4, 0.7)
LONG = start("t", 1, 2)


def device(*, stops: bool = True) -> Spec[str, str]:
    """Return a device that ticks (x) every 0.1 s and ends its session (y) after 0.4 to 0.7 s."""

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        if (state, inp) == ("off", "a"):
            yield goto("on", timers=[TICK, SESSION])
        else:
            yield goto(state)

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield goto("on", "x", after="tick", timers=[TICK])
            yield goto("off", "y", after="session", timers=[stop("tick")] if stops else [])

    return Spec(step, "off", ["a"], emits)


def timer(*actions: TimerAction, answer: Way | None = None, deaf: tuple[str, ...] = ()) -> Spec[str, str]:
    """Return a device whose timer t is started by a (unless `answer` defines a) and causes y.

    On b it does these things to its timers and says w. On c it goes to the state aside, on d back, silently; it knows
    nothing of t in the `deaf` states.
    """

    def step(state: str, inp: str) -> Iterator[Way]:
        match inp:
            case "a":
                yield answer or goto("on", timers=[LONG])
            case "b":
                yield goto(state, "w", timers=actions)
            case "c":
                yield goto("aside")
            case _:
                yield goto("on")

    def emits(state: str) -> Iterator[Transition[str]]:
        if state not in deaf:
            yield goto("done", "y", after="t")

    return Spec(step, "off", ["a", "b", "c", "d"], emits)


PLAIN = timer()
TICKS = " ".join(f"x!{tick / 10}" for tick in range(1, 5))


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        (f"a?0 {TICKS} y!0.5 quiet1.5", "pass"),
        (f"a?0 {TICKS} x!0.5 x!0.6 y!0.65 quiet2", "pass"),
        (f"a?0 {TICKS} y!0.5 a?1 x!1.1 x!1.2 x!1.3 x!1.4 y!1.5", "pass"),
        ("a?0 y!0.35", "fail: early"),
        ("a?0 x!0.1 x!0.2 x!0.3 y!0.35", "fail: early"),
        (f"a?0 {TICKS} quiet0.9", "fail: missing"),
        (f"a?0 {TICKS} x!0.8", "fail: late"),
        (f"a?0 {TICKS} x!0.41 x!0.42 x!0.43", "fail: early"),
        (f"a?0 {TICKS} y!0.5 y!0.6", "fail: unasked"),
        (f"a?0 {TICKS} y!0.5 x!1.5", "fail: late"),
    ],
)
def test_a_session_ends_in_time_whatever_ticks_meanwhile(script: str, verdict: str, *, stops: bool) -> None:
    """Ticks every 0.1 s, the end after 0.4 to 0.7 s; what still ticks then has no effect, stopped or not."""
    assert judged(device(stops=stops), script) == verdict


def test_a_tick_does_not_set_the_session_anew() -> None:
    """It was taken by 0.1 s and busy for 0.2 s at most: 1.1 s are the end, however often it ticks."""
    ticks = " ".join(f"x!{tick / 10}" for tick in range(1, 11))
    assert judged(device(), f"a?0 {ticks} y!1.1") == "pass"
    assert judged(device(), f"a?0 {ticks} x!1.1 x!1.2").startswith("fail")
    assert judged(device(), f"a?0 {ticks} x!1.1 y!1.15") == "fail: late"


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a?0 y!1", "pass"),
        ("a?0 y!2.4", "pass"),
        ("a?0 y!0.95", "fail: early"),
        ("a?0 y!2.45", "fail: late"),
        ("a?0 quiet2.45", "fail: missing"),
        ("a?0 quiet2.35", "pass"),
        ("a?0 c?0.5 d?0.8 y!1.1", "pass"),
        ("a?0 c?0.5 y!1.1", "pass"),
        ("a?0 c?0.5 d?1.5 quiet2.45", "fail: missing"),
        ("a?0 b?0.5 w!0.5 b?0.8 w!0.8 y!1", "pass"),
        ("a?0 y!1 y!2", "fail: unasked"),
        ("a?0 y!1 quiet5", "pass"),
    ],
)
def test_a_timer_runs_on_whatever_else_happens(script: str, verdict: str) -> None:
    """It brings its output once, in its window, wherever the system is by then."""
    assert judged(PLAIN, script) == verdict


def test_no_timer_runs_at_the_start() -> None:
    """Nothing is due, and the outputs of a timer cannot come."""
    assert judged(PLAIN, "quiet9") == "pass"
    assert judged(PLAIN, "y!1.5").startswith("fail")
    assert judged(timer(answer=goto("on")), "a?0 y!1.5").startswith("fail")


def test_a_timer_that_is_started_anew_forgets_its_old_run() -> None:
    """Of a start at 0 s and one at 1 s only the second counts: y comes from 2 s on."""
    assert judged(timer(LONG), "a?0 quiet0.6 b?0.9 w!0.9 y!1.5") == "fail: early"
    assert judged(timer(LONG), "a?0 quiet0.6 b?0.9 w!0.9 y!2") == "pass"
    assert judged(timer(LONG), "a?0 quiet0.6 b?0.9 w!0.9 quiet2.9") == "pass"
    assert judged(timer(LONG), "a?0 quiet0.6 b?0.9 w!0.9 y!2 y!2.5").startswith("fail")
    assert judged(timer(LONG), "a?0 quiet0.6 b?0.9 w!0.9 quiet3.3") == "fail: missing"


def test_a_timer_may_be_started_anew_with_other_times() -> None:
    """The window is that of the last start."""
    assert judged(timer(start("t", 0.1, 0.2)), "a?0 quiet0.4 b?0.5 w!0.5 y!0.7") == "pass"
    assert judged(timer(start("t", 0.1, 0.2)), "a?0 quiet0.4 b?0.5 w!0.5 quiet1.2") == "fail: missing"


def test_a_timer_that_is_stopped_brings_nothing() -> None:
    """After the stop nothing is due, and nothing may come; before it, it may."""
    stopped = timer(stop("t"))
    assert judged(stopped, "a?0 quiet0.6 b?0.9 w!0.9 quiet9") == "pass"
    assert judged(stopped, "a?0 quiet0.6 b?0.9 w!0.9 y!1.2").startswith("fail")
    assert judged(stopped, "a?0 y!1.2 b?1.3 w!1.3 quiet9") == "pass"
    assert judged(stopped, "b?0 w!0 a?0.5 y!1.8") == "pass"  # where none runs, nothing is stopped
    assert judged(stopped, "a?0 b?1.2 w!1.3 y!1.3") == "pass"  # it was emitted before the stop


def test_the_last_word_on_a_timer_counts() -> None:
    """Started and stopped by one transition, it does not run; stopped and started, it does."""
    assert judged(timer(LONG, stop("t")), "b?0 w!0 y!1.2").startswith("fail")
    assert judged(timer(stop("t"), LONG), "b?0 w!0 y!1.2") == "pass"


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a?0 c?0.5 quiet3 d?3 quiet9", "pass"),
        ("a?0 c?0.5 quiet3 d?3 y!3.5", "fail: unasked"),
        ("a?0 c?0.5 d?0.8 y!1.5", "pass"),
        ("a?0 c?0.3 quiet0.6 d?0.6 quiet3", "fail: missing"),
        ("a?0 c?0.5 quiet1 d?1.5 quiet9", "pass"),
        ("a?0 c?0.5 quiet1 d?1.5 y!2", "pass"),
        ("a?0 y!1.1", "pass"),
        ("a?0 c?0.5 quiet0.9 y!1.1", "fail: unasked"),
    ],
)
def test_a_timer_that_expires_where_nothing_is_said_of_it_has_no_effect(script: str, verdict: str) -> None:
    """In the state aside it expires without a word, and does not run any more in the next one."""
    assert judged(timer(deaf=("aside",)), script) == verdict


def test_a_timer_that_means_nothing_in_a_state_is_not_waited_for() -> None:
    """Nothing would be seen of it; where it brings something, that must have come by 2.4 s."""
    assert told(timer(deaf=("aside",)), "a?0 c?0.1 quiet0.6").due() is None
    assert told(PLAIN, "a?0 c?0.1 quiet0.6").due() == pytest.approx(2.4)


def test_a_busy_system_does_nothing_about_a_timer() -> None:
    """An answer may take 3 s here, and a timer of 1 to 2 s waits for its end: 3 s after the input was taken."""
    slow = timer(answer=goto("on", "x", within=(0, 3), timers=[LONG]))
    again = timer(LONG, answer=goto("on", "x", within=(0, 3)))
    assert judged(slow, "a?0 quiet2.5 x!3 y!4") == "pass"
    assert judged(again, "b?0 w!0 a?1 x!4 y!4.05") == "pass"
    assert judged(again, "b?0 w!0 a?1 quiet2.9") == "pass"
    assert judged(again, "b?0 w!0 a?1 x!1.2 y!1.5") == "pass"


def test_what_a_transition_brings_tells_when_it_started_its_timers() -> None:
    """The x was emitted at 5 s, though its input may have been taken at 0 s: both timers started about then."""

    def step(state: str, _inp: str) -> list[Transition[str]]:
        return [goto("on", "x", within=(0, 5), timers=[LONG, start("u", 3, 4)])] if state == "off" else [goto(state)]

    def emits(state: str) -> Iterator[Transition[str]]:
        yield goto(state, "y", after="t")
        yield goto(state, "w", after="u")

    spec = Spec(step, "off", ["a"], emits)
    assert judged(spec, "a?0 x!1 quiet2 y!2.5 w!4.5") == "pass"
    assert judged(spec, "a?0 x!5 y!6.5 w!8.5") == "pass"


def test_two_timers_of_one_event_may_differ_in_what_is_known_of_their_start() -> None:
    """One that expired late proves nothing about the other: that is weaker than the truth, and never wrong."""

    def emits(state: str) -> Iterator[Transition[str]]:
        yield goto(state, "y", after="t")
        yield goto(state, "w", after="u")

    both = [goto("on", timers=[start("t", 1, 1), start("u", 2, 2)])]
    spec: Spec[str, str] = Spec(lambda state, _inp: both if state == "off" else [goto(state)], "off", ["a"], emits)
    assert judged(spec, "a?0 y!1.4 w!2.4") == "pass"
    assert judged(spec, "a?0 y!1.4 w!2") == "pass"  # no system does that: both began at 0.3 s
    assert judged(spec, "a?0 y!1.4 w!1.9") == "fail: early"
    assert judged(spec, "a?0 y!1.4 w!2.5") == "fail: late"


def test_an_expired_timer_may_start_others() -> None:
    """A chain of timers: each starts the next."""

    def step(state: str, _inp: str) -> list[Transition[str]]:
        return [goto("one", timers=[start("t", 1, 1)]) if state == "off" else goto(state)]

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "one":
            yield goto("two", "y", after="t", timers=[start("u", 1, 1)])
        if state == "two":
            yield goto("off", "w", after="u")

    spec = Spec(step, "off", ["a"], emits)
    assert judged(spec, "a?0 y!1.1 w!2.1 a?3 y!4.1 w!5.1") == "pass"
    assert judged(spec, "a?0 y!1.1 w!1.9") == "fail: early"
    assert judged(spec, "a?0 y!1 quiet2.4") == "fail: missing"


def test_a_silent_transition_may_come_after_a_timer() -> None:
    """What the timer brought shows in the answer to the next input."""

    def step(state: str, inp: str) -> list[Transition[str]]:
        return [goto("on", timers=[LONG]) if inp == "a" else goto(state, "y" if state == "late" else "w")]

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield goto("late", after="t")

    spec = Spec(step, "off", ["a", "b"], emits)
    assert judged(spec, "a?0 b?0.5 w!0.6") == "pass"
    assert judged(spec, "a?0 b?0.5 y!0.6") == "fail: wrong"
    assert judged(spec, "a?0 b?1.5 y!1.6") == "pass"
    assert judged(spec, "a?0 b?1.5 w!1.6") == "pass"
    assert judged(spec, "a?0 quiet2.5 b?2.5 w!2.6") == "fail: wrong"
    assert judged(spec, "a?0 quiet2.5 b?2.5 y!2.6") == "pass"


def test_a_timer_may_expire_silently_once_an_input_was_taken() -> None:
    """Where it would show in one state and not in the next, it may have expired since the input was sent."""

    def step(_state: str, inp: str) -> list[Transition[str]]:
        return [goto("on", timers=[start("t", 1, 1)]) if inp == "a" else goto("aside")]

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield goto("off", "y", after="t")
        if state == "aside":
            yield goto("late", after="t", timers=[start("u", 1, 1)])
        if state == "late":
            yield goto("off", "w", after="u")

    spec = Spec(step, "off", ["a", "c"], emits)
    assert judged(spec, "a?0 quiet0.5 c?0.95 quiet1.3 w!2") == "pass"
    assert judged(spec, "a?0 quiet0.5 c?1.05 quiet1.35 w!2.06") == "pass"
    assert judged(spec, "a?0 quiet0.5 c?1.05 quiet1.35 w!2.04") == "fail: early"


def test_an_accept_starts_timers_and_comes_after_one() -> None:
    """The id that the system chose is sent again when its timer expires, in a transition of the same kind."""
    named = Accept(lambda seen: [f"on {seen[0]}"], "P", timers=(LONG,))

    def step(state: str, _inp: str) -> Iterable[Way]:
        return [named if state == "off" else goto(state)]

    def emits(state: str) -> Iterator[Way]:
        yield Accept(lambda seen: ["off"] if state == f"on {seen[0]}" else [], "P", after="t", says="the id once more")

    spec = Spec(step, "off", ["a"], emits)
    assert judged(spec, "a?0 x!0.1 x!1.2") == "pass"
    assert judged(spec, "a?0 x!0.1 x!0.5") == "fail: early"
    assert judged(spec, "a?0 x!0.1 z!1.2") == "fail: wrong"
    assert judged(spec, "a?0 x!0.1 quiet2.5") == "fail: missing"
    assert judged(spec, "x!1").startswith("fail")


@pytest.mark.parametrize("window", [None, (0, 0.5)])
def test_an_answer_that_starts_a_timer_says_nothing_of_one_that_ran_before(window: tuple[float, float] | None) -> None:
    """The timer of the state runs on where an Accept leads back into it: y comes 1 to 2 s after it was entered."""
    accept = Accept(lambda seen: ["on"] if seen == ("z",) else [], "P", within=window, timers=(start("t", 5, 6),))

    def step(state: str, inp: str) -> Iterable[Way]:
        return [goto("on", "x")] if state == "off" else [accept] if inp == "c" else [goto(state)]

    def emits(state: str) -> Iterator[Way]:
        if state == "on":
            yield goto("off", "y", within=(1, 2))

    spec = Spec(step, "off", ["a", "c"], emits)
    assert judged(spec, "a?0 x!0 quiet0.7 c?0.8 z!0.9 y!1.2") == "pass"
    assert judged(spec, "a?0 x!0 quiet0.7 c?0.8 z!0.9 y!0.95") == "fail: early"


def test_a_choice_of_outputs_starts_its_timers_once() -> None:
    """Whatever is chosen, on one port or another."""
    spec = timer(answer=goto("on", OneOf(on("P", "x"), on("Q", "w")), timers=[LONG]))
    assert judged(spec, "a?0 x!0.1 y!1.2") == "pass"
    assert judged(spec, "a?0 w!0.1 y!1.2") == "pass"
    assert judged(spec, "a?0 w!0.1 y!0.8") == "fail: early"


@pytest.mark.parametrize("bounds", [(2, 1), (-1, 1), (float("inf"), float("inf")), (float("nan"), 1)])
def test_a_timer_with_no_window_is_refused(bounds: tuple[float, float]) -> None:
    """At its start, and with its name."""
    with pytest.raises(ModelError, match=r"start\('t'"):
        start("t", *bounds)


def test_a_timer_needs_a_name() -> None:
    """Without one nothing could come after it."""
    with pytest.raises(ModelError, match="needs a name"):
        start("", 1, 2)


def test_what_comes_after_a_timer_has_no_window_of_its_own() -> None:
    """It comes when the timer expires: a window from the state's entry would forbid that."""
    with pytest.raises(ModelError, match="leave one out"):
        goto("on", after="t", within=(1, 2))
    with pytest.raises(ModelError, match="leave one out"):
        Accept(lambda seen: [seen], after="t", within=(1, 2))


@pytest.mark.parametrize("way", [goto("on", "x", after="t"), Accept(lambda seen: [seen], "P", after="t")])
def test_an_input_is_not_answered_after_a_timer(way: Way) -> None:
    """A timer brings what stands in `emits`; elsewhere it would be overlooked without a word."""
    with pytest.raises(ModelError, match="after='t'"):
        judged(timer(answer=way), "a?0 x!1")


def test_a_failure_names_times_and_input() -> None:
    """The step's input, and by how much it was too early."""
    failure = told(PLAIN, "a?0 y!0.4").end().failure
    assert failure is not None
    assert "too early" in str(failure)


def test_an_output_that_comes_instead_of_an_overdue_one_names_that_one() -> None:
    """The ticks are in time; what is wrong is that the session has not ended by now."""

    def step(state: str, inp: str) -> Iterable[Transition[str]]:
        return [goto("on", "x", timers=[start("session", 0.4, 0.7)]) if inp == "a" else goto(state)]

    def emits(state: str) -> Iterable[Transition[str]]:
        return [goto("on", "x", within=(0.08, 0.12)), goto("off", "y", after="session")] if state == "on" else []

    ticks = " ".join(f"x!{number / 10:g}" for number in range(1, 14))
    failure = told(Spec(step, "off", ["a"], emits), f"a?0 x!0 {ticks}").end().failure
    assert failure is not None
    assert "after the timer 'session' was started" in failure.times[0]
    assert failure.times[1].endswith(" s it had not come")


def test_an_answer_that_comes_instead_of_an_overdue_output_is_not_to_blame() -> None:
    """It has no time of its own: late is what should have come before it, whatever was asked."""

    def step(state: str, inp: str) -> Iterable[Transition[str]]:
        return [goto("on", "x", timers=[start("beat", 0.4, 0.7)]) if inp == "a" else goto(state, "w")]

    def emits(state: str) -> Iterable[Transition[str]]:
        return [goto("off", "y", after="beat")] if state == "on" else []

    failure = told(Spec(step, "off", ["a", "b"], emits), "a?0 x!0 b?0.95 w!0.952").end().failure
    assert failure is not None
    assert failure.kind == "late"
    assert overdue_timer(failure) == "due 0.4 to 0.7 s after the timer 'beat' was started"
    assert title(failure) == "late: 'y' (timer beat) did not come by 0.900 s"
