"""Time that was lost prolongs a wait, is recorded, and is known for windows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otf.compose import cyclic
from otf.core import Model, Monitor, Oracle, Routes, Timing
from otf.core.belief import Ledger
from otf.core.stalls import STEP, CpuUse, Stalls, ThreadUse, is_proven
from otf.core.timing import behind
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Event, Quiet, Seen, Sent, Stalled, Undecodable
from otf.trace.verdict import Failure, FailureKind, Signature, Verdict

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


def test_one_thread_waits_while_others_run() -> None:
    """What it could not do in that time is a stall, though others had their turns; what computes is none."""
    one, other, then = ThreadUse("1", 0, 0, 5), ThreadUse("2", 7, 0, 1), ThreadUse("2", 9, 0, 2)
    stalls = Stalls()
    stalls.begin(0.0, CpuUse(known=True, threads=frozenset((one, other))), timed=True)
    use = CpuUse(ran=0.01, ready=True, known=True, threads=frozenset((one, then)), stuck=frozenset((one,)))
    stalls.sample(0.6, use)
    assert stalls.told() == [Stalled(0.6, 0.6)]
    stalls.sample(0.8, use._replace(threads=frozenset((then,)), stuck=frozenset((ThreadUse("1", 3, 0, 6),))))
    assert stalls.told() == []


def test_a_wait_that_began_between_two_readings() -> None:
    """The kernel tells its length at the end; before, only that the thread has not run since a reading is known."""
    ran, ready, runs = ThreadUse("1", 0.0, 0.0, 1), ThreadUse("1", 0.01, 0.0, 1), ThreadUse("1", 0.01, 0.23, 2)
    stalls = Stalls()
    stalls.begin(0.0, CpuUse(known=True, threads=frozenset((ran,))), timed=True)
    stalls.sample(0.1, CpuUse(known=True, threads=frozenset((ready,)), stuck=frozenset((ready,))))
    assert stalls.told() == []
    stalls.sample(0.14, CpuUse(known=True, threads=frozenset((ready,)), stuck=frozenset((ready,))))
    assert [round(each.seconds, 9) for each in stalls.told()] == [0.04]
    stalls.sample(0.24, CpuUse(0.23, known=True, threads=frozenset((runs,))))
    assert [round(each.seconds, 9) for each in stalls.told()] == [0.23]
    stalls.sample(0.3, CpuUse(0.99, known=True, threads=frozenset((runs,))))
    assert [round(each.seconds, 9) for each in stalls.told()] == [0.06]


def test_a_thread_that_has_ended_takes_no_stall_with_it() -> None:
    """What the others waited meanwhile counts, though all waits in total have become fewer."""
    ended, before, after = ThreadUse("1", 0.0, 3.0, 5), ThreadUse("2", 0.0, 1.0, 1), ThreadUse("2", 0.0, 1.2, 2)
    stalls = Stalls()
    stalls.begin(0.0, CpuUse(4.0, known=True, threads=frozenset((ended, before))), timed=True)
    stalls.sample(0.6, CpuUse(1.2, known=True, threads=frozenset((after,))))
    assert [(round(each.seconds, 9), each.at) for each in stalls.told()] == [(0.2, 0.6)]


def test_what_the_tester_sent_late_is_a_stall() -> None:
    """It is told once: what was lost at the same time is the same time, what was lost before is not."""
    stalls = Stalls()
    assert stalls.told(5.0, 0.2) == [Stalled(0.2, 5.0)]
    stalls.fresh = [Stalled(0.1, 4.0), Stalled(0.1, 4.9)]
    assert stalls.told(5.0, 0.2) == [Stalled(0.1, 4.0), Stalled(0.2, 5.0)]
    stalls.fresh = found = [Stalled(0.3, 4.9)]
    assert stalls.told(5.0, 0.2) == found
    assert stalls.told(5.0) == []


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


def test_the_stalls_of_a_run_are_told_once() -> None:
    """What the system and the tester lose at the same time counts once, and many threads lose no more than passes."""
    stalls = Stalls()
    stalls.sample(1.0, CpuUse(0.3, known=True, own=0.2))
    stalls.sample(2.0, CpuUse(90.0, known=True, own=0.2), 0.1)
    assert stalls.told() == [Stalled(0.3, 1.0), Stalled(1.0, 2.0)]
    assert stalls.told() == []


def test_what_the_tester_loses_while_nothing_comes() -> None:
    """It is not a stall, unless it was stopped: then the system may have been stopped as well."""
    stalls = Stalls()
    stalls.forgive(0.2, blocking=False)
    stalls.sample(1.0, CpuUse(known=True, own=0.2))
    stalls.forgive(0.1, blocking=True)
    stalls.sample(2.0, CpuUse(0.1, known=True, own=0.3))
    assert stalls.told() == []
    stalls.sample(3.0, CpuUse(0.1, known=True, own=0.3), stopped=0.4)
    assert stalls.told() == [Stalled(0.4, 3.0)]
    assert stalls.longest == pytest.approx(0.4)


def test_moments_that_matter_to_nobody() -> None:
    """Waking a process takes some time on any machine; many at once are a stall."""
    stalls = Stalls()
    stalls.sample(1.0, CpuUse(0.0006, known=True))
    stalls.sample(1.2, CpuUse(0.0012, known=True))
    assert stalls.told() == []
    stalls.sample(1.21, CpuUse(0.0018, known=True))
    assert [each.seconds for each in stalls.told()] == pytest.approx([0.0012])


def test_a_process_that_never_got_a_processor_may_be_delayed() -> None:
    """The kernel has not counted its time yet; of one that got a processor, it counts the wait at once."""
    stalls = Stalls()
    waits = frozenset((ThreadUse("1", 0, 0, 1),))
    stalls.sample(1.0, CpuUse(ready=True, known=True, threads=waits, stuck=waits))
    assert stalls.told() == []
    stalls.sample(1.5, CpuUse(ready=True, known=True, threads=waits, stuck=waits))
    assert stalls.told() == [Stalled(0.5, 1.5)]


@pytest.mark.parametrize(
    ("now", "bound", "seconds"),
    [(1.3, 0.4, 0.5), (1.05, 0.1, 0.5), (1.05, 0.06, 0.3), (1.3, 0.1, 0.0), (0.9, 0.0, 0.2)],
)
def test_what_arrives_may_have_been_delayed_by_what_was_lost_before(now: float, bound: float, seconds: float) -> None:
    """Back to where more time than the bound was not lost; of a stall that is not over, what has passed of it."""
    assert behind([Stalled(0.3, 1.0), Stalled(0.2, 0.65)], now, bound) == pytest.approx(seconds)


def _ticks(state: int) -> Iterator[Transition[int]]:
    yield goto(state, "tick", within=(0.15, 0.3))


def _oracle() -> Oracle:
    spec: Spec[int, str] = Spec(lambda state, _inp: [goto(state)], 0, ["in"], _ticks)
    return Oracle(Model(spec), timing=Timing(0.05, 0.005, 0.005))


def _judged(*events: Event) -> str:
    monitor = Monitor(_oracle())
    for event in events:
        monitor.tell(event)
    verdict = monitor.end()
    return f"fail: {verdict.failure.kind}" if verdict.failure else verdict.outcome


def _answer(at: float) -> Seen:
    return Seen("answer", "sut", at)


def _tick(at: float) -> Seen:
    return Seen("tick", "sut", at)


LATE, NEXT = (_tick(0.26), _tick(0.36)), _tick(0.56)


@pytest.mark.parametrize(
    ("stall", "judged"), [(Stalled(0.06, 0.26), "pass"), (Stalled(0.015, 0.26), "fail: early"), (None, "fail: early")]
)
def test_an_output_that_looks_early_since_the_one_before_was_late(stall: Stalled | None, judged: str) -> None:
    """A tick that was delayed by 60 ms is within its window; the next one comes when it is due, and all goes on."""
    assert _judged(*([stall] if stall else []), *LATE, NEXT) == judged


@pytest.mark.parametrize("at", [0.15, 0.3601, 0.5])
def test_a_stall_excuses_only_what_was_to_happen_then(at: float) -> None:
    """However long it was, one before the tick or after the failure delays nothing."""
    stall, (late, early) = Stalled(0.1, at), LATE
    events: list[Event] = sorted([stall, late, early, NEXT], key=lambda each: each.at)
    assert _judged(*events) == "fail: early"


@pytest.mark.parametrize(
    ("stall", "judged"),
    [
        (Stalled(0.09, 0.25), "pass"),
        (Stalled(0.09, 0.33), "fail: late"),
        (Stalled(0.09, 0.5), "pass"),
        (Stalled(0.05, 0.5), "fail: late"),
        (Stalled(0.09, 0.55), "pass"),
    ],
)
def test_a_timer_that_is_late(stall: Stalled, judged: str) -> None:
    """A stall where it was started, or where it was to end, delays it by its length; one in between does not."""
    assert _judged(_tick(0.2), stall, _tick(0.58), _tick(0.8)) == judged


def test_what_a_silent_input_started_before_a_stall_is_late_as_well() -> None:
    """That it was taken is known only afterwards."""

    def ticks(state: int) -> Iterator[Transition[int]]:
        if state:
            yield goto(state, "tick", within=(0.010, 0.011))

    spec: Spec[int, str] = Spec(lambda _state, _inp: [goto(1)], 0, ["in"], ticks)
    monitor = Monitor(Oracle(Model(spec), timing=Timing(0.0, 0.008, 0.008)))
    for event in (Sent("in", "sut", 0.064), Stalled(0.0073, 0.0927), Quiet(0.0953), _tick(0.1007), _tick(0.1117)):
        monitor.tell(event)
    assert monitor.end().outcome == "pass"


def test_a_stall_is_over_when_the_next_output_came_in_time() -> None:
    """From then on the timers are known as well as without it."""
    widened, sharp = Monitor(_oracle()), Monitor(_oracle())
    for event in (_tick(0.2), Stalled(0.1, 0.4), _tick(0.42), _tick(0.62)):
        widened.tell(event)
        if not isinstance(event, Stalled):
            sharp.tell(event)
    assert widened.belief.hypotheses == sharp.belief.hypotheses
    assert widened.end().judged == sharp.end().judged


@pytest.mark.parametrize(("at", "doubted"), [(0.42, (0, 0.0)), (0.55, (1, 0.15))])
def test_what_came_in_time_without_the_stall_is_sharp(at: float, doubted: tuple[int, float]) -> None:
    """In doubt is only what was overdue but for the stall, with the time since the event before it."""
    monitor = Monitor(_oracle())
    for event in (_tick(0.2), Stalled(0.1, 0.4), _tick(at), _tick(at + 0.2)):
        monitor.tell(event)
    judged = monitor.end().judged
    assert (judged.doubtful, round(judged.doubted, 6)) == doubted
    assert (judged.events, judged.seconds) == (3, at + 0.2)


RENEWED: list[Event] = [Stalled(0.2, 0.55), Sent("in", "sut", 0.6), _answer(0.6), Sent("in", "sut", 0.7), _answer(0.7)]


@pytest.mark.parametrize("beats", [0.6, 0.62])
@pytest.mark.parametrize("latency", [0.0, 0.02])
def test_a_timer_that_goes_on_after_an_input_was_not_ended_by_it(beats: float, latency: float) -> None:
    """A beat that a stall delays past an input comes after the answer: nothing about it is left undecided."""
    model: Spec[str, str] = Spec(
        lambda state, _inp: [goto(state, "answer")],
        "on",
        ["in"],
        lambda state: [goto(state, "beat", after="beat", timers=[start("beat", 0.36, 0.5)])],
        timers=[start("beat", 0.36, 0.5)],
    )
    monitor = Monitor(Oracle(Model(model), timing=Timing(0.0, latency, latency)))
    came: list[Event] = [Seen("beat", "sut", beats), _answer(0.61)]
    came = [Stalled(0.2, 0.55), Sent("in", "sut", 0.6 - latency), *sorted(came, key=lambda each: each.at)]
    for event in (*came, Sent("in", "sut", 0.7), _answer(0.7)):
        monitor.tell(event)
    verdict = monitor.end()
    assert (verdict.outcome, verdict.judged.unheard) == ("pass", ())


@pytest.mark.parametrize(
    ("over", "rest", "unheard"),
    [
        (("over",), RENEWED, (("lease", 1),)),
        ((), RENEWED, ()),
        (("over",), [Stalled(0.2, 0.25), Sent("in", "sut", 0.3), _answer(0.3), Quiet(0.4)], ()),
        (("over",), [Stalled(0.2, 0.55), Seen("over", "sut", 0.6), Sent("in", "sut", 0.7), _answer(0.7)], ()),
    ],
)
def test_a_timer_that_was_due_and_never_heard_is_said(
    over: tuple[str, ...], rest: list[Event], unheard: tuple[tuple[str, int], ...]
) -> None:
    """The lease was over, but for a stall, and an input renewed it; not one not over, or heard, or silent."""
    model: Spec[str, str] = Spec(
        lambda _state, _inp: [goto("on", "answer", timers=[start("lease", 0.36, 0.5)])],
        "off",
        ["in"],
        lambda state: [goto("off", *over, after="lease")] if state == "on" else [],
    )
    monitor = Monitor(Oracle(Model(model), timing=Timing(0.0, 0.0, 0.0)))
    for event in (Sent("in", "sut", 0.0), _answer(0.0), *rest):
        monitor.tell(event)
    verdict = monitor.end()
    assert (verdict.outcome, verdict.judged.unheard) == ("pass", unheard)


@pytest.mark.parametrize(
    "events", [[Quiet(0.9)], [_tick(0.2), Seen("tock", "sut", 0.25)], [Seen(Undecodable(b"?", ""), "sut", 0.2)]]
)
def test_what_no_stall_explains(events: list[Event]) -> None:
    """An output that never comes, and one that nothing allows."""
    assert _judged(*events) == _judged(Stalled(0.1, 0.1), *events[:-1], Stalled(0.1, events[-1].at), events[-1])
    assert _judged(*events).startswith("fail")


def test_the_tester_itself_was_late() -> None:
    """The output was there before, by the slack of the monitor at most."""
    for slack, judged in ((0.06, None), (0.01, "fail")):
        monitor = Monitor(_oracle())
        monitor.tell(_tick(0.2))
        monitor.slack = slack
        verdict = monitor.tell(_tick(0.55))
        assert (verdict and verdict.outcome) == judged


@pytest.mark.parametrize(("slack", "judged"), [(0.1, None), (0.01, "fail")])
def test_what_an_answer_that_was_seen_late_started(slack: float, judged: str | None) -> None:
    """It may have begun as much earlier: what comes after it is not early for that."""
    model: Spec[str, str] = Spec(
        lambda _state, _inp: [goto("on", "answer", timers=[start("lease", 0.36, 0.5)])],
        "off",
        ["in"],
        lambda state: [goto("off", "over", after="lease")] if state == "on" else [],
    )
    monitor = Monitor(Oracle(Model(model, Routes(outputs=("sut",))), timing=Timing(0.1, 0.005, 0.005)))
    monitor.tell(Sent("in", "sut", 0.08))
    monitor.slack = slack
    assert monitor.tell(Seen("answer", "sut", 0.18)) is None
    monitor.slack = 0.0
    verdict = monitor.tell(Seen("over", "sut", 0.49))
    assert (verdict and verdict.outcome) == judged


def test_an_input_that_was_under_way_in_a_stall_may_be_taken_later() -> None:
    """By the length of the stall; what was dealt with before is not."""
    ledger = Ledger().then(Sent("in", "sut", 1.0), Timing(0.05, 0.005, 0.005))
    assert ledger.delay(Stalled(0.5, 1.502), 0.005).taken_by == pytest.approx(1.505)
    assert ledger.delay(Stalled(0.5, 2.0), 0.005) == ledger


def test_an_input_that_a_stall_delayed_may_be_taken_after_one_that_was_sent_in_the_stall() -> None:
    """On another port: then the system is busy with that one first, for R."""
    timing = Timing(0.05, 0.005, 0.002)
    ledger = Ledger().then(Sent("in", "P", 1.0), timing).then(Sent("in", "Q", 1.1), timing)
    delayed = ledger.delay(Stalled(0.5, 1.504), timing.busy)
    assert [each.span.b for each in delayed.inputs] == pytest.approx([1.507, 1.605])


def test_a_stall_is_judged_again_with_what_more_spontaneous_outputs_explain() -> None:
    """More of them were under way than are followed at first: what came meanwhile is looked at once more."""
    chatty: Spec[int, str] = Spec(
        lambda state, _inp: [goto(state, "answer")], 0, ["in"], lambda state: [goto(state, "tick")]
    )
    routes = Routes(("P", "Q"), lambda value: "P" if value == "tick" else "Q")
    monitor = Monitor(Oracle(Model(chatty, routes), timing=Timing(0.05, 0.1, 0.005)))
    ticks = [Seen("tick", "P", 1.06) for _ in range(6)]
    events: list[Event] = [Sent("in", "Q", 1.0), Seen("answer", "Q", 1.05), Stalled(0.01, 1.055), *ticks, Quiet(1.5)]
    for event in events:
        monitor.tell(event)
    assert monitor.end().outcome == "pass"


@pytest.mark.parametrize("told", ["before", "after"])
def test_a_device_that_keeps_its_schedule_after_a_stall(told: str) -> None:
    """A message is held up until 0.22 s, and the next comes at its time: 0.07 s later, where 0.08 s are the least."""
    node = cyclic(
        Spec(lambda state, _inp: [goto(state)], 0, ["in"], name="node"), "tick", "tick", every=0.1, jitter=0.01
    )
    monitor = Monitor(Oracle(Model(node, Routes(("P",), lambda _: "P")), timing=Timing(0.05, 0.005, 0.002)))
    stall, held = Stalled(0.02, 0.22), Seen("tick", "P", 0.22)
    events = [Seen("tick", "P", 0.1), *((stall, held) if told == "before" else (held, stall)), Seen("tick", "P", 0.29)]
    for event in events:
        monitor.tell(event)
    assert monitor.end().outcome == "pass"


@pytest.mark.parametrize(
    ("kind", "times", "last", "stalled", "proven"),
    [
        ("wrong", (), 40.0, 0.0, True),
        ("wrong", (), 40.0, 1.0, False),  # it may be a late answer to an earlier input
        ("wrong", ("due …",), 40.0, 1.0, False),
        ("undecodable", ("due …",), 40.0, 1.0, True),
        ("wrong", (), 20.0, 0.0, False),
        ("missing", (), 40.0, 0.5, True),
        ("missing", ("due …",), 40.0, 1.5, False),
    ],
)
def test_what_no_delay_explains(
    kind: FailureKind, times: tuple[str, ...], last: float, stalled: float, proven: bool
) -> None:
    """A value after a long time, or a silence that is far longer than any stall; nothing else of times is proven."""
    failure = Failure(Signature(kind, "s", "i", "a", "b"), 1, 1, "i", "b", "p", times=times)
    events: list[Event] = [Seen("a", "p", last - 10), Quiet(last)]
    assert is_proven(Verdict("fail", failure, stalled=stalled), events) is proven
    assert not is_proven(Verdict("pass"), events)


@pytest.mark.parametrize(
    ("kind", "off", "stall", "proven"),
    [
        ("late", 0.11, 0.04, True),
        ("early", 0.11, 0.04, True),
        ("missing", 0.11, 0.04, True),
        ("late", 0.11, 0.06, False),
        ("late", 0.015, 0.0, False),  # a loss too short to be recorded
        ("wrong", 0.11, 0.04, False),  # it may be a late answer to an earlier input
    ],
)
def test_a_window_that_is_missed_by_far(kind: FailureKind, off: float, stall: float, proven: bool) -> None:
    """A time counts, seen once, if twice any stall near it would not explain it; a long one half a minute ago may."""
    failure = Failure(Signature(kind, "s", "i", "a", "b"), 1, 1, "i", "b", "p", times=("due …",), off=off)
    events: list[Event] = [Stalled(2.0, 10.0), Seen("a", "p", 39.7), Stalled(stall, 39.8), Seen("a", "p", 40.0)]
    assert is_proven(Verdict("fail", failure, stalled=2.0), events) is proven


@pytest.mark.parametrize(("answers", "proven"), [(100, False), (500, True)])
def test_a_fast_run_is_long_by_its_events(answers: int, proven: bool) -> None:
    """A thousand events in two seconds have confirmed the stated times as half a minute does; two hundred have not."""
    events: list[Event] = []
    for number in range(answers):
        events += [Sent("i", "p", number / 250), Seen("o", "p", number / 250)]
    failure = Failure(Signature("missing", "s", "i", "a", "b"), 1, 1, "i", "b", "p", times=("due …",), off=0.4)
    assert is_proven(Verdict("fail", failure), [*events, Quiet(2.5)]) is proven
