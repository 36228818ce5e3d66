"""Evidence for requirements: those without which the model could not explain what the runs showed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from otf.core.belief import Belief, Ledger
from otf.core.explainer import Explainer
from otf.core.lookahead import Lookahead
from otf.core.monitor import Monitor
from otf.core.oracle import Oracle
from otf.trace.events import Event
from otf.trace.verdict import Verdict

UNEXPLAINED: Final = Verdict("fail")
OPEN: Final = Verdict("inconclusive", why="there may be an explanation that was not followed")


@dataclass(slots=True)
class RequirementEvidence:
    """The requirements that paths `reached` and `decided`; call `follow` for each event, and `end` after each path.

    A transition of the model may name requirements (`req=`). A path reaches a requirement if a transition that names
    the requirement can explain one of the path's events. A path decides a requirement if no explanation of the path
    avoids these transitions: the model without them would not allow the path.

    >>> from otf.core import Model, Monitor, Oracle
    >>> from otf.spec import Spec, goto
    >>> from otf.trace.events import Seen, Sent
    >>> def lamp(lit, inp):
    ...     yield goto(not lit, "click", req="R1")
    ...     yield goto(lit, req="R2")  # a press that is too short
    >>> oracle = Oracle(Model(Spec(lamp, False, ["press"])))
    >>> monitor, evidence = Monitor(oracle), RequirementEvidence()
    >>> for event in (Sent("press", "sut", 0.0), Seen("click", "sut", 0.1)):
    ...     verdict = monitor.tell(event)
    ...     evidence.follow(event, monitor)
    >>> sorted(evidence.reached), sorted(evidence.decided)
    (['R1', 'R2'], ['R1'])
    """

    reached: set[str] = field(default_factory=set[str])
    decided: set[str] = field(default_factory=set[str])
    _without: dict[str, MonitorWithout] = field(default_factory=dict[str, "MonitorWithout"])
    _before: tuple[Belief, Ledger, bool] | None = None

    def follow(self, event: Event, monitor: Monitor) -> None:
        """Take an event of the current path, with the monitor after that event."""
        before = self._before or (monitor.oracle.start(), Ledger(), False)
        self._before = monitor.belief, monitor.ledger, monitor.lookahead.cut
        if monitor.verdict is not None:
            self._without.clear()
            return
        if monitor.properties is not None:
            self.reached.update(monitor.properties.tried())
            self.decided.update(monitor.properties.shown())
        considered = monitor.requirements
        if considered:
            self.reached |= considered
            for name in considered - self.decided - self._without.keys():
                self._without[name] = MonitorWithout(name, monitor, before)
        for name, other in list(self._without.items()):
            other.slack = monitor.slack
            verdict = other.tell(event)
            if verdict is UNEXPLAINED:
                self.decided.add(name)
            # the same explanations with and without it: no evidence for it so far
            if verdict is not None or other.same(monitor.belief):
                del self._without[name]

    def end(self) -> None:
        """End the current path; the next event begins another path."""
        self._without.clear()
        self._before = None


class MonitorWithout(Monitor):
    """Judges a run, from some moment on, by the model without the moves that implement one requirement."""

    def __init__(self, requirement: str, monitor: Monitor, before: tuple[Belief, Ledger, bool]) -> None:
        """Start from what another monitor knew before its last event: belief, ledger, whether a search was cut."""
        super().__init__(monitor.oracle, before[0])
        self.ledger, self.events = before[1], monitor.events - 1
        self.explainer = Explainer(monitor.oracle, requirement)
        self.explainer.late = monitor.explainer.late.copy()
        self.requirement = requirement
        self.lookahead = monitor.lookahead.before(monitor.events)
        # what was left out before this event can no longer be judged again
        self._open = before[2] and not self.lookahead.cuts

    def _alike(self, oracle: Oracle, belief: Belief) -> Monitor:
        other = MonitorWithout(self.requirement, self, (belief, Ledger(), False))
        other.oracle = other.explainer.oracle = oracle
        other.lookahead = Lookahead()
        return other

    def same(self, belief: Belief) -> bool:
        """Return whether it has the same explanations as the belief."""
        return self.belief is belief or set(self.belief.hypotheses) == set(belief.hypotheses)

    def _empty(self, event: Event) -> Verdict:  # noqa: ARG002 -- a failure needs it, this does not
        return OPEN if self._open or self.lookahead.lost else UNEXPLAINED
