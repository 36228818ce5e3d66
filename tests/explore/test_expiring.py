"""Named timers of a model: each has a transition wherever it may expire, and each one in an `after` is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from otf.core import Model
from otf.explore.expiring import LOST, UNKNOWN, Expiring, expiring
from otf.explore.finding import Finding
from otf.explore.graph import Portless
from otf.spec import Accept, Spec, Transition, goto, start, stop
from otf.spec.transition import TimerAction
from tests.core.scripts import machine

Rows = Mapping[str, Sequence[Transition[str] | Accept]]


def found(steps: Rows, emits: Rows, limit: int = 1_000) -> dict[str, Finding]:
    """Return the findings for a machine: transitions by state and input, `"off a"`, and spontaneous ones by state."""
    inputs = sorted({each.split()[1] for each in steps})

    def step(state: str, inp: str) -> Iterable[Transition[str] | Accept]:
        return steps.get(f"{state} {inp}", [])

    spec = Spec(step, "off", inputs, lambda state: emits.get(state, []))
    return {each.law: each for each in expiring(spec, limit)}


def verdicts(steps: Rows, emits: Rows, limit: int = 1_000) -> list[str]:
    """Return both verdicts in words."""
    return [str(each.verdict) for each in found(steps, emits, limit).values()]


def on(*timers: TimerAction) -> Rows:
    """Return the way on, which does these things."""
    return {"off a": [goto("on", timers=timers)]}


def test_a_model_without_named_timers_has_nothing_to_be_found() -> None:
    """Time windows are not named timers, so there are no findings."""
    assert expiring(machine("s0 -a/x-> s1", "s1 -/z-> s0")) == []


def test_a_timer_with_a_transition_wherever_it_may_expire_is_right() -> None:
    """Both laws are proven if each timer has a transition wherever it may expire."""
    assert verdicts(on(start("t", 1, 2)), {"on": [goto("off", "x", after="t")]}) == ["proven", "proven"]


def test_a_timer_without_a_transition_is_named_with_its_state() -> None:
    """A lost timer is named with the way there; stopping it, or adding its transition, mends the model."""
    steps = on(start("t", 1, 2))
    emits: Rows = {"on": [goto("off", "x", after="t")]}
    aside: Rows = {"on b": [goto("aside", "z")]}
    first, *way = str(found({**steps, **aside}, emits)[LOST]).splitlines()
    assert "refuted: 't' may expire in 'aside', where no transition of emits has after='t'; stop it on" in first
    assert way == [
        "    1  'a' / nothing",
        "    2  'b' / 'z'",
    ]
    assert verdicts({**steps, "on b": [goto("aside", timers=[stop("t")])]}, emits) == ["proven", "proven"]
    assert verdicts({**steps, **aside}, {**emits, "aside": [goto("aside", after="t")]}) == ["proven", "proven"]


def test_a_timer_that_is_waited_for_and_never_started_is_named() -> None:
    """A transition after a timer that is never started can never happen, and is named."""
    unknown = found(on(start("t", 1, 2)), {"on": [goto("off", after="t"), goto("off", "x", after="tt")]})[UNKNOWN]
    assert "in 'on' emits has after='tt', and no transition starts 'tt'" in str(unknown)
    assert unknown.way[0].input == "a"


def test_time_tells_which_timer_comes_first() -> None:
    """The second one starts with the first and ends later: it does not expire in the state that the first ends."""
    steps = on(start("t", 1, 2), start("u", 3, 4))
    emits: Rows = {"on": [goto("more", "x", after="t")], "more": [goto("off", "y", after="u")]}
    assert verdicts(steps, emits) == ["proven", "proven"]
    assert verdicts(on(start("t", 1, 3), start("u", 3, 4)), emits) == ["refuted", "proven"]


def test_a_window_of_the_state_ends_it_as_well() -> None:
    """The state is left within a second, and the timer runs for three: it expires in the next one."""
    emits: Rows = {"on": [goto("more", "x", within=(0, 1))], "more": [goto("off", "y", after="u")]}
    assert verdicts(on(start("u", 3, 4)), emits) == ["proven", "proven"]
    assert verdicts(on(start("u", 1, 4)), emits) == ["refuted", "proven"]


def test_a_timer_that_must_have_expired_before_forbids_what_comes_later() -> None:
    """The first timer is lost at 1 s, so the transition after the second is reached without it."""
    emits: Rows = {"on": [goto("off", "x", after="u")]}
    lost = found(on(start("t", 1, 1), start("u", 2, 2)), emits)[LOST]
    assert "'t' may expire in 'on'" in str(lost)
    assert not lost


def test_a_tick_that_comes_ten_thousand_times_is_few_pairs() -> None:
    """A day's session that ticks every 10 s ends where the tick is stopped."""
    tick = start("tick", 9.5, 10.5)
    emits: Rows = {
        "on": [goto("on", "x", after="tick", timers=[tick]), goto("off", "y", after="day", timers=[stop("tick")])]
    }
    lost = found(on(tick, start("day", 86_000, 86_400)), emits)[LOST]
    assert str(lost) == "no lost timer: proven: 2 states with the timers that run there"


def test_what_was_not_seen_is_not_proven() -> None:
    """An Accept decides where it leads by its outputs; a bound cuts the rest off."""
    accepted: Rows = {"off a": [Accept(lambda seen: [seen[0]], "P", timers=(start("t", 1, 2),))]}
    assert verdicts(accepted, {"off": [goto("off", "x", after="t")]}) == ["passed", "undecided"]
    steps = on(start("t", 1, 2))
    assert verdicts(steps, {"on": [goto("off", "x", after="t")]}, limit=1) == ["passed", "passed"]


def test_an_input_that_changes_nothing_does_not_tear_timers_apart() -> None:
    """Ticks of 2 seconds in a session of 7: four cannot come before its end, whatever is asked in between."""

    def step(ticks: int, _inp: str) -> list[Transition[int]]:
        return [goto(ticks, "refused")] if ticks else [goto(1, timers=[start("tick", 2, 3), start("end", 6, 7)])]

    def emits(ticks: int) -> list[Transition[int]]:
        again = [goto(ticks + 1, "tick", after="tick", timers=[start("tick", 2, 3)])]
        return [*again, goto(0, "end", after="end", timers=[stop("tick")])] if ticks else []

    walk = Expiring(Model(Spec(step, 0, ["go"], emits), Portless()))
    walk.run()
    assert walk.whole
    assert {node.value for node, _ in walk.left} == {0, 1, 2, 3, 4}
