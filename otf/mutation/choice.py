"""Which mutants of a model to try: explore its rules, apply each operator to each rule, and draw some."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from otf.compose.actions import outputs_in
from otf.mutation.near import attempted
from otf.mutation.operators import OPERATORS, Material, Operator, operators
from otf.mutation.served import CodecWire, ModelRule, ModelRules, ServedModel, Ways, sent_by
from otf.spec import AnyOrder, Elapse, Spec, Transition
from otf.values import key, show

ASKED: Final = 4_000  # questions to the model in the search for its rules


@dataclass(slots=True)
class Survey:
    """The explored part of a model: its rules, its values, and the inputs that lead to each state."""

    served: ServedModel
    rules: ModelRules
    material: Material
    paths: dict[Any, tuple[Any, ...]] = field(default_factory=dict[Any, tuple[Any, ...]])
    whole: bool = True

    def learn(self, state: object, inp: object, *, spontaneous: bool = False) -> Ways:
        """Record one question to the model, and return its answer."""
        ways = self.served.emits(state) if spontaneous else self.served.step(state, inp)
        self.rules.of(state, inp, spontaneous=spontaneous)
        self.material.learn(state, inp, ways)
        return ways

    def explore(self, most: int = ASKED) -> None:
        """Ask about the states near the initial one, breadth first, with at most `most` questions."""
        spec, todo, asked = self.served.spec, deque([self.served.spec.initial]), 0
        self.paths[key(spec.initial)] = ()
        while todo:
            if asked >= most:
                self.whole = False
                return
            state = todo.popleft()
            way = self.paths[key(state)]
            for inp in spec.inputs(state):
                asked += 1
                self._go(todo, self.learn(state, inp), (*way, inp))
            self._go(todo, self.learn(state, None, spontaneous=True), way)

    def _go(self, todo: deque[Any], ways: Iterable[Transition[Any]], path: tuple[Any, ...]) -> None:
        for way in ways:
            name = key(way.state)
            if name not in self.paths:
                self.paths[name] = path
                todo.append(way.state)

    def path(self, rule: ModelRule) -> tuple[Any, ...]:
        """Return the shortest known list of inputs after which a rule applies, including its own input."""
        return min(self.ways(rule), key=len, default=())

    def ways(self, rule: ModelRule) -> list[tuple[Any, ...]]:
        """Return known lists of inputs after which a rule applies, including its own input."""
        ways = [(self.paths.get(key(state)), inp) for state, inp, _ in rule.members]
        return [(*way, inp) if not rule.spontaneous else way for way, inp in ways if way is not None]


@dataclass(slots=True, eq=False)
class ModelMutant:
    """A copy of a model that is wrong in one rule.

    The `number` of a mutant is its position among all mutants. The `survey` holds the explored part of the model. The
    `rule` is a group of transitions, for example all those that one line of the model yields. The `operator` is the
    mistake in the transitions of the rule, for example an output that is not sent. An `example` consists of a state, an
    input, the model's transitions, and the mutant's wrong transitions. `applied` counts how often the mutant has used
    its wrong rule.

    >>> from otf.mutation import bench_of, mutate
    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"], name="lamp")
    >>> mutate(bench_of(lamp), most=1).results[0].mutant.operator.says
    'the last output is not sent'
    """

    number: int
    rule: ModelRule
    operator: Operator
    survey: Survey
    example: tuple[Any, Any, Ways, Ways]
    applied: int = 0

    @property
    def place(self) -> str:
        """Return the wrong rule as a line of the model, or as an example of an input and a state."""
        return self.survey.rules.place(self.rule)

    @property
    def when(self) -> str:
        """Return an example of a state and an input for which the mutant is wrong."""
        state, inp, _, _ = self.example
        return f"in {show(state)}" if self.rule.spontaneous else f"{show(inp)} in {show(state)}"

    def changed(self, state: object, inp: object, ways: Ways) -> Ways:
        """Return the mutant's transitions in a state where its rule applies."""
        return _changed(self.operator, state, inp, ways)

    def spec(self, *, counted: bool = False) -> Spec[Any, Any]:
        """Return the mutant as a model; with `counted`, `applied` counts how often the wrong rule is used."""
        served, rules, rule = self.survey.served, self.survey.rules, self.rule
        made = self._counted if counted else self.changed

        def step(state: Any, inp: Any) -> Ways:  # noqa: ANN401 -- of any model
            ways = served.step(state, inp)
            return made(state, inp, ways) if rules.of(state, inp) is rule else ways

        def emits(state: Any) -> Ways:  # noqa: ANN401 -- as above
            ways = served.emits(state)
            return made(state, None, ways) if rules.of(state, None, spontaneous=True) is rule else ways

        spec = served.spec
        return spec.remade(step, spec.initial, spec.inputs, emits if rule.spontaneous or spec.emits else None)

    def _counted(self, state: object, inp: object, ways: Ways) -> Ways:
        then = self.changed(state, inp, ways)
        self.applied += then != ways
        return then


