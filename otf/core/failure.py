"""Why no state is left: the reason for a failure as data, in terms of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from otf.core.belief import Belief, FailedStep
from otf.core.deadlines import named_timers
from otf.core.expectations import Chain
from otf.core.hypothesis import Hypothesis, QueuedInput, Queues, push
from otf.core.model import Model
from otf.core.moves import Moves, Next
from otf.core.nodes import Midway, Move, Node
from otf.core.timing import NEVER, Untimely
from otf.core.violations import ViolationSearch
from otf.spec import Idle
from otf.spec.requirements import Requirement, Requirements
from otf.trace.alike import head
from otf.trace.events import Closed, Event, Seen, Sent, Undecodable
from otf.trace.texts import message_text
from otf.trace.verdict import ANSWERS, MEETS, POSSIBLE, Allowed, Failure, FailureKind, Signature, Verdict
from otf.values import changes, message_of, show
from otf.values.text import COMPARED, LONGEST

SHOWN: Final = 20  # states shown in one failure: more would not help
EXPLAINED: Final = 200  # possible states used to explain a failure: more would take a second
AT_ONCE: Final = 12  # inputs in flight that a signature names
WAYS: Final = 200  # paths considered from one state: inputs in flight can be taken in very many orders
BUDGET: Final = 300  # moves considered, plus one per input: with a thousand in flight, one path is a thousand

NO_REQUIREMENTS: Final = Requirements()
MovePath: TypeAlias = "tuple[Next, MovePath] | None"
TakenWays: TypeAlias = "Mapping[Node, Sequence[TakenWay]]"


class TakenWay(NamedTuple):
    """A path through the model: its moves, and the numbers (from 1) of the inputs they take, in this order."""

    moves: tuple[Move, ...]
    order: tuple[int, ...] = ()


class EventPosition(NamedTuple):
    """A position in a run: the number of the event, and that of the last input."""

    event: int
    step: int


def explain(  # noqa: PLR0913, PLR0917 -- what is known of a failure
    model: Model,
    step: FailedStep,
    event: Event,
    at: EventPosition,
    untimely: FailureKind | None = None,
    times: Untimely = NEVER,
    requirements: Mapping[str, Requirement] = NO_REQUIREMENTS,
) -> Failure:
    """Return the failure at the event that left no state; `untimely`: the output would be right later, or earlier.

    The signature covers the whole step, not the moment: outputs on different ports come in any order, and one defect
    must have one signature whichever output came first.
    """
    nodes = step.before.nodes[:EXPLAINED]
    ways = _all_ways(model, step, nodes)
    search = ViolationSearch(model, nodes, step.inputs, step.outputs, event, untimely, requirements)
    violated = search.violated([way.moves for each in ways.values() for way in each])
    moves, possible = _moves(ways), _possible(step, ways)
    kind = untimely or _kind(event, moves if possible is ways else _moves(possible))
    seen = f"nothing before {_text(event)}" if untimely == "missing" else _text(event)
    ticking = any(each.timers for each in step.before.hypotheses)
    # an output that only comes by itself has nothing to do with the input before it: else each input would make a kind
    by_itself = _due(moves, times.timer) or (_by_itself(event, ways) if untimely != "missing" else set())
    related = [] if by_itself else step.inputs
    answers = _answers(ways) if _messages(related) else ways
    wanted = moves if answers is ways else _moves(answers)
    return Failure(
        signature=Signature(
            kind=kind,
            state=_states(step.before),
            input=_input(related),
            expected=(kind != "unasked" and _names(by_itself or _expected(wanted))) or "silence",
            seen="silence" if untimely == "missing" else _seen(event),
            exact=_exact(kind, related, step, answers, seen),
            meets=_meets(related) if kind in ANSWERS else "",
        ),
        event=at.event,
        step=at.step,
        input=_inputs(step.inputs or (step.last if ticking else [])),
        seen=seen,
        port=getattr(event, "port", ""),
        before=tuple(_text(each) for each in step.outputs),
        allowed=_allowed(step, possible, at.step - len(step.inputs)),
        times=times.words,
        off=times.off,
        violates=violated.violates,
        unclear=violated.unclear,
        together=max(1, len(step.inputs)),
        note=f"{len(step.before.nodes):,} {POSSIBLE}; the trace has {SHOWN} of them" if len(nodes) > SHOWN else "",
    )


def _moves(ways: TakenWays) -> list[Move]:
    every = [move for each in ways.values() for way in each for move in way.moves]
    return [*dict.fromkeys(every)]  # many ways share their moves


def _possible(step: FailedStep, ways: TakenWays) -> TakenWays:
    """Return the ways without the outputs of named timers that did not run: an earlier input had stopped them."""
    ran = {"", *(timer.name for now in step.before.hypotheses for timer in now.timers)}
    if all(way.order or way.moves[0].after in ran for each in ways.values() for way in each):
        return ways
    return {node: [way for way in each if way.order or way.moves[0].after in ran] for node, each in ways.items()}


def _answers(ways: TakenWays) -> TakenWays:
    """Return the ways that take an input; if none of these says anything, all ways.

    What timers may emit meanwhile differs from moment to moment, and would make a kind of each.
    """
    every = [way for each in ways.values() for way in each]
    answers = [way for way in every if way.order]
    if len(answers) == len(every) or not any(move.ports for way in answers for move in way.moves):
        return ways
    return {node: [way for way in each if way.order] for node, each in ways.items()}


def _due(moves: Iterable[Move], timer: str) -> set[str]:
    """Return the kinds of the outputs of a named timer."""
    return {*_expected(move for move in moves if move.after == timer)} if timer else set()


def _by_itself(event: Event, ways: TakenWays) -> set[str]:
    """Return the kind of the output seen if it comes by itself, and is no answer; else nothing."""
    if not isinstance(event, Seen):
        return set()
    seen, every = _seen(event), [way for each in ways.values() for way in each]
    spontaneous = [way for way in every if not way.order]
    if not any(seen in _expected(way.moves) for way in spontaneous):
        return set()
    return set() if any(way.order and seen in _expected(way.moves) for way in every) else {seen}


def _exact(
    kind: FailureKind, related: Sequence[Sent], step: FailedStep, ways: TakenWays, seen: str
) -> Signature | None:
    """Return the signature by values; None unless there was just one input, since values then say little."""
    inputs = [each for each in related if not isinstance(each.input, Idle)]
    if len(inputs) != 1:
        return None
    expected = {", ".join(text for move in way.moves for text in move.texts) for each in ways.values() for way in each}
    states = [show(node.value) for node in step.before.nodes[:SHOWN]]
    return Signature(kind, "|".join(states), show(inputs[0].input), "|".join(sorted(expected)), seen)


def allowed(model: Model, step: FailedStep) -> tuple[Allowed, ...]:
    """Return what each possible state before a step allows for the inputs of the step."""
    return _allowed(step, _possible(step, _all_ways(model, step, step.before.nodes[:SHOWN])))


def _allowed(step: FailedStep, ways: TakenWays, before: int = 0) -> tuple[Allowed, ...]:
    timers = named_timers(step.before, step.earlier)
    return tuple(_of(node, each, before, timers.get(node, ())) for node, each in islice(ways.items(), SHOWN))


def _of(node: Node, ways: Iterable[TakenWay], before: int, timers: tuple[str, ...]) -> Allowed:
    """Return what a node allows; `before` is how many inputs were sent before those of the ways."""
    # different ways may look alike
    alike: dict[tuple[tuple[str, ...], str], list[TakenWay]] = {}
    for way in ways:
        texts = (*[text for move in way.moves for text in move.texts],)
        alike.setdefault((texts, _target(way.moves[-1])), []).append(way)
    changed = tuple(_change(node, each[-1].moves[-1]) for each in alike.values())
    # most steps have one input, and a failure may have hundreds of states
    several = any(len(each[0].order) > 1 for each in alike.values())
    orders = tuple(_orders(alike.values(), before)) if several else ()
    after = tuple(each[0].moves[-1].after or "" for each in alike.values()) if timers else ()
    return Allowed(show(node.value), tuple(alike), changed, orders, timers, after)


def _orders(alike: Iterable[Sequence[TakenWay]], before: int) -> Iterator[str]:
    for ways in alike:
        orders = (", ".join(str(before + number) for number in way.order) for way in ways)
        yield " or ".join(dict.fromkeys(orders))


def _change(node: Node, move: Move) -> str:
    return _target(move) if move.target is None else changes(node.value, move.target.value)


def _all_ways(model: Model, step: FailedStep, nodes: Sequence[Node]) -> dict[Node, list[TakenWay]]:
    share = max(1, len(nodes))
    budget, most = BUDGET // share + len(step.inputs), min(WAYS, max(SHOWN, SHOWN * WAYS // share))
    return {node: list(islice(_ways(model, node, step.inputs, budget), most)) for node in nodes}


def flooded(step: FailedStep, most: str, number: int, sent: int, *, leaves_open: bool) -> Verdict:
    """Return the verdict on a system that never pauses; `leaves_open`: the model may leave its outputs open."""
    seen = f"more than {most} outputs without a pause"
    if leaves_open:
        return Verdict("inconclusive", why=f"{seen}, and the model may leave them open")
    signature = Signature("flood", _states(step.before), _input(step.inputs), "a pause", "outputs")
    return Verdict("fail", Failure(signature, number, sent, _inputs(step.inputs), seen, ""))


def _states(before: Belief) -> str:
    return _names(type(node.value).__name__ for node in before.nodes)


def _input(inputs: Sequence[Sent]) -> str:
    return _names(type(each).__name__ for each in _messages(inputs)) or "no input"


def _messages(inputs: Sequence[Sent]) -> list[object]:
    # a wait that the tester chooses does not count as an input
    return [message_of(each.input) for each in inputs if not isinstance(each.input, Idle)]


def _meets(inputs: Sequence[Sent]) -> str:
    """Return what each of several inputs does: the type of a message, or the first word of a text."""
    sent = _messages(inputs)
    return MEETS.join(sorted(map(_operation, sent))) if 1 < len(sent) <= AT_ONCE else ""


def _operation(message: object) -> str:
    return re.sub(r"^[(\[]?b?['\"]?|&", "", head(show(message))) or type(message).__name__


def _inputs(inputs: Sequence[Sent]) -> str:
    return "; ".join(message_text(each.input, LONGEST) for each in inputs)


def _ways(model: Model, node: Node, inputs: Sequence[Sent], budget: int) -> Iterator[TakenWay]:
    """Yield the paths from a node: the inputs taken in any order that their ports allow, or a spontaneous move.

    It considers at most `budget` moves, which may cut the last path short.
    """
    flight: Queues[QueuedInput] = ()
    for number, each in enumerate(inputs, 1):
        flight = push(flight, each.port, QueuedInput(model.symbol(each.input), number))
    moves = Moves(model)
    stack: list[tuple[Hypothesis, MovePath]] = [(Hypothesis(node, (), flight), None)] if flight else []
    stack = [(_bare(step), _after(None, step)) for step in reversed(moves.spontaneous(Hypothesis(node)))] + stack
    while stack:
        now, path = stack.pop()
        steps = _onward(moves, now)
        if path is not None or len(inputs) > 1:
            # what a single input may lead to is asked for in any case: without it a state would seem to allow anything
            budget -= len(steps)
        if path is not None and (budget < 0 or not steps or [step for step in steps if step.move is None]):
            # no input is left, or the model allows anything from here on
            yield from _with_emitted(model, node, _way(path))
        if budget < 0:
            return
        stack.extend((_bare(step), _after(path, step)) for step in reversed(steps) if step.move is not None)


def _with_emitted(model: Model, node: Node, way: TakenWay) -> Iterator[TakenWay]:
    """Yield a path; a silent one also with what its last state may emit at once, and only so if it must emit that."""
    last, silent = way.moves[-1].target, way.order and not any(move.ports for move in way.moves)
    moves = model.spontaneous(last) if silent and isinstance(last, Node) and last is not node else ()
    emitted = [move for move in moves if move.ports and not (move.after or (move.within and move.within[0]))]
    if not any(move.within for move in emitted):
        yield way
    yield from (TakenWay((*way.moves, move), way.order) for move in emitted)


def _onward(moves: Moves, now: Hypothesis) -> list[Next]:
    if isinstance(now.position, Midway):
        return moves.spontaneous(now)
    return [step for port, in_flight in now.flight for step in moves.taking(now, port, in_flight[0])]


def _bare(step: Next) -> Hypothesis:
    return Hypothesis(step.then.position, (), step.then.flight)


def _after(path: MovePath, step: Next) -> MovePath:
    return path if step.move is None else (step, path)


def _way(path: MovePath) -> TakenWay:
    moves: list[Move] = []
    order: list[int] = []
    while path is not None:
        step, path = path
        if step.move is not None:
            moves.append(step.move)
        if step.in_flight is not None:
            order.append(step.in_flight.number)
    return TakenWay(tuple(moves[::-1]), tuple(order[::-1]))


def _target(move: Move) -> str:
    return "a state that depends on them" if move.target is None else show(move.target.value)


def _kind(event: Event, moves: Sequence[Move]) -> FailureKind:
    match event:
        case Closed():
            return "ended"
        case Seen(Undecodable()):
            return "undecodable"
        case Seen(_, port):
            return "wrong" if any(port in move.ports for move in moves) else "unasked"
        case _:
            return "missing"


def _expected(moves: Iterable[Move]) -> Iterator[str]:
    for move in moves:
        if move.opening is not None:
            yield move.opening.accept.says or "accepted outputs"
        for _, chain in move.emitted:
            yield from expected(chain)


def expected(chain: Chain | None) -> Iterator[str]:
    """Yield the kinds of the outputs in a chain."""
    while chain is not None:
        yield from (kind for expectation in chain.bag.expectations for kind in expectation.kinds)
        chain = chain.then


def _names(names: Iterable[str]) -> str:
    return "|".join(sorted(set(names)))


def _seen(event: Event) -> str:
    match event:
        case Seen(output):
            return type(message_of(output)).__name__
        case Closed():
            return "Ended"
        case _:
            return "silence"


def _text(event: Event) -> str:
    match event:
        case Seen(output):
            return show(output, COMPARED)
        case Closed(_, reason):
            return f"the port ended: {reason}"
        case _:
            return "nothing more"
