"""Several inputs at once, judged by every order in which the system may have taken them: a linearizability check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from otf.core.commands import Chooser, Send
from otf.core.deadlines import slow
from otf.core.hypothesis import with_input
from otf.core.memory import Symbol
from otf.core.monitor import Monitor
from otf.core.pacing import Moment, Pause, at_rest, silence
from otf.core.timer_waits import Timers
from otf.core.timing import Timing
from otf.core.view import View
from otf.spec import Elapse
from otf.trace.events import Sent

Joins: TypeAlias = Callable[[int, Sequence[Send], Send], bool]
"""Returns whether an input is sent at once with those before it in its burst, given its number in the run."""

MostAlike: TypeAlias = Callable[[Symbol, Sequence[Symbol]], Sequence[Symbol]]
"""Returns the inputs that are most like the first one."""


@dataclass(slots=True)
class Burst:
    """Sends up to `size` inputs without waiting, then waits for quiescence.

    The possible states then cover every interleaving of the inputs in flight (Herlihy and Wing's histories, as sets). A
    burst chooses all its inputs before it sends the first one. Computing in between would give the system time, and a
    race with a small window would never occur.

    If there are `clients`, only these send at once, one input each. If there is `joins`, it decides which inputs join a
    burst, as they did in another run. In every second burst the other inputs are those most `alike` the first: two
    clients race most often if they do the same. `timers` decides when to wait for spontaneous outputs.
    """

    timing: Timing
    size: int
    timers: Timers = field(default_factory=Timers)
    clients: frozenset[str] = frozenset()
    joins: Joins | None = None
    alike: MostAlike | None = None
    _bursts: int = 0
    # inputs of a script that joined no burst: they begin the next one
    _held: list[Symbol] = field(default_factory=list[Symbol])

    def ready(self, moment: Moment) -> bool:
        """Return whether the next burst may begin."""
        return moment.quiet

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, or for a timer."""
        return at_rest(self.timers, self.timing, moment) if moment.quiet else silence(self.timing, moment)

    def learn(self, moment: Moment) -> None:
        """Do nothing: a burst learns nothing from quiescence."""

    def hold(self, inputs: Sequence[Symbol]) -> None:
        """Keep inputs that were chosen but not sent."""
        self._held[:0] = inputs

    def held(self, view: View) -> Symbol | None:
        """Return the next input that was chosen earlier but not sent, or None."""
        while self._held:
            inp = self._held.pop(0)
            if view.allows(inp):
                return inp
        return None

    def others(self, chooser: Chooser, monitor: Monitor, first: Send, at: float, most: int) -> list[Send]:
        """Return the inputs to send at once after the first; together they are at most `most`."""
        self._bursts += 1
        ahead = Monitor(monitor.oracle, monitor.belief)
        ahead.ledger = monitor.ledger
        given = [first]
        while len(given) < min(self.size, most) and not isinstance(given[-1].input.value, Elapse):
            # the model must specify the next one in whatever order the others are taken
            ahead.tell(Sent(given[-1].input.value, given[-1].port, at))
            more = None if ahead.verdict or ahead.crowded else self._another(chooser, ahead, given)
            if more is None:
                break
            given.append(more)
        return given[1:]

    def _another(self, chooser: Chooser, ahead: Monitor, given: Sequence[Send]) -> Send | None:
        view = ahead.oracle.view(ahead.belief)
        if self.clients:
            busy = {each.port for each in given}
            view = view.on(self.clients - busy if busy <= self.clients else frozenset[str]())
            if self.alike is not None and self._bursts % 2:
                view = view.only(self.alike(given[0].input, [*view.enabled.listed()]))
        elif self.joins:
            # an input that is allowed only after the others is sent after them, not skipped
            view = view.taken()
        inp = (self._held.pop(0) if self._held else chooser.choose(view)) if view.nodes else None
        if inp is None:
            return None
        another = Send(inp, ahead.oracle.model.port(inp))
        if self._fits(ahead, given, another):
            return another
        self.hold([inp])
        return None

    def _fits(self, ahead: Monitor, given: Sequence[Send], another: Send) -> bool:
        if not ahead.oracle.view(ahead.belief).allows(another.input):
            return False
        if self.joins and not self.joins(ahead.sent + 1, given, another):
            return False
        # until an answer that takes longer than R is due, it is unknown when the system takes the other inputs
        now = with_input(ahead.belief.hypotheses, another.port, another.input, 0)
        return not slow(ahead.oracle.model, now, self.timing.busy)
