"""A run as a conversation: the session issues commands and is given events. No clock, no waiting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from otf import strategy
from otf.core import (
    Limits,
    Model,
    Monitor,
    Oracle,
    Pacing,
    Send,
    Session,
    SessionCommand,
    Stop,
    Symbol,
    Timing,
    View,
    Wait,
)
from otf.core.pacing import Strict
from otf.core.timer_waits import Timers
from otf.spec import Accept, Spec, Transition, goto
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.verdict import Verdict
from tests.core.scripts import PORTS, machine, oracle, spec_of

TIMING = Timing(quiescence=1.0, latency=0.125, busy=0.5)
ECHO = machine("s0 -a/x-> s1", "s1 -c/z-> s0", "s1 -a/x-> s1", "s0 -c-> s0")


class Script:
    """Chooses the given inputs in turn, and notes the enabled inputs each time."""

    def __init__(self, inputs: str) -> None:
        self.left = list(inputs)
        self.enabled: list[str] = []

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None after the last."""
        self.enabled.append("".join(str(symbol.value) for symbol in view.specified))
        return view.model.symbol(self.left.pop(0)) if self.left else None


def session(
    spec: Spec[Any, Any] | Oracle, inputs: str, pacing: Pacing | None = None, *, steps: int = 100, flood: int = 10_000
) -> Session:
    """Return the session of a run with these inputs."""
    judge = spec if isinstance(spec, Oracle) else oracle(spec)
    pacing = pacing or Strict(TIMING)
    # the times of a bench are those of its oracle and of its pacing
    judge.timing = getattr(pacing, "timing", TIMING)
    return Session(judge, Script(inputs), pacing, steps=steps, flood=flood)


def sends(command: SessionCommand) -> object:
    """Return the input that is to be sent."""
    assert isinstance(command, Send), command
    return command.input.value


def waits(command: SessionCommand) -> float:
    """Return the time until which to wait."""
    assert isinstance(command, Wait), command
    return command.until


def stops(command: SessionCommand) -> Verdict:
    """Return the verdict at the end."""
    assert isinstance(command, Stop), command
    return command.verdict


def sent(run: Session, at: float) -> None:
    """Do what is asked for: send the next input."""
    value = str(sends(run.command()))
    run.tell(Sent(value, PORTS[value], at))


def silent(run: Session) -> Event | None:
    """Do what is asked for: wait, and nothing comes."""
    return run.silence(waits(run.command()))


def answer(run: Session, outputs: str, at: float) -> None:
    """Tell that outputs came."""
    for output in outputs:
        run.tell(Seen(output, PORTS[output], at))


def test_one_input_after_another_each_after_silence() -> None:
    """Send, wait for a second after the last output, send; at the end of the script the run is over."""
    run = session(ECHO, "ac")
    sent(run, 0.0)
    assert waits(run.command()) == 1.0
    answer(run, "x", 0.5)
    assert waits(run.command()) == 1.5
    assert run.silence(1.5) == Quiet(1.5)
    sent(run, 1.5)
    answer(run, "z", 1.75)
    assert silent(run) == Quiet(2.75)
    assert stops(run.command()) == Verdict("pass")


def test_patience_counts_from_the_first_rest_of_a_system_that_could_not_run() -> None:
    """A rest that comes late says that the system was kept from its processor: it may still be about to answer."""
    run = session(ECHO, "a")
    sent(run, 0.0)
    assert waits(run.command()) == 1.0
    assert run.silence(20.0, "observed") is None
    assert waits(run.command()) == 29.0  # ten times the usual wait in all, and nine of these from that rest
    assert run.silence(29.0, "observed") == Quiet(29.0, by="observed")
    assert stops(run.command()).failed


def test_patience_of_the_clock_counts_from_the_end_of_the_wait() -> None:
    """Silence that is timed has lasted since the last event, whenever the tester looks."""
    run = session(ECHO, "a")
    sent(run, 0.0)
    assert waits(run.command()) == 1.0
    assert run.silence(20.0) == Quiet(20.0)


def test_a_command_that_was_not_carried_out_is_given_again() -> None:
    """The input stays chosen until it was sent."""
    run = session(ECHO, "ac")
    assert [sends(run.command()), sends(run.command())] == ["a", "a"]


def test_a_run_has_as_many_steps_as_it_may() -> None:
    """Two of a longer script; the last one is waited out like the others."""
    run = session(ECHO, "aaaa", steps=2)
    for at in (0.0, 2.0):
        sent(run, at)
        answer(run, "x", at)
        assert silent(run) == Quiet(at + 1)
    assert stops(run.command()).outcome == "pass"
    assert run.monitor.sent == 2


