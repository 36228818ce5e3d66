"""A washing machine in a laundry: a round is eleven inputs in a fixed order, all of them needed.

After the system with real cycles of Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing",
table 3; the paper does not describe it, but its lengths (15, 26, 37, ...) show that a cycle has eleven inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from otf.spec import Spec, Transition, goto


class Heat(Enum):
    """The programmes."""

    COLD = 20
    WARM = 40
    FAIR = 60
    HOT = 90


@dataclass(frozen=True, slots=True)
class Choose:
    """The customer chooses a programme."""

    heat: Heat


class Act(Enum):
    """Other actions in a round, by the customer or the control unit."""

    PAY = "pay"
    LOAD = "load"
    CLOSE = "close"
    LOCK = "lock"
    FILL = "fill"
    WARM_UP = "warm up"
    WASH = "wash"
    DRAIN = "drain"
    UNLOCK = "unlock"
    EMPTY = "empty"


class Said(Enum):
    """What the machine says."""

    PAID = "paid"
    CLOSED = "closed"
    LOCKED = "locked"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Reached:
    """The water has this temperature."""

    degrees: int


@dataclass(frozen=True, slots=True)
class Round:
    """The number of inputs of the round so far, and the chosen programme."""

    done: int = 0
    heat: Heat | None = None


Input: TypeAlias = Act | Choose

ORDER: Final[tuple[Act | None, ...]] = (
    Act.PAY, Act.LOAD, None, Act.CLOSE, Act.LOCK, Act.FILL, Act.WARM_UP, Act.WASH, Act.DRAIN, Act.UNLOCK, Act.EMPTY,
)  # fmt: skip
"""A round; None is the choice of a programme."""

SAYS: Final = {Act.PAY: Said.PAID, Act.CLOSE: Said.CLOSED, Act.LOCK: Said.LOCKED, Act.DRAIN: Said.DONE}


def step(state: Round, inp: Input) -> Iterator[Transition[Round]]:
    """Yield what may happen: only the next input of the round is specified."""
    wanted = ORDER[state.done]
    if isinstance(inp, Choose):
        if wanted is None:
            yield goto(Round(state.done + 1, inp.heat))
    elif inp is wanted:
        last = state.done + 1 == len(ORDER)
        yield goto(Round() if last else Round(state.done + 1, state.heat), *_said(state.heat, inp))


def _said(heat: Heat | None, inp: Act) -> tuple[object, ...]:
    if inp is Act.WARM_UP and heat is not None:
        return (Reached(heat.value),)
    return (SAYS[inp],) if inp in SAYS else ()


INPUTS: Final[tuple[Input, ...]] = (*Act, *map(Choose, Heat))
LAUNDRY: Final[Spec[Round, Input]] = Spec(step, initial=Round(), inputs=INPUTS, name="laundry")

# ---- the system under test -----------------------------------------------------------------------------------------

FAULTS: Final = {
    "expands": "after a hot round the door does not close any more",
    "scale": "after two hot rounds in a row the water is ten degrees too cold",
}


@dataclass(frozen=True, slots=True)
class Washer:
    """The machine's own state: the programme, that of the last round, and the number of hot rounds in a row."""

    heat: Heat | None = None
    last: Heat | None = None
    hot: int = 0


def react(fault: str, washer: Washer, inp: object) -> tuple[Washer, tuple[object, ...]]:
    """Return the machine after an input, and what it says; `fault` is one of `FAULTS`, or "" for none."""
    match inp:
        case Choose(heat):
            return Washer(heat, washer.last, washer.hot), ()
        case Act.EMPTY:
            return Washer(None, washer.heat, washer.hot + 1 if washer.heat is Heat.HOT else 0), ()
        case Act.CLOSE if fault == "expands" and washer.last is Heat.HOT:
            return washer, ()
        case Act.WARM_UP if washer.heat is not None:
            scaled = fault == "scale" and washer.hot > 1
            return washer, (Reached(washer.heat.value - 10 * scaled),)
        case _:
            return washer, (SAYS[inp],) if isinstance(inp, Act) and inp in SAYS else ()
