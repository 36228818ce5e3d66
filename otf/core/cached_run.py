"""A cached run: steps that were all taken before bypass the session, since its commands and beliefs are known.

A session and its monitor check much at each event, because anything may happen. In a long run hardly anything is new:
one input is in flight, and its answer came before from the same set of states. Here, such a step costs two look-ups.
The run is the same by definition: before the session decides anything again, it receives the number of cached steps and
the events of the last one.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias

from otf.core.belief import Belief, EventResult, Ledger, silent
from otf.core.memory import Symbol
from otf.core.oracle import Oracle
from otf.core.pacing import Eager
from otf.core.session import Session
from otf.core.timing import Timing
from otf.core.view import View
from otf.trace.events import Event, Seen, Sent
from otf.values.identity import light

PortFrame: TypeAlias = tuple[str, bytes]
"""A port, and the bytes received on it."""


@light
class CachedInput:
    """An input sent before from this belief: its bytes, the next belief, and the proofs of silence it needs."""

    symbol: Symbol
    port: str
    data: bytes
    cached: CachedSteps
    proofs: frozenset[Hashable]


@light
class CachedOutput:
    """An output seen before: the next belief, and whether the next input may follow (`quiescence_predicted`).

    `frame` is the same object each time, so callers can use it to look up what they derived from it.
    """

    output: object
    frame: bytes
    cached: CachedSteps
    quiescence_predicted: bool


class CachedSteps:
    """The inputs sent from a belief and the frames received there, by the bytes of one codec."""

    __slots__ = ("belief", "codec", "frames", "inputs", "view")

    def __init__(self, belief: Belief, codec: object) -> None:
        self.belief: Belief = belief
        self.codec: object = codec
        # a belief with an input in flight needs none; a view with a long list of inputs is not kept
        self.view: View | None = belief.view if belief.view and belief.view.enabled.kept else None
        self.inputs: dict[Symbol, CachedInput] = {}
        self.frames: dict[PortFrame, CachedOutput] = {}

    @classmethod
    def of(cls, oracle: Oracle, belief: Belief, codec: object) -> Self:
        """Return the cached steps of a belief, created once per codec."""
        cached = belief.ahead.get(cls)
        if not isinstance(cached, cls) or cached.codec is not codec:
            cached = cls(belief, codec)
            oracle.model.memory.put(belief.ahead, cls, cached, belief)
        return cached

    def view_of(self, oracle: Oracle) -> View:
        """Return the view of the belief."""
        found = oracle.view(self.belief)
        if found.enabled.kept:
            self.view = found
        return found

    def learn_input(self, oracle: Oracle, symbol: Symbol, port: str, data: bytes) -> CachedInput | None:
        """Return an input sent before, now with its bytes; None if it is new or no output answers it."""
        result = _known_result(oracle, self.belief, ("sent", port, symbol))
        if result is None or silent(oracle.model, result.belief):
            return None
        proofs = frozenset(oracle.silence_of(node, symbol) for node in self.view_of(oracle).nodes)
        go = CachedInput(symbol, port, data, self.of(oracle, result.belief, self.codec), proofs)
        return oracle.model.memory.put(self.inputs, symbol, go, self.belief)

    def learn_output(self, oracle: Oracle, frame: PortFrame, output: object) -> CachedOutput | None:
        """Return the output of a frame that was never looked up; None if it is new or needs the monitor."""
        result = _known_result(oracle, self.belief, ("seen", frame[0], oracle.model.output_symbol(output)))
        if result is None or result.kept:
            return None
        quiescence_predicted = silent(oracle.model, result.belief)
        if quiescence_predicted and result.belief.in_flight:
            return None
        then = CachedOutput(output, frame[1], self.of(oracle, result.belief, self.codec), quiescence_predicted)
        return oracle.model.memory.put(self.frames, frame, then, self.belief)


def _known_result(oracle: Oracle, belief: Belief, event: Hashable) -> EventResult | None:
    """Return the known result of an event, or None if only the monitor can judge it."""
    result = belief.after.get(event)
    if result is None or not result.belief.hypotheses or result.belief.unconstrained:
        return None
    return result if len(result.belief.hypotheses) <= oracle.limits.hypotheses else None


LONG: Final = 50
"""Events in one step after which a cached run ends: more may be a flood."""


@dataclass(slots=True)
class CachedRun:
    """A cached run in progress; `last` holds the events of its last step, which began in `before`."""

    session: Session
    proven: AbstractSet[Hashable]
    cached: CachedSteps
    ledger: Ledger
    before: CachedSteps = field(init=False)
    done_by: float = field(init=False)
    before_by: float = field(init=False)
    oracle: Oracle = field(init=False)
    timing: Timing = field(init=False)
    room: int = field(init=False)
    go: CachedInput | None = None
    last: list[Event] = field(default_factory=list[Event])
    steps: int = 0
    events: int = 0
    next: Symbol | None = None
    over: bool = False
    # inputs with a proven silence, by identity: hashing a proof takes as long as the rest of a step
    trusted: dict[int, CachedInput] = field(default_factory=dict[int, CachedInput])

    def __post_init__(self) -> None:
        """Start from the current state of the session."""
        self.before, self.done_by, self.before_by = self.cached, self.ledger.done_by, self.ledger.done_by
        self.oracle = self.session.monitor.oracle
        self.timing = self.oracle.timing
        self.room = self.session.steps - self.ledger.sent

    @classmethod
    def start(cls, session: Session, codec: object) -> Self | None:
        """Return a cached run from the state of a session, or None if the session must decide the next step."""
        moment, pacing, monitor = session.moment, session.pacing, session.monitor
        if (
            not isinstance(pacing, Eager)
            or session.pings is not None
            or session.over
            or moment.quiet
            or moment.next is not None
        ):
            return None
        belief, model = monitor.belief, monitor.oracle.model
        if (
            session.flood < LONG
            or model.timed
            or not model.alone
            or monitor.properties is not None
            or monitor.verdict is not None
            or belief.in_flight
            or session.elapses
        ):
            return None
        if not silent(model, belief) or not pacing.ready(moment):
            return None
        return cls(session, pacing.proven, CachedSteps.of(monitor.oracle, belief, codec), monitor.ledger)

    def choose(self) -> Symbol | None:
        """Return the input to send now; None if the session must decide, or if the path is over."""
        go = self.go
        if self.steps >= self.room or (go is not None and id(go) not in self.trusted and not self._proven(go)):
            return None
        cached = self.cached
        self.next = self.session.chooser.choose(cached.view or cached.view_of(self.oracle))
        self.over = self.next is None
        return self.next

    def _proven(self, go: CachedInput) -> bool:
        # looked up anew in each run: a pacing drops its proofs at quiescence when there are too many
        proven = self.proven >= go.proofs
        if proven:
            self.trusted[id(go)] = go
        return proven

    def sent(self, go: CachedInput, event: Sent) -> None:
        """Note that an input was sent."""
        self.before, self.before_by = self.cached, self.done_by
        self.cached, self.go, self.last, self.next = go.cached, go, [event], None
        # builds no ledger for one input that is answered at once, which took a tenth of a step: does as `Ledger.then`
        timing = self.timing
        by = event.at + timing.latency
        self.done_by = (max(self.done_by, by)) + timing.busy
        self.steps += 1
        self.events += 1

    def seen(self, then: CachedOutput, event: Seen) -> None:
        """Note an output, which proves the input taken."""
        self.cached = then.cached
        self.last.append(event)
        self.done_by = min(self.done_by, event.at + self.timing.busy)
        self.events += 1

    def finish(self) -> None:
        """Bring the session up to date; this includes an input that was chosen but not sent."""
        if self.steps:
            skipped = self.events - len(self.last)
            ledger = Ledger(sent=self.ledger.sent + self.steps - 1, done_by=self.before_by)
            self.session.skip(self.before.belief, ledger, self.steps - 1, skipped)
            for event in self.last:
                self.session.tell(event)
        self.session.plan(self.next)
        self.session.over = self.over
