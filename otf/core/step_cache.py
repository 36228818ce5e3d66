"""What is known of a step that was taken before: the bytes of its input and of its outputs, and where they lead."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from otf.core.belief import Belief, Led
from otf.core.due import silent
from otf.core.enabled import view
from otf.core.monitor import Oracle
from otf.core.nodes import Node
from otf.core.symbols import Symbol
from otf.core.view import View
from otf.values.cost import light

PortFrame: TypeAlias = tuple[str, bytes]
"""A port, and the bytes that came on it."""


@light
class CachedInput:
    """An input that was sent before from this belief: its bytes, where it led, what has to be proven quiet after it."""

    symbol: Symbol
    port: str
    data: bytes
    cached: CachedSteps
    proofs: frozenset[tuple[Node, Symbol]]


@light
class CachedOutput:
    """Where an output led that was seen before: `quiescence_predicted`, where the next input may follow.

    `frame` is as it came first: the same object each time, by which others know what they did with it.
    """

    output: object
    frame: bytes
    cached: CachedSteps
    quiescence_predicted: bool


class CachedSteps:
    """What is known of a belief: the inputs that were sent from it and the frames that came, by bytes of one codec."""

    __slots__ = ("belief", "codec", "frames", "inputs", "view")

    def __init__(self, belief: Belief, codec: object) -> None:
        self.belief: Belief = belief
        self.codec: object = codec
        # of a belief with an input in flight nobody asks for it
        self.view: View | None = belief.view
        self.inputs: dict[Symbol, CachedInput] = {}
        self.frames: dict[PortFrame, CachedOutput] = {}

    @staticmethod
    def of(oracle: Oracle, belief: Belief, codec: object) -> CachedSteps:
        """Return what is known of a belief, made once for each codec."""
        cached = belief.ahead.get(CachedSteps)
        if not isinstance(cached, CachedSteps) or cached.codec is not codec:
            cached = CachedSteps(belief, codec)
            oracle.model.memory.put(belief.ahead, CachedSteps, cached)
        return cached

    def offered(self, oracle: Oracle) -> View:
        """Return what may be sent."""
        belief = self.belief
        self.view = belief.view = belief.view or view(oracle.model, oracle.relation, oracle.limits, belief)
        return self.view

    def learn(self, oracle: Oracle, symbol: Symbol, port: str, data: bytes) -> CachedInput | None:
        """Return an input that was sent before without these bytes; None where it has not been, or brings no answer."""
        led = _led(oracle, self.belief, ("sent", port, symbol))
        if led is None or silent(oracle.model, led.belief):
            return None
        proofs = frozenset((node, symbol) for node in self.offered(oracle).nodes)
        go = CachedInput(symbol, port, data, CachedSteps.of(oracle, led.belief, self.codec), proofs)
        return oracle.model.memory.put(self.inputs, symbol, go)

    def heard(self, oracle: Oracle, frame: PortFrame, output: object) -> CachedOutput | None:
        """Return what it means that a frame came that was not looked up before; None where it is new, or odd."""
        led = _led(oracle, self.belief, ("seen", frame[0], oracle.model.heard(output)))
        if led is None or led.kept:
            return None
        quiescence_predicted = silent(oracle.model, led.belief)
        if quiescence_predicted and led.belief.in_flight:
            return None
        then = CachedOutput(output, frame[1], CachedSteps.of(oracle, led.belief, self.codec), quiescence_predicted)
        return oracle.model.memory.put(self.frames, frame, then)


def _led(oracle: Oracle, belief: Belief, event: Hashable) -> Led | None:
    """Return where an event led before, if there is nothing in it that a monitor has to look at."""
    led = belief.after.get(event)
    if led is None or not led.belief.sure or led.belief.unconstrained:
        return None
    return led if len(led.belief.hypotheses) <= oracle.limits.hypotheses else None
