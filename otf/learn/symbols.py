"""The symbols of a system's answers: texts in which what varies from path to path, such as a time, is masked.

If an answer to the same inputs varies only in fields of a message or in words with digits, these parts are masked from
then on, in all answers of that form to the last of the inputs. Answers to other inputs keep them.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from otf.spec import Where, on
from otf.trace.events import Ended
from otf.values import show

PortOutputs: TypeAlias = tuple[tuple[str, Any], ...]
"""Outputs, each with its port."""

SILENT: Final = "nothing"
"""The answer to an input without any output until the system rested."""

MASK: Final = "*"
BEFORE: Final = -1
"""The number of the input of outputs that come before the first input."""
COUNTED: Final = 8
"""If this many numbers have come at the same place of an answer, and none of them is in an input, the system is
counting."""
WHOLE: Final = -1
"""The word of a place that is a whole field, since its values have several outlines."""
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_VARIABLE: Final = re.compile(r"[^\s,;=<>\[\](){}\"']*\d[^\s,;=<>\[\](){}\"']*|(?<![^\s'\"])[A-F]{2}(?![^\s'\"])")


class NumberPlace(NamedTuple):
    """A word of an answer that may vary: `inp` is the number of the input, `field` "" for a text."""

    inp: int
    kind: str
    field: str
    outline: str
    word: int


def form(value: object) -> str:
    """Return the form of an output: a text without the words that may vary, or the type of a message.

    >>> form("250 id 4711 taken")
    "'* id * taken'"
    """
    if isinstance(value, str):
        return repr(_VARIABLE.sub(MASK, value))
    return _name(value) if _is_message(value) else show(value)


def forms(answer: PortOutputs) -> tuple[tuple[str, str], ...]:
    """Return the forms of the outputs of an answer, each with its port: those with the same may differ in parts."""
    return tuple((port, form(value)) for port, value in answer)


def texts(value: object) -> dict[str, str]:
    """Return the texts that may vary in an output: by field, or "" if it is a text itself."""
    if isinstance(value, str):
        return {"": value}
    names = _fields(value) if _is_message(value) else ()
    return {name: show(getattr(value, name)) for name in names}


class Symbols:
    """The texts of answers, and the outputs behind each.

    >>> symbols = Symbols()
    >>> one, two = (("net", "001 at 17:01"),), (("net", "001 at 17:02"),)
    >>> symbols.text(one), symbols.mask([one, two]), symbols.text(two)
    ('001 at 17:01', True, '001 at *')

    All parts of outputs that match `mask` count as varying from the start. Without a mask, a number with eight values,
    none of them in one of the `inputs`, varies too. With `several` ports, the end of a port names it.
    """

    def __init__(self, mask: str = "", inputs: Iterable[object] = (), *, several: bool = False) -> None:
        self._several = several
        self._mask = re.compile(mask) if mask else None
        self.outputs: dict[str, PortOutputs] = {SILENT: ()}
        self.masked: set[NumberPlace] = set()
        self.counting: dict[tuple[int, str], None] = {}  # the inputs and forms of outputs that count
        self._sent = {number for inp in inputs for number in _NUMBER.findall(show(inp))}
        self._numbers = defaultdict[NumberPlace, set[str]](set)

    def text(self, outputs: PortOutputs, inp: int = BEFORE) -> str:
        """Return the text of the answer to an input."""
        values = [f"{self.value(value, inp)}{self._port(port, value)}" for port, value in outputs]
        found = ", ".join(values) or SILENT
        if len(self.outputs.setdefault(found, outputs)) != len(outputs):
            # the text "nothing" is not silence, and "a, b" is not "a" and "b"
            found = ", ".join(map(repr, values))
            self.outputs.setdefault(found, outputs)
        return found

    def _port(self, port: str, value: object) -> str:
        return f" on {port}" if self._several and isinstance(value, Ended) else ""

    def value(self, value: object, inp: int = BEFORE) -> str:
        """Return the text of an output, with a `*` for each part that varies."""
        masked = {name: self._masked(inp, value, name, text) for name, text in texts(value).items()}
        if isinstance(value, str):
            text = masked[""]
            return text if text and text.isprintable() else show(text)
        if not self.hidden(value, inp):
            return show(value)
        return f"{type(value).__qualname__}({', '.join(f'{name}={text}' for name, text in masked.items())})"

    def _masked(self, inp: int, value: object, name: str, text: str) -> str:
        hidden = self._words(inp, value, name, text)
        words = iter(range(len(text)))
        return MASK if WHOLE in hidden else _VARIABLE.sub(lambda word: MASK if next(words) in hidden else word[0], text)

    def _words(self, inp: int, value: object, name: str, text: str) -> set[int]:
        """Return the numbers of the words of a field that vary."""
        kind, outline, count = form(value), _VARIABLE.sub(MASK, text), len(_VARIABLE.findall(text))
        if self._mask is not None and self._mask.search(value if isinstance(value, str) else show(value)):
            return {WHOLE} if name else {*range(count)}
        if NumberPlace(inp, kind, name, "", WHOLE) in self.masked:
            return {WHOLE}
        found = {word for word in range(count) if NumberPlace(inp, kind, name, outline, word) in self.masked}
        return {WHOLE} if name and found and outline == MASK else found

    def hidden(self, value: object, inp: int = BEFORE) -> dict[str, str]:
        """Return the fields of an output that vary, each with a regular expression, "" for anything."""
        found = dict[str, str]()
        for name, text in texts(value).items():
            words = self._words(inp, value, name, text)
            if words:
                found[name] = "" if WHOLE in words else "".join(_pattern(text, words))
        return found

    def mask(self, answers: Sequence[PortOutputs], inp: int = BEFORE) -> bool:
        """Mask the parts in which answers of the same form differ; return whether that leaves fewer answers."""
        groups = defaultdict[tuple[tuple[str, str], ...], list[PortOutputs]](list)
        for answer in answers:
            groups[forms(answer)].append(answer)
        before = len(self.masked)
        for column in (column for group in groups.values() for column in zip(*group, strict=True)):
            self._mask_column([value for _, value in column], inp)
        return len(self.masked) > before

    def _mask_column(self, values: Sequence[object], inp: int) -> None:
        kind = form(values[0])
        for name in texts(values[0]):
            seen = {texts(value)[name] for value in values}
            outlines = {_VARIABLE.sub(MASK, text) for text in seen}
            for outline in outlines if len(outlines) == 1 else ():
                columns = zip(*map(_VARIABLE.findall, seen), strict=True)
                self.masked |= {
                    NumberPlace(inp, kind, name, outline, at) for at, words in enumerate(columns) if len({*words}) > 1
                }
            if len(outlines) > 1:
                self.masked.add(NumberPlace(inp, kind, name, "", WHOLE))

    def mask_counts(self, outputs: PortOutputs, inp: int = BEFORE) -> bool:
        """Mask the numbers of an answer that count without end; return whether there are new ones."""
        before = len(self.masked)
        for _, value in () if self._mask else outputs:
            for place, word in _numbers(value, inp):
                if word not in self._sent:
                    self._numbers[place].add(word)
                # once one number of an output counts, another that varies does so, too, if only more slowly
                if len(self._numbers[place]) >= (2 if (inp, place.kind) in self.counting else COUNTED):
                    self.masked.add(place)
                    self.counting[inp, place.kind] = None
        return len(self.masked) > before

    def item(self, port: str, value: object, inp: int = BEFORE) -> Any:  # noqa: ANN401 -- an item of outputs
        """Return an output as a model states it: the value, the common part of several, or the end of a port."""
        if isinstance(value, Ended):
            return on(port, Ended) if port else Ended
        hidden = self.hidden(value, inp)
        if not hidden:
            return value
        patterns = {name: re.compile(pattern) for name, pattern in hidden.items() if pattern}
        kept = [] if isinstance(value, str) else [name for name in _fields(value) if name not in hidden]

        def alike(seen: object) -> bool:
            if not isinstance(seen, type(value)) or any(getattr(seen, each) != getattr(value, each) for each in kept):
                return False
            found = texts(seen)
            return all(pattern.fullmatch(found[name]) for name, pattern in patterns.items())

        return Where(alike, says=self.value(value, inp), examples=(value,))


def _is_message(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, (type, Ended))


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _fields(value: Any) -> list[str]:  # noqa: ANN401 -- a message
    return [each.name for each in dataclasses.fields(value) if each.init]


def _pattern(text: str, hidden: set[int]) -> Iterator[str]:
    """Yield the parts of the regular expression of a text, some of whose words vary."""
    at = 0
    for number, word in enumerate(_VARIABLE.finditer(text)):
        yield _escaped(text[at : word.start()])
        yield r"\S+" if number in hidden else _escaped(word[0])
        at = word.end()
    yield _escaped(text[at:])


def _numbers(value: object, inp: int) -> Iterator[tuple[NumberPlace, str]]:
    """Yield the places of numbers in an output: words of a text, or whole fields."""
    for name, text in texts(value).items():
        for at, word in enumerate(_VARIABLE.findall(text)):
            if _NUMBER.fullmatch(word) and (not name or word == text):
                yield NumberPlace(inp, form(value), name, _VARIABLE.sub(MASK, text), at), word


def _escaped(text: str) -> str:
    return re.escape(text).replace(r"\ ", " ")
