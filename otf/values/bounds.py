"""What `Annotated` says about a type: bounds, a size, an alphabet, or the values themselves.

The attributes bear the names of `annotated_types` and `msgspec.Meta`, so that theirs are understood as well without
being imported. What is not understood is a remark, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil, floor, inf, isinf
from typing import Annotated, Any, Final

from otf.errors import UsageError
from otf.values.text import show

Check = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Range:
    """Values from `ge` to `le`, both included: `Annotated[int, Range(0, 9)]`."""

    ge: Any = None
    le: Any = None


@dataclass(frozen=True, slots=True)
class Size:
    """Strings and collections of at least and at most so many elements: `Annotated[str, Size(1, 8)]`."""

    min_length: int = 0
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Strings of these characters, or bytes of these: `Annotated[str, Alphabet("ab")]`."""

    symbols: str | bytes


class Among:
    """The values themselves: `Annotated[int, Among(0, 7, 255)]`."""

    def __init__(self, *values: Any) -> None:  # noqa: ANN401 -- of any type
        self.values = values

    def __repr__(self) -> str:
        return f"Among({', '.join(map(repr, self.values))})"


Char = Annotated[str, Size(1, 1)]

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
    """What the metadata of one `Annotated` says, each word with all that it was given."""

    said: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    others: tuple[object, ...] = ()

    @classmethod
    def of(cls, metadata: Iterable[object]) -> Bounds:
        """Read the metadata."""
        said: dict[str, list[Any]] = {}
        others = tuple(_ungrouped(metadata))
        for item in others:
            for word in _COMPARED:
                bound = getattr(item, word, None)
                if bound is not None:
                    said.setdefault(word, []).append(bound)
        return cls(said, others)

    def ints(self) -> tuple[int | None, int | None]:
        """Return the least and the greatest integer that is allowed."""
        lows = [ceil(bound) for bound in self._finite("ge")] + [floor(bound) + 1 for bound in self._finite("gt")]
        highs = [floor(bound) for bound in self._finite("le")] + [ceil(bound) - 1 for bound in self._finite("lt")]
        return max(lows, default=None), min(highs, default=None)

    def floats(self) -> tuple[float, float]:
        """Return bounds that no allowed float exceeds."""
        low = max([*self.said.get("ge", ()), *self.said.get("gt", ())], default=-inf)
        high = min([*self.said.get("le", ()), *self.said.get("lt", ())], default=inf)
        return float(low), float(high)

    def length(self) -> tuple[int, int | None]:
        """Return the least and the greatest number of elements."""
        return max(self.said.get("min_length", ()), default=0), min(self.said.get("max_length", ()), default=None)

    def symbols(self, usual: str | bytes) -> str | bytes:
        """Return the alphabet."""
        named = [item.symbols for item in self.others if isinstance(item, Alphabet)]
        return named[-1] if named else usual

    def meets(self, where: str) -> Check:
        """Return the check whether a value is within all of it."""
        checks = [(_COMPARED[word], bound) for word, bounds in self.said.items() for bound in bounds]

        def within(value: object) -> bool:
            try:
                return all(check(value, bound) for check, bound in checks)
            except TypeError as error:
                raise UsageError(f"{where}: its bounds say nothing about {show(value)}: {error}") from error

        return within

    def _finite(self, word: str) -> list[Any]:
        return [bound for bound in self.said.get(word, ()) if not isinf(bound)]


def _ungrouped(metadata: Iterable[Any]) -> Iterator[object]:
    for item in metadata:
        if getattr(item, "__is_annotated_types_grouped_metadata__", False):
            yield from _ungrouped(item)
        else:
            yield item
