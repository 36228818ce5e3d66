"""The events of two traces side by side, as a diff has lines: what both have, and what only one of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby, takewhile, zip_longest
from typing import Final, NamedTuple, TypeAlias, cast

from otf.trace.differing import few
from otf.trace.drawn_names import long_words, without_words
from otf.values.text import WORD

BEFORE: Final = 6  # common events to show before the first difference
BETWEEN: Final = 3  # common events to show beside a later one
SHOWN: Final = 30  # rows
ALIGNED: Final = 1_000  # events of each trace that are aligned between their common beginning and end
SAME: Final = "=~"
_Aligned: TypeAlias = tuple[str, int | None, int | None]
_COUNTS: Final = {"=": "same", "~": "drawn", "|": "changed", "<": "only_a", ">": "only_b"}


class ConditionPair(NamedTuple):
    """A condition in which two runs differ, with its value in each run as text; "" if a run has no value."""

    what: str
    a: str
    b: str


class TraceRow(NamedTuple):
    """An event of one trace beside that of another; "" if a trace has none; `fields` has the parts that differ.

    `mark` is `=` for the same event, `~` for an event that differs only in words that the system drew, `|` for any
    other difference, `<` or `>` for an event that only one trace has; `…` stands for events that are left out.
    """

    mark: str
    a: str
    b: str
    fields: Sequence[ConditionPair] = ()


class EventList(NamedTuple):
    """The events of a run, as texts and as keys that are equal for the same event."""

    texts: Sequence[str]
    keys: Sequence[Hashable]


class AlignedEvents(NamedTuple):
    """The aligned events of two runs: rows of a mark and two places; `uncompared` events have no row.

    >>> found = aligned(EventList(["-> a", "<- b"], "ab"), EventList(["-> a", "-> c", "<- b"], "acb"))
    >>> found.rows
    [('=', 0, 0), ('>', None, 1), ('=', 1, 2)]
    """

    a: EventList
    b: EventList
    rows: Sequence[_Aligned]
    uncompared: int

    @property
    def parting(self) -> int | None:
        """Return the first row of a difference."""
        return next((at for at, (mark, *_) in enumerate(self.rows) if mark not in SAME), None)

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many rows have each mark, by name."""
        marks = Counter(mark for mark, *_ in self.rows)
        return {name: marks[mark] for mark, name in _COUNTS.items()} | {"uncompared": self.uncompared}

    def shown(self, end: str) -> Iterator[TraceRow]:
        """Yield the rows around the differences, and how many are left out; without one, what the system drew.

        `end` is the text for a trace that ends where the other goes on.
        """
        begin = self.parting
        if begin is None:
            drawn = [row for row in self.rows if row[0] == "~"][:BEFORE]
            yield from map(self._row, drawn or self.rows[-BEFORE:])
            return
        rows = self.rows[max(0, begin - BEFORE) :]
        # events of a trace that goes on after the end of the other
        alone = (
            0 if self.uncompared else sum(1 for _ in takewhile(lambda row: row[0] == rows[-1][0] in "<>", rows[::-1]))
        )
        listed = [*self._folded(rows[: len(rows) - alone])]
        if alone:
            first, *more = map(self._row, rows[-alone:])
            listed += [TraceRow("|", first.a or end, first.b or end), *more[:BETWEEN]]
            further = f"{len(more) - BETWEEN:,} more events"
            listed += [TraceRow("…", further if first.a else "", "" if first.a else further)] * (len(more) > BETWEEN)
        yield from listed[:SHOWN]
        if (left := len(listed) - SHOWN) > 0:
            yield _left_out(f"{left:,} more rows")

    def _folded(self, rows: Sequence[_Aligned]) -> Iterator[TraceRow]:
        """Yield rows, of long common parts only the events beside a difference."""
        for at, (same, each) in enumerate(groupby(rows, lambda row: row[0] in SAME)):
            group = [*each]
            if not same or not at or len(group) <= 2 * BETWEEN:
                yield from map(self._row, group)
                continue
            yield from map(self._row, group[:BETWEEN])
            yield _left_out(f"{len(group) - 2 * BETWEEN:,} events, the same in both")
            yield from map(self._row, group[-BETWEEN:])

    def _row(self, place: _Aligned) -> TraceRow:
        mark, i, j = place
        one, other = "" if i is None else self.a.texts[i], "" if j is None else self.b.texts[j]
        if mark != "|" or i is None or j is None:
            return TraceRow(mark, one, other)
        if one == other:
            return TraceRow(mark, one, other, (ConditionPair("port", _port(self.a.keys[i]), _port(self.b.keys[j])),))
        return TraceRow(mark, one, other, fields(one, other))


