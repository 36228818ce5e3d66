"""A coffee machine: it takes coins of 5 and 10 cents and gives a coffee for 10. A small example to copy from.

`otf run coffee` tests the machine, `otf run coffee --set fault=free` a broken one, and `otf mutants coffee` all broken
ones. The machine is an object in this process; the same spec would test a real one behind any other port. Source:
Koopman and Plasmeijer, "Fully Automatic Testing with Functions as Specifications", figure 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from otf.adapter import Bench, trace_may_set
from otf.adapters.inprocess import inprocess
from otf.codec import lines
from otf.errors import UsageError
from otf.spec import Spec, Transition, goto

PRICE: Final = 10
DIGITS: Final = 9  # the most digits of a coin, since a line comes from outside
FAULTS: Final = {
    "dry": "no coffee comes out",
    "free": "the price is not taken off, so that the next coffee is free",
    "full": "a coin that does not fit any more is counted all the same",
}


@dataclass(frozen=True, slots=True)
class Coin:
    """A customer inserts a coin of so many `cents`.

    >>> codec.encode(Coin(5))
    b'coin 5'
    """

    cents: int


@dataclass(frozen=True, slots=True)
class Button:
    """A customer asks for coffee.

    >>> codec.encode(Button())
    b'button'
    """


@dataclass(frozen=True, slots=True)
class Coffee:
    """The machine gives a coffee.

    >>> codec.decode("line", b"coffee")
    Coffee()
    """


Input: TypeAlias = Coin | Button


def step(paid: int, inp: Input) -> Iterator[Transition[int]]:
    """Yield what may happen when `paid` cents are in the machine; leaves a surplus coin or an early button open."""
    match inp:
        case Coin(cents) if paid + cents <= PRICE:
            yield goto(paid + cents)
        case Button() if paid >= PRICE:
            yield goto(paid - PRICE, Coffee())
        case _:
            return


coffee: Final[Spec[int, Input]] = Spec(step, initial=0, inputs=[Coin(5), Coin(10), Button()], name="coffee")
"""The model of the machine; a state is the number of cents inside.

>>> [(way.state, way.outputs) for way in coffee.step(10, Button())]
[(0, (Coffee(),))]
"""
codec: Final = lines({Coin: "coin {cents}", Button: "button", Coffee: "coffee"})


class Machine:
    """The machine under test: a line in, a line or nothing out. It knows nothing of the model."""

    def __init__(self, fault: str = "none") -> None:
        self._fault = fault
        self._cents = 0

    def take(self, line: bytes) -> bytes | None:
        """Take what the customer does; return what comes out."""
        match line.split():
            case [b"coin", cents] if cents.isdigit() and len(cents) <= DIGITS:
                self._insert(int(cents))
            case [b"button"] if self._cents >= PRICE:
                return self._serve()
            case _:
                pass
        return None

    def _insert(self, cents: int) -> None:
        if self._cents + cents <= PRICE or self._fault == "full":
            self._cents += cents

    def _serve(self) -> bytes | None:
        if self._fault != "free":
            self._cents -= PRICE
        return None if self._fault == "dry" else b"coffee"


@trace_may_set(fault=("none", *FAULTS))
def bench(*, fault: str = "none") -> Bench:
    """Return the bench of the coffee machine; `fault` is one of `FAULTS`. Raises UsageError for another one.

    otf also tries what the spec leaves open (`mixed`), and the machine must ignore it: a correct one lets a surplus
    coin fall through, and does nothing for an early button.

    >>> from otf.campaign import run
    >>> run(bench(), traces=1, steps=10, seed=1).verdict
    'pass'
    """
    if fault not in {"none", *FAULTS}:
        message = f"fault={fault}: the machine has no such fault; it has {', '.join(FAULTS)}, or none"
        raise UsageError(message)
    return Bench.on_ports(
        name="coffee",
        spec=coffee,
        codec=codec,
        ports={"line": inprocess(lambda: Machine(fault).take, port="line")},
        inputs="mixed",
        # a function has answered when it returns, so there is nothing to wait for
        quiescence=0.0,
        latency=0.0,
        busy=0.0,
        mutants=FAULTS,
    )
