"""What is made of the values of other types: other values, fewer values, or those of several types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain
from typing import Any, Final

from otf.errors import UsageError
from otf.values.tiers import Tier, Tiers

PATIENCE: Final = 1_000_000  # values tried in a row before a condition is taken for one that nothing meets


class Mapped(Tiers):
    """What a function makes of the values of another type, each as large as what it was made of."""

    builds = True

    def __init__(
        self, part: Tiers, function: Callable[[Any], Any], kind: type | None = None, *, fixed: bool = True
    ) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (part,)
        self.kinds: frozenset[type] | None = None if kind is None else frozenset({kind})
        self.fixed: bool = fixed
        self._function = function

    def make(self, size: int) -> Iterable[Any] | None:
        """Return what the function makes of the values of this size."""
        tier = self.parts[0].make(size)
        return None if tier is None else map(self._function, tier)


class Filtered(Tiers):
    """The values that meet a condition, of their old size."""

    passes_on = True

    def __init__(self, part: Tiers, meets: Callable[[Any], bool], where: str) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (part,)
        self.kinds: frozenset[type] | None = part.kinds
        self._meets, self._where = meets, where
        self._missed = 0

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size that meet the condition."""
        tier = self.parts[0].make(size)
        return None if tier is None else self._meeting(tier)

    def _meeting(self, tier: Iterable[Any]) -> Iterator[Any]:
        for value in tier:
            if self._meets(value):
                self._missed = 0
                yield value
                continue
            self._missed += 1
            if self._missed > PATIENCE:
                message = (
                    f"{self._where}: none of {PATIENCE:,} values in a row met the condition; give its values by hand"
                )
                raise UsageError(message)


class Once(Tiers):
    """The values of another type without those that were there before; `name` says which are the same."""

    def __init__(self, part: Tiers, name: Callable[[Any], Hashable]) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (part,)
        self.kinds: frozenset[type] | None = part.kinds
        self._name = name
        self._seen = set[Hashable]()
        self._new: list[Tier] = []

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values that are new at this size."""
        # a tier may be asked for more than once: what is new is found once, in order, and kept
        tiers = self.upto(size)
        return tiers[size] if size < len(tiers) else None

    def upto(self, size: int) -> list[Tier]:
        """Return the tiers from 0 to `size` of what is new."""
        while len(self._new) <= size and (tier := self.parts[0].make(len(self._new))) is not None:
            self._new.append([value for value in tier if self._is_new(value)])
        return self._new

    def _is_new(self, value: object) -> bool:
        before = len(self._seen)
        self._seen.add(self._name(value))
        return len(self._seen) > before


class UnionTiers(Tiers):
    """The values of several types, a tier of each in turn."""

    passes_on = True

    def __init__(self, parts: Iterable[Tiers]) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = tuple(parts)
        kinds = [part.kinds for part in self.parts if part.kinds is not None]
        self.kinds: frozenset[type] | None = frozenset[type]().union(*kinds) if len(kinds) == len(self.parts) else None

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size of all parts."""
        tiers = [tier for part in self.parts if (tier := part.make(size)) is not None]
        return chain.from_iterable(tiers) if tiers else None

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Tell whether one of the parts has a value."""
        return any(map(known, self.parts))


class RecordTiers(Tiers):
    """What a class makes of rows of arguments: larger by one than its arguments together, so that it may hold itself.

    Without arguments it is one value, which costs nothing. A class that raises ValueError has no such value.
    """

    builds = True

    def __init__(self, kind: type | None, *, frozen: bool) -> None:
        super().__init__()
        self.kinds: frozenset[type] | None = None if kind is None else frozenset({kind})
        self.fixed = frozen
        self._build: Callable[..., Any] = tuple
        self._cost = 0

    def hold(self, rows: Tiers, build: Callable[..., Any], cost: int) -> None:
        """Say what it is made of, once that is known: its arguments may be made of this record."""
        self.parts: tuple[Tiers, ...] = (rows,)
        self._build, self._cost = build, cost

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size."""
        if size < self._cost:
            return ()
        rows = self.parts[0].make(size - self._cost)
        return None if rows is None else self._built(rows)

    def _built(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        for row in rows:
            try:
                value = self._build(*row)
            except ValueError:
                continue
            yield value


class RecursiveTiers(Tiers):
    """A record inside itself: what it has made already, so that no value is made from the beginning again."""

    def __init__(self, record: RecordTiers) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (record,)
        self.kinds: frozenset[type] | None = record.kinds

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size that were made before."""
        tiers = self.parts[0].upto(size)
        return tiers[size] if size < len(tiers) else None
