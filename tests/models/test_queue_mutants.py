"""The priority queue: the default strategy finds all of its mutants."""

from __future__ import annotations

import pytest

from otf.core import Model, Oracle
from otf.core.walk import Walk
from otf.models.queue import FAULTS, QUEUE, Elements, react
from otf.strategy import Strategy

PATHS, STEPS = 200, 50


def found(fault: str, seed: int) -> bool:
    """Whether paths of the default strategy show a mutant to be wrong, within 10,000 inputs."""
    oracle, strategy = Oracle(Model(QUEUE)), Strategy("alternating", "uioco", seed)
    return any(failed(oracle, strategy, fault, path) for path in range(1, PATHS + 1))


def failed(oracle: Oracle, strategy: Strategy, fault: str, path: int) -> bool:
    """Whether one path does."""
    state: Elements = None

    def act(inp: object) -> tuple[object, ...]:
        nonlocal state
        state, outputs = react(fault, state, inp)
        return outputs

    verdict = Walk(oracle, act).chosen(strategy.path(path), STEPS)
    return verdict is not None and verdict.failed


def test_there_are_ten() -> None:
    """As in the paper."""
    assert len(FAULTS) == 10


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mutant_is_found(fault: str) -> None:
    """With two seeds."""
    assert found(fault, 1)
    assert found(fault, 2)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_mutant_is_found_with_each_of_60_seeds(fault: str) -> None:
    """No seed is unlucky."""
    assert [seed for seed in range(1, 61) if not found(fault, seed)] == []


def test_the_right_queue_passes() -> None:
    """No false alarm in as many paths."""
    assert not found("", 1)
