"""The decision about rest, as playbooks: what the kernel showed at each look, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import anyio
import pytest

from otf.adapter.kept import glance, hand_over, keeping, recall
from otf.adapter.observed_rest.calls import ANYTIME, NEVER
from otf.adapter.observed_rest.threads import Sleepers, ThreadReading, Wake
from otf.runner.observing import TICKS, Stillness

if TYPE_CHECKING:
    from otf.adapter.observed_rest.system import SystemProcesses

MAIN, OTHER = 1, 2
SLEEPS = ThreadReading(b"100 5 1\n", b"S")
RUNS = ThreadReading(b"100 5 1\n", b"R")
LATER = ThreadReading(b"200 5 2\n", b"S")
EVER = Wake()


def look(
    sleepers: Sleepers,
    at: float,
    first: dict[int, ThreadReading],
    second: dict[int, ThreadReading] | None = None,
    wakes: dict[int, Wake] | None = None,
) -> bool:
    """One whole look; its second reading is as the first where nothing else is given."""
    if not sleepers.first(at, at + 0.001, first):
        return False
    sleepers.note_all(at + 0.001, frozenset(first))
    new = dict.fromkeys(sleepers.unread, EVER) | (wakes or {})
    return sleepers.second(first if second is None else second, new)


def test_all_threads_asleep_at_both_readings_are_a_rest() -> None:
    """Every thread slept at the first reading, and the second is the same: a rest, which no timer ends."""
    sleepers = Sleepers()
    assert look(sleepers, 1.0, {MAIN: SLEEPS, OTHER: SLEEPS})
    assert sleepers.due(1.0) == NEVER


def test_a_thread_that_was_woken_and_has_not_run_yet_is_awake() -> None:
    """The letter R is not a sleep, though the counters are those of the sleep before."""
    sleepers = Sleepers()
    assert not look(sleepers, 1.0, {MAIN: RUNS})
    assert not look(sleepers, 2.0, {MAIN: SLEEPS}, {MAIN: RUNS})


@pytest.mark.parametrize("letter", [b"D", b"T", b"t", b"X", b"I", b""])
def test_only_the_letter_s_is_a_sleep(letter: bytes) -> None:
    """What waits for a disk, is stopped, or is vanishing, is not at rest."""
    assert not look(Sleepers(), 1.0, {MAIN: ThreadReading(b"1", letter)})


def test_a_process_that_has_ended_and_waits_for_its_parent_rests() -> None:
    """Z is the rest of a process whose parent has not asked yet how it ended; nothing wakes it."""
    sleepers = Sleepers()
    assert look(sleepers, 1.0, {MAIN: ThreadReading(b"1", b"Z")})
    assert sleepers.due(1.0) == NEVER


def test_a_thread_that_ran_between_the_readings_breaks_the_rest() -> None:
    """Without the second reading, a thread that ran after the ports were looked at would be taken for asleep."""
    assert not look(Sleepers(), 1.0, {MAIN: SLEEPS}, {MAIN: LATER})


def test_a_thread_that_comes_between_the_readings_breaks_the_rest() -> None:
    """The second reading has the threads of the first, no more and no fewer."""
    assert not look(Sleepers(), 1.0, {MAIN: SLEEPS}, {MAIN: SLEEPS, OTHER: SLEEPS})
    assert not look(Sleepers(), 1.0, {MAIN: SLEEPS, OTHER: SLEEPS}, {MAIN: SLEEPS})


def test_a_sleep_ends_no_earlier_than_its_time_out_after_the_last_look_before_it() -> None:
    """A thread that was seen at 1.0 with older counters may have gone to sleep right then: 0.5 s later it is 1.5."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS})
    look(sleepers, 1.2, {MAIN: LATER}, wakes={MAIN: Wake(0.5)})
    assert sleepers.due(1.2) == 1.5


