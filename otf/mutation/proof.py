"""The proof that a mutant conforms: whatever it does, the model may do, now and for ever after.

It looks for a simulation: a set of pairs of a state of the mutant and a state of the model. Each transition of the
mutant must match one of the model, with the same times, and lead to a pair of the set. The mutant must take each input
that the model specifies, and do in time what the model requires. If the pair of the initial states is in such a set,
every trace of the mutant is one of the model. Simulations: Milner 1971; with inputs the other way round: Alur,
Henzinger, Kupferman, Vardi 1998. That is stronger than trace inclusion: it proves nothing wrongly, and a mutant excused
only by trace inclusion stays unproved. It needs no oracle, and holds for models with time.

Pairs of equal states are in the set wherever the mutant is right. So the search begins at all places where it is wrong,
and ends where both are in the same state again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from otf.errors import ModelError
from otf.mutation.choice import ModelMutant
from otf.mutation.examples import (
    ModelWay,
    Row,
    completed_by,
    following,
    in_time,
    is_free,
    received,
    rest_of,
    rows,
    width,
)
from otf.mutation.hunt import Hunt
from otf.mutation.places import Places, StateInput
from otf.spec import Accept, Spec, Transition
from otf.values import key, show

WORK: Final = 400_000  # transitions to compare: some seconds
LITTLE: Final = 5_000  # the same for the known places of one rule
CHAIN: Final = 3  # most transitions of the model, spontaneous ones, that one of the mutant may stand for

Pair: TypeAlias = tuple[Hashable, Hashable]
PLACES: Final[Pair] = ("the places of a rule", "")
CHECKED: Final = 100  # pairs after which to check for a difference, then twice as many


class Duty(NamedTuple):
    """What the mutant has to do on an input (None: spontaneously): it must lead to one of these pairs."""

    input: Any
    pairs: list[Pair]


@dataclass(slots=True)
class Simulation:
    """The search for a simulation. `allowed` lists, in words, the loose expectations that it relied on."""

    mutant: ModelMutant
    hunt: Hunt
    places: Places
    allowed: dict[str, None] = field(default_factory=dict[str, None])
    work: int = 0
    _states: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _duties: dict[Pair, list[Duty]] = field(default_factory=dict[Pair, list[Duty]])
    # for each pair with a duty that cannot be met, that duty
    _unmet: dict[Pair, Duty] = field(default_factory=dict[Pair, Duty])

    def proven(self) -> bool:
        """Return whether it found a simulation: the mutant conforms."""
        if not self.places.whole:
            return False
        return self._covered(self.places.of(self.mutant.rule), WORK)

    def everywhere(self) -> tuple[int, bool]:
        """Look only at the known places of the rule; return their number, and whether the model allows all.

        It compares what follows until both are in the same state again. It is not proof: there may be more places.
        """
        changed, members = self.mutant.changed, self.mutant.rule.members
        known = [(state, inp) for state, inp, ways in members if changed(state, inp, ways) != ways]
        return len(known), self._covered(known, LITTLE)

    def difference(self) -> tuple[Any, ...]:
        """Return inputs that may show the mutant, if the search found any; spontaneous outputs may come in between."""
        duty = self._unmet.get(PLACES)
        if duty is None:
            return ()
        state, inp = duty.input
        path = [*self.places.path(state), inp]
        while duty.pairs:
            duty = self._unmet[duty.pairs[0]]
            path.append(duty.input)
        return tuple(each for each in path if each is not None)

    def _covered(self, places: Iterable[StateInput], most: int) -> bool:
        """Return whether the duties of all these places can be met."""
        made = self.mutant.spec()
        # the name of a place is its state, which tells how to get there
        self._duties[PLACES] = [
            Duty((state, inp), pairs)
            for state, inp in places
            for pairs in self._on(made, state, state, inp, wrong=True)
        ]
        return self._grown(made, most) and self._stable()

    def _grown(self, made: Spec[Any, Any], most: int) -> bool:
        """Find the duties of all pairs that the places lead to; return whether all may still be met.

        Pairs of equal states are good: either the places include them, or they are incomplete, and this is not proof.
        """
        waiting, check = deque(self._pairs_of(PLACES)), CHECKED
        while waiting:
            pair = waiting.popleft()
            if pair in self._duties:
                continue
            try:
                duties = [] if self._same(pair) else list(self._owed(made, *(self._states[each] for each in pair)))
            except ModelError:  # the model may fail on a state that only the mutant reaches
                duties = [Duty(None, [])]
            self._duties[pair] = duties
            waiting.extend(self._pairs_of(pair))
            if len(self._duties) > check:
                check *= 2
                if not self._stable():
                    return False
            if self.work > most:
                return False
        return True

    def _pairs_of(self, pair: Pair) -> Iterator[Pair]:
        return (each for duty in self._duties[pair] for each in duty.pairs)

    def _same(self, pair: Pair) -> bool:
        return pair[0] == pair[1] and (not self.places.whole or pair[0] in self.places)

    def _stable(self) -> bool:
        """Drop pairs with duties that cannot be met until none is left; return whether the places remain."""
        bad, fresh = self._unmet, True
        while fresh and PLACES not in bad:
            more = {
                pair: duty
                for pair, duties in self._duties.items()
                if pair not in bad
                for duty in duties
                if all(each in bad for each in duty.pairs)
            }
            bad |= more
            fresh = bool(more)
        return PLACES not in bad

    def _pair(self, mine: object, other: object) -> Pair:
        names = key(mine), key(other)
        self._states.setdefault(names[0], mine)
        self._states.setdefault(names[1], other)
        return names

    def _owed(self, made: Spec[Any, Any], mine: Any, other: Any) -> Iterator[Duty]:  # noqa: ANN401 -- states
        """Yield, for each duty of the mutant in a pair, the pairs that meet it; one of them is enough."""
        same = key(mine) == key(other)
        for inp in (*self.places.inputs(other), None):
            wrong = self._wrong(mine, inp)
            is_right = same and not wrong
            found = self._own(made, mine, inp) if is_right else self._on(made, mine, other, inp, wrong=wrong)
            yield from (Duty(inp, pairs) for pairs in found)

    def _on(self, made: Spec[Any, Any], mine: Any, other: Any, inp: Any, *, wrong: bool) -> Iterator[list[Pair]]:  # noqa: ANN401 -- states and an input
        if inp is None:
            return self._unasked(made, mine, other, wrong=wrong)
        return self._asked(made, mine, other, inp, wrong=wrong)

    def _own(self, made: Spec[Any, Any], state: object, inp: object) -> Iterator[list[Pair]]:
        """Yield the duties where the mutant is in the model's state, and does what the model does there."""
        alone: Iterable[Any] = made.emits(state) if inp is None and made.emits else ()
        ways: Iterable[Any] = alone if inp is None else made.step(state, inp)
        for way in ways:
            self.work += 1
            yield [self._pair(way.state, way.state)]

    def _asked(self, made: Spec[Any, Any], mine: Any, other: Any, inp: Any, *, wrong: bool) -> Iterator[list[Pair]]:  # noqa: ANN401 -- states and an input
        theirs = list(self.hunt.bench.spec.step(other, inp))
        if self.places.whole and key(other) not in self.places:
            yield []  # an output without an example led there, so the possible inputs are unknown
        if not theirs and self.hunt.bench.inputs in {"uioco", "any"}:
            return
        own = list(made.step(mine, inp)) or [Transition(mine)]  # a system ignores what its model leaves open
        yield from self._matched(own, theirs or [Transition(other)], mine, other, wrong=wrong)

    def _unasked(self, made: Spec[Any, Any], mine: Any, other: Any, *, wrong: bool) -> Iterator[list[Pair]]:  # noqa: ANN401 -- states
        spec = self.hunt.bench.spec
        own = list(made.emits(mine)) if made.emits else []
        theirs = list(spec.emits(other)) if spec.emits else []
        # what has no time may happen at any time, as may several such transitions of the model at once, or none
        idle = [Transition(other)] if not self._timed_state(other) else []
        yield from self._matched(own, [*theirs, *idle], mine, other, wrong=wrong)
        yield from self._required(own, theirs, mine, other)
        if wrong and not own and theirs:
            self.allowed["the model never requires this output: no window and no timer obliges the system"] = None

    def _wrong(self, state: object, inp: object) -> bool:
        rules, rule = self.mutant.survey.rules, self.mutant.rule
        return rules.of(state, inp, spontaneous=inp is None) is rule

    def _matched(
        self, own: list[Any], theirs: list[Any], mine: object, other: object, *, wrong: bool
    ) -> Iterator[list[Pair]]:
        for way in own:
            for row in rows(way.outputs, self.hunt.oracle.model.routes):
                yield self._answers(way, row, theirs, (mine, other), wrong=wrong)

    def _answers(
        self, way: Transition[Any], row: Row, theirs: list[Any], at: tuple[object, object], *, wrong: bool
    ) -> list[Pair]:
        """Return the pairs that the model's transitions with these outputs lead to."""
        found: dict[Pair, str] = {}
        for each in theirs:
            self.work += 1
            for then, says in self._fitting(way, row, each):
                if self._stays(way.state, at[0]) == self._stays(then, at[1]):
                    found.setdefault(self._pair(way.state, then), says)
        same = [pair for pair in found if pair[0] == pair[1]]
        chosen = same[:1] or list(found)
        if wrong:
            self.allowed.update((found[pair], None) for pair in chosen[:1] if found[pair])
        return chosen

    def _stays(self, then: object, before: object) -> bool:
        # clocks that run since a state was entered restart on entering another state
        return key(then) == key(before) if self._timed_state(before) or self._timed_state(then) else True

    def _timed_state(self, state: object) -> bool:
        return any(way.within is not None for way in self.mutant.survey.served.emits(state))

    def _fitting(self, way: Transition[Any], row: Row, other: ModelWay) -> Iterator[tuple[Any, str]]:
        """Yield the next states of a model's transition, if it allows these outputs at these times."""
        if not in_time(way, other):
            return
        if isinstance(other, Accept):
            outputs = received(row, other)
            if outputs is not None and completed_by(other, outputs):
                says = other.says or f"Accept on {other.port or 'the port'}"
                yield from ((then, f"the model accepts it: {says}") for then in following(other, outputs))
            return
        for model in rows(other.outputs, self.hunt.oracle.model.routes):
            rest = rest_of(row, model)
            if rest is not None:
                says = width(other, model)
                yield from ((then, more or says) for then, more in self._later(other.state, rest, CHAIN))

    def _later(self, state: Any, rest: Row, most: int) -> Iterator[tuple[Any, str]]:  # noqa: ANN401 -- a state
        """Yield the states after spontaneous transitions without a time that bring the remaining outputs."""
        emits = self.hunt.bench.spec.emits
        if not rest:
            yield state, ""
        elif emits is not None and most:
            for way in emits(state):
                if isinstance(way, Transition) and way.outputs and is_free(way):
                    for model in rows(way.outputs, self.hunt.oracle.model.routes):
                        less = rest_of(rest, model)
                        if less is not None:
                            says = f"the model allows spontaneous outputs any time: {show(way.outputs[0])}"
                            yield from ((then, says) for then, _ in self._later(way.state, less, most - 1))

    def _required(self, own: list[Any], theirs: list[Any], mine: object, other: object) -> Iterator[list[Pair]]:
        """Yield the duty to make each spontaneous transition that the model requires within a time."""
        for each in theirs:
            if each.after or (each.within is not None and each.within[1] < float("inf")):
                pairs = [
                    self._pair(way.state, then)
                    for way in own
                    for row in rows(way.outputs, self.hunt.oracle.model.routes)
                    for then, _ in self._fitting(way, row, each)
                    if self._stays(way.state, mine) == self._stays(then, other)
                ]
                yield pairs
