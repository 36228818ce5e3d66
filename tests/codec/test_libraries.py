"""Codecs from declarations of other libraries: one law for all, whatever the library lets pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest

from otf.codec.libraries import from_construct, from_json, from_msgpack
from otf.codec.library import LibraryCodec
from otf.codec.shapes import Shaper
from otf.errors import CodecError, UsageError
from otf.testing import check_codec
from otf.trace.tagged import Registry
from otf.trace.tagged import encode as tagged
from tests.codec.declared import (
    FRAMES,
    SAMPLES,
    VALUES,
    Make,
    Refused,
    bytes_law,
    construct,
    constructs,
    jsons,
    law,
    msgpacks,
    protobufs,
    written,
)
from tests.codec.test_library import Answer, Level

ALL = pytest.mark.parametrize("make", [constructs, protobufs, jsons, msgpacks], ids=lambda make: make.__name__)


@ALL
def test_values_survive_the_wire(make: Make) -> None:
    """What is encoded is decoded as the same value, on the wire and in a trace."""
    law(make, VALUES, 30)
    types = Registry(make(exact=True).types)
    assert [types.decode(tagged(value)) for value in SAMPLES] == SAMPLES


@pytest.mark.slow
@ALL
def test_many_values_survive_the_wire(make: Make) -> None:
    """The same for 10,000 values."""
    law(make, VALUES, 10_000)


@ALL
def test_bytes_are_undecodable_or_survive(make: Make) -> None:
    """Of random and damaged frames none raises anything but CodecError."""
    bytes_law(make, SAMPLES, 1_000)
    check_codec(make(exact=True), SAMPLES, frames=[("line", written(make(exact=True), each)) for each in SAMPLES])


@pytest.mark.slow
@ALL
def test_many_bytes_are_undecodable_or_survive(make: Make) -> None:
    """The same for 10,000 random frames and 10,000 damaged ones."""
    bytes_law(make, SAMPLES, FRAMES)


@dataclass(frozen=True)
class Share:
    """A message with a number that not all formats can hold."""

    value: float


@pytest.mark.parametrize(
    ("codec", "value", "says"),
    [
        (
            from_construct({Share: construct.Struct("value" / construct.Float32b)}),
            Share(0.1),
            "read as Share.value=0.100",
        ),
        (from_construct({Level: construct.Struct("value" / construct.Int8ub)}), Level(256), "cannot be written"),
        (from_json(Share), Share(float("inf")), "cannot be written"),
        (from_json(Share), Share("1"), "cannot be written"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- a user's mistake
        (jsons(exact=False), Refused(4, 0.5, None), "cannot be written"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- the same
        (constructs(exact=True), Refused(4, 0.5, None), "4 is none of 0, 3, 5"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- the same
        (constructs(exact=True), Refused("3", 0.5, None), "is none of"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- the same
        (protobufs(exact=True), Refused(3, 0.5, "here"), "cannot be written"),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- the same
    ],
    ids=map(str, range(8)),
)
def test_a_value_that_would_look_like_another_is_not_sent(codec: LibraryCodec, value: object, says: str) -> None:
    """It raises CodecError, which says as what it would be read."""
    with pytest.raises(CodecError, match=says):
        codec.encode(value)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"tag":2,"code":4}', "no Reading: tag is 2, and not 1; no Refused: Invalid enum value 4"),
        (b"[1]", "no Reading"),
        (b"\xff", "no Reading"),
        (b'{"tag": 2, "code": 0, "share": 1.0, "at": null}', "written again it differs from byte 7 on"),
        (b'{"tag":2,"code":0,"share":1.0,"at":null} ', "written again it differs from byte 40 on"),
        (b"[" * 100_000, "no Reading"),
    ],
    ids=map(str, range(6)),
)
def test_an_error_names_the_type_and_the_field(data: bytes, says: str) -> None:
    """What each type has against these bytes."""
    with pytest.raises(CodecError, match=says):
        jsons(exact=True).decode("", data)


def test_other_forms_of_a_message() -> None:
    """Servers write white space, other members, and another order: no mistake of theirs, unless `exact` says so."""
    assert from_json(Level).decode("", b'{ "at": 1, "value": 5 }\n') == Level(5)
    assert from_msgpack(Level).decode("", b"\x81\xa5value\xcd\0\5") == Level(5)
    with pytest.raises(CodecError, match="exact=False accepts it"):
        from_msgpack(Level, exact=True).decode("", b"\x81\xa5value\xcd\0\5")


@dataclass(frozen=True)
class Text:
    """A message with a text."""

    value: str


@dataclass(frozen=True)
class Octets:
    """A message with bytes."""

    value: bytes


@dataclass(frozen=True)
class Truth:
    """A message with a truth value."""

    value: bool


@dataclass(frozen=True)
class Constant:
    """A message with a constant."""

    value: ClassVar[int] = 4


@dataclass(frozen=True)
class Either:
    """A message with one of two parts, which JSON does not tell apart."""

    value: Level | Answer


@dataclass(frozen=True)
class Tables:
    """Kinds of fields that other messages have not."""

    table: dict[str, int]
    parts: tuple[Level, ...]
    number: int
    share: float


def test_tables_and_lists_of_parts() -> None:
    """A table, and parts in a list."""
    codec = from_construct({Tables: Fixed()}, exact=False)
    value = Tables({"a": 1}, (Level(2), Level(3)), 4, 5.0)
    assert (codec.decode("", b""), codec.encode(value)) == (value, b"")


class Fixed:
    """A declaration of one message without bytes."""

    def parse_stream(self, stream: object) -> dict[str, object]:
        del stream
        return {"table": {"a": 1}, "parts": [{"value": 2}, {"value": 3}], "number": 4, "share": 5}

    def build(self, value: dict[str, object]) -> bytes:
        assert value == self.parse_stream(None)
        return b""


@pytest.mark.parametrize(
    ("number", "data", "says"),
    [
        (construct.Float32b, bytes(4), "0.0 is not an integer"),
        (construct.CString("ascii"), b"5\0", "'5' is not an integer"),
        (construct.FlagsEnum(construct.Int8ub, low=1), b"\1", "TypeError"),
    ],
    ids=map(str, range(3)),
)
def test_an_integer_is_one(number: Any, data: bytes, says: str) -> None:  # noqa: ANN401 -- a declaration
    """No text that looks like one, nor a number with a fraction."""
    with pytest.raises(CodecError, match=says):
        from_construct({Level: construct.Struct("value" / number)}, exact=False).decode("", data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [(Share, b"x\0"), (Text, b"\5"), (Octets, b"\5"), (Truth, b"\2"), (Constant, b"\5")],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_field_has_its_type(kind: type, data: bytes) -> None:
    """Of another type it is undecodable."""
    number = construct.CString("ascii") if kind is Share else construct.Int8ub
    with pytest.raises(CodecError, match=f"no {kind.__name__}: {kind.__name__}.value: "):
        from_construct({kind: construct.Struct("value" / number)}).decode("", data)


@dataclass(frozen=True)
class Recursive:
    """A part of itself."""

    inner: tuple[Recursive, ...]


@dataclass(frozen=True)
class Unknown:
    """A name that there is not."""

    value: nothing  # type: ignore[name-defined] # pyright: ignore[reportUndefinedVariable] # noqa: F821 -- tested


@dataclass(frozen=True, kw_only=True)
class Keyed:
    """An argument without a place."""

    value: int


@dataclass(frozen=True)
class Odd:
    """A type that messages have not."""

    value: complex


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: from_construct({Level: construct.Struct("other" / construct.Int8ub)}),
            "Level.value is not declared; .* has other",
        ),
        (lambda: from_construct({Recursive: construct.Pass}), "Recursive.inner: Recursive is a part of itself"),
        (
            lambda: from_construct({Unknown: construct.Pass}),
            "Unknown.value cannot be read: name 'nothing' is not defined; define",
        ),
        (lambda: from_construct({Keyed: construct.Pass}), "Keyed: each field is an argument of the class"),
        (lambda: from_construct({Odd: construct.Pass}), "Odd.value: .*complex.* is not a dataclass, enum, bool"),
        (lambda: from_construct({int: construct.Pass}), "int.* is not a dataclass"),
        (lambda: from_json(Either), "Either: Type unions may not contain more than one"),
    ],
    ids=map(str, range(7)),
)
def test_a_wrong_declaration_is_refused(make: Callable[[], LibraryCodec], says: str) -> None:
    """When the codec is made, with the name of the field."""
    with pytest.raises(UsageError, match=says):
        make()


def test_a_union_that_nothing_fits() -> None:
    """The reasons of all its types."""
    codec = from_construct({Either: construct.Struct("value" / construct.Int8ub)}, exact=False)
    with pytest.raises(CodecError, match=r"Level.value: .*; Answer.value: "):
        codec.decode("", b"\5")


@dataclass(frozen=True)
class Optionals:
    """Fields that may be absent, of types without a class of their own."""

    values: tuple[int, ...] | None
    word: Literal["a", "b"] | None
    mixed: tuple[int, ...] | str


class Absent(Fixed):
    """A declaration of such a message."""

    def parse_stream(self, stream: object) -> dict[str, object]:
        del stream
        return {"values": [1], "word": None, "mixed": "x"}


def test_what_may_be_absent() -> None:
    """A list, a literal, and one of two types; a value of a third is refused."""
    codec = from_construct({Optionals: Absent()}, exact=False)
    value = Optionals((1,), None, "x")
    assert (codec.decode("", b""), codec.encode(value)) == (value, b"")
    with pytest.raises(CodecError, match="5 is none of tuple, str"):
        codec.encode(Optionals(None, "a", 5))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- a user's mistake


def test_a_field_that_cannot_be_read_is_named() -> None:
    """Whatever the library raises."""
    shape = Shaper(lambda _: lambda found: found.read()).record(Level)
    with pytest.raises(ValueError, match=r"Level\.value: AttributeError: 'dict' object has no attribute 'read'"):
        shape.load({"value": 1})
