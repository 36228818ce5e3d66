"""Time that was lost prolongs a wait, is recorded, and is known for windows."""

from __future__ import annotations

import pytest

from otf.core.stalls import STEP, CpuUse, Stalls

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
