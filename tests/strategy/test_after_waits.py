"""Coverage strategies look for what only time changes: they wait where that matters, and look at the change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, pairwise
from math import sqrt
from typing import Any, Final

import pytest

from otf.core import Model, Oracle
from otf.core.timing import Span
from otf.core.walk import Walk
from otf.spec import Elapse, OneOf, Spec, Transition, goto
from otf.strategy import STRATEGIES, Strategy

WAIT: Final = Elapse(2.5)
COVERING: Final = [name for name, kind in STRATEGIES.items() if kind.covers]
LENGTH: Final = 100  # steps of a path
SHOWN: Final = {"get", "touch"}
"""The inputs whose outputs show whether the item is there."""

Step = Callable[[Any, Any], Iterator[Transition[Any]]]


def _expiring(item: str, inp: object) -> Iterator[Transition[str]]:
    """Answer as a store of one item, that may expire in the state `soon`."""
    if inp == WAIT:
        yield goto("" if item == "soon" else item)
    elif inp in {"set", "soon", "delete"}:
        yield goto("" if inp == "delete" else str(inp), "ok")
    elif inp in SHOWN:
        yield goto(item, OneOf("END", "item") if item == "soon" else "item" if item else "END")
    else:
        yield goto(item, "bogus")


def _fresh(state: tuple[str, int], inp: object) -> Iterator[Transition[tuple[str, int]]]:
    """Answer as the same store, in states that never come again."""
    item, number = state
    for each in _expiring(item, inp):
        yield goto((each.state, number + 1), *each.outputs)


def _walk(step: Step, initial: object, name: str, others: int, steps: int) -> list[tuple[str, object]]:
    """Return the items of the states on paths of a strategy, each with the input that was chosen there."""
    inputs = (WAIT, "set", "soon", "delete", *SHOWN, *(f"other {number}" for number in range(others)))
    oracle, strategy = Oracle(Model(Spec(step, initial, inputs))), Strategy(name, "uioco", 1)
    found: list[tuple[str, object]] = []
    for number in range(steps // LENGTH):
        chooser, node = strategy.path(number + 1), oracle.model.initial
        for _ in range(LENGTH):
            chosen = chooser.choose(oracle.view(oracle.anywhere([node], Span(0.0, 0.0))))
            assert chosen is not None
            state: Any = node.value
            found.append((state if isinstance(state, str) else state[0], chosen.value))
            target = oracle.model.moves(node, chosen)[0].target
            assert target is not None
            node = target
    return found


@pytest.mark.parametrize("name", COVERING)
@pytest.mark.parametrize(("step", "initial"), [(_expiring, ""), (_fresh, ("", 0))], ids=["recurring", "fresh"])
@pytest.mark.parametrize("others", [2, 100])
def test_what_expires_is_looked_at_after_the_wait(name: str, step: Step, initial: object, others: int) -> None:
    """After a wait by which an item expires, every second input shows whether it is gone, with 100 inputs too."""
    walked = _walk(step, initial, name, others, 1600)
    after = [then in SHOWN for (item, inp), (_, then) in pairwise(walked) if item == "soon" and inp == WAIT]
    # by chance two of a hundred would; what follows always could repair what is wrong unseen
    assert any(after)
    assert len(after) - 3 * sqrt(len(after)) <= 2 * sum(after)
    assert len(after) < 20 or not all(after)


def test_long_lists_are_drawn_from() -> None:
    """Of more than a thousand inputs, some are drawn to find one that shows the change."""
    waits = [Elapse(2 + number / 1000) for number in range(300)]
    inputs = ["soon", *waits, *(f"look {number}" for number in range(800))]

    def step(item: str, inp: str | Elapse) -> Iterator[Transition[str]]:
        yield from _expiring(item, "get" if str(inp).startswith("look") else WAIT if isinstance(inp, Elapse) else inp)

    model = Model(Spec(step, "soon", inputs))
    oracle, chooser = Oracle(model), Strategy("least-input", "uioco", 1).path(1)
    soon, gone = (oracle.view(oracle.anywhere([model.node(item)], Span(0.0, 0.0))) for item in ("soon", ""))
    looks, waited = 0, 0
    for _ in range(200):
        chosen = chooser.choose(soon)
        if chosen is not None and isinstance(chosen.value, Elapse):
            then = chooser.choose(gone)
            waited, looks = waited + 1, looks + (then is not None and not isinstance(then.value, Elapse))
    # of the inputs 73 of 100 are looks, so chance alone would give fewer
    assert looks >= 0.8 * waited > 0


def test_without_waits_nothing_is_planned() -> None:
    """A wait that changes nothing is followed by any input."""
    walked = _walk(_expiring, "", "least-input", 100, 1000)
    after = {then for (item, inp), (_, then) in pairwise(walked) if item != "soon" and inp == WAIT}
    assert after - SHOWN


def _cache(state: tuple[tuple[str, str, int], ...], inp: tuple[str, str] | Elapse) -> Iterator[Transition[Any]]:
    """Answer as a cache of two keys, the last used at the end; each lives for three seconds."""
    if isinstance(inp, Elapse):
        aged = ((key, value, age + int(inp.seconds)) for key, value, age in state)
        yield goto(tuple(each for each in aged if each[2] < 3))
        return
    what, key = inp
    rest, hit = tuple(each for each in state if each[0] != key), tuple(each for each in state if each[0] == key)
    if what == "get":
        yield goto((*rest, *hit), hit[0][1] if hit else "miss")
    else:
        yield goto((*rest[-1:], (key, what, 0)), "ok")


class _Hoarding:
    """The same cache, but it keeps what has expired until the next `get`: a put may evict the living before it."""

    def __init__(self) -> None:
        self.now, self.kept = 0, dict[str, tuple[str, int]]()

    def act(self, inp: tuple[str, str] | Elapse) -> list[str]:
        """Take an input."""
        if isinstance(inp, Elapse):
            self.now += int(inp.seconds)
            return []
        what, key = inp
        if what != "get":
            self.kept.pop(key, None)
            if len(self.kept) == 2:
                del self.kept[next(iter(self.kept))]
            self.kept[key] = what, self.now
            return ["ok"]
        self.kept = {each: kept for each, kept in self.kept.items() if self.now - kept[1] < 3}
        if key not in self.kept:
            return ["miss"]
        self.kept[key] = self.kept.pop(key)
        return [self.kept[key][0]]


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_fault_that_any_look_repairs_is_found(seed: int) -> None:
    """The default finds what takes seven inputs in one order, with none after the wait that shows what expired."""
    inputs = [*((what, key) for what in ("one", "two", "get") for key in "abc"), Elapse(1), Elapse(2)]
    oracle, strategy, sent = Oracle(Model(Spec(_cache, (), inputs))), Strategy("alternating", "uioco", seed), 0
    for number in count(1):
        walk = Walk(oracle, _Hoarding().act)
        verdict = walk.chosen(strategy.path(number), 50)
        sent += walk.steps
        if verdict is not None and verdict.failed:
            return
        assert sent < 10_000


def test_each_fifth_path_is_left_to_chance() -> None:
    """What an input was tried before does not matter there, and its choice counts for the paths after it."""
    oracle = Oracle(Model(Spec(lambda lit, _: [goto(not lit)], initial=False, inputs=["a", "b", "c"])))
    view = oracle.view(oracle.start())
    for number in range(1, 11):
        strategy = Strategy("alternating", "uioco", 1)
        for _ in range(1000):
            strategy.visits.note(view, view.specified[0])
        chooser = strategy.path(number)
        chosen = [chooser.choose(view) for _ in range(50)]
        assert (view.specified[0] in chosen) == (number % 5 == 0)
        assert sum(map(sum, (table.values() for table in strategy.visits.inputs.values()))) == 1050
