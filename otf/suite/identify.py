"""Sequences of inputs that identify states: UIOs, distinguishing sequences, splitting trees, and what these yield.

Here a word is a sequence of inputs, and a UIO is a word that only one state answers in its way. A node of a splitting
tree is a set of states with a word that not all of them answer with the same outputs; below it are the sets of states
that do (Lee and Yannakakis 1996). The word at the node where two states part distinguishes them. So the words on the
way to a leaf identify its state, and the words of any two states share one that distinguishes them (harmonised).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from otf.errors import UsageError
from otf.suite.machine import NOTHING, NumberedMachine, Word
from otf.values import show

TRIED: Final = 20_000  # sets of states that the search for one word examines
Pairs: TypeAlias = tuple[tuple[int, int], ...]  # the first state and the current one
Sets = TypeVar("Sets", bound=Hashable)
PairFilter: TypeAlias = Callable[[int, int], bool]


def uio(
    machine: NumberedMachine,
    state: int,
    others: Iterable[int],
    allowed: PairFilter | None = None,
    home: list[int] | None = None,
) -> Word | None:
    """Return a shortest sequence of inputs to which `state` responds unlike all `others`; None if otf finds none.

    The sequence contains only inputs for which `allowed(state, input)` is true. `home[state]` is the number of inputs
    from a state to a home state. If you pass `home`, `uio` adds this number when it compares the lengths of sequences.
    """
    start = (state, frozenset(others))
    seen = {start}
    queue = deque[tuple[tuple[int, frozenset[int]], Word]]([(start, ())])
    best: tuple[int, Word] | None = None
    while queue and len(seen) < TRIED:
        (now, rest), word = queue.popleft()
        if best is not None and len(word) + 1 >= best[0]:
            break
        for inp, end, left in _steps(machine, now, rest, allowed):
            longer: Word = (*word, inp)
            if not left:
                cost = len(longer) + (home[end] if home else 0)
                best = min(best or (cost, longer), (cost, longer), key=lambda each: each[0])
            elif (then := (end, left)) not in seen:
                seen.add(then)
                queue.append((then, longer))
        if best is not None and home is None:
            break
    return None if best is None else best[1]


def _steps(
    machine: NumberedMachine, now: int, rest: frozenset[int], allowed: PairFilter | None
) -> Iterable[tuple[int, int, frozenset[int]]]:
    for inp, end in enumerate(machine.next[now]):
        if end == NOTHING or (allowed is not None and not allowed(now, inp)):
            continue
        seen = machine.out[now][inp]
        left = frozenset([machine.next[each][inp] for each in rest if machine.out[each][inp] == seen])
        # once another state has merged with this one, no input distinguishes the two
        if end not in left:
            yield inp, end, left


@dataclass(eq=False)
class Choice:
    """A node of an adaptive experiment: inputs (`word`), and the next node per answer; a leaf knows its `state`."""

    word: Word = ()
    then: dict[tuple[int, ...], Choice] = field(default_factory=dict[tuple[int, ...], "Choice"])
    state: int = NOTHING
    pairs: Pairs = ()


def experiment(machine: NumberedMachine, *, immediate: bool = False) -> Choice | None:
    """Return an adaptive test whose outputs show in which state the machine was; None if the search finds none.

    If `immediate` is true, the test ends when no single input can distinguish the states that are still possible. A
    test with `immediate=True` may end with several possible states.
    """
    root = Choice(pairs=tuple((state, state) for state in range(machine.size)))
    left = [root]
    while left:
        node = left.pop()
        if len(node.pairs) == 1:
            node.state = node.pairs[0][0]
            continue
        found = _best(machine, node.pairs)
        word = (found,) if found is not None else () if immediate else _splitting_word(machine, node.pairs)
        if word is None:
            return None
        if word:
            node.word = word
            node.then = {outputs: Choice(pairs=pairs) for outputs, pairs in _after(machine, node.pairs, word).items()}
            left += node.then.values()
    return root


def leaves(node: Choice, word: Word = ()) -> Iterator[tuple[Word, Choice]]:
    """Yield each possible end of an adaptive test, with the inputs that lead to this end."""
    if not node.then:
        yield word, node
    for below in node.then.values():
        yield from leaves(below, word + node.word)


def _after(machine: NumberedMachine, pairs: Pairs, word: Word) -> dict[tuple[int, ...], Pairs]:
    groups = defaultdict[tuple[int, ...], list[tuple[int, int]]](list)
    for first, now in pairs:
        outputs, end = machine.run(word, now)
        groups[tuple(outputs)].append((first, end))
    return {outputs: tuple(each) for outputs, each in groups.items()}


def _best(machine: NumberedMachine, pairs: Pairs) -> int | None:
    """Return the input that splits a set into most parts without merging states, and moves as few as possible."""
    best, score = None, (1, 0)
    for inp in range(len(machine.inputs)):
        ends = {(machine.out[now][inp], machine.next[now][inp]) for _, now in pairs}
        if len(ends) < len(pairs):
            continue
        parts = len({out for out, _ in ends})
        if parts >= score[0] and parts > 1:
            here = sum(machine.next[now][inp] == now for _, now in pairs)
            if (parts, here) > score:
                best, score = inp, (parts, here)
    return best


def _splitting_word(machine: NumberedMachine, pairs: Pairs) -> Word | None:
    """Return a shortest word that splits a set and never merges two of its states; None if none was found."""

    def steps(now: frozenset[int]) -> Iterator[tuple[int, frozenset[int] | None]]:
        for inp in range(len(machine.inputs)):
            ends = {(machine.out[each][inp], machine.next[each][inp]) for each in now}
            if len(ends) == len(now):
                splits = len({out for out, _ in ends}) > 1
                yield inp, None if splits else frozenset(end for _, end in ends)

    return _searched(frozenset(now for _, now in pairs), steps)


def _searched(start: Sets, steps: Callable[[Sets], Iterable[tuple[int, Sets | None]]]) -> Word | None:
    """Return a shortest word to an end (None), by inputs that lead on from sets of states; None if none was found."""
    seen, queue = {start}, deque[tuple[Sets, Word]]([(start, ())])
    while queue and len(seen) < TRIED:
        now, word = queue.popleft()
        for inp, then in steps(now):
            if then is None:
                return (*word, inp)
            if then not in seen:
                seen.add(then)
                queue.append((then, (*word, inp)))
    return None


def distinguishing(machine: NumberedMachine) -> Word | None:
    """Return a shortest sequence of inputs to which every state responds differently; None if the search finds none."""

    def steps(groups: frozenset[Pairs]) -> Iterator[tuple[int, frozenset[Pairs] | None]]:
        for inp in range(len(machine.inputs)):
            parts = [part for group in groups for part in _after(machine, group, (inp,)).values()]
            if all(len({now for _, now in part}) == len(part) for part in parts):
                yield inp, frozenset(part for part in parts if len(part) > 1) or None

    whole: Pairs = tuple((state, state) for state in range(machine.size))
    return () if machine.size == 1 else _searched(frozenset([whole]), steps)


@dataclass(eq=False)
class SplitNode:
    """A node of a splitting tree: a set of `states`; once split, the inputs that split it (`word`), and its `parts`."""

    states: list[int]
    above: SplitNode | None = None
    depth: int = 0
    word: Word = ()
    parts: list[SplitNode] = field(default_factory=list["SplitNode"])


class Splitting:
    """The splitting tree of a complete machine. Raises UsageError if the machine is not minimal."""

    def __init__(self, machine: NumberedMachine) -> None:
        self._machine = machine
        root = SplitNode(list(range(machine.size)))
        self.leaf: list[SplitNode] = [root] * machine.size
        open_ = [root] if machine.size > 1 else []
        while open_:
            left = [part for node in open_ for part in self._split(node)]
            if left == open_:
                raise UsageError(self._alike(left[0].states))
            open_ = left

    def apart(self, one: int, other: int) -> Word:
        """Return the word that distinguishes two states."""
        return self._meet([one, other]).word

    def identifiers(self, state: int) -> list[Word]:
        """Return the words on the way to a state's leaf, which identify it and are harmonised.

        The state of a machine with one state has the empty word, so that suites still add the nodes before it.
        """
        words: dict[Word, None] = {}
        node = self.leaf[state].above
        while node is not None:
            words[node.word] = None
            node = node.above
        return _longest(words) or [()]

    def characterising(self) -> list[Word]:
        """Return words that distinguish any two states."""
        every = {word: None for state in range(self._machine.size) for word in self.identifiers(state)}
        return _longest(every)

    def _split(self, node: SplitNode) -> list[SplitNode]:
        """Split a set if possible; return the parts still to split."""
        word = self._word(node)
        if not word:
            return [node]
        node.word = word
        parts = defaultdict[tuple[int, ...], list[int]](list)
        for state in node.states:
            parts[tuple(self._machine.run(word, state)[0])].append(state)
        for states in parts.values():
            node.parts.append(part := SplitNode(states, node, node.depth + 1))
            for state in states:
                self.leaf[state] = part
        return [part for part in node.parts if len(part.states) > 1]

    def _word(self, node: SplitNode) -> Word:
        """Return a shortest word that splits a set, given the tree so far; () if none does."""
        machine = self._machine
        best: Word = ()
        for inp in range(len(machine.inputs)):
            if len({machine.out[state][inp] for state in node.states}) > 1:
                return (inp,)
        for inp in range(len(machine.inputs)):
            ends = {machine.next[state][inp] for state in node.states}
            if len({id(self.leaf[end]) for end in ends}) > 1:
                word = (inp, *self._meet(ends).word)
                best = word if not best or len(word) < len(best) else best
        return best

    def _meet(self, states: list[int] | set[int]) -> SplitNode:
        nodes = {id(self.leaf[state]): self.leaf[state] for state in states}
        while len(nodes) > 1:
            deepest = max(nodes.values(), key=lambda node: node.depth)
            del nodes[id(deepest)]
            above = deepest.above
            assert above is not None  # noqa: S101 -- the root is above all
            nodes[id(above)] = above
        return next(iter(nodes.values()))

    def _alike(self, states: list[int]) -> str:
        one, other = (show(self._machine.states[state]) for state in states[:2])
        return (
            f"{self._machine.name} is not minimal: no inputs can tell {one} and {other} apart; minimise it first, "
            "or use a method that does not identify states (a2, a3, tour)"
        )


def _longest(words: dict[Word, None]) -> list[Word]:
    """Return the words that are not prefixes of others."""
    beginnings = {word[:length] for word in words for length in range(len(word))}
    return [word for word in words if word not in beginnings]
