"""A suite: lists of inputs, and what is known of a system that passes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from otf.errors import UsageError
from otf.explore import Graph, explore
from otf.spec import Spec
from otf.suite.machine import NumberedMachine, Word, machine
from otf.suite.methods import METHODS, Method
from otf.values import show

ASSUMED = "it is deterministic, and reset before each path"


@dataclass(frozen=True)
class Suite:
    """The paths of a suite; `words` are the same in numbers of the machine's inputs.

    `guarantee` says in words what is known of a system that passes; `notes` say how the machine differs from the model.
    `ignores`: the paths may have inputs that the model does not specify, and a system is expected to ignore them.

    >>> from otf.models.coffee import coffee
    >>> made = suite(coffee, "tour")
    >>> made.name, len(made.paths), made.longest, made.ignores
    ('coffee', 1, 4, False)
    """

    name: str
    method: str
    machine: NumberedMachine
    words: Sequence[Word]
    guarantee: str
    notes: tuple[str, ...] = ()
    ignores: bool = False

    @property
    def paths(self) -> list[list[Any]]:
        """Return the paths as lists of inputs, each from a reset."""
        return [self.machine.values(word) for word in self.words]

    @property
    def steps(self) -> int:
        """Return the number of inputs in all paths."""
        return sum(map(len, self.words))

    @property
    def longest(self) -> int:
        """Return the number of inputs in the longest path."""
        return max(map(len, self.words), default=0)

    def __str__(self) -> str:
        """Return size, steps and guarantee."""
        size = f"{self.name}: {len(self.words):,} paths, {self.steps:,} steps by the method {self.method}"
        machine_ = f"of {self.machine.size:,} states and {len(self.machine.transitions):,} transitions"
        return "\n".join([f"{size}, {machine_}", *self.notes, self.guarantee])


def suite(model: Spec[Any, Any] | Graph, method: str = "chain", extra: int = 0) -> Suite:
    """Return the suite of a model by one of `METHODS`; a system may have `extra` states more than the model.

    Raises UsageError, with the reason, for a model from which the method cannot make a suite.

    >>> from otf.spec import goto
    >>> def step(paid, inp): return [goto(min(paid + 1, 2))] if inp == "coin" else [goto(0, paid)]
    >>> made = suite(Spec(step, initial=0, inputs=["coin", "button"]), "tour")
    >>> made.steps, made.paths
    (7, [['coin', 'coin', 'coin', 'button', 'button', 'coin', 'button']])
    """
    known = _known(method, extra)
    graph = model if isinstance(model, Graph) else explore(model)
    made = known.machine(machine(graph))
    words, notes = known.make(made, extra)
    return Suite(
        graph.name, method, made, words, guarantee(known, made, extra), made.notes + notes, known.base != "specified"
    )


def _known(method: str, extra: int) -> Method:
    known = METHODS.get(method)
    if known is None:
        near = get_close_matches(method, METHODS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(METHODS)}"
        message = f"there is no method {show(method)}; {hint}"
        raise UsageError(message)
    if extra < 0 or (extra and not known.extra):
        more = ", ".join(name for name, each in METHODS.items() if each.extra)
        message = f"extra={extra}: {method} takes no states beyond those of the model; these do: {more}"
        raise UsageError(message)
    return known


def guarantee(method: Method, made: NumberedMachine, extra: int) -> str:
    """Return in words what is known of a system that passes."""
    if not method.complete:
        return f"a system that passes has taken every specified transition with the right outputs, if {ASSUMED}"
    return f"passed for every implementation with at most {made.size + extra} states, if {ASSUMED}"
