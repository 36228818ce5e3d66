"""What is exchanged in Maelstrom's raft in Python: the repairs of what makes it not linearizable, and seeded faults."""

from __future__ import annotations

from typing import Final

Exchange = tuple[str, str]

REPAIRS: Final[tuple[Exchange, ...]] = (
    # The handlers of one round share the variables of the last node: an answer counts for that one, whoever gave it.
    (
        "                    def handler(res):",
        "                    def handler(res, _ni=_ni, _entries=_entries, _node=_node):",
    ),
    # An older message that comes late, with fewer entries, takes away what was acknowledged since.
    (
        "            self.log.truncate(body['prev_log_index'])\n            self.log.append(body['entries'])\n",
        (
            "            last = body['prev_log_index'] + len(body['entries'])\n"
            "            for at, entry in enumerate(body['entries'], body['prev_log_index'] + 1):\n"
            "                if self.log.size() < at or self.log.get(at)['term'] != entry['term']:\n"
            "                    self.log.truncate(at - 1)\n"
            "                    self.log.append([entry])\n"
        ),
    ),
    ("min(body['leader_commit'], self.log.size(),)", "max(self.commit_index, min(body['leader_commit'], last))"),
)
"""The last one is needed with the second: beyond the entries of a message, a log may have others than the leader."""

FAULTS: Final[dict[str, Exchange]] = {
    "votes twice": ("elif self.voted_for is not None:", "elif False:"),
    "votes for shorter logs": ("body['last_log_index'] < self.log.size():", "False:"),
    "votes for older logs": ("elif body['last_log_term'] < self.log.last()['term']:", "elif False:"),
    "leads with two votes": ("if majority(len(self.node_ids)) <= len(votes):", "if 2 <= len(votes):"),
    "commits what two nodes have": ("return xs[len(xs) - majority(len(xs))]", "return xs[-2]"),
    "reads without a quorum": (
        "                op = msg['body']\n",
        (
            "                op = msg['body']\n"
            "                if op['type'] == 'read':\n"
            "                    op['client'] = msg['src']\n"
            "                    res = self.state_machine.apply(op)\n"
            "                    return self.net.send(res['dest'], res['body'])\n"
        ),
    ),
    "reads from a follower": (
        "            elif self.leader:\n",
        (
            "            elif self.leader and msg['body']['type'] == 'read':\n"
            "                msg['body']['client'] = msg['src']\n"
            "                res = self.state_machine.apply(msg['body'])\n"
            "                self.net.send(res['dest'], res['body'])\n"
            "            elif self.leader:\n"
        ),
    ),
    "writes before a quorum": (
        "                op['client'] = msg['src']\n",
        (
            "                op['client'] = msg['src']\n"
            "                if op['type'] == 'write':\n"
            "                    self.net.reply(msg, {'type': 'write_ok'})\n"
        ),
    ),
    "compares no terms of entries": ("(not e) or e['term'] != body['prev_log_term']", "(not e)"),
    "commits entries of earlier terms": ("and self.log.get(n)['term'] == self.current_term:", ":"),
    "compares nothing": ("elif self.state[k] != op['from']:", "elif False:"),
    "keeps its term as a leader": (
        "if self.current_term < remote_term:",
        "if self.current_term < remote_term and self.state != 'leader':",
    ),
}
