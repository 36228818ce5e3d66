"""Queries and answers of DNS, and their ports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from otf.codec import PortAction
from otf.errors import CodecError
from otf.framing import Framing, measured
from otf.models.dns.wire import Reader, header, name_bytes
from otf.models.texts import with_sizes
from otf.values import show

UDP: Final = "udp"
TCP: Final = "tcp"
TYPES: Final = {"A": 1, "CNAME": 5, "TXT": 16, "AAAA": 28, "OPT": 41}
_NAMES: Final = {number: name for name, number in TYPES.items()}
SIZES: Final = (512, 1232, 65_535)
"""The bench classifies answers by these sizes, since compression is the server's choice."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query. `edns` is the version in its OPT record, None without one; `size` is the announced payload size.

    `more` says what else it contains: a second OPT record, or a meaningless option.
    """

    port: str
    name: str
    type: str = "A"
    id: int = 1
    opcode: int = 0
    rd: bool = False
    edns: int | None = None
    size: int = 1232
    more: str = ""


@dataclass(frozen=True, slots=True)
class Several:
    """Queries in one segment of a connection."""

    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a query on a connection: the rest follows as another input."""

    query: Query


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of a query."""

    query: Query


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that are not a query: `says` is the reason."""

    port: str
    data: bytes
    says: str


@dataclass(frozen=True, slots=True)
class Call:
    """The client connects by TCP."""


@dataclass(frozen=True, slots=True)
class Record:
    """A resource record of the answer section."""

    name: str
    type: str
    data: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. `size` is the smallest of `SIZES` that it fits into, `records` are sorted."""

    port: str
    id: int
    question: str
    type: str
    rcode: int = 0
    records: tuple[Record, ...] = ()
    aa: bool = True
    tc: bool = False
    rd: bool = False
    opcode: int = 0
    edns: int | None = None
    size: int = 512


@dataclass(frozen=True, slots=True)
class DnsCodec:
    """The codec; the ports are a socket of UDP and a connection of TCP to the same server."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Query, Several, Head, Rest, Raw, Call, Record, Answer)

    def port(self, value: object) -> str:
        """Return the port of a value."""
        return str(getattr(value, "port", TCP))

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input. Raises CodecError."""
        match value:
            case Call():
                return PortAction.CONNECT
            case Query():
                return _framed(value.port, query_bytes(value))
            case Raw(port, data):
                return _framed(port, data)
            case Several(queries):
                return b"".join(_framed(TCP, query_bytes(each)) for each in queries)
            case Head(query):
                return _framed(TCP, query_bytes(query))[:1]
            case Rest(query):
                return _framed(TCP, query_bytes(query))[1:]
            case _:
                message = f"{show(value)} is not an input of a name server"
                raise CodecError(message)

    def decode(self, port: str, data: bytes) -> Answer:
        """Return the answer in a frame. Raises CodecError."""
        return answer(port, data[2:] if port == TCP else data)

    def decode_input(self, port: str, data: bytes) -> Query:
        """Return the query in a frame. Raises CodecError, also for one that the model cannot send."""
        found = query(port, data[2:] if port == TCP else data)
        if self.encode(found) != data:
            raise CodecError("the model has no such query")
        return found

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the messages in some bytes: a datagram is one. Raises CodecError if a server would wait for more."""
        return with_sizes(data, _size) if port == TCP else [data]


def messages() -> Framing:
    """Return the framing of a connection: two bytes give the length of a message."""
    return measured(_size)


def _size(begun: bytes) -> int | None:
    return 2 + int.from_bytes(begun[:2], "big") if len(begun) > 1 else None


def _framed(port: str, data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data if port == TCP else data


def query_bytes(query: Query) -> bytes:
    """Return the message of a query."""
    options = b"\xff\x00\x00\x02ab" if query.more == "option" else b""
    counts = 0 if query.edns is None else 2 if query.more == "twice" else 1
    flags = query.opcode << 11 | (0x0100 if query.rd else 0)
    question = name_bytes(query.name) + TYPES[query.type].to_bytes(2, "big") + b"\0\1"
    opt = b"\0\0\x29" + query.size.to_bytes(2, "big") + bytes([0, query.edns or 0, 0, 0])
    return (
        header(query.id, flags, 1, 0, 0, counts) + question + (opt + len(options).to_bytes(2, "big") + options) * counts
    )


def query(port: str, data: bytes) -> Query:
    """Return the query in a message. Raises CodecError."""
    reader = Reader(data)
    number, flags, *counts = (reader.number(2) for _ in range(6))
    name, kind = reader.name(), _kind(reader.number(2))
    if counts[:3] != [1, 0, 0] or reader.number(2) != 1 or kind not in TYPES:
        raise CodecError("a query of the model has one question, of a type and a class that it knows")
    found = Query(port, name, kind, number, flags >> 11 & 15, rd=bool(flags & 0x0100))
    if not counts[3]:
        return found
    opt = reader.take(11)
    more = "twice" if counts[3] > 1 else "option" if opt[9:] != b"\0\0" else ""
    return replace(found, edns=opt[6], size=int.from_bytes(opt[3:5], "big"), more=more)


def answer(port: str, data: bytes) -> Answer:
    """Return the answer in a message. Raises CodecError."""
    reader = Reader(data)
    number, flags, *counts = (reader.number(2) for _ in range(6))
    if not flags & 0x8000:
        raise CodecError("this is not a response: its bit QR is 0")
    name, kind = "", ""
    for _ in range(counts[0]):
        name, kind = reader.name(), _kind(reader.number(2))
        reader.number(2)
    records = [_record(reader) for _ in range(counts[1])]
    others = [_record(reader) for _ in range(counts[2] + counts[3])]
    opts = [each for each in others if each[0].type == "OPT"]
    extended = opts[0][1] >> 24 if opts else 0
    return Answer(
        port,
        number,
        name,
        kind,
        rcode=flags & 15 | extended << 4,
        records=tuple(sorted((each for each, _ in records), key=str)),
        aa=bool(flags & 0x0400),
        tc=bool(flags & 0x0200),
        rd=bool(flags & 0x0100),
        opcode=flags >> 11 & 15,
        edns=opts[0][1] >> 16 & 255 if opts else None,
        size=next(each for each in SIZES if len(data) <= each),
    )


def _kind(number: int) -> str:
    return _NAMES.get(number, f"TYPE{number}")


def _record(reader: Reader) -> tuple[Record, int]:
    """Return a record and its time to live, which means something else in an OPT record."""
    name, kind = reader.name().lower(), _kind(reader.number(2))
    reader.number(2)
    ttl, size = reader.number(4), reader.number(2)
    end = reader.at + size
    data = reader.name().lower() if kind == "CNAME" else reader.take(size).hex()
    if reader.at != end:
        message = f"the data of {name} {kind} has {size} bytes, and its name ends elsewhere"
        raise CodecError(message)
    return Record(name, kind, data), ttl
