"""PyModel's strategies, functions that choose one of the enabled actions; and its cleanup phase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.parts import attribute
from otf.compat.pymodel.product import Composition
from otf.core import Chooser, Symbol, View
from otf.errors import ModelError, UsageError
from otf.notations import Call
from otf.notations.actions import Attributes
from otf.notations.table import frozen, thawed
from otf.strategy import StrategyKind
from otf.strategy.kinds import Maker, known
from otf.strategy.pool import Pool, VisitCounts
from otf.values import key, show

NAMES: Final = ("select_action", "selectaction", "SelectAction")
SelectAction: TypeAlias = Callable[[Sequence[Any]], Any]


def selecting(select: SelectAction | str, *, folder: str | Path = ".") -> StrategyKind:
    """Return the strategy of a function written for PyModel, or of a module with such a function.

    The function receives a list of `(name, arguments, result, next_state, properties)`. The function returns `(name,
    arguments)`, or `(None, None)` to end the path. The strategy works only on models of PyModel. A module is given by
    its name or path, and otf loads it once per campaign.

    >>> def first(enabled): return enabled[0][:2]
    >>> selecting(first).name
    'first'
    """
    if isinstance(select, str):
        modules = Modules([Path(folder)])
        module = modules.load(select)
        function: SelectAction | None = attribute(module, *NAMES)
        if function is None:
            raise UsageError(f"{module.__file__}: a strategy has SelectAction(enabled); this one has none")
        return _kind(Path(select).stem, function, modules.random)
    return _kind(select.__name__, select, Random(0))


def _kind(name: str, select: SelectAction, random: Random) -> StrategyKind:
    def make(pool: Pool, _visits: VisitCounts) -> Chooser:
        # the strategy's module `random` draws from this generator
        random.seed(pool.random.random())
        return _Selecting(select)

    return StrategyKind(name, "a strategy of PyModel", (make,))


def tidying(strategy: str | StrategyKind, after: int) -> StrategyKind:
    """Return a strategy that takes only cleanup actions after `after` steps, until the path may end.

    Give the campaign more steps than `after`, so that steps are left for the cleanup. The number of cleanup steps
    corresponds to PyModel's option `-c`.

    >>> tidying("random", after=20).name
    'random, then cleanup'
    """
    base = known(strategy)

    def tidied(maker: Maker) -> Maker:
        return lambda pool, visits: _Tidying(maker(pool, visits), after, pool.random)

    makers = tuple(map(tidied, base.makers))
    return StrategyKind(f"{base.name}, then cleanup", f"{base.says}; cleanup after {after} steps", makers)


class _Selecting:
    """A chooser that calls a function of PyModel."""

    def __init__(self, select: SelectAction) -> None:
        self._select = select

    def choose(self, view: View) -> Symbol | None:
        offered = {inp.key: inp for inp in view.specified}
        chosen = self._select(_enabled(view, offered))
        try:
            name, args = chosen
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"SelectAction returned {show(chosen)}; return (name, arguments), or (None, None)"
            ) from error
        if not name:
            return None
        call = Call(name, frozen(tuple(args)))
        if key(call) not in offered:
            raise ModelError(
                f"SelectAction chose {call}, which is not enabled; enabled is {show(list(offered.values()))}"
            )
        return offered[key(call)]


class _Tidying:
    """A chooser that lets another choose for some steps, and then takes cleanup actions."""

    def __init__(self, inner: Chooser, after: int, random: Random) -> None:
        self._inner = inner
        self._left = after
        self._random = random

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if the run may end after the last step."""
        model = composition(view)
        if self._left:
            self._left -= 1
            return self._inner.choose(view)
        if all(model.accepting(node.value) for node in view.nodes):
            return None
        tidy = [inp for inp in view.specified if _call(inp).name in model.cleanup]
        return self._random.choice(tidy) if tidy else None


def composition(view: View) -> Composition:
    """Return the model of a view. Raises UsageError if it is not a PyModel one."""
    spec: Any = view.model.spec
    found = getattr(spec, "composition", spec)
    if not isinstance(found, Composition):
        raise UsageError(f"{spec.name}: a strategy of PyModel chooses for models of PyModel only")
    return found


def _call(inp: Symbol) -> Call:
    call: Call = inp.value  # type: ignore[assignment] # the inputs of a composition are calls
    return call


def _enabled(view: View, offered: dict[Any, Symbol]) -> list[tuple[Any, ...]]:
    model = composition(view)
    found: dict[Any, tuple[Any, ...]] = {}
    for node in view.nodes:
        for inp in offered.values():
            call = _call(inp)
            for then in model.effects(node.value, call.name, call.arguments):
                properties = {
                    "accepting": model.accepting(then.state),
                    "statefilter": True,
                    "stateinvariant": model.safe(then.state),
                }
                action = call.name, thawed(call.arguments), thawed(then.result)
                found[inp.key, key(then.state)] = (*action, _state(model, then.state), properties)
    return list(found.values())


def _state(model: Composition, state: Any) -> dict[str, Any]:  # noqa: ANN401 -- any state
    parts = zip(model.parts, model.split(state), strict=True)
    return {part.name: {n: thawed(v) for n, v in own} if isinstance(own, Attributes) else own for part, own in parts}
