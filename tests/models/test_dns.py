"""DNS: what a name server may answer, by UDP and on a connection, and the bytes of queries and answers."""

from dataclasses import replace

import pytest

from otf.adapter import Ended
from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.dns import bench, dns
from otf.models.dns.inputs import BIG, BIG_RECORDS, State
from otf.models.dns.messages import (
    TCP,
    UDP,
    Answer,
    Call,
    DnsCodec,
    Head,
    Query,
    Raw,
    Record,
    Rest,
    Several,
    answer,
    messages,
    query_bytes,
)
from tests.models.scripts import judged

CODEC = DnsCodec()
A = Record("a.example.", "A", "c0000201")
ASK = Query(UDP, "a.example.")
TOLD = Answer(UDP, 1, "a.example.", "A", records=(A,))
ON_TCP = Query(TCP, "a.example.", id=20)
TOLD_TCP = replace(TOLD, port=TCP, id=20)
NONE_TCP = Answer(TCP, 21, "none.example.", "A", rcode=3)
ENDED = Ended("end of stream")
ALIAS = Record("c.example.", "CNAME", "a.example.")
EDNS = Query(UDP, "a.example.", id=30, edns=0)
RESPONSE = Raw(UDP, bytes.fromhex("0032800000010000000000000161076578616d706c650000010001"), "a response")


@pytest.mark.parametrize(
    ("also", "script", "outcome"),
    [
        ("", [(ASK, TOLD)], "pass"),
        ("", [(ASK, replace(TOLD, id=2))], "fail"),
        ("", [(ASK, replace(TOLD, aa=False))], "fail"),
        ("", [(ASK, replace(TOLD, edns=0))], "fail"),
        ("", [(ASK,)], "fail"),
        ("", [(Query(UDP, "a.example.", "AAAA", 2, rd=True), Answer(UDP, 2, "a.example.", "AAAA", rd=True))], "pass"),
        (
            "",
            [(Query(UDP, "a.example.", "AAAA", 2, rd=True), Answer(UDP, 2, "a.example.", "AAAA", 3, rd=True))],
            "fail",
        ),
        (
            "",
            [
                (
                    Query(UDP, "c.example.", "A", 4, rd=True),
                    Answer(UDP, 4, "c.example.", "A", records=(A, ALIAS), rd=True),
                )
            ],
            "pass",
        ),
        (
            "",
            [(Query(UDP, "nOne.example.", "TXT", 7), Answer(UDP, 7, "none.example.", "TXT", 3))],
            "fail",
        ),
        ("", [(Call(),), (Query(TCP, "a.example."), replace(TOLD, port=TCP), ENDED)], "pass"),
        ("", [(Call(),), (Query(TCP, "a.example."), ENDED)], "fail"),
        ("tcp", [(Call(),), (Head(ON_TCP),), (Rest(ON_TCP), TOLD_TCP)], "pass"),
        ("tcp", [(Call(),), (Head(ON_TCP), ENDED)], "fail"),
        ("tcp", [(Call(),), (Several((ON_TCP, Query(TCP, "none.example.", id=21))), NONE_TCP, TOLD_TCP)], "pass"),
        ("tcp", [(Call(),), (Several((ON_TCP, Query(TCP, "none.example.", id=21))), TOLD_TCP, ENDED)], "pass"),
        ("tcp", [(Call(),), (Several((ON_TCP, Query(TCP, "none.example.", id=21))), TOLD_TCP)], "fail"),
        ("edns", [(EDNS, replace(TOLD, id=30, edns=0))], "pass"),
        ("edns", [(EDNS, replace(TOLD, id=30))], "fail"),
        ("edns", [(EDNS, Answer(UDP, 30, "a.example.", "A", 1))], "pass"),
        ("edns", [(EDNS, Answer(UDP, 30, "a.example.", "A", 1)), (EDNS, replace(TOLD, id=30, edns=0))], "fail"),
        ("edns", [(replace(EDNS, id=32, edns=1), Answer(UDP, 32, "", "", 16, edns=0))], "pass"),
        ("edns", [(replace(EDNS, id=32, edns=1), replace(TOLD, id=32, edns=0))], "fail"),
        ("edns", [(replace(EDNS, id=33, more="twice"), Answer(UDP, 33, "", "", 1, edns=0))], "pass"),
        ("edns", [(replace(EDNS, id=33, more="option"), replace(TOLD, id=33, edns=0))], "pass"),
        ("kind", [(replace(ASK, id=42, opcode=2), Answer(UDP, 42, "", "", 4, opcode=2))], "pass"),
        ("kind", [(replace(ASK, id=41, opcode=1), replace(TOLD, id=41, opcode=1))], "fail"),
        ("response", [(RESPONSE,), (ASK, TOLD)], "pass"),
        ("response", [(RESPONSE, replace(TOLD, id=50))], "fail"),
        ("truncated", [(Query(UDP, BIG, "TXT", 9), Answer(UDP, 9, BIG, "TXT", tc=True))], "pass"),
        ("truncated", [(Query(UDP, BIG, "TXT", 9), Answer(UDP, 9, "", "", tc=True))], "fail"),
        ("truncated", [(Query(UDP, BIG, "TXT", 9), Answer(UDP, 9, BIG, "TXT", 0, BIG_RECORDS, size=1232))], "fail"),
        ("malformed", [(Raw(UDP, b"\x00\x0b\x01", "a part of a header"),), (ASK, TOLD)], "pass"),
        ("malformed", [(Raw(UDP, b"\x00\x0b\x01", "a part of a header"), Answer(UDP, 11, "", "", 1))], "pass"),
        ("malformed", [(Raw(UDP, b"\x00\x0b\x01", "a part of a header"), Answer(UDP, 11, "", "", 2))], "fail"),
    ],
)
def test_what_a_name_server_may_answer(also: str, script: list[tuple[object, ...]], outcome: str) -> None:
    """The records that were asked for, on the same port with the same id and question, and nothing to a response."""
    assert judged(bench(also=also), *script) == outcome


