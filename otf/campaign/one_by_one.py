"""Failures in bursts that are not races: the system does the same if it gets the inputs one by one.

A race shows only if inputs meet. But suppose that one input gets a wrong answer even alone. Then each burst with this
input fails in a different way, since it also has the answers of the other inputs. All of these failures are one: that
of the single input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations
from typing import Final

import anyio

from otf.adapter import Bench
from otf.campaign.pace import joined, repeating
from otf.campaign.paths import PathRun
from otf.campaign.results import STRICT, PathResult
from otf.core import Oracle
from otf.shrink import issue_of
from otf.strategy import Script
from otf.strategy.renames import NamedRun
from otf.trace.drawn_names import without_names
from otf.trace.events import Event, Seen, Sent
from otf.trace.record import Header
from otf.values import show

ORDERS: Final = 12
"""Runs to try: all orders of three inputs, after the earlier bursts as they were sent, and as they were taken."""


async def one_by_one(
    bench: Bench, oracle: Oracle, header: Header, failing: PathResult, until: float
) -> PathResult | None:
    """Return a strict run of a path's inputs, one by one, that fails as a burst of it does; None if none does.

    That run shows the same outputs as the burst, as far as both runs go. Usually the last burst is the one that fails.
    But an earlier burst may have conformed only because another order of its inputs would have allowed the outputs. So
    the earlier bursts come both as they were sent and as the model explains them. Raises ContactError as a path does.
    """
    failure, trace = failing.verdict.failure, failing.trace.with_suffix(STRICT)
    together = 1 if failure is None else failure.together
    for inputs in islice(_orders(oracle, failing.events, together), ORDERS):
        if anyio.current_time() >= until:
            break
        run = PathRun(bench, oracle, replace(header, burst=1), trace, least=len(inputs))
        pacing = repeating(oracle, bench, failing.events, 1).pacing()
        alone = await run.run(
            Script(inputs), len(inputs), pacing, until=until, earlier=[NamedRun.of(oracle, failing.events)]
        )
        if _explains(alone, failing.events):
            return alone
        trace.unlink(missing_ok=True)
    return None


def _orders(oracle: Oracle, events: Sequence[Event], together: int) -> Iterator[list[object]]:
    """Yield the inputs of a run, with those of its last burst in each order that keeps the order of each port."""
    places = [at for at, event in enumerate(events) if isinstance(event, Sent)]
    # with the next input: only then may the last outputs before it have been late
    earlier = events[: places[-together] + 1]
    prefixes = [_inputs(earlier[:-1]), _inputs(_taken(oracle, earlier)[:-1])]
    for burst in _permuted(events, places[-together:]):
        for prefix in prefixes[: 1 + (prefixes[0] != prefixes[1])]:
            yield [*prefix, *_inputs(burst)]


def _taken(oracle: Oracle, events: Sequence[Event]) -> list[Event]:
    """Return a run with the inputs of each burst in an order that explains all that followed."""
    found, joins, bursts = [*events], {*joined(events)}, list[list[int]]()
    # the last input is here for its time alone
    for number, at in enumerate((at for at, event in enumerate(events[:-1]) if isinstance(event, Sent)), 1):
        bursts += [] if number in joins else [[]]
        bursts[-1].append(at)
    for burst in bursts:
        for order in _permuted(found, burst) if len(burst) > 1 else ():
            tried = [*found]
            for at, event in zip(burst, order, strict=True):
                # the system takes the inputs of one port in their order
                tried[at] = replace(event, port=order[0].port, at=found[at].at)
            if issue_of(oracle, tried).signature is None:
                found = tried
                break
    return found


def _inputs(events: Iterable[Event]) -> list[object]:
    return [event.input for event in events if isinstance(event, Sent)]


def _permuted(events: Sequence[Event], places: Iterable[int]) -> Iterator[list[Sent]]:
    burst = [event for at in places if isinstance(event := events[at], Sent)]
    ports = [each.port for each in burst]
    for order in permutations(range(len(burst))):
        if all(one < other or ports[one] != ports[other] for at, one in enumerate(order) for other in order[at + 1 :]):
            yield [burst[at] for at in order]


def _explains(alone: PathResult, events: Sequence[Event]) -> bool:
    failure, joins = alone.verdict.failure, frozenset(joined(events))
    if failure is None or not failure.step:
        return False
    first = last = failure.step
    while first in joins:
        first -= 1
    while last + 1 in joins:
        last += 1
    ours, others = (_outputs(each, first, last) for each in (alone.events, events))
    # each run ends at its first failure
    return all(one == other for port in ours for one, other in zip(ours[port], others.get(port, ()), strict=False))


def _outputs(events: Iterable[Event], first: int, last: int) -> dict[str, list[str]]:
    """Return the outputs of each port after these inputs, without the names that the system drew."""
    sent, found = 0, defaultdict[str, list[str]](list)
    for event in events:
        sent += isinstance(event, Sent)
        if isinstance(event, Seen) and first <= sent <= last:
            found[event.port].append(without_names(show(event.output)))
    return found
