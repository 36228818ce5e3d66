"""No candidate twice, and no other failure: what all searches have in common."""

from __future__ import annotations

from otf.shrink.issue import Candidate, Issue, Shrinking
from otf.trace.verdict import Signature


def once(search: Shrinking) -> Shrinking:
    """Yield the candidates of a search, each only once; a repeated one is answered at once.

    A candidate that did fail was adopted, and a search never goes back to a longer one.
    """
    tried: set[Candidate] = set()
    answer: Issue | None = None
    try:
        candidate = next(search)
        while True:
            if candidate in tried:
                answer = None
            else:
                tried.add(candidate)
                answer = yield candidate
            candidate = search.send(answer)
    except StopIteration as done:
        result: Issue = done.value
        return result


def only(search: Shrinking, signature: Signature | None) -> Shrinking:
    """Let a search hear of one failure alone: one bug at a time, or the shorter trace is one of another bug."""
    try:
        candidate = next(search)
        while True:
            answer = yield candidate
            candidate = search.send(answer if answer is not None and answer.signature == signature else None)
    except StopIteration as done:
        result: Issue = done.value
        return result
