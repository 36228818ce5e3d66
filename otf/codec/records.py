"""A codec made from dataclasses: the annotation of each field is the format of that field in bytes.

The formats are in `otf.codec.fields`. The formats of lengths and checksums are in `otf.codec.checksums`. The codec also
writes and reads `ClassVar` fields, but leaves them out of the decoded message. A `ClassVar` with a value is a constant:
the codec recognises the type of a message by its constants.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from types import UnionType
from typing import Annotated, Any, ClassVar, TypeAlias, Union, get_args, get_origin

from otf.codec import OnePort, PortAction
from otf.codec.checksums import Computed
from otf.codec.fields import Format, Number, refused
from otf.errors import CodecError, UsageError
from otf.values import show
from otf.values.arguments import checked
from otf.values.classes import hints_of

_Covered: TypeAlias = tuple[Computed, int, int, int]
"""A computed field, its index, and those of the fields it covers: the first, and the one after the last."""


@dataclass(frozen=True)
class RecordCodec(OnePort):
    r"""A codec for dataclasses that annotate each field with its format; `records` returns one.

    `types` are the dataclasses of the codec. `formats` maps each type of input to its format, `outputs` is the format
    of all outputs. `name` is the name of the codec's port.

    >>> from otf.codec.fields import u16be
    >>> @dataclass(frozen=True)
    ... class Level:
    ...     value: Annotated[int, u16be]
    >>> codec = records(Level, port="meter")
    >>> codec.port(Level(1)), codec.encode(Level(1)), codec.decode("meter", bytes(2))
    ('meter', b'\x00\x01', Level(value=0))
    """

    types: tuple[type, ...]
    formats: Mapping[type, Format | PortAction]
    outputs: Format | None
    name: str = ""

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes or the `PortAction` of a message. Raises CodecError if the message cannot be encoded."""
        own = self.formats.get(type(value))
        if own is None:
            raise CodecError(f"no message {show(value)}; there are {_names(self.types)}")
        if isinstance(own, PortAction):
            return own
        try:
            return own.write(value)
        except Exception as error:
            raise CodecError(f"{show(value)} cannot be written: {error}") from error

    def decode(self, port: str, data: bytes) -> object:
        """Return the message that `data` encodes. Raises CodecError if `data` is not exactly one message."""
        del port
        if self.outputs is None:
            raise CodecError("the codec has inputs only, and nothing to decode")
        value, stop = self.outputs.read(data, 0, len(data))
        if stop != len(data):
            raise CodecError(f"{show(value)} ends at byte {stop}, and {len(data) - stop} more follow")
        return value

    def seal(self, data: bytes) -> bytes:
        """Return the frame with a correct checksum at its end, or unchanged if no dataclass ends with a checksum.

        otf corrects the checksum of malformed inputs, since most systems drop a frame with a wrong checksum unread.
        """
        kinds = (each for each in self.formats.values() if isinstance(each, _Record))
        return next((right for each in kinds if (right := each.sealed(data))), data)


@checked
def records(
    *kinds: type[Any],
    inputs: Iterable[type[Any]] = (),
    actions: Mapping[type[Any], PortAction] | None = None,
    port: str = "",
) -> RecordCodec:
    """Return a codec for dataclasses that annotate each field with its format.

    The codec encodes and decodes the dataclasses in `kinds`. The codec only encodes the dataclasses in `inputs`: use
    `inputs` for requests whose bytes could also be an answer. `actions` maps inputs to a `PortAction`, such as closing
    a connection. Any two of the decoded dataclasses must differ in a constant, so that the codec can tell their bytes
    apart. Raises a UsageError that names the field if a format does not fit the type of its field.

    >>> from otf.codec.checksums import checksum, crc16_modbus
    >>> from otf.codec.fields import u8, u16be, u16le
    >>> @dataclass(frozen=True)
    ... class Read:
    ...     unit: Annotated[int, u8]
    ...     function: ClassVar[Annotated[int, u8]] = 3
    ...     address: Annotated[int, u16be]
    ...     count: Annotated[int, u16be]
    ...     crc: ClassVar[Annotated[int, checksum(crc16_modbus, u16le)]]
    >>> codec = records(Read)
    >>> codec.encode(Read(1, 0, 10)).hex(" ")
    '01 03 00 00 00 0a c5 cd'
    >>> codec.decode("", bytes.fromhex("01 03 00 00 00 0a c5 cd"))
    Read(unit=1, address=0, count=10)
    >>> codec.decode("", bytes.fromhex("01 03 00 00 00 0b c5 cd"))
    Traceback (most recent call last):
    otf.errors.CodecError: Read.crc: c5cd, computed from the other fields it is 040d
    """
    outputs = [_record(kind, ()) for kind in kinds]
    more = [_record(kind, ()) for kind in inputs]
    formats: dict[type, Format | PortAction] = {each.kind: each for each in (*outputs, *more)}
    formats |= actions or {}
    return RecordCodec(tuple(formats), formats, _alternatives(outputs) if outputs else None, port)


