"""Steps that were all taken before, past a session: what it would command and believe is known.

A session and its monitor ask many questions at each event, because anything may happen. In a long run nearly nothing
new does: one input is in flight, and its answer is one that came before from the same set of states. Such a step is two
look-ups here. By definition the run is the same: before a session is asked for anything again, it is told how far the
trip went, and the last step event by event.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from otf.core.belief import Belief, Led
from otf.core.calm import silent
from otf.core.eager import Eager
from otf.core.monitor import Oracle
from otf.core.offer import View, view
from otf.core.places import Place
from otf.core.symbols import Symbol
from otf.core.timing import Timing
from otf.trace.events import Event, Seen, Sent
from otf.values.light import light

if TYPE_CHECKING:
    from otf.core.session import Session

LONG: Final = 50
"""Events in one step, beyond which a trip is over: more may be a flood."""

Frame: TypeAlias = tuple[str, bytes]
"""A port, and the bytes that came on it."""


@dataclass(slots=True, eq=False)
class Go:
    """An input that was sent before from this belief: its bytes, where it led, what has to be proven quiet after it.

    `sure` is the memory in which that was found.
    """

    symbol: Symbol
    port: str
    data: bytes
    known: Known
    proofs: frozenset[tuple[Place, Symbol]]
    sure: set[tuple[Place, Symbol]] | None = None

    def quiet(self, proven: set[tuple[Place, Symbol]]) -> bool:
        """Tell whether quiescence was seen after it once."""
        if self.sure is not proven and proven.issuperset(self.proofs):
            self.sure = proven
        return self.sure is proven


@light
class Then:
    """Where an output led that was seen before: `calm`, where the next input may follow.

    `frame` is as it came first: the same object each time, by which others know what they did with it. `proven` tells
    that nothing is known of inputs any more than that they were taken.
    """

    output: object
    frame: bytes
    known: Known
    calm: bool
    proven: bool


class Known:
    """What is known of a belief: the inputs that were sent from it and the frames that came, by bytes of one codec."""

    __slots__ = ("belief", "codec", "frames", "inputs", "view")

    def __init__(self, belief: Belief, codec: object) -> None:
        self.belief: Belief = belief
        self.codec: object = codec
        # of a belief with an input in flight nobody asks for it
        self.view: View | None = belief.offered
        self.inputs: dict[Symbol, Go] = {}
        self.frames: dict[Frame, Then] = {}

    def offered(self, oracle: Oracle) -> View:
        """Return what may be sent."""
        if self.view is None:
            self.view = self.belief.offered = view(oracle.model, oracle.relation, oracle.limits, self.belief)
        return self.view

    @staticmethod
    def of(belief: Belief, codec: object) -> Known:
        """Return what is known of a belief, made once for each codec."""
        known: Known | None = belief.known
        if known is None or known.codec is not codec:
            known = belief.known = Known(belief, codec)
        return known


@dataclass(slots=True)
class Trip:
    """How far a trip went; `last` are the events of its last step, which began in `before`."""

    session: Session
    pacing: Eager
    known: Known
    done_by: float
    before: Known = field(init=False)
    before_by: float = field(init=False)
    room: int = field(init=False)
    timing: Timing = field(init=False)
    go: Go | None = None
    last: list[Event] = field(default_factory=list[Event])
    steps: int = 0
    events: int = 0
    next: Symbol | None = None
    over: bool = False

    def __post_init__(self) -> None:
        """Begin where the session is."""
        monitor = self.session.monitor
        self.before, self.before_by = self.known, self.done_by
        self.timing = monitor.oracle.timing
        self.room = self.session.steps - monitor.sent

    @staticmethod
    def out(session: Session, codec: object) -> Trip | None:
        """Return a trip from where a session is; None where it has to be asked what comes next."""
        moment, pacing = session.moment, session.pacing
        monitor = moment.monitor
        belief, oracle = monitor.belief, monitor.oracle
        if not isinstance(pacing, Eager) or session.asking or session.over or moment.quiet:
            return None
        if moment.next is not None or monitor.verdict is not None or monitor.unproven:
            return None
        if session.flood < LONG or oracle.model.timed or not _settled(oracle, belief) or not pacing.ready(moment):
            return None
        return Trip(session, pacing, Known.of(belief, codec), monitor.done_by)

    def choose(self) -> Symbol | None:
        """Return the input to be sent now, None where the session has to be asked, or knows that the path is over."""
        if self.steps >= self.room or (self.go is not None and not self.go.quiet(self.pacing.proven)):
            return None
        known = self.known
        self.next = self.session.chooser.choose(known.view or known.offered(self.session.monitor.oracle))
        self.over = self.next is None
        return self.next

    def learn(self, symbol: Symbol, port: str, data: bytes) -> Go | None:
        """Return an input that was sent before without these bytes; None where it has not been, or brings no answer."""
        oracle, before = self.session.monitor.oracle, self.known
        led = _led(oracle, before.belief, ("sent", port, symbol))
        if led is None or silent(oracle.model, led.belief):
            return None
        proofs = frozenset((place, symbol) for place in before.offered(oracle).places)
        oracle.beliefs.count()
        go = before.inputs[symbol] = Go(symbol, port, data, Known.of(led.belief, before.codec), proofs)
        return go

    def heard(self, frame: Frame, output: object) -> Then | None:
        """Return what it means that a frame came that was not looked up before; None where it is new, or odd."""
        oracle, before = self.session.monitor.oracle, self.known
        led = _led(oracle, before.belief, ("seen", frame[0], oracle.model.symbol(output)))
        if led is None:
            return None
        calm, proven = silent(oracle.model, led.belief), not led.kept
        if calm and not (proven and _settled(oracle, led.belief)):
            return None
        after = Known.of(led.belief, before.codec)
        oracle.beliefs.count()
        then = before.frames[frame] = Then(output, frame[1], after, calm, proven)
        return then

    def sent(self, go: Go, event: Sent) -> None:
        """Take that an input was sent."""
        self.before, self.before_by = self.known, self.done_by
        self.known, self.go, self.last, self.next = go.known, go, [event], None
        self.done_by = max(event.at + self.timing.latency, self.done_by) + self.timing.busy
        self.steps += 1
        self.events += 1

    def seen(self, then: Then, event: Seen) -> None:
        """Take that an output was seen."""
        self.known = then.known
        self.last.append(event)
        if then.proven:
            self.done_by = min(self.done_by, event.at + self.timing.busy)
        self.events += 1

    def back(self) -> None:
        """Tell the session, also what was chosen and not sent."""
        if self.steps:
            skipped = self.events - len(self.last)
            self.session.skip(self.before.belief, self.steps - 1, skipped, self.before_by)
            for event in self.last:
                self.session.tell(event)
        if self.next is not None:
            self.session.plan(self.next)
        self.session.over = self.session.over or self.over


def _settled(oracle: Oracle, belief: Belief) -> bool:
    """Tell whether the next input may follow wherever it goes, with nothing to be thought of."""
    return not belief.flying and not belief.unconstrained and silent(oracle.model, belief)


def _led(oracle: Oracle, belief: Belief, event: Hashable) -> Led | None:
    """Return where an event led before, if there is nothing in it that a monitor has to look at."""
    led = belief.after.get(event)
    if led is None or not led.belief.sure or led.belief.unconstrained:
        return None
    return led if len(led.belief.hypotheses) <= oracle.limits.hypotheses else None
