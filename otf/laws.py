"""Laws of specs: properties of a model's states and inputs, which `check` tests without a system.

`check` tries a law in each reachable state with each enabled input, and begins with the states nearest to the initial
state. If the model has finitely many reachable states and inputs, `check` tries them all, which proves the law. To try
other states and inputs, pass them to `check`: `check(deterministic(spec), every(State), every(Input))`. The argument
`req` of a law names the requirements that the law expresses; a counterexample names them too. Source: Koopman and
Plasmeijer, "Testing with Functions as Specifications", section 4.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from otf.core import Model, Node
from otf.logic import Quantified, Testable, all_of, implies
from otf.spec import Spec, Transition
from otf.spec.transition import RequirementIds, requirements
from otf.values import Enumeration, Flat, Rows
from otf.values.arguments import checked


@checked
def deterministic(spec: Spec[Any, Any], req: RequirementIds = ()) -> Quantified:
    """Return the law that every input has at most one transition in every state.

    Raises ModelError for an invalid id of a requirement in `req`.

    >>> from otf.logic import check
    >>> from otf.spec import goto
    >>> def step(state, inp): return [goto(0), goto(inp)]
    >>> check(deterministic(Spec(step, initial=0, inputs=[1, 2])))
    <counterexample after 1 test: state=0, inp=1>
    """
    model = Model(spec)

    def at_most_one(state: object, inp: object) -> bool:
        return len(model.moves(model.node(state), model.symbol(inp))) <= 1

    return Quantified(at_most_one, _steps(model), req=requirements(req))


@checked
def total(spec: Spec[Any, Any], req: RequirementIds = ()) -> Quantified:
    """Return the law that every input has a transition in every state, so the spec leaves no input unspecified.

    Raises ModelError for an invalid id of a requirement in `req`.

    >>> from otf.logic import check
    >>> from otf.spec import goto
    >>> def step(state, inp): return [goto("paid")] if inp == "coin" else []
    >>> check(total(Spec(step, initial="idle", inputs=["coin", "button"])))
    <counterexample after 2 tests: state='idle', inp='button'>
    """
    model = Model(spec)

    def at_least_one(state: object, inp: object) -> bool:
        return bool(model.moves(model.node(state), model.symbol(inp)))

    return Quantified(at_least_one, _steps(model), req=requirements(req))


@checked
def transitions(spec: Spec[Any, Any], holds: Callable[..., Testable], req: RequirementIds = ()) -> Quantified:
    """Return the law that `holds(state, inp, target, outputs)` is true of every transition on an input.

    The law does not apply to an input without transitions, nor to an `Accept`, whose next state depends on the outputs.

    >>> from otf.logic import check
    >>> from otf.spec import goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], initial=False, inputs=["press"])
    >>> check(transitions(lamp, lambda state, inp, target, outputs: outputs == ("click",)))
    <proof after 2 tests>
    """

    def each(state: object, inp: object) -> Testable:
        found = [item for item in spec.step(state, inp) if isinstance(item, Transition)]
        return implies(bool(found), lambda: all_of(*(holds(state, inp, item.state, item.outputs) for item in found)))

    return Quantified(each, _steps(Model(spec)), req=requirements(req))


@checked
def invariant(spec: Spec[Any, Any], holds: Callable[[Any], Testable], req: RequirementIds = ()) -> Quantified:
    """Return the law that `holds(state)` is true of every reachable state.

    >>> from otf.logic import check
    >>> from otf.models.coffee import coffee
    >>> check(invariant(coffee, lambda paid: paid < 10, req="R1"))
    <counterexample after 3 tests: state=10 (violates R1)>
    """
    reached = _Reached(Model(spec), lambda node: [(node.value,)])
    return Quantified(holds, Rows(("state",), Enumeration(reached)), req=requirements(req))


@checked
def after(spec: Spec[Any, Any], states: Iterable[Any], inputs: Iterable[Any]) -> list[Any]:
    """Return the possible states of a spec after a sequence of inputs that begins in one of `states`.

    >>> from otf.spec import goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], initial=False, inputs=["press"])
    >>> after(lamp, [False], ["press", "press"])
    [False]
    """
    found = list(states)
    for inp in inputs:
        found = [item.state for state in found for item in spec.step(state, inp) if isinstance(item, Transition)]
    return found


def _steps(model: Model) -> Rows:
    reached = _Reached(model, lambda node: [(node.value, inp.value) for inp in model.enabled_inputs(node)])
    return Rows(("state", "inp"), Enumeration(reached))


class _Reached(Flat):
    """Rows for the reachable states, each made on demand."""

    def __init__(self, model: Model, rows: Callable[[Node], list[tuple[Any, ...]]]) -> None:
        super().__init__(self._walk(model, rows))

    def _walk(self, model: Model, rows: Callable[[Node], list[tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
        seen, left = {model.initial}, deque([model.initial])
        while left:
            node = left.popleft()
            yield from rows(node)
            for target in _targets(model, node):
                if not isinstance(target, Node):
                    self.complete = False  # the outputs decide the target, and are unknown
                elif target not in seen:
                    seen.add(target)
                    left.append(target)


def _targets(model: Model, node: Node) -> Iterator[object]:
    for inp in model.enabled_inputs(node):
        for move in model.moves(node, inp):
            yield move.target
    for move in model.spontaneous(node):
        yield move.target
