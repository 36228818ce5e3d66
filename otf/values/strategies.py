"""Hypothesis: its strategies as sources of values, and values as its strategies. It is imported only when used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from otf.errors import UsageError
from otf.values.identity import fingerprint, fresh
from otf.values.text import show

if TYPE_CHECKING:
    from hypothesis import settings
    from hypothesis.strategies import SearchStrategy

BATCH: Final = 100  # values in the first batch; each further batch is twice as large
BATCHES: Final = 5  # batches that are searched for a small counterexample


def is_strategy(source: object) -> bool:
    """Return whether something is a Hypothesis strategy; this does not import Hypothesis.

    >>> from hypothesis import strategies
    >>> is_strategy(strategies.integers()), is_strategy(int)
    (True, False)
    """
    module = sys.modules.get("hypothesis.strategies")
    return module is not None and isinstance(source, module.SearchStrategy)


def drawn(strategy: SearchStrategy[Any]) -> Iterator[Any]:
    """Yield the values that a strategy generates, each once and the same in each run; simple ones of a batch first.

    It ends after a batch without new values, which does not prove that there are no others. Raises UsageError for an
    invalid strategy.
    """
    seen = dict[object, Any]()
    batch = 0
    while new := _new(_batch(strategy, batch), seen):
        seen.update(new)
        yield from simpler_first(new.values())
        batch += 1


def simpler_first(values: Iterable[Any]) -> list[Any]:
    """Return values sorted by the length of their text, then by the text: so 544 comes before 779."""
    return sorted(values, key=lambda value: (len(text := repr(value)), text))


def _new(values: list[Any], seen: Mapping[object, Any]) -> dict[object, Any]:
    found = {fingerprint(value): value for value in values}
    return {name: value for name, value in found.items() if name not in seen}


def strategy_of(values: Sequence[Any]) -> SearchStrategy[Any]:
    """Return the strategy that chooses among these values and shrinks towards the first."""
    from hypothesis import strategies

    return strategies.sampled_from(values).map(fresh)


def smallest(
    sources: Sequence[SearchStrategy[Any]], fails: Callable[[tuple[Any, ...]], bool]
) -> tuple[Any, ...] | None:
    """Return the simplest row of values, one from each source, for which `fails` is true; None if none is found.

    Hypothesis searches and shrinks, with the seeds of `drawn`: a single strategy generates the same values in both.

    >>> from hypothesis import strategies
    >>> smallest([strategies.integers()], lambda row: row[0] > 9)
    (10,)
    """
    from hypothesis import Phase, given, seed, strategies
    from hypothesis.errors import Unsatisfiable

    for batch in range(BATCHES):
        failing: list[tuple[Any, ...]] = []

        @seed(batch)
        @_quiet(BATCH * 2**batch, (Phase.generate, Phase.shrink))
        @given(strategies.tuples(*sources))
        def search(row: tuple[Any, ...]) -> None:
            if fails(row):
                failing.append(row)  # noqa: B023 -- it is called in this round only
                raise _FoundError

        with suppress(_FoundError, Unsatisfiable):
            search()
        if failing:
            return failing[-1]  # Hypothesis runs the smallest one once more at the end
    return None


class _FoundError(Exception):
    pass


def _batch(strategy: SearchStrategy[Any], batch: int) -> list[Any]:
    from hypothesis import Phase, given, seed
    from hypothesis.errors import InvalidArgument, Unsatisfiable

    values: list[Any] = []

    @seed(batch)
    @_quiet(BATCH * 2**batch, (Phase.generate,))
    @given(strategy)
    def collect(value: object) -> None:
        values.append(value)

    try:
        collect()
    except Unsatisfiable:
        return []  # the strategy `nothing()`, or a filter that rejects every value
    except InvalidArgument as error:
        message = f"the strategy {show(strategy)} is invalid: {error}"
        raise UsageError(message) from error
    return values


def _quiet(examples: int, phases: tuple[Any, ...]) -> settings:
    from hypothesis import HealthCheck, settings

    checks: Any = HealthCheck  # its metaclass hides the members from the type checker
    return settings(
        max_examples=examples,
        phases=phases,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(checks),
    )
