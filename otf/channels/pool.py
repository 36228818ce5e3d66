"""Outputs that come out of the net."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from otf.channels.fewest import NetState, NetWay
from otf.channels.net import ANY, InNet, NetMessage, instead, same
from otf.channels.outlet import port_of
from otf.channels.trouble import FOREVER, NetTrouble, Rules
from otf.spec.outputs import Accept, On, Where, vague
from otf.spec.transition import Transition


def coming(net: NetState, rules: Rules, full: Callable[[NetState], NetState]) -> Iterator[NetWay]:
    """Yield the ways in which an output comes out of the net; `full` makes the states of which there are few.

    Which one it is, its value tells when it is seen. If each were a move of its own, the oracle would follow every
    sequence of them on the other ports while it looks for one: that made sets ten times as large.
    """
    pools: dict[str, list[tuple[object, NetState]]] = {}
    for held in net.outputs:
        port, then = port_of(held.item, rules), _without(net, held)
        then = then if then is net else full(then)
        within = window(held, rules.of_output(port))
        if within is None:
            pools.setdefault(port, []).append((held.item, then))
        else:
            yield Transition(then, (held.item,), within)
    for port, pool in pools.items():
        yield Accept(partial(_then, pool), port)


def window(held: NetMessage, trouble: NetTrouble) -> tuple[float, float] | None:
    """Return the time window in which a message must come, None where it need not."""
    return (0.0, trouble.delay) if held.sure and trouble.delay < FOREVER else None


def _then(pool: Iterable[tuple[object, NetState]], seen: tuple[object, ...]) -> list[NetState]:
    return [then for item, then in pool if _fits(item, seen[0])]


def _without(net: NetState, held: NetMessage) -> NetState:
    if held.more == ANY and not held.sure:
        return net
    left = (NetMessage(held.item, held.left, ANY),) if held.more == ANY else ()
    return InNet(net.state, net.inputs, instead(net.outputs, held, *left))


def _fits(item: object, seen: object) -> bool:
    match item:
        case On():
            return _fits(item.item, seen)
        case Where():
            return bool(item.test(seen))
        case type():
            return isinstance(seen, item)
        case _ if vague(item) and callable(item):
            return bool(item(seen))
        case _:
            return same(item, seen)
