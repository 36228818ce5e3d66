"""A trip over steps that were all taken before, past a session: what it would command and believe is known.

A session and its monitor ask many questions at each event, because anything may happen. In a long run nearly nothing
new does: one input is in flight, and its answer is one that came before from the same set of states. Such a step is two
look-ups here. By definition the run is the same: before a session is asked for anything again, it is told how far the
trip went, and the last step event by event.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from otf.core.belief import Belief, EventResult
from otf.core.due import silent
from otf.core.eager import Eager
from otf.core.ledger import Ledger, done_by
from otf.core.memory import Symbol
from otf.core.monitor import Oracle
from otf.core.nodes import Node
from otf.core.session import Session
from otf.core.timing import Timing
from otf.core.view import View
from otf.trace.events import Event, Seen, Sent
from otf.values.light import light

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

    def view_of(self, oracle: Oracle) -> View:
        """Return what may be sent."""
        self.view = oracle.view(self.belief)
        return self.view

    def learn_input(self, oracle: Oracle, symbol: Symbol, port: str, data: bytes) -> CachedInput | None:
        """Return an input that was sent before without these bytes; None where it has not been, or brings no answer."""
        result = _known_result(oracle, self.belief, ("sent", port, symbol))
        if result is None or silent(oracle.model, result.belief):
            return None
        proofs = frozenset((node, symbol) for node in self.view_of(oracle).nodes)
        go = CachedInput(symbol, port, data, CachedSteps.of(oracle, result.belief, self.codec), proofs)
        return oracle.model.memory.put(self.inputs, symbol, go)

    def learn_output(self, oracle: Oracle, frame: PortFrame, output: object) -> CachedOutput | None:
        """Return what it means that a frame came that was not looked up before; None where it is new, or odd."""
        result = _known_result(oracle, self.belief, ("seen", frame[0], oracle.model.output_symbol(output)))
        if result is None or result.kept:
            return None
        quiescence_predicted = silent(oracle.model, result.belief)
        if quiescence_predicted and result.belief.in_flight:
            return None
        then = CachedOutput(output, frame[1], CachedSteps.of(oracle, result.belief, self.codec), quiescence_predicted)
        return oracle.model.memory.put(self.frames, frame, then)


def _known_result(oracle: Oracle, belief: Belief, event: Hashable) -> EventResult | None:
    """Return where an event led before, if there is nothing in it that a monitor has to look at."""
    result = belief.after.get(event)
    if result is None or not result.belief.sure or result.belief.unconstrained:
        return None
    return result if len(result.belief.hypotheses) <= oracle.limits.hypotheses else None


LONG: Final = 50
"""Events in one step, beyond which a trip is over: more may be a flood."""


@dataclass(slots=True)
class CachedRun:
    """How far a trip went; `last` are the events of its last step, which began in `before`."""

    session: Session
    pacing: Eager
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

    def __post_init__(self) -> None:
        """Begin where the session is."""
        self.before, self.done_by, self.before_by = self.cached, self.ledger.done_by, self.ledger.done_by
        self.oracle = self.session.monitor.oracle
        self.timing = self.oracle.timing
        self.room = self.session.steps - self.ledger.sent

    @staticmethod
    def start(session: Session, codec: object) -> CachedRun | None:
        """Return a trip from where a session is; None where it has to be asked what comes next."""
        moment, pacing, monitor = session.moment, session.pacing, session.monitor
        if not isinstance(pacing, Eager) or session.probing or session.over or moment.quiet or moment.next is not None:
            return None
        belief, model = monitor.belief, monitor.oracle.model
        if session.flood < LONG or model.timed or monitor.verdict is not None or belief.in_flight:
            return None
        if not silent(model, belief) or not pacing.ready(moment):
            return None
        return CachedRun(session, pacing, CachedSteps.of(monitor.oracle, belief, codec), monitor.ledger)

    def choose(self) -> Symbol | None:
        """Return the input to be sent now, None where the session has to be asked, or knows that the path is over."""
        # looked up each time: a pacing forgets what it has proven when that is too much
        if self.steps >= self.room or (self.go is not None and not self.pacing.proven.issuperset(self.go.proofs)):
            return None
        cached = self.cached
        self.next = self.session.chooser.choose(cached.view or cached.view_of(self.oracle))
        self.over = self.next is None
        return self.next

    def learn_input(self, symbol: Symbol, port: str, data: bytes) -> CachedInput | None:
        """Return an input that was sent before without these bytes; None where it has not been, or brings no answer."""
        return self.cached.learn_input(self.oracle, symbol, port, data)

    def learn_output(self, frame: PortFrame, output: object) -> CachedOutput | None:
        """Return what it means that a frame came that was not looked up before; None where it is new, or odd."""
        return self.cached.learn_output(self.oracle, frame, output)

    def sent(self, go: CachedInput, event: Sent) -> None:
        """Take that an input was sent."""
        self.before, self.before_by = self.cached, self.done_by
        self.cached, self.go, self.last, self.next = go.cached, go, [event], None
        # the ledger of one input that is answered at once, without its making: that took a tenth of a step
        self.done_by = done_by(self.done_by, event.at, self.timing)
        self.steps += 1
        self.events += 1

    def seen(self, then: CachedOutput, event: Seen) -> None:
        """Take that an output was seen, by which the input is proven taken."""
        self.cached = then.cached
        self.last.append(event)
        self.done_by = min(self.done_by, event.at + self.timing.busy)
        self.events += 1

    def finish(self) -> None:
        """Tell the session, also what was chosen and not sent."""
        if self.steps:
            skipped = self.events - len(self.last)
            ledger = Ledger(sent=self.ledger.sent + self.steps - 1, done_by=self.before_by)
            self.session.skip(self.before.belief, ledger, self.steps - 1, skipped)
            for event in self.last:
                self.session.tell(event)
        self.session.plan(self.next)
        self.session.over = self.over
