"""Malformed inputs on purpose: a strategy that now and then damages an input before sending it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, Protocol

from otf.core import Chooser, Symbol, View
from otf.spec import Elapse
from otf.strategy.kinds import Maker, StrategyKind
from otf.strategy.pool import Pool, VisitCounts

SALT: Final = 0x6D616C66
MISPLACED: Final = 8  # one in this many malformed inputs is a message of another state, if there is one
KEPT: Final = 50  # earlier inputs


class Damager(Protocol):
    """Makes malformed inputs; `otf.codec.malformed.MalformedCodec` is one."""

    def damaged(self, value: object, random: Random, sent: Sequence[object] = ()) -> object | None:
        """Return a malformed input made from an input, None if that is impossible; `sent` are earlier inputs."""
        ...

    def misplaced(self, value: object) -> object | None:
        """Return an unchanged input for a state that does not specify it; None if that is impossible."""
        ...


def malforming(kind: StrategyKind, share: float, damager: Damager) -> StrategyKind:
    """Return the strategy with this share of its inputs damaged, or taken from another state.

    The strategy chooses as if its own input had been sent.

    >>> from otf.codec.malformed import MalformedCodec
    >>> from otf.models.coffee import codec
    >>> from otf.strategy.kinds import script
    >>> malforming(script(["press"]), 0.1, MalformedCodec(codec)).name
    'script'
    """
    makers = tuple(_with_damage(maker, share, damager) for maker in kind.makers)
    return replace(kind, makers=makers)


def _with_damage(maker: Maker, share: float, damager: Damager) -> Maker:
    def make(pool: Pool, visits: VisitCounts) -> Chooser:
        # its own random numbers: the strategy chooses the same inputs as without damage
        return _Malforming(maker(pool, visits), Random(pool.random.getrandbits(64) ^ SALT), share, damager)

    return make


@dataclass(slots=True)
class _Malforming:
    chooser: Chooser
    random: Random
    share: float
    damager: Damager
    sent: dict[Symbol, None] = field(default_factory=dict[Symbol, None])

    def choose(self, view: View) -> Symbol | None:
        """Return the strategy's choice, or a malformed input made from it."""
        chosen = self.chooser.choose(view)
        if chosen is None or isinstance(chosen.value, Elapse):
            return chosen
        if self.random.random() >= self.share:
            self._remember(chosen)
            return chosen
        bad = self._misplaced(view) or self.damager.damaged(
            chosen.value, self.random, [each.value for each in self.sent]
        )
        symbol = chosen if bad is None else view.model.symbol(bad)
        # never send what some possible state leaves open
        return symbol if all(view.model.specified(node, symbol) for node in view.nodes) else chosen

    def _remember(self, symbol: Symbol) -> None:
        self.sent.pop(symbol, None)
        self.sent = dict.fromkeys([*self.sent, symbol][-KEPT:])

    def _misplaced(self, view: View) -> object | None:
        if self.random.randrange(MISPLACED):
            return None
        open_here = [each for each in self.sent if not any(view.model.specified(node, each) for node in view.nodes)]
        return self.damager.misplaced(self.random.choice(open_here).value) if open_here else None
