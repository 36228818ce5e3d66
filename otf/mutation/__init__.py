"""Mutants of a model: whether this bench, within this budget, would notice a system that is wrong in one rule.

The model is served as its own system, in virtual time and in this process. Each mutant is wrong in one rule, and the
bench tests it as it would test the real system. A surviving mutant shows where the model, the codec or the budget lets
a mistake pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from otf.adapter import Bench
from otf.compose.actions import outputs_in
from otf.core.walk import Act
from otf.errors import UsageError
from otf.explore import explore
from otf.mutation.choice import ModelMutant, Survey, candidates, drawn
from otf.mutation.examples import Examples
from otf.mutation.hunt import Hunt, HuntBudget, HuntMode
from otf.mutation.judging import Fate, Judge, JudgedMutant, Survival
from otf.mutation.operators import Material
from otf.mutation.served import CodecWire, ModelRules, ServedModel
from otf.spec import Accept, Spec
from otf.spec.outputs import vague
from otf.trace.verdict import Failure

__all__ = [
    "Fate",
    "HuntBudget",
    "HuntMode",
    "JudgedMutant",
    "ModelMutant",
    "MutationReport",
    "Survival",
    "bench_of",
    "mutate",
]


MUTANTS: Final = 100
CONTROL: Final = 1_000  # inputs to the unchanged model
LOOKED: Final = 200  # states to explore for outputs and ports
SLACK: Final = 4  # latencies and busy times: an output early by less than that is not too early


@dataclass(slots=True)
class MutationReport:
    """The mutants of one model with their fates, in the order of the hunts.

    `rules` counts the rules found in the model; `whole` is false if the search did not see all states; `possible`
    counts the mutants from which those hunted were drawn. `unserved` lists outputs that the model only describes,
    without any example: what needs them was not tried. `control` is the failure of the model, served as its own system:
    then nothing was hunted. `results` holds the hunted mutants, `name` is the model's, and `mode` the hunt's.
    `through_codec`: outputs went through the bench's codec.

    >>> MutationReport("lamp", "eager").counts
    {'killed': 0, 'equivalent': 0, 'open': 0, 'broken': 0}
    """

    name: str
    mode: HuntMode
    possible: int = 0
    rules: int = 0
    whole: bool = True
    through_codec: bool = False
    unserved: tuple[str, ...] = ()
    control: Failure | None = None
    results: list[JudgedMutant] = field(default_factory=list[JudgedMutant])

    def of(self, fate: Fate) -> list[JudgedMutant]:
        """Return the mutants with this fate."""
        return [each for each in self.results if each.fate is fate]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many mutants had each fate."""
        found = Counter(each.fate for each in self.results)
        return {fate.value: found[fate] for fate in Fate}

    @property
    def seconds(self) -> float:
        """Return the virtual time of all hunts in seconds."""
        return sum(each.seconds for each in self.results)


def mutate(  # noqa: PLR0913 -- past the bench, each by name
    bench: Bench,
    *,
    most: int = MUTANTS,
    seed: int = 1,
    budget: HuntBudget | None = None,
    mode: HuntMode = "eager",
    operators: Iterable[str] = (),
) -> MutationReport:
    """Test whether a bench would notice mutants of its model: hunt each mutant, and return the fate of each.

    It hunts at most `most` mutants, drawn by the seed, about as many of each operator; `budget` bounds the cost of
    each. With `operators`, it makes mutants only by these. It starts no system and opens no port. Raises UsageError if
    the model has no inputs, or none of its outputs can be served.

    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "off" if lit else "on")], False, ["press"], name="lamp")
    >>> mutate(bench_of(lamp), budget=HuntBudget(steps=200)).counts
    {'killed': 5, 'equivalent': 0, 'open': 0, 'broken': 0}
    """
    analysis = MutationAnalysis(bench, seed, budget or HuntBudget(), mode)
    report = analysis.report
    for mutant in analysis.mutants(most, operators):
        report.results.append(analysis.judge.of(mutant))
    return report


class MutationAnalysis:
    """The steps of `mutate`, for callers that show progress or end early: `mutants`, then `judge.of` for each."""

    def __init__(self, bench: Bench, seed: int, budget: HuntBudget, mode: HuntMode) -> None:
        self.seed = seed
        self.bench = bench
        served = ServedModel(bench.spec, Examples(_types(bench)))
        routes = bench.oracle().model.routes
        slack = SLACK * (bench.latency + bench.busy)
        self.survey = Survey(served, ModelRules(served), Material(bench.spec.initial, slack, routes.of))
        _learn(bench.spec, served.examples)
        self.survey.explore()
        wire = CodecWire.of(bench, [value for value, _ in self.survey.material.outputs.values()])
        self.hunt = Hunt(bench, wire, mode, seed, served.serves)
        self.judge = Judge(self.hunt, self.survey, budget)
        self.report = MutationReport(bench.spec.name or bench.name, mode, through_codec=wire.codec is not None)

    def mutants(self, most: int = MUTANTS, operators: Iterable[str] = ()) -> list[ModelMutant]:
        """Return the mutants to hunt; none if the model, served as its own system, fails."""
        survey, report = self.survey, self.report
        control = self.hunt.against(self._model(), HuntBudget(CONTROL), watch=survey.learn)
        report.control, report.unserved = control.failure, tuple(survey.served.unserved)
        report.rules, report.whole = len(survey.rules.known), survey.whole
        if control.failure is not None:
            return []
        if not control.steps and not any(True for _ in survey.served.emits(survey.served.spec.initial)):
            message = f"{report.name}: no input was enabled, and nothing is spontaneous: there is nothing to mutate"
            raise UsageError(message)
        bench, only = self.bench, set(operators)
        instant = bench.system is not None or not (bench.latency or bench.quiescence)
        found = [
            each
            for each in candidates(survey, self.hunt.wire, ignored=bench.inputs in {"all", "mixed"}, instant=instant)
            if not only or each.operator.name in only
        ]
        report.possible = len(found)
        return drawn(found, most, self.seed)

    def _model(self) -> Spec[Any, Any]:
        spec, served = self.bench.spec, self.survey.served
        return spec.remade(served.step, spec.initial, spec.inputs, served.emits if spec.emits else None)


def _types(bench: Bench) -> tuple[type, ...]:
    return tuple(bench.codec.types) if bench.codec is not None else bench.types


def _first_items(spec: Spec[Any, Any]) -> Iterator[Any]:
    """Yield the items of outputs in the first states."""
    for outputs in explore(spec, LOOKED).outputs:
        yield from outputs


def _learn(spec: Spec[Any, Any], examples: Examples) -> None:
    """Show the search the outputs of the first states that the model gives as plain values."""
    for item in _first_items(spec):
        for value, _ in outputs_in(item):
            if not vague(value) and not isinstance(value, Accept):
                examples.learn(value)


def bench_of(spec: Spec[Any, Any]) -> Bench:
    """Return a bench for a model that has none: its system runs in this process, with the ports that the model names.

    >>> from otf.spec import goto
    >>> bench_of(Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"], name="lamp")).name
    'lamp'
    """
    return Bench(spec, system=_unused, name=spec.name, outputs=tuple(dict.fromkeys(filter(None, _ports(spec)))))


def _unused() -> Act:
    return lambda _inp: ()


def _ports(spec: Spec[Any, Any]) -> Iterator[str]:
    named = (each for item in _first_items(spec) for each in outputs_in(item))
    for port in (item.port if isinstance(item, Accept) else port for item, port in named):
        yield from port if isinstance(port, tuple) else (port,)
