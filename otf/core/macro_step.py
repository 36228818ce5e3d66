"""A whole step at once: an input, its outputs and quiescence, for systems that answer before they return.

By definition, the result is that of passing `Sent`, a `Seen` for each output, and `Quiet` to a monitor. A step that
occurred before takes one look-up, however many outputs it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

from otf.core.belief import Belief
from otf.core.compile import Routes
from otf.core.memory import Symbol
from otf.core.monitor import PASS, TRUNCATED, Monitor
from otf.core.oracle import Oracle
from otf.core.view import View
from otf.errors import UsageError
from otf.trace.events import Closed, Ended, Event, Quiet, Seen, Sent
from otf.trace.verdict import Verdict
from otf.values import key, likeness


class StepEnd(NamedTuple):
    """The result of a step, and the key of its outputs: equal outputs can differ in type."""

    ways: MacroSteps
    key: Hashable


StepTable: TypeAlias = dict[tuple[Any, ...], StepEnd]


class MacroSteps:
    """All steps from a set of possible states; a table maps each input with its outputs to the next possible states."""

    __slots__ = ("belief", "inputs", "size", "tables", "view")

    def __init__(self, oracle: Oracle, belief: Belief) -> None:
        self.belief: Belief = belief
        self.view: View = oracle.view(belief)
        self.tables: defaultdict[Symbol, StepTable] = defaultdict(dict)
        # plain attributes, since a walk reads them at each step
        self.inputs: tuple[tuple[object, StepTable], ...] = ()
        self.size: int = -1

    def specified(self) -> int:
        """Ask the model about each input, fill `inputs` and `size`, and return how many inputs the model specifies."""
        if self.size < 0:
            self.inputs = tuple((inp.value, self.tables[inp]) for inp in self.view.specified)
            self.size = len(self.inputs)
        return self.size

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of a path that ends in one of these possible states."""
        return TRUNCATED if self.belief.unconstrained else PASS

    @staticmethod
    def start(oracle: Oracle) -> MacroSteps:
        """Return the macro steps from the start of a path."""
        return MacroSteps.of(oracle, oracle.start())

    @staticmethod
    def of(oracle: Oracle, belief: Belief) -> MacroSteps:
        """Return the macro steps from a belief; each belief gets them only once."""
        ways = belief.ahead.get(MacroSteps)
        if not isinstance(ways, MacroSteps):
            ways = MacroSteps(oracle, belief)
            oracle.model.memory.put(belief.ahead, MacroSteps, ways, belief)
        else:
            oracle.model.memory.meet(belief)
        return ways


def events(oracle: Oracle, inp: object, outputs: tuple[object, ...]) -> list[Event]:
    """Return the events of a step; all times are 0, since nothing takes time."""
    routes = oracle.model.routes
    return [Sent(inp, routes.into(inp), 0.0), *[_seen(routes, output) for output in outputs], Quiet(0.0)]


def _seen(routes: Routes, output: object) -> Event:
    if isinstance(output, Ended):
        return Closed(routes.outputs[0], output.reason, 0.0)
    return Seen(output, routes.of(output), 0.0)


def find(
    oracle: Oracle, ways: MacroSteps, inp: object, outputs: tuple[object, ...], table: StepTable | None
) -> StepEnd | None:
    """Return the result of a step that did not occur before, or None if the model does not allow it.

    Remembers the result in the table, if there is one.
    """
    monitor = Monitor(oracle, ways.belief)
    passed = all(monitor.tell(event) is None for event in events(oracle, inp, outputs))
    if oracle.model.timed:
        message = "the model has time windows, and a system that answers before it returns takes no time"
        raise UsageError(f"{message}: put it behind otf.adapters.inprocess")
    if not passed:
        return None
    then = StepEnd(MacroSteps.of(oracle, monitor.belief), likeness(outputs))
    if table is None or outputs in table:
        return then
    return oracle.model.memory.put(table, outputs, then, ways.belief)


def follow(
    oracle: Oracle, ways: MacroSteps, inp: object, table: StepTable, outputs: tuple[object, ...]
) -> MacroSteps | None:
    """Return the `MacroSteps` that follow an input and its outputs, or None if the model does not allow the outputs."""
    try:
        then = table.get(outputs)
    except TypeError:
        # outputs without a hash, such as a list, cannot be looked up and are compared each time
        then = find(oracle, ways, inp, outputs, None)
        return None if then is None else then.ways
    if then is None or then.key != key(outputs):
        then = find(oracle, ways, inp, outputs, table)
    return None if then is None else then.ways
