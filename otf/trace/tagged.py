"""Values as tagged data: plain JSON with the name of the type, read back only as declared types.

A trace is untrusted data: reading it imports, evaluates and unpickles nothing. It can only yield types that the bench
declares, and each field is checked against its annotation.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from enum import Enum, Flag
from typing import Any, Final, NewType, TypeGuard, get_args, get_origin

from otf.errors import UsageError, choose, near
from otf.spec import Elapse, Idle
from otf.trace.events import Ended, Undecodable
from otf.values import FiniteFunction, show
from otf.values.classes import fits, hints_of, is_class, is_uuid

Json = Any
_PLAIN: Final = (str, bool, int, float, type(None))
_ALWAYS: Final = (Ended, Undecodable, Elapse, Idle)
_RENAMED: Final = {"Garbled": "Undecodable"}
"""Type names in traces of earlier versions, with the present ones."""

_ENDLESS: Final = ("nan", "inf", "-inf")
_DEEPEST: Final = 200
"""The deepest nesting: far more than any message has, and less than the interpreter's recursion limit."""


def encode(value: object) -> Json:
    """Return the JSON data for a value: a plain value unchanged, any other with the name of its type.

    >>> encode((1, b"a"))
    {'type': 'tuple', 'value': [1, {'type': 'bytes', 'value': '61'}]}
    """
    kind = type(value)
    writer = _WRITERS.get(kind)
    if writer is None:
        # every event of a run is written, and the form of a type does not change
        writer = _WRITERS[kind] = _writer(kind)
    return writer(value)


class Registry:
    """The types whose values a trace may contain, by name, with the types of their fields.

    `made_at` is the line of the bench, for errors. `Registry` raises UsageError if two types share a name, since
    a trace could not distinguish them.

    >>> Registry([]).decode(encode((1, b"a")))
    (1, b'a')
    """

    def __init__(self, types: Iterable[object], made_at: str = "") -> None:
        self.types: dict[str, type[Any]] = {}
        self._hints: dict[type, dict[str, Any]] = {}
        self._depth, self._made_at = 0, made_at
        for kind in (*_ALWAYS, *types):
            self._add(kind)

    def decode(self, data: Json) -> object:
        """Return the value of data that `encode` made. Raises ValueError with the reason if the data is malformed."""
        self._depth = 0
        return self._value(data)

    def _value(self, data: Json) -> object:
        if type(data) in _PLAIN:
            return data
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("a value is nested too deep")
        value = self._tagged(data)
        self._depth -= 1
        return value

    def _tagged(self, data: Json) -> object:
        name, rest = _untag(data)
        name = _RENAMED.get(name, name) if name not in self.types else name
        if name in self.types:
            return self._typed(self.types[name], rest)
        if name in _BASIC and rest.keys() == {"value"}:
            return self._basic(name, rest["value"])
        message = f"the type {show(name)} is not known to the bench; {choose(name, sorted(self.types), 'known:')}"
        where = self._made_at.strip().partition(", in ")[0]
        listed = f"types=({name},)" if name.isidentifier() and repr(name) == show(name) else "the type in `types`"
        raise ValueError(f"{message}; give the bench {listed}{where and f' ({where})'}")

    def _typed(self, kind: type[Any], data: Mapping[str, Json]) -> object:
        if issubclass(kind, Enum):
            return _member(kind, data)
        if is_uuid(kind):
            return kind(_only_text("UUID", data))
        names = {_tag(name): name for name in _names(kind)}
        if set(names) != set(data):
            hint = next((f"{found} " for each in data.keys() - names.keys() if (found := near(each, names))), "")
            message = f"{hint}{kind.__name__} has the fields {sorted(names)}, not {sorted(data)}"
            raise ValueError(message)
        values = {names[tag]: self._field(kind, names[tag], item) for tag, item in data.items()}
        try:
            return kind(**values)
        except Exception as error:  # a __post_init__ of the model may reject what the file contains
            message = f"{kind.__name__} refuses {show(values)}: {error}"
            raise ValueError(message) from error

    def _field(self, kind: type[Any], name: str, data: Json) -> object:
        value, hint = self._value(data), self._hints[kind][name]
        if not fits(value, hint):
            wanted = hint.__name__ if isinstance(hint, type) else hint
            message = f"{kind.__name__}.{name} is {show(value)}, which is not of the type {wanted}"
            raise ValueError(message)
        return value

    def _basic(self, name: str, data: Json) -> object:
        if name in _TEXTS and isinstance(data, str):
            try:
                return _TEXTS[name](data)
            except ValueError as error:
                raise ValueError(f"{show(data)} is not of the type {name}: {error}") from error
        if name in _GROUPS and _is_list(data):
            return _grouped(name, [self._value(item) for item in data])
        if name == "dict" and _is_list(data) and all(_is_list(pair) and len(pair) == 2 for pair in data):  # noqa: PLR2004 -- key and value
            return _table([(self._value(named), self._value(held)) for named, held in data])
        message = f"{show(data)} is not of the type {name}"
        raise ValueError(message)

    def _add(self, kind: object) -> None:
        if isinstance(kind, NewType):
            self._add(kind.__supertype__)
        elif is_class(kind) and (_is_record(kind) or is_uuid(kind) or issubclass(kind, Enum)):
            self._name(kind)
        elif get_origin(kind) is Callable:
            self._name(FiniteFunction)
        parts = get_args(kind)
        for part in (get_origin(kind), *parts) if parts else ():
            self._add(part)

    def _name(self, kind: type[Any]) -> None:
        name = kind.__name__
        if self.types.get(name) is kind:
            return
        if name in self.types or name in _BASIC:
            other = self.types[name].__module__ if name in self.types else "Python"
            where = f"one in {other}, one in {kind.__module__}"
            message = f"two types are called {name}, {where}: a trace could not tell them apart; rename one of them"
            raise UsageError(message)
        self.types[name] = kind
        where = f"the fields of {name} in a trace"
        self._hints[kind] = {} if issubclass(kind, Enum) or is_uuid(kind) else hints_of(kind, where)
        for hint in self._hints[kind].values():
            self._add(hint)


