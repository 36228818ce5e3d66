"""A name server as a function; after RFC 1034 and 1035, with EDNS (RFC 6891) and connections (RFC 7766).

The server may answer a malformed query with a format error or not at all, since no text demands an answer; it must
answer the next query. Whether the server has EDNS is its choice, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from otf.models.dns.inputs import ALSO, BIG, BIG_RECORDS, ZONE, Input, State, inputs
from otf.models.dns.messages import TCP, UDP, Answer, Call, Head, Query, Raw, Record, Rest, Several
from otf.models.dns.requirements import Dns
from otf.spec import AnyOrder, Spec, Transition, Where, goto, on
from otf.trace.events import Ended

FORMERR, NXDOMAIN, NOTIMP, BADVERS = 1, 3, 4, 16
LEAST: Final = 512
END: Final = on(TCP, Ended)
Yields: TypeAlias = Iterator[Transition[State]]


@dataclass(frozen=True, slots=True)
class Way:
    """One allowed answer, the requirements behind it, and whether the server then has EDNS."""

    output: object
    req: tuple[Dns, ...]
    edns: bool | None = None


def dns(also: str = "") -> Spec[State, Input]:
    """Return the spec of a name server with one zone.

    `also` adds queries that the spec leaves out by default, such as `edns` or `malformed`.

    >>> dns().name
    'dns'
    """
    return Spec(_step, State(), partial(inputs, also), name="dns", guarded=True)


def _step(state: State, inp: Input) -> Yields:
    match inp:
        case Call():
            yield goto(replace(state, tcp=True), req=Dns.RFC7766_5_TCP)
        case Query(port="udp"):
            for way in _answers(state, inp):
                yield goto(_learnt(state, way), way.output, req=way.req)
        case Query():
            yield from _on_connection(state, inp, [Dns.RFC7766_6_2_1, Dns.RFC1035_4_2_2])
        case Head(query):
            yield goto(replace(state, head=query))
        case Rest(query):
            yield from _on_connection(replace(state, head=None), query, [Dns.RFC7766_8])
        case Several(queries):
            yield from _pipelined(state, *queries)
        case Raw():
            yield from _raw(state, inp)


def _learnt(state: State, way: Way) -> State:
    return state if way.edns is None else replace(state, edns=way.edns)


def _on_connection(state: State, query: Query, req: list[Dns]) -> Yields:
    for way in _answers(state, query):
        then = _learnt(state, way)
        yield goto(then, way.output, req=[*way.req, *req])
        # it should stay open, but may be closed
        yield goto(replace(then, tcp=False), way.output, END, req=way.req)


def _pipelined(state: State, first: Query, second: Query) -> Yields:
    for one in _answers(state, first):
        middle = _learnt(state, one)
        for two in _answers(middle, second):
            then, both = _learnt(middle, two), AnyOrder(one.output, two.output)
            yield goto(then, both, req=[*one.req, *two.req, Dns.RFC7766_6_2_1_1])
            yield goto(replace(then, tcp=False), both, END, req=[*one.req, *two.req])
        yield goto(replace(middle, tcp=False), one.output, END, req=one.req)


def _raw(state: State, raw: Raw) -> Yields:
    yield goto(state)
    if raw.port == TCP:
        yield goto(replace(state, tcp=False), END)
    if raw.says != "a response":
        yield goto(state, _refusal(raw), req=Dns.RFC1035_4_1_1_FORMAT)
        if raw.port == TCP:
            yield goto(replace(state, tcp=False), _refusal(raw), END)


def _refusal(raw: Raw) -> object:
    number = int.from_bytes(raw.data[:2], "big")

    def fits(output: object) -> bool:
        return isinstance(output, Answer) and (output.id, output.rcode) == (number, FORMERR)

    return on(raw.port, Where(fits, says=f"a format error with the id {number}"))


# ---- answers to queries --------------------------------------------------------------------------------------------


def _answers(state: State, query: Query) -> Iterator[Way]:
    if query.opcode:
        req = (Dns.RFC1035_6_4_INVERSE,) if query.opcode == 1 else (Dns.RFC1035_4_1_1_KIND, Dns.RFC1035_4_1_1_OPCODE)
        yield Way(_error(query, NOTIMP), req)
        return
    if query.edns is None:
        yield from _plain(query, LEAST)
        return
    if state.edns is not True:
        yield Way(_error(query, FORMERR, edns=False), (Dns.RFC6891_7_FORMERR,), edns=False)
    if state.edns is not False:
        yield from _extended(query)


def _extended(query: Query) -> Iterator[Way]:
    if query.more == "twice":
        yield Way(_error(query, FORMERR, edns=True), (Dns.RFC6891_6_1_1_TWO,), edns=True)
    elif query.edns:
        yield Way(_error(query, BADVERS, edns=True), (Dns.RFC6891_6_1_3,), edns=True)
    else:
        more = [Dns.RFC6891_6_1_2] if query.more else []
        more += [Dns.RFC6891_6_2_3] if query.size < LEAST else []
        for way in _plain(query, max(LEAST, query.size)):
            yield Way(way.output, (*way.req, Dns.RFC6891_6_1_1, *more), edns=True)


def _plain(query: Query, limit: int) -> Iterator[Way]:
    name = query.name.lower()
    expected, req = _looked_up(query, name)
    if query.port == UDP and name == BIG:
        yield Way(_truncated(query, limit), (Dns.RFC1035_4_2_1, Dns.RFC1035_6_2))
        if limit == LEAST:
            return
        req = (*req, Dns.RFC2181_9)
    yield Way(expected, (*req, *_of_header(query)))


def _looked_up(query: Query, name: str) -> tuple[Answer, tuple[Dns, ...]]:
    plain = Answer(query.port, query.id, query.name, query.type, rd=query.rd, edns=query.edns)
    if name == BIG:
        return replace(plain, records=BIG_RECORDS, size=1232), (Dns.RFC1034_3_7_ANSWER,)
    if name not in ZONE:
        return replace(plain, rcode=NXDOMAIN), (Dns.RFC1035_4_1_1_NAME, Dns.RFC1035_4_1_1_AA)
    found = ZONE[name].get(query.type, ())
    alias = ZONE[name].get("CNAME", ())
    if alias and query.type != "CNAME":
        target = ZONE[alias[0]].get(query.type, ())
        records = (Record(name, "CNAME", alias[0]), *(Record(alias[0], query.type, each) for each in target))
        return replace(plain, records=tuple(sorted(records, key=str))), (Dns.RFC1034_4_3_2_ALIAS,)
    records = tuple(sorted((Record(name, query.type, each) for each in found), key=str))
    req = Dns.RFC1034_3_7_ANSWER if records else Dns.RFC1034_4_3_2_EMPTY
    return replace(plain, records=records), (req, Dns.RFC1035_4_1_1_AA)


def _of_header(query: Query) -> Iterator[Dns]:
    yield from (Dns.RFC1035_4_1_1_ID, Dns.RFC1034_3_7_QUESTION)
    if query.rd:
        yield Dns.RFC1035_4_1_1_RD
    if query.name != query.name.lower():
        yield from (Dns.RFC1035_2_3_3, Dns.RFC4343_4)
    if query.edns is None:
        yield Dns.RFC6891_7_NONE


def _error(query: Query, code: int, *, edns: bool | None = None) -> object:
    def fits(output: object) -> bool:
        if not isinstance(output, Answer):
            return False
        same = (output.id, output.rcode, output.opcode) == (query.id, code, query.opcode)
        return same and edns in {None, output.edns is not None}

    opt = {None: "", True: ", with an OPT record", False: ", without an OPT record"}[edns]
    return on(query.port, Where(fits, says=f"an answer to {query.id} with the code {code}{opt}"))


def _truncated(query: Query, limit: int) -> object:
    def fits(output: object) -> bool:
        return (
            isinstance(output, Answer)
            and (output.id, output.question, output.rcode) == (query.id, query.name, 0)
            and output.tc
            and output.size <= max(limit, LEAST)
            and output.edns == query.edns
        )

    return on(UDP, Where(fits, says=f"a truncated answer of at most {limit} bytes"))


__all__ = ["ALSO", "dns"]
