"""Actions, the patterns that make up scenarios, and the vocabulary of a model: all its actions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from otf.errors import UsageError
from otf.spec import Accept, AnyOrder, On, OneOf, Spec, Transition
from otf.spec.offering import Always, declared
from otf.spec.outputs import vague
from otf.values import key, likeness, show
from otf.values.classes import annotations_of


class Action(NamedTuple):
    """What happens in one transition: an `input` with its `outputs`, or spontaneous outputs without an input.

    The `input` is None if the action is `spontaneous`. The `outputs` are None while they are unknown.

    >>> Action("coin", ("tea",)).spontaneous, Action(None, ("beep",), spontaneous=True).outputs
    (False, ('beep',))
    """

    input: Any
    outputs: tuple[Any, ...] | None = None
    spontaneous: bool = False


@dataclass(frozen=True)
class Pattern:
    """A set of actions, as an item of a scenario; made by `does`, `out`, `any_action`, a name, a class or a value.

    `matches(action)` returns whether the action belongs to the set. `concerns(action)` returns whether a scenario with
    the pattern restricts when the action may happen. `says` is the text of the pattern.

    >>> push = does("push", 1)
    >>> push.matches(Action("push", (1,))), push.matches(Action("push", (2,))), push.concerns(Action("push"))
    (True, False, True)
    """

    says: str
    concerns: Callable[[Action], bool]
    matches: Callable[[Action], bool]

    def __repr__(self) -> str:
        """Return the text of the pattern."""
        return self.says


any_action: Final = Pattern(".", lambda _action: True, lambda _action: True)
"""The pattern that matches every action; an expression writes it as a dot.

