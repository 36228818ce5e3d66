"""Outputs in transit through a network: how one transition's outputs enter it, and how delayed ones leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

from otf.channels.net import (
    ANY,
    FOREVER,
    NONE,
    InNet,
    MessageBag,
    NetMessage,
    NetState,
    NetTrouble,
    NetWay,
    Rules,
    in_order,
    instead,
    same,
    with_one,
)
from otf.spec.outputs import Accept, AnyOrder, On, OneOf, Where, vague
from otf.spec.transition import Transition


class Leaf(NamedTuple):
    """One output of a transition, its port, and its possible trouble there."""

    item: object
    port: str
    trouble: NetTrouble


class Group(NamedTuple):
    """Outputs in any order, usually just one."""

    item: object
    leaves: tuple[Leaf, ...]


class Passing(NamedTuple):
    """One way through the net: the outputs that arrive now, and the messages in flight afterwards."""

    outputs: tuple[object, ...]
    kept: MessageBag


def passings(outputs: tuple[object, ...], kept: MessageBag, rules: Rules, *, late: bool) -> Iterator[Passing]:
    """Yield the ways in which a transition's outputs may pass a net with these messages in flight.

    `late`: the transition is not an immediate effect of the last input.
    """
    if not outputs:
        yield Passing((), kept)
        return
    for chosen in product(*map(_choices, outputs)):
        groups = [Group(item, tuple(_leaves(item, "", rules))) for item in chosen]
        troubles = [leaf.trouble for group in groups for leaf in group.leaves]
        for held_up in _holding(troubles, late=late):
            then = _kept(groups, kept, rules, held_up=held_up)
            for times in product(*(_times(trouble, held_up=held_up) for trouble in troubles)):
                yield Passing(tuple(_arrivals_of(groups, iter(times))), then)


def port_of(item: object, rules: Rules) -> str:
    """Return the port of an output; "" if there is only one."""
    if isinstance(item, On):
        return item.port
    return "" if vague(item) else rules.port(item)


def _choices(item: object) -> tuple[object, ...]:
    if isinstance(item, On):
        return tuple(On(item.port, choice) for choice in _choices(item.item))
    # the oracle reports a OneOf without alternatives
    if isinstance(item, OneOf) and item.items:
        return tuple(choice for each in item.items for choice in _choices(each))
    return (item,)


def _leaves(item: object, port: str, rules: Rules) -> Iterator[Leaf]:
    if isinstance(item, AnyOrder):
        for part in item.items:
            yield from _leaves(part, port, rules)
    elif isinstance(item, On):
        yield from _leaves(item.item, item.port, rules)
    elif isinstance(item, (OneOf, Accept)):
        # not allowed here, which the oracle reports
        yield Leaf(item, port, NONE)
    else:
        named = On(port, item) if port else item
        there = port_of(named, rules)
        yield Leaf(named, there, rules.of_output(there))


def _holding(troubles: list[NetTrouble], *, late: bool) -> tuple[bool, ...]:
    # Delaying each output on its own would give 2^n ways. So all of them enter the net together, and each leaves it at
    # any time, possibly at once. For the immediate effect of an input, "none is delayed" is still a way of its own,
    # since it makes failures easier to read.
    if any(trouble.pooled for trouble in troubles):
        return (True,) if late else (False, True)
    return (False,)


def _times(trouble: NetTrouble, *, held_up: bool) -> Iterable[int]:
    """Return how often an output may arrive now."""
    if trouble.pooled:
        return (0,) if held_up else (1,)
    # the behaviour without a net comes first, since readers of failures look for it
    return (1, *((0,) if trouble.lost else ()), *range(2, 2 + trouble.copies))


def _arrivals_of(groups: list[Group], times: Iterator[int]) -> Iterator[object]:
    for group in groups:
        counts = [next(times) for _ in group.leaves]
        items = [leaf.item for leaf, count in zip(group.leaves, counts, strict=True) for _ in range(count)]
        if all(count == 1 for count in counts):
            yield group.item
        elif len(counts) > 1 and items:
            yield AnyOrder(*items)
        else:
            yield from items


def _kept(groups: list[Group], kept: MessageBag, rules: Rules, *, held_up: bool) -> MessageBag:
    # outputs that only arrive from the net have no order there: those of one transition enter it together
    kept = _passed(kept, [leaf for group in groups for leaf in group.leaves if leaf.trouble.pooled], rules)
    for group in groups:
        kept = _passed(kept, [leaf for leaf in group.leaves if not leaf.trouble.pooled], rules)
        for item, _, trouble in group.leaves:
            if trouble.copies or (trouble.held and held_up):
                more = ANY if trouble.copies else 1
                kept = with_one(kept, NetMessage(item, trouble.late, more, sure=trouble.sure and held_up))
    return in_order(kept)


def _passed(kept: MessageBag, leaves: list[Leaf], rules: Rules) -> MessageBag:
    """Return the messages that may still leave the net after these outputs."""
    ports = {leaf.port for leaf in leaves if leaf.trouble.ordered}
    return tuple(held for held in kept if port_of(held.item, rules) not in ports) if ports else kept


def coming(net: NetState, rules: Rules, full: Callable[[NetState], NetState]) -> Iterator[NetWay]:
    """Yield the ways in which an output leaves the net; `full` completes the states, which keeps them few.

    Each port has one Accept, and the value seen determines which output it is. If each output were a separate move, the
    oracle would follow every sequence of them on the other ports; the sets would be ten times as large.
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
    """Return the time window in which a message must arrive; None if it need not."""
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
