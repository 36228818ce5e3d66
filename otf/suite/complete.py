"""The classical complete suites: W, Wp, HSI, H and SPY, for systems with up to k states more than the model.

Chow 1978 (W); Fujiwara and others 1991 (Wp); Petrenko and others 1993 (HSI); Dorofeeva, El-Fakih and Yevtushenko 2005
(H); Simão, Petrenko and Yevtushenko 2012 (SPY). All take a complete, minimal, connected machine.
And A2, A3 and A4, paths that cover every transition: Koopman and Plasmeijer, "Testing Reactive Systems with GAST",
section 8.4. Each takes the first transition available.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import product

from otf.suite.identify import Splitting
from otf.suite.machine import NOTHING, NumberedMachine, Word
from otf.suite.words import ConfirmedNodes, Words, cover, used_transitions


def w(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the W suite: after each transition and up to k more inputs, all words that tell states apart."""
    tree, words = Splitting(machine), Words(machine)
    for node in _middles(machine, words, extra + 1):
        _add(words, node, tree.characterising())
    return list(words.paths())


def wp(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the Wp suite: after states all words, after transitions only those that identify their targets."""
    tree, words = Splitting(machine), Words(machine)
    states = set(_middles(machine, words, extra))
    for node in states:
        _add(words, node, tree.characterising())
    for node in _middles(machine, words, extra + 1):
        _add(words, node, tree.identifiers(words.state[node]))
    return list(words.paths())


def hsi(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the HSI suite: after each transition the words that identify its target, harmonised."""
    tree, words = Splitting(machine), Words(machine)
    for node in _middles(machine, words, extra + 1):
        _add(words, node, tree.identifiers(words.state[node]))
    return list(words.paths())


def h(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the H suite: for any two nodes that lead to different states, one word after both tells them apart."""
    tree, words = Splitting(machine), Words(machine)
    roots = [words.add(word) for word in cover(machine)]
    for at, root in enumerate(roots):
        for other in roots[:at]:
            _separate(words, tree, root, other)
    for root in roots:
        for lane in _lanes(words, root, extra + 1):
            for at, node in enumerate(lane):
                for other in (*roots, *lane[:at]):
                    _separate(words, tree, node, other)
    return list(words.paths())


def spy(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the SPY suite: identifying words are spread over all nodes that are known to be in the same state."""
    tree, words = Splitting(machine), Words(machine)
    roots = [words.add(word) for word in cover(machine)]
    for root in roots:
        for ending in _endings(machine, extra):
            node = words.add(ending, root)
            _add(words, node, tree.identifiers(words.state[node]))
    nodes = ConfirmedNodes(words, roots, used_transitions(cover(machine), machine))
    for state, inp in machine.transitions:
        if (state, inp) not in nodes.confirmed:
            for ending in _endings(machine, extra):
                target = machine.run((inp, *ending), state)[1]
                for word in tree.identifiers(target):
                    nodes.add(state, (inp, *ending, *word))
            nodes.confirm(state, inp)
    return list(words.paths())


def _add(words: Words, node: int, endings: Iterable[Word]) -> None:
    for ending in endings:
        words.add(ending, node)


def _lanes(words: Words, root: int, length: int) -> Iterator[list[int]]:
    """Yield the nodes on each way of so many inputs."""
    for ending in product(range(len(words.machine.inputs)), repeat=length):
        lane = [root]
        for inp in ending:
            lane.append(words.step(lane[-1], inp))
        yield lane[1:]


def _separate(words: Words, tree: Splitting, one: int, other: int) -> None:
    """Make sure that some word after two nodes that lead to different states tells these apart."""
    if words.state[one] != words.state[other] and not _separated(words, one, other):
        word = tree.apart(words.state[one], words.state[other])
        words.add(word, one)
        words.add(word, other)


def _separated(words: Words, one: int, other: int) -> bool:
    machine, after = words.machine, words.after
    here, there = words.state[one], words.state[other]
    for inp, then in after[one].items():
        if inp in after[other]:
            if machine.out[here][inp] != machine.out[there][inp]:
                return True
            if _separated(words, then, after[other][inp]):
                return True
    return False


def _middles(machine: NumberedMachine, words: Words, length: int) -> list[int]:
    """Return the nodes after the cover and up to so many more inputs."""
    return list(
        dict.fromkeys(words.add(root + ending) for root in cover(machine) for ending in _endings(machine, length))
    )


def _endings(machine: NumberedMachine, length: int) -> Iterator[Word]:
    for each in range(length + 1):
        yield from product(range(len(machine.inputs)), repeat=each)


def a2(machine: NumberedMachine) -> Iterator[Word]:
    """Yield every path in which no transition occurs twice and which cannot be made longer.

    Their number explodes: 118 for nine transitions, 27,848 for eighteen.
    """
    rows = [[inp for inp, target in enumerate(row) if target != NOTHING] for row in machine.next]
    word: list[int] = []
    used = set[tuple[int, int]]()
    trail: list[tuple[int, int]] = []
    left = [iter(rows[0])]
    longer = [False]
    while left:
        state = 0 if not trail else machine.next[trail[-1][0]][trail[-1][1]]
        inp = next((each for each in left[-1] if (state, each) not in used), None)
        if inp is not None:
            longer[-1] = True
            used.add((state, inp))
            trail.append((state, inp))
            word.append(inp)
            left.append(iter(rows[machine.next[state][inp]]))
            longer.append(False)
            continue
        left.pop()
        if not longer.pop() and word:
            yield tuple(word)
        if trail:
            used.discard(trail.pop())
            word.pop()


def a3(machine: NumberedMachine) -> Iterator[Word]:
    """Yield paths in which every transition occurs twice: the inputs after it show where it led."""
    return _covering(machine, 2, lambda _state: ())


def a4(machine: NumberedMachine, check: Callable[[int], Word]) -> Iterator[Word]:
    """Yield paths in which every transition occurs, each with the inputs at its end that check the state there."""
    return _covering(machine, 1, check)


def _covering(machine: NumberedMachine, times: int, check: Callable[[int], Word]) -> Iterator[Word]:
    rows = [[inp for inp, target in enumerate(row) if target != NOTHING] for row in machine.next]
    used: Counter[tuple[int, int]] = Counter()

    def wanted(state: int) -> int | None:
        return next((inp for inp in rows[state] if used[state, inp] < times), None)

    while (start := _nearest(machine, rows, wanted)) is not None:
        word = list(start)
        state = machine.run(start)[1]
        while (inp := wanted(state)) is not None:
            used[state, inp] += 1
            word.append(inp)
            state = machine.next[state][inp]
        yield (*word, *check(state))


def _nearest(machine: NumberedMachine, rows: list[list[int]], wanted: Callable[[int], int | None]) -> Word | None:
    """Return a shortest word to a state with a wanted transition, None if there is none."""
    seen, queue = {0}, deque[tuple[int, Word]]([(0, ())])
    while queue:
        state, word = queue.popleft()
        if wanted(state) is not None:
            return word
        for inp in rows[state]:
            target = machine.next[state][inp]
            if target not in seen:
                seen.add(target)
                queue.append((target, (*word, inp)))
    return None
