"""Follows only one of several orders of moves if the order makes no difference.

Uses sleep sets (Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", chapter 5). Once the
search has followed the moves that take a's input, it need not follow b's and then a's if the two are independent.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, cast

from otf.core.hypothesis import AWAKE, Asleep, Hypothesis, queue
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.moves import Moves, Next
from otf.core.nodes import Midway, Move, Node
from otf.core.timing import FOREVER, Span, Window
from otf.core.windows import Windows

EXAMINED: Final = 4  # spontaneous outputs examined in a row that take as long as a move


@dataclass(slots=True)
class Orders:
    """The moves to follow in order to explain an output on the port `goal`.

    An input that the event does not need stays in flight, and a spontaneous output that it does not need stays unsent:
    later, they have the same result. `examined` counts the spontaneous moves that `_idle` examined.
    """

    moves: Moves
    windows: Windows
    goal: str
    examined: int = 0

    def of(self, now: Hypothesis, asleep: Asleep, woken: Asleep | None) -> list[Next]:
        """Return the moves of a hypothesis, each with the ports that need not be followed after it.

        If a hypothesis is reached again, only the inputs `woken` are left, which were asleep before.
        """
        node = now.position
        if not isinstance(node, Node):
            return self.moves.of(now) if woken is None else []
        others = {port: self._others(now, node, port) for port, _ in now.flight}
        steps = {
            port: self.moves.taking(now, port, in_flight[0], max(others[port].values(), default=0))
            for port, in_flight in now.flight
            if port not in asleep and (woken is None or port in woken)
        }
        tried = asleep
        found: list[Next] = []
        # first the moves that may explain the event at once: the others need not come before them
        for port in sorted(steps, key=lambda port: not any(brings(step, self.goal) for step in steps[port])):
            found += [step._replace(asleep=tried & others[port].keys()) for step in steps[port]]
            # an input that comes too late to be taken in this state may be taken after a timer has expired
            tried |= {port} if steps[port] else AWAKE
        if woken is not None or self._idle(now, node, tried):
            return found
        more = self.moves.spontaneous(now)
        return found + [step._replace(asleep=self._sleeping(now, node, step.move, tried)) for step in more]

    def _others(self, now: Hypothesis, node: Node, port: str) -> dict[str, int]:
        """Return the ports whose input may equally well be taken before that of `port`, each with its last number."""
        head = queue(now.flight, port)[0].symbol
        # each input may restart the timers
        return {
            name: in_flight[-1].number
            for name, in_flight in now.flight
            if name != port and not now.timers and independent(self.moves.model, node, head, in_flight[0].symbol)
        }

    def _sleeping(self, now: Hypothesis, node: Node, move: Move | None, tried: Asleep) -> Asleep:
        """Return the ports whose input was taken before a spontaneous move, and need not be taken after it.

        So a device that talks all the time costs nothing: its messages in flight do not change what an input means.
        """
        model, timed = self.moves.model, bool(now.timers)
        return (
            AWAKE
            if move is None
            else frozenset(
                port
                for port, in_flight in now.flight
                if port in tried and indifferent(model, node, move, in_flight[0].symbol, timed=timed)
            )
        )

    def _idle(self, now: Hypothesis, node: Node, tried: Asleep) -> bool:
        """Return whether no spontaneous move can help: all are on other ports, and inputs mean the same after them.

        Whatever a move would emit now, it can emit when that is seen. Its timers, as known then, allow no less. Of
        moves into new states (numbered messages), as many in a row are examined as would be followed, or until their
        states come again.
        """
        model, followed, port = self.moves.model, self.moves.limits.spontaneous, ""
        heads = [in_flight[0].symbol for _, in_flight in now.flight]
        due, known = {each.name: each.window.trigger.a + each.window.lo for each in now.timers}, {node}
        while tried.issuperset(name for name, _ in now.flight):
            moves = model.spontaneous(node)
            running = {name for name in due if isinstance(name, str)}
            if not running <= node.expiring or not all(self._harmless(now, node, move, heads) for move in moves):
                return False
            onward = [(at, move) for at, move in enumerate(moves) if move.position not in known]
            if not onward:
                return True
            (at, move), *others = onward
            here = move.emitted[0][0] if _plain(move) else ""
            if others or not here or port not in {"", here}:
                return False
            begin = due.get(move.after or at, FOREVER if move.after else -FOREVER)
            if due and not self.windows.clock.begun(Window(Span(begin, begin), 0.0, 0.0)):
                return True
            if not port:
                port, followed = here, followed - sum(each.spontaneous for each in queue(now.outstanding, here))
            if followed <= 0:
                self.moves.cut.add(port)
                return True
            node, followed, self.examined = cast("Node", move.position), followed - 1, self.examined + 1
            known.add(node)
            if due or move.starts or model.windows(node):
                begin = self.windows.clock.unseen(Span(begin, FOREVER)).a
                own = {number: begin + lo for number, lo, _ in model.windows(node)}
                due = {name: due[name] for name in running} | own | {each.name: begin + each.lo for each in move.starts}
        return False

    def _harmless(self, now: Hypothesis, node: Node, move: Move, heads: list[Symbol]) -> bool:
        """Return whether a spontaneous move is on another port, and may as well come after the inputs in flight."""
        model, timed = self.moves.model, bool(now.timers)
        return (
            self.goal not in move.ports
            and restarts(model, node, move)
            and all(indifferent(model, node, move, head, timed=timed) for head in heads)
        )


def brings(step: Next, port: str) -> bool:
    """Return whether a move has an output on a port."""
    return step.move is not None and port in step.move.ports


def _all_ports(move: Move) -> set[str]:
    """Return the ports of all outputs of a transition, also of those that the system still chooses in its middle."""
    later = move.position.moves if isinstance(move.position, Midway) else ()
    return move.ports.union(*map(_all_ports, later))


def _plain(move: Move) -> bool:
    """Return whether a move only emits on one port and changes the state."""
    return move.position is move.target is not None and len(move.emitted) == 1 and not move.req


def independent(model: Model, node: Node, one: Symbol, other: Symbol) -> bool:
    """Return whether two inputs on different ports may be taken in either order with the same result.

    They may if their outputs are on different ports, and both orders lead to the same states.
    """
    if node.independent is None:
        node.independent = {}
    known = node.independent.get((one, other))
    if known is None:
        both = _after(model, node, one, other), _after(model, node, other, one)
        known = both[0] is not None and both[0] == both[1]
        model.memory.put(node.independent, (one, other), known, node)
        model.memory.put(node.independent, (other, one), known, node)
    return known


def indifferent(model: Model, node: Node, move: Move, inp: Symbol, *, timed: bool = False) -> bool:
    """Return whether an input may be taken before or after a spontaneous move with the same result.

    It may if their outputs are on different ports, the input gets the same answers in both states, and the move closes
    the square. If timers run (`timed`), the input must not change the state or start a timer. The move may then start
    only its own timer and those of its state.

    Suppose the move came first, at t, and the input at u. Taking the input first explains the same: it can only restart
    timers of its state, or delay their effect until the system is free. That moves the ends of their intervals to later
    and keeps the begins, so the move may still have come at t. These ends also include what the input did to the timers
    that the move set: `Windows.spontaneous` passes them on. If an input was sent when the move was
    already due, the search does not take it first (`in_time`), and so follows the move. Later events depend only on
    intervals, and the wider of two hypotheses explains whatever the narrower does.
    """
    if node.indifferent is None:
        node.indifferent = {}
    known = node.indifferent.get((move, inp, timed))
    if known is None:
        known = _indifferent(model, node, move, inp, timed=timed)
        model.memory.put(node.indifferent, (move, inp, timed), known, node)
    return known


def restarts(model: Model, node: Node, move: Move) -> bool:
    """Return whether a move sets only its own timer, and those of its state with that timer's times."""
    anew = move.target is node or move.within is not None or move.target is None or not model.windows(move.target)
    return anew and not move.stops and all(each.name == move.after for each in move.starts)


