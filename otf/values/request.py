"""The request to read one type, which the functions for the single kinds of types receive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, get_args

from otf.values.bounds import Bounds
from otf.values.derived import RecordTiers
from otf.values.tiers import Tiers


class PartReader(Protocol):
    """The reader of a whole type, as the functions see it that read a part of the type."""

    def read(self, kind: object, where: str, bounds: Bounds | None = None) -> Tiers:
        """Return the values of a type; `where` is the path to it."""
        ...

    def record(self, kind: object, where: str, new: RecordTiers) -> tuple[RecordTiers, bool]:
        """Return the record of a type, and whether it is the new one; the type may occur inside itself."""
        ...


@dataclass(frozen=True, slots=True)
class TypeRequest:
    """One type to be read: the path to it, the reader of its parts, and its bounds."""

    kind: Any
    where: str
    reader: PartReader
    bounds: Bounds

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the type."""
        return get_args(self.kind)

    def part(self, at: int, step: str) -> Tiers:
        """Read an argument of the type, a step further on the path."""
        return self.reader.read(self.arguments[at], f"{self.where}{step}")
