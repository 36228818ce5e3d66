"""The systems under test of the benchmarks: plain Python objects, written without a look at the specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otf.models.conference.messages import (
    AnswerPDUin,
    AnswerPDUout,
    Data,
    DataPDUin,
    DataPDUout,
    Datareq,
    Join,
    JoinPDUin,
    JoinPDUout,
    Leave,
    LeavePDUin,
    LeavePDUout,
)
from otf.models.vending import PRICES, Button, Change, Choice, Cup, Product, Text


class VendingMachine:
    """A vending machine; `step` returns its outputs."""

    def __init__(self) -> None:
        self.product: Product | None = None
        self.balance = 0

    def step(self, inp: object) -> Sequence[object]:
        """Take an input."""
        if type(inp) is Choice:
            self.product = inp.product
            return ()
        if inp is Button.COIN1:
            self.balance += 1
            return ()
        if inp is Button.COIN2:
            self.balance += 2
            return ()
        if inp is Button.INFO:
            return (Text("coffee"),)
        if inp is Button.RESET:
            balance, self.balance, self.product = self.balance, 0, None
            return (Change(balance),) if balance else ()
        return self._go()

    def _go(self) -> Sequence[object]:
        product = self.product
        if product is None or self.balance < PRICES[product]:
            return ()
        self.balance -= PRICES[product]
        self.product = None
        return (Cup(product),)


class ConferenceMachine:
    """A conference protocol entity with the id 1; `step` returns its messages."""

    def __init__(self, entities: int) -> None:
        self.others = tuple(range(2, entities + 1))
        self.here: tuple[str, ...] = ()
        self.members: dict[int, str] = {}

    def step(self, inp: Any) -> Sequence[object]:  # noqa: PLR0911 -- a return for each message
        """Take an input."""
        kind = type(inp)
        if not self.here:
            return self._join(inp) if kind is Join else ()
        if kind is Datareq:
            return tuple([DataPDUout(cpe, inp.text) for cpe in self.others if cpe in self.members])
        if kind is Leave:
            left, self.members, self.here = self.members, {}, ()
            return tuple([LeavePDUout(cpe) for cpe in self.others if cpe in left])
        if kind is Join or inp.cpe == 1:
            return ()
        if kind is LeavePDUin:
            self.members.pop(inp.cpe, None)
            return ()
        if kind is DataPDUin:
            return self._data(inp)
        return self._meet(inp)

    def _join(self, inp: Join) -> Sequence[object]:
        self.here = (inp.nick, inp.conf)
        return tuple([JoinPDUout(cpe, inp.nick, inp.conf) for cpe in self.others])

    def _data(self, inp: DataPDUin) -> Sequence[object]:
        nick = self.members.get(inp.cpe)
        return (Data(nick, inp.text),) if nick is not None else (JoinPDUout(inp.cpe, *self.here),)

    def _meet(self, inp: JoinPDUin | AnswerPDUin) -> Sequence[object]:
        if inp.conf != self.here[1] or inp.cpe in self.members:
            return ()
        self.members[inp.cpe] = inp.nick
        return (AnswerPDUout(inp.cpe, *self.here),) if type(inp) is JoinPDUin else ()
