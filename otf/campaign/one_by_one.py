"""Failures in bursts that are not races: the system does the same if it gets the inputs one by one.

A race shows only if inputs meet. If one of them gets a wrong answer even alone, each burst with it fails in another
way: with the answers of the other inputs, and as often as these differ. All of these failures are that one.
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
from otf.strategy import Script
from otf.strategy.renames import NamedRun
from otf.trace.drawn_names import without_names
from otf.trace.events import Event, Seen, Sent
from otf.trace.record import Header
from otf.values import show

ORDERS: Final = 6
"""Orders of a burst to try: all of three inputs."""


async def one_by_one(
    bench: Bench, oracle: Oracle, header: Header, failing: PathResult, until: float
) -> PathResult | None:
    """Return a strict run of a path's inputs, one by one, that fails as a burst of it does; None if none does.

    In that burst the same outputs came, as far as both runs go. Mostly it is the last one; but an earlier one may have
    conformed only by luck, since another order of its inputs allowed what came. Raises ContactError as a path does.
    """
    failure, trace = failing.verdict.failure, failing.trace.with_suffix(STRICT)
    together = 1 if failure is None else failure.together
    for inputs in islice(_orders(failing.events, together), ORDERS):
        if anyio.current_time() >= until:
            break
        run = PathRun(bench, oracle, replace(header, burst=1), trace, least=len(inputs))
        pacing = repeating(oracle, bench, failing.events, 1).pacing()
        script = Script(each.input for each in inputs)
        alone = await run.run(script, len(inputs), pacing, until=until, earlier=[NamedRun.of(oracle, failing.events)])
        if _explains(alone, failing.events):
            return alone
        trace.unlink(missing_ok=True)
    return None


def _orders(events: Iterable[Event], together: int) -> Iterator[list[Sent]]:
    """Yield the inputs of a run, with those of its last burst in each order that keeps the order of each port."""
    inputs = [event for event in events if isinstance(event, Sent)]
    before, burst = inputs[:-together], inputs[-together:]
    ports = [each.port for each in burst]
    for order in permutations(range(together)):
        if all(one < other or ports[one] != ports[other] for at, one in enumerate(order) for other in order[at + 1 :]):
            yield [*before, *(burst[at] for at in order)]


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
