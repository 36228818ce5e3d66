"""Classes: what they are made from, generic and recursive ones, and those that cannot be enumerated."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NamedTuple, NewType, TypeVar, Union

import pytest

from otf.errors import UsageError
from otf.values import Among, Range, Size, every
from otf.values.classes import annotations_of, argument_types, field_types, is_record, parameters

if TYPE_CHECKING:
    from fractions import Fraction

T = TypeVar("T")
U = TypeVar("U")
Either = TypeVar("Either", bool, None)
Bounded = TypeVar("Bounded", bound=bool)
Bit = Annotated[int, Range(0, 1)]
NO, YES = False, True


@dataclass(frozen=True)
class Two(Generic[T, U]):
    one: T
    other: list[U]


@dataclass(frozen=True)
class Half(Two[T, None]):
    more: T


@dataclass(frozen=True)
class Whole(Half[bool]):
    pass


class Named(NamedTuple, Generic[T]):
    value: T
    level: int = 7


@dataclass(frozen=True)
class Chosen(Generic[Either, Bounded]):
    one: Either
    other: Bounded


@dataclass(frozen=True)
class Even:
    number: Annotated[int, Range(0, 5)]

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError


@dataclass(frozen=True)
class Strange:
    """A dataclass with a constructor of its own."""

    number: int

    def __init__(self) -> None: ...


@dataclass(frozen=True)
class Endless:
    inner: Round


@dataclass(frozen=True)
class Round:
    outer: tuple[int, Endless]


@dataclass(frozen=True)
class Hollow:
    value: Empty
    inner: Hollow | None


@dataclass(frozen=True)
class Once:
    inner: Annotated[tuple[None, ...], Size(0, 1)]


@dataclass(frozen=True)
class Group:
    members: frozenset[Group]


@dataclass
class Scope:
    names: dict[bool, Scope]


@dataclass(frozen=True)
class Open(Generic[T]):
    value: T


@dataclass(frozen=True)
class Secret:
    value: Fraction


@dataclass(frozen=True)
class Callback:
    calls: dict[int, list[Callable[..., None]]]


@dataclass
class Loose:
    on: bool
    seen: list[int] = field(default_factory=list[int], init=False)


class Empty(Enum):
    pass


@dataclass(frozen=True)
class WithEmpty:
    value: Empty
    number: int


class Alias:
    """What `type Json = bool | None | list[Json]` makes from Python 3.12 on."""

    __name__ = "Json"
    __type_params__ = ()

    @property
    def __value__(self) -> object:
        return Union[bool, None, list.__class_getitem__(Json)]  # noqa: UP007 -- made while the program runs


Json = Alias()
Name = NewType("Name", str)


MADE: list[tuple[Any, list[Any]]] = [
    (Two[bool, None], [Two(NO, []), Two(NO, [None]), Two(YES, []), Two(NO, [None] * 2)]),
    (Half[bool], [Half(NO, [], NO), Half(NO, [], YES), Half(NO, [None], NO)]),
    (Whole, [Whole(NO, [], NO), Whole(NO, [], YES), Whole(NO, [None], NO)]),
    (Named[bool], [Named(NO, 0), Named(NO, 1), Named(YES, 0)]),
    (Chosen[bool, bool], [Chosen(NO, NO), Chosen(NO, YES), Chosen(YES, NO), Chosen(YES, YES)]),
    (Chosen, [Chosen(NO, NO), Chosen(None, NO), Chosen(NO, YES), Chosen(None, YES)]),
    (Even, [Even(0), Even(2), Even(4)]),
    (Group, [Group(frozenset()), Group(frozenset({Group(frozenset())}))]),
    (Scope, [Scope({}), Scope({NO: Scope({})}), Scope({YES: Scope({})}), Scope({NO: Scope({NO: Scope({})})})]),
    (tuple[Open[Literal[1]], Open[Literal[True]]], [(Open(1), Open(YES))]),
    (Json, [False, None, [], True, [False], [None], [[]]]),
    (Annotated[Name, Among("x")], ["x"]),
]


@pytest.mark.parametrize(("kind", "values"), MADE)
def test_a_class_is_made_from_its_fields(kind: object, values: list[object]) -> None:
    """Type variables are replaced by their arguments, or by their bounds."""
    found = every(kind).first(len(values))
    assert found == values
    assert list(map(repr, found)) == list(map(repr, values))


ENDING: list[tuple[Any, list[Any]]] = [
    (Empty, []),
    (WithEmpty, []),
    (WithEmpty | None, [None]),
    (list[Empty], [[]]),
    (Annotated[list[Empty], Size(1)], []),
    (set[Empty], [set()]),
    (dict[int, Empty], [{}]),
    (dict[Empty, int], [{}]),
    (Annotated[dict[Empty, int], Size(1)], []),
    (tuple[int, Empty], []),
    (tuple[Empty, int], []),
    (Hollow, []),
    (Hollow | bool, [False, True]),
    (Even, [Even(0), Even(2), Even(4)]),
    (Annotated[frozenset[Bit], Size(1, 1)], [frozenset({0}), frozenset({1})]),
    (Annotated[dict[Bit, bool], Size(1, 1)], [{0: False}, {0: True}, {1: False}, {1: True}]),
    (Annotated[set[Bit], Size(3)], []),
    (Once, [Once(()), Once((None,))]),
]


@pytest.mark.parametrize(("kind", "values"), ENDING)
def test_what_has_no_values_or_few_ends(kind: object, values: list[object]) -> None:
    """The enumeration of such a type ends, and does not search for further values."""
    assert list(every(kind)) == values


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            Secret,
            "inp: the annotation of Secret.value cannot be read: name 'Fraction' is not defined; define or import",
        ),
        (Callback, "inp.calls[…][…]: declare the types of the function's arguments: Callable[[int], bool]"),
        (tuple[int, Decimal], "inp[1]: the values of the type Decimal cannot be enumerated; list them: "),
        (dict[Decimal, int], "inp.keys(): the values of the type Decimal"),
        (set[object], "inp{…}: the values of the type object"),
        (list, "inp: the values of the type list"),
        (Strange, "inp: the values of the type Strange"),
        (Open, "inp.value: the values of the type ~T"),
        (Open[Open[list[Any]]], "inp.value.value[…]: the values of the type Any"),
        (int | Decimal, "inp: the values of the type Decimal"),
        ([], "inp: the values of the type [] cannot"),
        (Endless, "inp.inner: a value of Round would have to contain another one, and so on without end"),
        (Endless | None, "inp.inner: a value of Round"),
        (set[Loose], "inp{…}: Loose(on=False) cannot be in a set or be a key: "),
        (dict[Loose, int], "inp.keys(): Loose(on=False) cannot be in a set or be a key"),
    ],
)
def test_what_cannot_be_enumerated_is_named_with_its_path(kind: object, message: str) -> None:
    """The message names its path inside the argument, and what to do."""
    with pytest.raises(UsageError) as raised:
        every(kind, where="inp").first(3)
    assert str(raised.value).startswith(message)


def term(name: str) -> type[Any]:
    """Make a class that holds two terms."""
    made = make_dataclass(name, [("left", "Term"), ("right", "Term | None")], frozen=True)
    made.__module__ = __name__
    return made


TERMS = [term(f"Term{number}") for number in range(20)]
Term = Union[(bool, *TERMS)]  # type: ignore[valid-type]


def test_many_classes_may_hold_each_other() -> None:
    """Twenty kinds of terms, as in the syntax of a language, have too many paths for a search of each path."""
    first = every(Term).first(42)
    assert first[:4] == [False, True, TERMS[0](NO, NO), TERMS[0](NO, None)]
    assert not every(Term).finite
    assert every(Term).complete


@dataclass(frozen=True)
class Number:
    before: Number | None


def test_a_class_may_hold_itself_a_thousand_times() -> None:
    """Each value is made from the one before, and not from the beginning."""
    found = every(Number).at(3000)
    depth = 0
    while found.before is not None:
        found, depth = found.before, depth + 1
    assert depth == 3000


def test_a_class_may_be_defined_anywhere_and_name_itself() -> None:
    """A class inside a function is not known to its module, but to itself."""

    @dataclass(frozen=True)
    class Local:
        inner: Local | None

    assert every(Local).first(3) == [Local(None), Local(Local(None)), Local(Local(Local(None)))]


ONLY_CHECKED = """
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from shop import Money


@dataclass
class Offer:
    price: Money


class Sale(NamedTuple):
    price: Money


def sell(number: int) -> Money: ...
"""


def test_names_that_only_a_type_checker_knows() -> None:
    """Nothing but the annotation that is asked for is read; so it is where Python itself reads none before (3.14)."""
    found: dict[str, Any] = {"__name__": __name__}
    exec("from __future__ import annotations\n" * (sys.version_info < (3, 14)) + ONLY_CHECKED, found)  # noqa: S102 -- the text above
    assert (is_record(found["Offer"]), is_record(found["Sale"])) == (True, True)
    assert (list(parameters(found["sell"])), list(annotations_of(found["sell"]))) == (["number"], ["number", "return"])
    assert argument_types(found["sell"], ["number"], "here") == {"number": int}
    with pytest.raises(UsageError, match=r"here: the annotation of Offer.price cannot be read: name 'Money'"):
        field_types(found["Offer"], "here")
