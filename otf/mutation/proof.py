"""The proof that a mutant conforms: whatever it does, the model may do, now and for ever after.

It looks for a simulation: a set of pairs of a state of the mutant and a state of the model, in which each transition of
the mutant is one of the model, with the same times, into a pair of the set; in which the mutant takes each input that
the model specifies, and does in time what the model requires. If the pair of the initial states is in such a set, every
trace of the mutant is one of the model (simulations: Milner 1971; with inputs the other way round: Alur, Henzinger,
Kupferman, Vardi 1998). That is stronger than trace inclusion: nothing is proved wrongly, and a mutant that only trace
inclusion excuses stays unproved. It needs no oracle, and holds for models with time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from otf.errors import ModelError
from otf.mutation.choice import ModelMutant
from otf.mutation.examples import following, passes
from otf.mutation.fitting import ModelWay, Row, in_time, is_free, rest_of, rows, width
from otf.mutation.hunt import Hunt
from otf.spec import Accept, Spec, Transition
from otf.values import key, show

WORK: Final = 15_000  # transitions that are compared: some seconds
LITTLE: Final = 5_000  # the same for places of one rule
CHAIN: Final = 3  # spontaneous transitions of the model that one of the mutant may be

Pair: TypeAlias = tuple[Hashable, Hashable]
PLACES: Final[Pair] = ("the places of a rule", "")


@dataclass(slots=True)
class Simulation:
    """The search for a simulation. `allowed` are the wide expectations that it needed, in words."""

    mutant: ModelMutant
    hunt: Hunt
    allowed: dict[str, None] = field(default_factory=dict[str, None])
    work: int = 0
    _states: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _duties: dict[Pair, list[list[Pair]]] = field(default_factory=dict[Pair, list[list[Pair]]])

    def proven(self) -> bool:
        """Return whether a simulation was found: the mutant conforms."""
        first = self._pair(self.hunt.bench.spec.initial, self.hunt.bench.spec.initial)
        return self._grown([first], WORK, same=False) and self._stable(first)

    def everywhere(self) -> tuple[int, bool]:
        """Look at the known places of the rule alone, and return their number, and whether the model allows all.

        What follows is compared until both are in the same state again. It is no proof: there may be more places.
        """
        made, rule = self.mutant.spec(), self.mutant.rule
        places = [each for each in rule.members if self.mutant.changed(*each) != each[2]]
        duties: list[list[Pair]] = []
        for state, inp, _ in places:
            here = self._unasked(made, state, state, wrong=True)
            duties += here if rule.spontaneous else self._asked(made, state, state, inp, wrong=True)
        self._duties[PLACES] = duties
        grown = self._grown([each for duty in duties for each in duty], LITTLE, same=True)
        return len(places), grown and self._stable(PLACES)

    def _grown(self, todo: Iterable[Pair], most: int, *, same: bool) -> bool:
        """Find the duties of these pairs, and of all that they lead to; return whether that was little enough work.

        `same`: pairs of the same state are taken as good.
        """
        made, waiting = self.mutant.spec(), deque(todo)
        while waiting:
            pair = waiting.popleft()
            if pair in self._duties:
                continue
            try:
                known = same and pair[0] == pair[1]
                duties = [] if known else list(self._owed(made, self._states[pair[0]], self._states[pair[1]]))
            except ModelError:  # it cannot be asked about a state that only the mutant reaches
                duties = [list[Pair]()]
            if self.work > most:
                return False
            self._duties[pair] = duties
            waiting.extend(each for duty in duties for each in duty)
        return True

    def _stable(self, first: Pair) -> bool:
        """Drop pairs in which a duty cannot be met until none is left, and return whether the first remains."""
        bad = {pair for pair, duties in self._duties.items() if not all(duties)}
        fresh = bool(bad)
        while fresh and first not in bad:
            more = {
                pair
                for pair, duties in self._duties.items()
                if pair not in bad and any(all(each in bad for each in duty) for duty in duties)
            }
            bad |= more
            fresh = bool(more)
        return first not in bad

    def _pair(self, mine: object, other: object) -> Pair:
        names = key(mine), key(other)
        self._states.setdefault(names[0], mine)
        self._states.setdefault(names[1], other)
        return names

    def _owed(self, made: Spec[Any, Any], mine: Any, other: Any) -> Iterator[list[Pair]]:  # noqa: ANN401 -- states
        """Yield for each duty of the mutant in a pair the pairs that meet it, one of which is enough."""
        same = key(mine) == key(other)
        for inp in self._inputs(other):
            wrong = self._wrong(mine, inp)
            if same and not wrong:
                yield from self._own(made.step(mine, inp))
            else:
                yield from self._asked(made, mine, other, inp, wrong=wrong)
        wrong = self._wrong(mine, None)
        if same and not wrong:
            yield from self._own(made.emits(mine) if made.emits else ())
        else:
            yield from self._unasked(made, mine, other, wrong=wrong)

    def _own(self, ways: Iterable[Any]) -> Iterator[list[Pair]]:
        """Yield the duties where the mutant is in the state of the model, and does what the model does there."""
        for way in ways:
            self.work += 1
            yield [self._pair(way.state, way.state)]

    def _asked(self, made: Spec[Any, Any], mine: Any, other: Any, inp: Any, *, wrong: bool) -> Iterator[list[Pair]]:  # noqa: ANN401 -- states and an input
        theirs = list(self.hunt.bench.spec.step(other, inp))
        if not theirs and self.hunt.bench.inputs in {"uioco", "any"}:
            return
        own = list(made.step(mine, inp)) or ([] if theirs else [Transition(mine)])
        if not own:
            yield []
        yield from self._matched(own, theirs or [Transition(other)], mine, other, wrong=wrong)

    def _unasked(self, made: Spec[Any, Any], mine: Any, other: Any, *, wrong: bool) -> Iterator[list[Pair]]:  # noqa: ANN401 -- states
        spec = self.hunt.bench.spec
        own = list(made.emits(mine)) if made.emits else []
        theirs = list(spec.emits(other)) if spec.emits else []
        # what has no time may happen any time: so may several such transitions of the model at once, and none
        idle = [Transition(other)] if not self._timed_state(other) else []
        yield from self._matched(own, [*theirs, *idle], mine, other, wrong=wrong)
        yield from self._required(own, theirs, mine, other)
        if wrong and not own and theirs:
            self.allowed["the model never requires this output: no window and no timer obliges the system"] = None

    def _inputs(self, state: object) -> Iterable[Any]:
        # inputs are enabled by any possible state: those that others enable are compared as well
        asked = (rule for rule in self.mutant.survey.rules.known.values() if not rule.spontaneous)
        known = {key(inp): inp for rule in asked for _, inp, _ in rule.members}
        return ({key(inp): inp for inp in self.hunt.bench.spec.inputs(state)} | known).values()

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
        """Return the pairs that transitions of the model with these outputs lead to."""
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
        # what runs since a state was entered starts anew where another state is entered
        return key(then) == key(before) if self._timed_state(before) or self._timed_state(then) else True

    def _timed_state(self, state: object) -> bool:
        return any(way.within is not None for way in self.mutant.survey.served.emits(state))

    def _fitting(self, way: Transition[Any], row: Row, other: ModelWay) -> Iterator[tuple[Any, str]]:
        """Yield the next states of a transition of the model that allows these outputs in these times."""
        if not in_time(way, other):
            return
        if isinstance(other, Accept):
            outputs = tuple(value for _, values in row for value in values)
            ports = [port for port, _ in row]
            if (
                isinstance(other.port, str)
                and (not other.port or ports == [other.port])
                and passes(other.complete, outputs)
            ):
                says = other.says or f"Accept on {other.port or 'the port'}"
                yield from ((then, f"the model accepts it: {says}") for then in following(other, outputs))
            return
        for model in rows(other.outputs, self.hunt.oracle.model.routes):
            rest = rest_of(row, model)
            if rest is not None:
                says = width(other, model)
                yield from ((then, more or says) for then, more in self._later(other.state, rest, CHAIN))

    def _later(self, state: Any, rest: Row, most: int) -> Iterator[tuple[Any, str]]:  # noqa: ANN401 -- a state
        """Yield the states after spontaneous transitions without a time that bring the outputs that are left."""
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
        """Yield the duty to do each spontaneous transition that the model requires in a time."""
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
