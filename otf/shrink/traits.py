"""Traits: what transitions have in common, from the same input and outputs to the same kind of input only."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from enum import Enum
from typing import TypeAlias, TypeGuard

from otf.core import Model, Symbol
from otf.core.failure import expected
from otf.core.nodes import Move
from otf.shrink.issue import ModelStep, NodeSet

Trait: TypeAlias = Hashable
"""A property of a transition: its label, the kind of its input, its input, or its outputs."""


class Traits:
    """The traits of the transitions of a model, each computed once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[tuple[NodeSet, Symbol], tuple[Trait, ...]] = {}

    def of(self, step: ModelStep) -> tuple[Trait, ...]:
        """Return the traits of a transition; if its state is not known, only those of the input."""
        known = self._known.get(step[:2])
        if known is None:
            known = self._known[step[:2]] = tuple(self._find(step.nodes, step.input))
        return known

    def label(self, step: ModelStep) -> Trait:
        """Return the types of state, input and expected output, which make up a failure signature."""
        moves = self._moves(step.nodes, step.input)
        states = frozenset(type(node.value) for node in step.nodes)
        return "label", states, type(step.input.value), frozenset(kind for move in moves for kind in _expected(move))

    def coarse(self, step: ModelStep) -> frozenset[Trait]:
        """Return the traits that transitions share if they do the same kind of thing: label and kind of input."""
        return frozenset(self.of(step)[: 2 if step.nodes else 1])

    def fine(self, step: ModelStep) -> frozenset[Trait]:
        """Return the traits that transitions share if they do the same thing, in whatever state."""
        return frozenset(self.of(step))

    def _find(self, nodes: NodeSet, inp: Symbol) -> Iterator[Trait]:
        if nodes:
            yield self.label(ModelStep(nodes, inp))
        yield kind(inp)
        yield "input", inp
        outputs = frozenset(text for move in self._moves(nodes, inp) for text in move.texts)
        if outputs:
            yield "outputs", outputs

    def _moves(self, nodes: NodeSet, inp: Symbol) -> list[Move]:
        return [move for node in nodes for move in self._model.moves(node, inp)]


def kind(inp: Symbol) -> Trait:
    """Return the kind of an input: inputs of one kind do the same thing with other values.

    Dataclasses of one type are of one kind, and so are tuples with the same head, and numbers. Members of an enum and
    texts are names of different things, so each is a kind of its own.
    """
    value = inp.value
    if isinstance(value, (Enum, str)):
        return "kind", inp
    if is_tuple(value):
        return "kind", (tuple, *value[:1])
    return "kind", type(value)


def is_tuple(value: object) -> TypeGuard[tuple[Hashable, ...]]:
    """Return whether a value is a plain tuple: not a named one, nor of another subclass."""
    return type(value) is tuple


def _expected(move: Move) -> Iterator[str]:
    if move.opening is not None:
        yield "accepted outputs"
    for _, chain in move.emitted:
        yield from expected(chain)
