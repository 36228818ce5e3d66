"""Suites for observable models that leave the system a choice: outputs decide what a test sends next.

Why `state-counting` is complete (Hierons, "Testing from a nondeterministic finite state machine using adaptive state
counting", 2004): consider a wrong system, and the pairs of a model state and a system state that can occur together. A
sure way reaches its state whatever the system chooses. Some shortest way to a wrong output starts from a pair at the
end of a sure way; it meets no pair twice, and no pair at the end of another sure way. Take a group of pairwise
distinguishable states. At most one of them goes with each of the system's m states; otherwise a test that distinguishes
two of them fails. So the way meets states of the group at most m times, less the number of those that have sure ways.
A test that tries everything until it has met some group once more contains this way. All this holds only for answers
that came: no test can judge an answer that the system never gave.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from otf.core import Node, Symbol, View
from otf.errors import ModelError, UsageError, choose
from otf.explore import Graph
from otf.suite.observable import (
    Decisions,
    Observable,
    SeparatingInputs,
    TrialNode,
    Trials,
    groups,
    observable,
    reaching,
    separating,
)
from otf.values import show

RUNS: Final = 20
Met = tuple[int, ...]
"""How often a way has met each group of states."""


@dataclass(frozen=True)
class AdaptiveSuite:
    """A suite of adaptive tests, which choose the next input according to the outputs of the system.

    `machine` is the explored model, and `method` is the name of the method that made the tests from it. Each row of the
    table `decisions` contains an input to send, and the next row for each possible output. `tests` lists the index of
    each test's first row. `guarantee` describes what a system proves by passing each test `runs` times. `notes` lists
    further limits of the guarantee.

    >>> from otf.explore import explore
    >>> from otf.models.coffee import coffee
    >>> made = adaptive(explore(coffee), runs=5)
    >>> made.name, made.method, made.runs
    ('coffee', 'state-counting', 5)
    """

    method: str
    machine: Observable
    decisions: Decisions
    tests: list[int]
    guarantee: str
    notes: tuple[str, ...]
    runs: int

    @property
    def name(self) -> str:
        """Return the name of the suite's model."""
        return self.machine.name

    @property
    def longest(self) -> int:
        """Return the largest number of inputs that a single test can send."""
        return max((self.decisions.depth[test] for test in self.tests), default=0)

    @property
    def steps(self) -> int:
        """Return the largest number of inputs that all tests together send if each is driven once."""
        return sum(self.decisions.depth[test] for test in self.tests)

    def __str__(self) -> str:
        """Return size, steps and guarantee."""
        size = (
            f"{self.name}: {len(self.tests):,} adaptive tests by the method {self.method}, each run {_times(self.runs)}"
        )
        return "\n".join([f"{size}, of {self.machine.size:,} states", *self.notes, self.guarantee])


@dataclass(frozen=True, slots=True)
class SureParts:
    """The sure ways of a machine, the inputs that distinguish states, and groups of pairwise distinguishable states."""

    machine: Observable
    ways: dict[int, dict[int, int]]
    apart: SeparatingInputs
    groups: list[frozenset[int]]


def _counting(trials: Trials, parts: SureParts, extra: int) -> None:
    """Try every input until a way has met some group often enough; distinguish the states of each group on the way."""
    limits = [parts.machine.size + extra - len(group & parts.ways.keys()) for group in parts.groups]
    left: list[tuple[TrialNode, Met]] = [(end, (0,) * len(limits)) for end in _ends(trials, parts)]
    while left:
        node, visits = left.pop()
        rivals = {other for group in parts.groups if node.state in group for other in group}
        _separate(trials, parts, node, rivals)
        if all(met <= limit for met, limit in zip(visits, limits, strict=True)):
            for after in _onward(trials, parts, node):
                met = zip(visits, parts.groups, strict=True)
                left.append((after, tuple(count + (after.state in group) for count, group in met)))


def _covering(trials: Trials, parts: SureParts, _extra: int) -> None:
    """Try each input at the end of each sure way, and distinguish its target from all states where possible."""
    for end in _ends(trials, parts):
        for after in _onward(trials, parts, end):
            _separate(trials, parts, after, set(range(parts.machine.size)))


def _ends(trials: Trials, parts: SureParts) -> list[TrialNode]:
    return [end for goal, way in parts.ways.items() for end in trials.walk(trials.root, way, goal)]


def _onward(trials: Trials, parts: SureParts, node: TrialNode) -> list[TrialNode]:
    return [after for inp in parts.machine.ends[node.state] for after in trials.step(node, inp)]


def _separate(trials: Trials, parts: SureParts, node: TrialNode, rivals: set[int]) -> None:
    for other in sorted(rivals):
        if (node.state, other) in parts.apart:
            trials.part(node, other, parts.apart)


