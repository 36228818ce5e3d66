"""Test suites computed in advance from a model: sequences of inputs that cover the model, or prove a system correct.

`suite` computes fixed lists of inputs for a deterministic model, with one of the methods in `METHODS`. The suite's
`guarantee` describes what a system proves by passing. `adaptive` computes tests for a model that allows the system
several outputs, with one of the methods in `ADAPTIVE`. An adaptive test chooses the next input according to the outputs
of the system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final, Literal

from otf.errors import UsageError
from otf.explore import Graph, explore
from otf.spec import Spec
from otf.suite.adaptive import ADAPTIVE, AdaptiveSuite, adaptive, unknown
from otf.suite.chain import chain
from otf.suite.complete import distances, h, hsi, spy, w, wp
from otf.suite.identify import distinguishing, experiment, leaves, uio
from otf.suite.machine import NOTHING, NumberedMachine, Word, blocks, complete_machine, machine, minimise
from otf.suite.tour import Leg, a2, a3, a4, checked, tour, transitions
from otf.trace.result import counted

PATHS: Final = 100_000  # paths of an A2 suite: their number explodes
Base = Literal["specified", "complete_machine", "minimal"]
Made = tuple[list[Word], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method with which `suite` computes a test suite.

    `says` describes the method in a line. `make(machine, extra)` returns the paths of a suite, and notes on the suite's
    limits. `base` names the machine from which the method computes a suite: "specified", "complete_machine" or
    "minimal". `complete` is true if the suite finds every wrong system with at most the given number of extra states.
    `extra` is true if the method accepts a number of extra states. `wider` is true if the suites also find some wrong
    systems with more states (k-A-completeness).

    >>> METHODS["tour"].says
    'every transition, in as few paths and inputs as possible'
    """

    says: str
    make: Callable[[NumberedMachine, int], Made]
    base: Base = "minimal"
    complete: bool = True
    extra: bool = True
    wider: bool = False

    def machine(self, explored: NumberedMachine) -> NumberedMachine:
        """Return the machine from which the method makes its suite."""
        if self.base == "specified":
            return explored
        whole = complete_machine(explored)
        return minimise(whole) if self.base == "minimal" else whole


def _a2(machine: NumberedMachine, _extra: int) -> Made:
    paths = list(islice(a2(machine), PATHS + 1))
    if len(paths) > PATHS:
        raise UsageError(f"{machine.name}: A2 gives more than {PATHS:,} paths; tour covers every transition with one")
    return paths, ()


def _a4(machine: NumberedMachine, _extra: int) -> Made:
    checks, notes = _uios(machine)
    return a4(machine, checks.__getitem__), notes


def _uio(machine: NumberedMachine, _extra: int) -> Made:
    checks, notes = _uios(machine)
    paths, more = _optimal(machine, checked(machine, checks.__getitem__))
    return paths, notes + more


def _ds(machine: NumberedMachine, _extra: int) -> Made:
    word = distinguishing(machine)
    if word is None:
        raise UsageError(f"{machine.name}: no distinguishing sequence was found; try ads, uio or chain")
    return _optimal(machine, checked(machine, lambda _state: word))


def _ads(machine: NumberedMachine, _extra: int) -> Made:
    root = experiment(machine)
    if root is None:
        raise UsageError(f"{machine.name}: no adaptive distinguishing sequence was found; try uio or chain")
    words = {leaf.state: word for word, leaf in leaves(root)}
    return _optimal(machine, checked(machine, words.__getitem__))


def _optimal(machine: NumberedMachine, legs: list[Leg]) -> Made:
    found = tour(machine, legs)
    return found.paths, () if found.optimal else ("its parts had to be joined: there may be a shorter tour",)


