"""The kinds of messages in a dialogue of JSON objects: by the names of their members, and by one that names the kind.

Only flat objects are read: numbers, texts, truth values and null. Others are drafted as text.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from otf.draft.dialogue import Utterance
from otf.draft.kinds import MOST_KINDS, NO_FIELDS, FieldGuess, MessageKind, Parsed, class_name, quoted
from otf.trace.reading import BAD_JSON

NAMING: Final = ("type", "kind", "cmd", "command", "op", "event", "action", "method")
"""Members whose text names the kind of a message."""

_MEMBER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,20}")

Plain: TypeAlias = bool | int | float | str | None
Members: TypeAlias = Mapping[str, Plain]


def object_kinds(utterances: Sequence[Utterance]) -> list[Parsed] | None:
    """Return each message with its kind; inputs and outputs are different kinds. None if some are no flat objects."""
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
    """Return a flat object whose members have names that a field can have; None for anything else."""
    try:
        found = msgspec.json.decode(data, type=dict[str, Plain])
    except BAD_JSON:
        return None
    return found if all(map(_is_field, found)) else None


def _is_field(name: str) -> bool:
    is_taken = keyword.iskeyword(name) or hasattr(builtins, name) or name in NO_FIELDS
    return _MEMBER.fullmatch(name) is not None and not is_taken


def _naming(members: Members) -> str:
    """Return the text that names the kind of a message, "" if there is none."""
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