def test_a_look_that_was_broken_off_counts_for_the_threads_that_it_saw() -> None:
    """The older counters were seen last by a look that found another thread running."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS})
    look(sleepers, 1.4, {MAIN: SLEEPS, OTHER: RUNS})
    look(sleepers, 1.6, {MAIN: LATER, OTHER: SLEEPS}, wakes={MAIN: Wake(0.5)})
    assert sleepers.due(1.6) == 1.9


def test_a_new_thread_may_have_slept_since_the_last_list_without_it() -> None:
    """It was in no list read after 1.001, so that its sleep began after that."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS})
    look(sleepers, 1.2, {MAIN: SLEEPS, OTHER: SLEEPS}, wakes={OTHER: Wake(0.5)})
    assert sleepers.due(1.2) == 1.501


def test_of_a_sleep_that_began_before_the_first_look_nothing_is_known() -> None:
    """A relative time-out may run off at any time where its begin was not seen."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS}, wakes={MAIN: Wake(60.0)})
    assert sleepers.due(1.0) == ANYTIME


def test_an_absolute_time_out_needs_no_begin() -> None:
    """It is due when it says."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS}, wakes={MAIN: Wake(at=7.0)})
    assert sleepers.due(1.0) == 7.0


def test_a_time_out_read_from_a_thread_that_ran_does_not_count() -> None:
    """What the pointer led to was something else by then: it is read again in the next look."""
    sleepers = Sleepers()
    assert not look(sleepers, 1.0, {MAIN: SLEEPS}, {MAIN: LATER}, {MAIN: Wake(60.0)})
    look(sleepers, 1.1, {MAIN: LATER}, wakes={MAIN: Wake(0.5)})
    assert sleepers.due(1.1) == 1.5


def test_a_thread_that_should_have_woken_long_ago_was_misread() -> None:
    """A second after its time, nothing is known about its wake-up any more."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS})
    look(sleepers, 1.2, {MAIN: LATER}, wakes={MAIN: Wake(0.5)})
    assert sleepers.due(1.8) == 1.5
    assert sleepers.due(3.0) == ANYTIME


def test_a_timer_with_a_descriptor_is_due_when_it_says() -> None:
    """5 ms are left at 2.0."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS})
    sleepers.note_alarms(MAIN, 2.0, {7: 0.005, 8: 0.0})
    assert sleepers.due(2.0) == 2.005


