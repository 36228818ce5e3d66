"""Where a run may go on after a failure: a guess of the state, which what is observed next decides.

The system did something that the model does not allow. Either only its answer was wrong, and it is where it should be;
or it took no notice of the input. Both are kept as possible, as one set of states. An input that only one of them
specifies may be sent, or nothing right behind a failure would ever be tried: in the other it is ignored.
"""

from __future__ import annotations

from typing import Final

from otf.core.belief import Belief
from otf.core.failure import FailedStep
from otf.core.nodes import Node
from otf.core.oracle import Oracle

MOST: Final = 20  # states: of more, what is observed would decide nothing


def guessed(oracle: Oracle, belief: Belief, step: FailedStep) -> list[Node]:
    """Return the states as if the expected had come, and as if nothing had happened; empty if no guess is possible.

    `belief` is what was possible before the failing event of a step. Of several inputs in a step each may have been
    ignored. Of a model with times no guess is possible: when its timers began is not known any more.
    """
    model = oracle.model
    expected = () if model.timed else oracle.view(belief).nodes
    found = dict.fromkeys(step.before.nodes)
    for inp in (model.symbol(each.input) for each in step.inputs):
        targets = [move.target for node in found for move in model.moves(node, inp)]
        found.update((node, None) for node in targets if node is not None)
    found.update(dict.fromkeys(expected))
    return [*found] if expected and len(found) <= MOST else []
