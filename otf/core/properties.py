"""Follows the temporal properties of a run beside the model: cuts what was seen into steps and judges each step.

A step is an input with the outputs before the next one. If several inputs were in flight together, which outputs
belong to which is unknown. Such steps count as unknown, and properties that depend on them stay open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from otf.errors import UsageError
from otf.spec import Idle, Requirement, Requirements
from otf.temporal import Connective, Formula, PropertyStep, Residue, formula
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.requirements import GOAL, PROPERTY
from otf.trace.verdict import Citation, Failure, Signature, Verdict
from otf.values import show
from otf.values.arguments import brief

Properties = Mapping[str, Formula]
_PROMISES: Final = {"sometimes", "within", "until", "then"}


def text_of(what: Formula) -> str:
    """Return a property as text for a table of requirements."""
    return f"{GOAL if what.kind == 'sometimes' else PROPERTY}{what!r}"


def formulas(properties: Mapping[str, Formula | Connective]) -> Properties:
    """Return properties as temporal ones. Raises UsageError if one is not a property.

    >>> from otf.logic import implies, now, then
    >>> formulas({"served": implies(now("coin"), then("tea"))})
    {'served': not_('coin') | then('tea')}
    """
    for name, whole in properties.items():
        if not isinstance(whole, Formula | Connective):  # pyright: ignore[reportUnnecessaryIsInstance] -- a user may give anything
            message = f"properties[{name!r}] is {brief(whole)}; write always(…), never(…), within(n, …) or sometimes(…)"
            raise UsageError(message)
    return {name: formula(whole) for name, whole in properties.items()}


def listed(table: Requirements, properties: Properties) -> Requirements:
    """Return a table of requirements that includes the properties, so that a campaign reports on both.

    Raises UsageError if a property has the id of a requirement.

    >>> from otf.logic import sometimes
    >>> listed(Requirements(), {"tea": sometimes("tea")})["tea"].text
    "goal: sometimes('tea')"
    """
    for name, whole in properties.items():
        if name in table and table[name].text != text_of(whole):
            message = f"properties[{name!r}]: there is a requirement of this name; choose another"
            raise UsageError(message)
    new = [Requirement(name, "MUST", text_of(whole)) for name, whole in properties.items() if name not in table]
    return Requirements([*table.values(), *new])


@dataclass(slots=True)
class FollowedProperty:
    """A property, what remains to be shown, and whether a promise was outstanding at some time."""

    name: str
    whole: Formula
    left: Residue
    promised: bool = False

    @property
    def shown(self) -> bool:
        """Return whether the run shows that it holds: a goal was reached, a promise kept, or it promises nothing."""
        if not self.left.ends_well:
            return False
        return self.promised or not _promises(self.whole)


@dataclass(slots=True)
class PropertyWatch:
    """The properties of one run: `tell` takes its events, `take` its steps.

    >>> from otf.logic import always
    >>> watch = PropertyWatch.start({"only tea": always("tea")})
    >>> watch.take(PropertyStep("button", ("tea",))), watch.take(PropertyStep("button")).signature.expected
    (None, 'only tea')
    """

    followed: list[FollowedProperty]
    _inputs: list[object] = field(default_factory=list[object])
    _outputs: list[object] = field(default_factory=list[object])
    _unsure: bool = False
    _steps: int = 0

    @classmethod
    def start(cls, properties: Properties) -> PropertyWatch:
        """Return the watch at the beginning of a run."""
        return cls([FollowedProperty(name, whole, Residue.of(whole)) for name, whole in properties.items()])

    def tell(self, event: Event, *, answered: bool) -> Failure | None:
        """Take an event and return a violation, if any; `answered`: everything sent before it has been answered."""
        if isinstance(event, Sent):
            if isinstance(event.input, Idle):
                return None
            self._unsure = self._unsure or not answered
            broken = None if self._unsure else self._end()
            self._inputs.append(event.input)
            return broken
        if isinstance(event, (Seen, Closed)):
            self._outputs.append(event.output)
        return self._end() if isinstance(event, Quiet) else None

    def _end(self) -> Failure | None:
        inputs, outputs, unsure = self._inputs, tuple(self._outputs), self._unsure
        self._inputs, self._outputs, self._unsure = [], [], False
        if unsure:
            return next(filter(None, [self.take(None) for _ in inputs]), None)
        return self.take(PropertyStep(inputs[0] if inputs else None, outputs)) if inputs or outputs else None

    def take(self, step: PropertyStep | None) -> Failure | None:
        """Take a step (None if unknown); return the first violation, if any."""
        self._steps += step is None or step.input is not None
        for each in self.followed:
            each.left = each.left.after(step)
            each.promised = each.promised or not each.left.ends_well or each.left.truth is True
        broken = [each for each in self.followed if each.left.truth is False]
        return self._violation(broken, step) if broken else None

    def _violation(self, broken: Sequence[FollowedProperty], step: PropertyStep | None) -> Failure:
        outputs = () if step is None else step.outputs
        return Failure(
            Signature("property", "any state", "any input", broken[0].name, "a violation"),
            event=0,
            step=self._steps,
            input="" if step is None or step.input is None else show(step.input),
            # a known issue may compare what was seen: it must not hide another property
            seen=f"{', '.join(each.name for each in broken)} cannot hold any more",
            port="",
            before=tuple(map(show, outputs)),
            note="\n".join(f"{each.name}: {each.whole!r}" for each in broken),
            violates=tuple(Citation(each.name, text_of(each.whole)) for each in broken),
        )

    def shown(self) -> Iterator[str]:
        """Yield the names of the properties that the run has shown to hold so far."""
        return (each.name for each in self.followed if each.shown)

    def left_open(self) -> Iterator[str]:
        """Yield the names of the properties with a promise that is still open."""
        return (each.name for each in self.followed if each.promised and not each.shown)

    def tried(self) -> Iterator[str]:
        """Yield the names of the properties that have promised something so far."""
        return (each.name for each in self.followed if each.promised)


def _promises(part: Formula) -> bool:
    return part.kind in _PROMISES or any(map(_promises, part.parts))


def violated(failure: Failure, event: int) -> Verdict:
    """Return the verdict of a run that violates a property, known after this event."""
    return Verdict("fail", replace(failure, event=event))
