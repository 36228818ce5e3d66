"""All places of a model where it can be wrong: each state that a system can reach, with each input possible there.

Which inputs are possible in a state depends on what the tester believes: those of any state that it cannot tell from
this one. So states form groups. Equal outputs to an input lead the states of a group into one group. After spontaneous
outputs a system may be ahead of what the tester has seen, so the states before and after them share a group too. A
group may be too large, never too small: then the search looks at more inputs than can come, and proves less.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from otf.compose.actions import outputs_in
from otf.core import Routes
from otf.errors import ModelError
from otf.mutation.choice import Survey
from otf.mutation.examples import Row, alike, rows
from otf.mutation.served import ModelRule
from otf.spec import Accept, Spec, Transition
from otf.spec.outputs import vague
from otf.values import key

ASKED: Final = 100_000  # questions to the model: some ten seconds, once for all mutants
COMPARED: Final = 1_000_000  # comparisons of answers: a second or two

StateInput: TypeAlias = tuple[Any, Any]
"""A state and an input; None for spontaneous outputs."""
NextState: TypeAlias = "tuple[Hashable, Row | None]"
"""The name of a state, and the outputs before it; None if the model only describes them."""
StateAnswer: TypeAlias = tuple[Hashable, Hashable, NextState]
"""The names of a state and an input, and a next state."""


@dataclass(slots=True)
class UnsureStates:
    """States that the tester may be unable to tell apart, and the inputs that any of them enables.

    `exact` and `loose` are the next states by input, with the outputs before them: values, and mere descriptions.
    """

    states: dict[Hashable, Any]
    inputs: dict[Hashable, Any]
    exact: dict[Hashable, dict[Hashable, NextState]] = field(
        default_factory=dict[Hashable, "dict[Hashable, NextState]"]
    )
    loose: dict[Hashable, list[NextState]] = field(default_factory=dict[Hashable, "list[NextState]"])
    is_waiting: bool = True

    def alike(self, inp: Hashable, then: NextState) -> Iterator[NextState]:
        """Yield next states whose outputs may be the same, and remember this one."""
        name, row = then
        exact = self.exact.setdefault(inp, {})
        if row is None or any(vague(item) or port == "?" for port, items in row for item in items):
            yield from exact.values()
            loose = self.loose.setdefault(inp, [])
            yield from list(loose)
            loose.append(then)
        else:
            first = exact.setdefault(key(row), then)
            if first[0] != name:
                yield first
            yield from self.loose.get(inp, [])


@dataclass(slots=True)
class Places:
    """The places of a model: `whole` is false if the search did not see them all, so nothing can be proved.

    `known` holds the inputs of all its states.
    """

    survey: Survey
    spec: Spec[Any, Any]
    routes: Routes
    whole: bool = False
    known: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _groups: dict[Hashable, UnsureStates] = field(default_factory=dict[Hashable, UnsureStates])
    _from: dict[Hashable, tuple[Hashable, Any]] = field(default_factory=dict[Hashable, tuple[Hashable, Any]])
    _by_rule: dict[int, list[StateInput]] = field(default_factory=dict[int, list[StateInput]])
    # groups of one new state, and groups that have grown: the latter wait until there are no new ones left
    _new: deque[UnsureStates] = field(default_factory=deque[UnsureStates])
    _grown: deque[UnsureStates] = field(default_factory=deque[UnsureStates])
    _done: dict[Hashable, set[Hashable]] = field(default_factory=dict[Hashable, "set[Hashable]"])
    _known_rows: dict[Hashable, list[Row]] = field(default_factory=dict[Hashable, "list[Row]"])
    _asked: int = 0
    _compared: int = 0

    def __post_init__(self) -> None:
        """Look at all of them, if they are few enough."""
        try:
            self._reach(self.spec.initial, None)
            while (self._new or self._grown) and not self._is_long():
                group = (self._new or self._grown).popleft()
                group.is_waiting = False
                self._look(group)
        except ModelError:
            return
        self.whole = not self._is_long()

    def __contains__(self, name: Hashable) -> bool:
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

    def of(self, rule: ModelRule) -> list[StateInput]:
        """Return all places of a rule."""
        if not self._by_rule:
            rules = self.survey.rules
            for name, group in self._groups.items():
                for inp in (*group.inputs.values(), None):
                    state = group.states[name]
                    found = rules.of(state, inp, spontaneous=inp is None)
                    self._by_rule.setdefault(found.number, []).append((state, inp))
        return self._by_rule.get(rule.number, [])

    def _reach(self, state: object, back: tuple[Hashable, Any] | None) -> Hashable:
        name = key(state)
        if name not in self._groups:
            inputs = {key(inp): inp for inp in self.spec.inputs(state)}
            self._groups[name] = group = UnsureStates({name: state}, inputs)
            self.known.update(inputs)
            self._new.append(group)
            if back is not None:
                self._from[name] = back
        return name

    def _look(self, group: UnsureStates) -> None:
        """Ask about all states and inputs of a group, and join the groups of next states that look alike."""
        for name, state in list(group.states.items()):
            done = self._done.get(name)
            if done is None:
                done = self._done[name] = set()
                self._asked += 1
                for then in self._spontaneous(state):
                    self._compare(self._join(name, self._reach(then, (name, None))))
            for inp in [inp for inp in self._groups[name].inputs if inp not in done]:
                done.add(inp)
                for then in self._answers(state, self.known[inp]):
                    self._compare([(name, inp, then)])
                if self._is_long():
                    return

    def _is_long(self) -> bool:
        return self._asked > ASKED or self._compared > COMPARED

    def _compare(self, found: list[StateAnswer]) -> None:
        """Join the groups of next states that may follow the same outputs."""
        while found:
            state, inp, then = found.pop()
            # joining changes the groups, so look up each one anew
            for other in list(self._groups[state].alike(inp, then)):
                first, second = then[1], other[1]
                if self._groups[then[0]] is self._groups[other[0]]:
                    continue
                self._compared += 1
                if first is None or second is None or first is second or alike(first, second):
                    found.extend(self._join(then[0], other[0]))

    def _spontaneous(self, state: object) -> Iterator[Any]:
        ways = [] if self.spec.emits is None else list(self.spec.emits(state))
        for way in (*ways, *self.survey.served.emits(state)):
            if not isinstance(way, Accept):
                yield way.state

    def _answers(self, state: object, inp: object) -> Iterator[NextState]:
        """Yield the next states, each with the outputs before it; None if the model only describes them."""
        self._asked += 1
        ways, back = list(self.spec.step(state, inp)), (key(state), inp)
        for way in ways:
            if not isinstance(way, Accept):
                name = self._reach(way.state, back)
                yield from ((name, row) for row in self._rows(way))
        if any(isinstance(way, Accept) for way in ways):
            yield from ((self._reach(way.state, back), None) for way in self.survey.served.step(state, inp))

    def _rows(self, way: Transition[Any]) -> list[Row]:
        if any(vague(value) for item in way.outputs for value, _ in outputs_in(item)):
            return rows(way.outputs, self.routes)
        name = key(way.outputs)
        found = self._known_rows.get(name)
        if found is None:
            found = self._known_rows[name] = rows(way.outputs, self.routes)
        return found

    def _join(self, one: Hashable, other: Hashable) -> list[StateAnswer]:
        """Join the groups of two states; return what to compare in the joint group."""
        large, small = self._groups[one], self._groups[other]
        if large is small:
            return []
        if len(large.states) < len(small.states):
            large, small = small, large
        large.states.update(small.states)
        large.inputs.update(small.inputs)
        self._groups.update(dict.fromkeys(small.states, large))
        answers = [(inp, then) for inp, found in small.exact.items() for then in found.values()]
        answers += [(inp, then) for inp, found in small.loose.items() for then in found]
        small.states, small.inputs, small.exact, small.loose = {}, {}, {}, {}
        if not large.is_waiting:
            large.is_waiting = True
            self._grown.append(large)
        return [(one, inp, then) for inp, then in answers]
