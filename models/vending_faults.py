"""Vending machines under test: a right one, ten wrong ones, and two that wear out.

The faults are ours, since Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", do not
describe theirs. They follow the lengths in table 2: shortest traces of 2 to 6 inputs, first seen after tens to
hundreds. A machine is a function of its state, so that it can be copied and searched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from otf.models.vending import PRICES, Button, Change, Choice, Cup, Product, Text

FAULTS: Final = {
    "keeps": "RESET gives no money back",
    "short": "a change of 2 is paid as 1",
    "mute": "INFO shows nothing while the wiener melange is chosen",
    "sticky": "the product stays chosen after it was made",
    "remembers": "RESET does not forget the product that was chosen",
    "dear": "the wiener melange costs 6 instead of 5",
    "stuck": "a double espresso cannot be chosen when an espresso is",
    "digit": "the balance has one digit: a coin that takes it beyond 9 is lost",
    "eats": "what is left after a french coffee is lost",
    "swallows": "the first coin after a cup is not counted",
}
WEAR: Final = {
    "beans": "after five cups there are no beans left",
    "jam": "after ten coins the slot is jammed: no further coin is counted",
}
BEANS: Final = 5
COINS: Final = 10
DIGIT: Final = 9
SHORT: Final = 2


@dataclass(frozen=True, slots=True)
class Device:
    """The machine's own state; fields that its fault does not need never change."""

    product: Product | None = None
    balance: int = 0
    after_cup: bool = False
    cups: int = 0
    coins: int = 0


Reaction: TypeAlias = tuple[Device, tuple[object, ...]]


def react(fault: str, device: Device, inp: object) -> Reaction:
    """Return the machine after an input, and what comes out; `fault` is one of `FAULTS` or `WEAR`, or "" for none."""
    match inp:
        case Choice(product):
            return _choose(fault, device, product), ()
        case Button.COIN1 | Button.COIN2:
            return _insert(fault, device, inp.value), ()
        case Button.RESET:
            return _reset(fault, device)
        case Button.INFO:
            dark = fault == "mute" and device.product is Product.WIENER
            return device, () if dark else (Text("please choose"),)
        case _:
            return _go(fault, device)


def _choose(fault: str, device: Device, product: Product) -> Device:
    if fault == "stuck" and (device.product, product) == (Product.ESPRESSO, Product.DOUBLE):
        return device
    return replace(device, product=product)


def _insert(fault: str, device: Device, value: int) -> Device:
    if fault == "swallows" and device.after_cup:
        return replace(device, after_cup=False)
    if fault == "digit" and device.balance + value > DIGIT:
        return device
    if fault == "jam":
        if device.coins == COINS:
            return device
        device = replace(device, coins=device.coins + 1)
    return replace(device, balance=device.balance + value)


def _reset(fault: str, device: Device) -> Reaction:
    amount = device.balance
    after = replace(device, balance=0, product=device.product if fault == "remembers" else None)
    if not amount:
        return after, ()
    if fault == "keeps":
        return replace(after, balance=amount), ()
    return after, (Change(1 if fault == "short" and amount == SHORT else amount),)


def _go(fault: str, device: Device) -> Reaction:
    product = device.product
    if product is None or device.balance < _price(fault, product) or (fault == "beans" and device.cups == BEANS):
        return device, ()
    left = 0 if fault == "eats" and product is Product.FRENCH else device.balance - PRICES[product]
    after = replace(device, balance=left, product=product if fault == "sticky" else None)
    return _noted(fault, after), (Cup(product),)


def _noted(fault: str, device: Device) -> Device:
    if fault == "swallows":
        return replace(device, after_cup=True)
    return replace(device, cups=device.cups + 1) if fault == "beans" else device


def _price(fault: str, product: Product) -> int:
    return PRICES[product] + (fault == "dear" and product is Product.WIENER)
