"""The product of models: actions that they share happen in all of them at once, the others in one at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import product as every
from typing import Any, TypeAlias

from otf.compose.actions import Action, pattern
from otf.errors import UsageError
from otf.spec import Accept, Spec, Transition
from otf.values import key, show

States: TypeAlias = tuple[Any, ...]
Owns: TypeAlias = Callable[[Any], bool]


class Product(Spec[States, Any]):
    """A product of specs; `accepting` are the states in which all of them may end."""

    accepting: Callable[[States], bool] | None


def product(*specs: Spec[Any, Any], actions: Sequence[Iterable[object]] | None = None) -> Product:
    """Return the product of specs; its state is the tuple of theirs.

    `actions` says for each spec which inputs are its own: names, classes or values; default: those that it offers in
    its initial state. An input of several is shared: all of them must specify it, and with the same outputs.

    >>> from otf.spec import goto
    >>> one = Spec(lambda state, inp: [goto(1 - state)] if inp == "ab"[state] else [], 0, ["a", "b"])
    >>> two = Spec(lambda state, inp: [goto(state + 1)] if state < 2 else [], 0, ["b", "c"])
    >>> both = product(one, two)
    >>> [list(both.step((0, 0), inp)) for inp in "bc"]
    [[], [Transition(state=(0, 1), outputs=(), within=None)]]
    """
    if not specs:
        raise UsageError("product(): give at least one spec")
    owns = [_owns(spec, None if actions is None else actions[at]) for at, spec in enumerate(specs)]

    def inputs(states: States) -> list[Any]:
        rows = [{key(inp): inp for inp in spec.inputs(state)} for spec, state in zip(specs, states, strict=True)]
        every_ = {named: inp for row in rows for named, inp in row.items()}
        return [inp for named, inp in every_.items() if _offered(owns, rows, named, inp)]

    def step(states: States, inp: Any) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- any input
        who = [at for at, own in enumerate(owns) if own(inp)]
        for ways in every(*(_plain(specs[at].step(states[at], inp)) for at in who)):
            if ways and len({key(way.outputs) for way in ways}) == 1:
                moved = dict(zip(who, ways, strict=True))
                yield Transition(
                    tuple(moved[at].state if at in moved else state for at, state in enumerate(states)),
                    ways[0].outputs,
                    _window(ways),
                )

    def emits(states: States) -> Iterator[Transition[Any]]:
        for at, spec in enumerate(specs):
            for way in _plain(spec.emits(states[at]) if spec.emits else ()):
                yield Transition((*states[:at], way.state, *states[at + 1 :]), way.outputs, way.within)

    ends = [getattr(spec, "accepting", None) for spec in specs]

    def accepting(states: States) -> bool:
        return all(end is None or end(state) for end, state in zip(ends, states, strict=True))

    unasked = emits if any(spec.emits for spec in specs) else None
    name = " x ".join(spec.name for spec in specs)
    made = Product(step, tuple(spec.initial for spec in specs), inputs, unasked, name=name)
    object.__setattr__(made, "accepting", accepting if any(ends) else None)
    return made


def _owns(spec: Spec[Any, Any], given: Iterable[object] | None) -> Owns:
    if given is not None:
        patterns = [pattern(item) for item in given]
        return lambda inp: any(item.matches(Action(inp)) for item in patterns)
    own = {key(inp) for inp in spec.inputs(spec.initial)}
    return lambda inp: key(inp) in own


def _offered(owns: list[Owns], rows: list[dict[Hashable, Any]], named: Hashable, inp: object) -> bool:
    who = [named in row for own, row in zip(owns, rows, strict=True) if own(inp)]
    return bool(who) and all(who)


def _plain(ways: Iterable[Transition[Any] | Accept]) -> Iterator[Transition[Any]]:
    for way in ways:
        if isinstance(way, Accept):
            raise UsageError(f"a product cannot hold {show(way)}: outputs decide its next state")
        yield way


def _window(ways: Sequence[Transition[Any]]) -> tuple[float, float] | None:
    windows = [way.within for way in ways if way.within is not None]
    return (max(low for low, _ in windows), min(high for _, high in windows)) if windows else None