def test_a_timer_that_was_armed_and_shows_nothing_left_is_still_to_come() -> None:
    """Its interrupt is late; once the thread has run, nothing left means disarmed."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS})
    sleepers.note_alarms(MAIN, 2.0, {7: 0.005})
    sleepers.note_alarms(MAIN, 2.1, {7: 0.0})
    assert sleepers.due(2.1) == 2.005
    look(sleepers, 3.0, {MAIN: LATER})
    sleepers.note_alarms(MAIN, 3.0, {7: 0.0})
    assert sleepers.due(3.0) == NEVER


def ran(sleepers: Sleepers) -> bool:
    """Return whether a thread has run since the last call."""
    ran, sleepers.ran = sleepers.ran, False
    return ran


def test_whether_a_thread_ran_is_remembered_until_the_next_rest() -> None:
    """A look that failed, a thread that ended: what they showed is not forgotten."""
    sleepers = Sleepers()
    look(sleepers, 1.0, {MAIN: SLEEPS, OTHER: SLEEPS})
    assert ran(sleepers)
    look(sleepers, 1.1, {MAIN: SLEEPS, OTHER: SLEEPS})
    assert not ran(sleepers)
    look(sleepers, 1.2, {MAIN: SLEEPS, OTHER: ThreadReading(b"3", b"R")})
    look(sleepers, 1.3, {MAIN: SLEEPS, OTHER: ThreadReading(b"3", b"S")})
    assert ran(sleepers)
    look(sleepers, 1.4, {MAIN: SLEEPS})
    assert ran(sleepers)
    assert not ran(sleepers)


def test_where_nothing_can_wake_one_rest_is_enough() -> None:
    """No thread has a timer within the quiescence time: silence is known at once."""
    assert Stillness(0.02, 0.02).rest(1.0, 1.0, NEVER, still=False)
    assert Stillness(0.02, 0.02).rest(1.0, 1.0, 1.021, still=False)


def test_a_timer_within_the_quiescence_time_is_waited_for() -> None:
    """It is due after 15 of 20 ms; after it, 5 ms are left, and a timer after 10 is believed not to matter."""
    stillness = Stillness(0.02, 0.02)
    assert not stillness.rest(1.0, 1.0, 1.015, still=False)
    assert not stillness.rest(1.01, 1.01, 1.015, still=True)
    stillness.broken(1.015)
    assert stillness.rest(1.5, 1.5, 1.51, still=False)


def test_time_in_which_a_thread_ran_does_not_count() -> None:
    """By the clock on the wall 100 ms have passed; all threads slept for 2 of them."""
    stillness = Stillness(0.02, 0.02)
    assert not stillness.rest(1.0, 1.0, 1.002, still=False)
    assert not stillness.rest(1.1, 1.1, 1.117, still=False)
    assert stillness.left == pytest.approx(0.018)


def test_a_sleep_of_unknown_length_is_silence_after_the_quiescence_time() -> None:
    """Nothing is known about its end: all threads sleep for 20 ms, as timed silence would have it."""
    stillness = Stillness(0.02, 0.02)
    assert not stillness.rest(1.0, 1.0, ANYTIME, still=False)
    assert not stillness.rest(1.019, 1.019, ANYTIME, still=True)
    assert stillness.rest(1.021, 1.021, ANYTIME, still=True)


def test_a_timer_whose_interrupt_is_late_is_waited_for_twice_as_long() -> None:
    """It was due at 1.019, and its thread has not run at 1.021; at 1.041 it is not believed to come any more."""
    stillness = Stillness(0.02, 0.02)
    assert not stillness.rest(1.0, 1.0, 1.019, still=False)
    assert not stillness.rest(1.021, 1.021, 1.019, still=True)
    assert stillness.rest(1.041, 1.041, 1.019, still=True)


def test_a_tick_that_never_ends_is_noticed() -> None:
    """A system whose rests are ended by timers again and again ticks: its silence is a matter of time."""
    stillness = Stillness(10.0, 10.0)
    for number in range(TICKS):
        stillness.rest(float(number), float(number), number + 0.001, still=False)
        assert not stillness.ticking
    stillness.rest(500.0, 500.0, 500.001, still=False)
    assert stillness.ticking


def test_what_the_path_before_saw_tells_when_a_sleep_began() -> None:
    """A server that wakes each second was last seen before the ports were opened: it wakes a second after that."""
    earlier, sleepers, later = Sleepers(), Sleepers(), Sleepers()
    assert look(earlier, 5.0, {MAIN: SLEEPS})
    for known in (sleepers, later):
        known.recall(earlier)
    second = {MAIN: Wake(after=1.0)}
    assert look(sleepers, 5.2, {MAIN: LATER}, wakes=second)
    assert sleepers.due(5.2) == 6.0
    assert look(later, 5.2, {OTHER: LATER}, wakes={OTHER: Wake(after=1.0)})
    assert later.due(5.2) == ANYTIME, "a thread that was not there before"


def test_a_system_is_kept_for_the_next_path_and_closed_with_the_campaign() -> None:
    """The second path looks at the first one's system before it opens its ports; without a campaign nothing is kept."""

    class System:
        def __init__(self) -> None:
            self.did: list[str] = []
            self.sleepers = Sleepers()

        def close(self) -> None:
            self.did.append("closed")

        def glance(self) -> None:
            self.did.append("looked")

    first, second, alone = (cast("SystemProcesses", System()) for _ in range(3))

    async def campaign() -> None:
        async with keeping():
            glance()
            hand_over(first)
            glance()
            recall(second)
            hand_over(second)
        glance()

    anyio.run(campaign)
    hand_over(alone)
    did = [cast("System", each).did for each in (first, second, alone)]
    assert did == [["looked", "closed"], ["closed"], ["closed"]]
