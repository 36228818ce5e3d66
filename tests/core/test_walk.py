"""Walks through a system in the same process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest

from otf.core import Model, Oracle, Routes
from otf.core.walk import Walk, bounded
from otf.errors import ModelError, UsageError
from otf.spec import Spec, Transition, goto, total
from otf.strategy import Script, Strategy
from otf.trace.events import Closed, Quiet, Seen, Sent

LIMIT = 3


def _step(count: int, inp: str) -> Iterable[Transition[int]]:
    if inp == "up" and count < LIMIT:
        yield goto(count + 1, count + 1)
    elif inp == "down" and count:
        yield goto(count - 1)


COUNTER: Spec[int, str] = Spec(_step, 0, ["up", "down"])


class Counter:
    """The system; `wrong` is the number that it tells instead of two."""

    def __init__(self, wrong: object = 2) -> None:
        self.count = 0
        self.wrong = wrong

    def step(self, inp: Any) -> list[object]:  # noqa: ANN401 -- an input
        """Count."""
        self.count += {"up": 1, "down": -1}[inp]
        said: object = self.wrong if self.count == LIMIT - 1 else self.count
        return [said] if inp == "up" else []


def walk(act: Callable[[Any], Iterable[object]], spec: Spec[int, str] = COUNTER) -> Walk:
    """Return a walk through a system."""
    return Walk(Oracle(Model(spec, Routes(("line",)))), act)


def test_a_walk_goes_on_as_long_as_nothing_is_wrong() -> None:
    """All its steps are remembered, and are available as events."""
    ahead = walk(Counter().step)
    assert ahead.uniform(Random(1), 100).outcome == "pass"
    assert ahead.uniform(Random(2), 100).outcome == "pass"
    assert ahead.steps == 200
    assert list(ahead.events())[:3] == [Sent("up", "", 0.0), Seen(1, "line", 0.0), Quiet(0.0)]
    assert sum(isinstance(event, Sent) for event in ahead.events(150)) == 50


@pytest.mark.parametrize("wrong", [7, 2.0, None])
def test_a_walk_ends_with_the_first_wrong_output(wrong: object) -> None:
    """Another number, or one of another type."""
    verdict = walk(Counter(wrong).step).uniform(Random(1), 1000)
    assert verdict.failure is not None
    assert verdict.failure.seen == repr(wrong)


def test_a_walk_ends_where_nothing_may_be_offered() -> None:
    """The model specifies no input there."""
    spec = Spec[int, str](lambda state, _inp: [goto(1)] if not state else [], 0, ["up"])
    ahead = walk(lambda _inp: (), spec)
    assert ahead.uniform(Random(1), 10).outcome == "pass"
    assert ahead.steps == 1


def test_a_chooser_says_what_is_tried() -> None:
    """Step by step; the walk is over when it has nothing more to say."""
    ahead = walk(Counter().step)
    chooser = Script(["up", "up", "down"])
    assert ahead.chosen(chooser, 2) is None
    assert ahead.chosen(chooser, 2) == ahead.end()
    assert [*ahead.history] == [("up", (1,)), ("up", (2,)), ("down", ())]


def test_a_failure_stands() -> None:
    """It is found however the inputs are chosen, and stays the verdict."""
    ahead = walk(Counter(wrong=5).step)
    verdict = ahead.chosen(Strategy("random", "uioco", 1).path(1), 1000)
    assert verdict is not None
    assert verdict.failed
    assert ahead.end() is verdict


def test_a_script_may_send_what_is_not_offered() -> None:
    """A down at nought is ignored by the completed model, and by this system."""
    ahead = walk(lambda _inp: (), total(COUNTER))
    assert ahead.chosen(Script(["down"]), 1) is None
    assert ahead.end().outcome == "pass"


def test_a_system_that_raises_has_ended() -> None:
    """That is an output which the model does not allow; an error of the model is no output."""

    def broken(_inp: object) -> list[object]:
        message = "no"
        raise ValueError(message)

    ahead = walk(broken)
    verdict = ahead.chosen(Script(["up"]), 1)
    assert verdict is not None
    assert verdict.failure is not None
    assert verdict.failure.kind == "ended"
    assert any(isinstance(event, Closed) for event in ahead.events())

    def confused(_inp: object) -> list[object]:
        message = "the model is broken"
        raise ModelError(message)

    with pytest.raises(ModelError, match="the model is broken"):
        walk(confused).chosen(Script(["up"]), 1)


@pytest.mark.parametrize("wrong", [None, "on", b"off", 7])
def test_a_function_that_returns_no_list(wrong: Any) -> None:  # noqa: ANN401 -- what a user's function may return
    """It is a mistake of the bench: the letters of a text would be outputs, and None would have ended the system."""
    with pytest.raises(UsageError, match=r"the system returned .* for the input 'up'; return a list of outputs"):
        walk(bounded(lambda _inp: wrong)).chosen(Script(["up"]), 1)
