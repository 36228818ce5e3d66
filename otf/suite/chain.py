"""A suite of few long paths, complete for systems with as many states as the model.

A test of a transition needs a way to its start. Any way will do that leads there in every passing system, not only the
way from the reset. So confirmed transitions become ways, and a test begins where the last one ended. The idea is that
of SPY (Simão, Petrenko and Yevtushenko, "On reducing test length for FSMs with extra states", 2012); the walk to the
nearest open transition is ours.

Why it is complete: the suite distinguishes the states after the cover, so a system with no more states than the model
has only these. A transition is confirmed when its target passes a check that every other state fails; the first tests
try each check in all states. Confirming a transition relies only on transitions confirmed earlier.
"""

from __future__ import annotations

from typing import TypeAlias

from otf.suite.complete import Words, cover, distances, onward, used_transitions
from otf.suite.identify import Choice, Splitting, experiment, leaves, uio
from otf.suite.machine import NumberedMachine, Word

Checks: TypeAlias = list[list[Word]]


def short(machine: NumberedMachine) -> Checks:
    """Return for each state a sequence of inputs that no other state answers alike, with a short way back to the state.

    Call such a sequence of inputs a word. All words begin with one adaptive experiment, so that they have much in
    common, and few words distinguish each state from all others. If the experiment does not distinguish some states,
    each of their words gets an ending of its own. A state without such a word gets several words: the harmonised
    identifiers of a splitting tree.
    """
    root = experiment(machine, immediate=True)
    homes = distances(machine)
    found: dict[int, Word] = {}
    for word, leaf in leaves(root or Choice()):
        for first, now in leaf.pairs:
            # the distance from each state to the start of this word
            home = [row[first] for row in homes]
            rest = [other for at, other in leaf.pairs if at != first]
            ending = uio(machine, now, rest, home=home) if rest else ()
            if ending is not None:
                found[first] = word + ending
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


def trial_words(machine: NumberedMachine, checks: Checks) -> list[set[Word]]:
    """Return for each state the sequences of inputs to try in it, so that it fails the check of every other state."""
    words: list[set[Word]] = [set(each) for each in checks]
    for state, own in enumerate(checks):
        for other in range(machine.size):
            if other != state:
                words[other].add(_shortest_parting(machine, own, state, other))
    return words


def _shortest_parting(machine: NumberedMachine, words: list[Word], state: int, other: int) -> Word:
    """Return the shortest beginning of one of these words on which two states differ."""
    partings = [part for word in words if (part := _differs(machine, word, state, other))]
    return min(partings, key=len)


def _differs(machine: NumberedMachine, word: Word, one: int, other: int) -> Word:
    for at, inp in enumerate(word, 1):
        if machine.out[one][inp] != machine.out[other][inp]:
            return word[:at]
        one, other = machine.next[one][inp], machine.next[other][inp]
    return ()


def chain(machine: NumberedMachine) -> list[Word]:
    """Return the paths of the chain suite of a machine; the machine must be complete, minimal and connected."""
    checks = short(machine)
    walk = _Chain(machine, checks)
    walk.states(trial_words(machine, checks))
    walk.checks()
    walk.rest()
    return list(walk.words.paths())


class _Chain:
    def __init__(self, machine: NumberedMachine, checks: Checks) -> None:
        self.machine = machine
        self.words = Words(machine)
        self._checks = checks
        self._cover = cover(machine)
        self._roots = [self.words.add(word) for word in self._cover]
        self._open: list[set[int]] = [set(range(len(machine.inputs))) for _ in range(machine.size)]
        self._ways: list[dict[int, int]] = [{} for _ in range(machine.size)]
        for state, inp in used_transitions(self._cover, machine):
            self._confirm(state, inp)

    def states(self, words: list[set[Word]]) -> None:
        """Add the words that distinguish all states, each after its own way from the reset."""
        for root, each in zip(self._roots, words, strict=True):
            for word in sorted(each):
                self.words.add(word, root)

    def checks(self) -> None:
        """Confirm the transitions that occur in checks, each from the reset."""
        for state, own in enumerate(self._checks):
            for word in own:
                now = state
                for inp in word:
                    if inp in self._open[now]:
                        self._test(self._roots[now], now, inp)
                        self._confirm(now, inp)
                    now = self.machine.next[now][inp]

    def rest(self) -> None:
        """Confirm all other transitions, always the nearest one, on confirmed ways."""
        node = 0
        while any(self._open):
            way, state = self._nearest(self.words.state[node])
            if way is None or len(way) > len(self._cover[state]):
                node, state = self._from_reset()
            else:
                node = self.words.add(way, node)
            inp = min(self._open[state])
            node = self._test(node, state, inp)
            self._confirm(state, inp)

    def _test(self, node: int, state: int, inp: int) -> int:
        """Add the transition with each check of its target; return where the last check ends."""
        words = [(inp, *check) for check in self._checks[self.machine.next[state][inp]]]
        end = self.words.add(words[0], node)
        for word in words[1:]:
            end = self.words.add(word, node)
        return end

    def _confirm(self, state: int, inp: int) -> None:
        self._open[state].discard(inp)
        self._ways[state].setdefault(self.machine.next[state][inp], inp)

    def _from_reset(self) -> tuple[int, int]:
        state = min((each for each, left in enumerate(self._open) if left), key=lambda each: len(self._cover[each]))
        return self._roots[state], state

    def _nearest(self, start: int) -> tuple[Word | None, int]:
        """Return the confirmed way to the nearest state with an open transition."""
        return next(((word, state) for state, word in onward(self._ways, [start]) if self._open[state]), (None, 0))
