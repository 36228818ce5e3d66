"""What a system answered in a dialogue: for each kind of input, the kinds of answers that followed it.

The draft of a model has no states: an answer may be any of the kinds that were seen, with any values, except where a
field of the answer always was that of the input.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from otf.draft.dialogue import Utterance
from otf.draft.kinds import MessageKind, Parsed

MOST_ANSWERS: Final = 4
"""Different answers to one kind of input; with more of them, the draft leaves the input out."""

_LONGEST_ANSWER: Final = 8
_ENOUGH: Final = 2

AnswerKinds: TypeAlias = tuple[str, ...]
"""The names of the kinds of messages that follow an input, in their order."""


Echoes: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of fields: one of the answer, and the one of the input whose value it always had."""


class Exchanged(NamedTuple):
    """An input with the outputs that followed it, and the seconds until the last of them."""

    inp: Parsed
    outputs: tuple[Parsed, ...]
    seconds: float


@dataclass
class InputRule:
    """What follows an input of a kind: each answer with how often it came, and the fields that were the same."""

    kind: MessageKind
    answers: dict[AnswerKinds, int]
    echoes: dict[AnswerKinds, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[AnswerKinds, tuple[tuple[str, str], ...]]
    )

    @property
    def varies(self) -> bool:
        """Return whether its answers vary too much to be listed."""
        return len(self.answers) > MOST_ANSWERS or any(len(each) > _LONGEST_ANSWER for each in self.answers)


def exchanges(utterances: Sequence[Utterance], parsed: Sequence[Parsed]) -> Iterator[Exchanged]:
    """Yield each input with its outputs, for each client by itself; what comes before a first input is left out."""
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
    """Return what follows each kind of input, in the order of their first appearance."""
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
