"""The first request in some bytes as a server may read it: served, refused, or incomplete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from otf.models.http.heads import ANY_ERROR, AUTHORITY, BAD, MessageFault, RequestHead, read_heads
from otf.models.http.requirements import HttpRule as R

LONGEST: Final = 1_000_000
"""A server may refuse a longer body: no standard says how many bytes it must accept."""
_TARGET: Final = 8_000 - len("POST  HTTP/1.1")
_SHORT: Final = 1_000
_FIELDS: Final = 4_000
_LENGTH: Final = re.compile(r"[0-9]+", re.ASCII)
_SIZE: Final = re.compile(r"([0-9A-Fa-f]+)(.*)", re.ASCII | re.DOTALL)
_VALUE: Final = r"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|\"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*\")"
_EXTENSIONS: Final = re.compile(rf"(?:[ \t]*;[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*=[ \t]*{_VALUE})?)*", re.ASCII)
_LAST: Final = re.compile(r"(?:\A|\r\n)0+(?:[ \t]*;[^\r\n]*)?\r\n\r\n\Z", re.ASCII)
"""The end of a body without trailer fields."""
HOST: Final = re.compile(rf"(?:{AUTHORITY})?", re.ASCII)
_LENIENT_HOST: Final = re.compile(r"[^\s/@?#\"<>\\^`{|}]*", re.ASCII)
UNFINISHED: Final = -1
NONE: Final = frozenset[int]()
_CRLF: Final = "\r\n"
_METHODS: Final = {"GET", "HEAD", "POST"}
_OVER: Final = frozenset({400, 411, 413})


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """The application gets a request; `body` None: the standard does not say which.

    `ends`: the server must close the connection after the response. `refusal`: statuses that may refuse it instead.
    """

    head: RequestHead
    body: str | None
    size: int
    ends: bool
    rules: tuple[R, ...]
    refusal: frozenset[int] = NONE
    refusing: tuple[R, ...] = ()
    asked_to_close: bool = False


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """The server must refuse it with one of these statuses. `size` None: nothing after it may count as a request."""

    codes: frozenset[int]
    size: int | None
    should: bool
    rules: tuple[R, ...]


@dataclass(frozen=True, slots=True)
class UnfinishedRequest:
    """An incomplete request. `asks`: its head is complete and asks for a 100 (Continue), optional if `begun`."""

    asks: bool = False
    begun: bool = False
    refusal: frozenset[int] = NONE


ReadRequest = ServedRequest | RefusedRequest | UnfinishedRequest


@dataclass(frozen=True, slots=True)
class _Body:
    """A body; `text` None: unknown; `size` None: its end is unknown, -1: it is incomplete."""

    text: str | None
    size: int | None
    faults: tuple[MessageFault, ...] = ()
    ends: bool = False
    rules: tuple[R, ...] = ()


def read_requests(data: str) -> Iterator[ReadRequest]:
    """Yield all ways in which a server may read the first request of the data."""
    for head in read_heads(data):
        yield UnfinishedRequest() if head is None else _request(_checked(head), data[head.size :])


def _request(head: RequestHead, rest: str) -> ReadRequest:
    body = _body(head, rest)
    faults = (*head.faults, *body.faults)
    codes = NONE.union(*(each.codes for each in faults))
    must = [each for each in faults if each.must]
    if must:
        ends = any(each.ends for each in must) or body.size is None or body.size < 0 or body.ends
        broken = tuple(dict.fromkeys(each.rule for each in (*must, *faults)))
        size = None if ends else head.size + (body.size or 0)
        return RefusedRequest(codes, size, all(each.should for each in must), broken)
    if body.size is not None and body.size < 0:
        asks = _expects(head) and head.version >= (1, 1)
        return UnfinishedRequest(asks, bool(rest), codes | (ANY_ERROR if asks else NONE))
    rules = (*sorted(head.rules, key=lambda each: each.name), *body.rules)
    refusing = tuple(dict.fromkeys(each.rule for each in faults))
    size = head.size + (body.size or 0)
    closes = _closes(head)
    return ServedRequest(head, body.text, size, body.ends or closes, rules, codes, refusing, closes)


def _checked(head: RequestHead) -> RequestHead:
    # without a request line it is not an HTTP/1.1 request, which needs a Host
    hosts = head.values("host") if head.method else [""]
    if (not hosts and head.version >= (1, 1)) or len(hosts) > 1 or not all(map(_LENIENT_HOST.fullmatch, hosts)):
        head = head.with_fault(MessageFault(BAD, R.RFC9112_3_2_HOST, must=True))
    elif not all(map(HOST.fullmatch, hosts)):
        # other characters in a host depend on the server's rules for names
        head = head.with_fault(MessageFault(BAD, R.RFC9112_3_2_HOST))
    if head.method not in _METHODS:
        head = head.with_fault(MessageFault(frozenset({400, 405, 501}), R.RFC9110_9_1_UNKNOWN))
    if len(head.target) > _TARGET:
        head = head.with_fault(MessageFault(frozenset({414}), R.RFC9112_3_TARGET))
    elif len(head.target) > _SHORT:
        head = head.with_fault(MessageFault(frozenset({414}), R.RFC9112_3_8000))
    if sum(len(name) + len(value) for name, value in head.fields) > _FIELDS:
        head = head.with_fault(MessageFault(frozenset(range(400, 500)), R.RFC9110_5_4_LONG))
    if any(each.lower() != "100-continue" for each in head.values("expect")):
        head = head.with_fault(MessageFault(frozenset({417}), R.RFC9110_10_1_1_OTHER))
    return head


def _expects(head: RequestHead) -> bool:
    return any(each.lower() == "100-continue" for each in head.values("expect"))


def _closes(head: RequestHead) -> bool:
    options = [each.strip().lower() for value in head.values("connection") for each in value.split(",")]
    return "close" in options or (head.version < (1, 1) and "keep-alive" not in options)


def _body(head: RequestHead, rest: str) -> _Body:
    codings = head.values("transfer-encoding")
    lengths = head.values("content-length")
    if codings:
        return _coded(head, _listed(codings), rest, both=bool(lengths))
    if lengths:
        return _measured(head, _listed(lengths), rest)
    return _Body("", 0, rules=(R.RFC9112_6_3_NONE,))


def _listed(values: list[str]) -> list[str]:
    return [each for value in values for part in value.split(",") if (each := part.strip(" \t"))]


def _measured(head: RequestHead, lengths: list[str], rest: str) -> _Body:
    numbers = {int(each) for each in lengths if _LENGTH.fullmatch(each) and len(each) < LONGEST}
    if len(numbers) != 1 or not all(map(_LENGTH.fullmatch, lengths)):
        return _Body(None, None, (MessageFault(BAD, R.RFC9112_6_3_INVALID, must=True, ends=True),), ends=True)
    size, faults = numbers.pop(), list[MessageFault]()
    if len(lengths) > 1 or head.values("content-length") != lengths:
        faults.append(MessageFault(BAD, R.RFC9110_8_6_LIST))
    if size > LONGEST:
        faults.append(MessageFault(_OVER, R.RFC9110_8_6_LARGE))
    if size and head.method in {"GET", "HEAD"}:
        faults.append(MessageFault(_OVER, R.RFC9110_9_3_1_BODY))
    return _Body(rest[:size], size if len(rest) >= size else -1, tuple(faults), rules=(R.RFC9112_6_3_LENGTH,))


def _coded(head: RequestHead, codings: list[str], rest: str, *, both: bool) -> _Body:
    old = head.version < (1, 1)
    if old:
        # faulty framing: how much the server reads is open, but it must close the connection
        return _Body(None, None, (MessageFault(ANY_ERROR, R.RFC9112_6_1_OLD),), ends=True, rules=(R.RFC9112_6_1_OLD,))
    final, _, parameters = codings[-1].partition(";") if codings else ("", "", "")
    if final.rstrip(" \t").lower() != "chunked":
        refused = MessageFault(frozenset({400, 501}), R.RFC9112_6_3_FINAL, must=True, ends=True)
        return _Body(None, None, (refused,), ends=True)
    faults = list[MessageFault]()
    if len(codings) > 1:
        faults.append(MessageFault(frozenset({400, 501}), R.RFC9112_6_1_UNKNOWN))
    if parameters:
        faults.append(MessageFault(frozenset({400, 501}), R.RFC9112_7_1_PARAMETERS))
    if [each.lower() for each in head.values("transfer-encoding")] != ["chunked"]:
        faults.append(MessageFault(frozenset({400, 501}), R.RFC9110_5_6_1_LIST))
    faults += [MessageFault(BAD, R.RFC9112_6_1_BOTH)] if both else []
    faults += [MessageFault(_OVER, R.RFC9110_9_3_1_BODY)] if head.method in {"GET", "HEAD"} else []
    rules = (R.RFC9112_6_1_BOTH,) if both else (R.RFC9112_6_1_CHUNKED, R.RFC9112_6_3_CODED, R.RFC9112_7_1_PARSE)
    text, size, extended = read_chunks(rest)
    if size is None or size < UNFINISHED:
        rule = R.RFC9112_7_1_CHUNK if size is None else R.RFC9112_7_1_2_FIELD
        broken = MessageFault(ANY_ERROR, rule, must=True, ends=True, should=True)
        return _Body(None, None, (*faults, broken), ends=True)
    known = text if len(codings) == 1 else None
    extra = [R.RFC9112_7_1_1_IGNORE] if extended else []
    extra += [] if size < 0 or _LAST.search(rest[:size]) else [R.RFC9112_7_1_2_TRAILER]
    return _Body(known, size, tuple(faults), ends=both, rules=(*rules, *extra))


def read_chunks(data: str) -> tuple[str, int | None, bool]:
    """Return the content, its size on the wire, and whether there are extensions.

    The size is `UNFINISHED` if the body is incomplete, None if a chunk is malformed, and less if a trailer field is.
    """
    content, at, extended = "", 0, False
    while (end := data.find(_CRLF, at)) >= 0:
        line = _SIZE.fullmatch(data[at:end])
        if line is None or not _EXTENSIONS.fullmatch(line[2]):
            return content, None, extended
        extended = extended or bool(line[2])
        size, at = int(line[1], 16), end + 2
        if size == 0:
            return content, _trailers(data, at), extended
        chunk, behind = data[at : at + size], data[at + size : at + size + 2]
        if not _CRLF.startswith(behind):
            return content, None, extended
        if len(behind) < len(_CRLF):
            return content, UNFINISHED, extended
        content, at = content + chunk, at + size + 2
    broken = re.fullmatch(r"[0-9A-Fa-f]*(?:[ \t]*;[^\0\r\n]*)?\r?", data[at:]) is None
    return content, None if broken else UNFINISHED, extended


def _trailers(data: str, at: int) -> int:
    while (end := data.find(_CRLF, at)) >= 0:
        if end == at:
            return end + 2
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\0\r\n]*", data[at:end]):
            return UNFINISHED - 1
        at = end + 2
    return UNFINISHED - 1 if "\n" in data[at:] or "\0" in data[at:] else UNFINISHED
