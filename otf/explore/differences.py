"""Finds the inputs that two models answer differently: each kind of difference once, those after few inputs first."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from otf.errors import UsageError
from otf.explore.finding import taken
from otf.explore.graph import OPEN, SPONTANEOUS, Graph
from otf.values import show
from otf.values.arguments import checked

MOST: Final = 100  # kinds of differences
PAIRS: Final = 200_000  # pairs of sets of states
LEFT_OPEN: Final = "(left open)"
ALONE: Final = "(spontaneous)"
_StateSet: TypeAlias = frozenset[int]
_Onward: TypeAlias = dict[str, dict[str, _StateSet]]
_AnswerPath: TypeAlias = tuple[tuple[str, str], ...]


class _Pair(NamedTuple):
    """The possible states of two models after the same inputs and answers."""

    one: _StateSet
    other: _StateSet
    way: _AnswerPath


class AnswerDifference(NamedTuple):
    """Answers to an input that only one of two models gives; `way` has the inputs and answers that lead there.

    `places` counts the pairs of states with this difference.
    """

    way: tuple[tuple[str, str], ...]
    input: str
    one: tuple[str, ...]
    other: tuple[str, ...]
    places: int = 1

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the inputs that show the difference."""
        return (*(inp for inp, _ in self.way if inp != ALONE), *((self.input,) if self.input != ALONE else ()))

    @property
    def wider(self) -> str:
        """Return the side that has all answers of the other, and more; "" if neither."""
        one, other = ({*answers} - {LEFT_OPEN} for answers in (self.one, self.other))
        return "B" if one and one < other else "A" if other and other < one else ""


@dataclass(frozen=True)
class Differences:
    """The differences of two models; `only_one` and `only_other` are inputs that only one model has.

    The first `roots` differences show without any other difference before them, the others only behind one. Both parts
    begin with the nearest.

    `whole`: the search saw all pairs of states, so there are no other differences.
    """

    found: list[AnswerDifference]
    only_one: list[str] = field(default_factory=list[str])
    only_other: list[str] = field(default_factory=list[str])
    whole: bool = True
    roots: int = 0

    @property
    def any(self) -> bool:
        """Return whether the models differ."""
        return bool(self.found or self.only_one or self.only_other)


@checked
def differences(one: Graph, other: Graph) -> Differences:
    """Return the inputs that two models answer differently. Raises UsageError if outputs decide a next state.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> lamp = explore(Spec(lambda lit, inp: [goto(not lit, "off" if lit else "on")], False, ["press"]))
    >>> stuck = explore(Spec(lambda lit, inp: [goto(True, "on")], False, ["press"]))
    >>> differences(lamp, stuck).found
    [AnswerDifference(way=(('press', 'on'),), input='press', one=('off',), other=('on',), places=1)]
    """
    for graph in (one, other):
        if OPEN in graph.target:
            raise UsageError(f"{graph.name}: outputs decide the next state (Accept); it cannot be compared as a model")
    inputs, others = ({plain(each) for each in graph.inputs} for graph in (one, other))
    common, start = inputs & others, (frozenset([0]), frozenset([0]))
    seen, queue = {start}, deque[_Pair]([_Pair(*start, ())])
    # look behind differences last, so that the nearest way to a difference has no other before it
    behind = deque[_Pair]()
    kinds, later = dict[tuple[object, ...], AnswerDifference](), set[tuple[object, ...]]()
    while (queue or behind) and len(seen) < PAIRS and len(kinds) <= MOST:
        after = not queue
        here = (queue or behind).popleft()
        left, right = _answered(one, here.one), _answered(other, here.other)
        for inp in [each for each in dict.fromkeys([*left, *right]) if each in common or each == ALONE]:
            ours, theirs = left.get(inp, {}), right.get(inp, {})
            if ours.keys() != theirs.keys() and (not after or (ours and theirs)):
                found = AnswerDifference(here.way, inp, _answers(ours), _answers(theirs))
                later |= {found[1:4]} - kinds.keys() if after else set()
                known = kinds.setdefault(found[1:4], found._replace(places=0))
                kinds[found[1:4]] = known._replace(places=known.places + 1)
            for pair, parted in _onward(ours, theirs, here.way, inp):
                if pair[:2] not in seen:
                    seen.add(pair[:2])
                    # no input leads around a difference in spontaneous outputs, so what follows is not behind it
                    (behind if after or (parted and inp != ALONE) else queue).append(pair)
    whole = not (queue or behind) and one.whole and other.whole
    roots = _roots([each for kind, each in kinds.items() if kind not in later])
    ordered = [*roots, *(each for each in kinds.values() if each not in roots)][:MOST]
    return Differences(ordered, sorted(inputs - others), sorted(others - inputs), whole, len(roots[:MOST]))


def _roots(found: list[AnswerDifference]) -> list[AnswerDifference]:
    """Return the differences that show without the inputs of another one."""
    return [each for each in found if not any(_within(other.inputs, each.inputs) for other in found)]


def _within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Return whether some, but not all, of the `long` inputs are the `short` ones, in this order."""
    left = iter(long)
    return 0 < len(short) < len(long) and all(inp in left for inp in short)


def _onward(
    ours: Mapping[str, _StateSet], theirs: Mapping[str, _StateSet], way: _AnswerPath, inp: str
) -> Iterator[tuple[_Pair, bool]]:
    """Yield the pairs after an input, and whether the answers differed; an answer of only one model leads on too."""
    for answer in sorted(ours.keys() & theirs.keys()):
        yield _Pair(ours[answer], theirs[answer], (*way, (inp, answer))), False
    left, right = sorted(ours.keys() - theirs.keys()), sorted(theirs.keys() - ours.keys())
    if left and right:
        told = f"{' or '.join(left)}, and B: {' or '.join(right)}"
        one, other = (
            frozenset(state for each in answers for state in ways[each])
            for ways, answers in ((ours, left), (theirs, right))
        )
        yield _Pair(one, other, (*way, (inp, told))), True


def plain(value: object) -> str:
    """Return an input or output as text; a string stays as it is, unless it would not show on a line."""
    return value if isinstance(value, str) and value and value.isprintable() else show(value)


def _answers(ways: dict[str, _StateSet]) -> tuple[str, ...]:
    return tuple(sorted(ways)) or (LEFT_OPEN,)


def _answered(graph: Graph, states: _StateSet) -> _Onward:
    found = defaultdict[str, defaultdict[str, set[int]]](lambda: defaultdict(set))
    for state in states:
        for arc in graph.arcs(state):
            inp = ALONE if arc.input == SPONTANEOUS else plain(graph.inputs[arc.input])
            outputs = graph.outputs[arc.outputs]
            bare = all(isinstance(each, str) for each in outputs)
            texts = [*map(plain, outputs)] if bare else taken(graph, arc.input, arc.outputs).outputs
            answer = ", ".join(filter(None, texts)) or "nothing"
            found[inp][answer].add(arc.target)
    return {inp: {answer: frozenset(targets) for answer, targets in ways.items()} for inp, ways in found.items()}