def _writer(kind: type[Any]) -> Callable[[Any], Json]:
    if issubclass(kind, Flag):
        return lambda value: {"type": kind.__name__, "value": value.value}
    if issubclass(kind, Enum):
        return lambda value: {"type": kind.__name__, "value": value.name}
    if is_uuid(kind):
        return lambda value: {"type": "UUID", "value": str(value)}
    if _is_record(kind):
        return _record(kind.__name__, tuple((_tag(name), name) for name in _names(kind)))
    what = "a class (write its name)" if issubclass(kind, type) else f"a {kind.__name__}"
    message = (
        f"{what} cannot be written to a trace: use dataclasses, enums, tuples, lists, sets, dicts and plain values"
    )
    raise TypeError(message)


def _record(kind: str, tags: tuple[tuple[str, str], ...]) -> Callable[[Any], Json]:
    def write(value: object) -> Json:
        data: dict[str, Json] = {"type": kind}
        for tag, name in tags:
            data[tag] = encode(getattr(value, name))
        return data

    return write


def _text(value: str) -> Json:
    if value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value):
        return value
    # half a surrogate pair cannot be written in UTF-8
    return {"type": "str", "value": value.encode("utf-8", "surrogatepass").hex()}


def _number(value: float) -> Json:
    # JSON has no number for nan
    return value if math.isfinite(value) else {"type": "float", "value": str(value)}


def _plain(value: object) -> Json:
    return value


def _set(value: frozenset[object] | set[object]) -> Json:
    # a set has no order of its own, but the same value must always give the same line
    return {"type": type(value).__name__, "value": sorted(map(encode, value), key=repr)}


def _dict(value: dict[object, object]) -> Json:
    return {"type": "dict", "value": [[encode(named), encode(held)] for named, held in value.items()]}


_WRITERS: Final[dict[type, Callable[[Any], Json]]] = {
    **dict.fromkeys((bool, int, type(None)), _plain),
    str: _text,
    float: _number,
    bytes: lambda value: {"type": "bytes", "value": value.hex()},
    date: lambda value: {"type": "date", "value": str(value)},
    tuple: lambda value: {"type": "tuple", "value": list(map(encode, value))},
    list: lambda value: {"type": "list", "value": list(map(encode, value))},
    frozenset: _set,
    set: _set,
    dict: _dict,
}


def _string(text: str) -> str:
    return bytes.fromhex(text).decode("utf-8", "surrogatepass")


def _float(text: str) -> float:
    if text not in _ENDLESS:
        message = f"a number is written as a JSON number, or as one of {', '.join(_ENDLESS)}; this is {show(text)}"
        raise ValueError(message)
    return float(text)


_GROUPS: Final[Mapping[str, Callable[[list[object]], object]]] = {
    "tuple": tuple[object, ...],
    "list": list[object],
    "frozenset": frozenset[object],
    "set": set[object],
}
_TEXTS: Final[Mapping[str, Callable[[str], object]]] = {
    "bytes": bytes.fromhex,
    "float": _float,
    "str": _string,
    "date": date.fromisoformat,
}
_BASIC: Final = {*_GROUPS, *_TEXTS, "dict"}


def _grouped(name: str, items: list[object]) -> object:
    try:
        return _GROUPS[name](items)
    except TypeError as error:
        message = f"{show(items)} cannot be a {name}: {error}"
        raise ValueError(message) from error


def _table(pairs: list[tuple[object, object]]) -> object:
    try:
        return dict(pairs)
    except TypeError as error:
        message = f"{show(pairs)} cannot be a dict: {error}"
        raise ValueError(message) from error


def _untag(data: Json) -> tuple[str, dict[str, Json]]:
    if not _is_object(data) or not isinstance(data.get("type"), str):
        message = f"a value is plain or an object with a type, not {show(data)}"
        raise ValueError(message)
    return data["type"], {name: item for name, item in data.items() if name != "type"}


def _is_object(data: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(data, dict)


def _is_list(data: Json) -> TypeGuard[list[Json]]:
    return isinstance(data, list)


def _is_record(kind: type[Any]) -> bool:
    return dataclasses.is_dataclass(kind) or (tuple in kind.__mro__ and hasattr(kind, "_fields"))


def _names(kind: type[Any]) -> tuple[str, ...]:
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind) if field.init)
    return tuple(kind._fields)


def _tag(name: str) -> str:
    # "type" is taken: a field of that name gets an underscore, and so do fields that would then collide with it
    return f"{name}_" if name.rstrip("_") == "type" else name


def _only_text(name: str, data: Mapping[str, Json]) -> str:
    text = data.get("value")
    if len(data) == 1 and isinstance(text, str):
        return text
    message = f"{show(dict(data))} is not of the type {name}"
    raise ValueError(message)


def _member(kind: type[Enum], data: Mapping[str, Json]) -> Enum:
    name = data.get("value") if len(data) == 1 else None
    if issubclass(kind, Flag) and type(name) is int:
        return kind(name)
    if not isinstance(name, str) or name not in kind.__members__:
        hint = f"{near(str(name), kind.__members__)} ".lstrip()
        message = f"{hint}{kind.__name__} has the members {', '.join(kind.__members__)}, not {show(dict(data))}"
        raise ValueError(message)
    return kind.__members__[name]
