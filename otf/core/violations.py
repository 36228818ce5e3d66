"""Finds which requirements a failure violates: only those of outputs that were due and did not come.

A transition whose outputs have all been seen kept its requirements, and so did one with nothing due yet. An explanation
that does not fit the outputs before the failure is excluded too. If several requirements are left, the run does not
show which of them is violated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.core.expectations import Bag, Chain, Exact, Expectation
from otf.core.hypothesis import PLAIN, Hypothesis, Outstanding, QueuedInput, move_on, push, queue, take_input
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.model_calls import CURRENT
from otf.core.moves import Limits, Moves, Next
from otf.core.nodes import Midway, Move, Node, OpenAccept
from otf.core.search import HypothesisSet, OvergrownError, Search
from otf.core.timing import Clock
from otf.errors import ModelError
from otf.spec.requirements import Requirement
from otf.spec.transition import requirements
from otf.trace.events import Closed, Event, Seen, Sent, Undecodable
from otf.trace.verdict import Citation, FailureKind
from otf.values import show
from otf.values.raised import blame

LIMITS: Final = Limits(hypotheses=100)  # 2,500 moves, some 25 ms: a shrinker asks for every failing candidate
SILENT: Final = "\0silent"  # the port, in no bench, on which moves without outputs are noted
SEVERAL: Final = 2
MANY: Final = 75  # moves of all ways of a step; with more, some ways may have been left out
NOTHING: Final = Chain(Bag(()), None)
NO_NAMES: Final = frozenset[str]()


class Violated(NamedTuple):
    """The requirements that a failure violates, and whether it is unclear which of them."""

    violates: tuple[Citation, ...] = ()
    unclear: bool = False


class Suspects(NamedTuple):
    """The requirements left in one explanation; `certain`: if it is right, one of these is violated."""

    names: frozenset[str]
    certain: bool = True


@dataclass(slots=True)
class TaggedMoves(Moves):
    """Moves without times; each output carries in `loose` the number of its move in `table`.

    Once `forced`, only the inputs that were sent cause moves.
    """

    table: list[Move] = field(default_factory=list[Move])
    forced: bool = False

    def taking(self, now: Hypothesis, port: str, in_flight: QueuedInput, loose: int = 0) -> list[Next]:  # noqa: ARG002 -- as above
        """Return the moves that take an input."""
        if not isinstance(now.position, Node):
            return []
        after = take_input(now, port)
        moves = self.model.moves(now.position, in_flight.symbol)
        return [Next(self._tagged(after, move), move, in_flight, port) for move in moves]

    def spontaneous(self, now: Hypothesis) -> list[Next]:
        """Return the rest of a half-done transition, or the spontaneous moves."""
        position, moves = now.position, tuple[Move, ...]()
        if isinstance(position, Midway):
            moves = position.moves
        elif isinstance(position, Node) and not self.forced:
            moves = self.model.spontaneous(position)
        return [Next(self._tagged(now, move), move) for move in moves]

    def _tagged(self, now: Hypothesis, move: Move) -> Hypothesis:
        tag = next((at for at, each in enumerate(self.table) if each is move), len(self.table))
        if tag == len(self.table):
            self.table.append(move)
        kind = PLAIN._replace(loose=tag)
        then = move_on(now, move, kind)
        if move.ports or not isinstance(move.position, Node):
            return then
        return then._replace(outstanding=push(then.outstanding, SILENT, kind._replace(what=NOTHING)))


@dataclass(frozen=True, slots=True)
class ViolationSearch:
    """The search for what a failing step violates: its states, inputs and outputs, the failing event, its kind."""

    model: Model
    nodes: Sequence[Node]
    inputs: Sequence[Sent]
    outputs: Sequence[Seen | Closed]
    event: Event
    untimely: FailureKind | None
    table: Mapping[str, Requirement]

    def violated(self, ways: Sequence[Sequence[Move]]) -> Violated:
        """Return what is violated. Cites all `ways` in which the step may go if nothing better is known."""
        each = [frozenset(name for move in way for name in move.req) for way in ways]
        if not any(each):
            return Violated()
        moves = TaggedMoves(self.model, limits=LIMITS)
        try:
            found = [self._suspects(moves, end) for end in self._ends(moves)]
        except OvergrownError:
            found = []
        if not any(suspects.names for suspects in found):
            found = [Suspects(names, certain=False) for names in each]
        return self._cited(found, ways)

    def _cited(self, found: Sequence[Suspects], ways: Sequence[Sequence[Move]]) -> Violated:
        sets = [names for names, _ in found]
        common = sets[0].intersection(*sets[1:])
        cited = common or sets[0].union(*sets[1:])
        clear = all(certain for _, certain in found) and len(common) == 1 and common in sets
        # an output that was left out may have excluded another way too early
        clear = clear and sum(map(len, ways)) < MANY and self._shared(common, ways)
        # in the order of the model, which is also that of the text
        known = dict.fromkeys(name for way in ways for move in way for name in move.req)
        ordered = [name for name in known if name in cited]
        ordered += sorted(cited.difference(ordered))
        return Violated(tuple(self._citation(name) for name in ordered), unclear=not clear)

    def _shared(self, names: frozenset[str], ways: Iterable[Sequence[Move]]) -> bool:
        """Return whether all ways with the outputs before the failure, in whatever order, have these names.

        If several inputs are in flight, all ways must have the same names: any other might be the violated one.
        """
        spontaneous = [move for node in self.nodes for move in self.model.spontaneous(node)] if self.inputs else []
        caused = [way for way in ways if way[0] not in spontaneous]
        seen = [(output.port, self.model.output_symbol(output.output)) for output in self.outputs]
        near = [way for way in caused if all(any(_has(move, *each) for move in way) for each in seen)]
        cited = [sorted(name for move in way for name in move.req) for way in near]
        # a timer that expired later is on none of these ways
        timed = not any(names.intersection(move.req) for way in caused for move in way)
        alike = len(self.inputs) < SEVERAL or all(each == cited[0] for each in cited)
        return timed or (alike and all(not names.isdisjoint(each) for each in cited))

    def _citation(self, name: str) -> Citation:
        known = self.table.get(name)
        return Citation(name, f"{known.level}: {known.text}" if known else "")

    def _ends(self, moves: TaggedMoves) -> list[Hypothesis]:
        """Return the explanations of the outputs before the failure, with all inputs taken."""
        flight = Hypothesis(self.nodes[0]).flight
        for number, sent in enumerate(self.inputs, 1):
            flight = push(flight, sent.port, QueuedInput(self.model.symbol(sent.input), number))
        now: HypothesisSet = dict.fromkeys(Hypothesis(node, (), flight) for node in self.nodes)
        search = Search(moves, Clock(self.event.at, 0.0, late=True, early=True))
        for output in self.outputs:
            now = search.seen(now, output.port, self.model.output_symbol(output.output))
        moves.forced = True
        return list(_driven(moves, now))

    def _suspects(self, moves: TaggedMoves, end: Hypothesis) -> Suspects:
        due = [each for port, outputs in end.outstanding if port != SILENT for each in outputs]
        certain = True
        if isinstance(self.event, (Seen, Closed)):
            head = list(self._due(end, self.event))
            # With several inputs, any of them may have caused an output that none of them allows. Or the output is due,
            # but another one comes before it on its port.
            after = queue(end.outstanding, self.event.port)[1:]
            certain = len(self.inputs) < SEVERAL or any(self._meets(each, self.event) for each in after)
            due = head if certain or not head else due
        if due:
            names = [self._names(moves, end, each) for each in due]
            return Suspects(NO_NAMES.union(*names), certain=certain and all(names))
        timed = self._timed(end)
        if timed:
            return Suspects(frozenset(name for move in timed for name in move.req), certain=len(timed) == 1)
        # no output was due: this one is an answer only if the step has no other
        left = [moves.table[each.loose].req for _, outputs in end.outstanding for each in outputs]
        alone = not self.outputs and all(port == SILENT for port, _ in end.outstanding)
        return Suspects(frozenset(name for names in left for name in names), certain=alone)

    def _due(self, end: Hypothesis, event: Seen | Closed) -> Sequence[Outstanding]:
        """Return what was due in place of an output: the next one on its port, or those excluded by time."""
        head = queue(end.outstanding, event.port)[:1]
        if head and not self._meets(head[0], event):
            return head
        return [each for _, outputs in end.outstanding for each in outputs if each.what is not NOTHING and head]

    def _meets(self, head: Outstanding, event: Seen | Closed) -> bool:
        if not isinstance(head.what, Chain) or (isinstance(event, Seen) and isinstance(event.output, Undecodable)):
            return False
        return bool(head.what.bag.without(head.left, self.model.output_symbol(event.output)))

    def _timed(self, end: Hypothesis) -> list[Move]:
        """Return the spontaneous moves that may have been due at the end of a step."""
        if not isinstance(end.position, Node) or (isinstance(self.event, (Seen, Closed)) and not self.untimely):
            return []
        return [move for move in self.model.spontaneous(end.position) if move.within or move.after]

    def _names(self, moves: TaggedMoves, end: Hypothesis, due: Outstanding) -> frozenset[str]:
        move = moves.table[due.loose]
        if isinstance(due.what, OpenAccept):
            return frozenset(self._told(due.what, end) or move.req)
        others: Iterable[Move] = moves.table if len(self.inputs) >= SEVERAL else ()
        # with several inputs in flight, another transition may have the same output
        like = (each.req for each in others if each is not move and _overlaps(each, due.what.bag.left(due.left)))
        return frozenset(move.req).union(*like)

    def _told(self, opening: OpenAccept, end: Hypothesis) -> tuple[str, ...]:
        """Return what the model itself says about the outputs of an Accept."""
        accept, got = opening.accept, end.got
        if accept.violates is None:
            return ()
        if isinstance(self.event, (Seen, Closed)) and self.event.port in opening.ports:
            got = (*got, (self.event.port, self.model.output_symbol(self.event.output)))
        outputs = opening.arguments(got)
        CURRENT.now = "violates", (outputs,)
        try:
            return requirements(accept.violates(outputs))
        except ModelError:
            raise
        except Exception as error:
            what = f"`violates` of an Accept raised on the outputs {show(outputs)}:"
            raise blame(what, error, accept.violates) from error
        finally:
            CURRENT.now = None


def _driven(moves: TaggedMoves, starts: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
    """Yield the hypotheses to which the remaining inputs lead."""
    known, stack = set[Hypothesis](), list(starts)
    while stack:
        now = stack.pop()
        if now in known:
            continue
        known.add(now)
        if len(known) > moves.limits.work:
            raise OvergrownError
        if isinstance(now.position, Midway) or (now.flight and isinstance(now.position, Node)):
            stack.extend(step.then for step in moves.of(now))
        else:
            yield now


def _has(move: Move, port: str, output: Symbol) -> bool:
    if move.opening is not None and port in move.opening.ports:
        return True
    return any(each.matches(output) for name, chain in move.emitted if name == port for each in _expectations(chain))


def _overlaps(move: Move, due: Iterable[Expectation]) -> bool:
    """Return whether a move may have one of the outputs that are due."""
    due = list(due)
    return any(_alike(one, other) for _, chain in move.emitted for other in _expectations(chain) for one in due)


def _expectations(chain: Chain | None) -> Iterator[Expectation]:
    while chain is not None:
        yield from chain.bag.expectations
        chain = chain.then


def _alike(one: Expectation, other: Expectation) -> bool:
    if isinstance(one, Exact):
        return other.matches(one.symbol)
    return not isinstance(other, Exact) or one.matches(other.symbol)
