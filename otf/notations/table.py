"""A model as a table of transitions: figure 8.1 of Koopman and Plasmeijer, "Testing Reactive Systems with GAST"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias

from otf.errors import ModelError, UsageError
from otf.spec import Spec, Transition
from otf.values import key, show

TableRow: TypeAlias = tuple[Any, Any, Any, Any]
FIRST: Any = object()  # the default of `initial`: the state of the first row


class Written(Spec[Any, Any]):
    """A spec that was not written as a function; returned by `table`, `actions`, `read_aut` and `read_dot`.

    `accepting(state)` returns whether a run may end in a state; None: in any state. `actions` are the names of its
    actions; None: unknown. `sources` are the texts that it was read from.

    >>> tea = table([("idle", "coin", [], "paid")], accepting=["paid"])
    >>> isinstance(tea, Written), tea.accepting("idle")
    (True, False)
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
    """Return the spec of a table with rows `(state, input, outputs, next_state)`; its inputs are those of the table.

    `initial` is the initial state, by default that of the first row. `accepting` are the states in which a run may end,
    by default all. `spontaneous` are rows `(state, outputs, next_state)` of transitions without an input. Raises
    UsageError for a wrong row, and ModelError for a state or input without a hash.

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
