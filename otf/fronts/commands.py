"""A model as commands, with precondition, next state, run and postcondition: as in kiri-check and its relatives.

A command is an input: it says by itself when it may come, what it does to the model, how it is done to the system, and
which results are right. First inputs are generated on the model alone, then the system is driven with them; or both at
once, as everywhere in otf.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from otf.spec import Spec, Transition, Where


@dataclass(frozen=True)
class Result:
    """What a command returned when it was run on the system."""

    value: Any


class Command:
    """One command; write a frozen dataclass below this class. Only `run` must be there."""

    def precondition(self, state: Any) -> bool:  # noqa: ANN401 -- any state
        """Tell whether it may come in this state of the model."""
        del state
        return True

    def next_state(self, state: Any) -> Any:  # noqa: ANN401 -- any state
        """Return the state of the model after it; the old one must not be changed."""
        return state

    def run(self, system: Any) -> Any:  # noqa: ANN401 -- any system
        """Do it to the system; return the result that is to be judged."""
        raise NotImplementedError

    def postcondition(self, state: Any, result: Any) -> bool:  # noqa: ANN401 -- any state and result
        """Tell whether a result is right; `state` is the one before the command."""
        del state, result
        return True


@dataclass(frozen=True)
class Commands:
    """A model of commands and the system that they are run on.

    A bench of it is `Bench(model.spec, system=model.system, types=(Result,))`. `inputs` are the commands that there
    are, or a function of the state. `set_up` makes a fresh system for every path, `tear_down` gets it when the path is
    over.
    """

    initial: Any
    inputs: Iterable[Command] | Callable[[Any], Iterable[Command]]
    set_up: Callable[[], Any]
    tear_down: Callable[[Any], object] | None = None
    name: str = "commands"

    @property
    def spec(self) -> Spec[Any, Command]:
        """Return the spec: each command leads to its next state, with a result for which its postcondition holds."""
        return Spec(_step, self.initial, self.inputs, name=self.name)

    def system(self) -> Callable[[Command], tuple[Result, ...]]:
        """Return a function that runs commands on a fresh system, which is torn down when the function is dropped."""
        system = self.set_up()

        def act(command: Command) -> tuple[Result, ...]:
            return (Result(command.run(system)),)

        if self.tear_down is not None:
            weakref.finalize(act, self.tear_down, system)
        return act


def _step(state: Any, command: Command) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- any state
    if command.precondition(state):

        def right(result: Any) -> bool:  # noqa: ANN401 -- an output
            return isinstance(result, Result) and bool(command.postcondition(state, result.value))

        says = f"a result for which the postcondition of {type(command).__name__} holds"
        yield Transition(command.next_state(state), (Where(right, says),))


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