def _changed(operator: Operator, state: object, inp: object, ways: Ways) -> Ways:
    # a class of the model may refuse a value
    return attempted(lambda: operator.change(state, inp, ways), otherwise=ways)


def candidates(survey: Survey, wire: CodecWire, *, ignored: bool, instant: bool = False) -> Iterator[ModelMutant]:
    """Yield all mutants that differ from the model and from each other in the explored part of the model.

    otf makes no mutants whose outputs the codec cannot encode. With `ignored`, otf also makes mutants for inputs that
    the model does not specify. With `instant`, the system answers before the tester goes on, so otf makes no mutants
    with a late output.
    """
    seen = set[Any]()
    for rule in list(survey.rules.known.values()):
        if any(isinstance(inp, Elapse) for _, inp, _ in rule.members):
            continue  # waiting is not an input of the system
        for operator in operators(rule, survey.rules, survey.material, ignored=ignored):
            if instant and rule.spontaneous and operator.name == "extra":
                continue
            effects = _effects(rule, operator)
            if not effects or not _sendable(effects, wire):
                continue
            port = survey.material.port
            name = rule.number, tuple(_canonical(then, port) for _, _, _, then in effects)
            unlike = [each for each in effects if _canonical(each[2], port) != _canonical(each[3], port)]
            if unlike and name not in seen:
                seen.add(name)
                yield ModelMutant(0, rule, operator, survey, unlike[0])


def _effects(rule: ModelRule, operator: Operator) -> list[tuple[Any, Any, Ways, Ways]]:
    found = ((state, inp, ways, _changed(operator, state, inp, ways)) for state, inp, ways in rule.members)
    return [(state, inp, ways, then) for state, inp, ways, then in found if key(ways) != key(then)]


def _canonical(ways: Ways, port: Callable[[Any], str]) -> Any:  # noqa: ANN401 -- a key
    """Return a key of transitions that ignores the order between ports and inside a bag, and empty bags."""
    return frozenset((key(replace(way, outputs=())), _by_port(way.outputs, port)) for way in ways)


def _by_port(outputs: Iterable[Any], port: Callable[[Any], str]) -> Any:  # noqa: ANN401 -- as above
    found: dict[Any, list[Any]] = {}
    for item in outputs:
        parts = _split(item, port) if isinstance(item, AnyOrder) else {_ports(item, port): key(item)}
        for name, part in parts.items():
            found.setdefault(name, []).append(part)
    return frozenset((name, tuple(parts)) for name, parts in found.items())


def _split(bag: AnyOrder, port: Callable[[Any], str]) -> dict[Any, Any]:
    """Return the bag of each port; a single output counts as ordered."""
    parts: dict[Any, list[Any]] = {}
    for item in bag.items:
        parts.setdefault(_ports(item, port), []).append(key(item))
    return {name: part[0] if len(part) == 1 else frozenset(Counter(part).items()) for name, part in parts.items()}


def _ports(item: object, port: Callable[[Any], str]) -> Any:  # noqa: ANN401 -- a key
    names = {named or port(value) for value, named in outputs_in(item)}
    return names.pop() if len(names) == 1 else frozenset(names)


def _sendable(effects: Iterable[tuple[Any, Any, Ways, Ways]], wire: CodecWire) -> bool:
    outputs = {key(each): each for _, _, _, then in effects for each in sent_by(then)}
    return all(wire.carries(*each) for each in outputs.values())


def drawn(found: Iterable[ModelMutant], most: int, seed: int) -> list[ModelMutant]:
    """Return at most `most` mutants in a random order, with about equally many for each kind of mistake."""
    random = Random(seed)
    by_operator: dict[str, list[ModelMutant]] = {name: [] for name in OPERATORS}
    for each in found:
        by_operator[each.operator.name].append(each)
    for several in by_operator.values():
        random.shuffle(several)
    chosen: list[ModelMutant] = []
    while len(chosen) < most and any(by_operator.values()):
        for several in by_operator.values():
            if several and len(chosen) < most:
                chosen.append(several.pop())
    for number, each in enumerate(chosen, 1):
        each.number = number
    return chosen