def _uios(machine: NumberedMachine) -> tuple[list[Word], tuple[str, ...]]:
    """Return for each state a word of specified inputs that only this state answers in its way; () if none exists."""
    whole, home = complete_machine(machine), distances(machine)
    numbers = blocks(whole)
    words: list[Word] = []
    for state in range(machine.size):
        others = [each for each in range(machine.size) if numbers[each] != numbers[state]]
        back = [row[state] for row in home]
        words.append(
            (uio(whole, state, others, lambda at, inp: machine.next[at][inp] != NOTHING, back) or ()) if others else ()
        )
    without = sum(not word for word in words)
    return words, (
        f"{without} of {machine.size} states have no UIO: they are reached but not checked",
    ) if without else ()


def _plain(make: Callable[[NumberedMachine, int], Sequence[Word]]) -> Callable[[NumberedMachine, int], Made]:
    return lambda machine, extra: (list(make(machine, extra)), ())


_covers = partial(Method, base="specified", complete=False, extra=False)

METHODS: Final[Mapping[str, Method]] = {
    "a2": _covers("every path in which no transition occurs twice", _a2),
    "a3": _covers("every transition twice, always the first available", lambda machine, _: (a3(machine), ())),
    "a4": _covers("every transition once; the state at the end is checked", _a4),
    "tour": _covers(
        "every transition, in as few paths and inputs as possible",
        lambda machine, _: _optimal(machine, transitions(machine)),
    ),
    "uio": _covers("a tour with a check of every target", _uio),
    "ds": Method("a tour with one distinguishing sequence after each transition", _ds, complete=False, extra=False),
    "ads": Method("a tour with an adaptive distinguishing sequence", _ads, complete=False, extra=False),
    "w": Method("after each transition all words that tell states apart", _plain(w), wider=True),
    "wp": Method("as w, but after transitions only words for their targets", _plain(wp), wider=True),
    "hsi": Method("after each transition harmonised words for its target", _plain(hsi), wider=True),
    "h": Method("for any two nodes a word that tells their states apart", _plain(h)),
    "spy": Method("as hsi, with the words spread over nodes known to be in a state", _plain(spy)),
    "chain": Method("each test begins where the last one ended", lambda machine, _: (chain(machine), ()), extra=False),
}
"""The methods by which `suite` makes suites, by name.

>>> METHODS["h"].complete
True
"""

ASSUMED = "it is deterministic, and reset before each path"


@dataclass(frozen=True)
class Suite:
    """A test suite: `paths` lists the inputs of each path.

    `words` contains the paths as indices into `machine.inputs`. `name` is the name of the model. `method` is the name
    of the method that made the suite. `guarantee` describes what a system proves by passing the suite. `notes` lists
    how the machine of the suite differs from the model. `ignores` is true if paths may contain inputs that the model
    does not specify; the system has to ignore the unspecified inputs.

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
        """Return the paths of the suite as lists of inputs; each path begins after a reset."""
        return [self.machine.values(word) for word in self.words]

    @property
    def steps(self) -> int:
        """Return the number of inputs in all paths of the suite."""
        return sum(map(len, self.words))

    @property
    def longest(self) -> int:
        """Return the number of inputs in the longest path of the suite."""
        return max(map(len, self.words), default=0)

    def cost(self, reset_cost: float = 1.0) -> float:
        """Return the number of inputs in all paths, plus `reset_cost` for the reset before each path.

        >>> from otf.models.coffee import coffee
        >>> suite(coffee, "tour").cost(10.0)
        14.0
        """
        return self.steps + reset_cost * len(self.words)

    def __str__(self) -> str:
        """Return size, steps and guarantee."""
        sizes = f"{counted(len(self.words), 'path')}, {counted(self.steps, 'step')}"
        size = f"{self.name}: {sizes} by the method {self.method}"
        machine_ = f"of {self.machine.size:,} states and {len(self.machine.transitions):,} transitions"
        return "\n".join([f"{size}, {machine_}", *self.notes, self.guarantee])


AUTO: Final = "auto"
"""The method that makes the suites of all `RIVALS`, and takes the shortest.

