"""Hypothesis: its strategies as sources of values, and strategies made from values. otf imports it only when used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otf.errors import UsageError
from otf.values.identity import fingerprint, fresh
from otf.values.text import show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

BATCH: Final = 100  # values in the first batch; each further batch is twice as large
BATCHES: Final = 5  # batches searched for a small counterexample
ASKED: Final = 60  # the most questions asked to shrink a value


def is_strategy(source: object) -> bool:
    """Return whether `source` is a Hypothesis strategy, without importing Hypothesis.

    >>> from hypothesis import strategies
    >>> is_strategy(strategies.integers()), is_strategy(int)
    (True, False)
    """
    module = sys.modules.get("hypothesis.strategies")
    return module is not None and isinstance(source, module.SearchStrategy)


def drawn(strategy: SearchStrategy[Any]) -> Iterator[Any]:
    """Yield the values that a strategy generates in batches: each once, simple ones of a batch first, always the same.

    Ends after a batch without new values, which does not prove that there are no others. Raises UsageError for an
    invalid strategy.
    """
    seen = dict[object, Any]()
    batch = 0
    while new := _new(drawn_anew(strategy, sampled(batch)), seen):
        seen.update(new)
        yield from simpler_first(new.values())
        batch += 1


class Draw(NamedTuple):
    """A seed, and how many values to generate with it, which together determine the values."""

    seed: Hashable
    size: int


def sampled(batch: int) -> Draw:
    """Return with which seed, and how many at once, `drawn` generated a batch of values."""
    return Draw(batch, BATCH * 2**batch)


def simplest_from(strategy: SearchStrategy[Any], value: object, draw: Draw) -> Generator[Any, bool, None]:
    """Yield values simpler than a failing one, as Hypothesis shrinks it; the caller sends back whether each fails.

    `draw` is the one that produced the value. Hypothesis goes on as if each value passed; if one fails, Hypothesis
    starts again with the answers so far. It does not wait in a thread, since it would change the random numbers of the
    whole program meanwhile.

    >>> from hypothesis import strategies
    >>> numbers, draw = strategies.integers(0, 1000), Draw("a", 50)
    >>> search = simplest_from(numbers, max(drawn_anew(numbers, draw)), draw)
    >>> asked, failing = next(search), list[int]()
    >>> try:
    ...     while True:
    ...         failing += [asked] if asked > 500 else []
    ...         asked = search.send(asked > 500)
    ... except StopIteration:
    ...     print(failing[-1])
    501
    """
    answers, best = {fingerprint(value): True}, value
    before, failing = dict[Hashable, Any](), True
    while failing and len(answers) <= ASKED:
        failing = False
        for asked in _unanswered(strategy, value, draw, answers, before):
            answers[fingerprint(asked)] = failing = yield asked
            best = asked if failing else best
            if failing or len(answers) > ASKED:
                break
    # Hypothesis never comes back to what it generated before the value, often the simplest of all
    for each in simpler_first(before[name] for name in before.keys() - answers.keys()):
        if simplicity(each) >= simplicity(best) or (yield each):
            return


def _unanswered(
    strategy: SearchStrategy[Any],
    value: object,
    draw: Draw,
    answers: Mapping[Hashable, bool],
    before: dict[Hashable, Any],
) -> list[Any]:
    """Return the values on the way to the simplest one that have no answer yet, as if none of them failed.

    Puts into `before` what is generated before the value.
    """
    wanted, began, asked = fingerprint(value), False, dict[Hashable, Any]()

    def search(each: object) -> None:
        nonlocal began
        name = fingerprint(each)
        began = began or name == wanted
        if not began:
            before[name] = each
        elif name not in answers:
            asked[name] = each
        elif answers[name]:
            raise _FoundError

    with suppress(_FoundError):
        _generate(strategy, draw, search, shrinks=True)
    return [*asked.values()]


def simpler_first(values: Iterable[Any]) -> list[Any]:
    """Return values sorted by the length of their text, then by the text: so 544 comes before 779."""
    return sorted(values, key=simplicity)


def simplicity(value: object) -> tuple[int, str]:
    """Return a key that sorts simple values first: the length of a value's text, and the text."""
    text = repr(value)
    return len(text), text


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
    """Return the simplest tuple of values for which `fails` returns true, or None if Hypothesis finds no such tuple.

    The tuple contains one value from each of the `sources`. Hypothesis searches with fixed seeds, so equal calls return
    equal tuples.

    >>> from hypothesis import strategies
    >>> smallest([strategies.integers()], lambda row: row[0] > 9)
    (10,)
    """
    from hypothesis import strategies

    failing: list[tuple[Any, ...]] = []

    def search(row: tuple[Any, ...]) -> None:
        if fails(row):
            failing.append(row)
            raise _FoundError

    for batch in range(BATCHES):
        with suppress(_FoundError):
            _generate(strategies.tuples(*sources), sampled(batch), search, shrinks=True)
        if failing:
            return failing[-1]  # Hypothesis runs the smallest one once more at the end
    return None


class _FoundError(Exception):
    pass


def drawn_anew(strategy: SearchStrategy[Any], draw: Draw) -> list[Any]:
    """Return the values that a strategy generates, in the order of generation; some may be equal.

    They are the same in each process. Raises UsageError for an invalid strategy.
    """
    from hypothesis.errors import InvalidArgument

    values: list[Any] = []
    try:
        _generate(strategy, draw, values.append, shrinks=False)
    except InvalidArgument as error:
        raise UsageError(f"the strategy {show(strategy)} is invalid: {error}") from error
    return values


@contextmanager
def _steady() -> Generator[None]:
    """Let Hypothesis generate the same values in each process.

    It also draws constants from the modules that happen to be loaded, and no setting prevents that. So a worker would
    draw other values than the program that started it, and a resumed campaign other values than before.
    """
    from hypothesis.internal.conjecture import providers

    internal: Any = providers
    own = getattr(internal, "_get_local_constants", None)
    if own is None:  # a version that does not
        yield
        return
    none = internal.Constants()
    internal._get_local_constants = lambda: none  # noqa: SLF001 -- as above
    internal.CONSTANTS_CACHE.cache.clear()
    try:
        yield
    finally:
        internal._get_local_constants = own  # noqa: SLF001 -- as above
        internal.CONSTANTS_CACHE.cache.clear()


def _generate(strategy: SearchStrategy[Any], draw: Draw, take: Callable[[Any], object], *, shrinks: bool) -> None:
    """Let Hypothesis generate values, and `take` each; an exception of `take` ends that after shrinking the value."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis.errors import Unsatisfiable

    checks: Any = HealthCheck  # its metaclass hides the members from the type checker
    quiet = settings(
        max_examples=draw.size,
        phases=(Phase.generate, Phase.shrink) if shrinks else (Phase.generate,),
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(checks),
    )

    @seed(draw.seed)
    @quiet
    @given(strategy)
    def each(value: object) -> None:
        take(value)

    # `nothing()` is unsatisfiable, as is a filter that rejects every value
    with suppress(Unsatisfiable), _steady():
        each()
