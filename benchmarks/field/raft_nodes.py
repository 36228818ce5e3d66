"""What is known of the nodes of a cluster of raft, by the logs of etcd's implementation.

A part of a state that is not known, after `forget`, is `ANYTHING`, and is learnt from what the log shows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from otf.core.observed import ANYTHING, Some
from otf.offline.nodes import NodeEvent

FOLLOWER, CANDIDATE, LEADER = "StateFollower", "StateCandidate", "StateLeader"
Message = tuple[tuple[str, Any], ...]
Changes = tuple[tuple[int, str, str], ...]


class Node(NamedTuple):
    """What is known of a node. `terms` are those of its log, as runs: the first index of each term."""

    term: Any = 0
    vote: Any = "0"
    commit: Any = 0
    role: Any = FOLLOWER
    size: Any = 0
    terms: Any = ()
    conf: Any = ()
    applied: Any = 0  # how many changes of the configuration it has applied
    match: Any = ()  # of a leader: pairs of a node and the index up to which it has the log
    votes: Any = frozenset()
    owes: Any = None  # the answer to the message that it received last
    fresh: bool = True  # it has not begun yet

    def last_term(self) -> Any:
        """Return the term of the last entry."""
        return self.term_at(self.size)

    def term_at(self, index: Any) -> Any:
        """Return the term of an entry, 0 if it has none."""
        if self.terms is ANYTHING or index is ANYTHING or self.size is ANYTHING:
            return ANYTHING
        return max((term for first, term in self.terms if first <= index <= self.size), default=0)

    def has(self, node: str) -> Any:
        """Return up to which index a leader knows that a node has its log."""
        return self.match if self.match is ANYTHING else dict(self.match).get(node, 0)


UNKNOWN: Final = Node(*[ANYTHING] * 11)._replace(fresh=False)


class Cluster(NamedTuple):
    """The nodes by their names, and the changes of the configuration: index of the entry, action and node."""

    nodes: Mapping[str, Node]
    changes: Changes | Any

    def with_node(self, name: str, node: Node) -> Cluster:
        """Return it with another state of a node."""
        return Cluster({**self.nodes, name: node}, self.changes)

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes.items()), self.changes))


def forget(state: Cluster, name: str) -> Cluster:
    """Return the state in which nothing is known of a node; only a leader changes the configuration."""
    leads = state.nodes.get(name, UNKNOWN).role in {LEADER, ANYTHING}
    return Cluster({**state.nodes, name: UNKNOWN}, ANYTHING if leads else state.changes)


def read(lines: Iterable[str]) -> Iterator[NodeEvent]:
    """Yield the events of a log: lines of JSON with an `event`."""
    for place, line in enumerate(lines, 1):
        event = json.loads(line)["event"]
        name, message = event["name"], event.get("msg")
        key = None if message is None else tuple(sorted(message.items()))
        state = event["state"]
        shows = {name: state[name] for name in ("term", "vote", "commit")}
        shows |= {"role": event["role"], "size": event["log"], "conf": tuple(sorted(event["conf"][0] or ()))}
        sends, receives = (key if name.startswith(way) else None for way in ("Send", "Receive"))
        action = name, message, event.get("prop"), shows
        yield NodeEvent(event["nid"], action, Some(**shows, says=key), sends, receives, place)
