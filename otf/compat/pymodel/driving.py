"""The system behind a stepper, whose results and observations are outputs.

Behind a live system, observations may have any arguments, and sometimes one is required.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from otf.compat.pymodel.apart import LostStepperError, Stepper, StepperProcess
from otf.compat.pymodel.parts import Effect
from otf.compat.pymodel.product import Composition, plainly
from otf.errors import OtfError, UsageError
from otf.notations import Call
from otf.spec import Accept, Spec, Transition
from otf.trace.events import Ended
from otf.values import key, show

MOMENT = 0.001  # seconds between two calls of a stepper whose wait() returns at once


class Live(Spec[Any, Call]):
    """The spec of a system that a PyModel stepper drives.

    `composition` contains the models, and `sources` are the texts of the models' modules. otf judges an observable
    action by its enabler alone, and ignores the domain of its arguments. Silence is a failure in a state where the
    model enables only observable actions and a path may not end.

    If `ordered` is false, each observable action has a port of its own, so different actions may overtake each other.
    If each observable action has its own port, `ports` lists the names of the observable actions; otherwise it is
    empty. Use `ordered=False` for a stepper with threads, since threads put observations into the stepper's queue in
    any order.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.compat.pymodel import load
    >>> bell = '''
    ... def ring(): pass
    ... state = ()
    ... actions = observables = (ring,)
    ... accepting = lambda: False
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "Bell.py").write_text(bell)
    ...     live = Live(load("Bell", folder=folder).spec, ordered=False)
    >>> live.ports, live.must(live.initial)
    (('ring',), True)
    """

    def __init__(self, composition: Composition, *, ordered: bool = True) -> None:
        self.composition = composition
        self.sources: tuple[str, ...] = composition.sources
        self.ports: tuple[str, ...] = () if ordered else tuple(sorted(composition.observed))
        base = composition
        emits = self._emits if base.observed else None
        super().__init__(self._step, base.initial, base.inputs, emits, name=base.name)

    @property
    def accepting(self) -> Any:  # noqa: ANN401 -- a function of any state
        """Return a function that says whether a path may end in a state."""
        return self.composition.accepting

    @property
    def invariant(self) -> Any:  # noqa: ANN401 -- as above
        """Return a function that says whether the models' invariants hold in a state; None if the models have none."""
        return self.composition.invariant

    def observe(self, states: Iterable[Any], output: object) -> list[Any]:
        """Return the possible states after an observation; the list is empty if no state enables the observation."""
        if not isinstance(output, Call) or output.name not in self.composition.observed:
            return []
        ways = (self.composition.effects(state, output.name, output.arguments, filtered=False) for state in states)
        return list({key(then.state): then.state for each in ways for then in each}.values())

    def must(self, state: Any) -> bool:  # noqa: ANN401 -- any state
        """Return whether the system must do an observable action in this state.

        The system must do so if no other action is enabled, and a path may not end here.
        """
        base = self.composition
        if not base.observed or base.accepting(state):
            return False
        tries = base.enabled(state, observed=False)
        return not any(True for named in tries for _ in base.effects(state, *named))

    def _step(self, state: Any, call: Call) -> Iterator[Transition[Any] | Accept]:  # noqa: ANN401 -- any state
        if call.name not in self.composition.observed:
            for then in self.composition.effects(state, call.name, call.arguments):
                # an `Accept` concerns one port, and a result comes on another: one transition cannot have both
                if self.must(then.state) and (then.result is None or not self.ports):
                    yield from self._awaiting(then)
                else:
                    yield plainly(then)

    def _emits(self, state: Any) -> Iterator[Accept]:  # noqa: ANN401 -- any state
        yield from self._awaiting(Effect(None, state))

    def _awaiting(self, then: Effect) -> Iterator[Accept]:
        after = partial(self._after, then)

        def complete(seen: tuple[Any, ...]) -> bool:
            states = after(seen)
            return bool(self.ports) or not states or not all(map(self.must, states))

        for port in self.ports or ("",):
            yield Accept(after, port=port, until=complete)

    def _after(self, then: Effect, seen: tuple[Any, ...]) -> list[Any]:
        if then.result is not None:
            if not seen or key(seen[0]) != key(then.result):
                return []
            seen = seen[1:]
        states = [then.state]
        for output in seen:
            states = self.observe(states, output)
        return states


@dataclass(frozen=True)
class StepperFailed:
    """The output of a system whose stepper reports a failure; `says` is the text that the stepper returned.

    >>> StepperFailed("it is still open")
    StepperFailed(says='it is still open')
    """

    says: str


@dataclass(frozen=True)
class Waits:
    """How many seconds otf waits for the observations of a stepper.

    otf waits `brief` seconds if the model allows an observation, and `long` seconds if the model requires one.

    >>> Waits(long=5.0)
    Waits(brief=0.005, long=5.0)
    """

    brief: float = 0.005
    long: float = 1.0


class Driven:
    """A system behind a stepper, for one path.

    `Driven` follows the model, because a stepper receives the expected result with each action.
    """

    def __init__(self, spec: Live, harness: Stepper | StepperProcess, waits: Waits) -> None:
        self._spec = spec
        self._harness = harness
        self._waits = waits
        self._states: list[Any] = [spec.initial]
        self._early: list[Call] = []

    def __call__(self, call: Call) -> tuple[object, ...]:
        """Perform an action and return its outputs, or the end of the system if the stepper raised."""
        try:
            return tuple(self._outputs(call))
        except OtfError:
            raise
        except LostStepperError as error:
            return (Ended(str(error)),)
        except Exception as error:  # noqa: BLE001 -- an exception of a stepper is a failed test, as in PyModel
            return (Ended(f"raised {type(error).__name__}: {error}"),)

    def _outputs(self, call: Call) -> list[object]:
        # observations since the last action come before this one
        before = self._seen()
        expected, states = self._expected(call)
        failed = self._harness.test(call, expected)
        if failed is not None:
            return [*before, StepperFailed(failed)]
        self._states = states
        result = [] if expected is None else [expected]
        return [*before, *result, *self._seen(), *self._later()]

    def _expected(self, call: Call) -> tuple[Any, list[Any]]:
        of = self._spec.composition.effects
        effects = [each for state in self._states for each in of(state, call.name, call.arguments)]
        results = {key(each.result): each.result for each in effects}
        if len(results) > 1:
            found = " or ".join(map(show, results.values()))
            message = f"{call}: the model allows {found}, and a stepper is passed one result"
            raise UsageError(f"{message}: make the result an observable action")
        return next(iter(results.values()), None), list({key(each.state): each.state for each in effects}.values())

    def _seen(self) -> list[Call]:
        seen = self._harness.seen()
        # an observation that the model does not allow now may have overtaken another; judging happens elsewhere
        self._early += seen
        while any(self._follows(each) for each in self._early):
            pass
        return seen

    def _follows(self, observed: Call) -> bool:
        states = self._spec.observe(self._states, observed)
        if states:
            self._states = states
            self._early.remove(observed)
        return bool(states)

    def _later(self) -> list[Call]:
        """Return later observations: wait while one is required, and then for those that come soon."""
        found = list[Call]()
        while self._harness.waits:
            must = bool(self._states) and all(map(self._spec.must, self._states))
            more = self._wait_for(self._waits.long if must else self._waits.brief)
            if not more:
                break
            found += more
        return found

    def _wait_for(self, seconds: float) -> list[Call]:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._harness.wait(left)
            more = self._seen()
            if more:
                return more
            time.sleep(min(MOMENT, left))
        return []
