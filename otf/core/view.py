"""What a chooser sees of a run: where the next input would be taken, and what the model says of each input there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from otf.core.model import Model
from otf.core.moves import Relation
from otf.core.nodes import Node
from otf.core.symbols import Symbol

InputMode = Literal["uioco", "any", "all", "mixed"]


class Reach(NamedTuple):
    """A place that the system may be in, and the ports that have inputs in flight still to be taken there."""

    node: Node
    busy: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """What a chooser sees: the places that all inputs in flight may lead to, and the inputs by what the model says.

    `specified`: the model itself says what happens on them wherever they may be taken. `others`: it does not (offered
    in the modes `all` and `mixed`, judged against the completed spec). `allows` asks for any input, listed or not.
    """

    model: Model
    relation: Relation
    reached: tuple[Reach, ...]
    nodes: tuple[Node, ...]
    specified: tuple[Symbol, ...]
    others: tuple[Symbol, ...]
    _targets: dict[Symbol, tuple[Node, ...]] = field(default_factory=dict[Symbol, tuple[Node, ...]], compare=False)

    @staticmethod
    def of(model: Model, relation: Relation, reached: tuple[Reach, ...]) -> View:
        """Return the view where the system may take the next input in these places."""
        nodes = tuple(each.node for each in reached if not each.busy)
        inputs = dict.fromkeys(inp for node in nodes for inp in model.offers(node))
        specified = {inp: _enough(model, relation, reached, inp, model.specified) for inp in inputs}
        said, unsaid = (tuple(inp for inp in inputs if specified[inp] is wanted) for wanted in (True, False))
        return View(model, relation, reached, nodes, said, unsaid)

    def targets(self, inp: Symbol) -> tuple[Node, ...]:
        """Return the states that an input may lead to."""
        targets = self._targets.get(inp)
        if targets is None:
            found = (move.target for node in self.nodes for move in self.model.moves(node, inp))
            targets = self._targets[inp] = tuple(dict.fromkeys(each for each in found if each is not None))
        return targets

    def allows(self, inp: Symbol) -> bool:
        """Return whether the spec that judges says what happens on `inp`, wherever it may be taken."""
        return _enough(self.model, self.relation, self.reached, inp, self.model.moves)


def _enough(
    model: Model, relation: Relation, reached: tuple[Reach, ...], inp: Symbol, says: Callable[[Node, Symbol], object]
) -> bool:
    # inputs on other ports may be taken before those in flight or after them, on the same port only after them
    port = model.routes.into(inp.value)
    answers = [bool(says(node, inp)) for node, busy in reached if port not in busy]
    return bool(answers) and (all(answers) if relation == "uioco" else any(answers))
