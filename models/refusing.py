"""A vending machine whose coin slot is moody: a coin may be counted, or fall through and come back.

The model of `otf.models.vending` with that choice left to the system, and the machines of `otf.models.vending_faults`
behind such a slot. It tests shrinkers, which must replan whenever a coin comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from otf.models import vending
from otf.models.vending import Button, Change, Input, Machine
from otf.models.vending_faults import Device, Reaction, react
from otf.spec import Spec, Transition, goto

SHARE: Final = 0.3  # share of refused coins
COINS: Final = (Button.COIN1, Button.COIN2)


def step(state: Machine, inp: Input) -> Iterator[Transition[Machine]]:
    """Yield what may happen: as in a vending machine, but a coin may also just come back."""
    yield from vending.step(state, inp)
    if inp in COINS:
        yield goto(state, Change(inp.value))


REFUSING: Final[Spec[Machine, Input]] = Spec(step, initial=Machine(), inputs=vending.INPUTS, name="refusing")


def moody(fault: str, random: Random, device: Device, inp: object) -> Reaction:
    """Return the machine after an input, and what comes out; it refuses a coin now and then."""
    if isinstance(inp, Button) and inp in COINS and random.random() < SHARE:
        return device, (Change(inp.value),)
    return react(fault, device, inp)
