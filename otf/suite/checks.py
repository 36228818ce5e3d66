"""For each state words that identify it in as few inputs as can be: what a test does after a transition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from otf.suite.identify import Choice, experiment, uio
from otf.suite.machine import NumberedMachine, Word
from otf.suite.reach import distances
from otf.suite.splitting import Splitting

Checks: TypeAlias = list[list[Word]]


@dataclass(frozen=True, slots=True)
class _Left:
    """The states that a word of single splitting inputs leaves: first states and where they are now."""

    word: Word
    pairs: tuple[tuple[int, int], ...]


def short(machine: NumberedMachine) -> Checks:
    """Return for each state one word that only it answers so, and from which the way back is short.

    All begin as one adaptive experiment does, so that states have much in common and few words are needed to tell each
    from all others; what that leaves together is told apart by a word for each. Where a state has no such word, the
    harmonised identifiers of a splitting tree stand instead.
    """
    root = experiment(machine, immediate=True)
    homes = distances(machine)
    found: dict[int, Word] = {}
    for group in _leaves(machine, root or Choice(), ()):
        for first, now in group.pairs:
            # how far it is from each state to where this one began
            home = [row[first] for row in homes]
            rest = [other for at, other in group.pairs if at != first]
            ending = uio(machine, now, rest, home=home) if rest else ()
            if ending is not None:
                found[first] = group.word + ending
    if len(found) == machine.size:
        return [[found[state]] for state in range(machine.size)]
    return _mixed(machine, found)


def _mixed(machine: NumberedMachine, found: dict[int, Word]) -> Checks:
    tree = Splitting(machine)
    checks: Checks = []
    for state in range(machine.size):
        word = found.get(state) or uio(machine, state, [each for each in range(machine.size) if each != state])
        checks.append([word] if word else tree.identifiers(state))
    return checks


def _leaves(machine: NumberedMachine, node: Choice, word: Word) -> Iterator[_Left]:
    if node.then:
        for below in node.then.values():
            yield from _leaves(machine, below, word + node.word)
    else:
        yield _Left(word, node.pairs)


def asked(machine: NumberedMachine, checks: Checks) -> list[set[Word]]:
    """Return for each state the words that must be tried in it, so that every other state's check tells it apart."""
    words: list[set[Word]] = [set(each) for each in checks]
    for state, own in enumerate(checks):
        for other in range(machine.size):
            if other != state:
                words[other].add(_parting(machine, own, state, other))
    return words


def _parting(machine: NumberedMachine, words: list[Word], state: int, other: int) -> Word:
    """Return the shortest beginning of one of these words on which two states differ."""
    partings = [part for word in words if (part := _differs(machine, word, state, other))]
    return min(partings, key=len)


def _differs(machine: NumberedMachine, word: Word, one: int, other: int) -> Word:
    for place, inp in enumerate(word, 1):
        if machine.out[one][inp] != machine.out[other][inp]:
            return word[:place]
        one, other = machine.next[one][inp], machine.next[other][inp]
    return ()