def test_the_chooser_sees_what_may_be_offered() -> None:
    """In s0 only a is specified, in s1 also c; it is asked once a step, and not again after the last."""
    script = Script("a")
    run = Session(oracle(machine("s0 -a/x-> s1", "s1 -a-> s1", "s1 -c-> s1")), script, Strict(TIMING), steps=9)
    sent(run, 0.0)
    answer(run, "x", 0.0)
    silent(run)
    stops(run.command())
    stops(run.command())
    assert script.enabled == ["a", "ac"]


def test_a_failure_ends_a_run_at_once() -> None:
    """After a wrong output the session does not wait; later events are accepted and change nothing."""
    run = session(ECHO, "ac")
    sent(run, 0.0)
    answer(run, "z", 0.25)
    failed = stops(run.command())
    assert run.verdict == failed
    assert failed.failure is not None
    assert failed.failure.kind == "wrong"
    answer(run, "xxz", 0.5)
    assert stops(run.command()) == failed


def test_the_window_is_never_shorter_than_the_bounds_allow() -> None:
    """With next to no quiescence time 2L + nR counts, from the last input on: 0.75 for one input."""
    run = session(ECHO, "a", Strict(Timing(quiescence=0.01, latency=0.125, busy=0.5)))
    sent(run, 1.0)
    assert waits(run.command()) == 1.75
    answer(run, "x", 1.25)
    assert waits(run.command()) == 1.75
    answer(run, "x", 1.745)
    assert stops(run.command()).failed


@pytest.mark.parametrize(("inputs", "until"), [(1, 0.75), (2, 1.25), (4, 2.25)])
def test_it_grows_with_the_inputs_that_are_not_proven_taken(inputs: int, until: float) -> None:
    """Each may keep the system busy for R."""
    run = session(machine("s0 -a-> s0"), "", Strict(Timing(quiescence=0.01, latency=0.125, busy=0.5)))
    for _ in range(inputs):
        run.tell(Sent("a", "A", 0.0))
    assert waits(run.command()) == until


def test_silence_that_would_fail_is_waited_out_ten_times_as_long() -> None:
    """X is missing after a second; that is believed after ten."""
    run = session(ECHO, "a")
    sent(run, 0.0)
    assert silent(run) is None
    assert waits(run.command()) == 10.0
    assert run.silence(10.0) == Quiet(10.0)
    failed = stops(run.command())
    assert failed.failure is not None
    assert failed.failure.kind == "missing"


def test_an_output_in_that_time_is_judged_and_said_to_be_late() -> None:
    """X comes after three seconds: it is right, and it was the second event."""
    run = session(ECHO, "a")
    sent(run, 0.0)
    silent(run)
    answer(run, "x", 3.0)
    assert waits(run.command()) == 4.0
    assert silent(run) == Quiet(4.0)
    assert stops(run.command()) == Verdict("pass", late=(2,))


def test_a_wrong_output_in_that_time_fails_and_is_late() -> None:
    """Lateness does not excuse a wrong output."""
    run = session(ECHO, "a")
    sent(run, 0.0)
    silent(run)
    answer(run, "z", 3.0)
    assert (stops(run.command()).failed, run.late) == (True, [2])


def test_silence_without_duration_is_believed_at_once() -> None:
    """Where a system answers in no time, ten times no time is no reason to ask again."""
    run = session(ECHO, "a", Strict(Timing(0.0, 0.0, 0.0)))
    sent(run, 0.0)
    assert run.silence(waits(run.command())) == Quiet(0.0)
    assert stops(run.command()).failed


def test_what_may_come_unasked_is_looked_for_first() -> None:
    """Before the first input there is a window, and outputs in it are judged."""
    run = session(machine("s0 -/x-> s1", "s0 -a-> s0", "s1 -a-> s1"), "a")
    assert waits(run.command()) == 1.0
    answer(run, "x", 0.5)
    assert silent(run) == Quiet(1.5)
    assert sends(run.command()) == "a"


def test_an_output_between_choice_and_sending_may_make_an_input_senseless() -> None:
    """A was chosen in s0; then z came spontaneously, and s1 specifies only c: the next of the script is chosen."""
    spec = machine("s0 -a-> s0", "s0 -/z-> s1", "s1 -c-> s1", "s0 -c-> s0")
    run = session(spec, "ac")
    silent(run)
    assert sends(run.command()) == "a"
    answer(run, "z", 1.25)
    silent(run)
    assert sends(run.command()) == "c"


