"""Walks through a system in this process that answers before the call returns: no event loop and no waiting.

Quiescence costs no time: when the call returns, all outputs are there. `bounded` cuts off endless answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias

from otf.core import Chooser, Monitor, Node, Oracle, Symbol
from otf.core.belief import Ledger
from otf.core.commands import GoesPast
from otf.core.macro_step import MacroSteps, StepTable, events, follow
from otf.core.properties import PropertyWatch, violated
from otf.errors import USERS_OWN, OtfError, UsageError
from otf.temporal import PropertyStep
from otf.trace.events import Closed, Ended, Event, Guess
from otf.trace.verdict import Failure, Verdict
from otf.values import fresh, key, show
from otf.values.arguments import brief
from otf.values.identity import weight
from otf.values.raised import definition, describe, traced


class RandomNumbers(Protocol):
    """A source of random numbers, such as `random.Random`."""

    def random(self) -> float:
        """Return a number from 0 up to, but not including, 1."""
        ...


Act: TypeAlias = Callable[[Any], Iterable[object]]
"""A system: takes an input and returns its outputs."""

KEPT: Final = 1_000
"""Steps of a walk that are kept: all of them would fill the memory."""

WalkStep: TypeAlias = tuple[Any, tuple[object, ...]]


class Walk:
    """Tests one copy of a system in this process, step by step, without a clock and without ports.

    The `verdict` is None until a failure. The number of inputs sent is `steps`. The `history` holds the last `keep`
    inputs with their outputs (None: all). If `goes_past` is true for a failure, `chosen` goes on after the failure,
    from a guess of the system's state. An exception in the system ends the walk. `Walk` raises ModelError if the model
    is broken, and UsageError if the model has time windows.

    >>> from random import Random
    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"])))
    >>> walk = Walk(oracle, lambda inp: ["click"])
    >>> walk.uniform(Random(1), steps=10).outcome, walk.steps
    ('pass', 10)
    """

    def __init__(self, oracle: Oracle, act: Act, keep: int | None = KEPT, goes_past: GoesPast | None = None) -> None:
        self.verdict: Verdict | None = None
        self._goes_past = goes_past
        # the failures that the walk went past, and the numbers of their steps
        self._past: tuple[Failure, ...] = ()
        self._guesses = set[int]()
        self.history: deque[WalkStep] = deque(maxlen=keep)
        self.steps: int = 0
        self._outputs = 0
        self._oracle = oracle
        self._act = act
        self._ways = MacroSteps.start(oracle)
        self._watch = PropertyWatch.start(oracle.properties) if oracle.properties else None
        self._raised: BaseException | None = None

    def uniform(self, random: RandomNumbers, steps: int) -> Verdict:
        """Send `steps` inputs, drawn evenly from the specified inputs; no other method is as fast.

        An exception in the system ends `uniform` with that exception.
        """
        if self._watch is not None:
            return self._watched(random, steps)
        oracle, act, ways, note, chance = self._oracle, self._act, self._ways, self.history.append, random.random
        emitted = taken = 0
        for taken in range(steps):
            if ways.size < 1 and not ways.specified():
                break
            inp, table = ways.inputs[int(chance() * ways.size)]
            outputs: Any = act(inp)
            if outputs.__class__ is not tuple:
                outputs = tuple(outputs)
            # `follow`, inlined: the call alone would cost a fifth of a step
            try:
                then = table.get(outputs)
            except TypeError:
                outputs, then = copied(outputs), None
            note((inp, outputs))
            emitted += len(outputs)
            if then is None or then.key != key(outputs):
                following = follow(oracle, ways, inp, table, outputs)
                if following is None:
                    self._advance(ways, taken + 1, emitted)
                    return self._fail().end()
                ways = following
            else:
                ways = then.ways
        else:
            taken = steps
        self._advance(ways, taken, emitted)
        return self.end()

    def chosen(self, chooser: Chooser, steps: int) -> Verdict | None:
        """Send `steps` inputs that the chooser chooses; return the verdict if the walk has ended."""
        for _ in range(steps):
            inp = chooser.choose(self._ways.view)
            if inp is None:
                return self.end()
            # a script may send an input that is not enabled
            table = self._ways.tables[inp]
            nodes = self._ways.view.nodes
            if self._go(inp.value, table) is None:
                self._go_past(self._fail(), nodes, inp)
            if self.verdict is not None:
                return self.verdict
        return None

    def _watched(self, random: RandomNumbers, steps: int) -> Verdict:
        """Take `steps` steps with inputs drawn uniformly, one by one, so that properties can be followed."""
        for _ in range(steps):
            ways = self._ways
            if ways.size < 1 and not ways.specified():
                break
            if self._go(*ways.inputs[int(random.random() * ways.size)]) is None:
                self._fail()
            if self.verdict is not None:
                break
        return self.end()

    def ended(self, error: BaseException) -> Closed:
        """Judge that the system ended by an error after the last input, and return that event."""
        monitor = Monitor(self._oracle, self._ways.belief)
        monitor.events, monitor.ledger = self._before(self.steps, self._outputs), Ledger(sent=self.steps)
        monitor.past = self._past
        event = Closed(self._oracle.model.routes.outputs[0], f"raised {describe(error)}", 0.0)
        monitor.tell(event)
        self.verdict = _traced(monitor.end(), error)
        return event

    def end(self) -> Verdict:
        """Return the verdict of the walk so far."""
        return self.verdict or self._ways.verdict.after(self._past)

    def events(self, since: int = 0) -> Iterator[Event]:
        """Yield the events of the inputs in `history` after the input number `since`; all times are 0."""
        first = max(0, len(self.history) - (self.steps - since))
        number = self.steps - len(self.history) + first
        for inp, outputs in islice(self.history, first, None):
            yield from events(self._oracle, inp, outputs)
            number += 1
            if number in self._guesses:
                yield Guess(0.0)

    def _advance(self, ways: MacroSteps, steps: int, outputs: int) -> None:
        self._ways = ways
        self.steps += steps
        self._outputs += outputs

    def _note(self, inp: object, outputs: tuple[object, ...]) -> None:
        self.steps += 1
        self._outputs += len(outputs)
        self.history.append((inp, outputs))

    def _go(self, inp: object, table: StepTable) -> MacroSteps | None:
        try:
            outputs = tuple(self._act(inp))
        except (OtfError, *USERS_OWN):
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever it raises, the system under test has ended with it
            outputs = (Ended(f"raised {describe(error)}"),)
            self._raised = error
        self._note(inp, outputs := _kept(outputs))
        following = follow(self._oracle, self._ways, inp, table, outputs)
        self._ways = following or self._ways
        if following is not None and self._watch is not None:
            broken = self._watch.take(PropertyStep(inp, outputs))
            if broken is not None:
                self.verdict = violated(broken, 2 * self.steps + self._outputs)
        return following

    def _fail(self) -> Monitor:
        """Return a monitor that has found the failure after the events of the whole walk."""
        inp, outputs = self.history[-1]
        monitor = Monitor(self._oracle, self._ways.belief)
        monitor.events = self._before(self.steps - 1, self._outputs - len(outputs))
        monitor.ledger, monitor.past = Ledger(sent=self.steps - 1), self._past
        for event in events(self._oracle, inp, outputs):
            monitor.tell(event)
        self.verdict = _traced(monitor.end(), self._raised)
        return monitor

    def _before(self, steps: int, outputs: int) -> int:
        """Return the number of events of `steps` steps: inputs, outputs, quiescence and guesses."""
        return 2 * steps + outputs + len(self._past)

    def _go_past(self, monitor: Monitor, nodes: tuple[Node, ...], inp: Symbol) -> None:
        """Go past a failure if it is known, by a guess of the state."""
        failure = None if monitor.verdict is None else monitor.verdict.failure
        if self._goes_past is None or failure is None or not self._goes_past(nodes, inp, failure):
            return
        monitor.tell(Guess(0.0))
        if monitor.verdict is None:
            self._past, self.verdict = monitor.past, None
            self._guesses.add(self.steps)
            self._oracle, self._watch = monitor.oracle, None
            self._ways = MacroSteps.of(self._oracle, monitor.belief)


def _traced(verdict: Verdict, error: BaseException | None) -> Verdict:
    """Return a verdict whose failure says where the system raised the error that ended it."""
    if error is None or verdict.failure is None:
        return verdict
    return replace(verdict, failure=replace(verdict.failure, note=traced(error)))


def _kept(outputs: tuple[object, ...]) -> tuple[object, ...]:
    try:
        hash(outputs)
    except TypeError:
        return copied(outputs)
    return outputs


def copied(outputs: tuple[object, ...]) -> tuple[object, ...]:
    """Return a copy of outputs: a system may change a list that it returned."""
    try:
        return deepcopy(outputs)
    except Exception:  # noqa: BLE001 -- not everything can be copied, such as a lock inside it
        return tuple(map(fresh, outputs))


OUTPUTS: Final = 20_000
"""The most outputs to one input."""

HEAVY: Final = 1 << 26
"""Their most bytes, if they come one by one."""

_FEW: Final = 1_000  # outputs that are not weighed one by one: hardly any answer has more


class Cut(Ended):
    """The end of an answer that was cut off."""


def bounded(act: Act, died: list[BaseException] | None = None) -> Act:
    """Return the system as one that cuts off endless answers, and raises the errors in `died`.

    >>> from itertools import count
    >>> [*bounded(lambda _inp: count())("go")][-1]
    Cut(reason='the system gave more than 20000 outputs to one input')
    """

    def acting(inp: Any) -> Iterable[object]:  # noqa: ANN401 -- any input
        outputs = act(inp)
        if died:
            raise died.pop(0)
        # a tuple or list takes no more room than it already does, and most answers are one
        if isinstance(outputs, (tuple, list)) and len(outputs) <= OUTPUTS:
            return outputs
        if isinstance(outputs, (str, bytes)) or not isinstance(outputs, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- a user's function may return anything
            message = (
                f"the system returned {brief(outputs)} for the input {show(inp)}; return a list of outputs, [] for none"
            )
            raise UsageError(message + definition(act))
        return tuple(_limited(outputs))

    return acting


def excused(verdict: Verdict, walk: Walk) -> Verdict:
    """Return the verdict of a walk: inconclusive if an answer was cut off and nothing else is wrong."""
    if verdict.failure is None or verdict.failure.kind != "ended":
        return verdict
    _, outputs = walk.history[-1]
    return Verdict("inconclusive", why=outputs[-1].reason) if isinstance(outputs[-1], Cut) else verdict


def _limited(outputs: Iterable[object]) -> Iterator[object]:
    answer = iter(outputs)
    few = list(islice(answer, _FEW))
    yield from few
    given, size = len(few), sum(map(weight, few)) if len(few) == _FEW else 0
    for output in answer:
        given, size = given + 1, size + weight(output)
        if given > OUTPUTS or size > HEAVY:
            most = f"{OUTPUTS} outputs" if given > OUTPUTS else f"{HEAVY} bytes of outputs"
            yield Cut(f"the system gave more than {most} to one input")
            return
        yield output
