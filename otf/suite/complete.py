"""The classical complete suites: W, Wp, HSI, H and SPY, for systems with up to k states more than the model.

Chow 1978 (W); Fujiwara and others 1991 (Wp); Petrenko and others 1993 (HSI); Dorofeeva, El-Fakih and Yevtushenko 2005
(H); Simão, Petrenko and Yevtushenko 2012 (SPY). All take a complete, minimal, connected machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from otf.suite.machine import NumberedMachine, Word
from otf.suite.splitting import Splitting
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
