"""The methods by which suites are made, and what each proves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from otf.errors import UsageError
from otf.suite.chain import chain
from otf.suite.complete import h, hsi, spy, w, wp
from otf.suite.gast import a2, a3, a4
from otf.suite.identify import Choice, distinguishing, experiment, uio
from otf.suite.machine import NOTHING, NumberedMachine, Word, blocks, completed, minimised
from otf.suite.tour import Leg, checked, tour, transitions
from otf.suite.words import distances

PATHS: Final = 100_000  # of a suite by A2: their number explodes
Base = Literal["specified", "completed", "minimal"]
Made = tuple[list[Word], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method by which suites are made.

    `says` is what it does, in a line. `make(machine, extra)` returns paths and notes; `base` says for which machine:
    as specified, completed, or completed and minimised. `complete`: a system that passes is correct if it has no more
    states than are allowed for. `extra`: it takes a number of states that the system may have more than the model.

    >>> METHODS["tour"].says
    'every transition, in as few paths and inputs as possible'
    """

    says: str
    make: Callable[[NumberedMachine, int], Made]
    base: Base = "minimal"
    complete: bool = True
    extra: bool = True

    def machine(self, explored: NumberedMachine) -> NumberedMachine:
        """Return the machine that the method works on."""
        if self.base == "specified":
            return explored
        whole = completed(explored)
        return minimised(whole) if self.base == "minimal" else whole


def _a2(machine: NumberedMachine, _extra: int) -> Made:
    paths = list(islice(a2(machine), PATHS + 1))
    if len(paths) > PATHS:
        message = f"{machine.name}: A2 gives more than {PATHS:,} paths; tour covers every transition with one"
        raise UsageError(message)
    return paths, ()


def _a3(machine: NumberedMachine, _extra: int) -> Made:
    return list(a3(machine)), ()


def _a4(machine: NumberedMachine, _extra: int) -> Made:
    checks, notes = _uios(machine)
    return list(a4(machine, checks.__getitem__)), notes


def _tour(machine: NumberedMachine, _extra: int) -> Made:
    return _optimal(machine, transitions(machine))


def _uio(machine: NumberedMachine, _extra: int) -> Made:
    checks, notes = _uios(machine)
    paths, more = _optimal(machine, checked(machine, checks.__getitem__))
    return paths, notes + more


def _ds(machine: NumberedMachine, _extra: int) -> Made:
    word = distinguishing(machine)
    if word is None:
        message = f"{machine.name}: no distinguishing sequence was found; try ads, uio or chain"
        raise UsageError(message)
    return _optimal(machine, checked(machine, lambda _state: word))


def _ads(machine: NumberedMachine, _extra: int) -> Made:
    root = experiment(machine)
    if root is None:
        message = f"{machine.name}: no adaptive distinguishing sequence was found; try uio or chain"
        raise UsageError(message)
    words = dict(_decisions(root, ()))
    return _optimal(machine, checked(machine, words.__getitem__))


def _decisions(node: Choice, word: Word) -> Iterator[tuple[int, Word]]:
    if node.state != NOTHING:
        yield node.state, word
    for below in node.then.values():
        yield from _decisions(below, word + node.word)


def _optimal(machine: NumberedMachine, legs: list[Leg]) -> Made:
    found = tour(machine, legs)
    return found.paths, () if found.optimal else ("its parts had to be joined: there may be a shorter tour",)


def _uios(machine: NumberedMachine) -> tuple[list[Word], tuple[str, ...]]:
    """Return for each state a word of specified inputs that only this state answers so; () if it has none."""
    whole, home = completed(machine), distances(machine)
    numbers = blocks(whole)
    words: list[Word] = []
    for state in range(machine.size):
        others = [each for each in range(machine.size) if numbers[each] != numbers[state]]
        back = [row[state] for row in home]
        words.append(
            (uio(whole, state, others, lambda at, inp: machine.next[at][inp] != NOTHING, back) or ()) if others else ()
        )
    without = sum(not word for word in words)
    return words, (
        f"{without} of {machine.size} states have no UIO: they are reached but not checked",
    ) if without else ()


def _plain(make: Callable[[NumberedMachine, int], Sequence[Word]]) -> Callable[[NumberedMachine, int], Made]:
    return lambda machine, extra: (list(make(machine, extra)), ())


METHODS: Final[Mapping[str, Method]] = {
    "a2": Method("every path in which no transition occurs twice", _a2, "specified", complete=False, extra=False),
    "a3": Method("every transition twice, always the first available", _a3, "specified", complete=False, extra=False),
    "a4": Method(
        "every transition once; the state at the end is checked", _a4, "specified", complete=False, extra=False
    ),
    "tour": Method(
        "every transition, in as few paths and inputs as possible", _tour, "specified", complete=False, extra=False
    ),
    "uio": Method("a tour with a check of every target", _uio, "specified", complete=False, extra=False),
    "ds": Method("a tour with one distinguishing sequence after each transition", _ds, complete=False, extra=False),
    "ads": Method("a tour with an adaptive distinguishing sequence", _ads, complete=False, extra=False),
    "w": Method("after each transition all words that tell states apart", _plain(w)),
    "wp": Method("as w, but after transitions only words for their targets", _plain(wp)),
    "hsi": Method("after each transition harmonised words for its target", _plain(hsi)),
    "h": Method("for any two nodes a word that tells their states apart", _plain(h)),
    "spy": Method("as hsi, with the words spread over nodes known to be in a state", _plain(spy)),
    "chain": Method("each test begins where the last one ended", lambda machine, _: (chain(machine), ()), extra=False),
}
"""The methods for `suite`, by name."""
