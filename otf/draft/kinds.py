"""Guesses the types of messages in a dialogue: their names, their fields, and where these are.

The names of its members, and a member that names the type, give the type of a JSON object. Only flat objects count:
numbers, texts, truth values and null. Others become text.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from otf.draft.dialogue import Utterance
from otf.trace.reading import BAD_JSON

MOST_KINDS: Final = 12
"""Types of messages in each direction; beyond that, rare ones are merged."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_DIGITS: Final = re.compile(r"[0-9]+")
_LONGEST: Final = 16
_SEEN: Final = 200
_TAKEN: Final = frozenset(
    {"Annotated", "Bench", "ClassVar", "Input", "Iterator", "Spec", "Transition", "Where", "TypeAlias"}
)
NO_FIELDS: Final = frozenset({"goto", "inp", "out", "same", "state"})
"""Names that a draft uses itself."""


class FieldGuess(NamedTuple):
    """A field of a message: its name, and its type as code."""

    name: str
    hint: str


@dataclass
class MessageKind:
    """A type of message in a draft.

    The `pattern` is the line of a text message, and the `body` is the code of a class for other messages. If two
    patterns fit one message, `weight` decides between them.
    """

    name: str
    fields: tuple[FieldGuess, ...] = ()
    pattern: str = ""
    body: tuple[str, ...] = ()
    weight: int = 0
    sent: int = 0
    seen: int = 0
    sample: bytes = b""
    values: dict[tuple[Any, ...], int] = field(default_factory=dict[tuple[Any, ...], int])
    """How often each combination of values was sent."""


class Parsed(NamedTuple):
    """A recorded message with its type, and with the values of its fields."""

    kind: MessageKind
    values: tuple[Any, ...]


def class_name(text: str, taken: Iterable[str]) -> str:
    """Return a new class name made of the first words in a text: ASCII letters and digits only.

    >>> class_name("set-level", ["Level"]), class_name("level", ["Level"]), class_name("None", [])
    ('SetLevel', 'Level2', 'NoneMessage')
    """
    words, digits = _WORD.findall(text[:_SEEN]), _DIGITS.search(text[:_SEEN])
    name = "".join(
        _capital(word) for word, end in zip(words, accumulate(map(len, words)), strict=True) if end <= _LONGEST
    )
    if not name:
        name = _capital(words[0][:_LONGEST]) if words else f"Code{digits[0][:_LONGEST]}" if digits else "Text"
    if name in _TAKEN or keyword.iskeyword(name) or hasattr(builtins, name):
        name += "Message"
    return _fresh(name, taken)


def _capital(word: str) -> str:
    return word[0].upper() + (word[1:].lower() if word.isupper() else word[1:])


def field_name(text: str, taken: Iterable[str]) -> str:
    """Return a new field name made of the first word in a text.

    >>> field_name("Temp=", []), field_name("class", []), field_name("temp", ["temp"])
    ('temp', 'class_', 'temp2')
    """
    found = _WORD.search(text)
    name = found[0][: _LONGEST // 2].lower() if found else "number"
    is_taken = keyword.iskeyword(name) or name in NO_FIELDS or hasattr(builtins, name)
    return _fresh(f"{name}_" if is_taken else name, taken)


def _fresh(name: str, taken: Iterable[str]) -> str:
    known, fresh, number = set(taken), name, 1
    while fresh in known:
        number += 1
        fresh = f"{name}{number}"
    return fresh


def quoted(text: str | bytes) -> str:
    r"""Return a text or bytes as Python code, in ASCII, with the quotes that a formatter would choose.

    >>> print(quoted('a"b\n'), quoted("it's"), quoted(b"\x00"))
    'a"b\n' "it's" b"\x00"
    """
    inner = _escaped_bytes(text) if isinstance(text, bytes) else text.encode("unicode_escape").decode("ascii")
    prefix = "b" if isinstance(text, bytes) else ""
    quote = "'" if inner.count('"') > inner.count("'") else '"'
    return f"{prefix}{quote}{inner.replace(quote, chr(92) + quote)}{quote}"


def _escaped_bytes(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in data)  # noqa: PLR2004 -- ASCII


def literal(value: object) -> str:
    """Return a value of a field as code."""
    return quoted(value) if isinstance(value, (str, bytes)) else repr(value)


NAMING: Final = ("type", "kind", "cmd", "command", "op", "event", "action", "method")
"""Members whose text names the type of a message."""

_MEMBER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,20}")

Plain: TypeAlias = bool | int | float | str | None
Members: TypeAlias = Mapping[str, Plain]


def object_kinds(utterances: Sequence[Utterance]) -> list[Parsed] | None:
    """Return each message with its type, or None if a message is not a flat JSON object."""
    found: list[Members] = []
    for each in utterances:
        members = _members(each.data)
        if members is None:
            return None
        found.append(members)
    groups = defaultdict[tuple[bool, str, tuple[str, ...]], list[int]](list)
    for at, (each, members) in enumerate(zip(utterances, found, strict=True)):
        groups[each.sent, _naming(members), tuple(sorted(members))].append(at)
    if len(groups) > 2 * MOST_KINDS:
        return None
    parsed: dict[int, Parsed] = {}
    names: list[str] = []
    for (_, naming, _), places in groups.items():
        group = [found[at] for at in places]
        names.append(class_name(naming or " ".join(group[0]), names))
        kind = _kind(names[-1], group, utterances[places[0]].data)
        for at in places:
            parsed[at] = Parsed(kind, tuple(found[at][each.name] for each in kind.fields))
    return [parsed[at] for at in sorted(parsed)]


def _members(data: bytes) -> Members | None:
    """Return a flat object whose member names can be field names; None for anything else."""
    try:
        found = msgspec.json.decode(data, type=dict[str, Plain])
    except BAD_JSON:
        return None
    return found if all(map(_is_field, found)) else None


def nested_object(utterances: Sequence[Utterance]) -> str:
    """Return a remark about the first JSON object whose members are not plain values with usable names; "" for none."""
    for number, each in enumerate(utterances, 1):
        try:
            msgspec.json.decode(each.data, type=dict[str, object])
        except BAD_JSON:
            continue
        if _members(each.data) is None:
            return (
                f"message {number} is a JSON object that is not flat, so all messages are texts here: see `from_json`"
            )
    return ""


def _is_field(name: str) -> bool:
    is_taken = keyword.iskeyword(name) or hasattr(builtins, name) or name in NO_FIELDS
    return _MEMBER.fullmatch(name) is not None and not is_taken


def _naming(members: Members) -> str:
    """Return the text that names the type of a message, "" if none does."""
    return next((text for name in NAMING if isinstance(text := members.get(name), str)), "")


def _kind(name: str, group: Sequence[Members], sample: bytes) -> MessageKind:
    naming = _naming(group[0])
    named = next((each for each in NAMING if naming and group[0].get(each) == naming), "")
    fields = tuple(FieldGuess(each, _hint([members[each] for members in group])) for each in group[0] if each != named)
    constant = [f"{named}: ClassVar[str] = {quoted(naming)}"] if named else []
    body = (*constant, *(f"{each.name}: {each.hint}" for each in fields))
    return MessageKind(name, fields, body=body, weight=len(body), sample=sample)


def _hint(values: Sequence[object]) -> str:
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float}:
        kinds = {float}
    names = sorted(kind.__name__ for kind in kinds)
    return " | ".join([*names, *(["None"] if None in values else [])])
