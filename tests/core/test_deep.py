"""Explanations one at a time: the same verdicts and possible states as all at once, where that is too many."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from otf.core import Limits, Model, Monitor, Oracle, Routes
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent, Taken
from tests.core.enumeration import explained
from tests.core.random_specs import Shape, mutated, random_events, random_machine

CHUNK = 500
QUIET = Quiet(0.0)


class Deep(Monitor):
    """A monitor that keeps one explanation from the beginning, and after each quiescence."""

    def tell(self, event: Event) -> Any:  # noqa: ANN401 -- a verdict, or none
        """Judge an event."""
        if self._deep is None and self.verdict is None:
            self._overgrown(None)
        return super().tell(event)


def places(monitor: Monitor) -> set[object]:
    """Return the states in which the system may be, None where anything goes."""
    return {getattr(each.position, "value", None) for each in monitor.belief.hypotheses}


@pytest.mark.parametrize("seed", range(4))
def test_one_at_a_time_is_as_exact_as_all_at_once(seed: int) -> None:
    """Each verdict at its event, whether quiescence may follow, and the states after it; 2,000 cases."""
    quiet = failed = 0
    for number in range(seed * CHUNK, (seed + 1) * CHUNK):
        random = Random(number)
        machine = random_machine(random, Shape(emits=0))
        events = random_events(random, machine, random.randint(3, 9))
        events = mutated(random, machine, events) if random.random() < 0.5 else events
        deep, plain = (make(Oracle(Model(machine.spec(), machine.routes()))) for make in (Deep, Monitor))
        for event in events:
            verdicts = {"" if each.tell(event) is None else each.end().outcome for each in (deep, plain)}
            assert len(verdicts) == 1, number
            if deep.verdict is not None:
                failed += 1
                break
            assert deep.would(QUIET) == plain.would(QUIET), number
            if isinstance(event, Quiet):
                quiet += 1
                assert places(deep) == places(plain), number
        assert deep.end().failed != explained(machine, events[: deep.events]), number
    assert min(quiet, failed) > 50


def log(state: tuple[int, ...], inp: tuple[str, str, int]) -> Iterator[Transition[tuple[int, ...]]]:
    """Remember the last four inputs, and tell them."""
    kind, port, number = inp
    if kind == "put":
        yield goto((*state, number)[-4:])
    else:
        yield goto(state, (port, state))


def written(limits: Limits | None = None) -> Monitor:
    """Return a monitor after twelve silent inputs on four ports, and a question."""
    routes = Routes(("A", "B", "C", "D"), lambda value: value[1] if len(value) > 2 else value[0])
    monitor = Monitor(Oracle(Model(Spec(log, (), [("get", "A", 0)]), routes), limits=limits or Limits()))
    for number in range(12):
        monitor.tell(Sent(("put", "ABCD"[number % 4], number), "ABCD"[number % 4], 0.0))
    monitor.tell(Sent(("get", "A", 0), "A", 0.0))
    return monitor


def mixed(one: tuple[int, ...], other: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield all orders of two queues."""
    if not one or not other:
        yield (*one, *other)
        return
    yield from ((one[0], *rest) for rest in mixed(one[1:], other))
    yield from ((other[0], *rest) for rest in mixed(one, other[1:]))


def test_twelve_silent_inputs_on_four_ports() -> None:
    """Which order they were taken in is one of 369,600: an answer is explained, or by none of them."""
    right, wrong = written(), written()
    assert right.tell(Seen(("A", (3, 7, 11, 8)), "A", 0.1)) is None
    assert right.crowded
    assert right.tell(Quiet(1.0)) is None
    assert not right.crowded
    # of B's and C's inputs any number may be taken after it, in any order
    left = [mixed((1, 5, 9)[b:], (2, 6, 10)[c:]) for b in range(4) for c in range(4)]
    assert {node.value for node in right.states} == {(3, 7, 11, 8, *each)[-4:] for found in left for each in found}
    # B's inputs were taken in another order than they were sent
    failed = wrong.tell(Seen(("A", (9, 5, 1, 8)), "A", 0.1))
    assert failed is not None
    assert failed.outcome != "pass"


def ordered(silent: int) -> Monitor:
    """Return a monitor after so many silent inputs on four ports, each order of which leads to another state."""
    routes = Routes(("A", "B", "C", "D"), lambda value: value[0])
    spec = Spec[tuple[str, ...], str](lambda state, inp: [goto((*state, inp))], (), ["A"])
    monitor = Monitor(Oracle(Model(spec, routes)))
    for number in range(silent):
        monitor.tell(Sent(f"{'ABCD'[number % 4]}{number}", "ABCD"[number % 4], 0.0))
    return monitor


@pytest.mark.parametrize("silent", [12, 24])
def test_that_all_were_taken_needs_only_one_order(silent: int) -> None:
    """However many orders there are, the first one that is followed to its end explains it; 369,600 or more."""
    assert ordered(silent).tell(Taken(silent, 0.1)) is None


def test_what_would_be_explained_is_asked_of_one_order_too() -> None:
    """An output that no order gives would leave no state; that is said without judging it."""
    monitor = ordered(8)
    assert not monitor.would(Seen("x", "A", 0.1))
    assert (monitor.verdict, monitor.crowded) == (None, True)
    assert monitor.would(QUIET)


def test_what_takes_too_long_is_inconclusive() -> None:
    """With a tenth of the work the search ends, and says what to do."""
    verdict = written(Limits(hypotheses=20)).tell(Seen(("A", (9, 5, 1, 8)), "A", 0.1))
    assert verdict is not None
    assert verdict.outcome == "inconclusive"
    assert "with fewer inputs in flight there are fewer" in verdict.why
