"""The bounds of a type, in the metadata of `Annotated`, and the request to read the type.

Bounds have the attribute names of `annotated_types` and `msgspec.Meta`, so their metadata works too, without an import.
Metadata with other attributes is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil, floor, inf, isinf
from typing import Annotated, Any, Final, Protocol, get_args

from otf.errors import UsageError
from otf.values.derived import RecordTiers
from otf.values.enumeration import Enumeration, Tiers
from otf.values.text import show

Check = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Range:
    """An annotation that limits a type to the values from `ge` to `le`, both included; None means no bound.

    >>> from otf.values import every
    >>> list(every(Annotated[int, Range(-1, 2)]))
    [0, 1, -1, 2]
    """

    ge: Any = None
    le: Any = None


@dataclass(frozen=True, slots=True)
class Size:
    """An annotation that limits a string or collection to a length from `min_length` to `max_length` (None: no bound).

    >>> from otf.values import every
    >>> list(every(Annotated[list[bool], Size(1, 1)]))
    [[False], [True]]
    """

    min_length: int = 0
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Alphabet:
    """An annotation that limits a `str` to the characters in `symbols`, or a `bytes` to the bytes in `symbols`.

    >>> from otf.values import every
    >>> every(Annotated[str, Alphabet("ab")]).first(4)
    ['', 'a', 'b', 'aa']
    """

    symbols: str | bytes


class Among:
    """An annotation that limits a type to the given `values`.

    >>> from otf.values import every
    >>> list(every(Annotated[int, Among(0, 7, 255)]))
    [0, 7, 255]
    """

    def __init__(self, *values: Any) -> None:  # noqa: ANN401 -- of any type
        self.values = values

    def __repr__(self) -> str:
        return f"Among({', '.join(map(repr, self.values))})"


Char = Annotated[str, Size(1, 1)]
"""The type of strings of one character.

>>> from otf.values import every
>>> every(Char).first(3)
['a', 'A', '0']
"""

_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "ge": lambda value, bound: value >= bound,
    "gt": lambda value, bound: value > bound,
    "le": lambda value, bound: value <= bound,
    "lt": lambda value, bound: value < bound,
    "multiple_of": lambda value, bound: not value % bound,
    "min_length": lambda value, bound: len(value) >= bound,
    "max_length": lambda value, bound: len(value) <= bound,
    "func": lambda value, condition: condition(value),
}


@dataclass(frozen=True)
class Bounds:
    """The metadata of one `Annotated`: its limits by name (`ge`, `max_length`, …), and all its items."""

    limits: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    others: tuple[object, ...] = ()

    @classmethod
    def of(cls, metadata: Iterable[object]) -> Bounds:
        """Read the metadata."""
        limits: dict[str, list[Any]] = {}
        others = tuple(_ungrouped(metadata))
        for item in others:
            for word in _COMPARED:
                bound = getattr(item, word, None)
                if bound is not None:
                    limits.setdefault(word, []).append(bound)
        return cls(limits, others)

    def ints(self) -> tuple[int | None, int | None]:
        """Return the least and the greatest allowed integer."""
        lows = [ceil(bound) for bound in self._finite("ge")] + [floor(bound) + 1 for bound in self._finite("gt")]
        highs = [floor(bound) for bound in self._finite("le")] + [ceil(bound) - 1 for bound in self._finite("lt")]
        return max(lows, default=None), min(highs, default=None)

    def floats(self) -> tuple[float, float]:
        """Return bounds that no allowed float exceeds."""
        low = max([*self.limits.get("ge", ()), *self.limits.get("gt", ())], default=-inf)
        high = min([*self.limits.get("le", ()), *self.limits.get("lt", ())], default=inf)
        return float(low), float(high)

    def length(self) -> tuple[int, int | None]:
        """Return the least and the greatest number of elements."""
        return max(self.limits.get("min_length", ()), default=0), min(self.limits.get("max_length", ()), default=None)

    def symbols(self, usual: str | bytes) -> str | bytes:
        """Return the alphabet."""
        named = [item.symbols for item in self.others if isinstance(item, Alphabet)]
        return named[-1] if named else usual

    def meets(self, where: str) -> Check:
        """Return the check that a value is within all limits. The check raises UsageError if they do not apply."""
        checks = [(_COMPARED[word], bound) for word, bounds in self.limits.items() for bound in bounds]

        def within(value: object) -> bool:
            try:
                return all(check(value, bound) for check, bound in checks)
            except TypeError as error:
                raise UsageError(f"{where}: its bounds do not apply to {show(value)}: {error}") from error

        return within

    def _finite(self, word: str) -> list[Any]:
        return [bound for bound in self.limits.get(word, ()) if not isinf(bound)]


def _ungrouped(metadata: Iterable[Any]) -> Iterator[object]:
    for item in metadata:
        if getattr(item, "__is_annotated_types_grouped_metadata__", False):
            yield from _ungrouped(item)
        else:
            yield item


class PartReader(Protocol):
    """The reader of a whole type, as seen by the functions that read part of a type."""

    def read(self, kind: object, where: str, bounds: Bounds | None = None) -> Tiers:
        """Return the values of a type; `where` is the path to it."""
        ...

    def listed(self, values: Enumeration[Any]) -> Tiers:
        """Return the given values; for values drawn by a strategy, return their replacements."""
        ...

    def record(self, kind: object, where: str, new: RecordTiers) -> tuple[RecordTiers, bool]:
        """Return the record of a type, and whether it is the new one; the type may occur inside itself."""
        ...


@dataclass(frozen=True, slots=True)
class TypeRequest:
    """One type to read: the path to it, the reader of its parts, and its bounds."""

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
