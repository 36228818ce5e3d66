"""Guesses registers from a recording: a part of an answer that recurs in messages to the system.

A guess needs at least two different values, and has to hold whenever that message follows that answer: a single equal
number may be chance.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.draft.dialogue import Utterance

_VALUE: Final = re.compile(r"\w*\d\w*")
_FEW: Final = 2
RECENT: Final = 64  # recent places in answers where the values of a message may come from


class TokenPlace(NamedTuple):
    """The place of a word with a digit: the text around all such words, and the number of this one."""

    around: tuple[str, ...]
    at: int


@dataclass
class _Guess:
    values: set[str] = field(default_factory=set[str])
    wrong: bool = False


@dataclass(frozen=True)
class GuessedRegister:
    """A register: its name, the pattern of answers that hold its value, and the messages with its mark."""

    name: str
    pattern: str
    messages: tuple[str, ...]


def guessed_registers(utterances: Sequence[Utterance]) -> tuple[list[str], list[GuessedRegister]]:
    r"""Return the distinct messages to the system, with marks of registers; and the registers.

    >>> talk = ["> new", "< made 17", "> drop 17", "> new", "< made 18", "> drop 18"]
    >>> messages, found = guessed_registers([Utterance(each[0] == ">", each[2:].encode(), 0.0) for each in talk])
    >>> messages, found[0].pattern
    (['new', 'drop {made}'], '\\Amade\\ (\\w*\\d\\w*)\\Z')
    """
    texts = [(each.client, each.sent, each.data.decode("latin-1")) for each in utterances]
    names = dict[TokenPlace, str]()
    sources = {there: came for (came, there), guess in _guesses(texts).items() if _holds(guess)}
    for came in dict.fromkeys(sources.values()):
        word = re.match(r"[A-Za-z_]\w*", came.around[0])
        name = word[0].lower() if word and word[0].lower() not in names.values() else f"r{len(names) + 1}"
        names[came] = name
    marked = [(text, _marked(text, sources, names)) for _, sent, text in texts if sent and text]
    registers = [
        GuessedRegister(name, _pattern(came), tuple(dict.fromkeys(new for _, new in marked if f"{{{name}}}" in new)))
        for came, name in names.items()
    ]
    return list(dict.fromkeys(new for _, new in marked)), registers


def _holds(guess: _Guess) -> bool:
    return not guess.wrong and len(guess.values) >= _FEW


def _places(text: str) -> Iterator[tuple[TokenPlace, str]]:
    around = tuple(_VALUE.split(text))
    for at, found in enumerate(_VALUE.findall(text)):
        yield TokenPlace(around, at), found


def _guesses(texts: Sequence[tuple[int, bool, str]]) -> dict[tuple[TokenPlace, TokenPlace], _Guess]:
    """Return, for each pair of a place in answers and one in messages, the values in both, and whether others came."""
    last = defaultdict[int, dict[TokenPlace, str]](dict)
    found = defaultdict[tuple[TokenPlace, TokenPlace], _Guess](_Guess)
    for client, sent, text in texts:
        for place, value in _places(text):
            known_places = last[client]
            if not sent:
                known_places.pop(place, None)
                known_places[place] = value
                if len(known_places) > RECENT:
                    del known_places[next(iter(known_places))]
                continue
            for came, known in known_places.items():
                guess = found[came, place]
                guess.values |= {value} if value == known else set()
                guess.wrong = guess.wrong or value != known
    return found


def _marked(text: str, sources: dict[TokenPlace, TokenPlace], names: dict[TokenPlace, str]) -> str:
    marks = iter([f"{{{names[sources[place]]}}}" if place in sources else value for place, value in _places(text)])
    return _VALUE.sub(lambda _: next(marks), text)


def _pattern(came: TokenPlace) -> str:
    value, parts = _VALUE.pattern, [re.escape(each) for each in came.around]
    groups = [f"({value})" if at == came.at else value for at in range(len(parts) - 1)]
    return r"\A" + "".join(f"{part}{group}" for part, group in zip(parts, [*groups, r"\Z"], strict=True))
