"""All places of a model where it can be wrong: each state that a system can reach, with each input that may come there.

Which inputs may come in a state depends on what the tester believes: those of any state that it cannot tell from this
one. So states are put into groups. Equal outputs to an input lead states of a group into one group; with what happens
spontaneously a system may be ahead of what the tester has seen, so the states before and after it are in one as well.
A group may be too large, never too small: then more inputs are looked at than can come, and less is proved.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from otf.core import Routes
from otf.errors import ModelError
from otf.mutation.choice import Survey
from otf.mutation.fitting import Row, alike, rows
from otf.mutation.rules import ModelRule
from otf.spec import Accept, Spec
from otf.spec.outputs import vague
from otf.values import key

ASKED: Final = 40_000  # questions to the model, and comparisons of answers: some seconds

Name: TypeAlias = Hashable
Place: TypeAlias = tuple[Any, Any]
"""A state and an input; None for what is spontaneous."""


@dataclass(slots=True)
class Group:
    """States between which the tester may be unsure, and the inputs that any of them enables."""

    states: dict[Name, Any]
    inputs: dict[Name, Any]
    is_waiting: bool = True


@dataclass(slots=True)
class Places:
    """The places of a model: `whole` is false if there are more than were looked at, and nothing can be proved.

    `known` are the inputs of all its states.
    """

    survey: Survey
    spec: Spec[Any, Any]
    routes: Routes
    whole: bool = False
    known: dict[Name, Any] = field(default_factory=dict[Name, Any])
    _groups: dict[Name, Group] = field(default_factory=dict[Name, Group])
    _from: dict[Name, tuple[Name, Any]] = field(default_factory=dict[Name, tuple[Name, Any]])
    _by_rule: dict[int, list[Place]] = field(default_factory=dict[int, list[Place]])
    # groups of one new state, and groups that have grown: these are looked at when there are no more of the others
    _new: deque[Group] = field(default_factory=deque[Group])
    _grown: deque[Group] = field(default_factory=deque[Group])
    _asked: int = 0

    def __post_init__(self) -> None:
        """Look at all of them, if they are few enough."""
        try:
            self._reach(self.spec.initial, None)
            while (self._new or self._grown) and self._asked <= ASKED:
                group = (self._new or self._grown).popleft()
                group.is_waiting = False
                self._look(group)
        except ModelError:
            return
        self.whole = self._asked <= ASKED

    def __contains__(self, name: Name) -> bool:
        """Return whether a state of this name was reached."""
        return name in self._groups

    def inputs(self, state: object) -> Iterable[Any]:
        """Return the inputs that may come in a state."""
        group = self._groups.get(key(state))
        return (self.known if group is None else group.inputs).values()

    def path(self, state: object) -> tuple[Any, ...]:
        """Return a short list of inputs that may lead to a state."""
        path, name = list[Any](), key(state)
        while name in self._from:
            name, inp = self._from[name]
            path.append(inp)
        return tuple(each for each in path[::-1] if each is not None)

    def of(self, rule: ModelRule) -> list[Place]:
        """Return all places of a rule."""
        if not self._by_rule:
            rules = self.survey.rules
            for name, group in self._groups.items():
                for inp in (*group.inputs.values(), None):
                    state = group.states[name]
                    found = rules.of(state, inp, spontaneous=inp is None)
                    self._by_rule.setdefault(found.number, []).append((state, inp))
        return self._by_rule.get(rule.number, [])

    def _reach(self, state: object, back: tuple[Name, Any] | None) -> Name:
        name = key(state)
        if name not in self._groups:
            inputs = {key(inp): inp for inp in self.spec.inputs(state)}
            self._groups[name] = group = Group({name: state}, inputs)
            self.known.update(inputs)
            self._new.append(group)
            if back is not None:
                self._from[name] = back
        return name

    def _look(self, group: Group) -> None:
        """Ask about all states and inputs of a group, and join the groups of next states that look alike."""
        for state in list(group.states.values()):
            self._asked += 1
            for then in self._spontaneous(state):
                self._join(key(state), self._reach(then, (key(state), None)))
        for inp in list(group.inputs.values()):
            self._compare([each for state in list(group.states.values()) for each in self._answers(state, inp)])
            if self._asked > ASKED or group.is_waiting:
                return  # it has grown, and is looked at as a whole later

    def _compare(self, answers: Iterable[tuple[Name, Row | None]]) -> None:
        """Join the groups of those next states to which outputs lead that may be the same."""
        exact: dict[Hashable, tuple[Name, Row | None]] = {}
        loose: list[tuple[Name, Row | None]] = []
        for name, row in answers:
            if row is None or any(vague(item) or port == "?" for port, items in row for item in items):
                loose.append((name, row))
            else:
                self._join(name, exact.setdefault(key(row), (name, row))[0])
        for one, first in loose:
            for other, second in (*exact.values(), *loose):
                if self._groups[one] is not self._groups[other]:
                    self._asked += 1
                    if first is None or second is None or alike(first, second):
                        self._join(one, other)

    def _spontaneous(self, state: object) -> Iterator[Any]:
        ways = [] if self.spec.emits is None else list(self.spec.emits(state))
        for way in (*ways, *self.survey.served.emits(state)):
            if not isinstance(way, Accept):
                yield way.state

    def _answers(self, state: object, inp: object) -> Iterator[tuple[Name, Row | None]]:
        """Yield the next states, each with the outputs before it; None if the model only describes them."""
        self._asked += 1
        ways, back = list(self.spec.step(state, inp)), (key(state), inp)
        for way in ways:
            if not isinstance(way, Accept):
                name = self._reach(way.state, back)
                yield from ((name, row) for row in rows(way.outputs, self.routes))
        if any(isinstance(way, Accept) for way in ways):
            yield from ((self._reach(way.state, back), None) for way in self.survey.served.step(state, inp))

    def _join(self, one: Name, other: Name) -> None:
        large, small = self._groups[one], self._groups[other]
        if large is small:
            return
        if len(large.states) < len(small.states):
            large, small = small, large
        large.states.update(small.states)
        large.inputs.update(small.inputs)
        self._groups.update(dict.fromkeys(small.states, large))
        small.states, small.inputs = {}, {}
        if not large.is_waiting:
            large.is_waiting = True
            self._grown.append(large)
