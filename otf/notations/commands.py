"""A model as commands with precondition, next state, run and postcondition, as in kiri-check and similar tools.

A command is an input. It defines when it is enabled, what it does to the model, how it runs on the system, and which
results are right. You may generate inputs on the model alone, before the system runs, or on the fly, as usual in otf.
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
    """The output of a command; its `value` is what the command's `run` returned.

    >>> Result(5)
    Result(value=5)
    """

    value: Any


class Command:
    """The base class of commands: a command is a frozen dataclass with a method `run`; other methods are optional.

    >>> @dataclass(frozen=True)
    ... class Push(Command):
    ...     item: int
    ...     def next_state(self, state): return (*state, self.item)
    ...     def run(self, system): system.append(self.item)
    >>> Push(3).precondition(()), Push(3).next_state((1,)), Push(3).postcondition((), None)
    (True, (1, 3), True)
    """

    def precondition(self, state: Any) -> bool:  # noqa: ANN401 -- any state
        """Return whether the command is enabled in this state of the model."""
        del state
        return True

    def next_state(self, state: Any) -> Any:  # noqa: ANN401 -- any state
        """Return the state of the model after the command, without changing the old state."""
        return state

    def run(self, system: Any) -> Any:  # noqa: ANN401 -- any system
        """Run the command on the system, and return the result that otf judges."""
        raise NotImplementedError

    def postcondition(self, state: Any, result: Any) -> bool:  # noqa: ANN401 -- any state and result
        """Return whether the result is right after a command in this state."""
        del state, result
        return True


@dataclass(frozen=True)
class Commands:
    """A model made of commands, and the system on which the commands run.

    The bench of a model of commands is `Bench(model.spec, system=model.system, types=(Result,))`. The model begins in
    the state `initial`, and its name is `name`. `inputs` is a list of all commands, or a function from a state to a
    list of commands. `set_up` makes a new system for each path, and `tear_down` receives that system at the end of the
    path. `initialize_precondition(initial)` must be true.

    If the state of the model is mutable, pass `copy`, a function that copies a state. If the state has no `==`, pass
    `same`, a function that compares two states; otf then copies states deeply unless `copy` is given. If `copy` or
    `same` is given, `next_state` receives a copy of the state, may change the copy, and need not return it.

    >>> @dataclass(frozen=True)
    ... class Push(Command):
    ...     def next_state(self, state): return state + 1
    ...     def run(self, system): system.append(1); return len(system)
    ...     def postcondition(self, state, result): return result == state + 1
    >>> stack = Commands(initial=0, inputs=[Push()], set_up=list)
    >>> list(stack.spec.inputs(0)), stack.system()(Push())
    ([Push()], (Result(value=1),))
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
        """Return the spec: each command leads to its next state, with a result that its postcondition accepts.

        Raises ModelError if `initialize_precondition` is false for the initial state.
        """
        if self.initialize_precondition is not None and not self.initialize_precondition(self.initial):
            raise ModelError(
                f"{self.name}: the initialize_precondition does not hold for the initial state {show(self.initial)}"
            )
        if self.copy is None and self.same is None:
            return Spec(_step, self.initial, self.inputs, name=self.name)
        copy, same = self.copy or deepcopy, self.same or eq
        initial = Kept(copy(self.initial), same)
        return Spec(partial(_changed, copy, same), initial, self._offered, name=self.name)

    def _offered(self, state: Kept) -> Iterable[Command]:
        return self.inputs(state.value) if callable(self.inputs) else self.inputs

    def system(self) -> Callable[[Command], tuple[Result, ...]]:
        """Return a function that runs commands on a new system.

        otf passes the system to `tear_down` when Python deletes the function.
        """
        system = self.set_up()

        def act(command: Command) -> tuple[Result, ...]:
            return (Result(command.run(system)),)

        if self.tear_down is not None:
            weakref.finalize(act, self.tear_down, system)
        return act


class Kept:
    """A copy of a mutable state, compared by a function of the model."""

    __slots__ = ("_same", "value")

    def __init__(self, value: Any, same: Callable[[Any, Any], bool]) -> None:  # noqa: ANN401 -- any state
        self.value: Any = value
        self._same = same

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same to the model."""
        return isinstance(other, Kept) and bool(self._same(self.value, other.value))

    def __hash__(self) -> int:
        """Return the same number for all: two same states need not have anything else in common."""
        return hash(Kept)

    def __repr__(self) -> str:
        """Return the text of the state."""
        return repr(self.value)


def _step(state: Any, command: Command) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- any state
    if command.precondition(state):
        yield Transition(command.next_state(state), (_right(state, command),))


def _changed(
    copy: Callable[[Any], Any], same: Callable[[Any, Any], bool], state: Kept, command: Command
) -> Iterator[Transition[Any]]:
    before = state.value
    if command.precondition(before):
        after = copy(before)
        changed = command.next_state(after)
        yield Transition(Kept(after if changed is None else changed, same), (_right(before, command),))


def _right(state: Any, command: Command) -> Where:  # noqa: ANN401 -- any state
    def right(result: Any) -> bool:  # noqa: ANN401 -- an output
        return isinstance(result, Result) and bool(command.postcondition(state, result.value))

    return Where(right, f"a result for which the postcondition of {type(command).__name__} holds")


def generate(spec: Spec[Any, Any], cycles: int, steps: int, seed: int = 0) -> list[list[Any]]:
    """Return random inputs for `cycles` paths with at most `steps` inputs each, made from the model without a system.

    The same `seed` gives the same inputs.

    >>> from otf.spec import goto
    >>> up = Spec(lambda state, inp: [goto(state + 1)] if state < 3 else [], 0, ["up"])
    >>> generate(up, cycles=2, steps=10)
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
