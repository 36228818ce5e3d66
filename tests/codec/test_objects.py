"""Codecs from classes: layers of scapy, and structures that Kaitai Struct has compiled."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st

from otf.codec.library import LibraryCodec
from otf.codec.objects import from_kaitai, from_scapy
from otf.errors import CodecError, UsageError
from otf.testing import check_codec
from tests.codec.declared import FRAMES, POINTS, TEXTS, Point, bytes_law, law, written

COMPILED = Path(__file__).parent / "compiled"


@dataclass(frozen=True)
class Values:
    """A part that Kaitai tells apart by a tag, with its constant and its counts."""

    num_values: ClassVar[int] = 2
    values: tuple[int, ...]
    place: Point
    name: str

    @property
    def len_name(self) -> int:
        """Return the number of bytes, which Kaitai does not compute."""
        return len(self.name.encode())


@dataclass(frozen=True)
class Reasons:
    """Another, up to the end of the message."""

    reasons: tuple[int, ...]


@dataclass(frozen=True)
class Meter:
    """The message."""

    magic: ClassVar[bytes] = b"\x7e"
    body: Values | Reasons

    @property
    def kind(self) -> int:
        """Return the tag of the part."""
        return 1 if isinstance(self.body, Values) else 2


def compiled(name: str, struct: str = "Meter") -> Any:  # noqa: ANN401 -- generated code has no types
    """Return a class in the form of Kaitai's compiler, version 0.11, which has made those of meter.ksy."""
    module = ModuleType(name)
    exec((COMPILED / f"{name}.txt").read_text(encoding="utf-8"), module.__dict__)  # noqa: S102 -- as it would be imported
    return module.__dict__[struct]


def kaitais(name: str = "meter.writes", *, exact: bool = True) -> LibraryCodec:
    """Return the codec of classes compiled by Kaitai Struct."""
    meter = compiled(name)
    parts = {Values: meter.Reading, Reasons: meter.Refused, Point: meter.Point}
    return from_kaitai({Meter: meter}, parts=parts, exact=exact, port="line")


METERS: st.SearchStrategy[object] = st.builds(
    Meter,
    st.builds(Values, st.tuples(*[st.integers(0, 65_535)] * 2), POINTS, TEXTS)
    | st.builds(Reasons, st.lists(st.integers(0, 255), max_size=400).map(tuple)),
)
METER = Meter(Values((1, 2), Point(3, -4), "hé"))
METER_SAMPLES: list[object] = [METER, Meter(Reasons(())), Meter(Reasons((1, 2)))]


def test_structures() -> None:
    """What is encoded is decoded as the same value; bytes are undecodable or exactly those of their value."""
    law(kaitais, METERS, 30)
    bytes_law(kaitais, METER_SAMPLES, 1_000)
    check_codec(kaitais(), METER_SAMPLES, frames=[("line", written(kaitais(), each)) for each in METER_SAMPLES])


@pytest.mark.slow
def test_many_structures() -> None:
    """The same for 10,000 values."""
    law(kaitais, METERS, 10_000)


@pytest.mark.slow
def test_many_frames_of_structures() -> None:
    """The same for 10,000 random frames and 10,000 damaged ones."""
    bytes_law(kaitais, METER_SAMPLES, FRAMES)


@dataclass(frozen=True)
class Cell:
    """A part."""

    x: int


@dataclass(frozen=True)
class Row:
    """Parts in a list."""

    cells: tuple[Cell, ...]


def test_parts_in_a_list() -> None:
    """Each is connected with the whole, as Kaitai checks it."""
    row = compiled("row.writes", "Row")
    codec = from_kaitai({Row: row}, parts={Cell: row.Cell})
    assert codec.encode(Row((Cell(1), Cell(2)))) == b"\x01\x02"
    assert codec.decode("", b"\x03") == Row((Cell(3),))


class Layer:
    """Behaves as a layer of scapy, which not everyone has: fields, a payload, and a sum that is computed."""

    fields_desc: ClassVar[list[Any]] = []
    size = 1

    def __init__(self, data: bytes = b"", **fields: Any) -> None:  # noqa: ANN401 -- as there
        self.fields: dict[str, Any] = fields or {"kind": data[0] & 127, "sum": data[0] >> 7}
        self.payload: Any = self.inner(data[self.size :])

    def inner(self, data: bytes) -> object:
        return Inner(data) if data[:1] == b"I" else data

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- the same
        return self.fields[name]

    def add_payload(self, payload: object) -> None:
        self.payload = payload

    def __bytes__(self) -> bytes:
        return bytes([self.fields["kind"] | (self.fields["kind"] & 1) << 7]) + bytes(self.payload)


