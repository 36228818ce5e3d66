"""Annotations: kinds of classes, the types of their fields with type variables replaced, and which values fit one."""

from __future__ import annotations

import builtins
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, Flag
from functools import reduce
from importlib import import_module
from inspect import Parameter, signature, unwrap
from itertools import combinations
from types import SimpleNamespace, UnionType
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NewType,
    NotRequired,
    Required,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from otf.errors import UsageError, near

# from 3.14 on Python evaluates annotations when they are read, and a name may be there for type checkers only
_LAZILY: Any = import_module("annotationlib") if sys.version_info >= (3, 14) else None
_FORMAT: Final[dict[str, Any]] = {"annotation_format": _LAZILY.Format.FORWARDREF} if _LAZILY else {}


def parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function without evaluating its annotations. Raises TypeError or ValueError."""
    return signature(function, **_FORMAT).parameters


def annotations_of(made: Any) -> dict[str, Any]:  # noqa: ANN401 -- a class or a function
    """Return the annotations of a class or function itself, as they are stored; an unreadable one is a `ForwardRef`."""
    if not _LAZILY:
        return getattr(made, "__annotations__", {})
    found: dict[str, Any] = _LAZILY.get_annotations(made, format=_LAZILY.Format.FORWARDREF)
    return found


def is_class(kind: object) -> TypeGuard[type[Any]]:
    """Return whether `kind` is a class, but not a generic class with arguments such as `list[int]`."""
    return isinstance(kind, type) and not hasattr(kind, "__args__")


def is_alias(kind: object) -> bool:
    """Return whether something is another name for a type, as declared by `type Name = ...`."""
    return hasattr(kind, "__value__") and hasattr(kind, "__type_params__")


def is_new_type(kind: object) -> bool:
    """Return whether something is a `NewType`."""
    return hasattr(kind, "__supertype__")


def is_uuid(kind: object) -> bool:
    """Return whether something is the class of UUIDs: by its name, since the core must not import `uuid`."""
    return is_class(kind) and (kind.__module__, kind.__qualname__) == ("uuid", "UUID")


def is_record(kind: object) -> bool:
    """Return whether a class is a NamedTuple, or a dataclass whose constructor takes exactly its fields."""
    if not is_class(kind):
        return False
    if dataclasses.is_dataclass(kind):
        return {field.name for field in dataclasses.fields(kind) if field.init} == set(parameters(kind))
    return hasattr(kind, "_fields") and issubclass(kind, tuple)


def is_frozen(kind: type[Any]) -> bool:
    """Return whether the fields of a record cannot be set."""
    return issubclass(kind, tuple) or bool(getattr(kind, "__dataclass_params__").frozen)  # noqa: B009 -- typeshed does not have it


def builder(kind: type[Any], names: list[str]) -> Callable[..., Any]:
    """Return the function that makes a record from the values of the fields with these names, in their order."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    if any(field.kw_only for field in fields):
        return lambda *row: kind(**dict(zip(names, row, strict=True)))
    return kind


def members(kind: type[Enum]) -> Iterator[Enum]:
    """Yield the members of an enum; for flags, all combinations."""
    if not issubclass(kind, Flag):
        yield from kind
        return
    for number in range(len(kind) + 1):
        for flags in combinations(kind, number):
            yield reduce(lambda one, other: one | other, flags, kind(0))


def field_types(kind: Any, where: str) -> dict[str, object]:  # noqa: ANN401 -- a class, or a generic one with arguments
    """Return the types of the constructor arguments of a dataclass or NamedTuple, by name.

    >>> T = TypeVar("T")
    >>> @dataclasses.dataclass
    ... class Pair(Generic[T]):
    ...     left: T
    ...     right: list[T]
    >>> field_types(Pair[int], "pair")
    {'left': <class 'int'>, 'right': list[int]}
    """
    made: type[Any] = get_origin(kind) or kind
    hints = _annotations(made, where)
    bound = _bindings(kind)
    return {name: substituted(hints[name], bound) for name in _names(made)}


def table_types(kind: Any, where: str) -> dict[str, tuple[object, bool]]:  # noqa: ANN401 -- a class, or a generic one
    """Return the type of the value for each key of a TypedDict, and whether the key may be missing."""
    made: Any = get_origin(kind) or kind
    bound = _bindings(kind)
    found: dict[str, tuple[object, bool]] = {}
    for name, hint in _annotations(made, where).items():
        mark = get_origin(hint) if get_origin(hint) in {Required, NotRequired} else None
        # if the annotations are strings, the class itself has not seen the mark
        absent = mark is NotRequired or (mark is None and name in made.__optional_keys__)
        found[name] = substituted(get_args(hint)[0] if mark else hint, bound), absent
    return found


