"""Codecs from the classes of other libraries: scapy's layers, and structures compiled by Kaitai Struct.

scapy is under the GPL, so otf never depends on it: a user who has scapy passes its classes to `from_scapy`. The runtime
of Kaitai Struct is an extra of otf.
"""

from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from operator import attrgetter
from typing import Any, ClassVar, Final, Unpack, get_args, get_origin

from otf.codec.library import (
    READ_ONLY,
    CodecOptions,
    LibraryCodec,
    MessageForm,
    check_end,
    check_names,
    import_library,
    library_codec,
)
from otf.codec.shapes import Shaper, type_hints
from otf.errors import UsageError
from otf.values.arguments import checked

_ROOM: Final = 256  # enough bytes for most messages
_MOST: Final = _ROOM**2
_PARTS: Final = "_otf_parts"
_PLAIN: Final = frozenset({int, float, str, bytes, bool})


@checked
def from_scapy(
    kinds: Mapping[type, Any],
    *,
    parts: Mapping[type, Any] | None = None,
    inputs: Mapping[type, Any] | None = None,
    exact: bool = True,
    **options: Unpack[CodecOptions],
) -> LibraryCodec:
    r"""Return a codec of dataclasses, given the scapy layer (a class) of each dataclass; you install scapy yourself.

    The dataclass field `payload` is the next layer: `bytes`, or a dataclass whose layer is in `parts`. The library
    scapy computes fields that the dataclass lacks, such as lengths and checksums. `from_construct` explains the other
    arguments.

    >>> from dataclasses import dataclass
    >>> class Coin:  # stands in for a layer; scapy is under the GPL, and otf never requires it
    ...     fields_desc = ()
    ...     def __init__(self, data=b"", cents=0): self.cents = data[0] if data else cents
    ...     def __bytes__(self): return bytes([self.cents])
    >>> @dataclass(frozen=True)
    ... class Paid:
    ...     cents: int
    >>> from_scapy({Paid: Coin}).decode("", b"\x05")
    Paid(cents=5)
    """
    layers = {**kinds, **(inputs or {}), **(parts or {})}

    def payload(packet: Any) -> Any:
        found = packet.payload
        if type(found) in classes:
            return found
        # the bytes that no layer took; `bytes(found)` would write a layer, which takes 20 times as long
        return found.load if type(found).__name__ == "Raw" else bytes(found)

    def make(value: Any, fields: dict[str, Any]) -> Any:
        payload = fields.pop("payload", b"")
        packet = layers[type(value)](**fields)
        if payload:
            packet.add_payload(payload)  # `packet / payload` copies both, which takes as long as the rest
        return packet

    def form(kind: type, layer: Any) -> MessageForm:
        check_names(kind, [each.name for each in layer.fields_desc], "payload")
        shape = Shaper(lambda name: payload if name == "payload" else attrgetter(name), make, layers).record(kind)
        return MessageForm(
            kind, lambda data: shape.load(layer(data)), lambda value: bytes(shape.dump(value)), endless=True
        )

    classes = set(layers.values())
    return library_codec(form, kinds, inputs or {}, exact, options)