class Inner(Layer):
    """The next layer."""

    fields_desc: ClassVar[list[Any]] = []

    def __init__(self, data: bytes = b"", **fields: Any) -> None:  # noqa: ANN401 -- the same
        self.fields = fields or {"text": data[1:].decode()}

    def __bytes__(self) -> bytes:
        return b"I" + str(self.fields["text"]).encode()


@dataclass(frozen=True)
class Data:
    """The inner message."""

    text: str


@dataclass(frozen=True)
class Envelope:
    """The outer message."""

    kind: int
    payload: Data


@dataclass(frozen=True)
class Plain:
    """The outer message around bytes."""

    kind: int
    payload: bytes


def layers(*, exact: bool = True) -> LibraryCodec:
    """Return the codec of layers."""
    return from_scapy({Envelope: Layer, Plain: Layer}, parts={Data: Inner}, exact=exact)


def test_layers() -> None:
    """A payload is the next layer or bytes; what is computed has to be right."""
    samples = [Envelope(3, Data("hi")), Plain(4, b"x"), Plain(5, b"")]
    check_codec(layers(), samples)
    assert layers().encode(samples[0]) == b"\x83Ihi"
    bytes_law(layers, list[object](samples), 500)
    with pytest.raises(CodecError, match="written again it differs from byte 0 on: 8349"):
        layers().decode("", b"\x03Ihi")
    assert layers(exact=False).decode("", b"\x03Ihi") == samples[0]


def scapys(*, exact: bool) -> LibraryCodec:
    """Return the codec of layers of scapy, where it is installed."""
    inet = pytest.importorskip("scapy.layers.inet", reason="scapy is not installed")
    return from_scapy({Echo: inet.ICMP, Datagram: inet.UDP}, parts={Data: inet.ICMP}, exact=exact, port="line")


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
def test_layers_of_scapy(*, exact: bool) -> None:
    """The same of scapy itself: 10,000 values."""
    numbers = st.integers(0, 65_535)
    values = st.builds(Echo, st.sampled_from([0, 8]), numbers, numbers, st.binary(max_size=5))
    law(scapys, values, 10_000, (exact,))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_frames_of_scapy(seed: int) -> None:
    """A tenth of 10,000 random and 10,000 damaged frames, which take a millisecond each."""
    bytes_law(scapys, [Echo(8, 1, 2, b"abc"), Echo(0, 1, 2, b"")], FRAMES // 10, seed)


@dataclass(frozen=True)
class Echo:
    """A ping: its checksum is computed."""

    type: int
    id: int
    seq: int
    payload: bytes


@dataclass(frozen=True)
class Datagram:
    """The rest of what arrives."""

    sport: int
    dport: int
    len: int
    chksum: int
    payload: bytes


def test_a_class_that_only_reads() -> None:
    """It decodes; what it would send is refused, with what to do."""
    codec = kaitais("meter.reads")
    assert codec.decode("", written(kaitais(), METER)) == METER
    with pytest.raises(CodecError, match=r"its class only reads; compile it with .*--read-write"):
        codec.encode(METER)
    with pytest.raises(UsageError, match="Meter cannot be written: its class only reads"):
        from_kaitai({}, inputs={Meter: compiled("meter.reads")})
    with pytest.raises(CodecError, match="ends at byte 15, and 1 more follow"):
        codec.decode("", written(kaitais(), METER) + b"!")


def test_a_value_that_does_not_fit_is_not_sent() -> None:
    """A number over its bytes, a message over all memory, a part of another type."""
    for value in (Meter(Reasons((256,))), Meter(Reasons((1,) * 70_000)), Meter(Point(1, 2))):  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- a user's mistake
        with pytest.raises(CodecError, match="cannot be written"):
            kaitais().encode(value)
    with pytest.raises(CodecError, match=r"Plain.* is not of the type Data"):
        layers().encode(Envelope(1, Plain(1, b"")))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- the same


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "kaitaistruct", None)
    with pytest.raises(UsageError, match=r"kaitaistruct is not installed: pip install 'otf\[kaitai\]'"):
        from_kaitai({})
