"""Specs as data: the simulated specs are made from them, and the solver reads them instead of the core.

The semantics of a blueprint is written down here a second time, without the core: `courses` lists every possible
course. So a system, a solver and a mutant do not depend on the core, which is judged with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from otf.core import Routes
from otf.simulate.system import SystemMove
from otf.spec import Accept, AnyOrder, OneOf, Spec, TimerAction, goto, on, start, stop

State: TypeAlias = tuple[str, int]  # its name, and its memory
Stretch: TypeAlias = tuple[float, float]
Storing: TypeAlias = Literal["same", "input", "seen", "more"]
ANY: Final = "*"  # any output on the port P
REMEMBERED: Final = "m"  # the output that reveals the memory of the state: m0, m1, …


@dataclass(frozen=True)
class Shuffled:
    """Outputs in any order."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Picked:
    """One of these outputs."""

    items: tuple[str, ...]


Part: TypeAlias = str | Shuffled | Picked


@dataclass(frozen=True)
class Branch:
    """One possible transition: its next state, its outputs, and their times.

    `store`: the memory of the state from then on: the same, the digit of the input, the digit of the last output seen,
    or one more. `accepts`: an `Accept` on `port`, with each right sequence of outputs and the states to which it may
    lead.

    The timers of a state are its spontaneous branches that have a window, identified by their numbers. Named timers
    outlast the state: `starts` has their windows, `stops` their names, and a spontaneous branch comes `after` one.
    """

    target: str
    items: tuple[Part, ...] = ()
    within: Stretch | None = None
    store: Storing = "same"
    accepts: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    port: str = ""
    starts: tuple[tuple[str, Stretch], ...] = ()
    stops: tuple[str, ...] = ()
    after: str = ""

    @property
    def timers(self) -> list[TimerAction]:
        """Return its effect on named timers."""
        return [*map(stop, self.stops), *(start(name, *within) for name, within in self.starts)]


class Course(NamedTuple):
    """A branch with every choice made: the next state, the outputs on each port in their order, and the branch."""

    state: State
    outputs: tuple[tuple[str, tuple[str, ...]], ...]
    branch: Branch
    number: int

    @property
    def within(self) -> Stretch | None:
        """Return the window of its outputs."""
        return self.branch.within


