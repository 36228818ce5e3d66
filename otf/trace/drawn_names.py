"""Names drawn by the system in a failure, such as ids: they differ in each run, and do not tell defects apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from otf.trace.alike import is_atom
from otf.trace.events import Event, Seen, Sent
from otf.trace.verdict import Failure, Signature, Verdict
from otf.values.identity import key
from otf.values.text import WORD, words

LEAST: Final = 4
"""The least length of a drawn name; shorter ones may be numbers that the model counts."""

ANY: Final = "…"
_PARTS: Final = ("state", "input", "expected", "seen")


def without_drawn_names(verdict: Verdict, events: Iterable[Event]) -> Verdict:
    """Return a verdict whose failures ignore the names that the system drew in this run.

    A name is a word of an input, or of a state with parts: at least four characters, with a digit, and in some output
    before any input.

    >>> exact = Signature("wrong", "{4711: 'b'}", "Run(4711)", "Ran('b')", "Ran('a')")
    >>> failure = Failure(Signature("wrong", "dict", "Run", "Ran", "Ran", exact), 4, 2, "Run(4711)", "Ran('a')", "")
    >>> run = [Sent("open", "", 0.0), Seen(("job", 4711), "", 0.0), Sent(("run", 4711), "", 0.0), Seen("a", "", 0.0)]
    >>> without_drawn_names(Verdict("fail", failure), run).failure.signature.exact.input
    'Run(…)'
    """
    failures = [each for each in (verdict.failure, *verdict.behind) if each is not None]
    maybe = {word for each in failures for word in _drawn(each.signature.exact)}
    names = _first_seen(maybe, events) if maybe else maybe
    if not names:
        return verdict
    failure, *behind = (_without(each, names) for each in failures)
    return replace(verdict, failure=failure, behind=tuple(behind))


def without_names(text: str) -> str:
    """Return a text without the words that the system may have drawn, to compare runs in which it draws different ones.

    >>> without_names("('job', 4711, 'b', 12)")
    "('job', …, 'b', 12)"
    """
    return without_words(text, {*long_words(text)})


def without_words(text: str, names: set[str]) -> str:
    """Return a text in which a mark stands for each of these words."""
    return WORD.sub(lambda word: ANY if word[0] in names else word[0], text)


def long_words(text: str) -> list[str]:
    """Return the words of a text that the system may have drawn."""
    return [word for word in WORD.findall(text) if len(word) >= LEAST and any(map(str.isdigit, word))]


def _drawn(exact: Signature | None) -> set[str]:
    texts = [] if exact is None else [exact.input, "" if is_atom(exact.state) else exact.state]
    return {word for text in texts for word in long_words(text)}


def _first_seen(maybe: set[str], events: Iterable[Event]) -> set[str]:
    """Return the words among these that occurred in an output before any input."""
    names, left = set[str](), set(maybe)
    for event in events:
        if not left:
            break
        if isinstance(event, (Sent, Seen)):
            found = left.intersection(words(key(event.input if isinstance(event, Sent) else event.output)))
            names |= found if isinstance(event, Seen) else set[str]()
            left -= found
    return names


def _without(failure: Failure, names: set[str]) -> Failure:
    exact = failure.signature.exact
    if exact is None:
        return failure
    texts: dict[str, Any] = {part: without_words(getattr(exact, part), names) for part in _PARTS}
    return replace(failure, signature=replace(failure.signature, exact=replace(exact, **texts)))
