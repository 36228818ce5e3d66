"""Coverage strategies look for what only time changes: they wait where that matters, and look at the change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final

import pytest

from otf.core import Model, Oracle
from otf.core.timing import Span
from otf.spec import Elapse, OneOf, Spec, Transition, goto
from otf.strategy import STRATEGIES, Strategy

WAIT: Final = Elapse(2.5)
COVERING: Final = [name for name in STRATEGIES if name != "random"]
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
    """A path stores an item that expires, waits, and then sends what shows whether it is gone, with 100 inputs too."""
    walked = _walk(step, initial, name, others, 800)
    looks = [then for (item, inp), (_, then) in pairwise(walked) if item == "soon" and inp == WAIT]
    assert any(each in SHOWN for each in looks)
    # an item that the system keeps is shown by these inputs alone; a path may end with the wait
    assert sum(each in SHOWN for each in looks) >= len(looks) - 2


def test_long_lists_are_drawn_from() -> None:
    """Of more than a thousand inputs, some are drawn to find one that shows the change."""
    waits = [Elapse(2 + number / 1000) for number in range(300)]
    inputs = ["soon", *waits, *(f"look {number}" for number in range(800))]

    def step(item: str, inp: str | Elapse) -> Iterator[Transition[str]]:
        yield from _expiring(item, "get" if str(inp).startswith("look") else WAIT if isinstance(inp, Elapse) else inp)

    model = Model(Spec(step, "soon", inputs))
    oracle, chooser = Oracle(model), Strategy("least-input", "uioco", 1).path(1)
    soon, gone = (oracle.view(oracle.anywhere([model.node(item)], Span(0.0, 0.0))) for item in ("soon", ""))
    for _ in range(50):
        chosen = chooser.choose(soon)
        if chosen is not None and isinstance(chosen.value, Elapse):
            shows = chooser.choose(gone)
            assert shows is not None
            assert str(shows.value).startswith("look")


def test_without_waits_nothing_is_planned() -> None:
    """A wait that changes nothing is followed by any input."""
    walked = _walk(_expiring, "", "least-input", 100, 1000)
    after = {then for (item, inp), (_, then) in pairwise(walked) if item != "soon" and inp == WAIT}
    assert after - SHOWN