def test_an_input_that_still_makes_sense_is_kept() -> None:
    """X came spontaneously, but a is specified afterwards as well."""
    spec = machine("s0 -a-> s0", "s0 -/x-> s1", "s1 -a-> s1")
    run = session(spec, "ac")
    silent(run)
    assert sends(run.command()) == "a"
    answer(run, "x", 1.25)
    silent(run)
    assert sends(run.command()) == "a"


def test_where_the_model_says_nothing_any_more_the_run_stops() -> None:
    """C is unspecified in s1: once that was taken, nothing that comes can be judged."""
    run = session(machine("s0 -a-> s1"), "acccc")
    sent(run, 0.0)
    silent(run)
    sent(run, 1.0)
    assert waits(run.command()) == 2.0
    answer(run, "x", 1.5)
    assert stops(run.command()) == Verdict("pass", truncated=True)


def test_what_is_owed_is_waited_for_even_then() -> None:
    """Y was outstanding before the unspecified input was taken, so its absence is a failure."""
    run = session(machine("s0 -a/y-> s1"), "", steps=0)
    run.tell(Sent("a", "A", 0.0))
    run.tell(Sent("c", "A", 0.0))
    answer(run, "x", 0.5)
    assert waits(run.command()) == 1.5
    assert silent(run) is None
    silent(run)
    assert stops(run.command()).failed


def flooded(spec: Spec[Any, Any], events: Sequence[Event]) -> Verdict:
    """Return the verdict on a run in which at most five outputs may come at once."""
    run = session(spec, "aa", flood=5)
    if isinstance(run.command(), Send):
        sent(run, 0.0)
    for event in events:
        run.tell(event)
    return stops(run.command()) if run.verdict else Verdict("pass", why="it goes on")


def test_outputs_without_end_are_a_failure() -> None:
    """The sixth output without a pause ends the run: the model allows each of them, but no tester can wait for ever."""
    ticking = machine("s0 -/x-> s0", "s0 -a-> s0")
    assert flooded(ticking, [Seen("x", "P", 0)] * 5).why == "it goes on"
    failure = flooded(ticking, [Seen("x", "P", 0)] * 6).failure
    assert failure is not None
    assert (failure.kind, failure.event, failure.seen) == ("flood", 6, "more than 5 outputs without a pause")
    assert str(failure.signature) == "flood: str --no input--> expected a pause, seen outputs"


def test_a_flood_after_an_input_names_the_input() -> None:
    """An Accept that is never complete collects for ever."""
    endless = spec_of(Accept(lambda seen: [seen], "P", until=lambda _seen: False))
    failure = flooded(endless, [Seen("x", "P", 0)] * 6).failure
    assert failure is not None
    assert (failure.input, failure.step, failure.signature.input) == ("'a'", 1, "str")


def test_a_pause_or_an_input_ends_a_flood() -> None:
    """Five, silence, five: no more than five without a pause."""
    ticking = machine("s0 -/x-> s0", "s0 -a-> s0")
    for between in (Quiet(0), Sent("a", "A", 0)):
        assert flooded(ticking, [*[Seen("x", "P", 0)] * 5, between, *[Seen("x", "P", 0)] * 5]).why == "it goes on"


def test_a_long_answer_is_no_flood() -> None:
    """The model demands eight outputs, and they come; the system need not pause between them."""
    long = machine("s0 -a/x x x x x x x x-> s1", "s1 -a-> s1")
    assert flooded(long, [Seen("x", "P", 0)] * 8).why == "it goes on"
    assert flooded(long, [*[Seen("x", "P", 0)] * 7, Quiet(0)]).outcome == "fail"


def test_a_flood_does_not_hide_a_failure() -> None:
    """The first output was wrong; that more came does not matter."""
    failure = flooded(ECHO, [Seen("z", "P", 0)] * 20).failure
    assert failure is not None
    assert failure.kind == "wrong"


def test_a_flood_that_the_model_may_leave_open_is_no_failure() -> None:
    """A or c was taken first; after c, which s0 leaves open, a system may do as it likes."""
    spec = machine("s0 -b-> s0", "s0 -/x-> s0", "s0 -a-> s0")
    run = session(spec, "", flood=5)
    run.tell(Sent("d", "B", 0))
    answer(run, "xxxxxx", 0.0)
    assert stops(run.command()).outcome == "inconclusive"


def test_a_flood_of_what_may_come_is_a_flood() -> None:
    """No silence and no restless quiescence came between: the session was not asked to wait."""
    beating = machine("s0 -/y-> s0", "s0 -a/x-> s0")
    run = session(oracle(beating, limits=Limits(spontaneous=1)), "a", flood=5)
    silent(run)
    sent(run, 2.0)
    answer(run, "xyyyyyy", 2.0)
    assert stops(run.command()).failed