ADAPTIVE: Final[Mapping[str, Callable[[Trials, SureParts, int], None]]] = {
    "state-counting": _counting,
    "adaptive-cover": _covering,
}
"""The methods by which `adaptive` makes tests, by name.

>>> sorted(ADAPTIVE)
['adaptive-cover', 'state-counting']
"""


def adaptive(graph: Graph, method: str = "state-counting", extra: int = 0, runs: int = RUNS) -> AdaptiveSuite:
    """Return an adaptive suite for a system that may have `extra` more states than the model.

    `graph` is the explored model. `method` is one of `ADAPTIVE`. Drive each test `runs` times, since the system may
    choose other outputs each time. `adaptive` raises UsageError if the model has no adaptive suite, or if the suite is
    too large.

    >>> from otf.explore import explore
    >>> from otf.spec import OneOf, Spec, goto
    >>> def step(heads, inp):
    ...     if inp == "toss": return [goto(True, "heads"), goto(False, "tails")]
    ...     return [goto(heads, "won" if heads else "lost")]
    >>> made = adaptive(explore(Spec(step, False, ["toss", "look"], name="coin")), runs=10)
    >>> len(made.tests), made.steps, made.longest
    (4, 12, 3)
    """
    _refuse(method, extra, runs)
    return assembled(observable(graph), method, extra, runs)


def assembled(machine: Observable, method: str, extra: int = 0, runs: int = RUNS) -> AdaptiveSuite:
    """Return the adaptive suite that a method makes from an observable machine, for up to `extra` more states."""
    apart, ways = separating(machine), reaching(machine)
    parts = SureParts(machine, ways, apart, groups(machine.size, apart, set(ways)))
    trials, table = Trials(machine), Decisions()
    ADAPTIVE[method](trials, parts, extra)
    tests = trials.tests(table)
    return AdaptiveSuite(method, machine, table, tests, _worth(method, parts, extra, runs), _notes(parts), runs)


def unknown(what: str, name: str, known: Collection[str]) -> UsageError:
    """Return the error for an unknown name; its message lists the known names."""
    return UsageError(f"there is no {what} {show(name)}; {choose(name, known, 'there are')}")


def _refuse(method: str, extra: int, runs: int) -> None:
    if method not in ADAPTIVE:
        raise unknown("adaptive method", method, ADAPTIVE)
    if extra < 0 or (extra and method != "state-counting"):
        message = f"extra={extra}: 0 or more is needed, and state-counting is the only adaptive method that takes more"
        raise UsageError(message)
    if runs < 1:
        raise UsageError(f"runs={runs}: at least 1 is needed")


def _notes(parts: SureParts) -> tuple[str, ...]:
    size, pairs = parts.machine.size, len(parts.apart) // 2
    reached = f"{len(parts.ways)} of {size} states can be reached whatever the system chooses"
    return (*parts.machine.notes, f"{reached}, {pairs} of {size * (size - 1) // 2} pairs of states told apart")


def _worth(method: str, parts: SureParts, extra: int, runs: int) -> str:
    shown = (
        "if it is reset before each run, and every answer to a test that it can give was seen when the test was run "
        f"{_times(runs)} (the complete testing assumption: no number of runs can prove it)"
    )
    if method == "state-counting":
        most = parts.machine.size + extra
        return f"passed for every implementation with at most {most:,} states, on the specified inputs, {shown}"
    return (
        f"a system that passes has answered each specified input correctly in {len(parts.ways)} of "
        f"{parts.machine.size} states, {shown}; this does not prove it correct"
    )


def _times(runs: int) -> str:
    return "once" if runs == 1 else f"{runs:,} times"


class Deciding:
    """Chooses the inputs of one test of an adaptive suite: each depends on the model's state after the last outputs."""

    def __init__(self, suite: AdaptiveSuite, numbers: Mapping[Node, int], test: int) -> None:
        self._suite = suite
        self._numbers = numbers
        self._next: Mapping[int, int] = {0: test}

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None where the test ends. Raises ModelError if the outputs leave the state open."""
        if not self._next:
            return None
        decision = self._next.get(self._state(view))
        self._next = {}
        if decision is None:
            return None
        row = self._suite.decisions.rows[decision]
        self._next = dict(row.then)
        inp = view.model.symbol(self._suite.machine.inputs[row.input])
        # a test edited in its file may have an input that the model does not specify here
        return inp if view.allows(inp) else None

    def _state(self, view: View) -> int:
        known = [self._numbers.get(node) for node in view.nodes]
        if len(known) != 1 or known[0] is None:
            names = ", ".join(show(node.value) for node in view.nodes)
            raise ModelError(f"{self._suite.name}: the outputs do not determine its state ({names}); use `otf run`")
        return known[0]
