"""A priority queue of small numbers: the smallest comes out first, but only after `Init`.

Source: Koopman and Plasmeijer, "Fully Automatic Testing with Functions as Specifications", section 4.2 and figure 3;
the ten mutants are of the kinds that the paper names there ("testing implementations"). The paper's elements are
characters; any type with an order, a sum and a zero will do, and it recommends a small one.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from otf.spec import Spec, Transition, goto

ELEMENTS: Final = range(10)


@dataclass(frozen=True, slots=True)
class Init:
    """Start the queue."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Stop the queue; its contents are lost."""


@dataclass(frozen=True, slots=True)
class Size:
    """Ask for the number of elements."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Ask for the sum of its elements."""


@dataclass(frozen=True, slots=True)
class Out:
    """Take the smallest element out."""


@dataclass(frozen=True, slots=True)
class In:
    """Put an element in."""

    element: int


Input: TypeAlias = Init | Reset | Size | Sum | Out | In


@dataclass(frozen=True, slots=True)
class Int:
    """The answer to `Size`."""

    number: int


@dataclass(frozen=True, slots=True)
class El:
    """The answer to `Sum`, or the element that comes out."""

    element: int


@dataclass(frozen=True, slots=True)
class New:
    """Not started."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Started, with these elements, the smallest first."""

    elements: tuple[int, ...] = ()


State: TypeAlias = New | Queue


def step(state: State, inp: Input) -> Iterator[Transition[State]]:
    """Yield what may happen; leaves a second `Init` open."""
    match state, inp:
        case New(), Init():
            yield goto(Queue())
        case New(), Size():
            yield goto(state, Int(0))
        case New(), Sum():
            yield goto(state, El(0))
        case Queue((first, *rest)), Out():
            yield goto(Queue(tuple(rest)), El(first))
        case Queue(elements), In(element):
            yield goto(Queue(tuple(sorted((*elements, element)))))
        case Queue(elements), Size():
            yield goto(state, Int(len(elements)))
        case Queue(elements), Sum():
            yield goto(state, El(sum(elements)))
        case _, Reset():
            yield goto(New())
        case Queue(), Init():
            return
        case _:
            yield goto(state)


def inputs_of(elements: Iterator[int] | range) -> tuple[Input, ...]:
    """Return the inputs with these elements."""
    return (Init(), Reset(), Size(), Sum(), Out(), *map(In, elements))


QUEUE: Final[Spec[State, Input]] = Spec(step, initial=New(), inputs=inputs_of(ELEMENTS), name="queue")

# ---- the system under test -----------------------------------------------------------------------------------------

Elements: TypeAlias = tuple[int, ...] | None  # None: not started
Insert: TypeAlias = Callable[[tuple[int, ...], int], tuple[int, ...]]


def _sorted(queue: tuple[int, ...], element: int) -> tuple[int, ...]:
    after = list(queue)
    insort(after, element)
    return tuple(after)


def _cut(queue: tuple[int, ...], element: int) -> tuple[int, ...]:
    # at a duplicate it forgets the rest of the list
    after = _sorted(queue, element)
    return after[: after.index(element) + 2] if element in queue else after


INSERTS: Final[dict[str, Insert]] = {
    "fifo": lambda queue, element: (*queue, element),
    "stack": lambda queue, element: (element, *queue),
    "full": lambda queue, element: queue if len(queue) == FULL else _sorted(queue, element),
    "dropped": lambda queue, element: queue if element in queue else _sorted(queue, element),
    "doubled": lambda queue, element: _sorted(_sorted(queue, element) if element in queue else queue, element),
    "cut": _cut,
    "front": lambda queue, element: (element, *queue) if element in queue else _sorted(queue, element),
    "third": lambda queue, element: queue if queue.count(element) > 1 else _sorted(queue, element),
}
FULL: Final = 25
FAULTS: Final = {
    "fifo": "an ordinary queue: elements come out in the order in which they went in",
    "stack": "a stack: the last element comes out first",
    "full": "no more than 25 elements are kept",
    "dropped": "an element that is there already is not inserted",
    "doubled": "an element that is there already is inserted twice",
    "cut": "what lies behind a duplicate is lost",
    "front": "a duplicate is put in front",
    "third": "the third of equal elements is not inserted",
    "empty": "the queue has to be started again when its last element was taken out",
    "implicit": "an element starts the queue by itself",
}


def react(  # noqa: PLR0911 -- one for each input
    fault: str, queue: Elements, inp: object
) -> tuple[Elements, tuple[object, ...]]:
    """Return the queue after an input, and what it answers; `fault` is one of `FAULTS`, or "" for none."""
    match inp:
        case Init():
            return (), ()
        case Reset():
            return None, ()
        case Size():
            return queue, (Int(len(queue or ())),)
        case Sum():
            return queue, (El(sum(queue or ())),)
        case In(element):
            if queue is None:
                return ((element,) if fault == "implicit" else None), ()
            return INSERTS.get(fault, _sorted)(queue, element), ()
        case _:
            return _out(fault, queue)


def _out(fault: str, queue: Elements) -> tuple[Elements, tuple[object, ...]]:
    if not queue:
        return queue, ()
    first, *rest = queue
    return (None if fault == "empty" and not rest else tuple(rest)), (El(first),)