def test_the_end_of_a_port_ends_a_run() -> None:
    """A system that is gone is never waited for."""
    run = session(ECHO, "a")
    sent(run, 0.0)
    run.tell(Closed("P", "exit status 1", 0.5))
    failure = stops(run.command()).failure
    assert failure is not None
    assert failure.kind == "ended"


def test_another_judge() -> None:
    """A monitor that is put in the place of the first is the one that judges, and that the pacing asks."""
    judge = oracle(ECHO)
    run = session(judge, "a")
    first, run.monitor = run.monitor, Monitor(judge)
    sent(run, 0.0)
    assert waits(run.command()) == 1.0
    answer(run, "x", 0.5)
    assert (first.events, run.monitor.events, run.monitor.sent) == (0, 2, 1)


class LastEnabled:
    """Chooses the last of the enabled inputs, None if there is none."""

    def choose(self, view: View) -> Symbol | None:
        """Return the next input."""
        return view.specified[-1] if view.specified else None


def _booting(window: tuple[float, float] | None, *, reset: bool = False) -> Session:
    """Return the session of a device that says hello when it has booted, and takes no input before."""

    def step(state: str, inp: str) -> list[Transition[str]]:
        return [goto("boot") if inp == "reset" else goto("up", "ok")] if state == "up" else []

    def emits(state: str) -> list[Transition[str]]:
        return [goto("up", "hello", within=window)] if state == "boot" else []

    model = Model(Spec(step, "up" if reset else "boot", ["go", "reset"], emits))
    oracle = Oracle(model, timing=Timing(0.1, 0.01, 0.01))
    return Session(oracle, LastEnabled(), Strict(oracle.timing, Timers(between=False)), steps=3)


def _rest(session: Session) -> None:
    """Let the present wait end in silence."""
    command = session.command()
    assert isinstance(command, Wait)
    session.silence(command.until)


def test_a_device_that_boots_is_waited_for() -> None:
    """Its window says by when: until then there is nothing to send, and then the path goes on."""
    session = _booting((0.3, 2.0))
    _rest(session)
    assert isinstance(wait := session.command(), Wait)
    assert wait.until == pytest.approx(2.02)
    session.tell(Seen("hello", "sut", 1.0))
    _rest(session)
    assert isinstance(sent := session.command(), Send)
    assert sent.input.value == "reset"


def test_a_device_that_never_boots_fails() -> None:
    """The window is over, and its output is missing, also after a second look."""
    session = _booting((0.3, 2.0))
    for _ in range(3):
        _rest(session)
    assert isinstance(stop := session.command(), Stop)
    assert stop.verdict.failure is not None
    assert stop.verdict.failure.kind == "missing"


def test_a_device_that_boots_for_an_hour_in_the_middle_of_a_path_ends_it() -> None:
    """At the beginning it is waited for: without it there is no path at all."""
    for reset, ended in ((True, True), (False, False)):
        session = _booting((0.3, 3600.0), reset=reset)
        if reset:
            assert isinstance(session.command(), Send)
            session.tell(Sent("reset", "sut", 0.0))
        _rest(session)
        assert isinstance(session.command(), Stop) == ended


def test_a_device_that_may_boot_at_any_time_or_never() -> None:
    """Without a window nothing says how long to wait: the path ends with nothing sent."""
    session = _booting(None)
    _rest(session)
    assert isinstance(session.command(), Stop)


def test_a_message_that_comes_again_and_again_keeps_no_run_alive() -> None:
    """Where no input will ever be enabled, its first coming is waited for, and then the path ends."""
    spec: Spec[str, str] = Spec(
        lambda _state, _inp: [], "dead", ["go"], lambda state: [goto(state, "tick", within=(0.1, 0.2))]
    )
    oracle = Oracle(Model(spec), timing=Timing(0.05, 0.01, 0.01))
    session = Session(oracle, LastEnabled(), Strict(oracle.timing, Timers(between=False)), steps=3)
    _rest(session)
    assert isinstance(session.command(), Wait)
    session.tell(Seen("tick", "sut", 0.15))
    _rest(session)
    assert isinstance(session.command(), Stop)


def test_a_script_waits_for_a_device_that_boots() -> None:
    """So a failure of a device that boots is driven again: its inputs are not skipped before the banner."""
    session = _booting((0.3, 2.0))
    session.chooser = strategy.Script(["go"])
    _rest(session)
    assert isinstance(session.command(), Wait)
    session.tell(Seen("hello", "sut", 1.0))
    _rest(session)
    assert isinstance(session.command(), Send)
