"""All explanations of what was seen, one by one, as the design page defines them: nothing clever, and nothing shared.

An explanation is a run of the system, move by move, with a queue for each port. Here every move is made as soon as it
can be, in every order; the oracle makes moves only when an event needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from otf.trace.events import Event, Quiet, Seen, Sent, Taken
from tests.core.random_specs import Machine

Item = TypeVar("Item")
Queues: TypeAlias = frozenset[tuple[str, tuple[Item, ...]]]
ANYTHING = ""  # the state after an unspecified input


class Run(NamedTuple):
    """A run so far. Each unseen output remembers the inputs that were taken before it was emitted."""

    state: str
    coming: Queues[tuple[int, str]] = frozenset()
    going: Queues[tuple[str, frozenset[int]]] = frozenset()
    taken: frozenset[int] = frozenset()
    sent: int = 0


def explained(machine: Machine, events: Sequence[Event]) -> bool:
    """Return whether a conforming system can bring about these events."""
    return bool(explanations(machine, events))


def explanations(machine: Machine, events: Sequence[Event]) -> set[Run]:
    """Return the runs of a conforming system that bring about these events, as they are at the last of them."""
    return [{Run(machine.initial)}, *stages(machine, events)][-1]


def unexplained(machine: Machine, events: Sequence[Event]) -> int:
    """Return the number of the first event that no conforming system can bring about, 0 if there is none."""
    return next((number for number, runs in enumerate(stages(machine, events), 1) if not runs), 0)


def stages(machine: Machine, events: Sequence[Event]) -> Iterator[set[Run]]:
    """Yield the runs of a conforming system that bring about these events, as they are at each of them."""
    runs = {Run(machine.initial)}
    for at, event in enumerate(events):
        left = _outputs_left(machine, events[at:])
        runs = {then for now in _all_moves(machine, runs, left) for then in _after(now, event)}
        yield runs


def _outputs_left(machine: Machine, events: Sequence[Event]) -> dict[str, int]:
    return {
        port: sum(isinstance(event, Seen) and event.port == port for event in events)
        for port in machine.outputs.values()
    }


def _all_moves(machine: Machine, runs: set[Run], left: dict[str, int]) -> set[Run]:
    found, todo = set(runs), list(runs)
    while todo:
        for move in _moves(machine, todo.pop()):
            then = _cut(move, left)
            if then not in found:
                found.add(then)
                todo.append(then)
    return found


def _moves(machine: Machine, now: Run) -> Iterator[Run]:
    for port, queue in now.coming:
        (number, inp), *rest = queue
        after = now._replace(coming=_with(now.coming, port, rest), taken=now.taken | {number})
        ways = machine.asked.get((now.state, inp), [])
        yield from (_moved(machine, after, state, outputs) for state, outputs in ways)
        if not ways:
            yield after._replace(state=ANYTHING)
    for state, outputs in machine.by_itself.get(now.state, []):
        yield _moved(machine, now, state, outputs)


def _moved(machine: Machine, now: Run, state: str, outputs: Iterable[str]) -> Run:
    for output in outputs:
        port = machine.outputs[output]
        now = now._replace(going=_with(now.going, port, [*_of(now.going, port), (output, now.taken)]))
    return now._replace(state=state)


def _cut(now: Run, left: dict[str, int]) -> Run:
    # Of those that will never be seen the first is enough: it alone decides on `Quiet` and `Taken`, since whatever was
    # emitted later had more inputs taken before it. This keeps the runs of a machine that may emit for ever finite.
    for port, queue in now.going:
        now = now._replace(going=_with(now.going, port, queue[: left[port] + 1]))
    return now


def _after(now: Run, event: Event) -> Iterator[Run]:
    match event:
        case Sent(inp, port):
            queue = [*_of(now.coming, port), (now.sent + 1, str(inp))]
            yield now._replace(coming=_with(now.coming, port, queue), sent=now.sent + 1)
        case Seen(output, port):
            yield from _seen(now, str(output), port)
        case Quiet() if not now.coming and not now.going:
            yield now
        case Taken(upto) if _proven(now, set(range(1, upto + 1))):
            yield now
        case _:
            return


def _seen(now: Run, output: str, port: str) -> Iterator[Run]:
    queue = _of(now.going, port)
    if queue and queue[0][0] == output:
        yield now._replace(going=_with(now.going, port, queue[1:]))
    if not queue and now.state == ANYTHING:
        yield now


def _proven(now: Run, inputs: set[int]) -> bool:
    return inputs <= now.taken and all(inputs <= taken for _, queue in now.going for _, taken in queue)


def _of(queues: Queues[Item], port: str) -> tuple[Item, ...]:
    return dict(queues).get(port, ())


def _with(queues: Queues[Item], port: str, queue: Sequence[Item]) -> Queues[Item]:
    kept = frozenset((name, items) for name, items in queues if name != port)
    return kept | {(port, tuple(queue))} if queue else kept
