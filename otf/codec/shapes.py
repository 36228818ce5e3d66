"""Converts between dataclasses and another library's objects, whose fields have the same names; it checks the types.

A `ClassVar` with a value is on the wire but not part of the value, as in `otf.codec.records`.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

from otf.errors import UsageError
from otf.values import show
from otf.values.classes import hints_of

Convert: TypeAlias = Callable[[Any], Any]
"""A conversion between a value and the library's object for it. Raises ValueError or TypeError."""


class Shape(NamedTuple):
    """Says how to make values of a type from what a library has read, and what to give the library to write them."""

    load: Convert
    dump: Convert


@dataclass(frozen=True)
class Shaper:
    """A `Shaper` converts dataclasses to the objects of a library, such as construct, and back.

    `fetch` gets the name of a field, and returns the function that reads the field from a library's object. `make`
    makes a library's object from a value and its converted fields; without `make`, the library gets the fields as a
    dict. `parts` maps dataclasses to classes of the library: an object of another class is not a value of that
    dataclass.

    >>> from dataclasses import dataclass
    >>> from operator import itemgetter
    >>> @dataclass(frozen=True)
    ... class Level:
    ...     value: int
    >>> shape = Shaper(fetch=itemgetter).shape(Level)
    >>> shape.load({"value": 1}), shape.dump(Level(1))
    (Level(value=1), {'value': 1})
    """

    fetch: Callable[[str], Convert]
    make: Callable[[Any, dict[str, Any]], Any] | None = None
    parts: Mapping[type, type] = field(default_factory=dict[type, type])

    def shape(self, hint: Any, outer: tuple[type, ...] = ()) -> Shape:
        """Return the shape of a type. Raises UsageError for a type that messages cannot have."""
        if hint in _PLAIN:
            return _PLAIN[hint]
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return _literal(arguments)
        if origin in {Union, UnionType}:
            return self._union([each for each in arguments if each is not NoneType], NoneType in arguments, outer)
        if origin is dict or (origin is tuple and arguments[1:] == (...,)):
            inner = [self.shape(each, outer) for each in arguments if each is not ...]
            return _table(*inner) if origin is dict else _row(*inner)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return _member(hint)
        return self.record(hint, outer)

    def _union(self, hints: list[Any], optional: bool, outer: tuple[type, ...]) -> Shape:  # noqa: FBT001 -- a part of it
        shapes = [self.shape(each, outer) for each in hints]
        dumps = {get_origin(hint) or hint: shape.dump for hint, shape in zip(hints, shapes, strict=True)}

        def load(found: Any) -> Any:
            if optional and found is None:
                return None
            known = by_class.get(found.__class__)
            return known(found) if known else first_that_fits(loads, found)

        def dump(value: Any) -> Any:
            if optional and value is None:
                return None
            if len(shapes) == 1:
                return shapes[0].dump(value)
            if type(value) not in dumps:
                raise TypeError(f"{show(value)} is none of {', '.join(each.__name__ for each in dumps)}")
            return dumps[type(value)](value)

        loads = [shape.load for shape in shapes]
        # an object of a part's class cannot be another part, and collecting reasons is expensive
        by_class = {
            self.parts[hint]: shape.load for hint, shape in zip(hints, shapes, strict=True) if hint in self.parts
        }
        return Shape(load, dump)

    def record(self, kind: Any, outer: tuple[type, ...] = ()) -> Shape:
        """Return the shape of a dataclass. Raises UsageError that names the faulty field."""
        if kind in outer:
            raise UsageError(f"{kind.__name__} is a part of itself; such messages need a codec of your own")
        hints = type_hints(kind)
        shapes = {
            name: self._field(kind, name, hints[name], outer)
            for name in hints
            if get_origin(hints[name]) is not ClassVar
        }
        fixed = constants(kind)
        return Shape(self._loader(kind, shapes, fixed), self._dumper(kind, shapes, fixed))

    def _field(self, kind: type, name: str, hint: Any, outer: tuple[type, ...]) -> Shape:
        try:
            return self.shape(hint, (*outer, kind))
        except UsageError as error:
            raise UsageError(f"{kind.__name__}.{name}: {error}") from error

    def _loader(self, kind: type, shapes: Mapping[str, Shape], fixed: Mapping[str, Any]) -> Convert:
        own = self.parts.get(kind)
        converts: dict[str, Convert] = {name: partial(_equal, value) for name, value in fixed.items()}
        converts |= {name: shape.load for name, shape in shapes.items()}
        steps = [(name, self.fetch(name), convert) for name, convert in converts.items()]

        def load(found: Any) -> Any:
            if own is not None and type(found) is not own:
                raise ValueError(f"{type(found).__name__}, and not {own.__name__}")
            values = list[Any]()
            for name, fetch, convert in steps:
                try:
                    values.append(convert(fetch(found)))
                except Exception as error:
                    raise ValueError(f"{kind.__name__}.{name}: {type(error).__name__}: {error}") from error
            return kind(*values[len(fixed) :])

        return load

    def _dumper(self, kind: type, shapes: Mapping[str, Shape], fixed: Mapping[str, Any]) -> Convert:
        def dump(value: Any) -> Any:
            if type(value) is not kind:
                raise TypeError(f"{show(value)} is not of the type {kind.__name__}")
            fields = {name: shape.dump(getattr(value, name)) for name, shape in shapes.items()} | dict(fixed)
            return fields if self.make is None else self.make(value, fields)

        return dump