def _left_out(what: str) -> TraceRow:
    return TraceRow("…", what, what)


def _port(key: Hashable) -> str:
    return cast("tuple[str, str]", key)[1] if isinstance(key, tuple) else ""


def aligned(a: EventList, b: EventList, wrong: tuple[int, int] = (-1, -1)) -> AlignedEvents:
    """Align the events of two runs; events with equal keys are the same, unless only one run failed there (`wrong`).

    A word that only one run has may be drawn by the system, as ids are: such events are the same (`~`) as long as each
    word of one run stands for one word of the other. A plain number is drawn only if it comes back in an input:
    otherwise it may be a balance, or a temperature.
    """
    one, other = _masked(a, _drawn(a) - _words(b), wrong[0]), _masked(b, _drawn(b) - _words(a), wrong[1])
    pairs, uncompared = _pairs(one, other)
    names: tuple[dict[str, str], dict[str, str]] = {}, {}
    rows: list[_Aligned] = []
    for i, j in pairs:
        if i is None or j is None:
            mark = ">" if i is None else "<"
        elif a.keys[i] == b.keys[j]:
            mark = "="
        else:
            mark = "~" if one[i] == other[j] and _renamed(a.texts[i], b.texts[j], names) else "|"
        rows.append((mark, i, j))
    return AlignedEvents(a, b, rows, uncompared)


def _words(run: EventList, begin: str = "") -> set[str]:
    return {word for text in run.texts if text.startswith(begin) for word in long_words(text)}


def _drawn(run: EventList) -> set[str]:
    return _words(run, "-> ") | {word for word in _words(run) if not word.isdigit()}


def _masked(run: EventList, own: set[str], wrong: int) -> list[Hashable]:
    """Return the keys of the events, but as texts without the words that only this run has."""
    found: list[Hashable] = [*run.keys]
    for at, (text, key) in enumerate(zip(run.texts, run.keys, strict=True)):
        if at == wrong:
            found[at] = None
        elif text[:3] in {"-> ", "<- "} and own.intersection(long_words(text)):
            found[at] = isinstance(key, tuple) and key[:2], without_words(text, own)
    return found


def _renamed(a: str, b: str, names: tuple[dict[str, str], dict[str, str]]) -> bool:
    """Return whether the words of one text stand for those of the other, as in the events before."""
    there, back = names
    pairs = zip(WORD.findall(a), WORD.findall(b), strict=True)
    return all(there.setdefault(one, other) == other and back.setdefault(other, one) == one for one, other in pairs)


def _pairs(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[list[tuple[int | None, int | None]], int]:
    """Return the places of events that belong together, and how many are too many to be aligned."""
    head = _alike(a, b)
    tail = _alike(a[head:][::-1], b[head:][::-1])
    ends = len(a) - tail, len(b) - tail
    upto = min(ends[0], head + ALIGNED), min(ends[1], head + ALIGNED)
    found: list[tuple[int | None, int | None]] = [*zip(range(head), range(head), strict=True)]
    for _, *place in SequenceMatcher(None, a[head : upto[0]], b[head : upto[1]], autojunk=False).get_opcodes():
        first, last, begin, end = (head + each for each in place)
        found += zip_longest(range(first, last), range(begin, end))
    found += zip(range(ends[0], len(a)), range(ends[1], len(b)), strict=True)
    return found, sum(ends) - sum(upto)


def _alike(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def fields(a: str, b: str) -> tuple[ConditionPair, ...]:
    """Return the parts in which two events of one kind differ.

    >>> fields("<- Money(coins=1, of='me')", "<- Money(coins=2, of='me')")
    (ConditionPair(what='coins', a='1', b='2'),)
    """
    found = few(a[3:], b[3:]) if a[:3] == b[:3] else []
    return tuple(ConditionPair(each.path, each.seen, each.allowed) for each in found if each.path)
