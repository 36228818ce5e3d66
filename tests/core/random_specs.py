"""Random small specs, systems that conform to them, and what a tester may see of such a system.

Everything is drawn from a `Random`, so that a number names a case. A system takes and emits as the design page assumes:
FIFO ports without order among each other, one input after another, each run to completion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product
from random import Random
from typing import TypeAlias

from otf.core import Routes
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, goto, on
from otf.trace.events import Event, Quiet, Seen, Sent, Taken

Way: TypeAlias = tuple[str, tuple[str, ...]]  # the next state, and the outputs on the way
Bag: TypeAlias = str | tuple[str, ...]  # an output, or some in any order; ANY is any output on P
ANY = "*"


@dataclass(frozen=True)
class Alternatives:
    """One of these, which may come on different ports."""

    items: tuple[Bag, ...]


Item: TypeAlias = Bag | Alternatives


@dataclass(frozen=True)
class Going:
    """A transition to a state."""

    state: str
    outputs: tuple[Item, ...]


@dataclass(frozen=True)
class Accepting:
    """A transition whose next state depends on the outputs on a port; those that lead to none are wrong.

    No sequence of the table begins with another one.
    """

    table: Mapping[tuple[str, ...], str]
    port: str = "P"

    def possible(self, seen: tuple[str, ...]) -> bool:
        """Return whether some sequence starts like this."""
        return any(each[: len(seen)] == seen for each in self.table)

    def complete(self, seen: tuple[str, ...]) -> bool:
        """Return whether no longer sequence starts like this."""
        return not any(len(each) > len(seen) and each[: len(seen)] == seen for each in self.table)


Turn: TypeAlias = Going | Accepting


@dataclass(frozen=True)
class Machine:
    """A spec as a table; what it does not list is left unspecified."""

    steps: Mapping[tuple[str, str], tuple[Turn, ...]]
    spontaneous: Mapping[str, tuple[Turn, ...]]
    inputs: Mapping[str, str]  # each input's port
    outputs: Mapping[str, str]  # each output's port
    initial: str = "s0"

    def spec(self) -> Spec[str, str]:
        """Return the table as a spec."""
        return Spec(self._step, self.initial, list(self.inputs), self._emits if self.spontaneous else None)

    def routes(self) -> Routes:
        """Return the ports."""
        return Routes(tuple(sorted(set(self.outputs.values()))), {**self.inputs, **self.outputs}.__getitem__)

    @cached_property
    def asked(self) -> dict[tuple[str, str], list[Way]]:
        """What may happen on an input, each possibility with its outputs in the order in which they are emitted."""
        return {what: self._ways(turns) for what, turns in self.steps.items()}

    @cached_property
    def by_itself(self) -> dict[str, list[Way]]:
        """Return the spontaneous transitions."""
        return {state: self._ways(turns) for state, turns in self.spontaneous.items()}

    def _ways(self, turns: Iterable[Turn]) -> list[Way]:
        return list(dict.fromkeys(way for turn in turns for way in self._spelled(turn)))

    def _spelled(self, turn: Turn) -> Iterator[Way]:
        if isinstance(turn, Accepting):
            yield from ((state, outputs) for outputs, state in turn.table.items())
            return
        for bags in product(*(item.items if isinstance(item, Alternatives) else (item,) for item in turn.outputs)):
            for order in product(*(permutations(bag) if isinstance(bag, tuple) else [(bag,)] for bag in bags)):
                items = (each for group in order for each in group)
                yield from ((turn.state, outputs) for outputs in product(*map(self._meant, items)))

    def _meant(self, item: str) -> list[str]:
        return [output for output, port in self.outputs.items() if port == "P"] if item == ANY else [item]

    def _step(self, state: str, inp: str) -> list[Transition[str] | Accept]:
        return list(map(_transition, self.steps.get((state, inp), ())))

    def _emits(self, state: str) -> list[Transition[str] | Accept]:
        return list(map(_transition, self.spontaneous.get(state, ())))


def _transition(turn: Turn) -> Transition[str] | Accept:
    if isinstance(turn, Going):
        return goto(turn.state, *map(_said, turn.outputs))
    table = turn.table
    lengths = {len(each) for each in table}
    until = lengths.pop() if len(lengths) == 1 else turn.complete
    return Accept(lambda seen: [table[seen]] if seen in table else [], turn.port, until, possible=turn.possible)


def _said(item: Item) -> object:
    if isinstance(item, Alternatives):
        return OneOf(*map(_said, item.items))
    if isinstance(item, tuple):
        return AnyOrder(*map(_said, item))
    return on("P", str) if item == ANY else item


@dataclass(frozen=True)
class Shape:
    """How large and how wild random machines are; the probabilities are those of one state and input.

    `rich` is the probability that a transition has more than a sequence of values: any order, predicates, `Accept`.
    """

    states: int = 3
    unspecified: float = 0.15
    ambiguous: float = 0.3
    emits: float = 0.4
    longest: int = 2
    rich: float = 0.0


def random_machine(random: Random, shape: Shape | None = None) -> Machine:
    """Return a machine with up to three states, two inputs on one or two ports, three outputs on one or two ports."""
    shape = shape or Shape()
    states = [f"s{number}" for number in range(random.randint(2, shape.states))]
    inputs = {"a": "A", "b": random.choice("AB")}
    outputs = {"x": "P", "y": random.choice("PQ"), "z": "P"}

    def turn(longest: int) -> Turn:
        if random.random() < shape.rich:
            return _rich(random, states)
        return Going(random.choice(states), tuple(random.choices("xyz", k=random.randint(0, longest))))

    def turns() -> tuple[Turn, ...]:
        return tuple(turn(shape.longest) for _ in range(1 + (random.random() < shape.ambiguous)))

    return Machine(
        {(state, inp): turns() for state in states for inp in inputs if random.random() >= shape.unspecified},
        {state: (turn(1),) for state in states if random.random() < 0.5} if random.random() < shape.emits else {},
        inputs,
        outputs,
    )


def _rich(random: Random, states: list[str]) -> Turn:
    if random.random() < 0.5:
        sequences = list(product("xz", repeat=random.randint(1, 2)))
        return Accepting({each: random.choice(states) for each in random.sample(sequences, len(sequences) - 1)})
    bag = tuple(random.choices(["x", "y", "z", ANY], k=random.randint(2, 3)))
    return Going(random.choice(states), (bag, random.choice(["x", ANY])) if random.random() < 0.5 else (bag,))


@dataclass
class System:
    """A system that conforms to a machine, with what is on its way to it and from it; it draws lots where it may."""

    machine: Machine
    random: Random
    state: str = ""  # after an unspecified input there is none, and it may do anything
    coming: dict[str, list[tuple[int, str]]] = field(default_factory=dict[str, list[tuple[int, str]]])
    going: dict[str, list[tuple[str, frozenset[int]]]] = field(
        default_factory=dict[str, list[tuple[str, frozenset[int]]]]
    )
    taken: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        """Start in the initial state."""
        self.state = self.machine.initial

    def send(self, number: int, inp: str) -> None:
        """Put an input on its way."""
        self.coming.setdefault(self.machine.inputs[inp], []).append((number, inp))

    @property
    def waiting(self) -> list[str]:
        """Return the ports with inputs on their way."""
        return [port for port, queue in self.coming.items() if queue]

    @property
    def unseen(self) -> list[str]:
        """Return the ports with outputs on their way."""
        return [port for port, queue in self.going.items() if queue]

    def take(self, port: str) -> None:
        """Take the next input of a port."""
        number, inp = self.coming[port].pop(0)
        self.taken |= {number}
        self._go(self.machine.asked.get((self.state, inp), []))

    def emit(self) -> None:
        """Make a spontaneous move, if there is one."""
        ways = self.machine.by_itself.get(self.state, [])
        if ways:
            self._go(ways)

    def see(self, port: str) -> str:
        """Return the next output of a port."""
        return self.going[port].pop(0)[0]

    def proven(self, upto: int) -> bool:
        """Return whether the inputs up to that one were taken, and what was emitted before that was seen."""
        inputs = set(range(1, upto + 1))
        before = [taken for queue in self.going.values() for _, taken in queue]
        return inputs <= self.taken and all(inputs <= taken for taken in before)

    def _go(self, ways: list[Way]) -> None:
        anything: Way = ("", tuple(self.random.choices(list(self.machine.outputs), k=self.random.randint(0, 2))))
        self.state, outputs = self.random.choice(ways) if ways else anything
        for output in outputs:
            self.going.setdefault(self.machine.outputs[output], []).append((output, self.taken))


def random_events(random: Random, machine: Machine, length: int) -> list[Event]:
    """Return what a tester sees of a conforming system, inputs sent at any time."""
    system, events, sent = System(machine, random), list[Event](), 0
    while len(events) < length:
        match random.choice(("send", "take", "take", "emit", "see", "see", "quiet", "taken")):
            case "send":
                sent += 1
                inp = random.choice(list(machine.inputs))
                system.send(sent, inp)
                events.append(Sent(inp, machine.inputs[inp], 0))
            case "take" if system.waiting:
                system.take(random.choice(system.waiting))
            case "emit":
                system.emit()
            case "see" if system.unseen:
                port = random.choice(system.unseen)
                events.append(Seen(system.see(port), port, 0))
            case "quiet" if not system.waiting and not system.unseen and random.random() < 0.5:
                events.append(Quiet(0))
            case "taken" if sent and system.proven(upto := random.randint(1, sent)):
                events.append(Taken(upto, 0))
            case _:
                pass
    return events


def mutated(random: Random, machine: Machine, events: list[Event]) -> list[Event]:
    """Return the events with something lost, doubled, exchanged, changed or added."""
    events = list(events)
    at = random.randrange(len(events))
    match random.choice(("lose", "double", "swap", "change", "quiet")):
        case "lose" if not isinstance(events[at], Sent):
            del events[at]
        case "double" if isinstance(events[at], Seen):
            events.insert(random.randint(at, len(events)), events[at])
        case "swap" if at:
            events[at - 1 : at + 1] = [events[at], events[at - 1]]
        case "change":
            output = random.choice(list(machine.outputs))
            events[at] = Seen(output, machine.outputs[output], 0)
        case _:
            events.insert(at, Quiet(0))
    return list(_sensible(events))


def _sensible(events: Iterable[Event]) -> Iterator[Event]:
    # an input that was not sent cannot be reported as taken
    sent = 0
    for event in events:
        sent += isinstance(event, Sent)
        if not isinstance(event, Taken) or event.upto <= sent:
            yield event
