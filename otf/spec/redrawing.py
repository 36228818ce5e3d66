"""Draws new values for each path, in place of the sample of a Hypothesis strategy.

A model needs a finite set of inputs, so it offers a sample. Strategies count and plan with the sample; for most of
these inputs, a path sends a fresh value that the strategy generates. Within a path each input of the sample stands for
one value: if one input creates a name, later inputs use the same name, as they do in the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from otf.values import Enumeration, key
from otf.values.all_values import Anew
from otf.values.enumeration import Flat
from otf.values.strategies import Draw, drawn_anew, simpler_first

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SHARE: Final = 160  # out of 256 inputs of a sample, how many a path replaces; strategies count the others


class Instead(NamedTuple):
    """What a path sends in place of an input of the sample: a `value`, but first each of the `edges` once."""

    value: Any
    edges: tuple[Any, ...] = ()


Redrawn: TypeAlias = Callable[[Any, Any], Instead | None]
"""A function from a state and a sample input to what a path sends; None for inputs that no strategy generated."""

Redraw: TypeAlias = Callable[[str], Redrawn]
"""Returns what a path sends, given the seed of the path."""


def redraw_of(inputs: object) -> Redraw | None:
    """Return how to redraw the inputs of a spec; None if no strategy generates them."""
    return getattr(inputs, "redraw", None)


class Within:
    """The inputs of a spec derived from a base spec, with larger states or with fewer inputs.

    `inner(state)` returns the base spec's state within a state of the derived spec. `allow(state, input)` returns
    whether the derived spec keeps an input of the base spec.
    """

    def __init__(
        self,
        inputs: Callable[[Any], Iterable[Any]],
        base: object,
        inner: Callable[[Any], Any],
        allow: Callable[[Any, Any], bool] | None = None,
    ) -> None:
        self._inputs, self._inner, self._allow = inputs, inner, allow
        again = redraw_of(base)
        self.redraw: Redraw | None = None if again is None else lambda seed: self._redrawn(again(seed))
        self.strategies: tuple[Any, ...] = getattr(base, "strategies", ())
        # where the fingerprint of a model looks for its functions
        self.__closure__ = getattr(inputs, "__closure__", None)

    def __call__(self, state: Any) -> Iterable[Any]:  # noqa: ANN401 -- any state
        """Return the inputs of a state."""
        return self._inputs(state)

    def _redrawn(self, redrawn: Redrawn) -> Redrawn:
        def of(state: Any, inp: Any) -> Instead | None:  # noqa: ANN401 -- any state and input
            found = redrawn(self._inner(state), inp)
            if found is None or self._allow is None:
                return found
            edges = tuple(each for each in found.edges if self._allow(state, each))
            return Instead(found.value, edges) if self._allow(state, found.value) else None

        return of


class StrategiesMet:
    """Notes which strategies generate the values of a type, while otf reads the type."""

    def __init__(self) -> None:
        self.strategies: dict[int, SearchStrategy[Any]] = {}

    def __call__(self, values: Enumeration[Any]) -> Enumeration[Any]:
        """Return the values, after noting their strategy."""
        if values.origin is not None:
            self.strategies[id(values.origin)] = values.origin
        return values


def for_path(seed: str) -> Draw:
    """Return the function that generates the values of a path; a value takes as long as some ten in-process steps."""
    return Draw(seed, 50)


def anew(seed: str) -> Anew:
    """Return which values replace those of Hypothesis strategies on a path; each strategy has one list of values."""
    known: dict[int, Enumeration[Any]] = {}

    def instead(values: Enumeration[Any]) -> Enumeration[Any]:
        if values.origin is None:
            return values
        found = known.get(id(values.origin))
        if found is None:
            row = drawn_anew(values.origin, for_path(seed))
            found = known[id(values.origin)] = Enumeration(Flat(row, fixed=False, complete=False), values.origin)
        return found

    return instead


def paired(sample: Sequence[Any], others: Sequence[Any], seed: str) -> Iterator[tuple[Hashable, Instead]]:
    """Yield, by the key of each sample input, what a path sends in its place."""
    edges = extremes([*sample, *others])
    for at, (inp, other) in enumerate(zip(sample, cycle(others), strict=False)):
        # a separate lot for each input and path, the same in each process
        lot = blake2b(f"{seed}/{at}".encode(), digest_size=1).digest()[0]
        yield key(inp), Instead(other) if lot < SHARE else Instead(inp, edges)


def extremes(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the smallest and the largest of some numbers; for other values, the simplest and the longest.

    >>> extremes([3, 1, 2]), extremes(["aa", "b", ""])
    ((1, 3), ('', 'aa'))
    """
    if not values:
        return ()
    numbers = all(type(each) in {int, float} for each in values)
    row = sorted(each for each in values if each == each) if numbers else simpler_first(values)  # noqa: PLR0124 -- NaN
    return (row[0], row[-1]) if row else ()
