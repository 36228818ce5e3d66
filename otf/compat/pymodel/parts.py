"""Parts of a product: the protocol that model programs, finite machines and test suites implement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeAlias

from otf.errors import UsageError
from otf.values import show

Args: TypeAlias = tuple[Any, ...]
NamedArguments: TypeAlias = tuple[str, Args]


class Effect(NamedTuple):
    """The effect of an action in one part: result and next state; `free`: it matches any arguments and result."""

    result: Any
    state: Any
    free: bool = False


class Part(Protocol):
    """One model of a product; `actions` is its vocabulary, `observed` has those that the system performs by itself."""

    @property
    def name(self) -> str:
        """Return the name of its module."""
        ...

    @property
    def actions(self) -> tuple[str, ...]:
        """Return the names of its actions."""
        ...

    @property
    def observed(self) -> frozenset[str]:
        """Return the names of its observable actions."""
        ...

    @property
    def cleanup(self) -> frozenset[str]:
        """Return the names of the actions that lead to states where a run may end."""
        ...

    @property
    def guarded(self) -> bool:
        """Return whether it has a state invariant."""
        ...

    @property
    def initial(self) -> Any:  # noqa: ANN401 -- any state
        """Return the state in which a run begins."""
        ...

    def offers(self, state: Any) -> Iterator[NamedArguments]:  # noqa: ANN401 -- any state
        """Yield the enabled actions of a state; without arguments if any arguments will do."""
        ...

    def effects(self, state: Any, name: str, args: Args, *, filtered: bool) -> Iterator[Effect]:  # noqa: ANN401 -- as above
        """Yield the effects of an action; `filtered`: only those whose state the state filter keeps."""
        ...

    def accepting(self, state: Any) -> bool:  # noqa: ANN401 -- as above
        """Return whether a run may end there."""
        ...

    def safe(self, state: Any) -> bool:  # noqa: ANN401 -- as above
        """Return whether the state invariant holds."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice of actions: those in `include`, or all if it is empty, without those in `exclude`."""

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()

    def of(self, actions: Iterable[Callable[..., Any]]) -> tuple[Callable[..., Any], ...]:
        """Return the chosen ones of these actions."""
        return tuple(each for each in actions if self.has(each.__name__))

    def has(self, name: str) -> bool:
        """Return whether an action of that name is chosen."""
        return (not self.include or name in self.include) and name not in self.exclude


def listed(module: ModuleType, *names: str) -> tuple[Callable[..., Any], ...]:
    """Return the functions in a module's list of one of these names. Raises UsageError for an item that is not one."""
    found: Any = attribute(module, *names)
    actions = tuple(found or ())
    for each in actions:
        if not hasattr(each, "__name__"):
            raise UsageError(f"{module.__file__}: {names[0]} has {show(each)}, which is not a function")
    return actions


def attribute(module: ModuleType, *names: str) -> Any:  # noqa: ANN401 -- any attribute
    """Return the attribute of a module under the first of these names that it has, None if it has none."""
    return next((getattr(module, name) for name in names if hasattr(module, name)), None)


def labels(actions: Iterable[Callable[..., Any]]) -> frozenset[str]:
    """Return the names of actions."""
    return frozenset(each.__name__ for each in actions)
