"""Temporal properties: what must be true of a whole run, in linear temporal logic on finite runs (LTLf).

Each step rewrites a property: what is left of it is again a property, of the following steps (Havelund and Rosu,
"Monitoring Programs Using Rewriting"). If nothing is left, it holds whatever comes; if it is impossible, it is
violated. The rest is kept as alternatives, each a set of parts that must all hold, so that it cannot grow without end;
beyond `MOST` alternatives the property counts as open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from otf.errors import UsageError
from otf.values import show
from otf.values.arguments import checked
from otf.values.raised import blame

MOST: Final = 1_000
"""The most alternatives that a property may leave open; with more, it stays undecided for the rest of the path."""


class PropertyStep(NamedTuple):
    """A step of a path: an `input`, and the `outputs` before the next input. `input` is None for spontaneous outputs.

    >>> PropertyStep("coin", ("tea",)).outputs
    ('tea',)
    """

    input: Any
    outputs: tuple[Any, ...] = ()


What: TypeAlias = Callable[[PropertyStep], object] | object
"""What a property may say about a step: a value, a class, a function of the step, or another property."""

Kind: TypeAlias = Literal[
    "now", "not now", "all", "any", "always", "sometimes", "within", "throughout", "until", "release", "then", "last"
]
_DUAL: Final[dict[Kind, Kind]] = {
    "now": "not now",
    "all": "any",
    "always": "sometimes",
    "within": "throughout",
    "until": "release",
    "then": "last",
}
_OPPOSITE: Final[dict[Kind, Kind]] = {**_DUAL, **{value: name for name, value in _DUAL.items()}}
_WEAK: Final[set[Kind]] = {"always", "throughout", "release", "last"}  # the end of a run leaves them true


@dataclass(frozen=True, slots=True)
class Formula:
    """A temporal property, for instance from `always`; combine properties with `&` (and), `|` (or) and `~` (not).

    `kind` is the property's operator, and `parts` are the operands. `atom` tests a step. For a property from `within`,
    `steps` is its number of steps.

    >>> ~always("tea") | within(2, "milk")
    sometimes(not_('tea')) | within(2, 'milk')
    """

    kind: Kind
    parts: tuple[Formula, ...] = ()
    atom: StepTest | None = None
    steps: int = 0

    def __and__(self, other: object) -> Formula:
        return Formula("all", (self, formula(other)))

    def __or__(self, other: object) -> Formula:
        return Formula("any", (self, formula(other)))

    def __invert__(self) -> Formula:
        return Formula(_OPPOSITE[self.kind], tuple(~each for each in self.parts), self.atom, self.steps)

    def __bool__(self) -> bool:
        """Refuse: `not`, `and` and `or` would need the truth before there is a run."""
        raise UsageError("a property is not True or False before it is checked: write ~, & and | for not, and, or")

    def __repr__(self) -> str:
        """Return the property as code."""
        if self.atom is not None:
            return f"{self.atom}" if self.kind == "now" else f"not_({self.atom})"
        if self.kind in {"all", "any"}:
            return (" & " if self.kind == "all" else " | ").join(map(_inside, self.parts))
        steps = [str(self.steps)] if self.kind in {"within", "throughout"} else []
        return f"{self.kind}({', '.join([*steps, *map(repr, self.parts)])})"


def _inside(part: Formula) -> str:
    return f"({part!r})" if part.kind in {"all", "any"} else repr(part)


@dataclass(frozen=True, eq=False, slots=True)
class StepTest:
    """A test of one step: a function of it, or a class or value that its input or an output must match."""

    what: Any

    def of(self, step: PropertyStep) -> bool:
        """Return whether it is true of a step. Raises ModelError if the function raises."""
        what: Any = self.what
        values = (step.input, *step.outputs)
        if isinstance(what, type):
            return any(isinstance(each, what) for each in values)
        if not callable(what):
            return any(type(each) is type(what) and each == what for each in values)
        try:
            return bool(what(step))
        except Exception as error:
            raise blame(f"the property {self}, asked about {step}, raised", error, what) from error

    def __str__(self) -> str:
        """Return its name, or the value."""
        named = getattr(self.what, "__name__", "") if callable(self.what) else ""
        return named or show(self.what)


@runtime_checkable
class Connective(Protocol):
    """A connective of `otf.logic`, such as `implies(…)`, that can be read as a temporal property."""

    def temporal(self, of: Callable[[object], Formula]) -> Formula:
        """Return it as a temporal property; `of` converts each part."""
        ...


def formula(thing: object) -> Formula:
    """Return a property of one step as a temporal one. Raises UsageError for a property of values.

    >>> formula("tea")
    'tea'
    """
    if isinstance(thing, Formula):
        return thing
    if isinstance(thing, Connective):
        return thing.temporal(formula)
    if isinstance(thing, bool) or hasattr(thing, "judged"):
        raise UsageError(f"{show(thing)} is not a property of a step; give a value, a class, or a function of the step")
    return Formula("now", atom=StepTest(thing))


def now(what: What) -> Formula:
    """Return the property that a step matches a value or a class, or that a function returns true for the step.

    A value or a class matches a step if it matches the input or an output of the step.

    >>> Residue.of(now("tea")).after(PropertyStep("button", ("tea",))).truth
    True
    """
    return formula(what)


def always(what: What) -> Formula:
    """Return the property that `what` is true of the current step of a path and of all later steps.

    >>> Residue.of(always(lambda step: len(step.outputs) < 2)).after(PropertyStep("button", ("tea", "tea"))).truth
    False
    """
    return Formula("always", (formula(what),))


def never(what: What) -> Formula:
    """Return the property that `what` is not true of the current step of a path, nor of any later step.

    >>> Residue.of(never("smoke")).after(PropertyStep("button", ("smoke",))).truth
    False
    """
    return always(~formula(what))


def sometimes(what: What) -> Formula:
    """Return the property that `what` is true of the current step of a path or of a later step.

    If you list a `sometimes` in a bench's `properties`, `otf run` reports if no path of the campaign reaches it.

    >>> Residue.of(sometimes("tea")).after(PropertyStep("coin")).truth is None
    True
    """
    return Formula("sometimes", (formula(what),))


@checked
def within(steps: int, what: What) -> Formula:
    """Return the property that `what` is true of the current step of a path, or of one of the next `steps` steps.

    `within` raises UsageError if `steps` is negative.

    >>> Residue.of(within(1, "tea")).after(PropertyStep("coin")).after(PropertyStep("coin")).truth
    False
    """
    if steps < 0:
        raise UsageError(f"within({steps}, …): give a number of steps from 0, which is the present one")
    return Formula("within", (formula(what),), steps=steps)


def until(first: What, what: What) -> Formula:
    """Return the property that `first` is true of each step until `what` is true; false if `what` is never true.

    >>> Residue.of(until("coin", "tea")).after(PropertyStep("button")).truth
    False
    """
    return Formula("until", (formula(first), formula(what)))


def then(what: What) -> Formula:
    """Return the property that a path has a next step, and that `what` is true at the next step.

    >>> Residue.of(then("tea")).after(PropertyStep("coin")).after(PropertyStep("button", ("tea",))).truth
    True
    """
    return Formula("then", (formula(what),))


_SOME: Final = Formula("then")  # there is a next step
_NONE: Final = Formula("last")
_UNKNOWN: Final = Formula("any", (_SOME, _NONE), steps=-1)  # depends on an unknown step
Alternatives: TypeAlias = frozenset[frozenset[Formula]]
After: TypeAlias = Callable[[Formula], Alternatives]
_TRUE: Final[Alternatives] = frozenset({frozenset[Formula]()})
_FALSE: Final[Alternatives] = frozenset()
_OPEN: Final[Alternatives] = frozenset({frozenset({_UNKNOWN})})


@dataclass(frozen=True, slots=True)
class Residue:
    """The rest of a property after some steps: the alternatives, each with the parts that must all hold.

    >>> Residue.of(always("tea")).ends_well, Residue.of(sometimes("tea")).ends_well
    (True, False)
    """

    ways: Alternatives

    @classmethod
    def of(cls, whole: object) -> Residue:
        """Return the rest before the first step."""
        return cls(_still(formula(whole)))

    @property
    def truth(self) -> bool | None:
        """Return whether it holds (True) or is violated (False) whatever comes; None if that depends."""
        if not self.ways:
            return False
        return True if frozenset() in self.ways else None

    @property
    def ends_well(self) -> bool:
        """Return whether it holds if no step follows: no promise is outstanding."""
        return any(all(map(_ends, way)) for way in self.ways)

    def after(self, step: PropertyStep | None) -> Residue:
        """Return the rest after a step; None stands for an unknown step."""
        known: dict[Formula, Alternatives] = {}
        return Residue(_any(_all(_after(each, step, known) for each in way) for way in self.ways))


def _ends(part: Formula) -> bool:
    if part.kind in {"all", "any"}:
        return part is not _UNKNOWN and (all if part.kind == "all" else any)(map(_ends, part.parts))
    return part.kind in _WEAK


def _after(part: Formula, step: PropertyStep | None, known: dict[Formula, Alternatives]) -> Alternatives:
    found = known.get(part)
    if found is None:
        found = known[part] = _progress(part, step, lambda each: _after(each, step, known))
    return found


def _progress(part: Formula, step: PropertyStep | None, after: After) -> Alternatives:
    if part.atom is not None:
        return _OPEN if step is None else _TRUE if part.atom.of(step) is (part.kind == "now") else _FALSE
    if part is _UNKNOWN:
        return _OPEN
    if part in {_SOME, _NONE}:
        return _TRUE if part is _SOME else _FALSE
    return _RULES[part.kind](part, after)


def _next(part: Formula, _after: After) -> Alternatives:
    if part.kind == "then":
        return _all(map(_still, (_SOME, *part.parts)))
    return _any(map(_still, (_NONE, *part.parts)))


def _term(part: Formula, after: After) -> Alternatives:
    fewer = Formula(part.kind, part.parts, steps=part.steps - 1)
    join = _any if part.kind == "within" else _all
    return join([after(part.parts[0]), *([_still(fewer)] if part.steps else [])])


_RULES: Final[dict[Kind, Callable[[Formula, After], Alternatives]]] = {
    "all": lambda part, after: _all(map(after, part.parts)),
    "any": lambda part, after: _any(map(after, part.parts)),
    "always": lambda part, after: _all([after(part.parts[0]), _still(part)]),
    "sometimes": lambda part, after: _any([after(part.parts[0]), _still(part)]),
    "until": lambda part, after: _any([after(part.parts[1]), _all([after(part.parts[0]), _still(part)])]),
    "release": lambda part, after: _all([after(part.parts[1]), _any([after(part.parts[0]), _still(part)])]),
    "then": _next,
    "last": _next,
    "within": _term,
    "throughout": _term,
}


def _still(part: Formula) -> Alternatives:
    return frozenset({frozenset({part})})


def _any(each: Iterable[Alternatives]) -> Alternatives:
    return _least(frozenset[frozenset[Formula]]().union(*each))


def _all(each: Iterable[Alternatives]) -> Alternatives:
    return reduce(_both, each, _TRUE)


def _both(one: Alternatives, other: Alternatives) -> Alternatives:
    if len(one) * len(other) > MOST:
        return _OPEN
    return _least(frozenset(_soonest(first | second) for first in one for second in other))


def _least(ways: Alternatives) -> Alternatives:
    """Return the ways without those that demand more than another."""
    if frozenset() in ways:
        return _TRUE
    if len(ways) > MOST:
        return _OPEN
    return frozenset(way for way in ways if not any(other < way for other in ways))


def _soonest(parts: frozenset[Formula]) -> frozenset[Formula]:
    """Return the parts, but leave out those that follow from one with a shorter deadline or a longer prohibition."""
    terms: dict[Hashable, Formula] = {}
    for part in parts:
        if part.kind in {"within", "throughout"}:
            known = terms.setdefault((part.kind, part.parts), part)
            if (part.steps < known.steps) is (part.kind == "within"):
                terms[part.kind, part.parts] = part
    if not terms:
        return parts
    return frozenset(each for each in parts if each.kind not in {"within", "throughout"}).union(terms.values())
