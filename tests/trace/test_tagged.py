"""Values in traces: what was written is read back, and what strangers write is read or refused, nothing else."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, make_dataclass
from enum import Enum, Flag, IntEnum
from typing import Any, Generic, Literal, NamedTuple, NewType, Protocol, TypeVar, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import UsageError
from otf.trace.events import Ended, Undecodable
from otf.trace.tagged import Registry, encode
from otf.values import key, likeness

Part = TypeVar("Part")
Number = NewType("Number", int)


class Colour(Enum):
    RED = object()
    GREEN = 2


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Way(Flag):
    IN = 1
    OUT = 2


class Named(Protocol):
    name: str


class Point(NamedTuple):
    x: int
    type: str = ""


@dataclass(frozen=True)
class Leaf:
    colour: Colour
    weight: float = 0.0


@dataclass(frozen=True)
class Tree:
    parts: tuple[Leaf | Tree, ...]
    type: str = ""
    type_: int | None = None


@dataclass(frozen=True)
class Box(Generic[Part]):
    content: Part
    length: int = field(default=0, init=False)


@dataclass(frozen=True)
class All:
    """A field of each kind of annotation."""

    number: Number = Number(0)
    level: Level = Level.LOW
    ways: Way = Way.IN
    pair: tuple[int, str] = (0, "")
    none: tuple[()] = ()
    some: frozenset[Point] = frozenset()
    many: Sequence[int] = ()
    word: Literal["a", 1] = "a"
    box: Box[int] | None = None
    data: bytes = b""
    flag: bool = False
    hashed: Hashable = None
    anything: Any = None
    any_object: object = None
    named: Named | None = None
    plain: tuple = ()  # type: ignore[type-arg] # pyright: ignore[reportMissingTypeArgument, reportUnknownVariableType] -- people write it


@dataclass(frozen=True)
class Positive:
    number: int

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        if self.number <= 0:
            message = "it is not positive"
            raise ValueError(message)


class Sub(int):
    pass


class Group(tuple[int, ...]):
    __slots__ = ()


@dataclass
class Mutable:
    number: int = 0


@dataclass
class Held:
    """Collections that can change."""

    table: dict[str, tuple[int, ...]]
    names: Iterable[str]
    items: list[int]
    plain: dict  # type: ignore[type-arg] # pyright: ignore[reportMissingTypeArgument, reportUnknownVariableType] -- people write it


REGISTRY = Registry([Tree, All, Positive, Mutable, Colour, Held])
BASIC = ("tuple", "frozenset", "list", "set", "dict", "bytes", "float", "str")
TEXT = st.text(st.characters())
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary()
LEAVES = st.builds(Leaf, st.sampled_from(Colour), st.floats())
TREES = st.recursive(
    LEAVES, lambda parts: st.builds(Tree, st.lists(parts, max_size=3).map(tuple), TEXT, st.none() | st.integers())
)
POINTS = st.builds(Point, st.integers(), TEXT)
ALLS = st.builds(
    All,
    number=st.integers().map(Number),
    level=st.sampled_from(Level),
    ways=st.sampled_from([Way.IN, Way.OUT, Way.IN | Way.OUT, Way(0)]),
    pair=st.tuples(st.integers(), TEXT),
    some=st.frozensets(POINTS, max_size=3),
    many=st.lists(st.integers(), max_size=3).map(tuple),
    word=st.sampled_from(["a", 1]),
    box=st.none() | st.builds(Box[int], st.integers()),
    data=st.binary(),
    flag=st.booleans(),
    hashed=PLAIN | POINTS,
    anything=TREES,
    any_object=st.tuples(PLAIN, POINTS),
    plain=st.tuples(PLAIN),
)
VALUES = st.recursive(
    PLAIN
    | TREES
    | ALLS
    | POINTS
    | st.sampled_from(Level)
    | st.builds(Ended, TEXT)
    | st.builds(Undecodable, st.binary(), TEXT),
    lambda parts: st.lists(parts, max_size=3).map(tuple) | st.frozensets(parts, max_size=3),
    max_leaves=5,
)
HELD = st.recursive(
    VALUES,
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.dictionaries(PLAIN, parts, max_size=3)
        | st.sets(POINTS, max_size=3)
        | st.tuples(parts)
        | st.builds(All, anything=parts)
    ),
    max_leaves=5,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "value", "parts", "type_", "number", "x"]) | TEXT, parts, max_size=4)
        | st.fixed_dictionaries({"type": st.sampled_from([*REGISTRY.types, *BASIC]), "value": parts})
        | st.fixed_dictionaries({"type": st.just("Mutable"), "number": parts})
        | st.fixed_dictionaries({"type": st.just("Tree"), "parts": parts, "type_": parts, "type__": parts})
    ),
    max_leaves=10,
)


def through_a_file(value: object) -> object:
    """Return a value after it was written to a line and read from it."""
    return REGISTRY.decode(msgspec.json.decode(msgspec.json.encode(encode(value))))


@given(VALUES)
def test_what_was_written_is_read_back(value: object) -> None:
    """Dataclasses, enums, tuples, sets, bytes, numbers of all sizes, texts with half characters; types and all."""
    assert key(through_a_file(value)) == key(value)


@given(HELD)
def test_collections_that_can_change_are_read_back_too(value: object) -> None:
    """Lists, sets and dicts, in which a system may answer."""
    assert likeness(through_a_file(value)) == likeness(value)


@given(VALUES)
def test_the_same_value_is_the_same_line_each_time(value: object) -> None:
    """A set has no order, its line has."""
    assert msgspec.json.encode(encode(value)) == msgspec.json.encode(encode(through_a_file(value)))


@given(JSON)
def test_what_a_stranger_writes_is_a_value_or_a_value_error(data: Any) -> None:  # noqa: ANN401 -- JSON
    """Nothing else is ever raised, and every decoded value can be written again."""
    with suppress(ValueError):
        encode(REGISTRY.decode(data))


@given(VALUES, JSON, st.integers(0))
def test_a_line_in_which_something_was_exchanged_is_a_value_or_a_value_error(value: object, data: Any, at: int) -> None:  # noqa: ANN401 -- JSON
    """Data that is nearly right is refused as cleanly as nonsense."""
    with suppress(ValueError):
        encode(REGISTRY.decode(exchanged(encode(value), data, at)))


def exchanged(line: Any, data: Any, at: int) -> Any:  # noqa: ANN401 -- JSON
    """Return JSON data in which one part is another."""
    fields = cast("dict[str, Any]", line) if isinstance(line, dict) else {}
    if not fields:
        return data
    name = sorted(fields)[at % len(fields)]
    return fields | {name: exchanged(fields[name], data, at // len(fields))}


READABLE: list[tuple[object, Any]] = [
    (5, 5),
    (None, None),
    ("text", "text"),
    (1.5, 1.5),
    (b"\x00a", {"type": "bytes", "value": "0061"}),
    (math.inf, {"type": "float", "value": "inf"}),
    ("\ud800", {"type": "str", "value": "eda080"}),
    ((1, ()), {"type": "tuple", "value": [1, {"type": "tuple", "value": []}]}),
    (frozenset({2, 1}), {"type": "frozenset", "value": [1, 2]}),
    ([1, {2}], {"type": "list", "value": [1, {"type": "set", "value": [2]}]}),
    ({"b": 1, 2: []}, {"type": "dict", "value": [["b", 1], [2, {"type": "list", "value": []}]]}),
    (Level.LOW, {"type": "Level", "value": "LOW"}),
    (Way.IN | Way.OUT, {"type": "Way", "value": 3}),
    (Point(1, "t"), {"type": "Point", "x": 1, "type_": "t"}),
    (Tree((), "t", 2), {"type": "Tree", "parts": {"type": "tuple", "value": []}, "type_": "t", "type__": 2}),
    (Box(1), {"type": "Box", "content": 1}),
    (Ended("gone"), {"type": "Ended", "reason": "gone"}),
]


@pytest.mark.parametrize(("value", "data"), READABLE)
def test_a_line_can_be_read_by_people(value: object, data: object) -> None:
    """Plain values are as they are, others have the name of their type; a field called type gets an underscore."""
    assert encode(value) == data


@pytest.mark.parametrize("value", [bytearray(), object(), Leaf, 1j, Sub(1), Group(), [Leaf]])
def test_what_cannot_be_read_back_is_not_written(value: object) -> None:
    """A class is not a value, and a subclass of a plain type would come back as that type."""
    with pytest.raises(TypeError, match="cannot be written to a trace: use dataclasses, enums, tuples, lists"):
        encode(value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "a value is plain or an object with a type, not []"),
        ({}, "a value is plain or an object with a type, not {}"),
        ({"type": 1}, "a value is plain or an object with a type, not {'type': 1}"),
        ({"type": "os.system", "value": "rm"}, "the type 'os.system' is not known to the bench; known: All, Box"),
        ({"type": "tuple"}, "the type 'tuple' is not known"),
        ({"type": "tuple", "value": 1}, "1 is not of the type tuple"),
        ({"type": "bytes", "value": "xyz"}, "non-hexadecimal number"),
        ({"type": "bytes", "value": []}, "[] is not of the type bytes"),
        ({"type": "float", "value": "1.5"}, "a JSON number, or as one of nan, inf, -inf; this is '1.5'"),
        ({"type": "str", "value": "ff"}, "can't decode byte"),
        ({"type": "frozenset", "value": [{"type": "Mutable", "number": 1}]}, "cannot be a frozenset: "),
        ({"type": "dict", "value": [[{"type": "list", "value": [1]}, 1]]}, "cannot be a dict: "),
        ({"type": "dict", "value": [[1]]}, "[[1]] is not of the type dict"),
        ({"type": "dict", "value": {"a": 1}}, "{'a': 1} is not of the type dict"),
        ({"type": "Colour", "value": "BLUE"}, "Colour has the members RED, GREEN, not {'value': 'BLUE'}"),
        ({"type": "Colour", "value": []}, "Colour has the members RED, GREEN, not {'value': []}"),
        ({"type": "Colour", "value": "RED", "more": 1}, "Colour has the members"),
        ({"type": "Way", "value": 8}, "invalid value 8"),
        ({"type": "Way", "value": True}, "Way has the members IN, OUT"),
        ({"type": "Positive", "number": "1"}, "Positive.number is '1', which is not of the type int"),
        ({"type": "Positive", "number": True}, "Positive.number is True, which is not of the type int"),
        ({"type": "Positive", "number": 1.0}, "Positive.number is 1.0, which is not of the type int"),
        ({"type": "Positive", "number": 0}, "Positive refuses {'number': 0}: it is not positive"),
        ({"type": "Positive"}, "Positive has the fields ['number'], not []"),
        ({"type": "Positive", "number": 1, "more": 2}, "Positive has the fields ['number'], not ['more', 'number']"),
        ({"type": "Point", "x": 1}, "Point has the fields ['type_', 'x'], not ['x']"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(data: object, message: str) -> None:
    """The error names the type and the field, and what there is instead."""
    with pytest.raises(ValueError, match=r".") as raised:
        REGISTRY.decode(data)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("number", "1"),
        ("level", 1),
        ("ways", Level.LOW),
        ("pair", (1, 2)),
        ("pair", (1, "a", "b")),
        ("none", (1,)),
        ("some", frozenset({1})),
        ("some", ()),
        ("many", ("a",)),
        ("many", 1),
        ("word", "b"),
        ("word", True),
        ("box", 1),
        ("data", "text"),
        ("flag", 1),
        ("plain", frozenset[int]()),
    ],
)
def test_each_field_is_checked_against_its_annotation(name: str, wrong: object) -> None:
    """New types, enums, tuples, sets, sequences, literals, unions and generic classes."""
    data = encode(All()) | {name: encode(wrong)}
    with pytest.raises(ValueError, match=rf"^All\.{name} is "):
        REGISTRY.decode(data)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("table", {1: (1,)}),
        ("table", {"a": ("b",)}),
        ("names", {1: 2}),
        ("items", ["a"]),
        ("items", (1,)),
        ("plain", []),
    ],
)
def test_collections_are_checked_against_their_annotation(name: str, wrong: object) -> None:
    """Keys and values of a dict, items of a list."""
    right = Held({"a": (1,)}, {"a": 1}, [1], {1: 2})
    assert through_a_file(right) == right
    with pytest.raises(ValueError, match=rf"^Held\.{name} is "):
        REGISTRY.decode(encode(right) | {name: encode(wrong)})


def test_an_integer_may_stand_where_a_float_is_declared() -> None:
    """People write 1 where they mean 1.0; it comes back as what it was."""
    assert key(through_a_file(Leaf(Colour.RED, 1))) == key(Leaf(Colour.RED, 1))
    with pytest.raises(ValueError, match=r"Leaf\.weight is True"):
        through_a_file(Leaf(Colour.RED, weight=True))


@pytest.mark.parametrize("depth", [10_000, 100_000])
def test_data_that_is_nested_too_deep_is_refused(depth: int) -> None:
    """It is refused cleanly, at whatever depth the stack ends."""
    data: Any = 1
    for _ in range(depth):
        data = {"type": "tuple", "value": [data]}
    with pytest.raises(ValueError, match="a value is nested too deep"):
        REGISTRY.decode(data)


def test_two_types_of_one_name_are_refused() -> None:
    """A trace has only the name."""
    for name in ("Leaf", "Ended", "tuple"):
        with pytest.raises(UsageError, match=f"two types are called {name}, one in .*, one in .*; rename"):
            Registry([Leaf, make_dataclass(name, [])])


def test_a_type_may_be_named_twice() -> None:
    """By the bench and by a field, or in a union."""
    registry = Registry([Leaf, Tree, Leaf | Tree, Point | None, Number])
    assert sorted(registry.types) == ["Colour", "Elapse", "Ended", "Idle", "Leaf", "Point", "Tree", "Undecodable"]
