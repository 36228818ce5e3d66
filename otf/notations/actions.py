"""A model as actions with enabling conditions over a state object, like the model programs of Jacky's PyModel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from itertools import product
from typing import Any, Final, TypeAlias, TypeVar

from otf.errors import UsageError
from otf.notations.table import Written, frozen, thawed
from otf.spec import Spec, Transition
from otf.values import show
from otf.values.classes import parameters

ActionMethod = TypeVar("ActionMethod", bound=Callable[..., Any])
Enabled: TypeAlias = Callable[..., object] | None
_MARK: Final = "_otf_action"


@dataclass(frozen=True)
class Call:
    """A call of an action: the action's `name`, and the `arguments`.

    A `Call` is an input of the spec, or an output if the action is observable.

    >>> Call("push", (1,))
    push(1)
    """

    name: str
    arguments: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        """Return it as the text of a call."""
        return f"{self.name}({', '.join(map(show, self.arguments))})"


@dataclass(frozen=True)
class _Action:
    name: str
    enabled: Callable[..., object] | None
    domains: Mapping[str, Any]
    observed: bool


def action(enabled: Enabled = None, **domains: object) -> Callable[[ActionMethod], ActionMethod]:
    """Mark a method as an action that the tester calls; the method's result is the output (None: no output).

    `enabled(self, *arguments)` returns whether the tester may call the action; None always allows it. For each argument
    of the method, pass the argument's possible values under its name: as a list, or as a function from the object to a
    list. `action` raises UsageError for an argument without values. See `actions` for an example with a whole class.

    >>> class Door:
    ...     def __init__(self): self.open = False
    ...     @action(enabled=lambda self: not self.open)
    ...     def push(self): self.open = True
    >>> door = actions(Door)
    >>> door.inputs(door.initial)
    [push()]
    """
    return _marked(enabled, domains, observed=False)


def observable(enabled: Enabled = None, **domains: object) -> Callable[[ActionMethod], ActionMethod]:
    """Mark a method as an action that the system does by itself; the action's `Call` is the output.

    `observable` takes the same arguments as `action`, and raises UsageError as `action` does.

    >>> class Clock:
    ...     def __init__(self): self.hour = 0
    ...     @observable(hour=lambda self: [self.hour + 1])
    ...     def strike(self, hour): self.hour = hour
    >>> clock = actions(Clock)
    >>> [way.outputs for way in clock.emits(clock.initial)]
    [(strike(1),)]
    """
    return _marked(enabled, domains, observed=True)


def _marked(enabled: Enabled, domains: Mapping[str, Any], *, observed: bool) -> Callable[[ActionMethod], ActionMethod]:
    def mark(method: ActionMethod) -> ActionMethod:
        setattr(method, _MARK, _Action(method.__name__, enabled, _domains(method, domains), observed))
        return method

    return mark


def _domains(method: Callable[..., Any], domains: Mapping[str, Any]) -> dict[str, Any]:
    names = [each.name for each in list(parameters(method).values())[1:] if each.default is Parameter.empty]
    name = getattr(method, "__name__", show(method))
    for each in names:
        if each not in domains:
            raise UsageError(f"{name}: the argument {each} has no domain: action({each}=[…])")
    unknown = [each for each in domains if each not in parameters(method)]
    if unknown:
        raise UsageError(f"{name}: it has no argument {unknown[0]}; it has {', '.join(names) or 'none'}")
    return {each: domains[each] for each in [*names, *(one for one in domains if one not in names)]}


def actions(make: Callable[[], Any], accepting: Callable[[Any], bool] | None = None, name: str = "") -> Written:
    """Return the spec of a class whose methods are actions; a state consists of the attributes of an object.

    `make` returns an object in its initial state. `accepting(object)` returns whether a path may end in this state
    (default: in any state). `actions` raises UsageError for a class without actions.

    >>> class Stack:
    ...     def __init__(self): self.items = []
    ...     @action(x=[1, 2])
    ...     def push(self, x): self.items.append(x)
    ...     @action(enabled=lambda self: self.items)
    ...     def pop(self): return self.items.pop()
    >>> spec = actions(Stack)
    >>> [transition.outputs for transition in spec.step(((("items", frozen([2])),)), Call("pop"))]
    [(2,)]
    """
    kind: Any = make().__class__
    known: dict[str, _Action] = {
        each.name: each for entry in dir(kind) if (each := getattr(getattr(kind, entry), _MARK, None)) is not None
    }
    if not known:
        raise UsageError(f"{kind.__name__} has no actions: mark its methods with @action(…) or @observable(…)")

    def inputs(state: Any) -> list[Call]:  # noqa: ANN401 -- attributes
        return [call for each in known.values() if not each.observed for call in _calls(each, restored(kind, state))]

    def step(state: Any, inp: Call) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- attributes
        each = known.get(inp.name)
        if each is not None and not each.observed and _may(each, restored(kind, state), inp.arguments):
            now = restored(kind, state)
            result = getattr(now, each.name)(*inp.arguments)
            yield Transition(stored(now), () if result is None else (result,))

    def emits(state: Any) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- attributes
        for each in known.values():
            for call in _calls(each, restored(kind, state)) if each.observed else ():
                now = restored(kind, state)
                getattr(now, each.name)(*call.arguments)
                yield Transition(stored(now), (call,))

    spontaneous = emits if any(each.observed for each in known.values()) else None
    made = Written(step, stored(make()), inputs, spontaneous, name=name or kind.__name__)
    object.__setattr__(made, "accepting", accepting and _ends(kind, accepting))
    object.__setattr__(made, "actions", tuple(known))
    return made


def _ends(kind: Any, accepting: Callable[[Any], bool]) -> Callable[[Any], bool]:  # noqa: ANN401 -- a class
    return lambda state: accepting(restored(kind, state))


def _calls(each: _Action, now: Any) -> Iterator[Call]:  # noqa: ANN401 -- the state object
    columns = [_values(domain, now) for domain in each.domains.values()]
    for arguments in product(*columns):
        if _may(each, now, arguments):
            yield Call(each.name, arguments)


def _values(domain: Any, now: Any) -> list[Any]:  # noqa: ANN401 -- a list or a function
    values: Any = domain(now) if callable(domain) else domain
    return list(values)


def _may(each: _Action, now: Any, arguments: tuple[Any, ...]) -> bool:  # noqa: ANN401 -- the state object
    return each.enabled is None or bool(each.enabled(now, *arguments))


class Attributes(tuple[tuple[str, Any], ...]):
    """The attributes of a state object by name, with immutable values."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return them as the text of assignments."""
        return ", ".join(f"{name}={value!r}" for name, value in self)


