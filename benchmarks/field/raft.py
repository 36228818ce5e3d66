"""A model of raft for the logs of etcd's implementation: what each node may log, in which state, of which message.

Written from the paper (Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm") and from what the
log shows; etcd's own check of the same log is a specification in TLA+.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from benchmarks.field.raft_nodes import CANDIDATE, FOLLOWER, LEADER, UNKNOWN, Cluster, Node
from otf.core.observed import ANYTHING
from otf.offline.nodes import NodeEvent
from otf.spec import Spec, Transition

BOOTSTRAP: Final = 5  # entries that a node begins with: one for each node of the first configuration


class Shown(NamedTuple):
    """An output of the model: the state of a node as its log has it, and the message."""

    term: Any
    vote: Any
    commit: Any
    role: Any
    size: Any
    conf: Any
    says: Any


def step(state: Cluster, event: NodeEvent) -> Iterator[Transition[Cluster]]:
    """Yield what a node may do that logs such an event."""
    name, message, prop, shows = event.action
    before = state.nodes.get(event.node, Node())
    # what was not known is known now: the log shows these parts each time
    learnt = before._replace(**{part: value for part, value in shows.items() if getattr(before, part) is ANYTHING})
    for now, after, says, changes in _RULES[name](learnt, event.node, message, prop, state):
        shown = Shown(now.term, now.vote, now.commit, now.role, now.size, now.conf, says)
        yield Transition(Cluster({**state.nodes, event.node: after}, changes), (shown,))


Rule = Callable[[Node, str, Any, Any, Cluster], Iterator[tuple[Node, Node, Any, Any]]]


def _same(node: Node, _name: str, _message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    yield node, node, None, state.changes


def _starts(node: Node, _name: str, _message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    if node.fresh or node.size is ANYTHING:
        yield Node(), Node(fresh=False), None, state.changes


def _applies(node: Node, _name: str, _message: Any, prop: Any, state: Cluster) -> Iterator[Any]:
    new = tuple(sorted(prop["cc"].get("newconf") or ()))
    if not new:
        yield node, node, None, state.changes
        return
    if node.size == 0 and node.term == 1:
        # a node of the first configuration is given its log, and applies it twice: now, and when it is committed
        given = node._replace(size=BOOTSTRAP, commit=BOOTSTRAP, terms=((1, 1),), applied=-BOOTSTRAP)
        yield given, given._replace(conf=new, applied=1 - BOOTSTRAP), None, state.changes
        return
    for applied, conf in _applied(node, state.changes):
        if new == conf:
            yield node, node._replace(conf=new, applied=applied), None, state.changes


def _applied(node: Node, changes: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield the configurations that a node may apply next."""
    if node.applied is ANYTHING or changes is ANYTHING:
        # one node more, one less, or the same
        names = {str(number) for number in range(1, 20)}
        yield from ((ANYTHING, _changed(node.conf, each)) for each in names)
        yield ANYTHING, node.conf
        return
    known = (*((at, "AddNewServer", str(at)) for at in range(1, BOOTSTRAP + 1)), *changes)
    at = node.applied + BOOTSTRAP if node.applied < 0 else node.applied
    if at < len(known) and known[at][0] <= node.commit:
        _, action, other = known[at]
        others = set(node.conf) - {other}
        yield node.applied + 1, tuple(sorted(others | ({other} if action == "AddNewServer" else set())))


def _changed(conf: tuple[str, ...], other: str) -> tuple[str, ...]:
    return tuple(sorted({*conf} ^ {other}))


