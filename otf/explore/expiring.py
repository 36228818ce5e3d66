"""Time and order in a model: where named timers may expire, and whether temporal properties hold.

The analysis of timers walks over pairs of a state and the timers running in it. For each timer it keeps an interval for
the remaining time. Each time it reaches a pair again, the intervals grow, and after a few times they become as wide as
possible: so 10,000 ticks in a session do not make 10,000 pairs. If inputs take no time, the walk sees every place where
a timer may expire. If timers depend on each other, it may also see places where none can. For a temporal property, the
pairs are those of a state and what is left of the property.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

from otf.compose.actions import outputs_in
from otf.core import Model, Node
from otf.core.nodes import Move
from otf.explore.finding import Finding, LawVerdict, TakenStep, taken, upheld
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph, Portless
from otf.spec import Accept, Spec
from otf.spec.outputs import vague
from otf.spec.transition import BoundStart
from otf.temporal import Formula, PropertyStep, Residue
from otf.trace.result import counted
from otf.values import show
from otf.values.arguments import checked

LOST: Final = "no lost timer"
UNKNOWN: Final = "no unknown timer"
LIMIT: Final = 10_000  # pairs
GROWN: Final = 8  # how often the intervals of a pair grow before they become as wide as possible
ROUNDING: Final = 1e-9
FOREVER: Final = float("inf")

Interval: TypeAlias = tuple[float, float]
Left: TypeAlias = Mapping[str, Interval]
"""The running timers, each with the least and the greatest number of seconds until it expires."""

TimedNode: TypeAlias = tuple[Node, frozenset[str]]


class TimedMove(NamedTuple):
    """What may happen next in a model, and after how many seconds: a move, or a timer that expires without one."""

    taken: TakenStep
    move: Move | None
    seconds: Interval
    timer: str = ""


@dataclass
class Expiring:
    """The walk through a model that finds where timers may expire, and which of them have no transition for that.

    `lost` has the timers that expired without a transition, `named` those that some `after` names. `bounds` has timers
    that expire without a transition only in a wrong system.
    """

    model: Model
    limit: int = LIMIT
    whole: bool = True
    lost: dict[str, TimedNode] = field(default_factory=dict[str, TimedNode])
    named: dict[str, TimedNode] = field(default_factory=dict[str, TimedNode])
    started: dict[str, float] = field(default_factory=dict[str, float])
    bounds: set[str] = field(default_factory=set[str])
    left: dict[TimedNode, Left] = field(default_factory=dict[TimedNode, Left])
    _grown: dict[TimedNode, int] = field(default_factory=dict[TimedNode, int])
    _from: dict[TimedNode, tuple[TimedNode, TakenStep]] = field(
        default_factory=dict[TimedNode, tuple[TimedNode, TakenStep]]
    )
    _todo: deque[TimedNode] = field(default_factory=deque[TimedNode])

    def run(self) -> None:
        """Walk until no pair is new or has grown."""
        begun = {each.name: (each.lo, each.hi) for each in self.model.spec.timers}
        self.started |= {name: hi for name, (_, hi) in begun.items()}
        first = self.model.initial, frozenset(begun)
        self.left[first] = begun
        self._todo.append(first)
        while self._todo:
            pair = self._todo.popleft()
            for each in list(self._passing(pair)):
                self._go(pair, each)

    def way(self, pair: TimedNode) -> tuple[TakenStep, ...]:
        """Return a way to a pair."""
        back: list[TakenStep] = []
        while pair in self._from:
            pair, taken = self._from[pair]
            back.append(taken)
        return tuple(back[::-1])

    def _passing(self, pair: TimedNode) -> Iterator[TimedMove]:
        """Yield the events that may happen next, as far as time allows."""
        node, left = pair[0], self.left[pair]
        spontaneous = self.model.spontaneous(node)
        ends = [left[name][1] for name in node.expiring if name in left]
        # the system makes a spontaneous move by then
        last = min([*ends, *(move.within[1] for move in spontaneous if move.within)], default=FOREVER)
        for inp in self.model.enabled_inputs(node):
            for move in self.model.moves(node, inp):
                if move.target is node and not (move.starts or move.stops):
                    continue  # a mere wait: the next event says how long; following it would decorrelate timers
                yield TimedMove(TakenStep(inp.value, move.texts), move, (0.0, last))
        for move in spontaneous:
            if move.after:
                self.named.setdefault(move.after, pair)
                if move.after not in left:
                    continue
            begin, end = left.get(move.after, (0.0, FOREVER))
            if begin <= last + ROUNDING:
                yield TimedMove(
                    TakenStep(None, move.texts, spontaneous=True), move, (begin, min(end, last)), move.after
                )
        for name, (begin, end) in left.items():
            if name not in node.expiring and begin <= last + ROUNDING:
                expired = TakenStep(None, (f"({name} expires)",), spontaneous=True)
                yield TimedMove(expired, None, (begin, min(end, last)), name)

    def _go(self, pair: TimedNode, passing: TimedMove) -> None:
        move, target = passing.move, pair[0]
        if move is None:
            if passing.timer in self.bounds:
                return  # only in a wrong system
            self.lost.setdefault(passing.timer, pair)
        elif move.target is None:
            self.whole = False  # its next state depends on outputs, which exist only in a run
            return
        else:
            target = move.target
            self.bounds.update(each.name for each in move.starts if isinstance(each, BoundStart))
            self.started |= {each.name: max(each.hi, self.started.get(each.name, 0.0)) for each in move.starts}
        left = _after(self.left[pair], passing)
        if left is not None:
            self._reach((target, frozenset(left)), left, (pair, passing.taken))

    def _reach(self, pair: TimedNode, left: Left, by: tuple[TimedNode, TakenStep]) -> None:
        known = self.left.get(pair)
        if known is None:
            if len(self.left) >= self.limit:
                self.whole = False
                return
            self._from[pair] = by
        else:
            left = {name: _both(known[name], each) for name, each in left.items()}
            if left == known:
                return
            self._grown[pair] = self._grown.get(pair, 0) + 1
            if self._grown[pair] > GROWN:
                left = {name: (0.0, self.started[name]) for name in left}
        self.left[pair] = left
        self._todo.append(pair)


def _after(left: Left, passing: TimedMove) -> Left | None:
    """Return the timers after an event; None if one of them must have expired earlier."""
    begin, end = passing.seconds
    rest = {name: (max(0.0, lo - end), hi - begin) for name, (lo, hi) in left.items() if name != passing.timer}
    if any(hi < -ROUNDING for _, hi in rest.values()):
        return None
    rest = {name: (lo, max(0.0, hi)) for name, (lo, hi) in rest.items()}
    move = passing.move
    if move is not None:
        rest = {name: each for name, each in rest.items() if name not in move.stops}
        rest |= {each.name: (each.lo, each.hi) for each in move.starts}
    return rest


def _both(one: Interval, other: Interval) -> Interval:
    # rounding errors of sums stay below this
    lo, hi = min(one[0], other[0]), max(one[1], other[1])
    return one if lo >= one[0] - ROUNDING and hi <= one[1] + ROUNDING else (lo, hi)


@checked
def expiring(spec: Spec[Any, Any], limit: int = LIMIT) -> list[Finding]:
    """Check that each timer has a transition wherever it may expire, and that each timer in an `after` is started.

    A spec without named timers has no findings. `limit` bounds the number of pairs of a state and its running timers.

    >>> from otf.spec import goto, start
    >>> def step(state, inp):
    ...     return [goto("on", timers=[start("off", 5.0, 6.0)])] if inp == "light" else [goto("blocked")]
    >>> def emits(state): return [goto("idle", "dark", after="off")] if state == "on" else []
    >>> lamp = Spec(step, "idle", ["light", "block"], emits, name="lamp")
    >>> [(finding.law, bool(finding)) for finding in expiring(lamp)]
    [('no lost timer', False), ('no unknown timer', True)]
    """
    walk = Expiring(Model(spec, Portless()), limit)
    walk.run()
    if not walk.named and not walk.started:
        return []
    return [_lost(walk), _unknown(walk)]


def _lost(walk: Expiring) -> Finding:
    for timer, pair in walk.lost.items():
        where = show(pair[0].value)
        says = f"{timer!r} may expire in {where}, where no transition of emits has after={timer!r}"
        return Finding(
            LOST, LawVerdict.REFUTED, f"{says}; stop it on the way there, or add that transition", walk.way(pair)
        )
    return _upheld(walk, LOST)


def _unknown(walk: Expiring) -> Finding:
    for timer, pair in walk.named.items():
        if timer not in walk.started:
            says = f"in {show(pair[0].value)} emits has after={timer!r}, and no transition starts {timer!r}"
            if walk.whole:
                return Finding(UNKNOWN, LawVerdict.REFUTED, says, walk.way(pair))
            return Finding(UNKNOWN, LawVerdict.UNDECIDED, f"{says} within {len(walk.left):,} pairs")
    return _upheld(walk, UNKNOWN)


def _upheld(walk: Expiring, law: str) -> Finding:
    counted = f"{len(walk.left):,} states with the timers that run there"
    if walk.whole:
        return Finding(law, LawVerdict.PROVEN, counted)
    return Finding(law, LawVerdict.PASSED, f"{counted}; not all were seen")


FACTOR: Final = 100  # pairs of a state and the rest of a property, per state
PAIRS: Final = 3_000  # the same, whatever the number of states: a small model may have a long deadline


class _Pair(NamedTuple):
    """A state with what is left of a property, and the pair and transition that led there."""

    state: int
    left: Residue
    before: _Pair | None = None
    arc: Arc | None = None


@checked
def temporal(graph: Graph, name: str, what: Formula) -> Finding:
    """Return whether a property holds for every run of a model; if not, with a shortest run that violates it.

    A property `sometimes(…)` is a goal: it holds if some run reaches it, and the finding's `way` is such a run. Runs
    are finite, so a promise without a deadline is never violated. Transitions that only describe their outputs
    (`Where`, a class) leave the property open. Raises ModelError if a function of the property raises.

    >>> from otf.explore import explore
    >>> from otf.logic import never
    >>> from otf.spec import Spec, goto
    >>> lamp = explore(Spec(lambda lit, inp: [goto(not lit, "off" if lit else "on")], False, ["press"]))
    >>> print(temporal(lamp, "dark", never("off")))
    property dark: refuted: after these steps it cannot hold any more
        1  'press' / 'on'
        2  'press' / 'off'
    """
    law, goal = f"property {name}", what.kind == "sometimes"
    search = _Search(graph, what)
    for pair in search.pairs():
        if goal and pair.left.truth:
            way = tuple(_way(graph, pair))
            return Finding(law, LawVerdict.PROVEN, f"a run of {counted(len(way), 'step')} reaches it", way)
        if not goal and pair.left.truth is False:
            return Finding(
                law, LawVerdict.REFUTED, "after these steps it cannot hold any more", tuple(_way(graph, pair))
            )
    whole = upheld(graph, law)
    unsure = [*(["outputs that are only described"] * search.vague), *(["too many ways to go on"] * search.cut)]
    if goal:
        verdict = LawVerdict.UNDECIDED if unsure or not graph.whole else LawVerdict.REFUTED
        return replace(whole, verdict=verdict, says=f"no run reaches it; {whole.says}")
    return Finding(law, LawVerdict.PASSED, f"{whole.says}; {', '.join(unsure)}") if unsure else whole


class _Search:
    """A breadth-first search of pairs; `vague`: some outputs are only described; `cut`: there were too many pairs."""

    def __init__(self, graph: Graph, what: Formula) -> None:
        self.vague = self.cut = False
        self._graph, self._start = graph, Residue.of(what)
        self._most = max(PAIRS, FACTOR * len(graph.values))

    def pairs(self) -> Iterator[_Pair]:
        """Yield each pair once, nearest to the start first."""
        pairs = [_Pair(0, self._start)]
        seen = {pairs[0][:2]}
        for pair in pairs:
            yield pair
            for then in self._after(pair) if pair.left.truth is None else ():
                if then[:2] in seen:
                    continue
                if len(seen) >= self._most:
                    self.cut = True
                    return
                seen.add(then[:2])
                pairs.append(then)

    def _after(self, pair: _Pair) -> Iterator[_Pair]:
        for arc in self._graph.arcs(pair.state):
            inp = None if arc.input == SPONTANEOUS else self._graph.inputs[arc.input]
            items = self._graph.outputs[arc.outputs]
            outputs = [value for item in items for value, _ in outputs_in(item)]
            known = not any(vague(each) or isinstance(each, Accept) for each in outputs)
            self.vague = self.vague or not known
            left = pair.left.after(PropertyStep(inp, tuple(outputs)) if known else None)
            # the outputs decide the next state: this step was explored, but not what follows
            if arc.target != OPEN:
                yield _Pair(arc.target, left, pair, arc)


def _way(graph: Graph, pair: _Pair) -> list[TakenStep]:
    way = list[TakenStep]()
    while pair.before is not None and pair.arc is not None:
        way.append(taken(graph, pair.arc.input, pair.arc.outputs))
        pair = pair.before
    return way[::-1]
