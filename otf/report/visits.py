"""Which states and transitions a run went through, as far as what was seen tells it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from otf.core import Model, Monitor, Place, Symbol
from otf.report.space import Edge, Pair, Space
from otf.trace.events import Event, Sent


@dataclass
class Visits:
    """What all runs together went through of what there is.

    A transition counts where some explanation of what was seen goes through it. What a completed model adds (that what
    is unspecified is ignored) does not count.
    """

    space: Space
    states: set[Hashable] = field(default_factory=set[Hashable])
    pairs: set[Pair] = field(default_factory=set[Pair])
    edges: set[Edge] = field(default_factory=set[Edge])

    def tried(self, place: Place, inp: Symbol) -> None:
        """Take that an input was sent in a state."""
        if (place.key, inp.key) in self.space.pairs:
            self.pairs.add((place.key, inp.key))

    def went(self, place: Place, inp: Symbol, target: Place) -> None:
        """Take that an input led from one state to another."""
        self.tried(place, inp)
        self.states.update((place.key, target.key))
        if (place.key, inp.key, target.key) in self.space.edges:
            self.edges.add((place.key, inp.key, target.key))


class Walker:
    """Follows one run: is told each event, with the monitor that has been told it."""

    def __init__(self, visits: Visits, model: Model) -> None:
        self._visits, self._model = visits, model
        self._places = frozenset({model.initial})
        self._inputs: list[Symbol] = []
        visits.states.add(model.initial.key)

    def event(self, event: Event, monitor: Monitor) -> None:
        """Take an event. Where everything is settled, the inputs since the last time led to the states of now."""
        if isinstance(event, Sent):
            self._inputs.append(self._model.symbol(event.input))
        if monitor.verdict is None and monitor.belief.settled:
            self._settle(frozenset(monitor.states))

    def end(self) -> None:
        """Take the end of the run: what was sent last was tried, and nobody knows where it led to."""
        places = self._places
        for inp in self._inputs:
            for place in places:
                self._visits.tried(place, inp)
            places = frozenset(target for place in places for target in self._targets(place, inp))

    def _settle(self, now: frozenset[Place]) -> None:
        layers = [_closed(self._model, self._places)]
        for inp in self._inputs:
            after = (target for place in layers[-1] for target in self._targets(place, inp))
            layers.append(_closed(self._model, after))
        # backwards: of all that was possible only that remains which leads to where the run is now
        right = layers[-1] & now or layers[-1]
        for inp, before in zip(reversed(self._inputs), reversed(layers[:-1]), strict=True):
            right = self._through(before, inp, right)
        self._visits.states.update(place.key for place in now)
        self._places, self._inputs = now, []

    def _through(self, before: frozenset[Place], inp: Symbol, after: frozenset[Place]) -> frozenset[Place]:
        used: set[Place] = set()
        for place in before:
            for target in self._targets(place, inp):
                if target in after or not _closed(self._model, [target]).isdisjoint(after):
                    used.add(place)
                    self._visits.went(place, inp, target)
        return frozenset(used)

    def _targets(self, place: Place, inp: Symbol) -> list[Place]:
        return [move.target for move in self._model.moves(place, inp) if isinstance(move.target, Place)]


def _closed(model: Model, places: Iterable[Place]) -> frozenset[Place]:
    """Return places with those that unasked transitions lead to."""
    found = set(places)
    left = list(found)
    while left:
        for move in model.unasked(left.pop()):
            if isinstance(move.target, Place) and move.target not in found:
                found.add(move.target)
                left.append(move.target)
    return frozenset(found)
