"""A model as commands, with precondition, next state, run and postcondition: as in kiri-check and its relatives.

A command is an input: it says by itself when it may come, what it does to the model, how it is done to the system, and
which results are right. First inputs are generated on the model alone, then the system is driven with them; or both at
once, as everywhere in otf.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from operator import eq
from random import Random
from typing import Any

from otf.errors import ModelError
from otf.spec import Spec, Transition, Where
from otf.values import show


@dataclass(frozen=True)
class Result:
    """What a command returned when it was run on the system."""

    value: Any


class Command:
    """One command; write a frozen dataclass below this class. Only `run` must be there."""

    def precondition(self, state: Any) -> bool:  # noqa: ANN401 -- any state
        """Return whether it may come in this state of the model."""
        del state
        return True

    def next_state(self, state: Any) -> Any:  # noqa: ANN401 -- any state
        """Return the state of the model after it; the old one must not be changed."""
        return state

    def run(self, system: Any) -> Any:  # noqa: ANN401 -- any system
        """Do it to the system; return the result that is to be judged."""
        raise NotImplementedError

    def postcondition(self, state: Any, result: Any) -> bool:  # noqa: ANN401 -- any state and result
        """Return whether a result is right; `state` is the one before the command."""
        del state, result
        return True


@dataclass(frozen=True)
class Commands:
    """A model of commands and the system that they are run on.

    A bench of it is `Bench(model.spec, system=model.system, types=(Result,))`. `inputs` are the commands that there
    are, or a function of the state. `set_up` makes a fresh system for every path, `tear_down` gets it when the path is
    over. `initialize_precondition` has to hold of the initial state.

    A state that is no value (it can change, or does not compare) needs `copy`, `same` or both: how it is copied
    (default: deeply) and when two are the same (default: `==`). `next_state` gets a copy then, and may change it and
    return nothing.
    """

    initial: Any
    inputs: Iterable[Command] | Callable[[Any], Iterable[Command]]
    set_up: Callable[[], Any]
    tear_down: Callable[[Any], object] | None = None
    name: str = "commands"
    initialize_precondition: Callable[[Any], bool] | None = None
    copy: Callable[[Any], Any] | None = None
    same: Callable[[Any, Any], bool] | None = None

    @property
    def spec(self) -> Spec[Any, Command]:
        """Return the spec: each command leads to its next state, with a result for which its postcondition holds.

        Raises ModelError where the precondition of the initial state does not hold.
        """
        if self.initialize_precondition is not None and not self.initialize_precondition(self.initial):
            raise ModelError(
                f"{self.name}: the initialize_precondition does not hold of the initial state {show(self.initial)}"
            )
        if self.copy is None and self.same is None:
            return Spec(_step, self.initial, self.inputs, name=self.name)
        copy, same = self.copy or deepcopy, self.same or eq
        initial = Snapshot(copy(self.initial), same)
        return Spec(partial(_changed, copy, same), initial, self._offered, name=self.name)

    def _offered(self, state: Snapshot) -> Iterable[Command]:
        return self.inputs(state.value) if callable(self.inputs) else self.inputs

    def system(self) -> Callable[[Command], tuple[Result, ...]]:
        """Return a function that runs commands on a fresh system, which is torn down when the function is dropped."""
        system = self.set_up()

        def act(command: Command) -> tuple[Result, ...]:
            return (Result(command.run(system)),)

        if self.tear_down is not None:
            weakref.finalize(act, self.tear_down, system)
        return act


class Snapshot:
    """A state that is no value, as it was: compared by the function that the model gives."""

    __slots__ = ("_same", "value")

    def __init__(self, value: Any, same: Callable[[Any, Any], bool]) -> None:  # noqa: ANN401 -- any state
        self.value: Any = value
        self._same = same

    def __eq__(self, other: object) -> bool:
        """Return whether the model takes both for the same."""
        return isinstance(other, Snapshot) and bool(self._same(self.value, other.value))

    def __hash__(self) -> int:
        """Return the same number for all: what else two that are the same have in common is not known."""
        return hash(Snapshot)

    def __repr__(self) -> str:
        """Write it as the state writes itself."""
        return repr(self.value)


def _step(state: Any, command: Command) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- any state
    if command.precondition(state):
        yield Transition(command.next_state(state), (_right(state, command),))


def _changed(
    copy: Callable[[Any], Any], same: Callable[[Any, Any], bool], state: Snapshot, command: Command
) -> Iterator[Transition[Any]]:
    before = state.value
    if command.precondition(before):
        after = copy(before)
        changed = command.next_state(after)
        yield Transition(Snapshot(after if changed is None else changed, same), (_right(before, command),))


def _right(state: Any, command: Command) -> Where:  # noqa: ANN401 -- any state
    def right(result: Any) -> bool:  # noqa: ANN401 -- an output
        return isinstance(result, Result) and bool(command.postcondition(state, result.value))

    return Where(right, f"a result for which the postcondition of {type(command).__name__} holds")


def generated(spec: Spec[Any, Any], cycles: int, steps: int, seed: int = 0) -> list[list[Any]]:
    """Return inputs for so many paths of at most so many steps, drawn on the model alone.

    >>> from otf.spec import goto
    >>> up = Spec(lambda state, inp: [goto(state + 1)] if state < 3 else [], 0, ["up"])
    >>> generated(up, cycles=2, steps=10)
    [['up', 'up', 'up'], ['up', 'up', 'up']]
    """
    return [list(_walk(spec, steps, Random(f"{seed}/{cycle}"))) for cycle in range(cycles)]


def _walk(spec: Spec[Any, Any], steps: int, random: Random) -> Iterator[Any]:
    state = spec.initial
    for _ in range(steps):
        ways = [
            (inp, way) for inp in spec.inputs(state) for way in spec.step(state, inp) if isinstance(way, Transition)
        ]
        if not ways:
            return
        inp, way = random.choice(ways)
        yield inp
        state = way.state
