"""As few states as will do: of two in which the system has done the same, the one in which more can come is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeGuard

from otf.channels.net import InNet, covers
from otf.spec.outputs import Accept
from otf.spec.transition import Transition

NetState: TypeAlias = InNet[Any]
NetWay: TypeAlias = Transition[Any] | Accept


def whole(way: object) -> TypeGuard[Transition[Any]]:
    """Tell whether this is a transition as it should be; what is wrong with another, the oracle says."""
    return isinstance(way, Transition) and _is_tuple(way.outputs)


def silent(way: NetWay) -> TypeGuard[Transition[NetState]]:
    """Tell whether nothing is seen of a way, at whatever time it is gone."""
    if not isinstance(way, Transition) or way.outputs != ():
        return False
    return way.within is None and not way.timers and not way.after


def fewest(ways: Sequence[NetWay], origin: NetState | None = None) -> list[NetWay]:
    """Return the ways without those that lead silently to less than others do, or to less than there is in `origin`."""
    there = [] if origin is None else [origin]
    kept: list[NetWay] = []
    for number, way in enumerate(ways):
        if silent(way):
            later = [other.state for other in ways[number + 1 :] if silent(other)]
            if any(covers(state, way.state) for state in there) or any(_more(state, way.state) for state in later):
                continue
            there.append(way.state)
        kept.append(way)
    return kept


def full(net: NetState, moves: Callable[[NetState], Iterable[NetWay]]) -> NetState:
    """Return the state after all that may happen silently, as often as it likes, and only makes more possible.

    A retransmission into the net is such a move, and an input whose copy brings the same answer again.
    """
    for way in moves(net):
        if silent(way) and _more(way.state, net):
            return full(way.state, moves)
    return net


def _more(one: NetState, other: NetState) -> bool:
    return covers(one, other) and not covers(other, one)


def _is_tuple(outputs: object) -> bool:
    return isinstance(outputs, tuple)
