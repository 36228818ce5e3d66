"""PyModel's model programs: actions over the variables of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from types import ModuleType
from typing import Any, Final, TypeAlias

from otf.compat.pymodel.parts import Args, Chosen, Effect, NamedArguments, Part, attribute, listed
from otf.errors import ModelError, UsageError
from otf.notations.actions import Attributes
from otf.notations.table import frozen, thawed
from otf.values import show
from otf.values.classes import parameters

ACCEPTING: Final = ("accepting", "Accepting")
FILTER: Final = ("state_filter", "statefilter", "StateFilter")
INVARIANT: Final = ("state_invariant", "stateinvariant", "StateInvariant")
RESET: Final = ("reset", "Reset")
Condition: TypeAlias = Callable[[], object] | None
_NOTHING: Final = (None,)  # in a domain: call the action without arguments


class ModelProgram(Part):
    """A module with `state` and `actions`. Only the variables named by `state` are saved, restored and compared.

    Enablers and domains must not change them.
    """

    def __init__(self, name: str, module: ModuleType, chosen: Chosen) -> None:
        left = chosen.of(listed(module, "actions"))
        super().__init__(name, module, chosen, left)
        self._vars: dict[str, Any] = vars(module)
        self._variables = _variables(module)
        self._actions = {each.__name__: each for each in left}
        self._arity = {each.__name__: _Arity(each) for each in left}
        self._enablers = {each.__name__: _enabler(module, each, self._arity[each.__name__]) for each in left}
        self._arguments = {each.__name__: _Arguments(module, each, self._arity[each.__name__]) for each in left}
        self._accepting: Condition = attribute(module, *ACCEPTING)
        self._filter: Condition = attribute(module, *FILTER)
        self._invariant: Condition = attribute(module, *INVARIANT)
        self.guarded = self._invariant is not None
        self.initial = self._first(module)
        self._held: Attributes | None = self.initial
        self.notes: tuple[str, ...] = tuple(self._reset(attribute(module, *RESET)))

    def offers(self, state: Attributes) -> Iterator[NamedArguments]:
        """Yield the enabled actions, with arguments from their domains."""
        self._hold(state)
        for name in self.actions:
            if name not in self.observed:
                yield from ((name, args) for args in self._arguments[name].all() if self._enabled(name, args))
            elif not self._arity[name].least:
                yield name, ()

    def effects(self, state: Attributes, name: str, args: Args, *, filtered: bool) -> Iterator[Effect]:
        """Yield the effect of an action if it is enabled, whatever its domain contains."""
        free = bool(args) and not self._arity[name].most
        given = () if free else args
        if not self._arity[name].fits(len(given)):
            return
        self._hold(state)
        if self._enabled(name, given):
            result, after, kept = self._done(name, given)
            # an action without parameters matches any arguments only if it has no result either
            if (kept or not filtered) and not (free and result is not None):
                yield Effect(result, after, free or (not given and result is None))

    def accepting(self, state: Attributes) -> bool:
        """Return whether a run may end there."""
        return self._asked(self._accepting, state)

    def safe(self, state: Attributes) -> bool:
        """Return whether the state invariant holds."""
        return self._asked(self._invariant, state)

    def _asked(self, test: Condition, state: Attributes) -> bool:
        if test is None:
            return True
        self._hold(state)
        return bool(test())

    def _enabled(self, name: str, args: Args) -> bool:
        enabler = self._enablers[name]
        return enabler is None or bool(enabler(args))

    def _done(self, name: str, args: Args) -> tuple[Any, Attributes, bool]:
        self._held = None
        result = frozen(self._actions[name](*map(thawed, args)))
        after = self._now()
        self._held = after
        return result, after, self._filter is None or bool(self._filter())

    def _now(self) -> Attributes:
        own = self._vars
        return Attributes([(name, frozen(own[name])) for name in self._variables])

    def _hold(self, state: Attributes) -> None:
        if state is not self._held:
            own = self._vars
            for name, value in state:
                own[name] = thawed(value)
            self._held = state

    def _reset(self, reset: Condition) -> Iterator[str]:
        if reset is None:
            return
        try:
            reset()
            after = show(self._now())
        except Exception as error:  # noqa: BLE001 -- it may raise anything: no path depends on it
            after = f"{type(error).__name__}: {error}"
        self._held = None
        if after != show(self.initial):
            begins = f"its import to {show(self.initial)}; every path begins as after the import"
            yield f"{self.name}: its reset leads to {after}, {begins}"

    def _first(self, module: ModuleType) -> Attributes:
        try:
            return self._now()
        except Exception as error:
            why = f"what `state` names cannot be copied: {type(error).__name__}: {error}"
            raise UsageError(f"{module.__file__}: {why}; name values that can be, and nothing that is open") from error


class _Arity:
    """The number of arguments that an action takes, and their names."""

    def __init__(self, action: Callable[..., Any]) -> None:
        found = parameters(action).values()
        plain = [each for each in found if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}]
        many = [each for each in found if each.kind is each.VAR_POSITIONAL]
        self.least = sum(each.default is each.empty for each in plain)
        self.most = float("inf") if many else len(plain)
        # a parameter such as *args has one domain for all its arguments
        self.names = [each.name for each in plain or many]
        self.needed = {each.name for each in plain if each.default is each.empty}

    def fits(self, number: int) -> bool:
        return self.least <= number <= self.most


class _Arguments:
    """All lists of arguments from an action's domains: their product, or the domains side by side."""

    def __init__(self, module: ModuleType, action: Callable[..., Any], arity: _Arity) -> None:
        domains: Mapping[str, Any] = _table(module, "domains").get(action, {})
        how = _table(module, "combinations").get(action, "all")
        if how not in {"all", "cases"}:
            raise UsageError(
                f"{module.__file__}: combinations of {action.__name__} is {show(how)}; write 'all' or 'cases'"
            )
        observed = action in (attribute(module, "observables") or ())
        missing = [each for each in arity.names if each in arity.needed and each not in domains]
        self._missing = (
            "" if observed or not missing else f"{module.__file__}: {action.__name__} has no domain for {missing[0]}"
        )
        self._columns: list[Any] = [domains[each] for each in arity.names if each in domains]
        self._side_by_side = how == "cases"

    def all(self) -> Iterator[Args]:
        if self._missing:
            raise ModelError(f"{self._missing}: give it one in `domains`, or make the action observable")
        columns = [_domain(each) for each in self._columns]
        rows: Iterable[Args] = zip(*columns, strict=False) if self._side_by_side else product(*columns)
        seen = dict.fromkeys(() if row == _NOTHING else tuple(map(frozen, row)) for row in rows)
        return iter(seen)