def _annotations(kind: type[Any], where: str) -> dict[str, Any]:
    """Return the evaluated annotations of a class, in which its own name and its type variables are always known."""
    variables: tuple[TypeVar, ...] = getattr(kind, "__parameters__", ())
    local = {kind.__name__: kind} | {each.__name__: each for each in variables}
    return hints_of(kind, where, extras=True, local=local)


def hints_of(kind: Any, where: str, *, extras: bool = False, local: Any = None) -> dict[str, Any]:  # noqa: ANN401 -- a class
    """Return the evaluated annotations of a class. Raises UsageError that names the field and its unknown name."""
    try:
        return get_type_hints(kind, localns=local, include_extras=extras)
    except NameError as error:
        raise _unreadable(kind, where, error) from error


def argument_types(function: Any, names: Sequence[str], where: str) -> dict[str, object]:  # noqa: ANN401 -- a function
    """Return the declared types of some arguments of a function; annotations of other arguments are not evaluated."""
    plain = unwrap(function)
    declared = {name: kind for name, kind in annotations_of(plain).items() if name in names}
    known = getattr(plain, "__globals__", {})
    try:
        return get_type_hints(SimpleNamespace(__annotations__=declared), known, include_extras=True)
    except NameError as error:
        raise _unreadable(function, where, error) from error


def _unreadable(thing: Any, where: str, error: NameError) -> UsageError:  # noqa: ANN401 -- a class or a function
    """Return the error for an annotation with a name that is only there for type checkers, or nowhere."""
    name = str(error.name)
    named = next((f".{each}" for each, hint in annotations_of(thing).items() if name in str(hint)), "")
    known = [*dir(sys.modules.get(thing.__module__)), *dir(builtins)]
    hint = near(name, [each for each in known if not each.startswith("_")], 0.75)
    message = f"{where}: the annotation of {thing.__qualname__}{named} cannot be read: {error};"
    return UsageError(f"{message} {hint and f'{hint} '}define or import {name} at the top of its file")


def substituted(hint: Any, bound: dict[Any, object]) -> object:  # noqa: ANN401 -- any annotation
    """Return an annotation in which types replace its type variables."""
    if isinstance(hint, TypeVar):
        return bound.get(hint, hint)
    # a generic class without arguments has parameters too, but nothing to replace them with
    if is_class(hint) or not getattr(hint, "__parameters__", ()):
        return hint
    return hint[tuple(bound.get(each, each) for each in hint.__parameters__)]


def _names(made: type[Any]) -> list[str]:
    if dataclasses.is_dataclass(made):
        return [field.name for field in dataclasses.fields(made) if field.init]
    return list(made._fields)


def _bindings(kind: Any) -> dict[Any, object]:  # noqa: ANN401 -- a class, or a generic one with arguments
    made = get_origin(kind) or kind
    bound: dict[Any, object] = dict(zip(getattr(made, "__parameters__", ()), get_args(kind), strict=False))
    for base in getattr(made, "__orig_bases__", ()):
        if get_origin(base) not in {None, Generic}:
            bound = {**_bindings(substituted(base, bound)), **bound}
    return bound


def fits(value: object, hint: Any) -> bool:  # noqa: ANN401 -- an annotation
    """Return whether a value has the type that an annotation declares."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if isinstance(hint, NewType):
        return fits(value, hint.__supertype__)
    if is_class(hint):
        return _is_a(value, hint)
    # a type variable or Any: the model itself does not restrict it
    return not is_class(origin) or (_is_a(value, origin) and _all_fit(value, origin, parts))


def _all_fit(value: object, origin: type[Any], parts: tuple[Any, ...]) -> bool:
    if _is_table(value):
        names, items = (parts[0], parts[-1]) if parts else (Any, Any)
        return all(fits(name, names) and (len(parts) == 1 or fits(item, items)) for name, item in value.items())
    if isinstance(value, str):
        return fits("", parts[0])  # a text is a sequence of texts
    if not _is_group(value):
        return True
    if origin is tuple and Ellipsis not in parts:
        return len(value) == len(parts) and all(map(fits, value, parts))
    return all(fits(item, parts[0]) for item in value)


def _is_a(value: object, kind: type[Any]) -> bool:
    if isinstance(value, bool) and kind in {int, float}:
        return False
    try:
        # users write 1 for 1.0
        return isinstance(value, (int, float) if kind is float else kind)
    except TypeError:  # some protocols have no isinstance
        return True


def _is_table(value: object) -> TypeGuard[dict[object, object]]:
    return type(value) is dict


def _is_group(value: object) -> TypeGuard[tuple[object, ...] | list[object] | frozenset[object] | set[object]]:
    return type(value) in {tuple, list, frozenset, set}
