"""Sets and tables of values, and functions as values: a default result and a table of other results.

The size of a set or table is the sum of the sizes of its elements, plus one per element.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeGuard

from otf.errors import UsageError
from otf.values.bounds import TypeRequest
from otf.values.derived import Filtered, Mapped, Once, Powers, together
from otf.values.enumeration import Tier, Tiers, is_finite
from otf.values.identity import likeness
from otf.values.text import show


class Subsets(Tiers):
    """Sets, as tuples in which no two values are equal in Python."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, part: Tiers, where: str, least: int = 0, most: int | None = None) -> None:
        super().__init__(part)
        self.least: int = least
        self._where, self._most = where, most
        self._whole = [0]  # the total size of all elements in the first tiers

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the sets of this size, those with a large element first."""
        tiers = self.parts[0].upto(size - 1)[:size]
        for at in range(len(self._whole) - 1, len(tiers)):
            self._whole.append(self._whole[at] + (at + 1) * len(tiers[at]))
        most = size if self._most is None else self._most
        if len(tiers) < size and size > self._reach(len(tiers), most):
            return None
        return (each for each in self._choose(tiers, len(tiers), size, most) if self._fits(each))

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Return whether the empty set is allowed, or an element exists."""
        return not self.least or super().has_value(known)

    def _reach(self, below: int, most: int) -> int:
        """Return an upper bound for the size of a choice from the first `below` tiers."""
        return min(self._whole[below], below * most)

    def _choose(self, tiers: list[Tier], below: int, budget: int, most: int) -> Iterator[tuple[Any, ...]]:
        """Yield the choices of at most `most` elements from the first `below` tiers that use up the budget."""
        if not budget:
            yield ()
        for at in range(min(below, budget) - 1, -1, -1):
            if budget > self._reach(at + 1, most):
                return  # smaller elements cannot use it up either
            for count in range(1, min(len(tiers[at]), budget // (at + 1), most) + 1):
                for rest in self._choose(tiers, at, budget - count * (at + 1), most - count):
                    for chosen in combinations(tiers[at], count):
                        yield rest + chosen

    def _fits(self, chosen: tuple[Any, ...]) -> bool:
        try:
            # True == 1 in Python: a set of both would have one element
            return len(chosen) >= self.least and len(set(chosen)) == len(chosen)
        except TypeError as error:
            message = f"{self._where}: {show(chosen[0])} cannot be in a set or be a key: {error}; use a hashable type"
            raise UsageError(message) from error


class Tables(Tiers):
    """Tables, as pairs of two tuples of the same length: the keys, and their values."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, keys: Subsets, values: Tiers) -> None:
        super().__init__(keys, values)
        self._powers, self._least = Powers(values), keys.least
        self._largest: int | None = None

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the tables of this size, those with small keys first."""
        keys, values = self.parts[0].upto(size), self.parts[1].upto(size - 1)
        if len(keys) <= size and (len(values) < size or not _some(keys)) and size > self._end(keys, len(values)):
            return None
        return self._fill(keys[: size + 1], size) if values or not size else None

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Return whether the empty table is allowed, or an entry exists."""
        return not self._least or super().has_value(known)

    def _fill(self, keys: list[Tier], size: int) -> Iterator[tuple[Any, Any]]:
        for cost, tier in enumerate(keys):
            for chosen in tier:
                for row in self._powers[len(chosen)].make(size - cost) or ():
                    yield chosen, row

    def _end(self, keys: list[Tier], values: int) -> int:
        """Return the size of the largest table, if all keys and values are known."""
        if self._largest is None:
            sizes = (cost + len(chosen) * (values - 1) for cost, tier in enumerate(keys) for chosen in tier)
            self._largest = max(sizes, default=-1)
        return self._largest


def _some(keys: list[Tier]) -> bool:
    """Return whether one of the sets of keys is not empty."""
    return any(chosen for tier in keys for chosen in tier)


@dataclass(frozen=True)
class FiniteFunction:
    """A function given by a `table` of arguments and results.

    A `FiniteFunction` returns `default` for arguments that are not in its table.

    >>> even = FiniteFunction((((0,), True), ((2,), True)), False)
    >>> even(2), even(3), even
    (True, False, {0: True, 2: True, else: False})
    """

    table: tuple[tuple[tuple[Any, ...], Any], ...]
    default: Any

    @cached_property
    def _known(self) -> Mapping[Hashable, Any]:
        return {likeness(row): value for row, value in self.table}

    def __call__(self, *arguments: object) -> Any:  # noqa: ANN401 -- a value of the type that was declared
        """Return the result for these arguments."""
        return self._known.get(likeness(arguments), self.default)

    def __repr__(self) -> str:
        """Return its table as text."""
        rows = [f"{show(row[0] if len(row) == 1 else row)}: {show(value)}" for row, value in self.table]
        return "{" + ", ".join([*rows, f"else: {show(self.default)}"]) + "}"


def functions(request: TypeRequest) -> Tiers:
    """Return the values of the type `Callable[[A, …], B]`: functions, those with a small table first."""
    arguments = request.arguments[0]
    if not _is_list(arguments):
        raise UsageError(f"{request.where}: declare the types of the function's arguments: Callable[[int], bool]")
    rows = together([request.reader.read(part, f"{request.where}({at})") for at, part in enumerate(arguments)])
    values = request.part(1, "(…)")
    tables = Tables(Subsets(rows, f"{request.where}(…)"), values)
    every = Mapped(Filtered(together([values, tables]), _plain, request.where), _function, FiniteFunction)
    if not is_finite(rows):
        return every
    # if the table can hold all arguments, the same function can be written with each default
    whole = list(rows.walk())
    return Once(every, lambda function: tuple(likeness(function(*row)) for row in whole))


def _is_list(arguments: object) -> TypeGuard[list[object]]:
    return isinstance(arguments, list)


def _plain(made: tuple[Any, tuple[tuple[Any, ...], tuple[Any, ...]]]) -> bool:
    default, (_, values) = made
    usual = likeness(default)
    return all(likeness(value) != usual for value in values)


def _function(made: tuple[Any, tuple[tuple[Any, ...], tuple[Any, ...]]]) -> FiniteFunction:
    default, (rows, values) = made
    return FiniteFunction(tuple(zip(rows, values, strict=True)), default)
