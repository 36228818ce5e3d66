"""The same walks with other tools: AALpy's random-walk oracle, Hypothesis's rule-based state machine."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from benchmarks.loops import fits
from otf.models.vending import Text
from otf.spec import Spec


def aalpy_walk(machine: Any, inputs: Sequence[Any], system: Callable[[], Any], walks: int, steps: int) -> int:
    """Walk with AALpy: the spec as a Mealy machine, the system behind its SUL interface."""
    from aalpy.base import SUL
    from aalpy.oracles import RandomWalkEqOracle

    class System(SUL):  # type: ignore[misc] -- AALpy has no types
        def pre(self) -> None:
            self.step = system().step

        def post(self) -> None:
            pass

        def step(self, letter: Any) -> Any:
            raise NotImplementedError

    random.seed(1)
    oracle = RandomWalkEqOracle(list(inputs), System(), num_steps=walks * steps, reset_prob=1 / steps)
    assert oracle.find_cex(machine) is None
    return walks * steps


def mealy(spec: Spec[Any, Any], inputs: Sequence[Any], limit: int) -> Any:
    """Return the spec as AALpy's Mealy machine, of at most `limit` states: far more than the walks reach."""
    from aalpy.automata import MealyMachine, MealyState

    states = {spec.initial: MealyState("0")}
    queue = deque([spec.initial])
    while queue:
        state = queue.popleft()
        for inp in inputs:
            (way,) = spec.step(state, inp)
            if way.state not in states and len(states) < limit:
                states[way.state] = MealyState(str(len(states)))
                queue.append(way.state)
            states[state].transitions[inp] = states.get(way.state, states[state])
            states[state].output_fun[inp] = _outputs(way)
    return MealyMachine(states[spec.initial], list(states.values()))


def _outputs(way: Any) -> tuple[Any, ...]:
    parts = [part for item in way.outputs for part in getattr(item, "items", (item,))]
    # a Mealy machine has no "any text": it gets the text of the system
    return tuple(Text("coffee") if part is Text else part for part in parts)


def hypothesis_walk(spec: Spec[Any, Any], inputs: Sequence[Any], system: Callable[[], Any], steps: int) -> int:
    """Walk with Hypothesis as its users do: a rule for each kind of input, a set of possible states beside."""
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis.stateful import run_state_machine_as_test

    machine = _machine(spec, inputs, system)
    checks = settings(
        max_examples=max(1, steps // 1000),
        stateful_step_count=1000,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=checks)
    return int(machine.done)


def _machine(spec: Spec[Any, Any], inputs: Sequence[Any], system: Callable[[], Any]) -> Any:
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Machine(RuleBasedStateMachine):  # type: ignore[misc] -- its metaclass is untyped
        done = 0

        def __init__(self) -> None:
            super().__init__()
            self.system = system()
            self.states = frozenset([spec.initial])

        def take(self, inp: object) -> None:
            Machine.done += 1
            outputs = self.system.step(inp)
            ways = (way for state in self.states for way in spec.step(state, inp))
            self.states = frozenset(way.state for way in ways if fits(way, outputs))
            assert self.states

    for number, group in enumerate(_kinds(inputs)):
        take = rule(inp=st.sampled_from(group))(lambda self, inp: self.take(inp))
        setattr(Machine, f"rule{number}", take)
    return Machine


def _kinds(inputs: Sequence[Any]) -> list[list[Any]]:
    """Return the inputs by kind: those of one dataclass together, members of an enum each on its own."""
    groups: dict[object, list[Any]] = {}
    for inp in inputs:
        groups.setdefault(inp if isinstance(inp, Enum) else type(inp), []).append(inp)
    return list(groups.values())
