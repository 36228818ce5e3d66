"""PyModel's finite machines: a list of transitions between numbered states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeAlias

from otf.compat.pymodel.parts import Args, Chosen, Effect, NamedArguments, labels, listed, said
from otf.errors import UsageError
from otf.fronts.freezing import frozen
from otf.values import show

PathArrow: TypeAlias = tuple[Any, str, Args, Any, Any]


class FiniteMachine:
    """A module with `graph`, `initial` and `accepting`; it may be nondeterministic."""

    def __init__(self, name: str, module: ModuleType, chosen: Chosen) -> None:
        self.name: str = name
        self.guarded: bool = False
        if not hasattr(module, "initial"):
            raise UsageError(
                f"{module.__file__}: a finite machine has `graph`, `initial` and `accepting`; no `initial` here"
            )
        lines = [_line(module, number, row) for number, row in enumerate(module.graph, 1)]
        own = listed(module, "actions") or [action for action, _ in lines]
        self.actions: tuple[str, ...] = tuple(dict.fromkeys(each.__name__ for each in chosen.of(own)))
        self.observed: frozenset[str] = labels(listed(module, "observables"))
        self.cleanup: frozenset[str] = labels(chosen.of(listed(module, "cleanup")))
        self.initial: Any = module.initial
        self._lines = [line for _, line in lines if line[1] in self.actions]
        ends = said(module, "accepting")
        self._ends = None if ends is None else tuple(ends)

    def offers(self, state: Any) -> Iterator[NamedArguments]:  # noqa: ANN401 -- any state
        """Yield the actions at the transitions of a state."""
        return (line[1:3] for line in self._lines if line[0] == state)

    def effects(self, state: Any, name: str, args: Args, *, filtered: bool) -> Iterator[Effect]:  # noqa: ANN401 -- as above
        """Yield the transitions of an action; one without arguments and result goes with any."""
        del filtered
        for source, own, wanted, result, target in self._lines:
            if source == state and own == name:
                free = wanted == () and result is None
                if free or wanted == args:
                    yield Effect(result, target, free)

    def accepting(self, state: Any) -> bool:  # noqa: ANN401 -- as above
        """Return whether a run may end there: everywhere, where the machine does not say."""
        return self._ends is None or state in self._ends

    def safe(self, state: Any) -> bool:  # noqa: ANN401 -- as above
        """Return true: machines have no invariant."""
        del state
        return True


def _line(module: ModuleType, number: int, row: Any) -> tuple[Callable[..., Any], PathArrow]:  # noqa: ANN401 -- whatever stands there
    try:
        source, (action, args, result), target = row
        return action, (source, action.__name__, tuple(map(frozen, args)), frozen(result), target)
    except (AttributeError, TypeError, ValueError) as error:
        form = "(state, (action, (arguments,), result), state)"
        raise UsageError(f"{module.__file__}: row {number} of the graph is {show(row)}; write {form}") from error
