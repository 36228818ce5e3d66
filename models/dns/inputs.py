"""The zone of the name server, the state of a client, and what is worth asking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from otf.models.dns.messages import TCP, UDP, Call, Head, Query, Raw, Record, Rest, Several
from otf.models.dns.wire import header, name_bytes

ZONE: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "a.example.": {"A": ("c0000201",)},
    "b.example.": {"A": ("c0000202", "c0000203"), "TXT": ("0568656c6c6f",)},
    "c.example.": {"CNAME": ("a.example.",)},
}
"""The data of each name and type, in hexadecimal, as a record has it."""

BIG: Final = "big.example."
TEXTS: Final = tuple(letter * 200 for letter in "xyz")
BIG_RECORDS: Final = tuple(Record(BIG, "TXT", f"c8{each.encode().hex()}") for each in TEXTS)
"""Records that fit into 1232 bytes, but not into 512."""

ALSO: Final = ("edns", "kind", "malformed", "response", "tcp", "truncated")
"""Groups of inputs that show a departure."""

Input: TypeAlias = Query | Several | Head | Rest | Raw | Call


@dataclass(frozen=True, slots=True)
class State:
    """Whether there is a connection, a query begun on it, and whether the server has EDNS (None: unknown)."""

    tcp: bool = False
    head: Query | None = None
    edns: bool | None = None


_QUESTIONS: Final = (
    ("a.example.", "A", 1),
    ("a.example.", "AAAA", 2),
    ("b.example.", "A", 65_535),
    ("b.example.", "TXT", 0),
    ("B.eXample.", "A", 258),
    ("c.example.", "A", 4),
    ("c.example.", "CNAME", 5),
    ("none.example.", "A", 6),
    ("nOne.example.", "TXT", 7),
    (BIG, "TXT", 8),
)
_OPCODES: Final = (1, 2, 6)


def _malformed(port: str) -> Iterator[Raw]:
    name, end = name_bytes("a.example."), b"\0\1\0\1"
    yield Raw(port, b"\x00\x0b\x01", "a part of a header")
    yield Raw(port, header(12, 0, 1, 0, 0, 0), "a question is missing")
    yield Raw(port, header(13, 0, 1, 0, 0, 0) + name, "the type is missing")
    yield Raw(port, header(14, 0, 1, 0, 0, 0) + b"\x3fa" + end, "the name is cut off")
    yield Raw(port, header(15, 0, 1, 0, 0, 0) + b"\xc0\x0c" + end, "the name points to itself")
    yield Raw(port, header(16, 0, 1, 0, 0, 0) + b"\x01a\xc0\x0c" + end, "the name comes back to itself")
    yield Raw(port, header(17, 0, 1, 0, 0, 0) + b"\x80a\0" + end, "a label has reserved bits")
    yield Raw(port, header(18, 0, 1, 0, 0, 0) + b"\xc0\xff" + end, "the name points behind the message")


def inputs(also: str, state: State) -> Iterator[Input]:
    """Yield what a client may send; `also` is one of `ALSO`."""
    yield from _queries(UDP)
    if not state.tcp:
        yield Call()
    elif state.head is not None:
        yield Rest(state.head)
    else:
        yield from _queries(TCP)
        if also == "tcp":
            queries = (Query(TCP, "a.example.", id=20), Query(TCP, "none.example.", id=21))
            yield from (Several(queries), Several(queries[::-1]), Head(queries[0]))
    ports = (UDP, TCP) if state.tcp and state.head is None else (UDP,)
    for port in ports:
        yield from _others(also, port)


def _queries(port: str) -> Iterator[Query]:
    for name, kind, number in _QUESTIONS:
        if (port, name) != (UDP, BIG):
            yield Query(port, name, kind, number, rd=number % 2 == 0)


def _others(also: str, port: str) -> Iterator[Input]:
    match also:
        case "edns":
            yield from (Query(port, name, kind, 30, edns=0) for name, kind, _ in _QUESTIONS)
            yield Query(port, BIG, "TXT", 31, edns=0, size=100)
            yield Query(port, "a.example.", id=32, edns=1)
            yield from (Query(port, "a.example.", id=33, edns=0, more=each) for each in ("twice", "option"))
        case "kind":
            yield from (Query(port, "a.example.", id=40 + opcode, opcode=opcode) for opcode in _OPCODES)
        case "truncated" if port == UDP:
            yield Query(UDP, BIG, "TXT", 9)
        case "malformed":
            yield from _malformed(port)
        case "response":
            yield Raw(port, header(50, 0x8000, 1, 0, 0, 0) + name_bytes("a.example.") + b"\0\1\0\1", "a response")
        case _:
            return
