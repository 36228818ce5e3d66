"""Random small specs of devices that count: numbered heartbeats on one to three ports, answers on another.

In half of them the two sides have to do with one another: what is answered depends on a counter, an input starts a
counter anew, or a heartbeat changes what is answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random

from tests.core.random_specs import Going, Machine, Turn

INPUTS = {"a": "A", "b": "A"}
ANSWERS = {"x": "P", "y": "P", "z": "Q"}
FURTHEST = {1: 5, 2: 3, 3: 1}
"""The last number of each counter, by the number of ports; it is bounded so that all explanations can be listed."""


def chatty_machine(random: Random) -> Machine:
    """Return a machine whose states are those of one that answers, with the numbers of the next heartbeats."""
    ports = random.randint(1, 3)
    counts = list(product(range(FURTHEST[ports] + 1), repeat=ports))
    coupled = random.random() < 0.5
    states = [f"s{number}" for number in range(random.randint(1, 3))]
    table = {
        (state, inp, odd): _turns(random, states)
        for state, inp in product(states, INPUTS)
        for odd in ((False, True) if coupled else (False,))
    }
    anew = {inp for inp in INPUTS if coupled and random.random() < 0.3}
    moved = {state: random.choice(states) if coupled and random.random() < 0.3 else state for state in states}

    def steps() -> Iterator[tuple[tuple[str, str], tuple[Turn, ...]]]:
        for state, inp, count in product(states, INPUTS, counts):
            turns = table[state, inp, coupled and count[0] % 2 == 1]
            after = (0, *count[1:]) if inp in anew else count
            yield (
                (_name(state, count), inp),
                tuple(Going(_name(each.state, after), each.outputs) for each in turns),
            )

    def beats() -> Iterator[tuple[str, tuple[Turn, ...]]]:
        for state, count in product(states, counts):
            turns = [
                Going(_name(moved[state], (*count[:port], number + 1, *count[port + 1 :])), (f"t{port}.{number}",))
                for port, number in enumerate(count)
                if number < FURTHEST[ports]
            ]
            if turns:
                yield _name(state, count), tuple(turns)

    return Machine(dict(steps()), dict(beats()), INPUTS, {**ANSWERS, **_heartbeats(ports)}, _name("s0", counts[0]))


def _turns(random: Random, states: list[str]) -> tuple[Going, ...]:
    return tuple(
        Going(random.choice(states), tuple(random.choices(list(ANSWERS), k=random.randint(0, 2))))
        for _ in range(1 + (random.random() < 0.2))
    )


def _heartbeats(ports: int) -> Mapping[str, str]:
    return {f"t{port}.{number}": f"T{port}" for port in range(ports) for number in range(FURTHEST[ports])}


def _name(state: str, count: tuple[int, ...]) -> str:
    return ".".join([state, *map(str, count)])
