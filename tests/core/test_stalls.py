"""Time that was lost prolongs a wait, is recorded, and is known for windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from otf.core import Model, Monitor, Oracle, Timing
from otf.core.stalls import STEP, CpuUse, Stalls, unless_delayed
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Undecodable
from otf.trace.verdict import Verdict

QUIET = CpuUse(known=True)


def test_a_wait_in_which_nothing_was_lost() -> None:
    """It ends when it was to end."""
    stalls = Stalls()
    assert not stalls.lost(1.0, 0.9, 0.0, 1.0, QUIET)
    assert stalls.until(1.0) == 1.0
    assert stalls.longest == 0.0


def test_a_wait_in_which_the_system_waited_for_a_processor() -> None:
    """It goes on for as long as the system could not run, and ends if it could meanwhile."""
    stalls = Stalls()
    assert stalls.lost(1.0, 0.9, 0.0, 1.0, CpuUse(0.03, known=True))
    assert stalls.until(1.0) == pytest.approx(1.03)
    assert stalls.until(2.0) == 2.0
    assert not stalls.lost(1.0, 0.9, 0.0, 1.03, CpuUse(0.03, known=True))
    assert stalls.longest == pytest.approx(0.03)


def test_time_lost_before_the_wait() -> None:
    """A wait is not prolonged by more than it has lasted so far."""
    stalls = Stalls()
    assert stalls.lost(1.0, 0.9, 0.0, 1.0, CpuUse(7.0, known=True))
    assert stalls.until(1.0) == pytest.approx(1.1)


def test_a_process_that_is_ready_to_run() -> None:
    """One that got no processor is looked at again soon; one that computes is not waited for."""
    stalls = Stalls()
    assert stalls.lost(1.0, 0.9, 0.0, 1.0, CpuUse(ready=True, known=True))
    assert stalls.until(1.0) == pytest.approx(1.0 + STEP)
    assert not stalls.lost(1.0, 0.9, 0.0, 1.0 + STEP, CpuUse(ran=STEP, ready=True, known=True))


def test_a_machine_that_is_busy_for_ever() -> None:
    """A wait becomes at most eleven times as long, and twice as long if the processes of the system are not known."""
    for known, most in ((True, 11), (False, 2)):
        stalls, now = Stalls(), 1.0
        while stalls.lost(1.0, 0.0, 0.0, now, CpuUse(now, known=known)):
            now = stalls.until(1.0)
        assert now == pytest.approx(most)


def test_a_tester_that_was_late() -> None:
    """Its own delay counts if nothing is known of the system: it may have been delayed as well."""
    assert not Stalls().lost(1.0, 0.9, 0.05, 1.05, QUIET)
    assert Stalls().lost(1.0, 0.9, 0.05, 1.05, CpuUse())
    assert not Stalls().lost(1.0, 0.9, 0.0015, 1.0015, CpuUse())


def test_time_lost_since_a_moment() -> None:
    """Only the part after the moment counts, and nothing that is shorter than a stall."""
    stalls = Stalls()
    stalls.note(1.0, 0.5)
    stalls.note(2.0, 0.25)
    stalls.note(3.0, 0.001)
    assert stalls.since(0.0) == 0.75
    assert stalls.since(0.75) == 0.5
    assert stalls.since(1.5) == 0.25
    assert stalls.since(2.5) == 0.0


def test_how_long_a_message_may_be_delayed() -> None:
    """By what the system or the tester lost at a stretch; shorter times than the bound between losses end none."""
    stalls = Stalls()
    for at, waited, own in ((1.0, 0.2, 0.0), (1.01, 0.2, 0.008), (3.0, 0.25, 0.008)):
        stalls.sample(at, CpuUse(waited, known=True, own=own))
    assert stalls.delay(0.005) == pytest.approx(0.208)
    assert stalls.delay(0.001) == pytest.approx(0.2)
    assert stalls.delay(2.0) == pytest.approx(0.258)


def test_losses_at_the_same_time_count_once() -> None:
    """The tester waits for a processor while the system does, and many threads lose no more than passes."""
    stalls = Stalls()
    stalls.sample(1.0, CpuUse(0.3, known=True, own=0.2))
    assert stalls.delay(0.005) == pytest.approx(0.3)
    stalls.sample(2.0, CpuUse(90.0, known=True, own=0.2))
    assert stalls.delay(0.005) == pytest.approx(1.3)


def test_a_process_that_never_got_a_processor_may_be_delayed() -> None:
    """The kernel has not counted its time yet; of one that got a processor, it counts the wait at once."""
    stalls = Stalls()
    stalls.sample(1.0, CpuUse(ready=True, known=True, turns=1))
    assert stalls.delay(0.005) == 0.0
    stalls.sample(1.5, CpuUse(ready=True, known=True, turns=1))
    assert stalls.delay(0.005) == pytest.approx(0.5)


def _ticks(state: int) -> Iterator[Transition[int]]:
    yield goto(state, "tick", within=(0.15, 0.3))


def _oracle() -> Oracle:
    spec: Spec[int, str] = Spec(lambda state, _inp: [goto(state)], 0, ["in"], _ticks)
    return Oracle(Model(spec), timing=Timing(0.05, 0.005, 0.005))


def _judged(*events: Event) -> Verdict:
    monitor = Monitor(_oracle())
    for event in events:
        monitor.tell(event)
    return monitor.end()


def _tick(at: float) -> Seen:
    return Seen("tick", "sut", at)


LATE_THEN_EARLY = (_tick(0.26), _tick(0.36), _tick(0.56))


def test_an_output_that_looks_early_since_the_one_before_was_late() -> None:
    """A tick that was delayed by 60 ms is within its window; the next one comes when it is due."""
    verdict = _judged(*LATE_THEN_EARLY)
    assert verdict.failure is not None
    assert verdict.failure.kind == "early"
    assert unless_delayed(verdict, _oracle(), LATE_THEN_EARLY) == verdict
    assert unless_delayed(replace(verdict, delay=0.015), _oracle(), LATE_THEN_EARLY).failed
    doubted = unless_delayed(replace(verdict, delay=0.06), _oracle(), LATE_THEN_EARLY)
    assert doubted.outcome == "inconclusive"
    assert (
        "by up to 0.060 s, and with L and R longer by that the run would conform; seen: 'tick' (early)" in doubted.why
    )


def test_what_no_delay_explains() -> None:
    """An output that never comes, and one that nothing allows."""
    for events in ([Quiet(0.9)], [_tick(0.2), Seen("tock", "sut", 0.25)], [Seen(Undecodable(b"?", ""), "sut", 0.2)]):
        verdict = replace(_judged(*events), delay=0.1)
        assert verdict.failed
        assert unless_delayed(verdict, _oracle(), events) == verdict


def test_a_delay_that_leaves_a_doubt() -> None:
    """With longer bounds more explanations remain than are followed: then nothing is sure, and nothing fails."""
    verdict, oracle = replace(_judged(*LATE_THEN_EARLY), delay=0.06), _oracle()
    few = replace(oracle, limits=replace(oracle.limits, hypotheses=0))
    assert not unless_delayed(verdict, few, LATE_THEN_EARLY).failed
