"""Judges runs from logs that show only part of some steps and nothing of others.

Keeps the set of all states that the model may be in. Logs do not show the transitions of `emits`: any number of them
may come before a step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, cast

from otf.core.compile import WORDS, spread
from otf.core.model import call_model
from otf.errors import ModelError
from otf.spec import Accept, Spec, Transition
from otf.spec.offering import TRANSITIONS, limited
from otf.spec.transition import is_transition
from otf.values import key, show

STATES: Final = 10_000
"""How many states are followed at once; with more, the run is inconclusive."""
SHOWN: Final = 5  # outputs listed in a failure

_MISSING: Final = object()


class _Any:
    """A value about which the model says nothing."""

    def __repr__(self) -> str:
        return "ANYTHING"


ANYTHING: Final[Any] = _Any()
"""In an output of a model: this part may have any value.

>>> Some(term=3).matches({"term": ANYTHING})
True
"""


def _part(output: object, name: str) -> object:
    if isinstance(output, Mapping):
        return cast("Mapping[str, object]", output).get(name, _MISSING)
    return getattr(output, name, _MISSING)


class Some:
    """A part of an output: the `fields`, or mapping keys, that a log shows. Other fields may have any value.

    >>> Some(term=3).matches({"term": 3, "vote": "2"}), Some(term=3).differs({"term": 4})
    (True, 'term')
    """

    __slots__ = ("fields",)

    def __init__(self, **fields: object) -> None:
        self.fields: dict[str, object] = fields

    def differs(self, output: object) -> str:
        """Return the name of the first field in which an output differs, "" if none does."""
        for name, value in self.fields.items():
            found = _part(output, name)
            if found is ANYTHING or found == value or (isinstance(value, Some) and value.matches(found)):
                continue
            return name
        return ""

    def matches(self, output: object) -> bool:
        """Return whether an output has all these fields."""
        return not self.differs(output)

    def __repr__(self) -> str:
        """Return it as written in code."""
        return f"Some({', '.join(f'{name}={show(value)}' for name, value in self.fields.items())})"


class ObservedRun:
    """Judges a run of a `spec` by what a log shows of each step: `take` its steps in order.

    `states` has the states that are possible now.

    >>> from otf.spec import goto
    >>> def step(term, action):
    ...     yield goto(term + 1, {"term": term + 1, "vote": 0}) if action == "timeout" else goto(term, {"term": term})
    >>> run = ObservedRun(Spec(step, 0, []))
    >>> run.take("timeout", Some(term=1)), run.take("look", Some(term=3))
    ('', "the log shows Some(term=3); the model allows {'term': 1}")
    """

    def __init__(self, spec: Spec[Any, Any], state: object = _MISSING) -> None:
        self.spec = spec
        self.states: list[Any] = [spec.initial if state is _MISSING else state]
        self.grown: bool = False
        """Whether there are more states than can be followed, so that nothing is known any more."""

    def take(self, action: object, shown: Some | None = None) -> str:
        """Take a step. Return "" if the model allows it, else why not. Raises ModelError."""
        if self.grown:
            return ""
        found, offered = list[Any](), list[tuple[Any, ...]]()
        for state in self._reached():
            for way in _ways(self.spec.step, "step", state, action):
                for outputs in _alternatives(way, action):
                    if shown is None or (outputs and all(map(shown.matches, outputs))):
                        found.append(way.state)
                    else:
                        offered.append(outputs)
        if not found and not self.grown:
            return _why(shown, offered)
        if len(found) > 1:
            found = list({key(state): state for state in found}.values())
            self.grown = len(found) > STATES
        self.states = found
        return ""

    def _reached(self) -> list[Any]:
        """Return the states, and those that transitions missing from the log lead to."""
        emits = self.spec.emits
        if emits is None:
            return self.states
        reached = {key(state): state for state in self.states}
        left = list(reached.values())
        for state in left:
            new = {name: target for name, target in _targets(_ways(emits, "emits", state)) if name not in reached}
            reached |= new
            left += new.values()
            if len(left) > STATES:
                self.grown = True
                break
        return left


def _ways(function: Callable[..., Iterable[Any]], name: str, *arguments: object) -> tuple[Any, ...]:
    ways = partial(limited, most=TRANSITIONS, what="transitions")
    return call_model(lambda: tuple(ways(function(*arguments))), function, name, *arguments)


def _alternatives(way: object, action: object) -> list[tuple[Any, ...]]:
    """Return the outputs of a transition, once for each choice."""
    found = [*spread(way.outputs)] if is_transition(way) else []
    if found and not any(isinstance(each, WORDS) for outputs in found for each in outputs):
        return found
    message = (
        f"{show(action)}: the model gave {show(way)}; a log shows parts of values: write goto(state, value), and"
        " OneOf(…) for a choice"
    )
    raise ModelError(message)


def _targets(ways: Iterable[Transition[Any] | Accept]) -> Iterator[tuple[Hashable, Any]]:
    return ((key(way.state), way.state) for way in ways if isinstance(way, Transition))


def _why(shown: Some | None, offered: list[tuple[Any, ...]]) -> str:
    if not offered or shown is None:
        return "the model allows no such step there"
    parts = list(dict.fromkeys(_parts(shown, offered)))
    more = f", or {len(parts) - SHOWN} others" if len(parts) > SHOWN else ""
    return f"the log shows {_differing(shown, offered)}; the model allows {' or '.join(parts[:SHOWN])}{more}"


def _differing(shown: Some, offered: list[tuple[Any, ...]]) -> Some:
    names = {shown.differs(each) for outputs in offered for each in outputs}
    return Some(**{name: value for name, value in shown.fields.items() if name in names}) if names else shown


def _parts(shown: Some, offered: list[tuple[Any, ...]]) -> Iterator[str]:
    for outputs in offered:
        for each in outputs:
            name = shown.differs(each)
            found = _part(each, name)
            yield f"no {name}" if found is _MISSING else show({name: found})
