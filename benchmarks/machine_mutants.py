"""Mutants of a machine with one wrong transition each, and whether a suite finds them: how suites are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from otf.suite.machine import NumberedMachine, Word

MachineMutantKind = Literal["output", "transfer", "ignored"]


class MachineMutant(NamedTuple):
    """One wrong transition: another output, another next state, or neither output nor change."""

    kind: MachineMutantKind
    state: int
    input: int
    out: int
    next: int


def single_mutants(machine: NumberedMachine) -> Iterator[MachineMutant]:
    """Yield every mutant with one wrong specified transition, with the outputs that occur in the machine."""
    outs = sorted(
        {each for state, inp in machine.transitions for each in (machine.out[state][inp],)} | {machine.silent}
    )
    for state, inp in machine.transitions:
        out, to = machine.out[state][inp], machine.next[state][inp]
        yield from (MachineMutant("output", state, inp, other, to) for other in outs if other != out)
        yield from (MachineMutant("transfer", state, inp, out, other) for other in range(machine.size) if other != to)
        yield MachineMutant("ignored", state, inp, machine.silent, state)


def mutated(machine: NumberedMachine, mutant: MachineMutant) -> NumberedMachine:
    """Return the machine with the wrong transition in it."""
    next_, out = ([list(row) for row in table] for table in (machine.next, machine.out))
    next_[mutant.state][mutant.input], out[mutant.state][mutant.input] = mutant.next, mutant.out
    return replace(machine, next=next_, out=out)


def passes(machine: NumberedMachine, system: NumberedMachine, paths: Iterable[Word]) -> bool:
    """Return whether a complete machine, as the system, gives the expected outputs on all paths."""
    return all(_same(machine, system, path) for path in paths)


def _same(machine: NumberedMachine, system: NumberedMachine, path: Word) -> bool:
    here = there = 0
    for inp in path:
        if machine.out[here][inp] != system.out[there][inp]:
            return False
        here, there = machine.next[here][inp], system.next[there][inp]
    return True


def equal(machine: NumberedMachine, system: NumberedMachine) -> bool:
    """Return whether two complete machines behave alike."""
    seen, left = {(0, 0)}, [(0, 0)]
    while left:
        here, there = left.pop()
        if machine.out[here] != system.out[there]:
            return False
        for pair in zip(machine.next[here], system.next[there], strict=True):
            if pair not in seen:
                seen.add(pair)
                left.append(pair)
    return True
