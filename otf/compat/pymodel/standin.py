"""A model of PyModel in the place of the system: what it did before is remembered, so that a step is a look-up."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from random import Random
from typing import Any, TypeAlias

from otf.compat.pymodel.product import Composition, plainly
from otf.fronts import Call
from otf.simulate.walk import Act
from otf.values import key


class _GraphSpot:
    """A state, and where the actions that were asked so far lead."""

    __slots__ = ("state", "ways")

    def __init__(self, state: Any) -> None:  # noqa: ANN401 -- any state
        self.state = state
        self.ways: dict[int, tuple[Call, list[_Way]]] = {}


_Way: TypeAlias = tuple[tuple[object, ...], _GraphSpot]


class StandIn:
    """Systems that do what a model says; where it leaves a choice, chance decides, another one on each path.

    What is observable does not come, and an action that is not enabled is ignored.
    """

    def __init__(self, spec: Composition, seed: int = 0) -> None:
        self._spec = spec
        self._seed = seed
        self._numbers = count(1)
        self._spots: dict[Hashable, _GraphSpot] = {}

    def __call__(self) -> Act:
        """Return a system for one path."""
        return self._acting(Random(f"{self._seed}/{next(self._numbers)}"))

    def _acting(self, random: Random) -> Callable[[Call], tuple[object, ...]]:
        spot = self._spot(self._spec.initial)

        def act(call: Call) -> tuple[object, ...]:
            nonlocal spot
            # a campaign sends the same objects again; each is kept, so that its number stays its own
            known = spot.ways.get(id(call))
            if known is None:
                known = spot.ways[id(call)] = (call, self._asked(spot, call))
            ways = known[1]
            if not ways:
                return ()
            outputs, spot = ways[0] if len(ways) == 1 else random.choice(ways)
            return outputs

        return act

    def _spot(self, state: Any) -> _GraphSpot:  # noqa: ANN401 -- any state
        return self._spots.setdefault(key(state), _GraphSpot(state))

    def _asked(self, spot: _GraphSpot, call: Call) -> list[_Way]:
        happens = map(plainly, self._spec.effects(spot.state, call.name, call.arguments))
        return [(then.outputs, self._spot(then.state)) for then in happens]
