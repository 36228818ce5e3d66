"""Walks through a system in the same process that answers before it returns: no event loop, no waiting, no events.

Quiescence costs nothing: when the call is over, everything that was emitted is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import islice
from random import Random
from typing import Any, TypeAlias

from otf.core import Chooser, Monitor, Oracle
from otf.core.fused import Table, Ways, events, follow
from otf.errors import USERS_OWN, OtfError
from otf.trace.events import Ended, Event
from otf.trace.verdict import Verdict
from otf.values import fresh
from otf.values.shape import shape

Act: TypeAlias = Callable[[Any], Iterable[object]]
"""A system: takes an input and returns the outputs that it brings."""

Step: TypeAlias = tuple[Any, tuple[object, ...]]


class Walk:
    """A walk through one copy of a system; it can be gone on with until there is a verdict.

    `verdict` is a failure as soon as there is one; `history` the inputs sent so far, each with its outputs. A system
    that raises has ended. ModelError where the model is broken, UsageError where it needs time.
    """

    def __init__(self, oracle: Oracle, act: Act) -> None:
        self.verdict: Verdict | None = None
        self.history: list[Step] = []
        self._oracle = oracle
        self._act = act
        self._ways = Ways.start(oracle)

    def uniform(self, random: Random, steps: int) -> Verdict:
        """Go so many steps with inputs drawn uniformly from those specified; the fastest there is.

        What the system raises comes out as it is.
        """
        oracle, act, ways, note, chance = self._oracle, self._act, self._ways, self.history.append, random.random
        for _ in range(steps):
            if not ways.size:
                break
            inp, table = ways.inputs[int(chance() * ways.size)]
            outputs: Any = act(inp)
            if outputs.__class__ is not tuple:
                outputs = tuple(outputs)
            # `follow`, unfolded: the call alone would cost a fifth of a step
            try:
                then = table.get(outputs)
            except TypeError:
                outputs, then = copied(outputs), None
            note((inp, outputs))
            if then is None or (then.shape is not None and then.shape != shape(outputs)):
                following = follow(oracle, ways, inp, table, outputs)
                if following is None:
                    return self._fail()
                ways = following
            else:
                ways = then.ways
        self._ways = ways
        return self.end()

    def chosen(self, chooser: Chooser, steps: int) -> Verdict | None:
        """Go so many steps with the inputs of a chooser; return the verdict if that was the end of the walk."""
        for _ in range(steps):
            inp = chooser.choose(self._ways.view)
            if inp is None:
                return self.end()
            # a script may send what the model does not offer
            table = self._ways.tables.setdefault(inp, {})
            if self._go(inp.value, table) is None:
                return self._fail()
        return None

    def end(self) -> Verdict:
        """Return the verdict of the walk as far as it went."""
        return self.verdict or self._ways.verdict

    def events(self, since: int = 0) -> Iterator[Event]:
        """Yield the events of the walk after so many of its steps; all times are 0."""
        for inp, outputs in islice(self.history, since, None):
            yield from events(self._oracle, inp, outputs)

    def _go(self, inp: object, table: Table) -> Ways | None:
        try:
            outputs = tuple(self._act(inp))
        except (OtfError, *USERS_OWN):
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever it raises, the system under test has died of it
            outputs = (Ended(f"raised {type(error).__name__}: {error}"),)
        self.history.append((inp, outputs := _kept(outputs)))
        following = follow(self._oracle, self._ways, inp, table, outputs)
        self._ways = following or self._ways
        return following

    def _fail(self) -> Verdict:
        """Return the failure, as a monitor sees it that is told the whole walk."""
        monitor = Monitor(self._oracle)
        for event in self.events():
            monitor.tell(event)
        self.verdict = monitor.end()
        return self.verdict


def _kept(outputs: tuple[object, ...]) -> tuple[object, ...]:
    try:
        hash(outputs)
    except TypeError:
        return copied(outputs)
    return outputs


def copied(outputs: tuple[object, ...]) -> tuple[object, ...]:
    """Return outputs as they are now: a system may go on with the list that it answered with."""
    try:
        return deepcopy(outputs)
    except Exception:  # noqa: BLE001 -- not everything can be copied: a lock in it, for one
        return tuple(map(fresh, outputs))
