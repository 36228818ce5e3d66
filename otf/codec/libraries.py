"""Codecs from existing definitions: construct's declarations, protobuf's classes, and msgspec's JSON and MessagePack.

Each message is a dataclass with the field names of the definition. The libraries construct and protobuf are extras of
otf, which never imports them: the caller passes the declarations as objects.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from io import BytesIO
from operator import itemgetter
from typing import Any, Unpack

import msgspec

from otf.codec.library import CodecOptions, LibraryCodec, MessageForm, check_end, check_names, library_codec
from otf.codec.shapes import Shaper, constants
from otf.errors import CodecError, UsageError
from otf.values import show
from otf.values.arguments import checked

__all__ = ["from_construct", "from_json", "from_msgpack", "from_protobuf"]


@checked
def from_construct(
    kinds: Mapping[type, Any],
    *,
    inputs: Mapping[type, Any] | None = None,
    exact: bool = True,
    **options: Unpack[CodecOptions],
) -> LibraryCodec:
    r"""Return a codec of dataclasses, given a declaration in the library construct for each dataclass.

    The codec encodes and decodes the dataclasses in `kinds`; received bytes become a message of the first dataclass
    that fits. The codec only encodes the dataclasses in `inputs`. `actions` maps further inputs to a `PortAction`, such
    as closing a connection. If `exact` is true, the codec rejects bytes that construct would write differently, such as
    padding that is not zero. A field may be a dataclass, an enum, a number, a text, bytes or a tuple. Raises UsageError
    if the declaration lacks a field, or if a field has an unsupported type.

    >>> from dataclasses import dataclass
    >>> from construct import Const, Int16ub, Struct
    >>> @dataclass(frozen=True)
    ... class Level:
    ...     value: int
    >>> codec = from_construct({Level: Struct("tag" / Const(b"L"), "value" / Int16ub)})
    >>> codec.encode(Level(5)), codec.decode("", b"L\x01\x00")
    (b'L\x00\x05', Level(value=256))
    """

    def form(kind: type, declaration: Any) -> MessageForm:
        check_names(kind, [each.name for each in getattr(declaration, "subcons", ())])
        shape = Shaper(itemgetter).record(kind)

        def read(data: bytes) -> Any:
            stream = BytesIO(data)
            found = declaration.parse_stream(stream)
            check_end(stream.tell(), len(data))
            return shape.load(found)

        return MessageForm(kind, read, lambda value: declaration.build(shape.dump(value)), endless=True)

    return library_codec(form, kinds, inputs or {}, exact, options)


@checked
def from_protobuf(
    kinds: Mapping[type, Any],
    *,
    inputs: Mapping[type, Any] | None = None,
    exact: bool = False,
    **options: Unpack[CodecOptions],
) -> LibraryCodec:
    r"""Return a codec of dataclasses, given the class that protobuf generated for each dataclass.

    A field that may be absent, such as a field of a `oneof`, has the type `X | None`. Unless `exact` is true, the codec
    ignores unknown fields and accepts fields in any order. `from_construct` explains the other arguments.

    >>> from dataclasses import dataclass
    >>> from google.protobuf.duration_pb2 import Duration
    >>> @dataclass(frozen=True)
    ... class Wait:
    ...     seconds: int
    ...     nanos: int
    >>> codec = from_protobuf({Wait: Duration})
    >>> codec.encode(Wait(1, 5)), codec.decode("", b"\x08\x02")
    (b'\x08\x01\x10\x05', Wait(seconds=2, nanos=0))
    """

    def form(kind: type, message: Any) -> MessageForm:
        check_names(kind, list(message.DESCRIPTOR.fields_by_name))
        shape = Shaper(_present).record(kind)
        return MessageForm(
            kind,
            lambda data: shape.load(message.FromString(data)),
            lambda value: message(**shape.dump(value)).SerializeToString(deterministic=True),
        )

    return library_codec(form, kinds, inputs or {}, exact, options)


@checked
def from_json(
    *kinds: type, inputs: Iterable[type] = (), exact: bool = False, **options: Unpack[CodecOptions]
) -> LibraryCodec:
    """Return a codec that turns dataclasses into JSON objects and back, with the library msgspec.

    A `ClassVar` with a value is a constant member of the JSON object: the codec recognises messages by their constants.
    Unless `exact` is true, the codec ignores unknown members, white space and the order of members. `from_construct`
    explains the other arguments.

    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> @dataclass(frozen=True)
    ... class Level:
    ...     type: ClassVar[str] = "level"
    ...     value: int
    >>> codec = from_json(Level)
    >>> codec.encode(Level(5)), codec.decode("", b'{"value": 6, "type": "level", "at": 1.5}')
    (b'{"type":"level","value":5}', Level(value=6))
    """
    return library_codec(partial(_by_msgspec, msgspec.json, ()), _same(kinds), _same(inputs), exact, options)


@checked
def from_msgpack(
    *kinds: type, inputs: Iterable[type] = (), exact: bool = False, **options: Unpack[CodecOptions]
) -> LibraryCodec:
    r"""Return a codec that turns dataclasses into MessagePack maps and back, with the library msgspec.

    `from_json` explains the arguments.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Level:
    ...     value: int
    >>> from_msgpack(Level).encode(Level(5))
    b'\x81\xa5value\x05'
    """
    return library_codec(partial(_by_msgspec, msgspec.msgpack, (bytes,)), _same(kinds), _same(inputs), exact, options)


def _present(name: str) -> Callable[[Any], Any]:
    """Return a function that reads a field of a message; None stands for an optional field that is absent."""

    def read(message: Any) -> Any:
        absent = message.DESCRIPTOR.fields_by_name[name].has_presence and not message.HasField(name)
        return None if absent else getattr(message, name)

    return read


def _same(kinds: Iterable[type]) -> dict[type, Any]:
    return {kind: kind for kind in kinds}


def _by_msgspec(library: Any, plain: tuple[type, ...], kind: type, _: Any) -> MessageForm:
    fixed = constants(kind)
    try:
        decoder = library.Decoder(kind)
    except TypeError as error:
        raise UsageError(f"{kind.__name__}: {error}") from error
    if not fixed:
        return MessageForm(kind, decoder.decode, library.encode)

    def read(data: bytes) -> Any:
        found: Any = library.decode(data)
        for name, value in fixed.items():
            if found.get(name) != value:
                raise CodecError(f"{name} is {show(found.get(name))}, and not {show(value)}")
        return _converted(found, kind, plain)

    return MessageForm(
        kind, read, lambda value: library.encode({**fixed, **msgspec.to_builtins(value, builtin_types=plain)})
    )


def _converted(found: Any, kind: Any, plain: tuple[type, ...]) -> Any:
    return msgspec.convert(found, kind, builtin_types=plain)
