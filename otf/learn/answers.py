"""A system's answers to sequences of inputs: a tree of all paths, and the symbols of answers.

A symbol leaves out parts that vary from path to path, such as a time or a number. If an answer varies only in fields of
a message or in words with digits, these parts are masked from then on, in every answer of that form.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from otf.spec import Where, on
from otf.suite.machine import Word
from otf.trace.events import Ended
from otf.values import show

PortOutputs: TypeAlias = tuple[tuple[str, Any], ...]
"""Outputs, each with its port."""

SILENT: Final = "nothing"
"""The answer to an input without any output until the system rested."""

MASK: Final = "*"
COUNTED: Final = 8
"""If this many numbers have come at the same place of an answer, and none of them is in an input, the system is
counting."""
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_VARIABLE: Final = re.compile(r"[^\s,;=<>\[\](){}\"']*\d[^\s,;=<>\[\](){}\"']*")


class OutputForm(NamedTuple):
    """The form of an output, and its parts that may vary: `names` are the fields of a message, () for a text."""

    kind: str
    parts: tuple[str, ...]
    names: tuple[str, ...] = ()


def form(value: object) -> OutputForm:
    """Return the form of an output.

    >>> form("250 id 4711 taken")
    OutputForm(kind="'* id * taken'", parts=('250', '4711'), names=())
    """
    if isinstance(value, str):
        return OutputForm(repr(_VARIABLE.sub(MASK, value)), tuple(_VARIABLE.findall(value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, Ended)):
        names = tuple(each.name for each in dataclasses.fields(value) if each.init)
        kind = type(value)
        return OutputForm(
            f"{kind.__module__}.{kind.__qualname__}", tuple(show(getattr(value, name)) for name in names), names
        )
    return OutputForm(show(value), ())


def forms(answer: PortOutputs) -> tuple[tuple[str, str], ...]:
    """Return the forms of the outputs of an answer, each with its port: those with the same may differ in parts."""
    return tuple((port, form(value).kind) for port, value in answer)


class Symbols:
    """The texts of answers, and the outputs behind each.

    >>> symbols = Symbols()
    >>> one, two = (("net", "001 at 17:01"),), (("net", "001 at 17:02"),)
    >>> symbols.text(one), symbols.mask([one, two]), symbols.text(two)
    ('001 at 17:01', True, '001 at *')

    All parts of outputs that match `mask` count as varying from the start. Without a mask, a number with eight values,
    none of them in one of the `inputs`, varies too.
    """

    def __init__(self, mask: str = "", inputs: Iterable[object] = ()) -> None:
        self._mask = re.compile(mask) if mask else None
        self.outputs: dict[str, PortOutputs] = {SILENT: ()}
        self.masked: set[tuple[str, int]] = set()
        self.counting: dict[str, None] = {}  # the forms of outputs that count
        self._sent = {number for inp in inputs for number in _NUMBER.findall(show(inp))}
        self._numbers = defaultdict[tuple[str, int], set[str]](set)

    def text(self, outputs: PortOutputs) -> str:
        """Return the text of an answer."""
        found = ", ".join(self.value(value) for _, value in outputs) or SILENT
        if len(self.outputs.setdefault(found, outputs)) != len(outputs):
            # the text "nothing" is not silence, and "a, b" is not "a" and "b"
            found = ", ".join(repr(self.value(value)) for _, value in outputs)
            self.outputs.setdefault(found, outputs)
        return found

    def value(self, value: object) -> str:
        """Return the text of an output, with a `*` for each part that varies."""
        kind, parts, names = form(value)
        hidden = self.hidden(value)
        if isinstance(value, str):
            left = iter(range(len(parts)))
            text = _VARIABLE.sub(lambda found: MASK if next(left) in hidden else found[0], value)
            return text if text and text.isprintable() else show(text)
        if not hidden:
            return show(value)
        shown = (f"{name}={MASK if at in hidden else parts[at]}" for at, name in enumerate(names))
        return f"{kind.rpartition('.')[2]}({', '.join(shown)})"

    def hidden(self, value: object) -> set[int]:
        """Return the numbers of the parts of an output that vary."""
        kind, parts, _ = form(value)
        if self._mask is not None and self._mask.search(value if isinstance(value, str) else show(value)):
            return {*range(len(parts))}
        return {at for at in range(len(parts)) if (kind, at) in self.masked}

    def mask(self, answers: Sequence[PortOutputs]) -> bool:
        """Mask the parts in which answers of the same form differ; return whether that leaves fewer answers."""
        groups = defaultdict[tuple[tuple[str, str], ...], list[list[OutputForm]]](list)
        for answer in answers:
            groups[forms(answer)].append([form(value) for _, value in answer])
        before = len(self.masked)
        for column in (column for group in groups.values() for column in zip(*group, strict=True)):
            for at, seen in enumerate(zip(*(each.parts for each in column), strict=True)):
                if len(set(seen)) > 1:
                    self.masked.add((column[0].kind, at))
        return len(self.masked) > before

    def mask_counts(self, outputs: PortOutputs) -> bool:
        """Mask the numbers of an answer that count without end; return whether there are new ones."""
        before = len(self.masked)
        for kind, parts, _ in () if self._mask else (form(value) for _, value in outputs):
            for at, part in enumerate(parts):
                if _NUMBER.fullmatch(part) and part not in self._sent:
                    self._numbers[kind, at].add(part)
                # once one number of an output counts, another that varies does so, too, if only more slowly
                if len(self._numbers[kind, at]) >= (2 if kind in self.counting else COUNTED):
                    self.masked.add((kind, at))
                    self.counting[kind] = None
        return len(self.masked) > before

    def item(self, port: str, value: object) -> Any:  # noqa: ANN401 -- an item of outputs
        """Return an output as a model states it: the value, the common part of several, or the end of a port."""
        if isinstance(value, Ended):
            return on(port, Ended) if port else Ended
        if not self.hidden(value):
            return value
        if isinstance(value, str):
            pattern = re.compile(self.pattern(value))
            return Where(lambda seen: pattern.fullmatch(seen) is not None, says=self.value(value), examples=(value,))
        kind, hidden = type(value), self.hidden(value)
        kept = {name: getattr(value, name) for at, name in enumerate(form(value).names) if at not in hidden}

        def alike(seen: object) -> bool:
            return isinstance(seen, kind) and all(getattr(seen, name) == each for name, each in kept.items())

        return Where(alike, says=self.value(value), examples=(value,))

    def pattern(self, text: str) -> str:
        """Return the regular expression of a text with parts that vary."""
        found, at, hidden = "", 0, self.hidden(text)
        for number, part in enumerate(_VARIABLE.finditer(text)):
            found += re.escape(text[at : part.start()])
            found += r"\S+" if number in hidden else re.escape(part[0])
            at = part.end()
        return found + re.escape(text[at:])


CLOSED: Final = "\0closed"
"""The answer to an input that was not sent, since its connection has ended; it changes nothing. No output equals it."""

CLEAR: Final = 3
"""How many times as often as all others together an answer must come to count."""

FEW: Final = 4
"""After this many paths, unclear answers are compared."""

MOST: Final = 40
"""After this many paths, an unclear answer counts as the system's choice. If one message in 100 is lost, and ten silent
inputs come before it, one path in eight has a wrong answer. The right one would be clear by then.
"""


@dataclass(slots=True)
class AnswerNode:
    """One answer to an input: how often it came, and the inputs after it."""

    count: int = 0
    after: dict[int, AnswersThere] = field(default_factory=dict[int, "AnswersThere"])


@dataclass(slots=True)
class AnswersThere:
    """All answers to one input after the same inputs and answers; `given` is the one that the learner got."""

    answers: dict[str, AnswerNode] = field(default_factory=dict[str, AnswerNode])
    given: str | None = None

    def best(self, needed: int) -> str | None:
        """Return the answer that came clearly more often than the others, None if none did."""
        if len(self.answers) == 1:
            ((only, way),) = self.answers.items()
            return only if way.count >= needed else None
        top = max(self.answers, key=lambda each: self.answers[each].count)
        count = self.answers[top].count
        others = self.total - count
        return top if count >= needed and count >= CLEAR * others else None

    @property
    def total(self) -> int:
        """Return how often the input was sent there."""
        return sum(way.count for way in self.answers.values())


class Parted(NamedTuple):
    """Inputs after which the system gave several answers, with how often each came."""

    word: Word
    answers: dict[str, int]


class Closing:
    """Which inputs cannot be sent after which answers; here all can. `ended` are the ports whose connection ended."""

    def start(self) -> frozenset[str]:
        """Return the ports without a connection at the start."""
        return frozenset()

    def after(self, ended: frozenset[str], inp: int, out: str) -> frozenset[str]:
        """Return the ports that have ended after an input and its answer."""
        del inp, out
        return ended

    def shut(self, ended: frozenset[str], inp: int) -> bool:
        """Return whether an input cannot be sent."""
        del inp
        return bool(ended)


class AnswerTree:
    """A system's answers to words, each a sequence of inputs after a reset.

    At first one path decides. Once the same inputs have had two different answers, an answer must come `needed` times;
    one that comes less than a third as often counts as a loss on the line. `changed`: an answer that the learner got is
    no longer the right one.

    >>> answers = AnswerTree()
    >>> answers.add((0, 1), ["on", "off"])
    >>> answers.known((0,)), answers.known((1,))
    (['on'], None)
    >>> answers.add((0,), ["nothing"])
    >>> answers.known((0,)), answers.changed
    (None, True)
    """

    def __init__(self, closing: Closing | None = None) -> None:
        self.needed: int = 1
        self.closing: Closing = closing or Closing()
        self.changed: bool = False
        self.paths: int = 0
        self._root = AnswerNode()

    def add(self, word: Word, outputs: Sequence[str]) -> None:
        """Add the answers of a path."""
        self.paths += 1
        way = self._root
        for inp, out in zip(word, outputs, strict=True):
            if out == CLOSED:
                continue
            ways = way.after.setdefault(inp, AnswersThere())
            if ways.answers and out not in ways.answers:
                self.changed = self.changed or self.needed == 1
                self.needed = 2
            way = ways.answers.setdefault(out, AnswerNode())
            way.count += 1

    def known(self, word: Word) -> list[str] | None:
        """Return the answers to a word, None if that takes another path."""
        found = [CLOSED] * len(word)
        for at, ways, best in self._along(word):
            if best is None:
                return None
            self.changed = self.changed or ways.given not in {None, best}
            ways.given = found[at] = best
        return found

    def count(self, word: Word) -> int:
        """Return how often the accepted answer to a word came."""
        counts = [ways.answers[best].count for _, ways, best in self._along(word) if best is not None]
        return counts[-1] if counts else 0

    def parted(self, word: Word) -> Parted | None:
        """Return the shortest prefix of a word whose answer is unclear after several paths, None if there is none."""
        for at, ways, best in self._along(word):
            if best is None:
                counts = {out: each.count for out, each in ways.answers.items()}
                return Parted(word[: at + 1], counts) if ways.total >= FEW and len(counts) > 1 else None
        return None

    def _along(self, word: Word) -> Iterator[tuple[int, AnswersThere, str | None]]:
        """Yield the place of each input that can be sent, its answers and the accepted one, up to the first gap."""
        way, ended = self._root, self.closing.start()
        for at, inp in enumerate(word):
            if self.closing.shut(ended, inp):
                continue
            ways = way.after.get(inp, AnswersThere())
            best = ways.best(self.needed) if ways.answers else None
            yield at, ways, best
            if best is None:
                return
            ended = self.closing.after(ended, inp, best)
            way = ways.answers[best]

    def lost(self) -> Iterator[Parted]:
        """Yield the places with answers rarer than the accepted one."""
        left: list[tuple[Word, AnswerNode]] = [((), self._root)]
        while left:
            word, way = left.pop()
            for inp, ways in way.after.items():
                if len(ways.answers) > 1:
                    yield Parted((*word, inp), {out: each.count for out, each in ways.answers.items()})
                best = ways.best(self.needed)
                if best is not None:
                    left.append(((*word, inp), ways.answers[best]))

    def contradiction(self, next_: list[list[int]], out: list[list[str]]) -> Word | None:
        """Return the inputs of the first path that a machine answers differently; None if it explains all paths."""
        left: list[tuple[Word, int, AnswerNode]] = [((), 0, self._root)]
        for word, state, way in left:
            for inp, ways in way.after.items():
                best = ways.best(self.needed)
                if best is None:
                    continue
                if best != out[state][inp]:
                    return (*word, inp)
                left.append(((*word, inp), next_[state][inp], ways.answers[best]))
        return None
