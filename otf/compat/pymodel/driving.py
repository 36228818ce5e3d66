"""Systems for benches: one behind a stepper, whose results and observations are outputs, or a model in its place."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, TypeAlias

from otf.compat.pymodel.apart import Harness, LostStepperError
from otf.compat.pymodel.loading import Live
from otf.compat.pymodel.parts import Effect
from otf.compat.pymodel.product import Composition, plainly
from otf.core.walk import Act
from otf.errors import OtfError, UsageError
from otf.notations import Call
from otf.trace.events import Ended
from otf.values import key, show

MOMENT = 0.001  # seconds between two calls of a stepper whose wait() returns at once


@dataclass(frozen=True)
class StepperFailed:
    """The output when a stepper reports a failure of the system: `says` is the text that it returned.

    >>> StepperFailed("it is still open")
    StepperFailed(says='it is still open')
    """

    says: str


@dataclass(frozen=True)
class Waits:
    """Seconds to wait for observations: `brief` where the model allows one, `long` where it requires one.

    >>> Waits(long=5.0)
    Waits(brief=0.005, long=5.0)
    """

    brief: float = 0.005
    long: float = 1.0


class Driven:
    """A system behind a stepper, for one path. It follows the model, since a stepper is passed the expected result."""

    def __init__(self, spec: Live, harness: Harness, waits: Waits) -> None:
        self._spec = spec
        self._harness = harness
        self._waits = waits
        self._states: list[Any] = [spec.initial]
        self._early: list[Call] = []

    def __call__(self, call: Call) -> tuple[object, ...]:
        """Perform an action and return its outputs; if the stepper raised, the end of the system."""
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
        effects = [each for state in self._states for each in self._effects(state, call)]
        results = {key(each.result): each.result for each in effects}
        if len(results) > 1:
            found = " or ".join(map(show, results.values()))
            message = f"{call}: the model allows {found}, and a stepper is passed one result"
            raise UsageError(f"{message}: make the result an observable action")
        return next(iter(results.values()), None), list({key(each.state): each.state for each in effects}.values())

    def _effects(self, state: Any, call: Call) -> list[Effect]:  # noqa: ANN401 -- any state
        return list(self._spec.composition.effects(state, call.name, call.arguments))

    def _seen(self) -> list[Call]:
        seen = self._harness.seen()
        # an observation that the model does not allow now may have overtaken another; this is not the judge
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
        """Return later observations: as long as one has to come, and then those that come soon."""
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


class _KnownState:
    """A state, with the effects of the actions that were performed in it so far."""

    __slots__ = ("state", "ways")

    def __init__(self, state: Any) -> None:  # noqa: ANN401 -- any state
        self.state = state
        self.ways: dict[int, tuple[Call, list[_Way]]] = {}


_Way: TypeAlias = tuple[tuple[object, ...], _KnownState]


class StandIn:
    """Makes systems that follow a model; where it leaves a choice they draw lots, with another seed on each path.

    They remember effects, so that a step is a look-up. Observable actions never happen, and an action that is not
    enabled is ignored.
    """

    def __init__(self, spec: Composition, seed: int = 0) -> None:
        self._spec = spec
        self._seed = seed
        self._numbers = count(1)
        self._spots: dict[Hashable, _KnownState] = {}

    def __call__(self) -> Act:
        """Return a system for one path."""
        return self._acting(Random(f"{self._seed}/{next(self._numbers)}"))

    def _acting(self, random: Random) -> Callable[[Call], tuple[object, ...]]:
        spot = self._spot(self._spec.initial)

        def act(call: Call) -> tuple[object, ...]:
            nonlocal spot
            # a campaign sends the same objects again; each is kept, so that no other object gets its id
            known = spot.ways.get(id(call))
            if known is None:
                known = spot.ways[id(call)] = (call, self._effects_of(spot, call))
            ways = known[1]
            if not ways:
                return ()
            outputs, spot = ways[0] if len(ways) == 1 else random.choice(ways)
            return outputs

        return act

    def _spot(self, state: Any) -> _KnownState:  # noqa: ANN401 -- any state
        return self._spots.setdefault(key(state), _KnownState(state))

    def _effects_of(self, spot: _KnownState, call: Call) -> list[_Way]:
        happens = map(plainly, self._spec.effects(spot.state, call.name, call.arguments))
        return [(then.outputs, self._spot(then.state)) for then in happens]
