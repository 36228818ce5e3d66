"""A small state of a system, where a recording shows one: the last of one or two exchanges decides later answers.

A login that succeeded, a session that was opened and closed, a lamp that was switched on: after one of these, another
input is always answered in one way, and after the other in another way. A guess is made only if a single choice of
exchanges explains the most answers, and each answer was seen twice in each of its states, to inputs that with the very
same values were answered in another way too: otherwise values may decide. Everything else stays as it is without a
state: any answer that was seen. So a draft with states still allows the whole recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, TypeAlias

from otf.draft.model import MOST_ANSWERS, AnswerKinds, Exchanged

START: Final = "start"
_TWICE: Final = 2  # exchanges that show an answer in a state: one may be chance
_MOST_SYMBOLS: Final = 40
_SEARCHED: Final = 2_000  # exchanges in which states are looked for; what is found has to hold for all

ExchangeKind: TypeAlias = tuple[str, AnswerKinds]
"""The kinds of an input and of its answers."""


@dataclass(frozen=True)
class StateGuess:
    """States named after the exchange that leads to them; `shown` has the answer to an input, by state and input.

    >>> guess = StateGuess("start", {("Login", ("Ok",)): "Login Ok"}, {("start", "Get"): ("No",)})
    >>> guess.then("Login", ("Ok",)), guess.then("Get", ("No",)), guess.excluding("Get", ("Value",))
    ('Login Ok', '', ['start'])
    """

    initial: str = START
    entered: dict[ExchangeKind, str] = field(default_factory=dict[ExchangeKind, str])
    shown: dict[tuple[str, str], AnswerKinds] = field(default_factory=dict[tuple[str, str], AnswerKinds])

    def then(self, inp: str, answer: AnswerKinds) -> str:
        """Return the state after an exchange, "" if it leaves the state as it is."""
        return self.entered.get((inp, answer), "")

    def excluding(self, inp: str, answer: AnswerKinds) -> list[str]:
        """Return the states in which an input was always answered in another way."""
        return [state for (state, name), seen in self.shown.items() if name == inp and seen != answer]


def guessed(found: Sequence[Exchanged]) -> StateGuess | None:
    """Return the states that a recording of one client shows; None if there are none, or several choices."""
    steps = list(_steps(found))
    symbols = dict.fromkeys(each for each, _ in steps)
    answers = Counter(inp for inp, _ in symbols)
    varying = {inp for inp, count in answers.items() if 1 < count <= MOST_ANSWERS}
    if not varying or len(symbols) > _MOST_SYMBOLS:
        return None
    # an input with many answers is left out of the draft, and leads nowhere
    for guesses in _choices([each for each in symbols if answers[each[0]] <= MOST_ANSWERS]):
        best = _best(guesses, steps[:_SEARCHED], varying)
        if len(best) == 1:
            shown = _shown(steps, best[0], varying)
            return StateGuess(best[0].initial, best[0].entered, shown) if shown else None
        if best:
            return None
    return None


def _steps(found: Sequence[Exchanged]) -> Iterator[tuple[ExchangeKind, bool]]:
    """Yield each exchange, and whether its input, with all values, was answered in several ways."""
    every = [(each.inp.kind.name, tuple(output.kind.name for output in each.outputs)) for each in found]
    whole = {(each.inp.kind.name, each.inp.values, answer) for each, (_, answer) in zip(found, every, strict=True)}
    several = Counter((name, values) for name, values, _ in whole)
    for each, exchanged in zip(found, every, strict=True):
        yield exchanged, several[each.inp.kind.name, each.inp.values] > 1


def _best(
    guesses: Iterable[StateGuess], steps: Sequence[tuple[ExchangeKind, bool]], varying: Iterable[str]
) -> list[StateGuess]:
    """Return the guesses that explain the answers to the most inputs, if any explains some."""
    split = [(guess, len({inp for _, inp in _shown(steps, guess, varying)})) for guess in guesses]
    most = max((inputs for _, inputs in split), default=0)
    return [guess for guess, inputs in split if inputs == most > 0]


def _choices(symbols: Sequence[ExchangeKind]) -> Iterator[list[StateGuess]]:
    """Yield the guesses without answers: those with two states before those with three."""
    pairs = list(combinations(symbols, 2))
    yield [StateGuess(START, {one: _named(one)}) for one in symbols]
    yield [StateGuess(_named(each), {one: _named(one) for one in pair}) for pair in pairs for each in pair]
    yield [StateGuess(START, {one: _named(one) for one in pair}) for pair in pairs]


def _named(symbol: ExchangeKind) -> str:
    return " ".join((symbol[0], *symbol[1]))


def _shown(
    steps: Iterable[tuple[ExchangeKind, bool]], guess: StateGuess, varying: Iterable[str]
) -> dict[tuple[str, str], AnswerKinds]:
    """Return the answers by state and input, for inputs whose answers the states decide; empty if there are none."""
    left, state = set(varying), guess.initial
    shown: dict[tuple[str, str], AnswerKinds] = {}
    counts = Counter[tuple[str, str]]()
    for each, is_evidence in steps:
        inp, answer = each
        if inp in left:
            counts[state, inp] += is_evidence
            if shown.setdefault((state, inp), answer) != answer:
                left.remove(inp)
                if not left:
                    return {}
        state = guess.entered.get(each, state)
    left -= {inp for (_, inp), count in counts.items() if count < _TWICE}
    return {place: answer for place, answer in shown.items() if place[1] in left}


__all__ = ["StateGuess", "guessed"]
