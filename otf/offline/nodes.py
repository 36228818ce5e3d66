"""Logs of several nodes: puts their events into one causal order, and judges them by a model of all nodes.

The clocks of nodes differ, so times do not order events. A node's events come in the order of its log, and a message is
sent before it is received (Lamport 1978). Otherwise events keep the order in which they came.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, Final

from otf.core.model import call_model
from otf.core.observed import ObservedRun, Some
from otf.errors import TraceError
from otf.offline.entries import LogEntry
from otf.spec import Spec
from otf.trace.verdict import Verdict
from otf.values import show

TRIES: Final = 2_000  # slices of a log to try
UNSENT: Final = "a message was received that no log says was sent, or not so often"

Forget = Callable[[Any, str], Any]
"""Returns the state with everything about a node, and about its messages in flight, forgotten.

>>> from otf.core.observed import ANYTHING
>>> def forget(stocks, node):  # a state: the stock of each shop
...     return stocks | {node: ANYTHING}
>>> forgetting: Forget = forget
>>> forgetting({"north": 1, "south": 2}, "north")
{'north': ANYTHING, 'south': 2}
"""


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """What the log of a `node` says about one step; `place` is its line, from 1.

    The model takes the event as its input, and looks at its `action`; `shows` is the part of the output that the log
    has. `sends` and `receives` name a message; if it was sent twice, it has the same name twice.

    >>> NodeEvent("1", "timeout", Some(term=2)).node
    '1'
    """

    node: str
    action: Any
    shows: Some | None = None
    sends: Hashable = None
    receives: Hashable = None
    place: int = 0

    def __post_init__(self) -> None:
        """Raise TypeError if the name of a message is not hashable."""
        hash((self.sends, self.receives))


@dataclass(frozen=True, slots=True)
class NodesOpinion:
    """The `verdict` on the logs of several nodes, with the `order` of all events, and `why`, the reason.

    `at` is the index of the deciding event in `order`, -1 if no event decided.


    >>> print(NodesOpinion(Verdict("fail"), (NodeEvent("1", "vote", place=7),), at=0, why="it has voted already"))
    FAIL: node 1, line 7: 'vote': it has voted already
    """

    verdict: Verdict
    order: tuple[NodeEvent, ...]
    at: int = -1
    why: str = ""

    def __str__(self) -> str:
        """Return the verdict as one line."""
        if self.at < 0:
            return f"{self.verdict.outcome.upper()}: {len(self.order):,} events{f'; {self.why}' if self.why else ''}"
        event = self.order[self.at]
        return f"FAIL: node {event.node}, line {event.place}: {show(event.action)}: {self.why}"


def in_order(events: Iterable[NodeEvent], *, copies: bool = False) -> list[NodeEvent]:
    """Return the events in a causal order; a message that may have `copies` waits for one sending only.

    Raises TraceError if there is none, because a node received a message before the events that led to its sending.

    >>> [each.node for each in in_order([NodeEvent("2", "b", receives="m"), NodeEvent("1", "a", sends="m")])]
    ['1', '2']
    """
    given, order = list(events), list[NodeEvent]()
    logs = defaultdict[str, deque[int]](deque)
    for at, event in enumerate(given):
        logs[event.node].append(at)
    unsent, under_way = Counter(event.sends for event in given), Counter[Hashable]()
    waiting = defaultdict[Hashable, list[int]](list)
    ready = [log.popleft() for log in logs.values()]
    heapify(ready)
    while ready:
        at = heappop(ready)
        event, name = given[at], given[at].receives
        # which sending a receipt belongs to is not known if there are several: any earlier one will do
        if name is not None and under_way[name] <= 0 < unsent[name]:
            waiting[name].append(at)
            continue
        order.append(event)
        under_way[name] -= not copies
        under_way[event.sends] += 1
        unsent[event.sends] -= 1
        log = logs[event.node]
        for each in (*waiting.pop(event.sends, ()), *([log.popleft()] if log else [])):
            heappush(ready, each)
    if waiting:
        first = given[min(at for each in waiting.values() for at in each)]
        message = (
            f"line {first.place} of node {first.node}: the logs contradict each other: what it waits for waits for it"
        )
        raise TraceError(message)
    return order


def judge_nodes(
    events: Iterable[NodeEvent], spec: Spec[Any, Any], *, copies: bool = False, unsent: bool = False
) -> NodesOpinion:
    """Judge the logs of several nodes by a model of all of them, whose inputs are the events.

    `copies`: the network may deliver a message more than once. `unsent`: the logs may lack the sending of a message.
    Raises TraceError if the logs have no order.

    >>> from otf.spec import goto
    >>> token = Spec(lambda last, event: [goto(event.action)] if event.action == last + 1 else [], 0, [])
    >>> print(judge_nodes([NodeEvent("b", 2, receives="m"), NodeEvent("a", 1, sends="m")], token))
    PASS: 2 events
    """
    order = tuple(in_order(events, copies=copies))
    under_way = Counter[Hashable]()
    run = ObservedRun(spec)
    for at, event in enumerate(order):
        under_way[event.sends] += 1
        why = "" if unsent or event.receives is None or under_way[event.receives] > 0 else UNSENT
        if not copies:
            under_way[event.receives] -= 1
        if why := why or run.take(event, event.shows):
            return NodesOpinion(Verdict("fail"), order, at, why)
    why = "there are more states than can be followed: log more, or make the model more certain" if run.grown else ""
    if why := why or ("" if order else "the logs have no event: nothing was judged"):
        return NodesOpinion(Verdict("inconclusive", why=why), order, why=why)
    return NodesOpinion(Verdict("pass"), order)


def smallest_slice(opinion: NodesOpinion, spec: Spec[Any, Any], forget: Forget) -> list[NodeEvent]:
    """Return a part of failing logs that still fails, whatever happened in the rest; [] if the logs do not fail.

    Where events of a node are left out, nothing is known about it from there on, so the remaining part explains the
    failure alone. Without any single event of the result, it would not fail.

    >>> from otf.spec import goto
    >>> lamp = Spec(lambda on, action: [goto(not on, {"on": not on})], False, [])
    >>> logs = [NodeEvent("1", "press", Some(on=True), place=at) for at in (1, 2)]
    >>> opinion = judge_nodes(logs, lamp)
    >>> [each.place for each in smallest_slice(opinion, lamp, lambda on, node: on)]
    [1, 2]
    """
    if opinion.at < 0:
        return []
    if opinion.why == UNSENT:
        last = opinion.order[opinion.at]
        return [each for each in opinion.order[: opinion.at] if last.receives in {each.sends, each.receives}] + [last]
    return _Slicing(opinion, spec, forget).smallest()


class _Slicing:
    """The search for a small failing part: first the last events, then fewer of them."""

    def __init__(self, opinion: NodesOpinion, spec: Spec[Any, Any], forget: Forget) -> None:
        self._order = opinion.order[: opinion.at + 1]
        self._spec, self._forget = spec, forget
        self._nodes = list(dict.fromkeys(each.node for each in self._order))
        self._tries = 0

    def smallest(self) -> list[NodeEvent]:
        """Return the events of a failing part."""
        end, size = len(self._order), 1
        while size < end and not self._fails(range(end - size, end)):
            size *= 2
        kept = list(range(max(0, end - size), end))
        if size >= end and not self._fails(kept):
            return list(self._order)  # the failure needs the known start
        chunk = len(kept) // 2
        while chunk and self._tries < TRIES:
            fewer = self._without(kept, chunk)
            chunk = chunk // 2 if len(fewer) == len(kept) else min(chunk, len(fewer) // 2)
            kept = fewer
        return [self._order[at] for at in kept]

    def _without(self, kept: list[int], chunk: int) -> list[int]:
        """Return the events without unneeded chunks; the last event stays."""
        at = 0
        while at < len(kept) - 1 and self._tries < TRIES:
            fewer = [*kept[:at], *kept[min(at + chunk, len(kept) - 1) :]]
            if self._fails(fewer):
                kept = fewer
            else:
                at += chunk
        return kept

    def _forgotten(self, state: object, node: str) -> object:
        return call_model(lambda: self._forget(state, node), self._forget, "forget", state, node)

    def _fails(self, kept: Sequence[int]) -> bool:
        """Return whether these events fail, whatever the state of the nodes before them."""
        self._tries += 1
        state = self._spec.initial
        for node in self._nodes:
            state = self._forgotten(state, node)
        run, next_one = ObservedRun(self._spec, state), kept[0]
        for at in kept:
            for node in {event.node for event in self._order[next_one:at]}:
                run.states = [self._forgotten(each, node) for each in run.states]
            event, next_one = self._order[at], at + 1
            if run.take(event, event.shows):
                return True
        return False


@dataclass(frozen=True, slots=True)
class NodeLogs:
    """How `otf replay --nodes` reads and judges the logs of several nodes.

    `event(entry, name)` turns a log's entry (a line, or an entry of its format) and the file's name into an event, or
    None to ignore the entry. `forget` makes slices possible; `copies` and `unsent` are as in `judge_nodes`.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda state, event: [goto(state)], 0, [])
    >>> NodeLogs(spec, lambda entry, name: NodeEvent(name, entry.data)).copies
    False
    """

    spec: Spec[Any, Any]
    event: Callable[[LogEntry, str], NodeEvent | None]
    forget: Forget | None = None
    copies: bool = False
    unsent: bool = False
