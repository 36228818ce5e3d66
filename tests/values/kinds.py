"""Types to enumerate, and how large their values are by the rules that the pages state."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, Flag
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    Optional,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from otf.values import PRINTABLE, Alphabet, Among, Char, Range, Size

T = TypeVar("T")


class Colour(Enum):
    RED = 1
    GREEN = 2
    ROT = 1  # noqa: PIE796 -- another name for the first is not a value of its own


class Mode(Flag):
    READ = 1
    WRITE = 2
    SYNC = 4


@dataclass(frozen=True)
class Press:
    colour: Colour
    long: bool
    seen: int = field(default=0, init=False)


@dataclass(frozen=True)
class Nothing:
    pass


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Leaf:
    value: int


@dataclass(frozen=True)
class Node:
    left: Tree
    right: Tree


Tree = Union[Leaf, Node]  # noqa: UP007 -- it contains a class that is not defined yet


@dataclass(frozen=True)
class Pair(Generic[T]):
    one: T
    other: T


@dataclass(frozen=True)
class Chain(Generic[T]):
    head: T
    rest: Chain[T] | None


@dataclass
class Box:
    items: list[int]


@dataclass(kw_only=True)
class Keyword:
    on: bool
    level: int


Id = NewType("Id", int)
Small = Annotated[int, Range(0, 3)]
Word = Annotated[str, Alphabet("ab")]

BASIC: tuple[Any, ...] = (
    int,
    float,
    str,
    bytes,
    bool | int,
    int | None,
    tuple[int, int],
    tuple[int, ...],
    list[int],
    set[int],
    frozenset[int],
    dict[int, int],
    Tree,
    Point,
    Box,
    Chain[bool],
    Pair[int],
    Keyword,
    Id,
    Annotated[int, Range(ge=-3)],
    Annotated[float, Range(0, 1)],
    Word,
    Annotated[bytes, Alphabet(b"xyz")],
)
FINITE: tuple[Any, ...] = (bool, None, Colour, Mode, Literal["a", 1, True], Press, Nothing, Small, Char, tuple[()])
COMPOSED: list[Any] = [
    tuple[bool, int],
    tuple[int, str, float],
    tuple[bool, Colour, int, None],
    tuple[int, int, int, int, int],
    tuple[Small, Small, Small, int],
    tuple[list[int], int],
    tuple[int, ...] | None,
    tuple[tuple[int, int], tuple[bool, int]],
    tuple[float, float],
    list[bool],
    list[str],
    list[float],
    list[list[int]],
    list[set[int]],
    list[tuple[int, bool]],
    list[int | None],
    list[bool | int],
    list[Colour | int],
    list[dict[bool, int]],
    list[Tree],
    list[Point],
    list[Literal[1, True, "1"]],
    list[int] | list[bool],
    list[int] | tuple[int, ...] | set[int],
    Annotated[list[int], Size(2, 4)],
    Optional[Annotated[list[Small], Size(max_length=6)]],  # noqa: UP045 -- typing does not know the other way of this
    set[bool | int],
    set[str],
    set[tuple[int, int]],
    set[frozenset[int]],
    set[Point],
    set[float],
    Annotated[set[int], Size(1, 3)],
    frozenset[bool | float | int],
    frozenset[Tree],
    dict[str, int],
    dict[int, list[int]],
    dict[bool | int, bool],
    dict[Point, Colour],
    dict[int, dict[int, bool]],
    Annotated[dict[int, bool], Size(1, 2)],
    int | float | bool,
    int | Literal[True, "five"],
    int | str | bytes | None,
    Press | Leaf | Nothing | int,
    Tree | Chain[int] | Box,
    Pair[list[int]],
    Pair[Tree],
    Pair[int | bool],
    Chain[int],
    Chain[Pair[bool]],
    Id | str,
    tuple[Id, Small, Word],
    Annotated[str, Size(1, 3)] | int,
    Annotated[int, Among(3, 1, 2)] | float,
]
UNIONS = {Union, types.UnionType}
INTS = [0, *(each for number in range(1, 60_000) for each in (number, -number))]


def size(kind: Any, value: Any) -> int:  # noqa: ANN401 -- of any type
    """Say how large a value of a type is: places of atoms, sums of parts, one more for an element or a record."""
    form, parts = get_origin(kind), get_args(kind)
    if form in UNIONS:
        return min(size(part, value) for part in parts if belongs(part, value))
    if form is Annotated and plain(kind) not in {int, str, bytes}:
        return size(parts[0], value)
    if form in {list, set, frozenset, dict, tuple}:
        return sum(inner(form, parts, value))
    if fields := held(kind):
        return 1 + sum(size(part, getattr(value, name)) for name, part in fields.items())
    numbers = letters(kind)
    return sum(1 + numbers[letter] for letter in value) if numbers else places(kind)[type(value), value]


def inner(form: Any, parts: tuple[Any, ...], value: Any) -> Iterator[int]:  # noqa: ANN401 -- of any type
    """Say how large each element of a collection is, with what it costs to be one."""
    if form is dict:
        yield from (1 + size(parts[0], name) + size(parts[1], item) for name, item in value.items())
    elif form is tuple and parts[1:] != (Ellipsis,):
        yield from (size(part, item) for part, item in zip(parts, value, strict=True))
    else:
        yield from (1 + size(parts[0], item) for item in value)


def belongs(kind: Any, value: Any) -> bool:  # noqa: ANN401 -- of any type
    """Say whether a value is one of a type."""
    form, parts = get_origin(kind), get_args(kind)
    if form in UNIONS:
        return any(belongs(part, value) for part in parts)
    if form is Literal:
        return (type(value), value) in [(type(part), part) for part in parts]
    if form in {list, set, frozenset} or parts[1:] == (Ellipsis,):
        return type(value) is form and all(belongs(parts[0], item) for item in value)
    return type(value) is plain(kind)


def plain(kind: Any) -> Any:  # noqa: ANN401 -- any type
    """Strip a type of its bounds, its arguments and its other names."""
    if get_origin(kind) is Annotated:
        return plain(get_args(kind)[0])
    return int if kind is Id else type(None) if kind is None else get_origin(kind) or kind


def cached(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Remember what a function says of a type, by its text: Python takes Literal[1] and Literal[True] for equal."""
    known: dict[str, T] = {}

    def remembered(kind: Any) -> T:  # noqa: ANN401 -- any type
        text = str(kind)
        if text not in known:
            known[text] = function(kind)
        return known[text]

    return remembered


