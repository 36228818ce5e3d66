"""What all runs against one spec share: the model, how it is judged, and what is remembered of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from otf.core.belief import Belief, Beliefs, FailedStep
from otf.core.hypothesis import Hypothesis, Timer
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.moves import Limits, Relation
from otf.core.nodes import Node
from otf.core.timing import FOREVER, Span, Timing, Window
from otf.core.view import View, view
from otf.spec.requirements import Requirement, Requirements

if TYPE_CHECKING:
    from otf.temporal import Formula

GUESSING: Final = -1
GUESSED: Final = 20  # with more states than this, what is observed would decide nothing
VIEWED: Final = 32  # views kept with a long list of inputs: at least one for each path that runs at the same time


@dataclass(slots=True)
class Oracle:
    """The oracle decides what a spec allows; all paths against the spec share its `model`, `relation` and `beliefs`.

    `relation` decides how otf judges inputs that only some possible states specify. `beliefs` are the sets of possible
    states that otf has met. `limits` bounds the work of an explanation. `timing` contains the times of the bench, in
    seconds. `requirements` is the table of requirements that failures cite. `properties` are the properties that each
    path must satisfy, whatever the model allows. `silence_key(state, input)` returns the key under which otf remembers
    that silence followed a transition.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "on" if not lit else "off")], False, ["press"])))
    >>> [node.value for node in oracle.view(oracle.start()).nodes]
    [False]
    """

    model: Model
    relation: Relation = "uioco"
    limits: Limits = field(default_factory=Limits)
    timing: Timing = field(default_factory=Timing)
    silence_key: Callable[[Any, Any], Hashable] | None = None
    requirements: Mapping[str, Requirement] = field(default_factory=Requirements)
    properties: Mapping[str, Formula] = field(default_factory=dict[str, "Formula"])
    beliefs: Beliefs = field(init=False)
    _deeper: dict[int, Oracle] = field(init=False, default_factory=dict[int, "Oracle"], repr=False, compare=False)
    _viewed: deque[View] = field(init=False, default_factory=deque["View"], repr=False, compare=False)

    def __post_init__(self) -> None:
        """Remember beliefs in the memory of the model."""
        self.beliefs = Beliefs(self.model.memory)

    def following(self, spontaneous: int) -> Oracle:
        """Return an oracle, with beliefs of its own, that assumes up to `spontaneous` spontaneous outputs in flight."""
        if spontaneous <= self.limits.spontaneous:
            return self
        found = self._deeper.get(spontaneous)
        if found is None:
            found = replace(self, limits=replace(self.limits, spontaneous=spontaneous))
            self._deeper[spontaneous] = found
        return found

    def for_guesses(self) -> Oracle:
        """Return an oracle for a path that continues from a guess: otf may send what one possible state specifies."""
        found = self._deeper.setdefault(GUESSING, self)
        if found is self and self.relation == "uioco":
            found = self._deeper[GUESSING] = replace(self, relation="guess")
        return found

    def guessed(self, belief: Belief, step: FailedStep) -> list[Node]:
        """Return the states from which a path may continue past its failure; none if no guess is possible.

        The states are those after the expected output, and those before the output; later observations show which guess
        was right. If a step has several inputs, the system may have ignored any of them. `belief` contains the possible
        states before the failure. If the model has times, no guess is possible, since otf cannot know when timers
        began.
        """
        model = self.model
        expected = () if model.timed else self.view(belief).nodes
        found = dict.fromkeys(step.before.nodes)
        for inp in (model.symbol(each.input) for each in step.inputs):
            targets = [move.target for node in found for move in model.moves(node, inp)]
            found.update((node, None) for node in targets if node is not None)
        found.update(dict.fromkeys(expected))
        return [*found] if expected and len(found) <= GUESSED else []

    def start(self) -> Belief:
        """Return the belief at the start of a path: the initial state and nothing else."""
        # the system may have been started long ago, but it is in this state now
        return self.anywhere([self.model.initial], Span(-FOREVER, 0.0))

    def anywhere(self, nodes: list[Node], since: Span) -> Belief:
        """Return the belief that the system is in one of `nodes`, and fell silent at some time in the span `since`."""

        def running(name: str | int, lo: float, hi: float) -> Timer:
            return Timer(name, Window(Span(max(since.a, -hi), since.b), lo, hi))

        named = [running(*each) for each in sorted((each.name, each.lo, each.hi) for each in self.model.spec.timers)]
        return self.beliefs.of(
            Hypothesis(node, timers=(*(running(*each) for each in self.model.windows(node)), *named)) for node in nodes
        )

    def silence_of(self, node: Node, inp: Symbol) -> Hashable:
        """Return the key under which otf remembers that silence followed a transition.

        Raises ModelError if `silence_key` raises an exception.
        """
        if self.silence_key is None:
            return node, inp
        return self.model.called("silence_key", self.silence_key, node.value, inp.value)

    def answers_of(self, node: Node, inp: Symbol) -> Hashable:
        """Return a key for a silence, made of an input and its answers, for a system that never returns to a state.

        A device that numbers its messages, for instance, never returns to a state.
        """
        if not self.model.spontaneous(node):
            return self.silence_of(node, inp)
        return inp, tuple(move.texts for move in self.model.moves(node, inp))

    def view(self, belief: Belief) -> View:
        """Return the view of a belief, from which a chooser chooses an input; the oracle computes each view once.

        To save memory, the oracle drops a long list of inputs from a view that was not used for a while.
        """
        found = belief.view
        if found is None:
            found = belief.view = view(self.model, self.relation, self.limits, belief.hypotheses, self._long)
        return found

    def _long(self, found: View) -> None:
        self._viewed.append(found)
        if len(self._viewed) > VIEWED:
            self._viewed.popleft().forget()
