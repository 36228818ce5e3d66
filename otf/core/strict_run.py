"""A cached run in strict mode: each input, its outputs and the quiescence after them were all seen before.

Where a rest of the system shows quiescence at once, the decisions of the session and the monitor are most of what a
strict step costs, and in a known step they are the same each time. By definition the run is the same as without, as
that of `otf.core.cached_run`. What differs: an input may have no answer, and quiescence is seen after each step, so
that it need not be predicted.
"""

from __future__ import annotations

from typing import Final, Self, cast

from otf.core.belief import Belief, EventResult
from otf.core.cached_run import LONG, CachedInput, CachedOutput, CachedRun, CachedSteps, PortFrame, known_result
from otf.core.due import silent
from otf.core.memory import Symbol
from otf.core.monitor import Oracle
from otf.core.session import Session
from otf.core.timing import Timing
from otf.core.waits import Strict
from otf.trace.events import Quiet, Sent

QUIET: Final = "quiet"


class StrictSteps(CachedSteps):
    """The inputs, outputs and quiescence that were seen in a belief in strict mode."""

    __slots__ = ()

    def learn_input(self, oracle: Oracle, symbol: Symbol, port: str, data: bytes) -> CachedInput | None:
        """Return an input that was sent before without these bytes; None if it was not."""
        result = known_result(oracle, self.belief, ("sent", port, symbol))
        if result is None:
            return None
        then = self.of(oracle, result.belief, self.codec)
        go = CachedInput(symbol, port, data, then, frozenset(), _unanswered(oracle, result.belief))
        return oracle.model.memory.put(self.inputs, symbol, go, self.belief)

    def learn_output(self, oracle: Oracle, frame: PortFrame, output: object) -> CachedOutput | None:
        """Return the output of a frame not looked up before; None if it is new, or leaves the input unproven."""
        result = known_result(oracle, self.belief, ("seen", frame[0], oracle.model.output_symbol(output)))
        if result is None or result.kept:
            return None
        then = self.of(oracle, result.belief, self.codec)
        found = CachedOutput(output, frame[1], then, _unanswered(oracle, result.belief))
        return oracle.model.memory.put(self.frames, frame, found, self.belief)

    def learn_quiet(self, oracle: Oracle) -> CachedSteps | None:
        """Return where quiescence leads that was not looked up before; None if it is new here, or not allowed."""
        belief = self.belief
        if belief.at_rest and oracle.model.spec.emits is None:
            result: EventResult | None = EventResult(belief)  # the monitor does not remember what changes nothing
        else:
            result = known_result(oracle, belief, QUIET)
        if result is None or result.kept or not result.belief.settled:
            return None
        return oracle.model.memory.put(self.quiet, QUIET, self.of(oracle, result.belief, self.codec), belief)


def _unanswered(oracle: Oracle, belief: Belief) -> bool:
    """Return whether a rest is more likely now than an output, as `Session.answering` has it."""
    return belief.settled or silent(oracle.model, belief)


class StrictRun(CachedRun):
    """A cached run in strict mode; each of its steps but the last has ended with quiescence."""

    __slots__ = ()

    @classmethod
    def start(cls, session: Session, codec: object) -> Self | None:
        """Return a cached run from the state of a session; None if the session must decide the next step."""
        moment, monitor, oracle = session.moment, session.monitor, session.monitor.oracle
        if not isinstance(session.pacing, Strict) or session.probing or session.over or moment.next is not None:
            return None
        if session.flood < LONG or oracle.model.timed or monitor.verdict is not None or session.elapsing:
            return None
        # what a reply teaches depends on the states where outputs are spontaneous
        if oracle.model.spec.emits is not None and oracle.timing.__class__ is not Timing:
            return None
        belief = monitor.belief
        if not moment.quiet or not belief.settled or belief.unconstrained:
            return None
        return cls(session, frozenset(), StrictSteps.of(oracle, belief, codec), monitor.ledger)

    def sent(self, go: CachedInput, event: Sent) -> None:
        """Note that an input was sent."""
        if len(self.last) > 2:  # noqa: PLR2004 -- an output between the input and the quiescence
            # the session does this at quiescence; that of the last step is passed to it
            self.timing.learn(self.last[-2].at - self.last[0].at)
        super().sent(go, event)

    def pause(self, now: float) -> tuple[float, float]:
        """Return until when silence would have to last, as `otf.core.pacing.silence` has it, and how long that is."""
        timing, begun, latest = self.timing, self.last[0].at, self.last[-1].at
        settled = max(begun + timing.settled(1), self.done_by + timing.latency)
        until = max(latest + max(timing.quiescence, timing.latency), settled)
        return until, until - min(latest, now)

    def after_quiet(self) -> CachedSteps | None:
        """Return where quiescence leads now; None if the session must decide."""
        known = self.cached.quiet.get(QUIET)
        return cast("StrictSteps", self.cached).learn_quiet(self.oracle) if known is None else known

    def quiet(self, then: CachedSteps, event: Quiet) -> None:
        """Note quiescence."""
        self.cached = then
        self.last.append(event)
        self.done_by = min(self.done_by, event.at)
        self.events += 1
