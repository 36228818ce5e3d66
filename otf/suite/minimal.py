"""Completing and minimising machines."""

from __future__ import annotations

from dataclasses import replace

from otf.errors import UsageError
from otf.explore.refine import refine
from otf.suite.machine import NOTHING, NumberedMachine
from otf.values import show


def completed(machine: NumberedMachine) -> NumberedMachine:
    """Return the machine in which an unspecified input is ignored: no output, no change of state."""
    if machine.complete:
        return machine
    added = machine.size * len(machine.inputs) - len(machine.transitions)
    rows = range(machine.size)
    return replace(
        machine,
        next=[[state if each == NOTHING else each for each in machine.next[state]] for state in rows],
        out=[
            [
                machine.silent if to == NOTHING else each
                for each, to in zip(machine.out[state], machine.next[state], strict=True)
            ]
            for state in rows
        ],
        notes=(*machine.notes, f"completed: {added} unspecified inputs are expected to be ignored"),
    )


def minimised(machine: NumberedMachine) -> NumberedMachine:
    """Return the smallest machine with the same behaviour: states that nothing can tell apart become one.

    Partition refinement; inputs that are not specified count as an output of their own. Raises UsageError where two
    states cannot be told apart and are not the same.
    """
    numbers = blocks(machine)
    count = max(numbers) + 1
    if count == machine.size:
        return machine
    heads = [numbers.index(number) for number in range(count)]
    _refuse_unclear(machine, [heads[number] for number in numbers])
    next_ = [[each if each == NOTHING else numbers[each] for each in machine.next[head]] for head in heads]
    note = f"minimised: {machine.size} states became {count}, since nothing can tell the others apart"
    return replace(
        machine,
        states=[machine.states[head] for head in heads],
        next=next_,
        out=[machine.out[head] for head in heads],
        exact=[machine.exact[head] for head in heads] if machine.exact else (),
        notes=(*machine.notes, note),
    )


def _refuse_unclear(machine: NumberedMachine, heads: list[int]) -> None:
    """Raise UsageError where states would become one whose outputs are not the same, but may look it."""
    for state, head in enumerate(heads):
        if machine.exact and _allowed(machine, state) != _allowed(machine, head):
            one, other = show(machine.states[head]), show(machine.states[state])
            message = (
                f"{machine.name}: {one} and {other} allow outputs that differ and may look the same; no list of inputs "
                "is sure to tell the two apart: use state-counting, or a method that only covers (tour, a3)"
            )
            raise UsageError(message)


def _allowed(machine: NumberedMachine, state: int) -> list[frozenset[int]]:
    # where nothing is specified no output is expected, which is 0
    return [each or frozenset({0}) for each in machine.exact[state]]


def blocks(machine: NumberedMachine) -> list[int]:
    """Return for each state the number of those that nothing can tell from it, in the order of their first ones."""
    rows = zip(machine.next, machine.out, strict=True)
    return refine([list(zip(enumerate(out), next_, strict=True)) for next_, out in rows])
