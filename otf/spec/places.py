"""States without their counters: a number that only counts messages does not make a new state to visit.

A counter of four bits turns each state into sixteen, and a strategy that looks for the least visited state would visit
them all. A spec may name its counters. otf recognises those of spontaneous outputs by itself. They are numbers that
advance by one or restart with such outputs; inputs can only reset them, and no input depends on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import islice
from typing import Any, Final, TypeAlias, cast

from otf.errors import near
from otf.spec.transition import Transition
from otf.values import key

_Emits: TypeAlias = Callable[[Any], Iterable[Any]]
_Spec: TypeAlias = Any  # a Spec, whose module imports this one
FieldPath: TypeAlias = tuple[str, ...]
"""The field names and tuple indices that lead to a part of a state; () is the state itself."""

_STARTS: Final = 8  # inputs after which spontaneous outputs are followed, too
_STEPS: Final = 40  # spontaneous outputs followed one after another
_FEW: Final = 8  # states and inputs tried to see whether inputs change a number; values that make a number a counter
_DEEPEST: Final = 4
_MANY: Final = 200  # states and inputs in which a name is looked for


@dataclass(frozen=True, slots=True)
class Uncounted:
    """The states of a spec without the numbers that only count (`counters`, with their initial values); see `places`.

    >>> Uncounted({("1",): 0}).of((True, 7))
    (True, 0)
    """

    counters: Mapping[FieldPath, int] = field(default_factory=dict[FieldPath, int])

    def of(self, state: object) -> object:
        """Return a state with its counters at their initial values, or unchanged if it has none."""
        for path, number in self.counters.items():
            # other types of state may have other fields
            with suppress(AttributeError, IndexError, TypeError, ValueError):
                state = _put(state, path, number)
        return state

    def key(self, state: object) -> Hashable:
        """Return the key by which otf compares states without their counters."""
        return key(self.of(state))


def places(spec: _Spec) -> Uncounted:
    """Return the states of a spec without the counters that it names, or that otf recognises.

    >>> from otf.spec import Spec, goto
    >>> def ticks(state):
    ...     lit, number = state
    ...     yield goto((lit, (number + 1) % 16), ("tick", number))
    >>> places(Spec(lambda state, inp: [goto((not state[0], state[1]))], (False, 0), ["press"], ticks))
    Uncounted(counters={('1',): 0})
    """
    if spec.counters is not None:
        return _without(spec, map(_path, spec.counters))
    if spec.emits is not None:
        # a model that raises here does so in a run as well, where the error says where
        with suppress(Exception):
            found = _without(spec, _counted(spec, spec.emits))
            return found if _alike(spec, spec.emits, found) else Uncounted()
    return Uncounted()


def unknown_counters(spec: _Spec) -> Iterator[str]:
    """Yield the names of counters that no state of a spec has, each with those that there are.

    Other types of state may have other fields, so a name counts as unknown only if it is nearly one that is there, or
    if `unknown_counters` has seen all states.
    """
    lost = [each for each in spec.counters or () if not _has(spec.initial, each)]
    if not lost:
        return
    with suppress(Exception):  # of a model that raises, the error comes when it is run
        states, complete = _first_states(spec)
        known = sorted({".".join(path) for state in states for path in _numbers(state)})
        for each in lost:
            hint = near(each, known, 0.75) or (_listed(known) if complete else "")
            if hint and not any(_has(state, each) for state in states):
                yield f"counters={list(spec.counters or ())}: no state has a field {each!r}; {hint}"


def _listed(names: Iterable[str]) -> str:
    found = ", ".join(repr(each) if each else "'' (the state itself)" for each in names)
    return f"its numbers are {found}" if found else "it has no numbers: leave counters out"


def _has(state: object, name: str) -> bool:
    try:
        _put(state, _path(name), 0)
    except (AttributeError, IndexError, TypeError, ValueError):
        return False
    return True


def _first_states(spec: _Spec) -> tuple[list[object], bool]:
    """Return the first states that inputs and spontaneous outputs reach, and whether these are all."""
    found, met = [spec.initial], {key(spec.initial)}
    complete = True
    for state in found:
        ways = [way for inp in islice(spec.inputs(state), _MANY) for way in spec.step(state, inp)]
        ways += spec.emits(state) if spec.emits else ()
        complete = complete and all(isinstance(way, Transition) for way in ways) and len(ways) < _MANY
        for then in _states(ways):
            if key(then) not in met and len(found) < _MANY:
                met.add(key(then))
                found.append(then)
    return found, complete and len(found) < _MANY


def _path(name: str) -> FieldPath:
    return tuple(name.split(".")) if name else ()


def _without(spec: _Spec, paths: Iterable[FieldPath]) -> Uncounted:
    numbers = _numbers(spec.initial)
    return Uncounted({path: numbers.get(path, 0) for path in paths})


def _alike(spec: _Spec, emits: _Emits, found: Uncounted) -> bool:
    """Return whether inputs lead from states that differ only in counters to states that differ only in counters."""
    lead = dict[Hashable, Hashable]()
    for state, _ in _walk(emits, spec.initial) if found.counters else ():
        inputs = islice(spec.inputs(state), _FEW)
        ways = tuple((key(inp), tuple(map(found.key, _states(spec.step(state, inp))))) for inp in inputs)
        if lead.setdefault(found.key(state), ways) != ways:
            return False
    return True


def _counted(spec: _Spec, emits: _Emits) -> tuple[FieldPath, ...]:
    initial, numbers = _numbers(spec.initial), defaultdict[FieldPath, set[int]](set)
    others, walked = set[FieldPath](), list[object]()
    for begin in [spec.initial, *_after_inputs(spec, spec.initial, _STARTS)]:
        for state, then in _walk(emits, begin):
            walked.append(state)
            for path, before, after in _changed(state, then):
                numbers[path].add(after)
                if after != before + 1 and after > initial.get(path, 0) + 1:
                    others.add(path)
    for state in walked[:_FEW]:
        for then in _after_inputs(spec, state, _FEW):
            others |= {path for path, _, after in _changed(state, then) if after != initial.get(path)}
    return tuple(path for path in numbers if path not in others and len(numbers[path]) >= _FEW)


def _walk(emits: _Emits, state: object) -> Iterator[tuple[object, object]]:
    for turn in range(_STEPS):
        ways = _states(islice(emits(state), _FEW))
        yield from ((state, then) for then in ways)
        if not ways:
            return
        # each in its turn: of two numbered messages, the second would never count
        state = ways[turn % len(ways)]


def _after_inputs(spec: _Spec, state: object, most: int) -> list[object]:
    return [then for inp in islice(spec.inputs(state), most) for then in _states(spec.step(state, inp))]


def _states(ways: Iterable[object]) -> list[object]:
    return [cast("Transition[object]", way).state for way in ways if isinstance(way, Transition)]


def _changed(before: object, after: object) -> Iterator[tuple[FieldPath, int, int]]:
    """Yield the numbers that differ between two states, with their paths."""
    first, then = _numbers(before), _numbers(after)
    for path in first.keys() & then.keys():
        if first[path] != then[path]:
            yield path, first[path], then[path]


def _numbers(value: object, path: FieldPath = ()) -> dict[FieldPath, int]:
    if type(value) is int:
        return {path: value}
    if len(path) == _DEEPEST:
        return {}
    items: Iterable[tuple[str, object]]
    if isinstance(value, tuple):
        items = [(str(at), each) for at, each in enumerate(cast("tuple[object, ...]", value))]
    elif is_dataclass(value) and not isinstance(value, type):
        items = [(each.name, getattr(value, each.name)) for each in fields(value)]
    else:
        return {}
    return {found: number for name, each in items for found, number in _numbers(each, (*path, name)).items()}


def _put(value: Any, path: FieldPath, number: int) -> Any:  # noqa: ANN401 -- any state
    if not path:
        return number
    name, rest = path[0], path[1:]
    if not isinstance(value, tuple):
        return replace(value, **{name: _put(getattr(value, name), rest, number)})
    made: Any = type(cast("object", value))
    items = list(cast("tuple[object, ...]", value))
    at = int(name) if name.isdecimal() else made._fields.index(name)
    items[at] = _put(items[at], rest, number)
    return made._make(items) if hasattr(made, "_make") else tuple(items)