@cached
def held(kind: Any) -> dict[str, Any]:  # noqa: ANN401 -- any type
    """Name the fields of a record with their types."""
    form = get_origin(kind) or kind
    names = [each.name for each in dataclasses.fields(form) if each.init] if dataclasses.is_dataclass(form) else []
    names = list(form._fields) if form is Point else names
    hints = get_type_hints(form, include_extras=True) if names else {}
    argument = get_args(kind)[:1]
    return {name: argument[0] if hints[name] is T else filled(hints[name], argument) for name in names}


def filled(hint: Any, argument: tuple[Any, ...]) -> Any:  # noqa: ANN401 -- any type
    """Put the argument of a generic class into the type of a field."""
    return hint[argument] if getattr(hint, "__parameters__", ()) and get_origin(hint) else hint


@cached
def letters(kind: Any) -> dict[Any, int]:  # noqa: ANN401 -- any type
    """Number the letters of a type of strings or bytes; nothing where it is none."""
    if plain(kind) not in {str, bytes}:
        return {}
    metadata = kind.__metadata__ if get_origin(kind) is Annotated else ()
    usual: Any = PRINTABLE if plain(kind) is str else range(256)
    symbols = next((each.symbols for each in metadata if isinstance(each, Alphabet)), usual)
    return {symbol: place for place, symbol in enumerate(symbols)}


@cached
def places(kind: Any) -> dict[Any, int]:  # noqa: ANN401 -- any type
    """Number the atoms of a type; a record without fields is one."""
    usual: dict[Any, list[Any]] = {int: INTS, bool: [False, True], type(None): [None]}
    if kind is Nothing:
        return {(kind, kind()): 0}
    row = usual.get(plain(kind)) or list(get_args(kind) if get_origin(kind) is Literal else kind)
    bounds = [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Range) and each.ge is not None]
    within = [each for each in row if all(each >= bound.ge for bound in bounds)]
    return {(type(value), value): place for place, value in enumerate(within)}


def has_float(kind: Any) -> bool:  # noqa: ANN401 -- any type
    """Say whether floats are inside, or flags or given values, whose order is a matter of taste."""
    if get_origin(kind) is Annotated and any(isinstance(each, Among) for each in kind.__metadata__):
        return True
    return kind in {float, Mode} or any(has_float(part) for part in get_args(kind) if get_origin(kind) is not Literal)
