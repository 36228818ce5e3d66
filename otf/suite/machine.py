"""Finite deterministic machines in numbers, from which suites are made: completing and minimising them.

Outputs become labels: outputs that may look the same to a tester share a label.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Final, NamedTuple, TypeAlias

from otf.compose.actions import outputs_in
from otf.errors import UsageError
from otf.explore import Graph
from otf.explore.graph import OPEN, SPONTANEOUS
from otf.explore.naming import observed, output_name
from otf.explore.refine import refine
from otf.spec.outputs import vague
from otf.values import show

COARSE: Final = "where the model gives an output as a class or a test, it is not used to tell states apart"


class Labels(NamedTuple):
    """The label of each output of a graph, as a number: outputs have different labels if a test can distinguish them.

    `silent` is the label of no output. `exact` has labels that differ for any two different outputs; 0 is no output.
    """

    numbers: list[int]
    silent: int
    exact: list[int]
    notes: tuple[str, ...] = ()


def labels(graph: Graph) -> Labels:
    """Return the labels of a graph's outputs: outputs that may look the same share one."""
    flat = [observed(each) for each in graph.outputs]
    known: dict[Any, int] = {output_name(()): 0}
    exact = [known.setdefault(output_name(each), len(known)) for each in flat]
    merged = _merged([(), *flat], [0, *exact])
    unclear = any(vague(value) for each in flat for value, _ in _values(each))
    return Labels(merged[1:], merged[0], exact, (COARSE,) if unclear else ())