@dataclass(frozen=True)
class _Place:
    """A field in its message: how many bytes must follow it, and whether it is a field of the value."""

    name: str
    format: Format
    tail: int
    is_field: bool


class _Constant(Format):
    def __init__(self, raw: bytes) -> None:
        self.raw, self.size, self.fixed = raw, len(raw), dict(enumerate(raw))

    def read(self, data: bytes, at: int, end: int) -> tuple[bytes, int]:
        stop = at + len(self.raw)
        if data[at : min(stop, end)] != self.raw:
            raise CodecError(f"{data[at : min(stop, end)].hex() or 'nothing'} at byte {at}, not {self.raw.hex()}")
        return self.raw, stop

    def write(self, value: Any) -> bytes:
        del value
        return self.raw


class _Record(Format):
    """The format of a dataclass; `spans` has, for each computed field, the fields that it covers."""

    def __init__(self, kind: type[Any], places: tuple[_Place, ...], spans: Iterable[_Covered]) -> None:
        self.kind, self.places, self.spans = kind, places, tuple(spans)
        self.size = _total(place.format for place in places)
        self.is_open = any(place.format.is_open for place in places)
        self.fixed = dict(_fixed(places))
        self.bytes_at = {key: bytes([byte]) for key, byte in self.fixed.items()}
        self._reads = [(place.format.read, place.tail, place.is_field) for place in places]
        self._writes = [(place.format.write, place.name if place.is_field else "__class__") for place in places]

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        values, starts = list[Any](), [at]
        try:
            for read, tail, is_field in self._reads:
                value, at = read(data, at, end - tail)
                starts.append(at)
                if is_field:
                    values.append(value)
            if self.spans:
                self._verify(data, starts)
            return self.kind(*values), at
        except CodecError as error:
            if len(starts) > len(self.places):
                raise
            # the field at fault is the first whose end was not recorded
            raise CodecError(f"{self.kind.__name__}.{self.places[len(starts) - 1].name}: {error}") from error
        except Exception as error:
            raise CodecError(f"no {self.kind.__name__} has these values: {error}") from error

    def sealed(self, data: bytes) -> bytes:
        """Return the bytes with the right checksum at their end; b"" if the record has none, or begins differently."""
        last = len(self.places) - 1
        ours = all(data[key : key + 1] == byte for key, byte in islice(self.bytes_at.items(), 1))
        for computed, at, begin, end in self.spans:
            if ours and (at, begin, end) == (last, 0, last) and not computed.is_length:
                return data[: -computed.size] + computed.of(data[: -computed.size])
        return b""

    def _verify(self, data: bytes, starts: list[int]) -> None:
        for computed, at, first, last in self.spans:
            found, right = data[starts[at] : starts[at + 1]], computed.of(data[starts[first] : starts[last]])
            if found != right:
                name = f"{self.kind.__name__}.{self.places[at].name}"
                raise CodecError(f"{name}: {found.hex()}, computed from the other fields it is {right.hex()}")

    def write(self, value: Any) -> bytes:
        if type(value) is not self.kind:
            refused(value, f"a {self.kind.__name__}")
        pieces = [write(getattr(value, name)) for write, name in self._writes]
        for computed, at, first, last in self.spans:
            pieces[at] = computed.of(b"".join(pieces[first:last]))
        return b"".join(pieces)


class _Blank(Format):
    """A computed field while the others are read and written: its bytes, whatever they are."""

    def __init__(self, number: Number) -> None:
        self.number, self.size = number, number.width

    def read(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        return self.number.read(data, at, end)

    def write(self, value: Any) -> bytes:
        del value
        return bytes(self.size)


class _Alternatives(Format):
    """Records that differ in their constants; `key` is the index of a byte in which most of them differ."""

    def __init__(self, kinds: list[_Record], key: int) -> None:
        self.kinds = {each.kind: each for each in kinds}
        self.key = key
        self.by_key = {byte: [each for each in kinds if each.fixed[key] == byte] for byte in range(256)}
        sizes = {each.size for each in kinds}
        self.size = sizes.pop() if len(sizes) == 1 else None
        self.is_open = any(each.is_open for each in kinds)

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        place = at + self.key
        candidates = self.by_key[data[place]] if place < end else ()
        for each in candidates:
            # a single candidate compares its constants itself, and says which one differs
            if len(candidates) == 1 or all(data[at + key : at + key + 1] == each.bytes_at[key] for key in each.fixed):
                return each.read(data, at, end)
        raise CodecError(f"{data[at:end][:16].hex()} at byte {at} begins none of {_names(self.kinds)}")

    def write(self, value: Any) -> bytes:
        return self.kinds[type(value)].write(value)


def _alternatives(kinds: list[_Record]) -> Format:
    if len(kinds) == 1:
        return kinds[0]
    for one, other in combinations(kinds, 2):
        if not any(one.fixed[key] != other.fixed[key] for key in one.fixed.keys() & other.fixed.keys()):
            message = f"{one.kind.__name__} and {other.kind.__name__} cannot be told apart"
            raise UsageError(f"{message}: give each another constant (a ClassVar with a value) at the same place")
    common = set[int](kinds[0].fixed).intersection(*(each.fixed for each in kinds))
    if not common:
        raise UsageError(f"{_names(each.kind for each in kinds)} have no constant at one place that all have")
    key = max(sorted(common), key=lambda at: len({each.fixed[at] for each in kinds}))
    return _Alternatives(kinds, key)


def _record(kind: type[Any], outer: tuple[type, ...]) -> _Record:
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):  # pyright: ignore[reportUnnecessaryIsInstance] -- users
        raise UsageError(f"{show(kind)} is not a dataclass; its fields, with their formats, are what is on the wire")
    if kind in outer:
        raise UsageError(f"{kind.__name__} is a part of itself; otf.codec.records has no such messages")
    hints = hints_of(kind, kind.__name__, extras=True)
    formats = {name: _of_field(kind, name, hint, (*outer, kind)) for name, hint in hints.items()}
    own = [name for name, hint in hints.items() if get_origin(hint) is not ClassVar]
    if own != [field.name for field in dataclasses.fields(kind) if field.init and not field.kw_only]:
        raise UsageError(f"{kind.__name__}: each field is an argument of the class, in the order of the wire")
    return _Record(kind, tuple(_places(kind, formats, own)), _spans(kind, formats))


