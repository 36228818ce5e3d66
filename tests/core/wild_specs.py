"""Random small specs of all that a transition may say, on two input ports and two output ports.

Choices in a row, outputs in any order, predicates, and `Accept`: on either port, of fixed length or ended by what was
seen, answering or unasked, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from tests.core.random_specs import ANY, Accepting, Alternatives, Bag, Going, Item, Machine, Turn

INPUTS = {"a": "A", "b": "B", "c": "A"}
OUTPUTS = {"x": "P", "z": "P", "y": "Q", "w": "Q"}


@dataclass(frozen=True)
class Wild:
    """The probabilities of what a turn is, beside a plain sequence of values; and of turns where they may be."""

    accept: float = 0.25
    choices: float = 0.25
    bag: float = 0.15
    unspecified: float = 0.1
    ambiguous: float = 0.3
    emits: float = 0.4


def wild_machine(random: Random, wild: Wild | None = None) -> Machine:
    """Return a machine with two or three states."""
    wild = wild or Wild()
    states = [f"s{number}" for number in range(random.randint(2, 3))]

    def turns() -> tuple[Turn, ...]:
        return tuple(_turn(random, wild, states) for _ in range(1 + (random.random() < wild.ambiguous)))

    spontaneous = {state: (_alone(random, wild, states),) for state in states if random.random() < 0.5}
    return Machine(
        {(state, inp): turns() for state in states for inp in INPUTS if random.random() >= wild.unspecified},
        spontaneous if random.random() < wild.emits else {},
        INPUTS,
        OUTPUTS,
    )


def _turn(random: Random, wild: Wild, states: list[str]) -> Turn:
    chance = random.random()
    if chance < wild.accept:
        return _accepting(random, states)
    if chance < wild.accept + wild.choices:
        return Going(random.choice(states), tuple(_alternatives(random) for _ in range(random.randint(1, 3))))
    if chance < wild.accept + wild.choices + wild.bag:
        return Going(random.choice(states), tuple(_bags(random)))
    return Going(random.choice(states), tuple(random.choices(list(OUTPUTS), k=random.randint(0, 2))))


def _alone(random: Random, wild: Wild, states: list[str]) -> Turn:
    """Return the spontaneous transitions: one output, so that runs stay short."""
    if random.random() < wild.accept:
        port, letters = random.choice((("P", "xz"), ("Q", "yw")))
        return Accepting({(letter,): random.choice(states) for letter in letters[: random.randint(1, 2)]}, port)
    item: Item = _alternatives(random, 2) if random.random() < wild.choices else random.choice(list(OUTPUTS))
    return Going(random.choice(states), (item,))


def _accepting(random: Random, states: list[str]) -> Accepting:
    port, letters = random.choice((("P", "xz"), ("Q", "yw")))
    first, second = random.sample(letters, 2)
    if random.random() < 0.5:
        sequences = list(product(letters, repeat=random.randint(1, 2)))
        sequences = random.sample(sequences, random.randint(1, len(sequences)))
    else:
        sequences = [(first,), (second, first), (second, second)][random.randint(0, 1) :]
    return Accepting({each: random.choice(states) for each in sequences}, port)


def _alternatives(random: Random, most: int = 3) -> Alternatives:
    items: list[Bag] = random.sample(list(OUTPUTS), random.randint(2, most))
    if most > 2 and random.random() < 0.2:
        items[0] = tuple(random.choices(list(OUTPUTS), k=2))
    return Alternatives(tuple(items))


def _bags(random: Random) -> Iterator[Item]:
    yield tuple(random.choices([*OUTPUTS, ANY], k=random.randint(2, 3)))
    if random.random() < 0.3:
        yield random.choice(["x", "y", ANY])
    elif random.random() < 0.3:
        yield _alternatives(random)


def turns_of(machine: Machine) -> Iterator[Turn]:
    """Yield all that a machine may do."""
    for ways in (*machine.steps.values(), *machine.spontaneous.values()):
        yield from ways