def lookalikes(outputs: list[tuple[Any, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of indices of outputs that may look the same."""
    return ((one, other) for one, other in _suspects(outputs) if alike(outputs[one], outputs[other]))


def alike(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether two outputs may look the same to a tester. In doubt they may; the order of values is ignored.

    >>> from otf.spec import AnyOrder
    >>> alike(("a", "b"), (AnyOrder("b", "a"),)), alike(("a",), (str,)), alike(("a",), (int,)), alike(("a",), ())
    (True, True, False, False)
    """
    # only the bench knows which values share a port, and so are ordered
    here, there = _values(one), _values(other)
    return len(here) == len(there) and _each_in(here, there) and _each_in(there, here)


def _values(outputs: tuple[Any, ...]) -> list[tuple[Any, str]]:
    return [each for item in outputs for each in outputs_in(item)]


def _each_in(values: list[tuple[Any, str]], others: list[tuple[Any, str]]) -> bool:
    return all(
        any((not port or not its or port == its) and _may_match(value, other) for other, its in others)
        for value, port in values
    )


def _merged(flat: list[tuple[Any, ...]], numbers: list[int]) -> list[int]:
    """Return the numbers, made equal for outputs that may look the same; this is transitive."""
    leader = list(range(max(numbers) + 1))

    def head(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    for one, other in lookalikes(flat):
        leader[head(numbers[one])] = head(numbers[other])
    return [head(number) for number in numbers]


def _suspects(flat: list[tuple[Any, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs to compare: those with the same values, and those where one is vague."""
    buckets = defaultdict[Any, list[int]](list)
    unclear: list[int] = []
    for at, outputs in enumerate(flat):
        items = [value for value, _ in _values(outputs)]
        if any(map(vague, items)):
            unclear.append(at)
        buckets[frozenset(Counter(map(output_name, items)).items())].append(at)
    for bucket in buckets.values():
        yield from combinations(bucket, 2)
    yield from product(unclear, range(len(flat)))


def _may_match(one: Any, other: Any) -> bool:  # noqa: ANN401 -- items of outputs
    if not (vague(one) or vague(other)):
        return output_name(one) == output_name(other)
    for this, that in ((one, other), (other, one)):
        # a class matches only its instances; a test may match anything
        if isinstance(this, type) and not vague(that):
            return isinstance(that, this)
    return True


NOTHING: Final = -1  # the next state where an input is not specified
Word: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class NumberedMachine:
    """A deterministic machine as tables: `next[state][input]` and `out[state][input]`, -1 for an unspecified input.

    `name` is the name of the model. The numbers in the tables are indices into `states` and `inputs`; state 0 is the
    initial state. Each number in `out` is a label for outputs, and a tester can always distinguish different labels.
    `silent` is the label for no output. `notes` lists how the machine differs from the model, and what limits a
    guarantee.

    >>> made = NumberedMachine("lamp", ["off", "on"], ["press", "look"], next=[[1, 0], [0, 1]], out=[[0, 1], [0, 2]])
    >>> made.size, made.complete, made.run((0, 1)), made.values((0, 1))
    (2, True, ([0, 2], 1), ['press', 'look'])
    """

    name: str
    states: Sequence[Any]
    inputs: Sequence[Any]
    next: list[list[int]]
    out: list[list[int]]
    silent: int = 0
    notes: tuple[str, ...] = field(default=())
    exact: Sequence[Sequence[frozenset[int]]] = field(default=())

    @property
    def size(self) -> int:
        """Return the number of states of the machine."""
        return len(self.next)

    @cached_property
    def transitions(self) -> list[tuple[int, int]]:
        """Return state and input of every specified transition."""
        columns = range(len(self.inputs))
        return [(state, inp) for state in range(self.size) for inp in columns if self.next[state][inp] != NOTHING]

    @property
    def complete(self) -> bool:
        """Return whether the machine specifies every input in every state."""
        return len(self.transitions) == self.size * len(self.inputs)

    def run(self, word: Word, state: int = 0) -> tuple[list[int], int]:
        """Return the outputs for a word, and the state after it; the machine must specify every input of the word."""
        outputs: list[int] = []
        for inp in word:
            outputs.append(self.out[state][inp])
            state = self.next[state][inp]
        return outputs, state

    def values(self, word: Word) -> list[Any]:
        """Return the inputs that the numbers of a word stand for."""
        return [self.inputs[inp] for inp in word]


def machine(graph: Graph) -> NumberedMachine:
    """Return a graph as a machine with numbered states. Raises UsageError if otf cannot make a suite from the graph.

    >>> from otf.explore import explore
    >>> from otf.models.coffee import coffee
    >>> made = machine(explore(coffee))
    >>> made.states, made.complete
    ([0, 5, 10], False)
    """
    whole(graph)
    numbers, silent, written, notes = labels(graph)
    size, width = len(graph.values), len(graph.inputs)
    next_ = [[NOTHING] * width for _ in range(size)]
    out = [[NOTHING] * width for _ in range(size)]
    exact = [[frozenset[int]()] * width for _ in range(size)]
    for arc in graph.arcs():
        known = next_[arc.source][arc.input], out[arc.source][arc.input]
        if known not in {(NOTHING, NOTHING), (arc.target, numbers[arc.outputs])}:
            raise UsageError(
                f"{graph.name} is nondeterministic: in {show(graph.values[arc.source])} there are several transitions "
                f"on {show(graph.inputs[arc.input])}; a fixed list of inputs cannot follow it: use a method "
                "whose tests decide by the outputs (state-counting, adaptive-cover), or `otf run`"
            )
        next_[arc.source][arc.input], out[arc.source][arc.input] = arc.target, numbers[arc.outputs]
        exact[arc.source][arc.input] |= {written[arc.outputs]}
    return NumberedMachine(graph.name, graph.values, graph.inputs, next_, out, silent, (*sampled(graph), *notes), exact)


def sampled(graph: Graph) -> tuple[str, ...]:
    """Return the note that a suite covers only a sample of the inputs; none if it covers all."""
    sample = graph.bounds.get("values")
    return (f"only {sample} are sent: nothing is known about others",) if sample else ()


def whole(graph: Graph) -> None:
    """Raise UsageError, with the reason, if no suite can be made from a graph."""
    if graph.edge:
        cuts = ", ".join(f"{bound} ({times})" for bound, times in graph.cuts.items())
        raise UsageError(
            f"{graph.name} has more states than were explored: {len(graph.values)}, cut by {cuts}; "
            "give fewer values, or restrict its states"
        )
    if SPONTANEOUS in graph.input:
        raise UsageError(
            f"{graph.name} has spontaneous outputs; a fixed list of inputs cannot tell when they come: use `otf run`"
        )
    if OPEN in graph.target:
        raise UsageError(
            f"{graph.name} has states that depend on the outputs seen (Accept); a suite cannot follow: use `otf run`"
        )


def complete_machine(machine: NumberedMachine) -> NumberedMachine:
    """Return the completed machine: an unspecified input causes no output and no change of state.

    >>> from otf.explore import explore
    >>> from otf.models.coffee import coffee
    >>> complete_machine(machine(explore(coffee))).notes
    ('completed: 5 unspecified inputs are expected to be ignored',)
    """
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


def minimise(machine: NumberedMachine) -> NumberedMachine:
    """Return the smallest machine that behaves as the given machine does: inputs can distinguish any two of its states.

    `minimise` raises UsageError if two states allow different outputs, but no inputs can reliably distinguish the
    states.

    >>> twins = NumberedMachine("twins", ["a", "b"], ["press"], next=[[1], [0]], out=[[1], [1]])
    >>> minimise(twins).size
    1
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
    """Raise UsageError if states would become one although their outputs differ, because these may look the same."""
    for state, head in enumerate(heads):
        if machine.exact and _allowed(machine, state) != _allowed(machine, head):
            one, other = show(machine.states[head]), show(machine.states[state])
            raise UsageError(
                f"{machine.name}: {one} and {other} allow outputs that differ and may look the same; no list of inputs "
                "is sure to tell the two apart: use state-counting, or a method that only covers (tour, a3)"
            )


def _allowed(machine: NumberedMachine, state: int) -> list[frozenset[int]]:
    # an unspecified input has no output, which is 0
    return [each or frozenset({0}) for each in machine.exact[state]]


def blocks(machine: NumberedMachine) -> list[int]:
    """Return the number of each state's block; no inputs can distinguish the states of a block."""
    rows = zip(machine.next, machine.out, strict=True)
    return refine([list(zip(enumerate(out), next_, strict=True)) for next_, out in rows])