>>> from otf.spec import Spec, goto
>>> lamp = Spec(lambda lit, inp: [goto(not lit, "off" if lit else "on")], False, ["press"])
>>> suite(lamp, AUTO).method
'chain'
"""
RIVALS: Final = ("chain", "spy", "hsi", "h")
"""The methods from which `auto` takes the cheapest suite; of several equally cheap suites, it takes the first."""


def suite(model: Spec[Any, Any] | Graph, method: str = "chain", extra: int = 0, *, reset_cost: float = 1.0) -> Suite:
    """Return a test suite made by one of `METHODS`, for a system that may have `extra` more states than the model.

    The method `auto` computes an n-complete suite with each of the methods chain, SPY, HSI and H, and returns the
    cheapest. When `auto` compares suites, a reset of the system costs as much as `reset_cost` inputs. `suite` raises
    UsageError if the method cannot compute a suite for this model.

    >>> from otf.spec import goto
    >>> def step(paid, inp): return [goto(min(paid + 1, 2))] if inp == "coin" else [goto(0, paid)]
    >>> made = suite(Spec(step, initial=0, inputs=["coin", "button"]), "tour")
    >>> made.steps, made.paths
    (7, [['coin', 'coin', 'coin', 'button', 'button', 'coin', 'button']])
    """
    graph = model if isinstance(model, Graph) else explore(model)
    if method == AUTO:
        return _shortest(graph, extra, reset_cost)
    known = _known(method, extra)
    made = known.machine(machine(graph))
    words, notes = known.make(made, extra)
    return Suite(
        graph.name, method, made, words, guarantee(known, made, extra), made.notes + notes, known.base != "specified"
    )


def _shortest(graph: Graph, extra: int, reset_cost: float) -> Suite:
    if not 0 <= reset_cost < float("inf"):
        raise UsageError(f"a reset cost of {reset_cost:g}: give a number of inputs from 0 on")
    made = [suite(graph, name, extra) for name in RIVALS if METHODS[name].extra or not extra]
    return min(made, key=lambda each: each.cost(reset_cost))


def _known(method: str, extra: int) -> Method:
    known = METHODS.get(method)
    if known is None:
        raise unknown("method", method, [*METHODS, AUTO])
    if extra < 0 or (extra and not known.extra):
        more = ", ".join(name for name, each in METHODS.items() if each.extra)
        raise UsageError(f"extra={extra}: {method} takes no states beyond those of the model; these do: {more}")
    return known


def guarantee(method: Method, made: NumberedMachine, extra: int) -> str:
    """Return a sentence that describes what a system proves by passing all tests of a suite."""
    if not method.complete:
        return f"a system that passes has taken every specified transition with the right outputs, if {ASSUMED}"
    within = f"passed for every implementation with at most {made.size + extra} states, if {ASSUMED}"
    if not extra:
        return within
    return f"{within}; {wider(extra) if method.wider else 'not for larger ones, of which w, wp and hsi cover some'}"


def wider(extra: int) -> str:
    """Return a phrase that describes which larger systems a suite with `extra` (1 or more) states also covers.

    The suites W, Wp and HSI are k-A-complete, where A is the cover of the model: one shortest sequence of inputs to
    each state. Vaandrager and Melse (2025) prove k-A-completeness, and give counterexamples for H and SPY. With k = 0,
    k-A-completeness adds nothing: if A reaches all states of a system, the system is no larger than the model.

    >>> wider(1).partition(" by ")[2]
    "the suite's way to a state of the model and at most 1 input more"
    """
    more = f"a state of the model and at most {counted(extra, 'input')} more"
    return f"also for every larger one that reaches each of its states by the suite's way to {more}"


__all__ = [
    "ADAPTIVE",
    "AUTO",
    "METHODS",
    "AdaptiveSuite",
    "Method",
    "NumberedMachine",
    "Suite",
    "adaptive",
    "complete_machine",
    "machine",
    "minimise",
    "suite",
]
