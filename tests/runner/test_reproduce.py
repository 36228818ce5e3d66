"""Showing a failure again with a bench and a few steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import anyio
import pytest

from otf import Bench, Spec, goto
from otf.core import Oracle
from otf.errors import ContactError
from otf.runner.reproduce import reproduce
from otf.shrink import Candidate, Issue, again
from otf.strategy.pool import PlanPatience
from tests.campaign.machine import TEA, Button, Coffee, Coin, Machine, Tea, bench, made_by

STEPS: list[tuple[object, list[object]]] = [(Coin(), []), (Coin(), []), (Coin(), []), (Button(), [Tea()])]
QUICK: dict[str, Any] = {"quiescence": 0.01, "latency": 0.001, "busy": 0.001}


def test_the_failure_is_told() -> None:
    """The assertion has the explanation with the steps."""
    with pytest.raises(AssertionError, match=r"FAIL \(wrong\)") as caught:
        reproduce(bench(TEA, **QUICK), STEPS)
    assert "4  Button()  ->  Tea()   <== here" in str(caught.value)


def test_a_system_that_was_mended_passes() -> None:
    """What is allowed raises nothing, and neither does a burst of it."""
    reproduce(bench(**QUICK), STEPS)
    reproduce(bench(**QUICK), [(Coin(), []), (Button(), [Coffee()])], burst=2)


def test_a_run_without_all_inputs_proves_no_repair() -> None:
    """A program whose inputs the model does not allow any more does not pass: it says how many it sent."""
    with pytest.raises(ContactError, match=r"no run decides .* sent 1 of 2 inputs"):
        reproduce(bench(inputs="uioco", **QUICK), [(Button(), []), (Coin(), [])], tries=2)


def test_a_failure_that_depends_on_chance_is_tried_again() -> None:
    """It shows in the third of three tries, and not in two."""
    copies = count(1)
    tested = made_by(lambda: Machine((TEA,) if next(copies) % 3 == 0 else ()), **QUICK)
    reproduce(tested, STEPS, tries=2)
    with pytest.raises(AssertionError):
        reproduce(tested, STEPS, tries=1)


def _step(state: int, inp: str) -> Any:  # noqa: ANN401 -- transitions
    if inp == "up":
        return [goto(state + 1), goto(state, "missed")]
    return [goto(state, state)]


def test_what_the_system_chose_is_brought_back() -> None:
    """A step that the system misses this time is taken once more."""
    spec = Spec(_step, initial=0, inputs=["up", "where"])
    ups = count(1)

    def make() -> Any:  # noqa: ANN401 -- a function
        at = 0

        def act(inp: object) -> list[object]:
            nonlocal at
            if inp == "where":
                return ["nowhere" if at == 2 else at]
            if next(ups) % 2:
                return ["missed"]
            at += 1
            return []

        return act

    with pytest.raises(AssertionError, match="nowhere"):
        reproduce(Bench(spec, system=make), [("up", []), ("up", []), ("where", ["nowhere"])])
    # where the outputs do not tell the way, the inputs alone are sent
    reproduce(Bench(spec, system=make), [("up", ["nothing known"]), ("where", [])])


@pytest.mark.parametrize(("pause", "over"), [(0.0, True), (60.0, False)])
def test_the_pause_of_the_bench_bounds_each_plan(monkeypatch: pytest.MonkeyPatch, pause: float, *, over: bool) -> None:
    """A system that waits for an input while a way back is planned waits no longer than its bench lets it."""
    waits: list[PlanPatience] = []

    def noted(issue: Issue, oracle: Oracle, patience: PlanPatience) -> Candidate:
        waits.append(patience)
        return again(issue, oracle, patience)

    monkeypatch.setattr("otf.runner.reproduce.again", noted)
    reproduce(replace(bench(**QUICK), pause=pause), STEPS)

    async def is_over() -> list[bool]:  # in real time, as a run that plans
        return [each()() for each in waits]

    assert anyio.run(is_over) == [over]
