"""Small machines as numbers, for tests of suites."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from random import Random

from otf.suite import NumberedMachine, minimise
from otf.suite.complete import neighbours, reach
from otf.suite.machine import Word

Row = tuple[tuple[int, int], ...]


def made(rows: list[Row]) -> NumberedMachine:
    """A machine from its table: for each state and input the next state and the output."""
    next_, out = ([[cell[side] for cell in row] for row in rows] for side in (0, 1))
    return NumberedMachine("small", range(len(rows)), range(len(rows[0])), next_, out)


def every(states: int, inputs: int = 2, outputs: int = 2) -> Iterator[NumberedMachine]:
    """All complete machines with so many states, inputs and outputs."""
    for rows in product(product(product(range(states), range(outputs)), repeat=inputs), repeat=states):
        yield made(list(rows))


def renamed(machine: NumberedMachine) -> tuple[Row, ...]:
    """The first, in order, of all tables that a machine of two outputs has under other names."""
    tables: list[tuple[Row, ...]] = []
    for inputs, outputs in product(permutations(range(len(machine.inputs))), permutations(range(2))):
        met, rows = [0], list[Row]()
        for state in met:
            ends = [machine.next[state][inp] for inp in inputs]
            met += [end for end in dict.fromkeys(ends) if end not in met]
            rows.append(
                tuple((met.index(to), outputs[machine.out[state][at]]) for at, to in zip(inputs, ends, strict=True))
            )
        tables.append(tuple(rows))
    return min(tables)


def different(states: int) -> list[NumberedMachine]:
    """All machines of so many states that can be reached, two inputs and two outputs, one for all of its names."""
    tables = {renamed(machine) for machine in every(states)}
    return [made(list(rows)) for rows in sorted(tables) if len(rows) == states]


def models(states: int, number: int, seed: int = 1, inputs: int = 2, outputs: int = 2) -> Iterator[NumberedMachine]:
    """Some machines that are minimal and connected, drawn by lot."""
    random = Random(seed)
    while number:
        rows = [
            tuple((random.randrange(states), random.randrange(outputs)) for _ in range(inputs)) for _ in range(states)
        ]
        machine = made(rows)
        if minimise(machine).size == states and None not in reach(neighbours(machine), [0], states):
            number -= 1
            yield machine


def walked(machine: NumberedMachine, paths: list[Word]) -> set[tuple[int, int]]:
    """The transitions that paths go through; every input on the way must be specified."""
    found = set[tuple[int, int]]()
    for path in paths:
        state = 0
        for inp in path:
            assert machine.next[state][inp] >= 0
            found.add((state, inp))
            state = machine.next[state][inp]
    return found
