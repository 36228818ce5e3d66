"""A model as a table of transitions: figure 8.1 of Koopman and Plasmeijer, "Testing Reactive Systems with GAST"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias

from otf.errors import ModelError, UsageError
from otf.spec import Spec, Transition
from otf.values import key, show

TableRow: TypeAlias = tuple[Any, Any, Any, Any]
FIRST: Any = object()  # the state of the first row, where no other is said to be the initial one


class Written(Spec[Any, Any]):
    """A spec that was written otherwise than as a function.

    `accepting` are the states in which it may end, None: in all; `actions` the names of its actions, None: not known.
    """

    accepting: Callable[[Any], bool] | None
    actions: tuple[str, ...] | None = None


def table(
    rows: Iterable[TableRow],
    *,
    initial: object = FIRST,
    accepting: Iterable[Any] | None = None,
    spontaneous: Iterable[tuple[Any, Any, Any]] = (),
    name: str = "table",
) -> Written:
    """Return the spec of a table of `(state, input, outputs, next_state)`; its inputs are those of the table.

    `spontaneous` are rows of `(state, outputs, next_state)` that come by themselves. `initial`: that of the first row.

    >>> tea = table([("idle", "coin", [], "paid"), ("paid", "button", ["tea"], "idle")])
    >>> list(tea.step("paid", "button"))
    [Transition(state='idle', outputs=('tea',), within=None)]
    """
    asked = [_checked(number, row, 4) for number, row in enumerate(rows, 1)]
    alone = [_checked(number, row, 3) for number, row in enumerate(spontaneous, 1)]
    if not asked and initial is FIRST:
        raise UsageError("a table without rows needs initial=…")
    moves = defaultdict[Hashable, list[Transition[Any]]](list)
    for state, inp, outputs, target in asked:
        moves[key(state), key(inp)].append(Transition(target, _outputs(outputs)))
    ticks = defaultdict[Hashable, list[Transition[Any]]](list)
    for state, outputs, target in alone:
        ticks[key(state)].append(Transition(target, _outputs(outputs)))

    def step(state: Any, inp: Any) -> list[Transition[Any]]:  # noqa: ANN401 -- whatever the table holds
        return moves.get((key(state), key(inp)), [])

    def emits(state: Any) -> list[Transition[Any]]:  # noqa: ANN401 -- as above
        return ticks.get(key(state), [])

    inputs = {key(inp): inp for _, inp, _, _ in asked}
    start = asked[0][0] if initial is FIRST else initial
    made = Written(step, start, tuple(inputs.values()), emits if alone else None, name=name)
    object.__setattr__(made, "accepting", None if accepting is None else _member(accepting))
    return made


def _checked(number: int, row: Any, length: int) -> Any:  # noqa: ANN401 -- a row of a table
    form = "(state, input, outputs, next_state)" if length == 4 else "(state, outputs, next_state)"  # noqa: PLR2004 -- as above
    if type(row) not in {tuple, list} or len(row) != length:
        message = f"row {number} of the table is {show(row)}; write {form}"
        raise UsageError(message)
    try:
        for each in (*row[: length - 2], row[-1]):
            key(each)
    except TypeError as error:
        message = f"row {number} of the table, {show(row)}: {error}"
        raise ModelError(message) from error
    return row


def _outputs(outputs: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- as the table has them
    return tuple(outputs) if type(outputs) in {tuple, list} else (outputs,)


def _member(accepting: Iterable[Any]) -> Callable[[Any], bool]:
    known = {key(state) for state in accepting}
    return lambda state: key(state) in known