def _indifferent(model: Model, node: Node, move: Move, inp: Symbol, *, timed: bool) -> bool:
    then = move.target
    if then is None or move.opening or not (restarts(model, node, move) if timed else not model.sets_timers(move)):
        return False
    before, after = model.moves(node, inp), model.moves(then, inp)
    return 0 < len(before) == len(after) and all(
        _same_answer(one, other)
        and not _all_ports(one) & _all_ports(move)
        # what follows in the middle of a transition may differ between two states
        and (one is other or isinstance(one.position, Node))
        and (
            _stays(one, node, other, then) and one.within is None if timed else _squares(model, node, move, one, other)
        )
        for one, other in zip(before, after, strict=True)
    )


def _stays(one: Move, node: Node, other: Move, then: Node) -> bool:
    return one.target is node and other.target is then


def _squares(model: Model, node: Node, move: Move, one: Move, other: Move) -> bool:
    if move.target is not None and _stays(one, node, other, move.target):
        return True
    if one.target is None or model.sets_timers(one):
        return False
    return any(
        each.target is other.target
        and (each.emitted, each.req, each.after, each.starts) == (move.emitted, move.req, move.after, move.starts)
        for each in model.spontaneous(one.target)
    )


def _after(model: Model, node: Node, first: Symbol, second: Symbol) -> frozenset[Hashable] | None:
    """Return the results of two inputs, or None if their order may still matter."""
    found: set[Hashable] = set()
    moves = model.moves(node, first)
    for one in moves:
        if model.sets_timers(one):
            return None
        then = model.moves(one.position, second) if isinstance(one.position, Node) else ()
        if not then:
            return None
        for other in then:
            if not isinstance(other.position, Node) or one.ports & other.ports or model.sets_timers(other):
                return None
            outstanding = frozenset(((first, one.emitted), (second, other.emitted)))
            found.add((other.position, outstanding))
    return frozenset(found) if moves else None


def _same_answer(one: Move, other: Move) -> bool:
    acts = one.opening or one.starts or one.stops or other.opening or other.starts or other.stops
    return not acts and (one.emitted, one.within, one.req) == (other.emitted, other.within, other.req)