@dataclass(frozen=True)
class Resolve:
    """The function of an `Accept`: from the observed outputs to the next states."""

    blueprint: Blueprint
    branch: Branch
    state: State
    input: str

    def __call__(self, seen: tuple[Any, ...]) -> list[State]:
        """Return the states to which these outputs lead; none if they are wrong."""
        targets = dict(self.branch.accepts).get(seen, ())
        return [(each, self.blueprint.stored(self.branch, self.state, self.input, seen)) for each in targets]

    def complete(self, seen: tuple[Any, ...]) -> bool:
        """Return whether these outputs are complete; no sequence is a prefix of another."""
        return seen in dict(self.branch.accepts) or len(seen) >= max(len(each) for each, _ in self.branch.accepts)


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A spec as data; inputs that `steps` does not list are unspecified.

    `inputs` and `outputs` have the port of each; `memory` is the number of values that a state may remember.
    """

    steps: Mapping[tuple[str, str], tuple[Branch, ...]]
    spontaneous: Mapping[str, tuple[Branch, ...]]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    memory: int = 1
    initial: State = ("s0", 0)
    _known: dict[tuple[State, str], tuple[Course, ...]] = field(
        default_factory=dict[tuple[State, str], tuple[Course, ...]]
    )
    _said: dict[tuple[State, str], list[SystemMove]] = field(default_factory=dict[tuple[State, str], list[SystemMove]])

    def spec(self) -> Spec[State, str]:
        """Return the spec."""
        return Spec(self._ways, self.initial, list(self.inputs), self._emits if self.spontaneous else None)

    def routes(self) -> Routes:
        """Return the ports."""
        return Routes(tuple(sorted(set(self.outputs.values()))), {**self.inputs, **self.outputs}.__getitem__)

    def branches(self, state: State, inp: str) -> tuple[Branch, ...]:
        """Return the possible transitions on an input, or the spontaneous ones ("")."""
        return self.steps.get((state[0], inp), ()) if inp else self.spontaneous.get(state[0], ())

    def courses(self, state: State, inp: str) -> tuple[Course, ...]:
        """Return the possible courses: the same with every choice made."""
        known = self._known.get((state, inp))
        if known is None:
            found = enumerate(self.branches(state, inp))
            known = self._known[state, inp] = tuple(
                dict.fromkeys(each for number, branch in found for each in self._courses(number, branch, state, inp))
            )
        return known

    def stored(self, branch: Branch, state: State, inp: str, seen: tuple[str, ...]) -> int:
        """Return the memory of the next state."""
        match branch.store:
            case "same":
                return state[1]
            case "more":
                return (state[1] + 1) % self.memory
            case "input":
                return _digit(inp) % self.memory
            case "seen":
                return _digit(seen[-1]) % self.memory if seen else state[1]

    def _courses(self, number: int, branch: Branch, state: State, inp: str) -> Iterator[Course]:
        if branch.accepts:
            for seen, targets in branch.accepts:
                memory = self.stored(branch, state, inp, seen)
                yield from (Course((each, memory), ((branch.port, seen),), branch, number) for each in targets)
            return
        then = branch.target, self.stored(branch, state, inp, ())
        for parts in product(*(list(self._orders(part, state)) for part in branch.items)):
            queues: dict[str, tuple[str, ...]] = {}
            for output in (each for part in parts for each in part):
                queues[self.outputs[output]] = (*queues.get(self.outputs[output], ()), output)
            yield Course(then, tuple(sorted(queues.items())), branch, number)

    def _orders(self, part: Part, state: State) -> Iterator[tuple[str, ...]]:
        match part:
            case Shuffled(items):
                for order in permutations(items):
                    yield from product(*(self._meant(each, state) for each in order))
            case Picked(items):
                yield from ((each,) for item in items for each in self._meant(item, state))
            case _:
                yield from ((each,) for each in self._meant(part, state))

    def _meant(self, item: str, state: State) -> list[str]:
        if item == ANY:
            return [output for output, port in self.outputs.items() if port == "P"]
        return [f"m{state[1]}"] if item == REMEMBERED else [item]

    def _ways(self, state: State, inp: str) -> list[SystemMove]:
        # the same objects each time: by them is known which branch was taken
        if (state, inp) not in self._said:
            self._said[state, inp] = [self._way(branch, state, inp) for branch in self.branches(state, inp)]
        return self._said[state, inp]

    def _emits(self, state: State) -> list[SystemMove]:
        return self._ways(state, "")

    def _way(self, branch: Branch, state: State, inp: str) -> SystemMove:
        if branch.accepts:
            resolve = Resolve(self, branch, state, inp)
            lengths = {len(each) for each, _ in branch.accepts}
            until = lengths.pop() if len(lengths) == 1 else resolve.complete
            return Accept(resolve, branch.port, until, branch.within, timers=tuple(branch.timers), after=branch.after)
        then = branch.target, self.stored(branch, state, inp, ())
        words = [_word(item, state) for item in branch.items]
        return goto(then, *words, within=branch.within, timers=branch.timers, after=branch.after)


def _word(item: Part, state: State) -> object:
    match item:
        case Shuffled(items):
            return AnyOrder(*(_word(each, state) for each in items))
        case Picked(items):
            return OneOf(*(_word(each, state) for each in items))
        case "*":
            return on("P", str)
        case "m":
            return f"m{state[1]}"
        case _:
            return item


def _digit(text: str) -> int:
    return int(text[-1]) if text[-1].isdigit() else 0
