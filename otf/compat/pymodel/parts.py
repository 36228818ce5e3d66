"""The parts of a product: their protocol, and two kinds that are lists: test suites (runs of actions) and machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from otf.errors import UsageError
from otf.notations.table import frozen
from otf.values import show

Args: TypeAlias = tuple[Any, ...]
NamedArguments: TypeAlias = tuple[str, Args]


class Effect(NamedTuple):
    """The effect of an action in one part: result and next state; `free`: it matches any arguments and result."""

    result: Any
    state: Any
    free: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice of actions: those in `include`, or all if it is empty, except those in `exclude`."""

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()

    def of(self, actions: Iterable[Callable[..., Any]]) -> tuple[Callable[..., Any], ...]:
        """Return the chosen ones of these actions."""
        return tuple(each for each in actions if self.has(each.__name__))

    def has(self, name: str) -> bool:
        """Return whether an action of that name is chosen."""
        return (not self.include or name in self.include) and name not in self.exclude


def listed(module: ModuleType, *names: str) -> tuple[Callable[..., Any], ...]:
    """Return the functions in a module's list under one of these names. Raises UsageError for a wrong item."""
    found: Any = attribute(module, *names)
    actions = tuple(found or ())
    for each in actions:
        if not hasattr(each, "__name__"):
            raise UsageError(f"{module.__file__}: {names[0]} has {show(each)}, which is not a function")
    return actions


def attribute(module: ModuleType, *names: str) -> Any:  # noqa: ANN401 -- any attribute
    """Return a module's attribute under the first of these names that it has, None if it has none."""
    return next((getattr(module, name) for name in names if hasattr(module, name)), None)


def labels(actions: Iterable[Callable[..., Any]]) -> frozenset[str]:
    """Return the names of actions."""
    return frozenset(each.__name__ for each in actions)


class Part(ABC):
    """One model of a product: a module, and the chosen ones of its actions.

    `actions` is its vocabulary, `observed` has those that the system performs by itself, `cleanup` those that lead to
    states where a run may end. A run begins in the state `initial`. `guarded`: there is a state invariant.
    """

    initial: Any
    guarded: bool = False

    def __init__(self, name: str, module: ModuleType, chosen: Chosen, own: Iterable[Callable[..., Any]]) -> None:
        self.name: str = name
        self.actions: tuple[str, ...] = tuple(dict.fromkeys(each.__name__ for each in chosen.of(own)))
        self.observed: frozenset[str] = labels(listed(module, "observables"))
        self.cleanup: frozenset[str] = labels(chosen.of(listed(module, "cleanup")))

    @abstractmethod
    def offers(self, state: Any) -> Iterator[NamedArguments]:  # noqa: ANN401 -- any state
        """Yield the enabled actions of a state, without arguments if any will do."""

    @abstractmethod
    def effects(self, state: Any, name: str, args: Args, *, filtered: bool) -> Iterator[Effect]:  # noqa: ANN401 -- as above
        """Yield the effects of an action; `filtered`: only those whose state passes the state filter."""

    @abstractmethod
    def accepting(self, state: Any) -> bool:  # noqa: ANN401 -- as above
        """Return whether a run may end there."""

    def safe(self, state: Any) -> bool:  # noqa: ANN401 -- as above
        """Return whether the state invariant holds: suites and machines have none."""
        del state
        return True


SUITE_NAMES = ("test_suite", "testsuite", "testSuite")
Run: TypeAlias = tuple[tuple[str, Args, Any], ...]
RunPosition: TypeAlias = tuple[tuple[int, int], ...]
"""The runs that begin with the actions so far, by number, each with the number of its actions done."""


