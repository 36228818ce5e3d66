"""Waits for timers, chosen by a campaign like inputs: by what they can reveal, with quick inputs in between.

A fault of a timer shows only if someone waits. Most such faults need something before the wait: a session prolonged
twice, or an input in the last third of a lease. So two waits are inputs of their own (`Idle`). One lasts until a timer
must have expired; the other lasts a part of that, then a few inputs follow before the timer is waited out. Repeating a
wait after the same inputs in the same states reveals nothing new. An input that has no effect in the model may stop the
timer of a faulty system, so otf sends each such input once per state and timer, and then waits. A timer needs no wait
if no input or end of a path cuts it short, or if it ends while inputs go on, like a heartbeat. If an input stopped a
timer, the rest of its time is waited out once per state: the system may have forgotten to stop it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from otf.core.deadlines import starts
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.monitor import Monitor
from otf.core.nodes import FEW as FEW_INPUTS
from otf.core.nodes import Node
from otf.core.timed_ways import TimedWays, TimerName, WayStep
from otf.core.timer_waits import FIRST, SHARE
from otf.core.timing import FOREVER, Span
from otf.spec import Elapse, Idle
from otf.spec.offering import LONGEST

DEPTH: Final = 3  # how many inputs before a wait can make it a new one
# the least number of inputs between waits: a wait may end a session, and lose all that was reached in it
BETWEEN: Final = (1, 4, 2, 16, 8)
PARTS: Final = (0.6, 0.45, 0.7, 0.5)  # shares of the time until a timer must have expired
FEW: Final = (2, 4, 8)  # the most inputs between part of a timer's time and its end
MARGIN: Final = 1.15  # factor on a wait, so that what comes right after the end is not blamed on a stall

ON_WAYS: Final = 0.5  # the share of the time for waits that may go to ways to what only timers reach

BEYOND: Final = 0.15  # the share of the time for waits that may go to timers that were stopped
AGAIN: Final = 0.1  # seconds until otf looks for a way again where there was none; doubled each time

_NEVER: Final = Span(FOREVER, FOREVER)

WaitKind: TypeAlias = Literal["end", "part"]


class _Wait(NamedTuple):
    """A wait: how many inputs before it make it new, for which timer, and whether it is the second choice of two.

    The least wait is the best. Waiting for the timer that ends last hears the others as well.
    """

    depth: int
    sooner: float
    second: bool
    kind: WaitKind
    timer: TimerName


@dataclass(slots=True)
class Idling:
    """Chooses waits in place of inputs; share it among the paths of a campaign.

    Beyond the first ten seconds, waits take half of the time, shared equally among the timers. `told` counts waits by
    what came before them. When there is time for a wait, otf chooses one that the fewest preceding inputs make new. The
    longer none is found, the more inputs may make it new, until any wait will do.

    >>> from otf.core import Model, Monitor, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> Idling().choose(Monitor(oracle), oracle.start().nodes, oracle.model.symbol("press"), 0.0)
    """

    told: dict[tuple[Hashable, ...], int] = field(default_factory=dict[tuple[Hashable, ...], int])
    # ways to untried inputs in states that only timers reach; None: the strategy does not look for them
    ways: TimedWays | None = None
    _monitor: Monitor | None = None
    _sent: int = 0
    # where the system was when the last input was chosen; a view also has what timers may bring meanwhile
    _before: tuple[Node, ...] = ()
    # the last inputs that started or stopped a timer or changed the state, and the waits among them
    _recent: deque[Hashable] = field(default_factory=lambda: deque[Hashable](maxlen=DEPTH))
    # choices since there was time for a wait
    _choices: int = 0
    _made: int = 0
    # inputs since the last wait
    _inputs: int = 0
    _parts: int = 0
    # inputs still to be sent before waiting out a timer that was waited for in part; None: there is no such timer
    _left: int | None = None
    # the timer being waited for
    _timer: TimerName = None
    # seconds of waits since the last input
    _whole: float = 0.0
    # the timer to wait for after an input without effect
    _tested: TimerName = None
    # the timers at the last choice, and when they were started
    _running: dict[TimerName, Span] = field(default_factory=dict[TimerName, Span])
    # by when each of them must have expired; where the last input that stopped timers came from, and their times
    _until: dict[TimerName, float] = field(default_factory=dict[TimerName, float])
    _from: tuple[Hashable, ...] = ()
    _stopped: dict[TimerName, float] = field(default_factory=dict[TimerName, float])
    _ran: float = 0.0
    _clock: float = 0.0
    _spent: dict[TimerName, float] = field(default_factory=dict[TimerName, float])
    # the same for waits on ways, and how long the campaign must have run before there is time for the next way
    _on_ways: float = 0.0
    _on_way: bool = False
    _next_way: float = 0.0

    def choose(self, monitor: Monitor, nodes: tuple[Node, ...], last: Symbol, now: float) -> Symbol | None:
        """Return a wait to make before the next input, or an input on a way; None for neither.

        `last` was sent in one of the nodes.
        """
        if monitor is self._monitor and self._sent == monitor.sent:
            return None
        # a view has what timers may bring meanwhile, too; the states of a monitor lack what is in flight
        now_in = monitor.oracle.view(monitor.belief).nodes if monitor.belief.in_flight else monitor.states
        stays = monitor is self._monitor and now_in == self._before
        self._note(monitor, nodes, now_in, last, now)
        self._until = monitor.timers()
        left = {timer: until - now for timer, until in self._until.items() if until > now}
        waited = last.value.seconds if isinstance(last.value, Elapse) else 0.0
        # a timer that restarted itself on expiry is a new one
        self._whole = self._whole + waited if waited and stays else waited
        seconds = self._rest(left) if stays else 0.0
        leg = None if seconds or self._left is not None else self._leg(monitor.oracle.model, now_in, left)
        if leg is not None and leg.inp is not None:
            return leg.inp
        places = tuple(dict.fromkeys(map(monitor.oracle.model.place, monitor.states)))
        if leg is not None:
            # without the margin, since most of the next state's time is still left
            seconds = self._waited_out(places, left, leg.timer) / MARGIN
        elif not waited and left:
            seconds = self._seconds(places, left)
            inp = None if seconds else self._without_effect(monitor.oracle.model, now_in, places, left)
            if inp is not None:
                return inp
        if not seconds and not waited:
            seconds = self._beyond(places, now)
        seconds *= MARGIN * monitor.oracle.timing.speed
        return monitor.oracle.model.symbol(Idle(min(LONGEST, float(f"{seconds:.2g}")))) if seconds else None

    def _leg(self, model: Model, nodes: tuple[Node, ...], left: dict[TimerName, float]) -> WayStep | None:
        """Return the next step on a way, if there is time for its waits."""
        if self.ways is None or len(nodes) != 1:
            return None
        plans = self._ran >= self._next_way
        leg = self.ways.next(model, nodes[0], left, plans=plans)
        if leg is None or (leg.inp is None and leg.timer not in left):
            self._next_way = max(AGAIN, 2 * self._ran) if leg is None and plans else self._next_way
            return None
        if self._on_ways + self.ways.waits > ON_WAYS * self._most():
            self._next_way = (self._on_ways + self.ways.waits) / (ON_WAYS * SHARE)
            self.ways.begin()
            return None
        self.ways.gone()
        return leg

    def _most(self) -> float:
        """Return how many seconds waits may have taken by now."""
        return max(FIRST, SHARE * self._ran)

    def _waited_out(self, places: tuple[Hashable, ...], left: dict[TimerName, float], timer: TimerName) -> float:
        """Return how long to wait for a timer on a way."""
        self._tell("end", places, left, timer)
        self._on_way = True
        return left[timer]

    def _rest(self, left: dict[TimerName, float]) -> float:
        """Return how much longer to wait: after each stall, it takes longer until a timer must have expired."""
        rest = left.get(self._timer, 0.0) if self._recent and self._recent[-1] == "end" else 0.0
        return rest if rest < self._whole / 2 else 0.0

    def _without_effect(
        self, model: Model, nodes: tuple[Node, ...], places: tuple[Hashable, ...], left: dict[TimerName, float]
    ) -> Symbol | None:
        """Return an input that has no effect in the model, to be sent before the next wait for a timer."""
        if self.ways is None or self._left is not None or len(nodes) != 1 or model.offered(nodes[0]).size > FEW_INPUTS:
            return None
        # the wait alone comes first
        known = (wait.timer for wait in self._waits(places, left) if wait.kind == "end" and wait.depth)
        for timer in known:
            done = "tested", timer, *places
            for inp in () if done in self.told else model.offered(nodes[0]).all:
                name = "after", timer, inp, *places
                if name not in self.told and model.specified(nodes[0], inp) and not _matters(model, nodes, inp):
                    self._tested, self.told[name] = timer, 1
                    return inp
            self.told[done] = 1
        return None

    def _seconds(self, places: tuple[Hashable, ...], left: dict[TimerName, float]) -> float:
        tested, self._tested = self._tested, None
        if tested in left:
            self._tell("end", places, left, tested)
            return left[tested]
        chosen = self._chosen(places, left)
        if chosen is None:
            return 0.0
        return left[chosen.timer] * (PARTS[self._parts % len(PARTS)] if chosen.kind == "part" else 1.0)

    def _note(
        self, monitor: Monitor, nodes: tuple[Node, ...], now_in: tuple[Node, ...], last: Symbol, now: float
    ) -> None:
        """Note the last input, and how long the campaign has run."""
        model = monitor.oracle.model
        if monitor is not self._monitor:
            self._begin(monitor, nodes)
        took, before = max(0.0, now - self._clock), self._before
        self._ran += took
        heard, self._running = self._running, starts(monitor.belief)
        self._sent, self._clock, self._before = monitor.sent, now, now_in
        if self.ways is not None:
            self.ways.note(model, now_in, before, last)
        if isinstance(last.value, Elapse):
            if isinstance(last.value, Idle):
                self._waited(took)
            return
        self._inputs += 1
        matters = _matters(model, before, last)
        ended = [timer for timer, at in heard.items() if self._running.get(timer, _NEVER).a > at.b]
        if matters:
            self._recent.append(last)
            self._count("cut", ended)
            self._from = tuple(map(model.place, before))
            self._stopped = {timer: self._until.get(timer, 0.0) for timer in ended if timer not in self._running}
        else:
            # otf did not wait, and no input can have done it
            self._count("alone", ended, *dict.fromkeys(map(model.place, before)))
        if self._left is not None:
            self._left = 0 if matters else max(0, self._left - 1)

    def _count(self, what: str, timers: Iterable[TimerName], *places: Hashable) -> None:
        """Count timers that ended by themselves in a place, or that an input or the end of a path cut short."""
        for timer in timers:
            name = what, timer, *places
            self.told[name] = self.told.get(name, 0) + 1

    def _comes(self, places: tuple[Hashable, ...], timer: TimerName) -> bool:
        """Return whether the timer's output usually comes without a wait for it."""
        alone, waited = (self.told.get((what, timer, *places), 0) for what in ("alone", "end"))
        return alone > waited or (waited > 0 and ("cut", timer) not in self.told)

    def _begin(self, monitor: Monitor, nodes: tuple[Node, ...]) -> None:
        """Begin another run: its clock starts anew, and the end of the last run cut its timers short."""
        self._count("cut", self._running)
        if self.ways is not None:
            self.ways.begin()
        self._monitor, self._clock, self._left, self._before, self._timer = monitor, 0.0, None, nodes, None
        self._running, self._stopped, self._tested = {}, {}, None
        self._recent.clear()

    def _beyond(self, places: tuple[Hashable, ...], now: float) -> float:
        """Return how long to wait for a timer that an input stopped, until it would have expired."""
        stopped, self._stopped = self._stopped, {}
        for timer, until in stopped.items():
            name = "stopped", timer, *self._from, *places
            more = until - now
            if more > 0 and name not in self.told and self._spent.get(None, 0.0) + more <= BEYOND * self._most():
                self.told[name] = 1
                self._timer, self._on_way = None, False
                return more
        return 0.0

    def _chosen(self, places: tuple[Hashable, ...], left: dict[TimerName, float]) -> _Wait | None:
        waits = [*self._waits(places, left)]
        if not waits:
            return None
        self._choices += 1
        best = min(waits, key=lambda each: each[:3])
        if self._left is None and best.depth >= self._choices.bit_length():
            return None
        self._tell(best.kind, places, left, best.timer)
        if best.kind == "part":
            self._parts += 1
            self._left = FEW[self._parts % len(FEW)]
        return best

    def _tell(
        self, kind: WaitKind, places: tuple[Hashable, ...], left: dict[TimerName, float], chosen: TimerName
    ) -> None:
        """Record that a wait begins: for a timer, and for those that expire before it."""
        self._made += 1
        for timer in (timer for timer, seconds in left.items() if seconds <= left[chosen]):
            for name in self._names(kind, places, timer):
                self.told[name] = self.told.get(name, 0) + 1
        self._choices, self._inputs, self._left, self._timer, self._on_way = 0, 0, None, chosen, False
        self._recent.append(kind)

    def _waited(self, seconds: float) -> None:
        """Count the seconds of the last wait."""
        if self._on_way:
            self._on_ways += seconds
        else:
            self._spent[self._timer] = self._spent.get(self._timer, 0.0) + seconds

    def _waits(self, places: tuple[Hashable, ...], left: dict[TimerName, float]) -> Iterator[_Wait]:
        """Yield the waits that there is time for; after part of a timer's time, only the one to its end."""
        early = self._left is None and self._inputs < BETWEEN[self._made % len(BETWEEN)]
        if self._left or early or not left:
            return
        most = (self._most() - self._on_ways) / len({*self._spent, *left} - {None})
        for timer, seconds in left.items():
            if self._left is None and self._comes(places, timer):
                continue
            affordable = self._spent.get(timer, 0.0) + seconds <= most
            kinds: tuple[tuple[WaitKind, bool], ...] = ("end", affordable or self._left == 0), ("part", affordable)
            for kind, possible in kinds:
                if not possible:
                    continue
                names = enumerate(self._names(kind, places, timer))
                depth = next((depth for depth, name in names if name not in self.told), DEPTH + 1)
                yield _Wait(depth, -seconds, (kind == "part") == (depth == 0), kind, timer)

    def _names(self, kind: WaitKind, places: tuple[Hashable, ...], timer: TimerName) -> Iterator[tuple[Hashable, ...]]:
        """Yield the names of a wait: by the states alone, with the last input before it, with the last two, …."""
        recent = [*self._recent]
        return ((kind, timer, *places, *recent[len(recent) - depth :]) for depth in range(len(recent) + 1))


def _matters(model: Model, nodes: Iterable[Node], inp: Symbol) -> bool:
    """Return whether an input starts or stops a timer, or changes the state."""
    return any(
        move.starts or move.stops or not isinstance(move.target, Node) or model.place(move.target) != model.place(node)
        for node in nodes
        for move in model.moves(node, inp)
    )
