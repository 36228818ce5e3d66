"""Checks that a model gives the same answer to the same call: one that uses chance would blame the system.

Compares answers as sets, since the order in which a function returns its transitions means nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from otf.core import Model, Monitor, Oracle, Symbol
from otf.core.expectations import Chain, Either, Exact, Expectation, Instance
from otf.core.nodes import Move
from otf.errors import ModelError
from otf.trace.events import Event
from otf.values import show
from otf.values.raised import definition

SHOWN: Final = 3  # transitions of an answer that the message shows
RIGHT: Final = (
    "a model answers by its arguments alone, not by chance, the time, or what it has kept; where the system may choose,"
    " it yields a transition for each choice"
)

TransitionTexts: TypeAlias = dict[Hashable, str]
"""What each transition means, with its text."""


def ask_again(known: Model, fresh: Oracle, events: Iterable[Event]) -> None:
    """Judge a run again with a fresh oracle. Raises ModelError if the model answers differently.

    `known` is the run's model with its answers; `fresh` holds a new model of the same spec.
    """
    monitor = Monitor(fresh)
    for event in events:
        monitor.tell(event)
    if fresh.model.initial != known.initial:
        message = f"the initial state was {show(known.initial.value)}, and is {show(fresh.model.initial.value)} now"
        raise ModelError(f"{message}: a model must not change what it is given")
    compare(known, fresh.model)


def compare(known: Model, fresh: Model) -> None:
    """Raise ModelError if two `Model`s of one spec have answered the same question differently."""
    for node in fresh.nodes:
        before = known.node(node.value)
        for inp, moves in node.moves.items():
            if inp is None:
                _same(_call("emits", before), _texts(known.spontaneous(before)), _texts(moves), known.spec.emits)
            else:
                own, found = (known.spec.partial or known.spec).step, known.moves(before, known.symbol(inp.value))
                _same(_call("step", before, inp), _texts(found), _texts(moves), own)


def _texts(moves: Iterable[Move]) -> TransitionTexts:
    return {_meaning(move): f"{', '.join(move.texts) or 'nothing'} -> {_target(move)}" for move in moves}


def _target(move: Move) -> str:
    return "a state that they decide" if move.target is None else show(move.target.value)


def _meaning(move: Move) -> Hashable:
    # each call makes a new function: only its presence can be compared
    target = ("accepted", *sorted(move.ports)) if move.target is None else move.target.key
    emitted = tuple((port, tuple(_bags(chain))) for port, chain in move.emitted)
    return target, emitted, move.within, move.starts, move.stops, move.after


def _bags(chain: Chain | None) -> Iterator[Hashable]:
    while chain is not None:
        yield frozenset(Counter(map(_expectation, chain.bag.expectations)).items())
        chain = chain.then


def _expectation(expectation: Expectation) -> Hashable:
    if isinstance(expectation, Exact):
        return "value", expectation.symbol.key
    if isinstance(expectation, Either):
        return "either", frozenset(map(_expectation, expectation.expectations))
    return ("any", expectation.type) if isinstance(expectation, Instance) else ("such", str(expectation))


def _call(function: str, *arguments: Symbol) -> str:
    return f"{function}({', '.join(show(each.value) for each in arguments)})"


def _same(asked: str, first: TransitionTexts, then: TransitionTexts, own: object) -> None:
    if first.keys() != then.keys():
        message = f"{asked} answered differently when it was asked again: first {_some(first)}; then {_some(then)}"
        raise ModelError(f"{message}: {RIGHT}{definition(own)}")


def _some(answer: TransitionTexts) -> str:
    if not answer:
        return "no transition"
    more = "" if len(answer) <= SHOWN else f", and {len(answer) - SHOWN} more"
    return "; ".join(islice(answer.values(), SHOWN)) + more
