"""Cyclic messages by one declaration: what a device may do with them, and what is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from otf.codec.malformed import Malformed
from otf.compose import Cycling, cyclic
from otf.core import Monitor, Timing
from otf.errors import ModelError, UsageError
from otf.explore.expiring import expiring
from otf.spec import Accept, Spec, Transition, drifting, goto, on, restrict, start, total
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.core.timed import PACINGS, driven, timed

EVERY, JITTER, WRAPS = 1.0, 0.1, 4
EXACT = Timing(quiescence=0.5, latency=0.001, busy=0.001)


def switch(_state: object, inp: object) -> Iterator[Transition[str]]:
    """Switch on and off."""
    yield goto("on" if inp == "a" else "off", "w")


def message(_state: object, number: int) -> object:
    """A message with its number."""
    return on("P", f"x{number}")


def is_on(state: object) -> bool:
    """Return whether the node is on."""
    return state == "on"


def node(*, always: bool = True, **times: Any) -> Spec[Any, Any]:  # noqa: ANN401 -- of cyclic
    """A node that counts to four: from power-on, or while it is on."""
    base: Spec[str, str] = Spec(switch, "off", ["a", "b"], name="node")
    given: dict[str, Any] = {"every": EVERY, "jitter": JITTER, "wraps": WRAPS}
    runs: dict[str, Any] = {} if always else {"runs": is_on}
    return cyclic(base, "beat", message, **{**given, **runs, **times})


def judged(spec: Spec[Any, Any], *beats: float | tuple[float, int]) -> str:
    """The kind of the failure, if messages come at these times; each has the next number, or the one that it names."""
    return told(spec, [each if isinstance(each, tuple) else (each, at) for at, each in enumerate(beats)])


def told(spec: Spec[Any, Any], beats: list[tuple[float, int]], *before: Event) -> str:
    """The same, after other events; at the end nothing comes for a period and a half."""
    monitor = Monitor(timed(spec, EXACT))
    events = [*before, *(Seen(f"x{number % 4}", "P", at) for at, number in beats)]
    for event in (*events, Quiet(events[-1].at + 0.9, restless=True)):
        monitor.tell(event)
    verdict = monitor.end()
    return verdict.outcome if verdict.failure is None else verdict.failure.kind


def test_a_steady_message_passes() -> None:
    """It begins anywhere in its first period, and each message may jitter; the number wraps around at four."""
    assert judged(node(), 0.6, 1.7, 2.5, 3.7, 4.6, 5.6, 6.6, 7.5, 8.6, 9.6, 10.6, 11.7, 12.6, 13.6) == "pass"


@pytest.mark.parametrize(
    ("beats", "kind"),
    [
        ([0.5, 1.5, 3.5], "late"),  # one is missing, and then the numbers go on, too
        ([0.5, 1.5, 1.51], "early"),  # doubled
        ([0.5, (1.5, 0)], "wrong"),  # frozen
        ([0.5, (1.5, 2)], "wrong"),  # skipped
        ([0.5, 1.5, 2.5, 3.5, (4.5, 4), (5.5, 6)], "wrong"),  # after the wrap
        ([1.5], "late"),  # begun too late
        ([0.5, 2.0], "late"),
        ([0.5, 1.2], "early"),
    ],
)
def test_what_is_wrong_is_found(beats: list[Any], kind: str) -> None:
    """Missing, doubled, frozen, skipped, wrapped at the wrong number, too slow and too fast."""
    assert judged(node(), *beats) == kind


@pytest.mark.parametrize("period", [0.97, 1.03])
def test_a_period_that_drifts_shows_in_the_mean(period: float) -> None:
    """Each period lies within its jitter; ten of them do not. A node that may drift by so much passes."""
    beats = [0.5 + number * period for number in range(30)]
    assert judged(node(over=1), *beats) == "pass"
    assert judged(node(over=10), *beats) in {"early", "late", "missing"}
    assert judged(node(over=10, drift=0.03), *beats) == "pass"


@pytest.mark.parametrize("over", [1, 2, 3, 10])
def test_jitter_does_not_add_up(over: int) -> None:
    """The extremes of it pass, whatever number of periods is averaged."""
    beats = [1.0 + number + (JITTER if number % 2 else -JITTER) * 0.999 for number in range(40)]
    assert judged(node(over=over), *beats) == "pass"


def test_it_runs_where_the_state_says() -> None:
    """It begins with the state, its number begins anew, and it ends with the state."""
    spec, up, off = node(always=False), Sent("a", "A", 0.0), Sent("b", "A", 0.0)
    assert told(spec, [(1.0, 0), (2.0, 1)], up, Seen("w", "Q", 0.0)) == "pass"
    assert told(spec, [(0.5, 0)]) != "pass"
    assert told(spec, [(0.5, 0)], off, Seen("w", "Q", 0.0)) != "pass"
    again: list[Event] = [up, Seen("w", "Q", 0.0), Seen("x0", "P", 0.9), Sent("b", "A", 1.0), Seen("w", "Q", 1.0)]
    assert told(spec, [], *again, Quiet(3.0)) == "pass"
    assert told(spec, [(5.5, 0)], *again, Sent("a", "A", 5.0), Seen("w", "Q", 5.0)) == "pass"
    assert told(spec, [(5.5, 1)], *again, Sent("a", "A", 5.0), Seen("w", "Q", 5.0)) != "pass"


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("always", [True, False])
@pytest.mark.parametrize("number", range(5))
def test_a_conforming_node_passes(mode: str, number: int, *, always: bool) -> None:
    """In each mode, whatever times are drawn within the bounds."""
    spec = node(always=always, every=3.0, jitter=0.5)
    verdict, events = driven(spec, "aabaabab", mode, number=number)
    assert verdict.outcome == "pass"
    assert events


def test_no_timer_is_lost() -> None:
    """Wherever one of its timers may expire, a transition is for it."""
    assert all(expiring(node()))
    assert all(expiring(node(always=False)))


def test_the_rest_of_the_model_is_as_it_was() -> None:
    """Spontaneous outputs, completion, malformed inputs and mistakes of the base pass through."""

    def emits(_state: object) -> Iterator[Any]:
        yield goto("on", "y")

    def malformed(_state: object, inp: Malformed) -> Any:  # noqa: ANN401 -- as a model yields it
        return None if inp.raw else [goto("on", "e")]

    def odd(state: str, inp: str) -> Any:  # noqa: ANN401 -- as a model yields it
        return [3] if inp == "odd" else [goto(state)] if inp == "a" else []

    base: Spec[Any, Any] = Spec(odd, "off", ["a"], emits, malformed=malformed)
    spec = cyclic(total(base), "beat", "x", every=1.0, first=(0.5, 0.6))
    assert spec.timers == (start("beat", 0.5, 0.6),)
    assert list(spec.inputs(Cycling("off"))) == ["a"]
    assert not spec.specifies(Cycling("off"), "b")
    ways: list[object] = [*spec.step(Cycling("off"), "odd")]
    assert ways == [3]
    assert spec.emits is not None
    assert [way.outputs for way in spec.emits(Cycling("off")) if isinstance(way, Transition)] == [("y",), ("x",)]
    assert spec.malformed is not None
    assert spec.malformed(Cycling("off"), Malformed(b"x", of=b"")) is None
    assert list(spec.malformed(Cycling("off", 2), Malformed(b"", of=b"")) or ()) == [goto(Cycling("on", 2), "e")]
    assert restrict(spec, lambda _state, _inp: True).timers == spec.timers


def test_an_accept_keeps_the_message_running() -> None:
    """It may not start or stop one, since its state is known only when its outputs have come."""
    base: Spec[Any, Any] = Spec(
        lambda _state, inp: [Accept(lambda _seen: ["on" if inp == "a" else "off"])], "off", ["a", "b"]
    )
    (way,) = cyclic(base, "beat", "x", every=1.0).step(Cycling("off", 2), "a")
    assert isinstance(way, Accept)
    assert list(way.then(())) == [Cycling("on", 2)]
    (starting,) = cyclic(base, "beat", "x", every=1.0, runs=is_on).step(Cycling("off"), "a")
    assert isinstance(starting, Accept)
    with pytest.raises(ModelError, match="an Accept starts or stops the cyclic message 'beat'"):
        starting.then(())


@pytest.mark.parametrize(
    "wrong", [{"every": 0}, {"jitter": -1}, {"drift": 1}, {"over": 0}, {"wraps": 0}, {"every": float("nan")}]
)
def test_times_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    """With the call, or with the one that is none."""
    with pytest.raises(UsageError, match=r"^cyclic(\(…, 'beat', every=|: \w+=\S+: a number of 0 or more is needed)"):
        node(**wrong)


def test_a_clock_that_drifts_widens_all_windows() -> None:
    """Of answers and of timers, also of those that run from the beginning."""
    spec = drifting(Spec(switch, "off", ["a"], timers=[start("t", 1.0, 2.0)]), 0.1)
    assert spec.timers == (start("t", 0.9, 2.2),)
    with pytest.raises(UsageError, match="a share from 0 to 1"):
        drifting(spec, 1.0)


def test_a_numbered_message_says_when_its_number_begins_again() -> None:
    """Without wraps= every message would have the number 0, and a right system would fail with its second one."""
    numbered = node(wraps=None)
    with pytest.raises(ModelError, match=r"give wraps=, such as 256 for an 8-bit counter"):
        list(numbered.emits(numbered.initial))  # type: ignore[misc]

    def named(state: str, _number: int) -> str:
        return state

    plain = cyclic(Spec(switch, "off", ["a"]), "beat", named, every=1.0)
    assert [way.outputs for way in plain.emits(plain.initial)] == [("off",)]  # type: ignore[misc, union-attr]