>>> any_action.matches(("press", ()))
True
"""


def pattern(item: object) -> Pattern:
    """Return the pattern of an item of a scenario: a name, a class, a value, or a pattern.

    A name matches all inputs of the class of that name, and members of enumerations with that name.
    """
    if isinstance(item, Pattern):
        return item
    if isinstance(item, type):
        return _input_pattern(item.__name__, lambda value: isinstance(value, item))
    if isinstance(item, str):
        return _input_pattern(item, lambda value: item in names(value))
    named, own = key(item), set(names(item))
    # the name identifies an action: other values of the same name are controlled, not free
    concerned = _input_pattern("", lambda value: not own.isdisjoint(names(value))).matches
    return Pattern(show(item), concerned, _input_pattern("", lambda value: key(value) == named).matches)


def does(item: object, *outputs: object) -> Pattern:
    """Return the pattern that matches an input (given by a name, a class or a value) with exactly these outputs.

    >>> does("pop", 1), does("pop")
    (pop/1, pop/nothing)
    """
    base, wanted = pattern(item), likeness(outputs)
    says = f"{base.says}/{', '.join(map(show, outputs)) or 'nothing'}"

    def matches(action: Action) -> bool:
        return base.matches(action) and (action.outputs is None or likeness(action.outputs) == wanted)

    return Pattern(says, base.concerns, matches)


def out(item: object) -> Pattern:
    """Return the pattern that matches a spontaneous output, given by a name, a class or a value.

    >>> beep = out("beep")
    >>> beep, beep.matches(Action(None, ("beep",), spontaneous=True))
    (!beep, True)
    """
    base = pattern(item)

    def matches(action: Action) -> bool:
        return action.spontaneous and any(base.matches(Action(each)) for each in action.outputs or ())

    return Pattern(f"!{base.says}", matches, matches)


def names(value: object) -> tuple[str, ...]:
    """Return the names that a scenario may use for an input: its class, its name in an enum, or the string itself."""
    if isinstance(value, Enum):
        return value.name, f"{type(value).__name__}.{value.name}"
    return (value,) if isinstance(value, str) else (type(value).__name__, *_own(value))


def _own(value: object) -> tuple[str, ...]:
    name = getattr(value, "name", None)
    return (name,) if isinstance(name, str) else ()


def _input_pattern(says: str, holds: Callable[[Any], bool]) -> Pattern:
    def matches(action: Action) -> bool:
        return not action.spontaneous and holds(action.input)

    return Pattern(says, matches, matches)


Owns: TypeAlias = Callable[[Any], bool]
STATES: Final = 10_000  # states of a model to search for its actions


@dataclass(frozen=True)
class Vocabulary:
    """The actions of a model, as two functions: one returns whether an input is an action, one whether an output is."""

    inputs: Owns
    spontaneous: Owns

    def shares(self, outputs: tuple[Any, ...]) -> bool:
        """Return whether it owns one of these spontaneous outputs."""
        return any(self.spontaneous(value) for item in outputs for value, _ in outputs_in(item))


def listed(items: Iterable[object]) -> Vocabulary:
    """Return the actions of a model from a list of names, classes and values."""
    patterns = [pattern(item) for item in items]

    def owns(value: Any) -> bool:  # noqa: ANN401 -- an input or output
        as_input, spontaneous = Action(value), Action(None, (value,), spontaneous=True)
        return any(each.matches(as_input) or each.matches(spontaneous) for each in patterns)

    return Vocabulary(owns, owns)


def found(spec: Spec[Any, Any], *, spontaneous: bool) -> Vocabulary:
    """Return the actions of a spec, from the types that the spec declares or from the inputs of its states.

    With `spontaneous=True`, the spec's spontaneous outputs are actions too. A name stands for all actions of that name:
    if a spec has the input `Push(1)`, every `Push` is one of its actions. `found` raises UsageError if the spec has too
    many states.
    """
    inputs = _declared(spec)
    if inputs is not None and not spontaneous:
        return Vocabulary(inputs, lambda value: False)  # noqa: ARG005 -- any value
    by_input, by_output = _searched(spec, spontaneous=spontaneous)
    return Vocabulary(inputs or (lambda value: called(value) in by_input), lambda value: called(value) in by_output)


def called(value: Any) -> Hashable:  # noqa: ANN401 -- any input or output
    """Return the name of an action: its class, with its own name if it has one; without a class, the value itself."""
    kind: Any = value.__class__
    if isinstance(value, Enum) or kind.__module__ == "builtins" or vague(value):
        return likeness(value)
    own = getattr(value, "name", None)
    return (kind, own) if isinstance(own, str) else (kind,)


def outputs_in(item: object, port: str = "") -> Iterator[tuple[Any, str]]:
    """Yield the values that an item of an output may stand for, each with the port that the item names, or ""."""
    match item:
        case AnyOrder(items) | OneOf(items):
            for each in items:
                yield from outputs_in(each, port)
        case On(name, inner):
            yield from outputs_in(inner, name)
        case _:
            yield item, port


def _declared(spec: Spec[Any, Any]) -> Owns | None:
    """Return the inputs of the classes that `step` declares; None if it declares no classes that name actions."""
    kinds = declared(spec.step)
    if not kinds or not all(_names_an_action(kind) for kind in kinds):
        return None
    return lambda value: type(value) in kinds


def _names_an_action(kind: Any) -> bool:  # noqa: ANN401 -- any annotation
    # several models may share a class with subclasses, or whose objects have their own names
    if not isinstance(kind, type) or type(kind).__subclasses__(kind):
        return False
    made: Any = kind
    named = hasattr(made, "name") or "name" in annotations_of(made)
    return issubclass(kind, Enum) or ((is_dataclass(made) or hasattr(made, "_fields")) and not named)


def _searched(spec: Spec[Any, Any], *, spontaneous: bool) -> tuple[dict[Hashable, Any], dict[Hashable, Any]]:
    inputs, outputs = dict[Hashable, Any](), dict[Hashable, Any]()
    if isinstance(spec.inputs, Always) and not spontaneous:
        return {called(inp): inp for inp in spec.inputs.inputs}, outputs
    states, seen = [spec.initial], {key(spec.initial)}
    for state in states:
        offered = list(spec.inputs(state))
        inputs |= {called(inp): inp for inp in offered}
        alone = list(plain(spec.emits(state) if spec.emits else ()))
        outputs |= {called(value): value for way in alone for item in way.outputs for value, _ in outputs_in(item)}
        for way in [*alone, *(way for inp in offered for way in plain(spec.step(state, inp)))]:
            if (named := key(way.state)) not in seen:
                seen.add(named)
                states.append(way.state)
        if len(states) > STATES:
            raise UsageError(_many(spec, [*inputs.values(), *outputs.values()]))
    return inputs, outputs


def plain(ways: Iterable[Transition[Any] | Accept]) -> Iterator[Transition[Any]]:
    """Yield the given transitions unchanged. Raises UsageError for an `Accept`, which a product cannot contain."""
    for way in ways:
        if isinstance(way, Accept):
            raise UsageError(f"a product cannot contain {show(way)}: outputs decide its next state")
        yield way


def _many(spec: Spec[Any, Any], met: list[Any]) -> str:
    return (
        f"product(): {spec.name} has more than {STATES:,} states, so its actions cannot be determined; the first ones "
        f"are {', '.join(map(show, met[:10]))}: give actions=[…], for each model the names or classes of its actions"
    )