def _follows(node: Node, _name: str, message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:  # noqa: ARG001
    heard = node.owes[1] if isinstance(node.owes, tuple) and node.owes[0] == "heard" else None
    if node.owes is ANYTHING:
        yield node._replace(role=FOLLOWER), node._replace(role=FOLLOWER), None, state.changes
    elif heard is not None:
        # it learnt a higher term: the message itself is handled after that
        then = node._replace(term=heard["term"], vote="0", role=FOLLOWER)
        yield then, _handled(then, heard, state), None, state.changes
    elif not node.size and not node.term:
        yield node, node, None, state.changes  # it begins, in term 0
        yield (then := node._replace(term=1)), then, None, state.changes  # and is given its log in term 1


def _stands(node: Node, name: str, _message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    if node.role != LEADER and (node.conf is ANYTHING or name in node.conf):
        term = node.term if node.owes is ANYTHING else node.term + 1
        then = node._replace(term=term, vote=name, role=CANDIDATE, votes=frozenset())
        yield then, then, None, state.changes


def _leads(node: Node, name: str, _message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    votes = node.votes
    if votes is ANYTHING or 2 * len(votes & {*node.conf}) > len(node.conf):
        then = node._replace(role=LEADER, match=ANYTHING if node.size is ANYTHING else ((name, node.size),))
        yield then, then, None, state.changes


def _asks(node: Node, name: str, message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    if node.role == CANDIDATE:
        said = _said("MsgVote", node, name, message, logTerm=node.last_term(), index=node.size)
        yield node, node, said, state.changes


def _replicates(node: Node, _name: str, _message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    if node.role == LEADER:
        yield node, _grown(node), None, state.changes


def _grown(node: Node, to: Any = None, term: Any = None) -> Node:
    size, term = node.size + 1 if to is None else to, node.term if term is None else term
    terms = node.terms
    if terms is not ANYTHING and node.last_term() != term:
        terms = (*terms, (node.size + 1, term))
    return node._replace(size=size, terms=terms)


def _reconfigures(node: Node, _name: str, _message: Any, prop: Any, state: Cluster) -> Iterator[Any]:
    if node.role != LEADER:
        return
    changes = state.changes
    if changes is not ANYTHING and node.applied is not ANYTHING and len(changes) + BOOTSTRAP == max(node.applied, 0):
        change = prop["cc"]["changes"][0]
        changes = (*changes, (node.size + 1, change["action"], change["nid"]))
    yield node, _grown(node), None, changes


def _commits(node: Node, name: str, _message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:  # noqa: ARG001
    if node.role != LEADER:
        return
    if node.match is ANYTHING or node.terms is ANYTHING:
        yield node, node, None, state.changes
        return
    have = sorted((node.has(each) for each in node.conf), reverse=True)
    agreed = have[len(have) // 2] if have else 0
    if agreed > node.commit and node.term_at(agreed) == node.term:
        node = node._replace(commit=agreed)
    yield node, node, None, state.changes


def _appends(node: Node, name: str, message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    if node.role != LEADER or message["to"] == name:
        return
    if message["type"] == "MsgHeartbeat":
        has = node.has(message["to"])
        commit = ANYTHING if has is ANYTHING else min(node.commit, has)
        yield node, node, _said("MsgHeartbeat", node, name, message, commit=commit), state.changes
        return
    index, entries = message["index"], message["entries"]
    if 0 <= index <= index + entries <= node.size:
        said = _said(
            "MsgApp", node, name, message, index=index, entries=entries, logTerm=node.term_at(index), commit=node.commit
        )
        yield node, node, said, state.changes


def _said(kind: str, node: Node, name: str, message: Any, **parts: Any) -> Any:
    """Return the message that a node may send, as the log has it; parts that are not known are those of the log."""
    whole = {"entries": 0, "logTerm": 0, "index": 0, "commit": 0, "vote": "0", "reject": False, "rejectHint": 0}
    whole |= {"type": kind, "term": node.term, "from": name, "to": message["to"], **parts}
    return tuple(sorted((key, message.get(key) if value is ANYTHING else value) for key, value in whole.items()))


def _receives(node: Node, name: str, message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    if message["to"] == name:
        later = message["term"] > node.term
        then = node._replace(owes=("heard", message)) if later else _handled(node, message, state)
        yield node, then, tuple(sorted(message.items())), state.changes


def _handled(node: Node, message: Any, state: Cluster) -> Node:
    """Return a node that has handled a message of its term or an earlier one; what it owes is the answer."""
    if message["type"].endswith("Resp"):
        return _counted(node, message)
    if message["term"] < node.term:
        return node._replace(owes=ANYTHING)
    return _HANDLERS[message["type"]](node, message, state)


def _counted(node: Node, message: Any) -> Node:
    node = node._replace(owes=None)
    if message["term"] != node.term or message["reject"]:
        return node
    sender = message["from"]
    if message["type"] == "MsgVoteResp" and node.votes is not ANYTHING:
        return node._replace(votes=node.votes | {sender})
    if message["type"] == "MsgAppResp" and node.match is not ANYTHING:
        return node._replace(
            match=tuple(sorted((dict(node.match) | {sender: max(node.has(sender), message["index"])}).items()))
        )
    return node


def _votes(node: Node, message: Any, _state: Cluster) -> Node:
    last = node.last_term()
    if ANYTHING in {last, node.size, node.vote}:
        return node._replace(owes=ANYTHING)
    current = (message["logTerm"], message["index"]) >= (last, node.size)
    return node._replace(owes=("vote", message["from"], current and node.vote in {"0", message["from"]}))


def _beats(node: Node, message: Any, _state: Cluster) -> Node:
    commit = max(node.commit, min(message["commit"], node.size))
    return node._replace(commit=commit, owes=("MsgHeartbeatResp", {}))


def _stores(node: Node, message: Any, state: Cluster) -> Node:
    index, last = message["index"], message["index"] + message["entries"]
    if index < node.commit:
        return node._replace(owes=("MsgAppResp", {"index": node.commit}))
    if index > node.size or node.term_at(index) not in {message["logTerm"], ANYTHING}:
        hint = min(index, node.size)
        return node._replace(
            owes=("MsgAppResp", {"index": index, "reject": True, "rejectHint": hint, "logTerm": node.term_at(hint)})
        )
    if node.terms is ANYTHING and index <= node.size and index:
        # whether it has that entry is not known: it may have another in its place
        return UNKNOWN._replace(term=node.term, vote=node.vote, role=node.role, conf=node.conf, applied=node.applied)
    commit = max(node.commit, min(message["commit"], last))
    sender = state.nodes.get(message["from"], UNKNOWN)
    for at in range(max(index, node.size) + 1, last + 1):
        term = sender.term_at(at)
        node = node._replace(size=at, terms=ANYTHING) if term is ANYTHING else _grown(node, at, term)
    return node._replace(commit=commit, owes=("MsgAppResp", {"index": last}))


_HANDLERS: Final = {"MsgVote": _votes, "MsgHeartbeat": _beats, "MsgApp": _stores}


def _answers(node: Node, name: str, message: Any, _prop: Any, state: Cluster) -> Iterator[Any]:
    """Yield the answer that is owed, or what a node says to itself: it votes for itself, and has its own log."""
    owes = node.owes
    if message["to"] == name:
        if node.role == LEADER:
            yield node, node, _said("MsgAppResp", node, name, message, index=node.size), state.changes
        elif node.role == CANDIDATE:
            yield node, node, _said("MsgVoteResp", node, name, message), state.changes
    elif owes is ANYTHING:
        yield node, node, tuple(sorted(message.items())), state.changes
    elif isinstance(owes, tuple) and owes[0] == "vote":
        then = node._replace(vote=owes[1], owes=None) if owes[2] else node._replace(owes=None)
        yield (
            node,
            then,
            _said("MsgVoteResp", node, name, {**message, "to": owes[1]}, reject=not owes[2]),
            state.changes,
        )
    elif isinstance(owes, tuple) and owes[0] in {"MsgAppResp", "MsgHeartbeatResp"}:
        yield node, node._replace(owes=None), _said(owes[0], node, name, message, **owes[1]), state.changes


_RULES: Final[Mapping[str, Rule]] = {
    "InitState": _starts,
    "ApplyConfChange": _applies,
    "BecomeFollower": _follows,
    "BecomeCandidate": _stands,
    "BecomeLeader": _leads,
    "SendRequestVoteRequest": _asks,
    "Replicate": _replicates,
    "ChangeConf": _reconfigures,
    "Commit": _commits,
    "SendAppendEntriesRequest": _appends,
    "Ready": _same,
    "SendAppendEntriesResponse": _answers,
    "SendRequestVoteResponse": _answers,
    "ReceiveAppendEntriesRequest": _receives,
    "ReceiveAppendEntriesResponse": _receives,
    "ReceiveRequestVoteRequest": _receives,
    "ReceiveRequestVoteResponse": _receives,
}

raft: Final[Spec[Any, Any]] = Spec(step, Cluster({}, ()), [], name="raft")
