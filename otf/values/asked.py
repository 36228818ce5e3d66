"""What is asked of a function that reads one kind of types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, get_args

from otf.values.bounds import Bounds
from otf.values.derived import RecordTiers
from otf.values.tiers import Tiers


class Reads(Protocol):
    """The reader of a whole type, as those see it who read a part of it."""

    def read(self, kind: object, where: str, bounds: Bounds | None = None) -> Tiers:
        """Return the values of a type; `where` is the path to it."""
        ...

    def record(self, kind: object, where: str, new: RecordTiers) -> tuple[RecordTiers, bool]:
        """Return the record of a type, which may be met again inside itself, and whether it is the new one."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """One type to be read: the path to it, who reads its parts, and what bounds it."""

    kind: Any
    where: str
    reader: Reads
    bounds: Bounds

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the type."""
        return get_args(self.kind)

    def part(self, at: int, step: str) -> Tiers:
        """Read an argument of the type, a step further on the path."""
        return self.reader.read(self.arguments[at], f"{self.where}{step}")
