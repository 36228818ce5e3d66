"""Mutants of a model, which show whether a bench would notice a system that is wrong in one rule.

A mutant is a copy of the model with one wrong rule, for example with one output missing. otf runs each mutant as a
system in this process, in virtual time, and tests the mutant with the bench. If a mutant passes, the bench would also
miss the same mistake in a real system.
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
    """The mutants of one model with their fates, in the order in which otf tested them.

    `name` is the name of the model, and `mode` says how the paths waited for outputs. otf found `rules` rules in the
    model, and could make `possible` mutants of them. If `whole` is true, otf searched all states of the model for
    rules. The `results` hold the mutants that otf tested, drawn from the possible mutants. The outputs went through the
    bench's codec if `through_codec` is true. `unserved` lists outputs that otf could not send, because the model
    describes them without an example. The `control` is the failure of the unchanged model, or None; if the unchanged
    model fails, otf tests no mutants.

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
        """Return the mutants with the given fate."""
        return [each for each in self.results if each.fate is fate]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many mutants had each fate."""
        found = Counter(each.fate for each in self.results)
        return {fate.value: found[fate] for fate in Fate}

    @property
    def seconds(self) -> float:
        """Return the virtual time that all mutants took, in seconds."""
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
    """Make mutants of a bench's model, test each mutant with the bench, and return the fate of each mutant.

    otf tests at most `most` mutants, drawn with the `seed`, with about equally many for each kind of mistake. The
    `budget` limits what one mutant may cost. The `operators` are the kinds of mistake to make (default: all). `mutate`
    starts no system and opens no port. `mutate` raises UsageError for a model without inputs, and for a model whose
    outputs otf cannot produce.

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
    """The single steps of `mutate`, for a caller that shows progress or ends early.

    The caller calls `mutants` once, and then `judge.of` for each mutant.
    """

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
    """Return a bench for a model that has no bench of its own.

    The bench has the ports that the model names, and its system runs in this process.

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
