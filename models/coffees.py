"""The coffee machines c0 to c4 of a paper: specs and implementations of each other.

Source: Koopman and Plasmeijer, "Testing with Functions as Specifications", figure 1 and section 4. A coffee costs 10
cents; c0 and c1 leave open what they do not mention, c2 to c4 take every input in every state.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from otf.spec import Spec, Transition, goto, total

PRICE: Final = 10


class IO(Enum):
    """Inputs and outputs: coins go in and may come back, coffee comes out.

    >>> [way.outputs for way in c3(10, IO.DIME)]
    [(Dime,)]
    """

    NICKEL = "nickel"  # 5 cents
    DIME = "dime"  # 10 cents
    BUTTON = "button"  # the customer asks for coffee
    COFFEE = "coffee"  # the machine gives one

    def __repr__(self) -> str:
        """Write the bare word, as the paper does."""
        return self.name.capitalize()


CENTS: Final = {IO.NICKEL: 5, IO.DIME: 10}


def c0(paid: int, inp: IO) -> Iterator[Transition[int]]:
    """Yield what the simplest machine does: coins up to the price, then the button."""
    if inp is IO.BUTTON and paid == PRICE:
        yield goto(0, IO.COFFEE)
    elif inp in CENTS and paid + CENTS[inp] <= PRICE:
        yield goto(paid + CENTS[inp])


def c1(paid: int, inp: IO) -> Iterator[Transition[int]]:
    """Yield what c0 does; the button may also do nothing."""
    yield from c0(paid, inp)
    if inp is IO.BUTTON and paid == PRICE:
        yield goto(paid)


def c3(paid: int, inp: IO) -> Iterator[Transition[int]]:
    """Yield what c0 does; a surplus coin comes back, and the machine ignores an early button."""
    known = list(c0(paid, inp))
    yield from known or [goto(paid) if inp is IO.BUTTON else goto(paid, inp)]


def c4(paid: int, inp: IO) -> Iterator[Transition[int]]:
    """Yield what a machine does that counts any amount of money, and so has endless states."""
    if inp in CENTS:
        yield goto(paid + CENTS[inp])
    elif paid >= PRICE:
        yield goto(paid - PRICE, IO.COFFEE)
    else:
        yield goto(paid)


INPUTS: Final = (IO.NICKEL, IO.DIME, IO.BUTTON)
C0: Final[Spec[int, IO]] = Spec(c0, 0, INPUTS)
"""The machine that leaves open what happens to an early button or a surplus coin.

>>> [*C0.step(0, IO.BUTTON)]
[]
"""
C1: Final[Spec[int, IO]] = Spec(c1, 0, INPUTS)
"""As `C0`, but the button may also do nothing.

>>> [way.outputs for way in C1.step(10, IO.BUTTON)]
[(Coffee,), ()]
"""
# c2 of the paper has a last alternative for all other inputs, which ignores them
C2: Final[Spec[int, IO]] = Spec(total(C0).step, 0, INPUTS, name="c2")
"""As `C0`, but whatever `C0` leaves open does nothing.

>>> [way.state for way in C2.step(10, IO.DIME)]
[10]
"""
C3: Final[Spec[int, IO]] = Spec(c3, 0, INPUTS)
"""As `C0`, but a surplus coin comes back.

>>> [(way.state, way.outputs) for way in C3.step(10, IO.DIME)]
[(10, (Dime,))]
"""
C4: Final[Spec[int, IO]] = Spec(c4, 0, INPUTS)
"""The machine that takes any amount of money.

>>> [way.state for way in C4.step(90, IO.DIME)]
[100]
"""
MACHINES: Final = (C0, C1, C2, C3, C4)


def worth(thing: object) -> int:
    """Return what a coin, a coffee or an amount of money is worth in cents."""
    if isinstance(thing, IO):
        return PRICE if thing is IO.COFFEE else CENTS.get(thing, 0)
    return thing if isinstance(thing, int) else 0


def fair(paid: int, inp: IO, after: int, outputs: tuple[object, ...]) -> bool:
    """Return whether no money is lost: what was inside or inserted is now inside or returned."""
    return worth(paid) + worth(inp) == worth(after) + sum(map(worth, outputs))


def solvent(paid: int, _inp: IO, after: int, _outputs: tuple[object, ...]) -> bool:
    """Return whether no customer gets credit."""
    return paid < 0 or after >= 0