def test_malformed_queries_may_end_a_connection() -> None:
    """A connection may be closed, with a format error before, or stay."""
    bad = next(each for each in dns("malformed").inputs(State(tcp=True)) if isinstance(each, Raw) and each.port == TCP)
    refusal = Answer(TCP, int.from_bytes(bad.data[:2], "big"), "", "", 1)
    for outputs in ((), (ENDED,), (refusal,), (refusal, ENDED)):
        assert judged(bench(also="malformed"), (Call(),), (bad, *outputs)) == "pass"


def test_the_bytes_of_a_query() -> None:
    """A query has a header, a question and perhaps an OPT record; on a connection its length comes before it."""
    plain = bytes.fromhex("000100000001000000000000 0161076578616d706c650000010001")
    assert query_bytes(ASK) == plain
    assert CODEC.encode(replace(ASK, port=TCP)) == b"\0\x1b" + plain
    assert CODEC.encode(Head(ON_TCP)) + CODEC.encode(Rest(ON_TCP)) == CODEC.encode(ON_TCP)  # type: ignore[operator]
    assert CODEC.encode(Several((ON_TCP, ON_TCP))) == CODEC.encode(ON_TCP) * 2  # type: ignore[operator]
    assert query_bytes(replace(EDNS, more="twice"))[10:12] == b"\0\2"
    assert query_bytes(replace(EDNS, more="option"))[-6:] == b"\xff\x00\x00\x02ab"
    assert CODEC.encode(RESPONSE) == RESPONSE.data
    assert CODEC.encode(Call()) is PortAction.CONNECT
    with pytest.raises(CodecError, match="not an input of a name server"):
        CODEC.encode(ENDED)


def test_the_bytes_of_an_answer() -> None:
    """Names may be compressed, an OPT record carries the upper bits of the code, and broken messages are refused."""
    head, name = "0004 8580 0001 0002 0000 0001", "0163076578616d706c6500"
    records = "c00c 0005 0001 0000003c 0004 0161c00e" + "0161c00e 0001 0001 0000003c 0004 c0000201"
    data = bytes.fromhex(head + name + "00010001" + records + "00 0029 04d0 01000000 0000")
    assert answer(UDP, data) == Answer(UDP, 4, "c.example.", "A", 16, (A, ALIAS), rd=True, edns=0)
    assert CODEC.decode(TCP, len(data).to_bytes(2, "big") + data).port == TCP
    assert [frame.data for frame in messages()().feed(b"\0\2ab\0\1c\0")] == [b"\0\2ab", b"\0\1c"]
    loop = bytes.fromhex("0004 8580 0001 0000 0000 0000 c00c 00010001")
    long_alias = data.replace(bytes.fromhex("00040161c00e"), bytes.fromhex("00050161c00e"))
    for wrong in (data[:-3], loop, b"\0" * 12, long_alias):
        with pytest.raises(CodecError):
            answer(UDP, wrong)


def test_what_is_asked() -> None:
    """Queries go by UDP at any time; a query that has begun on a connection comes to its end first."""
    spec = dns("tcp")
    assert Call() in set(spec.inputs(State()))
    assert {each for each in spec.inputs(State(tcp=True, head=ON_TCP)) if CODEC.port(each) == TCP} == {Rest(ON_TCP)}
    assert Query(UDP, BIG, "TXT", 8, rd=True) not in set(spec.inputs(State()))
