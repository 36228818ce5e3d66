"""A vending machine for coffee: coins, a choice of five products, change.

Source: Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", section 7. The paper does not
give the prices; these are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from otf.spec import Spec, Transition, goto


class Product(Enum):
    """What the machine makes."""

    COFFEE = "coffee"
    ESPRESSO = "espresso"
    DOUBLE = "double espresso"
    FRENCH = "french coffee"
    WIENER = "wiener melange"


class Button(Enum):
    """Actions besides choosing a product."""

    COIN1 = 1
    COIN2 = 2
    RESET = 3
    INFO = 4
    GO = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """The customer chooses a product; the machine makes it on `GO`."""

    product: Product


@dataclass(frozen=True, slots=True)
class Cup:
    """A product comes out."""

    product: Product


@dataclass(frozen=True, slots=True)
class Change:
    """Money comes back."""

    amount: int


@dataclass(frozen=True, slots=True)
class Text:
    """The display shows a text that the model leaves open."""

    text: str


@dataclass(frozen=True, slots=True)
class Machine:
    """The chosen product, if any, and the money inserted."""

    product: Product | None = None
    balance: int = 0


Input: TypeAlias = Button | Choice

PRICES: Final = {
    Product.COFFEE: 1,
    Product.ESPRESSO: 2,
    Product.DOUBLE: 3,
    Product.FRENCH: 4,
    Product.WIENER: 5,
}


def step(state: Machine, inp: Input) -> Iterator[Transition[Machine]]:
    """Yield what may happen; every state specifies every input."""
    match inp:
        case Choice(product):
            yield goto(Machine(product, state.balance))
        case Button.COIN1 | Button.COIN2:
            yield goto(Machine(state.product, state.balance + inp.value))
        case Button.RESET:
            yield goto(Machine(), *([Change(state.balance)] if state.balance else []))
        case Button.INFO:
            yield goto(state, Text)
        case Button.GO if state.product is not None and state.balance >= PRICES[state.product]:
            yield goto(Machine(None, state.balance - PRICES[state.product]), Cup(state.product))
        case Button.GO:
            yield goto(state)


INPUTS: Final[tuple[Input, ...]] = (*Button, *map(Choice, Product))
VENDING: Final = Spec(step, initial=Machine(), inputs=INPUTS, name="vending")
