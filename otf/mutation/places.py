"""All places of a model where it can be wrong: each state that a system can reach, with each input that may come there.

Which inputs may come in a state depends on what the tester believes. If the outputs always show the next state, the
tester knows it, and only the inputs of that state come. Otherwise any input may come that some state enables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final, TypeAlias

from otf.core import Routes
from otf.errors import ModelError
from otf.mutation.choice import Survey
from otf.mutation.fitting import ModelWay, rest_of, rows
from otf.mutation.rules import ModelRule
from otf.spec import Accept, Spec
from otf.spec.outputs import vague
from otf.values import key

ASKED: Final = 30_000  # questions to the model: a second or two

Place: TypeAlias = tuple[Any, Any]
"""A state and an input; None for what is spontaneous."""


class _TooManyError(Exception):
    """There are more questions than may be asked."""


@dataclass(slots=True)
class Places:
    """The places of a model: `whole` is false if there are more than were looked at, and nothing can be proved.

    `sure`: the outputs always show the next state.
    """

    survey: Survey
    spec: Spec[Any, Any]
    routes: Routes
    sure: bool = True
    whole: bool = False
    states: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _from: dict[Hashable, tuple[Hashable, Any]] = field(default_factory=dict[Hashable, tuple[Hashable, Any]])
    _inputs: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    _by_rule: dict[int, list[Place]] = field(default_factory=dict[int, list[Place]])

    def __post_init__(self) -> None:
        """Look at all of them, if they are few enough."""
        self.sure = self.spec.emits is None
        try:
            self._reach()
            while not self.sure and self._reach():
                pass  # an input of another state led to a new one, which may have new inputs
        except (_TooManyError, ModelError):
            return
        self.whole = True

    def inputs(self, state: object) -> Iterable[Any]:
        """Return the inputs that may come in a state."""
        own = self.spec.inputs(state)
        return own if self.sure else ({key(inp): inp for inp in own} | self._inputs).values()

    def of(self, rule: ModelRule) -> list[Place]:
        """Return all places of a rule."""
        if not self._by_rule:
            rules = self.survey.rules
            for state in self.states.values():
                for inp in (*self.inputs(state), None):
                    found = rules.of(state, inp, spontaneous=inp is None)
                    self._by_rule.setdefault(found.number, []).append((state, inp))
        return self._by_rule.get(rule.number, [])

    def path(self, state: object) -> tuple[Any, ...]:
        """Return the shortest known list of inputs that may lead to a state."""
        path, name = list[Any](), key(state)
        while name in self._from:
            name, inp = self._from[name]
            path.append(inp)
        return tuple(each for each in path[::-1] if each is not None)

    def shows(self, ways: Iterable[ModelWay]) -> bool:
        """Return whether outputs show which of these transitions was made."""
        several = list(ways)
        if any(isinstance(way, Accept) for way in several):
            return False
        choices = [rows(way.outputs, self.routes) for way in several if not isinstance(way, Accept)]
        if len(several) > 1 and any(vague(item) for row in _all(choices) for _, items in row for item in items):
            return False
        pairs = [(one, other) for first, second in combinations(choices, 2) for one in first for other in second]
        return all(rest_of(one, other) is None and rest_of(other, one) is None for one, other in pairs)

    def _reach(self) -> bool:
        """Find the states; return whether there were more of them, or more inputs, than before."""
        before, served = (len(self.states), len(self._inputs)), self.survey.served
        first = self.spec.initial
        self.states, self._from = {key(first): first}, {}
        todo, asked = deque([first]), 0
        while todo:
            state = todo.popleft()
            for inp in self.spec.inputs(state):
                self._inputs.setdefault(key(inp), inp)
            for inp in (*self.inputs(state), None):
                asked += 1
                if asked > ASKED:
                    raise _TooManyError
                self.sure = self.sure and self.shows(self._asked(state, inp))
                for way in served.emits(state) if inp is None else served.step(state, inp):
                    if (name := key(way.state)) not in self.states:
                        self.states[name] = way.state
                        self._from[name] = key(state), inp
                        todo.append(way.state)
        return before != (len(self.states), len(self._inputs))

    def _asked(self, state: object, inp: object) -> Iterable[ModelWay]:
        return () if inp is None else self.spec.step(state, inp)


def _all(choices: Iterable[Iterable[Any]]) -> Iterator[Any]:
    for each in choices:
        yield from each
