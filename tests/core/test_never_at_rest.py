"""Systems that never rest because a window obliges them to speak for ever: driven and judged all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otf.core import Monitor, Timing, Wait
from otf.spec import Accept, OneOf, Spec, Transition, goto
from otf.trace.events import Event, KnownBy, Quiet, Seen, Sent
from tests.core.timed import PACINGS, Device, event, inputs, played, session, timed

TIMING = Timing(0.1, 0.002, 0.002)
OFTEN = (0.01, 0.05)
SELDOM = (0.1, float("inf"))


def ticking(within: tuple[float, float], answer: tuple[float, float] | None = None) -> Spec[str, str]:
    """Return a device that emits x again and again, and answers a with y."""
    return Spec(
        lambda state, _inp: [goto(state, "y", within=answer)],
        "on",
        ["a"],
        lambda state: [goto(state, "x", within=within)],
    )


class Clock(Device):
    """Emits x at this interval from the first to the last time, and answers a with y a while later."""

    def __init__(self, every: float, answers: float | None = 0.001, last: float = float("inf")) -> None:
        super().__init__()
        self.every, self.answers, self.last = every, answers, last
        self.said("x", 0.0)

    def take(self, inp: object, at: float) -> None:  # noqa: ARG002 -- it takes any
        if self.answers is not None:
            self.say("y", at + self.answers)

    def said(self, output: object, at: float) -> None:
        if output == "x" and at + self.every < self.last:
            self.say("x", at + self.every)


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("every", [0.011, 0.03, 0.049])
def test_a_device_that_ticks_too_often_for_silence_is_driven(every: float, mode: str) -> None:
    """All five inputs are sent, and the path passes; what has to come is not a flood, however long it goes on."""
    verdict, events = played(
        session(ticking(OFTEN), ["a"] * 5, PACINGS[mode](TIMING), TIMING), Clock(every), most=11_000
    )
    assert (verdict.outcome, inputs(events)) == ("pass", ["a"] * 5)
    assert len(events) < 1_000


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize(("answers", "outcome"), [(0.001, "pass"), (None, "fail")])
def test_a_latency_longer_than_the_period_of_a_message_keeps_no_input_back(
    mode: str, answers: float | None, outcome: str
) -> None:
    """L is 0.03 s, and x comes each 0.02 s: an input is sent each 0.3 s at least, and a missing answer is found."""
    timing = Timing(0.1, 0.03, 0.002)
    verdict, events = played(
        session(ticking(OFTEN), ["a"] * 20, PACINGS[mode](timing), timing), Clock(0.02, answers), most=11_000
    )
    assert verdict.outcome == outcome
    assert events[-1].at < 0.3 * len(inputs(events)) + 10 * timing.quiescence


def test_in_strict_mode_each_input_waits_for_the_answer_to_the_last() -> None:
    """Outputs that a window obliges for ever do not delay an input; all other outstanding outputs do."""
    _, events = _strictly(ticking(OFTEN, (0.2, 0.3)), Clock(0.03, 0.25), 5)
    order = [_word(each) for each in events if _word(each) in {"a", "y"}]
    assert order == ["a", "y"] * 5


def test_in_strict_mode_what_is_owed_once_is_waited_for() -> None:
    """The ticks go on for ever, the welcome comes once: the first input is sent after it."""

    def emits(state: str) -> Iterator[Transition[str]]:
        yield goto(state, "x", within=OFTEN)

    spec: Spec[str, str] = Spec(_welcomed, "off", ["a", "c"], lambda state: emits(state) if state != "off" else [])
    _, events = _strictly(spec, Welcoming(), 3, script=["c", "a", "a"])
    order = [_word(each) for each in events if _word(each) in {"a", "y", "c", "w"}]
    assert order == ["c", "w", "a", "y", "a", "y"]


def _welcomed(state: str, inp: str) -> list[Transition[str]]:
    if inp == "c":
        return [goto("on", "w", within=(0.5, 1))] if state == "off" else [goto(state)]
    return [goto(state, "y")] if state == "on" else []


class Welcoming(Clock):
    """Is silent until c, emits w 0.7 s later, and then ticks."""

    def __init__(self) -> None:
        super().__init__(0.03, 0.001, 0.0)

    def take(self, inp: object, at: float) -> None:
        if inp == "c":
            self.last = float("inf")
            self.say("w", at + 0.7)
        else:
            super().take(inp, at)

    def said(self, output: object, at: float) -> None:
        super().said("x" if output == "w" else output, at)


def _strictly(
    spec: Spec[str, str], device: Device, most: int, script: list[str] | None = None
) -> tuple[str, list[Event]]:
    run = session(spec, script or ["a"] * most, PACINGS["strict"](TIMING), TIMING)
    verdict, events = played(run, device, most=3_000)
    return verdict.outcome, events


def _word(event: Event) -> object:
    if isinstance(event, Sent):
        return event.input
    return event.output if isinstance(event, Seen) else None


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("every", [0.15, 0.3, 5.0, float("inf")])
def test_a_tick_that_may_stay_away_for_ever_keeps_nothing_waiting(every: float, mode: str) -> None:
    """At least 0.1 s apart, with no upper bound: the inputs are sent between, and without any tick."""
    verdict, events = played(session(ticking(SELDOM), ["a"] * 5, PACINGS[mode](TIMING), TIMING), Clock(every))
    assert (verdict.outcome, inputs(events)) == ("pass", ["a"] * 5)


@pytest.mark.parametrize("mode", ["strict", "eager"])
@pytest.mark.parametrize(
    ("device", "within", "kinds"),
    [
        (Clock(0.03, last=0.2), OFTEN, {"missing"}),
        (Clock(0.005), OFTEN, {"early"}),
        (Clock(0.08), OFTEN, {"late", "missing"}),
        (Clock(0.05, 0.001), SELDOM, {"early"}),
        (Clock(0.03, None), OFTEN, {"missing", "wrong", "late"}),
    ],
)
def test_a_wrong_device_that_never_rests_fails(
    device: Clock, within: tuple[float, float], kinds: set[str], mode: str
) -> None:
    """Its ticks stop, come too often, too seldom; or it does not answer."""
    fresh = Clock(device.every, device.answers, device.last)
    verdict, _ = played(session(ticking(within), ["a"] * 5, PACINGS[mode](TIMING), TIMING), fresh, most=2_000)
    assert verdict.failure is not None
    assert verdict.failure.kind in kinds


@pytest.mark.parametrize("mode", ["strict", "eager"])
def test_what_no_window_obliges_does_not_keep_inputs_back(mode: str) -> None:
    """Ticks without end that may come but need not: nothing needs them to stop."""
    spec: Spec[str, str] = Spec(lambda s, _i: [goto(s, "y")], "on", ["a"], lambda s: [goto(s, "x")])
    verdict, events = played(session(spec, ["a"] * 5, PACINGS[mode](TIMING), TIMING), Clock(0.03), most=11_000)
    assert verdict.outcome == "pass"
    assert sum(isinstance(event, Sent) for event in events) == 5


def test_what_came_by_itself_may_come_in_parts() -> None:
    """The x is the first of two spontaneous outputs: the second may be on its way then."""

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield goto("off", OneOf("x", "y"), OneOf("z", "w"))
            yield goto("off", "y", within=(5, 6))

    spec = Spec(lambda _state, _inp: [goto("on")], "off", ["a"], emits)
    rested = (*map(event, ("a?0", "x!1")), Quiet(1.0, restless=True))
    for last, verdict in (("z!1.05", "pass"), ("y!1.05", "fail")):
        judge = Monitor(timed(spec))
        for each in (*rested, event(last)):
            judge.tell(each)
        assert judge.end().outcome == verdict


def test_half_of_what_a_window_obliges_is_no_flood() -> None:
    """Of two outputs that are accepted over and over, the second is outstanding, though only a function decides it."""

    def emits(state: str) -> Iterator[Accept]:
        yield Accept(lambda _seen: [state], "P", lambda seen: len(seen) > 1, (0.04, 0.06))

    judge = Monitor(timed(Spec(lambda state, _inp: [goto(state, "y")], "on", ["a"], emits), TIMING))
    for word in ("x!0.05", "z!0.05", "x!0.1"):
        judge.tell(event(word))
        assert judge.belief.ticking
        assert judge.belief.expecting


@pytest.mark.parametrize(("by", "restless"), [("observed", False), ("timed", True)])
def test_a_system_that_seems_to_speak_for_ever_may_be_seen_to_rest(by: KnownBy, restless: bool) -> None:
    """A greeting where any output may come: a rest ends the wait as for any system, its time ends it without one."""
    spec: Spec[str, str] = Spec(lambda s, _i: [goto(s)], "on", ["a"], lambda s: [goto(s, "x")])
    run = session(spec, ["a"], PACINGS["strict"](TIMING), TIMING)
    run.tell(event("x!0.01"))
    command = run.command()
    assert isinstance(command, Wait)
    assert (command.rest, command.restless) == (True, True)
    assert run.silence(command.until, by) == Quiet(command.until, restless, by=by)
