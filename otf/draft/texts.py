"""The types of messages in a dialogue of text lines: constant words belong to the pattern, varying ones are fields.

A line is cut into words, numbers and the signs between them. Lines with the same first word and shape are of one type.
All of this is a guess: the reader of the draft knows better.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, TypeAlias

from otf.draft.dialogue import Utterance
from otf.draft.kinds import MOST_KINDS, FieldGuess, MessageKind, Parsed, class_name, field_name

MOST_SHAPES: Final = 4
"""Shapes of lines with the same first word; if there are more, everything after the word is one field."""

_LONGEST: Final = 200
_SOME_CODES: Final = 12
_TOKEN: Final = re.compile(r"[A-Za-z_][\w-]*|0x[0-9A-Fa-f]+|(?:(?<!\w)[+-])?[0-9]+(?:\.[0-9]+)?|[ \t]+|.", re.ASCII)
_FLOAT: Final = re.compile(r"[+-]?[0-9]+\.[0-9]+")
_INT: Final = re.compile(r"[+-]?[0-9]+")

_NUMBERS: Final = frozenset({"int", "float", "digits"})

LineShape: TypeAlias = tuple[str, ...]


class Token(NamedTuple):
    """A part of a line: a word, a number, the rest of the line (text), or a constant sign.

    `digits` is a number that Python would write differently, such as 5.00.
    """

    kind: str
    text: str


def tokens(line: str) -> list[Token]:
    """Cut a line into tokens; after a brace or 200 characters, the rest is one text.

    >>> [token.text for token in tokens("set lamp=21.5")], [token.kind for token in tokens("a {b}")]
    (['set', ' ', 'lamp', '=', '21.5'], ['word', 'sign', 'text'])
    """
    end = min((at for at in (line.find("{"), line.find("}"), _LONGEST) if at >= 0), default=_LONGEST)
    found = [_token(text) for text in _TOKEN.findall(line[:end])]
    return [*found, Token("text", line[end:])] if line[end:] else found


def _token(text: str) -> Token:
    if _FLOAT.fullmatch(text):
        return Token("float" if str(float(text)) == text else "digits", text)
    if _INT.fullmatch(text):
        return Token("int" if len(text) < _SOME_CODES and str(int(text)) == text else "digits", text)
    return Token("word" if text[0].isalnum() or text[0] == "_" else "sign", text)


def text_kinds(utterances: Sequence[Utterance]) -> list[Parsed]:
    """Return the lines of a dialogue as messages, each with its type.

    If client and system use one pattern, its messages have one type.
    """
    lines = [tokens(each.data.decode()) for each in utterances]
    ways = {sent: [at for at, each in enumerate(utterances) if each.sent is sent] for sent in (True, False)}
    found: list[Sequence[Token]] = [*lines]
    for places in ways.values():
        for at, merged in zip(places, _merged([lines[at] for at in places]), strict=True):
            found[at] = merged
    values = _values([found[at] for at in ways[True]])
    keys = [_key(line, frozenset() if each.sent else values) for each, line in zip(utterances, found, strict=True)]
    groups = defaultdict[LineShape, list[Sequence[Token]]](list)
    for key, line in zip(keys, found, strict=True):
        groups[key].append(line)
    plans, known = dict[LineShape, _Plan](), dict[str, MessageKind]()
    for key, each in zip(keys, utterances, strict=True):
        if key not in plans:
            plans[key] = _planned(groups[key], values, known, each.data)
    return [plans[key].parsed(line) for key, line in zip(keys, found, strict=True)]


def _values(inputs: Sequence[Sequence[Token]]) -> frozenset[str]:
    """Return the words that vary in the inputs; in an answer, such a word is a value too."""
    groups = defaultdict[LineShape, list[Sequence[Token]]](list)
    for line in inputs:
        groups[_key(line)].append(line)
    columns = (column for group in groups.values() for column in list(zip(*group, strict=True))[1:])
    texts = ({token.text for token in column if token.kind == "word"} for column in columns)
    return frozenset(text for each in texts if len(each) > 1 for text in each)


def _key(found: Sequence[Token], values: AbstractSet[str] = frozenset()) -> LineShape:
    """Return what lines of one type share: the first word unless it is a value, and the types of the other tokens."""
    first = found[0].text if found and found[0].kind == "word" and found[0].text not in values else ""
    return (first, *(token.text if token.kind == "sign" else _shape_of(token) for token in found))


def _shape_of(token: Token) -> str:
    # an int in one line and a float in another are one field
    return "{number}" if token.kind in _NUMBERS else "{" + token.kind + "}"


def _merged(lines: list[list[Token]]) -> list[Sequence[Token]]:
    """Return the lines with each part that varies too much as one text."""
    lines = _codes(lines)
    shapes = defaultdict[str, set[LineShape]](set)
    for found in lines:
        shapes[_key(found)[0]].add(_key(found))
    wide = {first for first, each in shapes.items() if first and len(each) > MOST_SHAPES}
    merged = [_after_first(found) if _key(found)[0] in wide else found for found in lines]
    common = Counter(map(_key, merged)).most_common()
    kept = {key for key, _ in (common if len(common) <= MOST_KINDS else common[: MOST_KINDS - 1])}
    return [found if _key(found) in kept else [Token("text", _joined(found))] for found in merged]


def _codes(lines: list[list[Token]]) -> list[list[Token]]:
    """Treat leading numbers as words if there are few of them and more follows: `220 ready`."""
    leading = {found[0].text for found in lines if len(found) > 1 and found[0].kind == "int"}
    if len(leading) > _SOME_CODES:
        return lines
    return [[Token("word", found[0].text), *found[1:]] if _is_code(found) else found for found in lines]


def _is_code(found: Sequence[Token]) -> bool:
    return len(found) > 1 and found[0].kind == "int" and len(found[0].text) == len("220")


def _after_first(found: Sequence[Token]) -> list[Token]:
    rest = _joined(found[1:])
    blank = " " if rest.startswith(" ") else ""
    after = [Token("sign", " ")] if blank else []
    return [found[0], *after, *([Token("text", rest[len(blank) :])] if rest[len(blank) :] else [])]


def _joined(found: Iterable[Token]) -> str:
    return "".join(token.text for token in found)


class _Column(NamedTuple):
    """The tokens at one place of a message type: a literal text, or a field with its type."""

    literal: str
    hint: str = ""
    name: str = ""


class _Plan(NamedTuple):
    """How lines of one shape become messages of a type: the places and types of its fields."""

    kind: MessageKind
    fields: tuple[tuple[int, Callable[[str], Any]], ...]

    def parsed(self, found: Sequence[Token]) -> Parsed:
        return Parsed(self.kind, tuple(read(found[at].text) for at, read in self.fields))


def _planned(
    group: Sequence[Sequence[Token]], values: AbstractSet[str], known: dict[str, MessageKind], sample: bytes
) -> _Plan:
    columns = _named(list(_columns(group, values)))
    pattern = "".join(f"{{{each.name}}}" if each.hint else each.literal for each in columns)
    if pattern not in known:
        fields = tuple(FieldGuess(each.name, each.hint) for each in columns if each.hint)
        words = " ".join(each.literal for each in columns if each.literal) or " ".join(each.name for each in fields)
        name = class_name(words, [other.name for other in known.values()])
        fixed = sum(len(each.literal) for each in columns)
        exact = all(each.hint != "str" for each in columns)
        known[pattern] = MessageKind(name, fields, pattern, weight=fixed + exact * _LONGEST, sample=sample)
    readers: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str}
    return _Plan(known[pattern], tuple((at, readers[each.hint]) for at, each in enumerate(columns) if each.hint))


def _columns(group: Sequence[Sequence[Token]], values: AbstractSet[str]) -> Iterator[_Column]:
    for at, column in enumerate(zip(*group, strict=True)):
        kinds, texts = {token.kind for token in column}, {token.text for token in column}
        if kinds <= _NUMBERS:
            # Python would write a float without a fraction with one, and so on
            yield _Column("", kinds.pop() if len(kinds) == 1 and "digits" not in kinds else "str")
        elif kinds == {"text"} or (kinds == {"word"} and (len(texts) > 1 or (at and not values.isdisjoint(texts)))):
            yield _Column("", "str")
        else:
            yield _Column(column[0].text)


def _named(columns: list[_Column]) -> list[_Column]:
    """Name each field after the word before it: `temp=21`, `at 5`; but not after the first word of the line."""
    names: list[str] = []
    for at, column in enumerate(columns):
        if column.hint:
            before = columns[at - 2].literal if at > 2 or (at > 1 and columns[at - 1].literal in "=:") else ""  # noqa: PLR2004
            plain = {"int": "number", "float": "value", "str": "text"}[column.hint]
            names.append(field_name(before if before[:1].isalpha() else plain, names))
            columns[at] = column._replace(name=names[-1])
    return columns