def _domain(given: Any) -> list[Any]:  # noqa: ANN401 -- a collection, or a function that returns one
    values: Any = given() if callable(given) else given
    return list(values)


def _variables(module: ModuleType) -> tuple[str, ...]:
    names = tuple(module.state)
    missing = [name for name in names if not hasattr(module, name)]
    if missing:
        raise UsageError(f"{module.__file__}: `state` names {missing[0]!r}, and there is no such variable")
    return names


def _enabler(module: ModuleType, action: Callable[..., Any], arity: _Arity) -> Callable[[Args], object] | None:
    given = _table(module, "enablers").get(action)
    if given is None:
        return None
    # PyModel ignores all but the first
    test: Callable[..., object] = given[0] if hasattr(given, "__getitem__") else given
    wants = _Arity(test)
    if not wants.most:
        return lambda _args: test()
    if not any(wants.fits(int(number)) for number in (arity.least, min(arity.most, wants.most))):
        names = f"{test.__name__} takes {wants.most:.0f} arguments, {action.__name__} {arity.most:.0f}"
        raise UsageError(f"{module.__file__}: the enabler {names}: give it the same, or none")
    return lambda args: test(*map(thawed, args))


def _table(module: ModuleType, name: str) -> Mapping[Any, Any]:
    found: Any = attribute(module, name)
    return found or {}