def stored(now: Any) -> Attributes:  # noqa: ANN401 -- the state object
    """Return the attributes of an object, so that `restored` can make it again."""
    attributes: dict[str, Any] = now.__dict__
    return Attributes((name, frozen(value)) for name, value in sorted(attributes.items()))


def restored(kind: Any, state: Any) -> Any:  # noqa: ANN401 -- a class, and attributes
    """Return a fresh object of a class with these attributes."""
    made: Any = object.__new__(kind)
    attributes: dict[str, Any] = made.__dict__
    attributes.update({name: thawed(value) for name, value in state})
    return made


def behaviour(
    make: Callable[[], Any], act: Callable[[Any, Any], Iterable[Any] | None], inputs: Iterable[Any], name: str = ""
) -> Spec[Attributes, Any]:
    """Return the behaviour of an object as a spec, for `conforms(behaviour(Machine, Machine.act, inputs), spec)`.

    `make` returns a new object. `act(object, input)` returns the outputs of the object (None: no outputs). A state
    consists of the attributes of the object: lists, sets, dicts, tuples and plain values. otf copies any other object
    in an attribute.

    >>> class Counter:
    ...     def __init__(self): self.count = 0
    ...     def act(self, inp): self.count = (self.count + 1) % 3; return [self.count]
    >>> spec = behaviour(Counter, Counter.act, ["up"])
    >>> list(spec.step(spec.initial, "up"))
    [Transition(state=count=1, outputs=(1,), within=None)]
    """
    first = make()

    def step(state: Attributes, inp: Any) -> list[Transition[Attributes]]:  # noqa: ANN401 -- any input
        now = restored(first.__class__, state)
        outputs = act(now, inp)
        return [Transition(stored(now), tuple(outputs or ()))]

    return Spec(step, stored(first), tuple(inputs), name=name or type(first).__name__)
