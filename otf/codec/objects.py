"""Codecs from classes: layers of scapy, and structures that Kaitai Struct has compiled.

scapy is under the GPL: it is never a dependency of otf, nor an extra; users who have it give its classes. Kaitai's
runtime is an extra.
"""

from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, Final, Unpack

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
from otf.codec.shapes import Shaper
from otf.errors import UsageError

_ROOM: Final = 256  # bytes that most messages fit in
_MOST: Final = _ROOM**2
_PARTS: Final = "_otf_parts"


def from_scapy(
    kinds: Mapping[type, Any],
    *,
    parts: Mapping[type, Any] | None = None,
    inputs: Mapping[type, Any] | None = None,
    exact: bool = True,
    **options: Unpack[CodecOptions],
) -> LibraryCodec:
    r"""Return the codec of these dataclasses, each with its layer (a class) of scapy, which you install yourself.

    The field `payload` is the next layer: `bytes`, or a dataclass whose layer is in `parts`. Fields that the dataclass
    has not, such as lengths and checksums, are computed. The rest is as for `from_construct`.

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

    def get(packet: Any, name: str) -> Any:
        found = getattr(packet, name)
        if name != "payload" or type(found) in classes:
            return found
        # the bytes that no layer took; `bytes(found)` writes a layer, which takes 20 times as long
        return found.load if type(found).__name__ == "Raw" else bytes(found)

    def make(value: Any, fields: dict[str, Any]) -> Any:
        payload = fields.pop("payload", b"")
        packet = layers[type(value)](**fields)
        return packet / payload if payload else packet

    def form(kind: type, layer: Any) -> MessageForm:
        check_names(kind, [each.name for each in layer.fields_desc], "payload")
        shape = Shaper(get, make, layers).record(kind)
        return MessageForm(kind, lambda data: shape.load(layer(data)), lambda value: bytes(shape.dump(value)))

    classes = set(layers.values())
    return library_codec(form, kinds, inputs or {}, exact, options)


def from_kaitai(
    kinds: Mapping[type, Any],
    *,
    parts: Mapping[type, Any] | None = None,
    inputs: Mapping[type, Any] | None = None,
    exact: bool = True,
    **options: Unpack[CodecOptions],
) -> LibraryCodec:
    """Return the codec of these dataclasses, each with its class compiled by Kaitai Struct.

    `parts` has the classes of dataclasses in fields. A class compiled with `--read-write` (0.11) is also written; its
    lengths and counts, which Kaitai does not compute, are properties of the dataclass, and its constants `ClassVar`s.
    The rest is as for `from_construct`, but what is not written is not checked for `exact`.
    """
    kaitai = import_library("kaitaistruct", "kaitai")
    structs = {**kinds, **(inputs or {}), **(parts or {})}

    computed = {kind: _properties(kind) for kind in structs}

    def make(value: Any, fields: dict[str, Any]) -> Any:
        fields |= {name: getattr(value, name) for name in computed[value.__class__]}
        found = structs[value.__class__]()
        # not by `setattr`, which notes each time that the object has changed: it is checked in any case
        found.__dict__.update(fields, **{_PARTS: [*_parts(fields)]})
        return found

    def form(kind: type, struct: Any) -> MessageForm:
        writes = issubclass(struct, kaitai.ReadWriteKaitaiStruct)
        if kind in (inputs or {}) and not writes:
            raise UsageError(READ_ONLY.format(kind.__name__))
        shape = Shaper(getattr, make, structs).record(kind)

        def read(data: bytes) -> Any:
            found = struct(kaitai.KaitaiStream(BytesIO(data)))
            if writes:
                found._read()  # noqa: SLF001 -- the public way to read in classes that also write
            check_end(found._io.pos(), len(data))  # noqa: SLF001 -- the same
            return shape.load(found)

        return MessageForm(kind, read, (lambda value: _written(kaitai, shape.dump(value))) if writes else None)

    return library_codec(form, kinds, inputs or {}, exact, options)


def _properties(kind: type) -> tuple[str, ...]:
    return tuple(name for base in kind.__mro__ for name, each in vars(base).items() if isinstance(each, property))


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


def _parts(fields: Mapping[str, Any]) -> Iterator[Any]:
    for each in fields.values():
        if hasattr(each, _PARTS):
            yield each
        elif hasattr(each, "append"):
            yield from (part for part in each if hasattr(part, _PARTS))


__all__ = ["from_kaitai", "from_scapy"]
