"""Registers that are guessed from a recording: parts of answers that recur in messages to the system.

A guess needs two different values or a long one, and has to hold whenever that message follows that answer: a single
short number may be chance. A part with a label (`next=418`) is the same register in all answers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, NamedTuple

from otf.draft.dialogue import Utterance

_VALUE: Final = re.compile(r"\w*\d\w*")
_LABEL: Final = re.compile(r"[A-Za-z_]\w*[=:]\Z")
_FEW: Final = 2
_LONG: Final = 5  # characters of a value that does not recur by chance
RECENT: Final = 64  # recent places in answers where the values of a message may come from


class TokenPlace(NamedTuple):
    """The place of a word with a digit: the text around all such words and the number of this one; or its label."""

    around: tuple[str, ...]
    at: int


@dataclass
class _Guess:
    values: set[str] = field(default_factory=set[str])
    wrong: bool = False


@dataclass(frozen=True)
class GuessedRegister:
    """A register: its name, the pattern of answers that hold its value, and the messages with its mark.

    `way` are the messages up to the first with its mark, `value` what was recorded there, `answer` what came then.
    """

    name: str
    pattern: str
    messages: tuple[str, ...]
    way: tuple[str, ...] = ()
    value: str = ""
    answer: tuple[str, ...] = ()


def guessed_registers(utterances: Sequence[Utterance]) -> tuple[list[str], list[GuessedRegister]]:
    r"""Return the distinct messages to the system, with marks of registers; and the registers.

    >>> talk = ["> new", "< made 17", "> drop 17", "> new", "< made 18", "> drop 18"]
    >>> messages, found = guessed_registers([Utterance(each[0] == ">", each[2:].encode(), 0.0) for each in talk])
    >>> messages, found[0].pattern
    (['new', 'drop {made}'], '\\Amade\\ (\\w+)\\Z')
    """
    texts = [(each.client, each.sent, each.data.decode("latin-1")) for each in utterances]
    names = dict[TokenPlace, str]()
    sources = _sources(_guesses(texts))
    for came in dict.fromkeys(sources.values()):
        word = re.match(r"[A-Za-z_]\w*", came.around[0])
        name = word[0].lower() if word and word[0].lower() not in names.values() else f"r{len(names) + 1}"
        names[came] = name
    marked = [_marked(text, sources, names) if sent else "" for _, sent, text in texts]
    registers = list[GuessedRegister]()
    for came, name in names.items():
        uses = [at for at, new in enumerate(marked) if f"{{{name}}}" in new]
        client, _, first = texts[uses[0]]
        way = tuple(
            new for new, (other, *_) in zip(marked[: uses[0] + 1], texts, strict=False) if new and other == client
        )
        value = next(found for place, found in _places(first) if sources.get(place) == came)
        later = ((sent, text) for other, sent, text in texts[uses[0] + 1 :] if other == client)
        answer = tuple(text for _, text in takewhile(lambda each: not each[0], later))
        messages = tuple(dict.fromkeys(marked[at] for at in uses))
        registers.append(GuessedRegister(name, _pattern(came), messages, way, value, answer))
    return list(dict.fromkeys(filter(None, marked))), registers


def _sources(guesses: Mapping[tuple[TokenPlace, TokenPlace], _Guess]) -> dict[TokenPlace, TokenPlace]:
    """Return the place in answers of what each place in messages repeats."""
    right = {pair: guess.values for pair, guess in guesses.items() if not guess.wrong}
    labelled = defaultdict[TokenPlace, set[str]](set)
    for (came, _), values in right.items():
        if len(came.around) == 1:
            labelled[came] |= values
    return {there: came for (came, there), values in right.items() if _enough(labelled.get(came, values))}


def _enough(values: AbstractSet[str]) -> bool:
    return len(values) >= _FEW or any(len(value) >= _LONG for value in values)


def _places(text: str) -> Iterator[tuple[TokenPlace, str]]:
    around = tuple(_VALUE.split(text))
    for at, found in enumerate(_VALUE.findall(text)):
        yield TokenPlace(around, at), found


def _answered_places(text: str) -> Iterator[tuple[TokenPlace, str]]:
    """Yield each place in an answer, and after it the place by its label, which is more general."""
    for place, value in _places(text):
        yield place, value
        if label := _LABEL.search(place.around[place.at]):
            yield TokenPlace((label[0],), 0), value


def _guesses(texts: Sequence[tuple[int, bool, str]]) -> dict[tuple[TokenPlace, TokenPlace], _Guess]:
    """Return, for each pair of a place in answers and one in messages, the values in both, and whether others came."""
    last = defaultdict[int, dict[TokenPlace, str]](dict)
    own = defaultdict[int, set[str]](set)
    found = defaultdict[tuple[TokenPlace, TokenPlace], _Guess](_Guess)
    for client, sent, text in texts:
        for place, value in _places(text) if sent else _answered_places(text):
            known_places = last[client]
            if not sent:
                known_places.pop(place, None)
                # what the client sent before the system did is the client's own
                if value not in own[client]:
                    known_places[place] = value
                if len(known_places) > RECENT:
                    del known_places[next(iter(known_places))]
                continue
            if value not in known_places.values():
                own[client].add(value)
            for came, known in known_places.items():
                guess = found[came, place]
                guess.values |= {value} if value == known else set()
                guess.wrong = guess.wrong or value != known
    return found


def _marked(text: str, sources: dict[TokenPlace, TokenPlace], names: dict[TokenPlace, str]) -> str:
    marks = iter([f"{{{names[sources[place]]}}}" if place in sources else value for place, value in _places(text)])
    return _VALUE.sub(lambda _: next(marks), text)


def _pattern(came: TokenPlace) -> str:
    if len(came.around) == 1:
        return rf"\b{came.around[0]}(\w+)"
    # another value may have no digit
    value, parts = r"\w+", [re.escape(each) for each in came.around]
    groups = [f"({value})" if at == came.at else value for at in range(len(parts) - 1)]
    return r"\A" + "".join(f"{part}{group}" for part, group in zip(parts, [*groups, r"\Z"], strict=True))
