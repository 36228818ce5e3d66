"""Composition: the product of models that share actions, and scenarios that restrict the order of actions.

An action is an input with its outputs, or a spontaneous output. An action that several models share happens in all of
these models at once. An action that belongs to only one model happens in that model alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product as every
from typing import Any, TypeAlias

from otf.compose.actions import Action, Pattern, Vocabulary, any_action, does, found, listed, out, plain
from otf.compose.cyclic import Cycling, cyclic
from otf.compose.guided import Guided, Machine, Restricted, Scenario, compose, guide, scenario
from otf.compose.regex import expression
from otf.errors import ModelError, UsageError
from otf.spec import Spec, TimerStart, Transition
from otf.values import key, likeness, show
from otf.values.arguments import checked

States: TypeAlias = tuple[Any, ...]
Transitions: TypeAlias = Sequence[Transition[Any]]


class Product(Spec[States, Any]):
    """The product of several specs, as one spec; `product` returns it.

    `accepting(states)` returns whether a path may end in a state of the product; if it is None, a path may end in any
    state. The `vocabulary` says which inputs and outputs are actions of the product.

    >>> from otf.spec import goto
    >>> def stay(state, inp): return [goto(state)]
    >>> both = product(Spec(stay, 0, ["a"]), Spec(stay, 1, ["b"]))
    >>> both.initial, both.inputs(both.initial)
    ((0, 1), ['a', 'b'])
    """

    accepting: Callable[[States], bool] | None
    vocabulary: Vocabulary


@checked
def product(
    *specs: Spec[Any, Any], actions: Sequence[Iterable[object] | None] | None = None, disabled: bool = False
) -> Product:
    """Return the product of several specs, in which shared actions happen at the same time.

    A state of the product is the tuple of the specs' states. An action is an input or a spontaneous output. A shared
    action happens in all specs that have the action, with equal outputs. If the specs do not agree on the outputs of a
    shared action, the product raises ModelError. With `disabled=True`, the product instead disables a shared action
    with different outputs, as PyModel does.

    `actions` contains one list for each spec: the spec's actions, as names, classes or values. By default, the actions
    of a spec are the classes that its `step` declares for its input. If `step` declares no class, otf finds the actions
    in the reachable states. A name stands for all actions of that name: if a spec has the action `Push(1)`, every
    `Push` also happens in that spec.

    The time window of a shared action is the intersection of the specs' windows. In the product, the window of a
    spontaneous output begins at 0, because the product does not know when each spec entered its state. The product
    keeps the named timers of its specs; two specs must not use one name for their timers. `product` raises UsageError
    if no specs are given, or if it cannot determine the actions of a spec.

    >>> from otf.spec import goto
    >>> one = Spec(lambda state, inp: [goto(1 - state)] if inp == "ab"[state] else [], 0, ["a", "b"])
    >>> two = Spec(lambda state, inp: [goto(state + 1)] if state < 2 else [], 0, ["b", "c"])
    >>> both = product(one, two)
    >>> [list(both.step((0, 0), inp)) for inp in "bc"]
    [[], [Transition(state=(0, 1), outputs=(), within=None)]]
    """
    own = _vocabularies(specs, actions)
    timers = _Timers(specs)

    def inputs(states: States) -> list[Any]:
        rows = [{key(inp): inp for inp in spec.inputs(state)} for spec, state in zip(specs, states, strict=True)]
        every_ = {named: inp for row in rows for named, inp in row.items()}
        return [inp for named, inp in every_.items() if _offered(own, rows, named, inp)]

    def step(states: States, inp: Any) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- any input
        ways = {
            at: timers.of(at, plain(specs[at].step(states[at], inp))) for at, each in enumerate(own) if each.inputs(inp)
        }
        agreed = list(_together(states, ways))
        if ways and not agreed and not disabled and all(ways.values()):
            raise ModelError(_disagree(specs, inp, ways))
        yield from agreed

    def emits(states: States) -> Iterator[Transition[Any]]:
        alone = [timers.of(at, _alone(spec, states[at])) for at, spec in enumerate(specs)]
        for at, ways in enumerate(alone):
            for way in ways:
                who = [other for other, each in enumerate(own) if other == at or each.shares(way.outputs)]
                # if several share it, the first one that could be first
                if at == who[0]:
                    yield from _together(states, {other: alone[other] for other in who} | {at: [way]}, spontaneous=True)

    ends = [getattr(spec, "accepting", None) for spec in specs]

    def accepting(states: States) -> bool:
        return all(end is None or end(state) for end, state in zip(ends, states, strict=True))

    spontaneous = emits if any(spec.emits for spec in specs) else None
    name = " x ".join(spec.name for spec in specs)
    begun = [each for at, spec in enumerate(specs) for each in timers.begun(at, spec)]
    made = Product(step, tuple(spec.initial for spec in specs), inputs, spontaneous, name=name, timers=begun)
    object.__setattr__(made, "accepting", accepting if any(ends) else None)
    object.__setattr__(made, "vocabulary", _union_of(own))
    return made


def _vocabularies(
    specs: Sequence[Spec[Any, Any]], actions: Sequence[Iterable[object] | None] | None
) -> list[Vocabulary]:
    if not specs:
        raise UsageError("product(): give at least one spec")
    listed_actions = [None] * len(specs) if actions is None else list(actions)
    if len(listed_actions) != len(specs):
        message = f"product(): actions has {len(listed_actions)} entries for {len(specs)} specs; give one for each"
        raise UsageError(f"{message}, None where the spec itself determines them")
    if len(specs) == 1:
        return [Vocabulary(lambda _: True, lambda _: True)]
    # if only one spec has spontaneous outputs, it shares them with no other
    spontaneous = sum(spec.emits is not None for spec in specs) > 1
    return [
        _vocabulary(spec, spontaneous=spontaneous) if items is None else listed(items)
        for spec, items in zip(specs, listed_actions, strict=True)
    ]


def _vocabulary(spec: Spec[Any, Any], *, spontaneous: bool) -> Vocabulary:
    if isinstance(spec, Product):
        return spec.vocabulary
    if isinstance(spec, Restricted):
        # actions that its scenario never allows still belong to it
        return _vocabulary(spec.base, spontaneous=spontaneous)
    own: Sequence[object] | None = getattr(spec, "actions", None)
    return found(spec, spontaneous=spontaneous) if own is None else listed(own)


class _Timers:
    """The spec that owns each named timer seen so far."""

    def __init__(self, specs: Sequence[Spec[Any, Any]]) -> None:
        self._specs = specs
        self._owners: dict[str, int] = {}

    def of(self, at: int, ways: Iterable[Transition[Any]]) -> Transitions:
        """Return the ways of a spec. Raises ModelError if they name the timer of another spec."""
        found = list(ways)
        self._own(at, (name for way in found for name in _named(way)))
        return found

    def begun(self, at: int, spec: Spec[Any, Any]) -> Sequence[TimerStart]:
        """Return the initial timers of a spec. Raises ModelError as `of` does."""
        self._own(at, (each.name for each in spec.timers))
        return spec.timers

    def _own(self, at: int, names: Iterable[str]) -> None:
        for name in names:
            owner = self._owners.setdefault(name, at)
            if owner != at:
                models = " and ".join(self._specs[each].name for each in sorted((owner, at)))
                message = f"two models of a product have a timer {name!r}: {models}; give each a name of its own"
                raise ModelError(message)


def _named(way: Transition[Any]) -> Iterator[str]:
    yield from (each.name for each in way.timers)
    if way.after:
        yield way.after


def _alone(spec: Spec[Any, Any], state: object) -> Transitions:
    return list(plain(spec.emits(state) if spec.emits else ()))


def _union_of(own: Sequence[Vocabulary]) -> Vocabulary:
    return Vocabulary(
        lambda inp: any(each.inputs(inp) for each in own), lambda output: any(each.spontaneous(output) for each in own)
    )


def _offered(own: Sequence[Vocabulary], rows: list[dict[Hashable, Any]], named: Hashable, inp: object) -> bool:
    who = [named in row for each, row in zip(own, rows, strict=True) if each.inputs(inp)]
    return bool(who) and all(who)


def _together(
    states: States, ways: Mapping[int, Transitions], *, spontaneous: bool = False
) -> Iterator[Transition[Any]]:
    """Yield the common transitions of specs, given by position: with the same outputs, within all windows."""
    for each in every(*ways.values()):
        window = _window(each)
        if each and len({likeness(way.outputs) for way in each}) == 1 and (window is None or window[0] <= window[1]):
            moved = dict(zip(ways, each, strict=True))
            after = _after(each)
            if window is not None and spontaneous and len(states) > 1:
                # the oracle counts from the last move of the product, which another spec may have made
                window = None if after else (0.0, window[1])
            yield Transition(
                tuple(moved[at].state if at in moved else state for at, state in enumerate(states)),
                each[0].outputs,
                window,
                tuple(action for way in each for action in way.timers),
                after,
                tuple(dict.fromkeys(name for way in each for name in way.req)),
            )


def _after(ways: Transitions) -> str:
    """Return the timer of a common transition."""
    names = list(dict.fromkeys(way.after for way in ways if way.after))
    if len(names) > 1:
        outputs = ", ".join(map(show, ways[0].outputs)) or "no output"
        raise ModelError(
            f"models share {outputs}, each after a timer of its own: {' and '.join(names)}; keep one of these timers"
        )
    return names[0] if names else ""


def _window(ways: Transitions) -> tuple[float, float] | None:
    windows = [way.within for way in ways if way.within is not None]
    return (max(low for low, _ in windows), min(high for _, high in windows)) if windows else None


def _disagree(specs: Sequence[Spec[Any, Any]], inp: object, ways: Mapping[int, Transitions]) -> str:
    outputs = "; ".join(f"{specs[at].name}: {' or '.join(map(_describe, each))}" for at, each in ways.items())
    return (
        f"the models share {show(inp)} and do not agree on its outputs: {outputs}. Give it the same outputs; "
        "give actions=[…] if it is not the same action, disabled=True if it cannot happen there, or write a model "
        "without outputs as a scenario"
    )


def _describe(way: Transition[Any]) -> str:
    outputs = ", ".join(map(show, way.outputs)) or "no output"
    return outputs if way.within is None else f"{outputs} within {way.within[0]:g} to {way.within[1]:g} s"


__all__ = [
    "Action",
    "Cycling",
    "Guided",
    "Machine",
    "Pattern",
    "Product",
    "Scenario",
    "any_action",
    "compose",
    "cyclic",
    "does",
    "expression",
    "guide",
    "out",
    "product",
    "scenario",
]