def type_hints(kind: Any) -> dict[str, Any]:
    """Return the types of the fields and constants of a dataclass. Raises UsageError for an undefined name."""
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise UsageError(f"{show(kind)} is not a {_KINDS}: a message has these alone")  # pyright: ignore[reportUnknownArgumentType] -- anything
    hints = hints_of(kind, kind.__name__)
    if not all(each.init and not each.kw_only for each in dataclasses.fields(kind)):
        raise UsageError(f"{kind.__name__}: each field is an argument of the class, with a place")
    return hints


def constants(kind: type) -> dict[str, Any]:
    """Return the values of the `ClassVar`s of a dataclass, which tell its messages from those of other dataclasses."""
    names = [name for name, hint in type_hints(kind).items() if get_origin(hint) is ClassVar]
    return {name: getattr(kind, name) for name in names if hasattr(kind, name)}


def first_that_fits(attempts: list[Convert], found: Any) -> Any:
    """Return the result of the first attempt that succeeds. Raises ValueError with the reasons of all."""
    reasons: list[str] = []
    for attempt in attempts:
        try:
            return attempt(found)
        except Exception as error:  # noqa: BLE001 -- a library may raise anything on bytes that are not a message
            reasons.append(f"{error}" or type(error).__name__)
    raise ValueError("; ".join(reasons))


def _integer(found: Any) -> int:
    # libraries have their own integers: flags, and names with a number
    if type(found) is int:
        return found
    if isinstance(found, (float, bytes)) or type(found) is str:
        raise TypeError(f"{show(found)} is not an integer")
    return int(found)


def _number(found: Any) -> float:
    return float(found) if isinstance(found, (int, float)) else _refused(found, "a number")


def _text(found: Any) -> str:
    return str(found) if isinstance(found, str) else _refused(found, "a text")


def _octets(found: Any) -> bytes:
    return bytes(found) if isinstance(found, (bytes, bytearray)) else _refused(found, "bytes")


def _truth(found: Any) -> bool:
    return bool(found) if found in {0, 1} else _refused(found, "a truth value")


def _refused(found: Any, what: str) -> Any:
    raise TypeError(f"{show(found)} is not {what}")


_PLAIN: dict[Any, Shape] = {
    kind: Shape(load, load)
    for kind, load in {int: _integer, float: _number, str: _text, bytes: _octets, bool: _truth}.items()
}
_KINDS = "dataclass, enum, bool, int, float, str, bytes, Literal, X | None, tuple[X, ...] or dict[X, Y]"


def _equal(value: Any, found: Any) -> None:
    if found != value:
        raise ValueError(f"{show(found)}, and not {show(value)}")


def _member(kind: type[Enum]) -> Shape:
    # a library has another enumeration, or an integer with a name
    def load(found: Any) -> Any:
        return kind(_integer(found) if issubclass(kind, int) else getattr(found, "value", found))

    return Shape(load, attrgetter("value"))


def _literal(values: tuple[Any, ...]) -> Shape:
    def load(found: Any) -> Any:
        for value in values:
            if found == value:
                return value
        raise ValueError(f"{show(found)} is none of {', '.join(map(show, values))}")

    return Shape(load, load)


def _row(item: Shape) -> Shape:
    def load(found: Any) -> Any:
        return tuple(map(item.load, found))

    def dump(value: Any) -> Any:
        return [*map(item.dump, value)]

    return Shape(load, dump)


def _table(key: Shape, item: Shape) -> Shape:
    def load(found: Any) -> Any:
        return {key.load(name): item.load(value) for name, value in found.items()}

    def dump(value: Any) -> Any:
        return {key.dump(name): item.dump(each) for name, each in value.items()}

    return Shape(load, dump)
