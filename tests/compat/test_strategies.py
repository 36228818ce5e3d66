"""PyModel's strategies choose for its models, and its cleanup phase ends a path where a run may end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from otf.adapter import Bench
from otf.compat.pymodel import bench, selecting, tidying
from otf.core.walk import Walk
from otf.errors import ModelError, UsageError
from otf.models.coffee import bench as coffee
from otf.strategy import StrategyKind
from otf.strategy.kinds import Strategy
from tests.compat.samples import SPEED, STACK, SWITCH, write

DEEP = """
import random
def select_action(enabled):
    pushes = [each for each in enabled if each[0] == 'push']
    name, args, result, state, properties = random.choice(pushes or enabled)
    return name, args
"""


def walked(tested: Bench, strategy: str | StrategyKind, steps: int = 20, path: int = 1) -> list[str]:
    """Return the inputs of a path."""
    assert tested.system is not None
    walk = Walk(tested.oracle(), tested.system())
    walk.chosen(Strategy(strategy, "uioco", seed=4).path(path), steps)
    return [repr(inp) for inp, _ in walk.history]


def test_a_module_chooses(tmp_path: Path) -> None:
    """A strategy is found by name or path, and the same seed gives the same choices."""
    stack = bench("Stack", folder=write(tmp_path, Stack=STACK, Deep=DEEP))
    first, second, third = (
        walked(stack, selecting(where, folder=tmp_path), 6) for where in ("Deep", str(tmp_path / "Deep.py"), "Deep")
    )
    assert first == second == third
    assert [each[:4] for each in first] == ["push", "push", "pop(", "push", "pop(", "push"]


def test_a_function_gets_what_pymodel_gives(tmp_path: Path) -> None:
    """A strategy gets each enabled action with its result, the next states of all models, and their properties."""
    given: list[Sequence[Any]] = []

    def first(enabled: Sequence[Any]) -> tuple[Any, Any]:
        given.append(list(enabled))
        return (None, None) if len(given) == 3 else enabled[0][:2]

    both = bench("Switch", "Speed", folder=write(tmp_path, Switch=SWITCH, Speed=SPEED))
    assert walked(both, selecting(first)) == ["On()", "Off()"]
    truths = {"accepting": False, "statefilter": True, "stateinvariant": True}
    assert given[0] == [
        ("On", (), None, {"Switch": {"power": True}, "Speed": 0}, truths),
        ("Faster", (), None, {"Switch": {"power": False}, "Speed": 1}, truths),
    ]


@pytest.mark.parametrize(("chosen", "says"), [(3, "returned 3"), (("On", (1,)), r"On\(1\), which is not enabled")])
def test_a_choice_that_is_none_is_told(tmp_path: Path, chosen: Any, says: str) -> None:  # noqa: ANN401 -- what a function may return
    """A strategy that returns anything but an enabled action is refused."""
    switch = bench("Switch", folder=write(tmp_path, Switch=SWITCH))
    with pytest.raises(ModelError, match=says):
        walked(switch, selecting(lambda _enabled: chosen))


def test_a_strategy_of_pymodel_chooses_for_its_models_only(tmp_path: Path) -> None:
    """A model that is not PyModel's, and a module without a strategy, are refused."""
    chooser = Strategy(selecting(random.choice), "uioco", seed=1).path(1)
    oracle = coffee().oracle()
    with pytest.raises(UsageError, match="for models of PyModel only"):
        Walk(oracle, lambda _inp: ()).chosen(chooser, 1)
    with pytest.raises(UsageError, match=r"a strategy has SelectAction\(enabled\)"):
        selecting("Stack", folder=write(tmp_path, Stack=STACK))


def test_cleanup_ends_where_a_run_may_end(tmp_path: Path) -> None:
    """After the steps of another strategy only cleanup actions are taken, until the state is accepting."""
    both = bench("Switch", "Speed", folder=write(tmp_path, Switch=SWITCH, Speed=SPEED), exclude=["Faster"])
    assert walked(both, tidying("random", after=3)) == ["On()", "Off()", "On()", "Off()"]
    assert walked(both, tidying("random", after=2)) == ["On()", "Off()"]


def test_cleanup_ends_where_it_can_do_nothing(tmp_path: Path) -> None:
    """A path ends if no cleanup action is enabled."""
    bare = SWITCH.replace("cleanup = (Off,)", "")
    assert walked(bench("Switch", folder=write(tmp_path, Switch=bare)), tidying("alternating", after=1)) == ["On()"]
