"""The optimum: the shortest failing runs, found breadth first with access to the states of the system.

No tester of a black box can do that. For a system that may refuse, only runs without a refusal count.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from functools import cache
from typing import Any, Final

from benchmarks.shrink_subjects import Subject, signature
from otf.core.macro_step import MacroSteps, follow
from otf.trace.verdict import Signature

PAIRS: Final = 20_000  # of states of the model and of the system that are looked at; what hides beyond is not known


@cache
def optimum(subject: Subject, wanted: Signature | None = None) -> int | None:
    """Return the length of a shortest run that fails like this (None: in any way), None if none is found.

    If there are too many values, the search is repeated with two of each kind: more of them do not make a run shorter
    if the system treats values alike.
    """
    for inputs in (subject.spec.inputs(subject.initial), _two(subject)):
        look = _Look(subject, frozenset(inputs), wanted)
        while look.todo and len(look.seen) < PAIRS:
            found = look.on()
            if found is not None:
                return found
    return None


def _two(subject: Subject) -> list[Any]:
    kinds: dict[object, list[Any]] = {}
    for inp in subject.spec.inputs(subject.initial):
        kinds.setdefault(_kind(inp), []).append(inp)
    return [inp for kind in kinds.values() for inp in kind[:2]]


def _kind(inp: object) -> object:
    return inp if isinstance(inp, Enum) else type(inp)


class _Look:
    def __init__(self, subject: Subject, inputs: frozenset[Any], wanted: Signature | None) -> None:
        self.oracle = subject.oracle
        self.react = subject.react
        self.inputs = inputs
        self.wanted = wanted
        start = (MacroSteps.start(self.oracle), subject.initial)
        self.seen = {start}
        self.todo = deque([(*start, 0)])

    def on(self) -> int | None:
        """Take every step from the next pair of states; return the length of a run that fails."""
        ways, state, depth = self.todo.popleft()
        for symbol in ways.view.specified + ways.view.others:
            inp, table = symbol.value, ways.tables[symbol]
            if inp not in self.inputs:
                continue
            then, outputs = self.react(state, inp)
            following = follow(self.oracle, ways, inp, table, outputs)
            if following is None and self.wanted in {None, signature(self.oracle, ways, inp, outputs)}:
                return depth + 1
            if following is not None and (following, then) not in self.seen:
                self.seen.add((following, then))
                self.todo.append((following, then, depth + 1))
        return None
