"""What a system answered in a dialogue: for each type of input, the types of answers that followed it; and states.

An answer may be of any recorded type, with any values, except where a field of it always equalled one of the input. The
module guesses a small state if the last of one or two exchanges decides later answers: a successful login, an opened or
closed session, a lamp switched on. After one exchange an input always gets one answer, after the other it gets another.
The guess needs a single choice of exchanges that explains the most answers. It also needs two examples of each answer
in each state, to inputs whose very same values got another answer elsewhere; otherwise the values may decide. Without a
guess, any recorded answer is allowed. So a draft with states still allows the whole recording.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

from otf.draft.dialogue import Utterance
from otf.draft.kinds import MessageKind, Parsed

MOST_ANSWERS: Final = 4
"""Different answers to one type of input; if there are more, the draft leaves the input out."""

_LONGEST_ANSWER: Final = 8
_ENOUGH: Final = 2

AnswerKinds: TypeAlias = tuple[str, ...]
"""The names of the types of messages that follow an input, in order."""


Echoes: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a field of the answer and the field of the input whose value it always had."""


class Exchanged(NamedTuple):
    """An input with the outputs that followed it, and the seconds until the last one."""

    inp: Parsed
    outputs: tuple[Parsed, ...]
    seconds: float


@dataclass
class InputRule:
    """What follows a type of input: each answer, how often it came, and the fields that equal those of the input."""

    kind: MessageKind
    answers: dict[AnswerKinds, int]
    echoes: dict[AnswerKinds, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[AnswerKinds, tuple[tuple[str, str], ...]]
    )

    @property
    def varies(self) -> bool:
        """Return whether its answers vary too much to list."""
        return len(self.answers) > MOST_ANSWERS or any(len(each) > _LONGEST_ANSWER for each in self.answers)


def exchanges(utterances: Sequence[Utterance], parsed: Sequence[Parsed]) -> Iterator[Exchanged]:
    """Yield each input with the outputs after it, separately for each client.

    Outputs before a client's first input are left out.
    """
    opened: dict[int, tuple[Utterance, Parsed, list[Parsed], float]] = {}
    for each, message in zip(utterances, parsed, strict=True):
        before = opened.get(each.client)
        if each.sent:
            if before is not None:
                yield Exchanged(before[1], tuple(before[2]), before[3])
            opened[each.client] = (each, message, [], 0.0)
        elif before is not None:
            before[2].append(message)
            opened[each.client] = (*before[:3], max(0.0, each.at - before[0].at))
    for _, message, outputs, seconds in opened.values():
        yield Exchanged(message, tuple(outputs), seconds)


def rules(found: Iterable[Exchanged]) -> list[InputRule]:
    """Return the outputs that follow each type of input, in the order in which the types appear."""
    kinds: dict[str, MessageKind] = {}
    answers = defaultdict[str, Counter[AnswerKinds]](Counter)
    samples = defaultdict[tuple[str, AnswerKinds], list[Exchanged]](list)
    for each in found:
        name, answer = each.inp.kind.name, tuple(output.kind.name for output in each.outputs)
        kinds[name] = each.inp.kind
        answers[name][answer] += 1
        if len(answer) == 1:
            samples[name, answer].append(each)
    made = [InputRule(kind, dict(answers[name].most_common())) for name, kind in kinds.items()]
    for rule in made:
        rule.echoes = {answer: _echoes(samples[rule.kind.name, answer]) for answer in rule.answers if len(answer) == 1}
    return made


def _echoes(samples: Sequence[Exchanged]) -> Echoes:
    inputs, outputs = samples[0].inp.kind.fields, samples[0].outputs[0].kind.fields
    return tuple(
        (theirs.name, own.name)
        for there, theirs in enumerate(outputs)
        for here, own in enumerate(inputs)
        if own.hint == theirs.hint and _same(samples, here, there)
    )


def _same(samples: Sequence[Exchanged], here: int, there: int) -> bool:
    values = {each.inp.values[here] for each in samples}
    return len(values) >= _ENOUGH and all(each.inp.values[here] == each.outputs[0].values[there] for each in samples)


START: Final = "start"
_TWICE: Final = 2  # examples of an answer in a state: one may be chance
_MOST_SYMBOLS: Final = 40
_SEARCHED: Final = 2_000  # exchanges to search for states; a guess has to hold for all

ExchangeKind: TypeAlias = tuple[str, AnswerKinds]
"""The types of an input and of its answers."""


@dataclass(frozen=True)
class StateGuess:
    """States named after the exchange that leads to them; `shown` maps state and input to the answer.

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
        """Return the states in which an input always got another answer."""
        return [state for (state, name), seen in self.shown.items() if name == inp and seen != answer]


def guess_states(found: Sequence[Exchanged]) -> StateGuess | None:
    """Return the states that a recording of one client shows, or None if no guess or several guesses fit."""
    steps = list(_steps(found))
    symbols = dict.fromkeys(each for each, _ in steps)
    answers = Counter(inp for inp, _ in symbols)
    varying = {inp for inp, count in answers.items() if 1 < count <= MOST_ANSWERS}
    if not varying or len(symbols) > _MOST_SYMBOLS:
        return None
    # the draft leaves out an input with many answers, so it leads nowhere
    for guesses in _choices([each for each in symbols if answers[each[0]] <= MOST_ANSWERS]):
        best = _best(guesses, steps[:_SEARCHED], varying)
        if len(best) == 1:
            shown = _shown(steps, best[0], varying)
            return StateGuess(best[0].initial, best[0].entered, shown) if shown else None
        if best:
            return None
    return None


def _steps(found: Sequence[Exchanged]) -> Iterator[tuple[ExchangeKind, bool]]:
    """Yield each exchange, and whether its input, with the same values, got several answers."""
    every = [(each.inp.kind.name, tuple(output.kind.name for output in each.outputs)) for each in found]
    whole = {(each.inp.kind.name, each.inp.values, answer) for each, (_, answer) in zip(found, every, strict=True)}
    several = Counter((name, values) for name, values, _ in whole)
    for each, exchanged in zip(found, every, strict=True):
        yield exchanged, several[each.inp.kind.name, each.inp.values] > 1


def _best(
    guesses: Iterable[StateGuess], steps: Sequence[tuple[ExchangeKind, bool]], varying: Iterable[str]
) -> list[StateGuess]:
    """Return the guesses that explain the answers to the most inputs, if to any."""
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
    """Return the answers by state and input, for inputs whose answers depend on the state."""
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