@checked
def from_kaitai(
    kinds: Mapping[type, Any],
    *,
    parts: Mapping[type, Any] | None = None,
    inputs: Mapping[type, Any] | None = None,
    exact: bool = True,
    **options: Unpack[CodecOptions],
) -> LibraryCodec:
    r"""Return a codec of dataclasses, given for each dataclass a class that Kaitai Struct compiled.

    `parts` maps the dataclasses that occur in fields to their compiled classes. The codec can only write messages whose
    class was compiled with `--read-write` (Kaitai Struct 0.11). Kaitai Struct computes neither lengths nor counts: make
    lengths and counts properties of the dataclass, and make constants `ClassVar`s. `exact` does not check messages that
    the codec cannot write. `from_construct` explains the other arguments. Raises UsageError if kaitaistruct is not
    installed, or for `inputs` whose class cannot write.

    >>> from dataclasses import dataclass
    >>> from kaitaistruct import KaitaiStruct
    >>> class CompiledPing(KaitaiStruct):  # as the compiler writes it, from `seq: [{id: number, type: u1}]`
    ...     def __init__(self, io, parent=None, root=None):
    ...         super().__init__(io)
    ...         self.number = self._io.read_u1()
    >>> @dataclass(frozen=True)
    ... class Ping:
    ...     number: int
    >>> from_kaitai({Ping: CompiledPing}).decode("", b"\x07")
    Ping(number=7)
    """
    kaitai = import_library("kaitaistruct", "kaitai")
    structs = {**kinds, **(inputs or {}), **(parts or {})}

    makers = {kind: _maker(kind, struct) for kind, struct in structs.items()}

    def make(value: Any, fields: dict[str, Any]) -> Any:
        return makers[type(value)](value, fields)

    def form(kind: type, struct: Any) -> MessageForm:
        writes = issubclass(struct, kaitai.ReadWriteKaitaiStruct)
        if kind in (inputs or {}) and not writes:
            raise UsageError(READ_ONLY.format(kind.__name__))
        shape = Shaper(attrgetter, make, structs).record(kind)

        def read(data: bytes) -> Any:
            found = struct(kaitai.KaitaiStream(BytesIO(data)))
            if writes:
                found._read()  # noqa: SLF001 -- the public way to read in classes that also write
            check_end(found._io.pos(), len(data))  # noqa: SLF001 -- the same
            return shape.load(found)

        def write(value: Any) -> bytes:
            return _written(kaitai, shape.dump(value))

        return MessageForm(kind, read, write if writes else None, endless=True)

    return library_codec(form, kinds, inputs or {}, exact, options)


def _maker(kind: type, struct: Any) -> Callable[[Any, dict[str, Any]], Any]:
    """Return the function that makes an object of a Kaitai class, with computed fields, and its parts in `_PARTS`."""
    computed = [name for base in kind.__mro__ for name, each in vars(base).items() if isinstance(each, property)]
    holders = [name for name, hint in type_hints(kind).items() if not _is_plain(hint)]
    fresh = dict[str, Any]()

    def make(value: Any, fields: dict[str, Any]) -> Any:
        if not fresh:
            fresh.update(struct().__dict__)
        for name in computed:
            fields[name] = getattr(value, name)
        found = struct.__new__(struct)
        # not with `setattr`, which notes each change of the object: it is checked in any case
        found.__dict__.update(fresh, **fields)
        found.__dict__[_PARTS] = [*_parts(fields, holders)] if holders else ()
        return found

    return make


def _is_plain(hint: Any) -> bool:
    return hint in _PLAIN or get_origin(hint) is ClassVar or (get_origin(hint) is tuple and get_args(hint)[0] in _PLAIN)


def _written(kaitai: Any, found: Any) -> bytes:
    for each in _connected(found, found):
        each._check()  # noqa: SLF001 -- the public way to write
    size, is_exact = _ROOM, False
    while True:
        stream = kaitai.KaitaiStream(BytesIO(bytearray(size)))
        try:
            found._write(stream)  # noqa: SLF001 -- the same
        except (kaitai.EndOfStreamError, kaitai.ConsistencyError):
            # a stream is made with its size; a list up to its end stops where the end should be
            if is_exact or size >= _MOST:
                raise
            is_exact = stream.pos() < size
            size = stream.pos() if is_exact else size * _ROOM
        else:
            return bytes(stream.to_byte_array()[: stream.pos()])


def _connected(found: Any, root: Any) -> list[Any]:
    """Connect an object with its parts, as Kaitai needs it; return all, the innermost first."""
    found.__dict__["_root"] = root
    inner: list[Any] = []
    for part in found.__dict__.pop(_PARTS):
        part.__dict__["_parent"] = found
        inner += _connected(part, root)
    return [*inner, found]


def _parts(fields: Mapping[str, Any], holders: list[str]) -> Iterator[Any]:
    for each in map(fields.__getitem__, holders):
        yield from (part for part in (each if hasattr(each, "append") else (each,)) if hasattr(part, _PARTS))


__all__ = ["from_kaitai", "from_scapy"]
