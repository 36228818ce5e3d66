"""Kinds of failure: one per defect, as far as runs can tell.

A *signature* is a coarse description of a failure; all failures of one defect nearly always share it. But two defects
may share one too: if a model is a table of texts, every wrong answer is one text in place of another. So failures with
one signature are split by their values, unless a single rule explains them all:

- Failures of inputs that do different things (their texts begin with different words) are always different kinds. So
  are those in which the system says different things (wrong texts that begin with words that were not expected).
- So are those with different names that the system itself gives: the model did not expect the value `error_17`.
- If states and inputs have no parts, and there are several states, the model is a table. Then each entry is a kind,
  unless an input gets a wrong answer in the same way wherever it is tried, or in a range of states.
- Otherwise, each input that always fails is a kind if others of its form never fail, unless these inputs are a range.
- Failures that only inputs at once show are one kind if the same inputs meet, whatever the outputs and the state; and
  other inputs that were sent with them have nothing to do with it.
- Inputs with several fields whose outputs are wrong in the same place are one kind if one field decides: all those
  tried with these temperatures fail, in any room.

The steps that passed before a failure in the same path are the evidence for `never`. If an input sometimes fails and
sometimes passes, something else makes it fail, and its value says nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from otf.trace.alike import (
    REACH,
    difference,
    head,
    is_atom,
    is_name,
    is_range,
    is_slice,
    related,
    says_otherwise,
    template,
)
from otf.trace.verdict import MEETS, Signature

MOST: Final = 1_000
"""How many failures with different values otf distinguishes; further ones count only by their signatures."""
STEPS: Final = 20_000  # different passed steps kept as evidence
ALWAYS: Final = 0.8  # of an input's trials; the others may have hit the right answer by chance
FEW: Final = 8  # this many values count as few even if none recurs

FailurePart: TypeAlias = Literal["state", "input", "expected", "seen"]
ExactFailures: TypeAlias = tuple[Signature, ...]


class PassedStep(NamedTuple):
    """A step that conformed, as texts: the state, the input, the outputs."""

    state: str
    input: str
    outputs: str


class KindRule(NamedTuple):
    """Which parts of a failure distinguish kinds of failure; for the inputs in `everywhere`, the state does not.

    Each of the `slices`, the ways in which an output can be wrong, is a separate kind, whatever the input.
    """

    parts: tuple[FailurePart, ...] = ()
    everywhere: frozenset[str] = frozenset()
    slices: frozenset[str] = frozenset()

    def told(self, exact: Signature) -> dict[str, Any]:
        """Return the values of these parts."""
        if self.slices and (wrong := difference(exact.expected, exact.seen)) in self.slices:
            return {"seen": wrong}
        parts = [part for part in self.parts if part != "state" or exact.input not in self.everywhere]
        return {part: getattr(exact, part) for part in parts}


@dataclass(frozen=True, slots=True)
class Scope:
    """How to divide the failures of one signature into kinds: by one rule for each thing that an input does.

    Outputs of the forms in `names` are names that the system gives to failures. If `parts` is given, only the values of
    these parts tell failures apart. `races` holds what the inputs of known races do.

    >>> exact = Signature("wrong", "{3: 0}", "Read(3)", "Value(0)", "Value(99)")
    >>> signature = Signature("wrong", "dict", "Read", "Value", "Value", exact)
    >>> print(Scope({"Read": KindRule(("input",))}).of(signature))
    wrong: dict --Read(3)--> expected Value, seen Value
    """

    rules: dict[str, KindRule] = field(default_factory=dict[str, KindRule])
    names: frozenset[str] = frozenset()
    parts: tuple[FailurePart, ...] | None = None
    races: frozenset[str] = frozenset()

    def of(self, signature: Signature) -> Signature:
        """Return the kind of a failure."""
        exact = signature.exact
        if exact is None:
            return self._race(signature) if signature.meets and self.parts is None else signature
        if self.parts is not None:
            return replace(signature, **{part: getattr(exact, part) for part in self.parts})
        if self.is_named(exact):
            return replace(signature, seen=exact.seen)
        if not self.rules:
            return signature
        act, told = _act(exact), self.rules.get(_act(exact), KindRule()).told(exact)
        does, *says = act.split(" ")
        if says and any(other != act and other.split(" ")[0] == does for other in self.rules):
            told = {"seen": says[0], **told}
        return replace(signature, **(({"input": does} if len(self.rules) > 1 else {}) | told))

    def _race(self, signature: Signature) -> Signature:
        """Return the kind of a race: the smallest kind whose inputs include those of the race, or are among them."""
        ours = Counter(signature.meets.split(MEETS))
        races = sorted(self.races, key=lambda race: (race.count(MEETS), race))
        others = ((race, Counter(race.split(MEETS))) for race in races)
        same = next((race for race, other in others if other <= ours or ours <= other), signature.meets)
        return Signature("wrong", "any state", same, "what follows one by one", "something else", meets=same)

    def is_named(self, exact: Signature) -> bool:
        """Return whether the system gives a failure a name."""
        return template(exact.seen) in self.names


@dataclass(slots=True)
class Kinds:
    r"""Divides the failures of a campaign into kinds; `add` each failure with the steps that passed before it.

    The result does not depend on the order of the failures, and may change with each new one. With `parts`, the values
    of these decide on the kind from the beginning. If inputs are `drawn` from an infinite set, values that never recur
    never count as few.

    >>> kinds = Kinds()
    >>> wrong = [
    ...     Signature("wrong", "str", "str", "str", "str", Signature("wrong", "'s'", inp, "'z'", seen))
    ...     for inp, seen in (("'b'", "'x'"), ("'c'", "'y'"))
    ... ]
    >>> for each in wrong:
    ...     kinds.add(each)
    >>> print(*map(kinds.of, wrong), sep="\n")
    wrong: str --'b'--> expected str, seen str
    wrong: str --'c'--> expected str, seen str
    """

    failures: Counter[Signature] = field(default_factory=Counter[Signature])
    passed: Counter[PassedStep] = field(default_factory=Counter[PassedStep])
    full: bool = False
    parts: tuple[FailurePart, ...] | None = None
    drawn: bool = False
    races: set[str] = field(default_factory=set[str])
    _exact: defaultdict[Signature, set[Signature]] = field(
        default_factory=lambda: defaultdict[Signature, set[Signature]](set)
    )
    _scopes: dict[Signature, Scope] = field(default_factory=dict[Signature, Scope])

    def add(self, signature: Signature, passed: Iterable[PassedStep] = ()) -> None:
        """Add a failure, and the steps before it."""
        self._scopes.clear()
        for step in passed:
            if step in self.passed or len(self.passed) < STEPS:
                self.passed[step] += 1
        exact = signature.exact
        if exact is None:
            if signature.meets and len(self.races) < MOST:
                self.races.add(signature.meets)
            return
        if exact not in self.failures and len(self.failures) >= MOST:
            self.full = True
            return
        self._exact[signature].add(exact)
        self.failures[exact] += 1

    def of(self, signature: Signature) -> Signature:
        """Return the kind of a failure, as far as it is known now."""
        return self.scope(signature).of(signature)

    def as_added(self, signature: Signature) -> Signature:
        """Return the kind that a failure would have once it is added."""
        exact = signature.exact
        if exact is None or self.parts is not None or exact in self.failures or len(self.failures) >= MOST:
            return self.of(signature)
        group = (*sorted({exact, *self._exact.get(signature, ())}, key=str),)
        self.failures[exact] = 1
        scope = self._told_apart(group) if len(group) > 1 else Scope()
        del self.failures[exact]
        return scope.of(signature)

    def scope(self, signature: Signature) -> Scope:
        """Return how to tell the failures of a signature apart."""
        if self.parts is not None:
            return Scope(parts=self.parts)
        if signature.meets:
            return Scope(races=frozenset(self.races))
        known = self._scopes.get(signature)
        if known is None:
            # sorted, since the order of a set differs between processes
            exact = (*sorted(self._exact.get(signature, ()), key=str),)
            known = self._scopes[signature] = self._told_apart(exact) if len(exact) > 1 else Scope()
        return known

    def _told_apart(self, exact: ExactFailures) -> Scope:
        known = {template(step.outputs) for step in self.passed}
        known.update(template(text) for each in exact for text in each.expected.split("|"))
        names = frozenset(template(each.seen) for each in exact if is_name(each.seen, known))
        others = tuple(each for each in exact if template(each.seen) not in names)
        if len(others) <= 1 or not self._few(others, lambda each: head(each.input)):
            return Scope(names=names)
        return Scope({act: self._rule(group) for act, group in _grouped(others, _act).items()}, names)

    def _rule(self, exact: ExactFailures) -> KindRule:
        if len(exact) == 1:
            return KindRule(("input",))
        if not self._few(exact, lambda each: each.input):
            return KindRule()
        table = all(is_atom(each.state) and is_atom(each.input) for each in exact)
        # with a single state the numbers say more: those from 501 on may be wrong for one reason
        table = table and len({each.state for each in exact}.union(step.state for step in self.passed)) > 1
        if table and self._few(exact, lambda each: each.state):
            return self._by_entry(exact)
        return self._by_input(exact)

    def _few(self, exact: ExactFailures, value: Callable[[Signature | PassedStep], str]) -> bool:
        """Return whether the values of something recur often."""
        forms, trials = {template(value(each)) for each in exact}, Counter[str]()
        for each in exact:
            trials[value(each)] += self.failures[each]
        for step, times in self.passed.items():
            if template(value(step)) in forms:
                trials[value(step)] += times
        return (len(trials) <= FEW and not self.drawn) or trials.total() >= 2 * len(trials)

    def _by_entry(self, exact: ExactFailures) -> KindRule:
        inputs = _grouped(exact, lambda each: each.input)
        everywhere = frozenset(inp for inp, entries in inputs.items() if self._is_wrong_everywhere(inp, entries))
        if len(everywhere) < len(inputs):
            return KindRule(("state", "input"), everywhere)
        return self._by_input(exact)

    def _is_wrong_everywhere(self, inp: str, entries: ExactFailures) -> bool:
        """Return whether one defect explains wrong answers to an input in several states of a table."""
        passed = [step for step in self.passed if step.input == inp]
        if not related([(each.state, each.expected, each.seen) for each in entries]):
            return False
        if len(entries) < REACH:
            return len(entries) > 1 and not passed
        expected = {each.expected for each in entries}
        same = len({each.seen for each in entries}) == 1
        if same and not any(step.outputs in expected for step in passed):
            return True
        return not same and is_range([each.state for each in entries], [step.state for step in passed])

    def _by_input(self, exact: ExactFailures) -> KindRule:
        passed = Counter[str]()
        for step, times in self.passed.items():
            passed[step.input] += times
        wrong = _grouped(exact, lambda each: difference(each.expected, each.seen))
        slices = frozenset(each for each, group in wrong.items() if _is_slice(group, [*passed]))
        left = tuple(each for way, group in wrong.items() if way not in slices for each in group)
        if len(slices) + bool(left) <= 1:
            return KindRule() if slices else self._by_inputs(exact, passed)
        return (self._by_inputs(left, passed) if left else KindRule())._replace(slices=slices)

    def _by_inputs(self, exact: ExactFailures, passed: Counter[str]) -> KindRule:
        failing = _grouped(exact, lambda each: each.input)
        for inp, group in failing.items():
            times = sum(self.failures[each] for each in group)
            if times < ALWAYS * (times + passed[inp]):
                return KindRule()
        forms = {*map(template, failing)}
        others = [inp for inp in passed if template(inp) in forms and inp not in failing]
        alike = related([(each.input, each.expected, each.seen) for each in exact])
        random = any(len({each.seen for each in group}) > 1 for group in failing.values())
        one = (alike or random) and (not others or is_range([*failing], others))
        return KindRule() if one or len(failing) == 1 else KindRule(("input",))


def _act(exact: Signature) -> str:
    """Return what an input does, and what the system says instead of what is expected."""
    return f"{head(exact.input)} {says_otherwise(exact.input, exact.expected, exact.seen)}".rstrip()


def _is_slice(exact: ExactFailures, passed: Sequence[str]) -> bool:
    return len(exact) >= REACH and is_slice([*{each.input: None for each in exact}], passed)


def _grouped(exact: Sequence[Signature], by: Callable[[Signature], str]) -> dict[str, ExactFailures]:
    found = defaultdict[str, list[Signature]](list)
    for each in exact:
        found[by(each)].append(each)
    return {name: tuple(group) for name, group in found.items()}
