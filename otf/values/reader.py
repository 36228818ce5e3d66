"""From a type to its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otf.errors import UsageError
from otf.values.asked import Asked
from otf.values.bounds import Bounds
from otf.values.classes import is_class
from otf.values.enumeration import Enumeration
from otf.values.flat import Flat
from otf.values.forms import FORMS
from otf.values.graph import everything, filled
from otf.values.record import RecordTiers
from otf.values.tiers import Tiers


class Reader:
    """Reads one type with all that it is made of; `instead` tells the values of a type that has other than usual."""

    def __init__(self, instead: Callable[[object], Enumeration[Any] | None]) -> None:
        self._instead = instead
        self._records: dict[tuple[int, str], tuple[RecordTiers, str, object]] = {}

    def enumeration(self, kind: object, where: str) -> Enumeration[Any]:
        """Return the values of a type. Raises UsageError with the path to the part that cannot be enumerated."""
        tiers = self.read(kind, where)
        having = filled(tiers)
        for record, path, made in reversed(self._records.values()):
            if id(record) not in having:
                self._end(record, path, made)
        return Enumeration(tiers)

    def read(self, kind: object, where: str, bounds: Bounds | None = None) -> Tiers:
        """Return the values of a type, or of a part of it."""
        instead = self._instead(kind) if _hashable(kind) else None
        if instead is not None:
            return instead.tiers
        asked = Asked(kind, where, self, bounds or Bounds())
        for applies, form in FORMS:
            if applies(kind):
                return form(asked)
        name = name_of(kind)
        raise UsageError(
            f"{where}: the values of the type {name} cannot be enumerated; say which there are: "
            f"values={{{name}: [...]}}, Annotated[{name}, Among(...)] or register({name}, ...)"
        )

    def record(self, kind: object, where: str, new: RecordTiers) -> tuple[RecordTiers, bool]:
        """Return the record of a type, and whether it is the new one."""
        # by identity and text: Pair[Literal[1]] and Pair[Literal[True]] are equal for Python
        name = (id(kind) if is_class(kind) else 0, repr(kind))
        known, _, _ = self._records.setdefault(name, (new, where, kind))
        return known, known is new

    def _end(self, record: RecordTiers, where: str, kind: object) -> None:
        """Refuse a record that holds itself for ever; where a part has no values there is nothing to refuse."""
        having = filled(record)
        if all(each.parts or id(each) in having for each in everything(record)):
            raise UsageError(
                f"{where}: a value of {name_of(kind)} would have to hold another one, and so on for ever; "
                "give it an end, such as `| None` or a list"
            )
        record.hold(Flat(()), lambda: None, 0)


def name_of(kind: object) -> str:
    """Return how a type is called."""
    return kind.__name__ if is_class(kind) else str(kind)


def _hashable(kind: object) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True
