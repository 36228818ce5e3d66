"""A web server with a trivial application, as a function of the bytes that it receives (RFC 9112, RFC 9110).

The application answers each request with its method, its path, the value of its field `Note`, and its body: `POST /echo
note=n body=hello`; at `/skip` it does not read the body, and at `/later` it takes 10 ms. So an answer shows how the
server read the request. The model reads the bytes in all ways that the standard allows; each allows other answers.

A sentence with SHOULD leaves the server a choice. The model does not try what only a SHOULD refuses, unless `also` is
"should": then the server must refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from otf.adapter.malformed import Anywhere
from otf.codec.malformed import Malformed
from otf.models.http.expectations import BLANKS, END, INTERIM, RESET, RefusedTest, ServedTest
from otf.models.http.heads import ANY_ERROR, BAD
from otf.models.http.inputs import inputs
from otf.models.http.messages import (
    PORT,
    FirstPart,
    NextPart,
    Pipelined,
    RawRequest,
    WebConnect,
    WebFinish,
    WebInput,
)
from otf.models.http.reader import RefusedRequest, ServedRequest, UnfinishedRequest, read_requests
from otf.models.http.requirements import HttpRule as R
from otf.spec import Spec, Transition, goto, on

ALSO: Final = ("should", "date")
"""Groups of rules that the model does not enforce by default: what a server should refuse, and dates in answers."""

MANY: Final = 2_000
"""Bytes of an input that a server may leave unread when it closes the connection: then its answer may be lost."""

SKIP: Final = "/skip"
"""The path where the application does not read the body."""

REQUESTS: Final = 5
"""Requests in malformed bytes: each has several readings, so there are many ways to answer them all."""
_BLANK_LINES: Final = re.compile(r"\n(?:\r*\n){4}")
"""Many of these have many readings, too: a server may ignore each, or take it as the end of a request."""

_ECHOED: Final = re.compile(r"(?:/[0-9A-Za-z]*)?(?:\?[0-9A-Za-z=]+)?[0-9A-Za-z ,\t]*", re.ASCII)
"""Paths and notes that every application echoes in the same way; it may decode others first."""

_AUTHORITY: Final = re.compile(r"[a-z]+://[^/]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WebSession:
    """A connection: the bytes of an incomplete request, those that follow, and whether the server sent a 100 for it."""

    pending: str = ""
    rest: str = ""
    continued: bool = False


State: TypeAlias = WebSession | None
Yields: TypeAlias = Iterator[Transition[State]]


@dataclass(frozen=True, slots=True)
class Onward:
    """The answers to the requests so far, their rules, and the remaining bytes; `ended`: these do not count."""

    outputs: tuple[object, ...]
    rules: tuple[R, ...]
    left: str
    ended: bool = False
    continued: bool = False
    refused: bool = False


def web(also: str = "") -> Spec[State, WebInput]:
    """Return the spec of a web server.

    With `also="should"`, otf also sends requests that a server should refuse, and treats the RFC's SHOULD as a MUST.
    With `also="date"`, otf requires a Date header in answers.

    >>> web().name
    'http'
    """
    step, malformed = partial(_step, also), partial(_malformed, also)
    return Spec(step, None, partial(_inputs, also), name="http", malformed=malformed)


def _inputs(also: str, state: State) -> Iterator[WebInput]:
    if state is None:
        yield WebConnect()
    elif state.pending:
        yield from [NextPart(state.rest)] if state.rest else []
        yield WebFinish()
    else:
        yield from inputs(should=also == "should")


def _step(also: str, state: State, inp: WebInput) -> Yields:
    match state, inp:
        case None, WebConnect():
            yield goto(WebSession())
        case WebSession(), WebFinish():
            yield from _finished(state)
        case WebSession(pending=""), RawRequest() | Pipelined() if inp.text:
            yield from _answered(also, state, inp.text, "")
        case WebSession(pending=""), FirstPart() if inp.text:
            yield from _answered(also, state, inp.text, inp.rest)
        case WebSession(pending), NextPart(text) if text:
            yield from _answered(also, state, pending + text, "")
        case _:
            return


def _finished(state: WebSession) -> Yields:
    rules = R.RFC9112_6_3_INCOMPLETE if state.pending else ()
    yield goto(None, END, req=rules)
    if not state.pending:
        yield goto(None)  # it should notice (section 9.5), but need not
    else:
        refused = RefusedTest(frozenset(range(400, 600)), None, dated=False)
        yield goto(None, on(PORT, refused.expectation("an error")), END, req=R.RFC9112_6_3_INCOMPLETE)


def _malformed(also: str, state: State, inp: Malformed) -> Iterator[Transition[Any]] | None:
    """Yield what follows malformed bytes: their readings, and an error that ends the connection."""
    if state is None:
        return None
    data = state.pending + inp.raw.decode("latin-1")
    if data.count("HTTP/") > REQUESTS or _BLANK_LINES.search(data):
        return iter([goto(Anywhere(PORT, fresh=True))])
    return _refused_or_read(also, state, data)


def _refused_or_read(also: str, state: WebSession, data: str) -> Iterator[Transition[Any]]:
    ways = _known_ways(also, state, data)
    if any(not way.ended and SKIP in way.left for way in ways):
        ways = []  # an application that does not read the body may answer before it is complete
    yield from _sent(ways, data, "")
    if not ways:
        yield goto(Anywhere(PORT, fresh=True))
    if all(way.refused for way in ways):
        return  # the standard demands an error, or is silent
    error = on(PORT, RefusedTest(ANY_ERROR | {301}, None, dated=False).expectation("an error"))
    for outputs in {way.outputs[:many] for way in ways for many in range(len(way.outputs) + 1)}:
        # a server should refuse anything outside the grammar (section 2.2), and may be stricter than the model
        yield goto(None, *outputs, error, END)
        yield goto(None, *outputs, END)
        yield goto(None, *outputs, RESET)


def _answered(also: str, state: WebSession, data: str, rest: str) -> Yields:
    """Yield all possible answers to these bytes; nothing if they are open."""
    yield from _sent(_known_ways(also, state, data), data, rest)


def _known_ways(also: str, state: WebSession, data: str) -> list[Onward]:
    """Return all ways to answer these bytes; none if some are open."""
    found = list(_ways(also, Onward((), (), data, continued=state.continued)))
    ways = [way for way in found if way is not None]
    return ways if len(ways) == len(found) else []


def _sent(ways: list[Onward], data: str, rest: str) -> Yields:
    for way in ways:
        if way.ended:
            yield goto(None, *way.outputs, END, req=way.rules)
        else:
            yield goto(WebSession(way.left, rest if way.left else "", way.continued), *way.outputs, req=way.rules)
    closing = [way for way in ways if way.ended and (way.left or len(data) > MANY)]
    for outputs in {way.outputs[:many] for way in closing for many in range(len(way.outputs))}:
        # unread bytes make the network send a reset, which may cost answers in flight (section 9.6)
        yield goto(None, *outputs, RESET)


def _ways(also: str, so_far: Onward) -> Iterator[Onward | None]:
    """Yield the ways to answer the rest; None: it is malformed, and only a SHOULD says what follows."""
    if not so_far.left:
        yield so_far
        return
    for each in read_requests(so_far.left):
        match each:
            case UnfinishedRequest(asks):
                yield from _unfinished(so_far, each, asks=asks and not so_far.continued)
            case RefusedRequest(codes, size, should, rules):
                if should and also != "should":
                    yield None
                else:
                    yield from _refused(also, so_far, codes, rules, size)
            case ServedRequest():
                yield from _served(also, so_far, each)


def _unfinished(so_far: Onward, request: UnfinishedRequest, *, asks: bool) -> Iterator[Onward]:
    rules = (*so_far.rules, *([R.RFC9110_10_1_1_SEND] if asks else []))
    if asks:
        yield replace(so_far, outputs=(*so_far.outputs, INTERIM), rules=rules, continued=True)
        if request.begun:
            yield replace(so_far, rules=(*so_far.rules, R.RFC9110_10_1_1_OMIT), continued=True)
    else:
        yield so_far
    if request.refusal:
        refused = on(PORT, RefusedTest(request.refusal, None, dated=False).expectation(_range(request.refusal)))
        yield replace(so_far, outputs=(*so_far.outputs, refused), rules=rules, ended=True)


def _refused(
    also: str, so_far: Onward, codes: frozenset[int], rules: tuple[R, ...], size: int | None
) -> Iterator[Onward | None]:
    says = f"{_range(codes)}, by {', '.join(each.name for each in rules)}"
    rules = (*rules, R.RFC9112_9_3_2_ORDER) if so_far.outputs else rules
    for closes in (True, False):
        refused = on(PORT, RefusedTest(codes, None if closes else False, also == "date").expectation(says))
        outputs, cited = (*so_far.outputs, refused), (*so_far.rules, *rules)
        if closes:
            left = so_far.left if size is None else so_far.left[size:]
            yield Onward(outputs, cited, left, ended=True, refused=True)
        elif size is not None:
            yield from _ways(also, Onward(outputs, cited, so_far.left[size:]))


def _served(also: str, so_far: Onward, request: ServedRequest) -> Iterator[Onward | None]:
    if request.refusal:
        size = None if request.ends else request.size
        yield from _refused(also, so_far, request.refusal, request.refusing, size)
    elif request.ends and so_far.left[request.size :]:
        # the client itself must not send more than that (section 9.6)
        yield from _refused(also, so_far, BAD, (R.RFC9112_9_6_CLOSE,), None)
    for outputs, rules in _interim(so_far, request):
        left = so_far.left[request.size :]
        cited = (*rules, *_cited(request), *([R.RFC9112_9_3_2_ORDER] if so_far.outputs else []))
        says, silent = (_response(also, request, closes=closes) for closes in (True, False))
        yield Onward((*outputs, says), (*cited, R.RFC9112_9_6_SENT), left, ended=True)
        yield Onward((*outputs, silent), (*cited, *([] if request.ends else [R.RFC9112_9_5_ANY])), left, ended=True)
        if not request.ends:
            yield from _ways(also, Onward((*outputs, silent), (*cited, R.RFC9112_9_3_PERSIST), left))


def _interim(so_far: Onward, request: ServedRequest) -> Iterator[tuple[tuple[object, ...], tuple[R, ...]]]:
    """Yield what may come before the response: a 100 to a client that asked for it and sent the body at once."""
    yield so_far.outputs, so_far.rules
    asks = any(each.lower() == "100-continue" for each in request.head.values("expect"))
    if asks and not so_far.continued and request.head.version > (1, 0):
        yield (*so_far.outputs, INTERIM), (*so_far.rules, R.RFC9110_10_1_1_FINAL)


def _cited(request: ServedRequest) -> Iterator[R]:
    yield from request.rules
    yield from request.refusing
    if request.asked_to_close:
        yield R.RFC9112_9_6_CLOSE if request.head.version > (1, 0) else R.RFC9112_9_3_OLD
    if request.head.version < (1, 1):
        yield R.RFC9112_6_1_CODED
        yield from [R.RFC9110_10_1_1_OLD] if request.head.values("expect") else []
    if request.head.method in {"GET", "HEAD"}:
        yield R.RFC9110_9_3_2_HEAD if request.head.method == "HEAD" else R.RFC9110_9_1_GET
    if request.head.version not in {(1, 0), (1, 1)}:
        yield R.RFC9110_6_2_VERSION
    if "://" in request.head.target:
        yield R.RFC9112_3_2_2_ABSOLUTE
    if request.head.target == SKIP:
        yield R.RFC9112_9_3_READ


def _response(also: str, request: ServedRequest, *, closes: bool) -> object:
    head = request.head
    note, path = ",".join(head.values("note")), head.target
    bodies = {""} if head.target == SKIP else {request.body or "", *({""} if head.method == "GET" else ())}
    texts = {f"{head.method} {each} note={note} body={body}" for each in {path, _path(path)} for body in bodies}
    contents = {""} if head.method == "HEAD" else {BLANKS.sub(" ", each) for each in texts}
    is_known = (request.body is not None or head.target == SKIP) and _ECHOED.fullmatch(_path(path) + note)
    known = contents if is_known else set[str]()
    test = ServedTest(frozenset(known), head.version > (1, 0), closes, also == "date")
    return on(PORT, test.expectation(f"200 to {_kind(request)}"))


def _path(target: str) -> str:
    found = _AUTHORITY.match(target)
    return target if found is None else target[found.end() :] or "/"


def _kind(request: ServedRequest) -> str:
    head = request.head
    framed = "coded" if head.values("transfer-encoding") else "measured" if head.values("content-length") else "bare"
    odd = " despite " + ", ".join(each.name for each in request.refusing) if request.refusing else ""
    return f"a {framed} {head.method} of HTTP/{head.version[0]}.{head.version[1]}{odd}"


def _range(codes: frozenset[int]) -> str:
    return "an error" if len(codes) > 10 else " or ".join(map(str, sorted(codes)))  # noqa: PLR2004 -- all of a class
