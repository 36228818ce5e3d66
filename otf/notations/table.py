"""A model as a table of transitions: figure 8.1 of Koopman and Plasmeijer, "Testing Reactive Systems with GAST".

It also turns mutable values into immutable copies, and back, so that an object's state can be stored and compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from enum import Enum
from types import ModuleType
from typing import Any, Final, NamedTuple, Self, TypeAlias

from otf.errors import ModelError, UsageError
from otf.spec import Spec, Transition
from otf.values import key, show

TableRow: TypeAlias = tuple[Any, Any, Any, Any]
FIRST: Any = object()  # the default of `initial`: the state of the first row


class Written(Spec[Any, Any]):
    """A spec made from a table, a class or a file; `table`, `actions`, `read_aut` and `read_dot` return a `Written`.

    `accepting(state)` returns whether a path may end in a state; None allows every state. The `actions` are the names
    of the spec's actions, or None if they are unknown. The `sources` are the texts of the files from which the spec was
    read.

    >>> tea = table([("idle", "coin", [], "paid")], accepting=["paid"])
    >>> isinstance(tea, Written), tea.accepting("idle"), tea.specifies("idle", "coin")
    (True, False, True)
    """

    accepting: Callable[[Any], bool] | None
    actions: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()


def table(
    rows: Iterable[TableRow],
    *,
    initial: object = FIRST,
    accepting: Iterable[Any] | None = None,
    spontaneous: Iterable[tuple[Any, Any, Any]] = (),
    name: str = "table",
) -> Written:
    """Return the spec of a table with rows `(state, input, outputs, next_state)`.

    The inputs of the spec are the inputs in the table's rows. `initial` is the initial state (default: the state of the
    first row). `accepting` are the states in which a path may end (default: all). `spontaneous` are rows
    `(state, outputs, next_state)` of transitions without an input. `table` raises UsageError for a wrong row, and
    ModelError for a state or input without a hash.

    >>> tea = table([("idle", "coin", [], "paid"), ("paid", "button", ["tea"], "idle")])
    >>> list(tea.step("paid", "button"))
    [Transition(state='idle', outputs=('tea',), within=None)]
    """
    given = [_checked(number, row, 4) for number, row in enumerate(rows, 1)]
    alone = [_checked(number, row, 3) for number, row in enumerate(spontaneous, 1)]
    if not given and initial is FIRST:
        raise UsageError("a table without rows needs initial=…")
    moves = defaultdict[Hashable, list[Transition[Any]]](list)
    for state, inp, outputs, target in given:
        moves[key(state), key(inp)].append(Transition(target, _outputs(outputs)))
    ticks = defaultdict[Hashable, list[Transition[Any]]](list)
    for state, outputs, target in alone:
        ticks[key(state)].append(Transition(target, _outputs(outputs)))

    def step(state: Any, inp: Any) -> list[Transition[Any]]:  # noqa: ANN401 -- any values of the table
        return moves.get((key(state), key(inp)), [])

    def emits(state: Any) -> list[Transition[Any]]:  # noqa: ANN401 -- as above
        return ticks.get(key(state), [])

    inputs = {key(inp): inp for _, inp, _, _ in given}
    start = given[0][0] if initial is FIRST else initial
    made = Written(step, start, tuple(inputs.values()), emits if alone else None, name=name)
    object.__setattr__(made, "accepting", None if accepting is None else _member(accepting))
    return made


def _checked(number: int, row: Any, length: int) -> Any:  # noqa: ANN401 -- a row of a table
    form = "(state, input, outputs, next_state)" if length == 4 else "(state, outputs, next_state)"  # noqa: PLR2004 -- as above
    if type(row) not in {tuple, list} or len(row) != length:
        raise UsageError(f"row {number} of the table is {show(row)}; write {form}")
    try:
        for each in (*row[: length - 2], row[-1]):
            key(each)
    except TypeError as error:
        raise ModelError(f"row {number} of the table, {show(row)}: {error}") from error
    return row


def _outputs(outputs: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- as the table has them
    return tuple(outputs) if type(outputs) in {tuple, list} else (outputs,)


def _member(accepting: Iterable[Any]) -> Callable[[Any], bool]:
    known = {key(state) for state in accepting}
    return lambda state: key(state) in known


_PLAIN: Final = frozenset({int, str, bool, float, bytes, type(None)})


class Frozen(NamedTuple):
    """An immutable copy of a list, set or dict."""

    kind: str
    items: Any

    def __repr__(self) -> str:
        """Return the text of the original."""
        return repr(thawed(self))


class Copied:
    """A copy of an object that is mutable, or lacks `==`; compared by its contents."""

    __slots__ = ("_holds", "_value")

    def __init__(self, value: Any) -> None:  # noqa: ANN401 -- any object
        self._value = deepcopy(value)
        self._holds: tuple[Any, ...] = (value.__class__, _contents(value))

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same contents."""
        return isinstance(other, Copied) and key(self._holds) == key(other._holds)

    def __hash__(self) -> int:
        """Return the hash of the contents."""
        return hash(key(self._holds))

    def __repr__(self) -> str:
        """Return the text of the object."""
        return repr(self._value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: its contents never change."""
        return self

    def copy(self) -> Any:  # noqa: ANN401 -- any object
        """Return a fresh copy of the object."""
        return deepcopy(self._value)


def frozen(value: Any) -> Any:  # noqa: ANN401 -- any value of a state
    """Return an immutable copy of a value, with all its parts."""
    kind: Any = value.__class__
    if kind in _PLAIN:
        return value
    if kind is list:
        return Frozen("list", _all(value))
    if kind is tuple:
        return _all(value)
    if kind is set:
        return Frozen("set", frozenset(map(frozen, value)))
    if kind is dict:
        pairs = [(frozen(each), frozen(item)) for each, item in value.items()]
        # dicts compare regardless of the order of their items
        return Frozen("dict", tuple(sorted(pairs, key=lambda pair: repr(key(pair[0])))))
    return value if _lasts(value, kind) else Copied(value)


def thawed(value: Any) -> Any:  # noqa: ANN401 -- as above
    """Return a fresh mutable value from its immutable copy."""
    kind: Any = value.__class__
    if kind in _PLAIN:
        return value
    if kind is Frozen:
        parts = _fresh(value.items)
        return parts if value.kind == "list" else set(parts) if value.kind == "set" else dict(parts)
    if kind is tuple:
        return tuple(_fresh(value))
    return value.copy() if kind is Copied else deepcopy(value)


def _all(values: Iterable[Any]) -> tuple[Any, ...]:
    # a fast path: most values are plain, and each transition freezes and thaws a state
    return tuple([each if each.__class__ in _PLAIN else frozen(each) for each in values])


def _fresh(values: Iterable[Any]) -> list[Any]:
    return [each if each.__class__ in _PLAIN else thawed(each) for each in values]


def _lasts(value: Any, kind: Any) -> bool:  # noqa: ANN401 -- any value and its class
    """Return whether a value can be part of a state without a copy: it defines `==`, or is a singleton."""
    if callable(value) or isinstance(value, Enum | ModuleType | Frozen | Copied):
        return True
    return kind.__hash__ is not None and kind.__eq__ is not object.__eq__


def _contents(value: Any) -> Any:  # noqa: ANN401 -- any object
    """Return the contents of an object, as pickle would collect them, without pickling."""
    made: Any = value.__reduce_ex__(4)
    if isinstance(made, str):
        return made  # the name of a global
    _, args, state, items, pairs = (*made, None, None, None)[:5]
    return frozen(args), frozen(state), _all(items or ()), _all(pairs or ())
