"""The result of each mutant: killed, equivalent (proved), or open with its likeliest reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from otf.core.model import Model
from otf.errors import ModelError, OtfError
from otf.explore.conform import compared
from otf.explore.expiring import Expiring
from otf.explore.finding import Finding, LawVerdict
from otf.explore.graph import Portless
from otf.mutation.choice import ModelMutant, Survey
from otf.mutation.examples import is_free
from otf.mutation.hunt import Hunt, HuntBudget, Hunted
from otf.mutation.places import Places
from otf.mutation.proof import Simulation
from otf.mutation.served import sent_by
from otf.spec import Elapse, Spec, total
from otf.values import key, show

Reason: TypeAlias = "tuple[Survival, str, tuple[Any, ...]]"
FIRST = 200  # inputs before trying a proof
PAIRS = 100  # pairs of the product in which to search for a shortest way to a difference


class Fate(StrEnum):
    """The fate of a mutant: whether the bench noticed it.

    `KILLED` means that the mutant fails on the bench. `EQUIVALENT` means that a proof shows that the mutant conforms to
    the model. `OPEN` means that the mutant neither failed nor was proved to conform. `BROKEN` means that the model
    raises an error in a state that only the mutant reaches; otf does not judge such a mutant.

    >>> Fate("open").name
    'OPEN'
    """

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    OPEN = "open"
    BROKEN = "broken"


class Survival(StrEnum):
    """Why the bench did not notice a mutant.

    `ALLOWED` means that the model allows what the mutant does. `SAME` means that the mutant does exactly what the model
    does. `UNREACHABLE` means that the model's times exclude the states in which the mutant is wrong. `CODEC` means that
    the codec turns the right and the wrong output into the same bytes. `ISSUE` means that a known issue of the bench
    covers the mutant's failures. `NOT_REACHED` means that no path used the mutant's wrong rule. `MISSED` means that too
    few paths used the mutant's wrong rule. `MODE` means that the paths did not wait for outputs where the mutant is
    wrong, or were inconclusive. `UNKNOWN` means that otf does not know the reason.

    >>> Survival("not reached").name
    'NOT_REACHED'
    """

    ALLOWED = "allowed by the model"
    SAME = "no difference"
    UNREACHABLE = "unreachable in time"
    CODEC = "not observable through the codec"
    ISSUE = "masked by a known issue"
    NOT_REACHED = "not reached"
    MISSED = "missed"
    MODE = "masked by the mode"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """A `mutant` with its `fate`.

    If the mutant survived, `why` is the kind of reason, and `says` explains the reason in words. otf sent `steps`
    inputs to the mutant, and spent `seconds` of virtual time on it. The inputs in `path` show how the mutant differs
    from the model: either a failing path, or the shortest inputs that lead to a difference.

    >>> from otf.mutation import bench_of, mutate
    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"], name="lamp")
    >>> mutate(bench_of(lamp), most=1).results[0].fate.value
    'killed'
    """

    mutant: ModelMutant
    fate: Fate
    steps: int
    seconds: float
    why: Survival | None = None
    says: str = ""
    path: tuple[str, ...] = ()


@dataclass(slots=True)
class Judge:
    """Tests mutants on one bench, and finds out why some of them survive."""

    hunt: Hunt
    survey: Survey
    budget: HuntBudget
    _reachable: set[int] | None = None
    _places: Places | None = None

    def of(self, mutant: ModelMutant) -> JudgedMutant:
        """Return the fate of a mutant: after a short hunt, a proof that it conforms, or a full hunt and its reason."""
        try:
            return self._judged(mutant)
        except ModelError as error:
            return JudgedMutant(mutant, Fate.BROKEN, 0, 0.0, says=str(error))

    def _judged(self, mutant: ModelMutant) -> JudgedMutant:
        made = mutant.spec(counted=True)
        # a few inputs kill most mutants; full hunts of conforming ones would take most of the time
        found = self.hunt.against(made, HuntBudget(min(FIRST, self.budget.steps), self.budget.seconds))
        if found.failure is not None:
            return _killed(mutant, found)
        if (proved := self._proved(mutant)) is not None:
            return JudgedMutant(mutant, Fate.EQUIVALENT, found.steps, found.seconds, *proved)
        found = self.hunt.against(made, self.budget, ways=self.survey.ways(mutant.rule))
        if found.failure is not None:
            return _killed(mutant, found)
        product = self._compared(mutant)
        if product is not None and product.verdict is LawVerdict.PROVEN:
            says = f"every trace of it is one of the model: {product.says}"
            return JudgedMutant(mutant, Fate.EQUIVALENT, found.steps, found.seconds, Survival.SAME, says)
        why, says, path = self._reason(mutant, made, found, product)
        return JudgedMutant(mutant, Fate.OPEN, found.steps, found.seconds, why, says, tuple(map(show, path)))

    def _proved(self, mutant: ModelMutant) -> tuple[Survival, str] | None:
        simulation = Simulation(mutant, self.hunt, self._all_places())
        if simulation.proven():
            says = _listed(simulation.allowed) or "no output that comes after it ever differs"
            return Survival.ALLOWED if simulation.allowed else Survival.SAME, says
        if self._unreachable(mutant):
            return Survival.UNREACHABLE, "the times of the model exclude the states of its rule"
        return None

    def _all_places(self) -> Places:
        if self._places is None:
            self._places = Places(self.survey, self.hunt.bench.spec, self.hunt.oracle.model.routes)
        return self._places

    def _unreachable(self, mutant: ModelMutant) -> bool:
        """Return whether the model's times exclude all states of a rule."""
        if self._reachable is None:
            self._reachable = set(self._in_time())
        return bool(self._reachable) and mutant.rule.number not in self._reachable

    def _in_time(self) -> Iterator[int]:
        served, rules = self.survey.served, self.survey.rules
        spec = served.spec
        if spec.emits is None or not self.survey.whole:
            return
        walk = Expiring(Model(spec.remade(served.step, spec.initial, spec.inputs, served.emits), Portless()))
        walk.run()
        if not walk.whole:
            return
        for node in {node for node, _ in walk.left}:
            yield rules.of(node.value, None, spontaneous=True).number
            yield from (rules.of(node.value, inp).number for inp in spec.inputs(node.value))

    def _compared(self, mutant: ModelMutant) -> Finding | None:
        """Compare the mutant with the oracle; None if the product is impossible: it has no times, and few orders."""
        made = mutant.spec()
        try:
            return compared(total(made), self.hunt.oracle, limit=PAIRS)
        except OtfError:
            return None

    def _reason(self, mutant: ModelMutant, made: Spec[Any, Any], hunted: Hunted, product: Finding | None) -> Reason:
        path = self.survey.path(mutant.rule)
        if self._same_bytes(mutant):
            return Survival.CODEC, "the codec makes the same bytes of the wrong output and of the right one", path
        if hunted.known:
            return Survival.ISSUE, f"its failures count as known: {'; '.join(hunted.known)}", path
        if not mutant.applied:
            return Survival.NOT_REACHED, "no path came to its rule; these inputs lead there", path
        # what is not served is not tried, and would look like a difference
        if product is not None and product.verdict is LawVerdict.REFUTED and not self.survey.served.unserved:
            return self._shown(made, product)
        return self._likeliest_reason(mutant, made, hunted, path)

    def _likeliest_reason(
        self, mutant: ModelMutant, made: Spec[Any, Any], hunted: Hunted, path: tuple[Any, ...]
    ) -> Reason:
        """Return the likeliest reason without a proof or a trace that shows the mutant."""
        simulation = Simulation(mutant, self.hunt, self._all_places())
        places, allowed = simulation.everywhere()
        if allowed:
            why = Survival.ALLOWED if simulation.allowed else Survival.SAME
            says = _listed(simulation.allowed) or "what follows is what the model allows"
            return why, f"{says}, in all {places} places that were compared; there may be more", path
        if shown := self._shown_by(made, simulation.difference()):
            return Survival.MISSED, "the budget did not come to these inputs, which show it", shown
        return self._hidden(mutant, made, hunted, path)

    def _shown_by(self, made: Spec[Any, Any], path: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs if they show it, perhaps with a wait after them, since a timer may be wrong."""
        waits = [each for each in self._all_places().known.values() if isinstance(each, Elapse)]
        for last in ((), tuple(sorted(waits, key=lambda each: each.seconds)[-1:])):
            if path and self.hunt.along(made, (*path, *last)).failure is not None:
                return (*path, *last)
        return ()

    def _hidden(self, mutant: ModelMutant, made: Spec[Any, Any], hunted: Hunted, path: tuple[Any, ...]) -> Reason:
        """Return the likeliest reason if the mutant may differ, but no known inputs show it."""
        if hunted.inconclusive:
            return Survival.MODE, f"paths were inconclusive: {next(iter(hunted.inconclusive))}", path
        if self.hunt.along(made, path).failure is not None:
            return Survival.MISSED, "too few paths came to its rule; these inputs, and a wait after them, show it", path
        if self.hunt.oracle.model.timed and self._strictly(made):
            return Survival.MODE, f"{self.hunt.mode} mode does not wait where it shows; strict mode finds it", path
        if (restarted := self._restarted(mutant)) is not None:
            return Survival.ALLOWED, restarted, path
        says = f"it was there {mutant.applied:,} times, and no output differed from what the model allows"
        return Survival.UNKNOWN, f"{says}; a proof needs more states than were looked at", path

    def _restarted(self, mutant: ModelMutant) -> str | None:
        """Return that an output which may come at any time keeps a nearby window from ending, if so."""
        state, _, before, after = mutant.example
        for each in (state, *(way.state for way in (*before, *after))):
            emits = self.survey.served.emits(each)
            due = [way for way in emits if way.within is not None]
            free = [way for way in emits if is_free(way) and key(way.state) == key(each)]
            if due and free:
                windowed, other = (show(way.outputs[:1]) for way in (due[0], free[0]))
                return f"{other} may come any time and restarts the window of {windowed}, which is never due then"
        return None

    def _shown(self, made: Spec[Any, Any], found: Finding) -> Reason:
        """Explain a mutant with a known trace that the model does not allow."""
        path = tuple(step.input for step in found.way if not step.spontaneous)
        if self.hunt.along(made, path).failure is not None:
            return Survival.MISSED, "the budget did not come to these inputs, which show it", path
        if self.hunt.mode == "eager" and self._strictly(made, path):
            return Survival.MODE, "eager mode does not wait for silence there; strict mode finds it", path
        return Survival.MODE, f"these inputs show it ({found.says}), but the run does not look there", path

    def _strictly(self, made: Spec[Any, Any], path: tuple[Any, ...] = ()) -> bool:
        strict = replace(self.hunt, mode="strict")
        found = strict.along(made, path) if path else strict.against(made, self.budget)
        return found.failure is not None

    def _same_bytes(self, mutant: ModelMutant) -> bool:
        wire = self.hunt.wire
        _, _, ways, then = mutant.example
        if wire.codec is None:
            return False
        before, after = (tuple(value for value, _ in sent_by(each)) for each in (ways, then))
        return key(before) != key(after) and [*map(wire.data, before)] == [*map(wire.data, after)]


def _listed(reasons: Iterable[str]) -> str:
    first, *rest = [*reasons] or [""]
    return f"{first}, and {len(rest)} more like it" if rest else first


def _killed(mutant: ModelMutant, found: Hunted) -> JudgedMutant:
    kind = found.failure.kind if found.failure is not None else ""
    return JudgedMutant(mutant, Fate.KILLED, found.steps, found.seconds, says=kind, path=tuple(map(show, found.path)))
