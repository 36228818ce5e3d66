"""Tables of requirements: the normative sentences of a standard, each with its id and its level."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from io import StringIO
from itertools import islice
from typing import Final, Literal, TypeAlias, get_args

from otf.errors import UsageError, refuse
from otf.values.arguments import checked, misfits

RequirementLevel: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
"""How binding a requirement is, by RFC 2119."""

LEVELS: Final = get_args(RequirementLevel)
WORDS: Final[Mapping[str, RequirementLevel]] = {
    "MUST": "MUST",
    "SHALL": "MUST",
    "REQUIRED": "MUST",
    "SHOULD": "SHOULD",
    "RECOMMENDED": "SHOULD",
    "MAY": "MAY",
    "OPTIONAL": "MAY",
}
COLUMNS: Final = ("id", "level", "text", "undecided")
MOST: Final = 100_000  # the most requirements of one table
LONGEST: Final = 10_000_000  # the most characters of one table


@dataclass(frozen=True, slots=True)
class Requirement:
    """A sentence of a standard that a system must, should or may obey, with an `id`, a `level` and the `text`.

    The level is "MUST", "SHOULD" or "MAY"; "MUST NOT" and "SHALL" become "MUST". `undecided` explains why no test can
    decide the requirement, for instance because the text allows several behaviours. `Requirement` raises UsageError if
    the id is empty or the level is unknown.

    >>> Requirement("RFC1350-5-2", "SHALL NOT", "A duplicate ACK is not answered.").level
    'MUST'
    """

    id: str
    level: str
    text: str
    undecided: str = ""

    def __post_init__(self) -> None:
        """Raise UsageError if this is not a requirement; write its level in one way."""
        refuse("Requirement: ", misfits(Requirement, ((each, getattr(self, each)) for each in COLUMNS)))
        if not (self.id and self.id.isprintable()):
            message = f"a requirement has the id {self.id!r}; give it a name, such as RFC1350-5-2"
            raise UsageError(message)
        level = WORDS.get(self.level.upper().removesuffix(" NOT"))
        if level is None:
            message = f"requirement {self.id}: the level {self.level!r} is unknown; write {', '.join(LEVELS)}"
            raise UsageError(message)
        object.__setattr__(self, "level", level)


class Requirements(Mapping[str, Requirement]):
    """The requirements of a standard by id, in the order of the table that lists them.

    Raises UsageError for a duplicate id.

    >>> table = Requirements([Requirement("R1", "MUST", "A press lights the lamp.")])
    >>> table["R1"].text, len(table)
    ('A press lights the lamp.', 1)
    """

    @checked
    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        self._table: dict[str, Requirement] = {}
        for each in requirements:
            if each.id in self._table:
                message = f"requirement {each.id} is in the table twice: {self._table[each.id].text!r}, {each.text!r}"
                raise UsageError(message)
            self._table[each.id] = each

    def __getitem__(self, name: str) -> Requirement:
        """Return a requirement by its id."""
        return self._table[name]

    def __iter__(self) -> Iterator[str]:
        """Return the ids in the order of the table."""
        return iter(self._table)

    def __len__(self) -> int:
        """Return the number of requirements."""
        return len(self._table)

    @classmethod
    def from_csv(cls, text: str) -> Requirements:
        r"""Return the requirements in a CSV text with the columns id, level, text and, optionally, undecided.

        `from_csv` raises UsageError, which names the line.

        >>> Requirements.from_csv("id,level,text\nR1,MUST,A press lights the lamp.\n")["R1"].level
        'MUST'
        """
        if len(text) > LONGEST:
            message = f"a table of requirements has {len(text):,} characters; at most {LONGEST:,} are read"
            raise UsageError(message)
        rows = csv.DictReader(StringIO(text), strict=True)
        return cls(_read(rows))

    @classmethod
    def from_enum(cls, members: type[Enum]) -> Requirements:
        """Return the requirements in an enum: each name is an id, each value is a tuple of level and text.

        A third item in the tuple says why no test can decide the requirement. `from_enum` raises UsageError for a
        member with another value.

        >>> class Lamp(Enum):
        ...     R1 = "MUST", "A press lights the lamp."
        ...     R2 = "MAY", "It may flicker.", "the text leaves it open"
        >>> Requirements.from_enum(Lamp)["R2"].undecided
        'the text leaves it open'
        """
        return cls(_member(each) for each in members)


def _read(rows: csv.DictReader[str]) -> Iterator[Requirement]:
    try:
        _check_columns(rows.fieldnames or ())
        for row in islice(rows, MOST):
            yield Requirement(*((row.get(name) or "").strip() for name in COLUMNS))
    except (csv.Error, UsageError) as error:
        # a line that cannot be read is not counted yet
        message = f"line {rows.line_num + isinstance(error, csv.Error)}: {error}"
        raise UsageError(message) from error
    if next(rows, None) is not None:
        message = f"a table of requirements has more than {MOST:,} rows"
        raise UsageError(message)


def _check_columns(names: Iterable[str]) -> None:
    if not set(COLUMNS[:3]) <= set(names):
        message = f"a table of requirements has the columns {', '.join(names) or 'none'}; it needs id, level, text"
        raise UsageError(message)


def _member(member: Enum) -> Requirement:
    value: object = member.value
    match value:
        case (str(level), str(text)):
            return Requirement(member.name, level, text)
        case (str(level), str(text), str(undecided)):
            return Requirement(member.name, level, text, undecided)
        case _:
            message = f"{member} = {value!r}: write its level and its text, such as ('MUST', 'A press lights it.')"
            raise UsageError(message)