def _of_field(kind: type[Any], name: str, hint: Any, outer: tuple[type, ...]) -> Format:
    is_constant = get_origin(hint) is ClassVar
    try:
        form = _format(get_args(hint)[0] if is_constant else hint, outer)
    except UsageError as error:
        raise UsageError(f"{kind.__name__}.{name}: {error}") from error
    if isinstance(form, Computed) and not is_constant:
        raise UsageError(f"{kind.__name__}.{name} is computed, so it is not part of a value: make it a ClassVar")
    if isinstance(form, Computed) or not is_constant:
        return form
    try:
        return _Constant(form.write(getattr(kind, name)))
    except Exception as error:
        raise UsageError(f"{kind.__name__}.{name}: a constant needs a value that fits: {error}") from error


def _format(hint: Any, outer: tuple[type, ...]) -> Format:
    if get_origin(hint) is Annotated:
        own = [each for each in hint.__metadata__ if isinstance(each, Format)]
        if len(own) == 1:
            return own[0].bound(get_args(hint)[0], partial(_format, outer=outer))
    if get_origin(hint) in {Union, UnionType}:
        return _alternatives([_record(each, outer) for each in get_args(hint)])
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(hint, outer)
    raise UsageError(f"{hint} has no format; write Annotated[int, u8], or whichever of otf.codec.fields it has")


def _places(kind: type[Any], formats: Mapping[str, Format], own: list[str]) -> Iterator[_Place]:
    names = list(formats)
    for at, name in enumerate(names):
        form = formats[name]
        tail = _total(formats[each] for each in names[at + 1 :]) if form.is_open else 0
        if tail is None:
            raise UsageError(f"{kind.__name__}.{name} takes the rest; what follows it needs a fixed size")
        form = _Blank(form.number) if isinstance(form, Computed) else form
        yield _Place(name, form, tail, name in own)


def _spans(kind: type[Any], formats: Mapping[str, Format]) -> Iterator[_Covered]:
    """Yield the index of each computed field and the fields that it covers, in the order of computation."""
    names = list(formats)
    computed = {name: form for name, form in formats.items() if isinstance(form, Computed)}
    for name, form in sorted(computed.items(), key=lambda item: not item[1].is_length):
        at = names.index(name)
        if unknown := {form.first, form.last} - {"", *names}:
            raise UsageError(f"{kind.__name__}.{name} covers {', '.join(unknown)}; there are {', '.join(names)}")
        first = names.index(form.first) if form.first else (at + 1 if form.is_length else 0)
        until = at if first < at and not form.is_length else len(names)
        last = names.index(form.last) + 1 if form.last else until
        later = [each for each in names[first:last] if each in computed and names.index(each) >= at]
        if not form.is_length and any(not computed[each].is_length for each in later):
            raise UsageError(f"{kind.__name__}.{name} covers itself, or a checksum that comes after it")
        yield form, at, first, last


def _total(formats: Iterable[Format]) -> int | None:
    total = 0
    for form in formats:
        if form.size is None:
            return None
        total += form.size
    return total


def _fixed(places: tuple[_Place, ...]) -> Iterator[tuple[int, int]]:
    """Yield the bytes of a message that are always the same, as far as their positions are fixed."""
    at = 0
    for place in places:
        yield from ((at + key, byte) for key, byte in place.format.fixed.items())
        if place.format.size is None:
            return
        at += place.format.size


def _names(kinds: Iterable[type]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


__all__ = ["RecordCodec", "records"]
