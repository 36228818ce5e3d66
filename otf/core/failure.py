"""Why no state is left: the reason of a failure as data, in the words of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from otf.core.belief import Belief
from otf.core.model import Model
from otf.core.places import Move, Open, Place
from otf.core.symbols import Symbol
from otf.trace.events import Closed, Event, Garbled, Seen, Sent
from otf.trace.verdict import Allowed, Failure, Kind, Signature
from otf.values import show

SHOWN = 20  # states shown in one failure: more is no explanation
WAYS = 200  # ways looked at from one state: inputs in flight can be taken in very many orders


@dataclass(slots=True)
class Step:
    """What happened since everything was last settled: where it began, the inputs, the outputs so far."""

    before: Belief
    # no factories of typed lists: such a list takes ten times as long as a bare one, and every step has two
    inputs: list[Sent]
    outputs: list[Seen | Closed]


class At(NamedTuple):
    """Where in a run something happened: the number of the event, and that of the last input."""

    event: int
    step: int


def explain(model: Model, step: Step, event: Event, at: At, untimely: Kind | None = None) -> Failure:
    """Return the failure for the event that left no state; `untimely`: it would be right later, or earlier.

    The signature speaks of the whole step, not of the moment: outputs on different ports come in any order, and the
    same fault must have the same signature whichever came first.
    """
    places = step.before.places
    ways = {place: list(islice(_ways(model, place, step.inputs), WAYS)) for place in places}
    moves = [move for each in ways.values() for way in each for move in way]
    return Failure(
        signature=Signature(
            kind=untimely or _kind(event, moves),
            state=_states(step.before),
            input=_input(step.inputs),
            expected=_names(_expected(moves)) or "silence",
            seen=_seen(event),
        ),
        event=at.event,
        step=at.step,
        input=_inputs(step.inputs),
        seen=_text(event),
        port=getattr(event, "port", ""),
        before=tuple(_text(each) for each in step.outputs),
        allowed=tuple(Allowed(show(place.value), _branches(ways[place])) for place in places[:SHOWN]),
    )


def flooded(step: Step, seen: str, number: int, sent: int) -> Failure:
    """Return the failure of a system that never pauses."""
    signature = Signature("flood", _states(step.before), _input(step.inputs), "a pause", "outputs")
    return Failure(signature, number, sent, _inputs(step.inputs), seen, "")


def _states(before: Belief) -> str:
    return _names(type(place.value).__name__ for place in before.places)


def _input(inputs: Sequence[Sent]) -> str:
    return _names(type(each.input).__name__ for each in inputs) or "no input"


def _inputs(inputs: Sequence[Sent]) -> str:
    return "; ".join(show(each.input) for each in inputs)


def _ways(model: Model, place: Place, inputs: Sequence[Sent]) -> Iterator[tuple[Move, ...]]:
    """Yield what may happen from a place: the inputs taken in any order that their ports allow, or a move by itself."""
    queues: dict[str, tuple[Symbol, ...]] = {}
    for each in inputs:
        queues[each.port] = (*queues.get(each.port, ()), model.symbol(each.input))
    if inputs:
        yield from _orders(model, place, queues, ())
    yield from ((move,) for move in model.unasked(place))


def _orders(
    model: Model, place: Place, queues: Mapping[str, tuple[Symbol, ...]], way: tuple[Move, ...]
) -> Iterator[tuple[Move, ...]]:
    if not queues:
        yield way
    for port, (head, *rest) in queues.items():
        left = {name: queue for name, queue in queues.items() if name != port} | ({port: tuple(rest)} if rest else {})
        moves = model.moves(place, head)
        if way and not moves:
            # from there on the model leaves everything open
            yield way
        for move in moves:
            if isinstance(move.target, Place):
                yield from _orders(model, move.target, left, (*way, move))
            else:
                yield (*way, move)


def _branches(ways: Iterable[tuple[Move, ...]]) -> tuple[tuple[tuple[str, ...], str], ...]:
    branches = ((tuple(text for move in way for text in move.texts), _target(way[-1])) for way in ways)
    return tuple(dict.fromkeys(branches))


def _target(move: Move) -> str:
    return "a state that depends on them" if isinstance(move.target, Open) else show(move.target.value)


def _kind(event: Event, moves: Sequence[Move]) -> Kind:
    match event:
        case Closed():
            return "ended"
        case Seen(Garbled()):
            return "undecodable"
        case Seen(_, port):
            return "wrong" if any(port in _ports(move) for move in moves) else "unasked"
        case _:
            return "missing"


def _ports(move: Move) -> set[str]:
    accepted = {move.target.port} if isinstance(move.target, Open) else set[str]()
    return accepted | {port for port, _ in move.owes}


def _expected(moves: Iterable[Move]) -> Iterable[str]:
    for move in moves:
        if isinstance(move.target, Open):
            yield "accepted outputs"
        for _, bags in move.owes:
            yield from (want.kind for bag in bags for want in bag)


def _names(names: Iterable[str]) -> str:
    return "|".join(sorted(set(names)))


def _seen(event: Event) -> str:
    match event:
        case Seen(output):
            return type(output).__name__
        case Closed():
            return "Ended"
        case _:
            return "silence"


def _text(event: Event) -> str:
    match event:
        case Seen(output):
            return show(output)
        case Closed(_, reason):
            return f"the port ended: {reason}"
        case _:
            return "nothing more"