class RunSuite(Part):
    """A module with `testSuite`: all its runs at once, as a tree; `only` returns the suite of one run.

    A state holds the runs that begin with the actions so far.
    """

    def __init__(self, name: str, module: ModuleType, chosen: Chosen) -> None:
        runs = [
            [_action(module, number, each) for each in run]
            for number, run in enumerate(attribute(module, *SUITE_NAMES), 1)
        ]
        own = listed(module, "actions") or [action for run in runs for action, _ in run]
        super().__init__(name, module, chosen, own)
        # a run ends before its first excluded action
        self._runs: Sequence[Run] = [
            tuple(takewhile(lambda each: each[0] in self.actions, (each for _, each in run))) for run in runs
        ]
        self.initial: RunPosition = tuple((number, 0) for number in range(len(self._runs)))

    def __len__(self) -> int:
        """Return how many runs there are."""
        return len(self.initial)

    def only(self, number: int) -> RunSuite:
        """Return the suite that consists of one run."""
        one: RunSuite = object.__new__(RunSuite)
        vars(one).update(vars(self), initial=self.initial[number : number + 1])
        return one

    def offers(self, state: RunPosition) -> Iterator[NamedArguments]:
        """Yield the next actions."""
        return (name_args[:2] for _, name_args in self._next(state))

    def effects(self, state: RunPosition, name: str, args: Args, *, filtered: bool) -> Iterator[Effect]:
        """Yield the effects of an action, one for each result in the runs."""
        del filtered
        went: dict[tuple[bool, Any], list[tuple[int, int]]] = {}
        for (number, done), (own, wanted, result) in self._next(state):
            free = wanted == () and result is None
            if own == name and (free or wanted == args):
                went.setdefault((free, result), []).append((number, done + 1))
        for (free, result), then in went.items():
            yield Effect(result, tuple(then), free)

    def accepting(self, state: RunPosition) -> bool:
        """Return whether one of the runs ends there."""
        return any(done == len(self._runs[number]) for number, done in state)

    def _next(self, state: RunPosition) -> Iterator[tuple[tuple[int, int], tuple[str, Args, Any]]]:
        for number, done in state:
            if done < len(self._runs[number]):
                yield (number, done), self._runs[number][done]


def _action(module: ModuleType, number: int, step: Any) -> tuple[Callable[..., Any], tuple[str, Args, Any]]:  # noqa: ANN401 -- anything: the module may be wrong
    try:
        action, args, *results = step
        (result,) = results or (None,)
        return action, (action.__name__, tuple(map(frozen, args)), frozen(result))
    except (AttributeError, TypeError, ValueError) as error:
        form = "(action, (arguments,)) or (action, (arguments,), result)"
        raise UsageError(f"{module.__file__}: run {number} of the suite has {show(step)}; write {form}") from error


PathArrow: TypeAlias = tuple[Any, str, Args, Any, Any]


class FiniteMachine(Part):
    """A module with `graph`, `initial` and `accepting`; it may be nondeterministic."""

    def __init__(self, name: str, module: ModuleType, chosen: Chosen) -> None:
        if not hasattr(module, "initial"):
            raise UsageError(
                f"{module.__file__}: a finite machine has `graph`, `initial` and `accepting`; this one has no `initial`"
            )
        lines = [_line(module, number, row) for number, row in enumerate(module.graph, 1)]
        super().__init__(name, module, chosen, listed(module, "actions") or [action for action, _ in lines])
        self.initial: Any = module.initial
        self._lines = [line for _, line in lines if line[1] in self.actions]
        ends = attribute(module, "accepting")
        self._ends = None if ends is None else tuple(ends)

    def offers(self, state: Any) -> Iterator[NamedArguments]:  # noqa: ANN401 -- any state
        """Yield the actions of a state's transitions."""
        return (line[1:3] for line in self._lines if line[0] == state)

    def effects(self, state: Any, name: str, args: Args, *, filtered: bool) -> Iterator[Effect]:  # noqa: ANN401 -- as above
        """Yield the effects of an action; a transition without arguments and result matches any."""
        del filtered
        for source, own, wanted, result, target in self._lines:
            if source == state and own == name:
                free = wanted == () and result is None
                if free or wanted == args:
                    yield Effect(result, target, free)

    def accepting(self, state: Any) -> bool:  # noqa: ANN401 -- as above
        """Return whether a run may end there: in any state if the module has no `accepting`."""
        return self._ends is None or state in self._ends


def _line(module: ModuleType, number: int, row: Any) -> tuple[Callable[..., Any], PathArrow]:  # noqa: ANN401 -- anything: the module may be wrong
    try:
        source, (action, args, result), target = row
        return action, (source, action.__name__, tuple(map(frozen, args)), frozen(result), target)
    except (AttributeError, TypeError, ValueError) as error:
        form = "(state, (action, (arguments,), result), state)"
        raise UsageError(f"{module.__file__}: row {number} of the graph is {show(row)}; write {form}") from error
