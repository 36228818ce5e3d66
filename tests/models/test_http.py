"""A web server: what may answer a request, how often, and when the connection ends."""

from __future__ import annotations

import pytest

from otf.adapter import Bench
from otf.codec import PortAction
from otf.core import Monitor
from otf.errors import CodecError, UsageError
from otf.models.http import bench, served_by
from otf.models.http.codec import RawHttpCodec
from otf.models.http.framed import HELLO, HIDDEN, LAST, chunk, coded, measured, post
from otf.models.http.inputs import inputs
from otf.models.http.messages import (
    PORT,
    FirstPart,
    NextPart,
    Pipelined,
    RawRequest,
    RawResponse,
    WebConnect,
    WebFinish,
)
from otf.models.http.spec import WebSession, web
from otf.models.http.wire import ResponseFramer
from otf.spec import Transition
from otf.trace.events import Closed, Quiet, Seen, Sent
from tests.models.scripts import QUICK

END = "end of stream"
GET = RawRequest()
REFUSED = RawResponse(400, closes=True)
CLOSE = RawRequest(fields=("Host: a", "Connection: close"))
WAITS = measured("hello", "Expect: 100-continue")


def _ok(content: str = "GET / note= body=", *, closes: bool = False, coded: bool = False) -> RawResponse:
    return RawResponse(200, content, closes=closes, coded=coded)


def _echo(body: str) -> RawResponse:
    return _ok(f"POST /echo note= body={body}")


def _judged(tested: Bench, *script: tuple[object, ...]) -> str:
    """Return the outcome of a script on an open connection; a text among the outputs is the end of the connection."""
    monitor, at = Monitor(tested.oracle()), 0.0
    for inp, *outputs in ((WebConnect(),), *script):
        monitor.tell(Sent(inp, PORT, at := at + QUICK))
        for output in outputs:
            at += QUICK
            monitor.tell(Closed(PORT, output, at) if isinstance(output, str) else Seen(output, PORT, at))
        monitor.tell(Quiet(at := at + QUICK))
    return monitor.end().outcome


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(GET, _ok()), (GET, _ok())], "pass"),
        ([(GET,)], "fail"),
        ([(GET, _ok(), _ok())], "fail"),
        ([(GET, _ok("GET /a note= body="))], "fail"),
        ([(GET, _ok(closes=True), END), (WebConnect(),), (GET, _ok())], "pass"),
        ([(GET, _ok(closes=True))], "fail"),
        ([(CLOSE, _ok(closes=True), END)], "pass"),
        ([(CLOSE, _ok())], "fail"),
        ([(RawRequest("HEAD"), _ok(""))], "pass"),
        ([(RawRequest("HEAD"), _ok("HEAD / note= body="))], "fail"),
        ([(measured("hello"), _echo("hello"))], "pass"),
        ([(measured(HIDDEN), _echo(""), _ok("GET /hidden note= body="))], "fail"),
        ([(coded(HELLO), _echo("hello"))], "pass"),
        ([(coded(chunk("hello", ";a") + LAST), RawResponse(400, closes=True), END)], "fail"),
        ([(RawRequest(fields=("Host: a", "Note: a\r\n b")), _ok("GET / note=a b body="))], "pass"),
        ([(RawRequest(fields=("Host: a", "Note: a\r\n b")), _ok("GET / note=a body="))], "fail"),
        ([(RawRequest(fields=("Host: a", "Note: a\r\n b")), REFUSED, END)], "pass"),
        ([(RawRequest(version="HTTP/1.0"), _ok(closes=True), END)], "pass"),
        ([(RawRequest(version="HTTP/1.0"), _ok(closes=True, coded=True), END)], "fail"),
        ([(RawRequest(target=f"/{'t' * 9_000}"), RawResponse(414, closes=True), END)], "pass"),
        ([(RawRequest(target=f"/{'t' * 9_000}"), RawResponse(431, closes=True), END)], "fail"),
        ([(RawRequest(end="\n"), _ok())], "pass"),
        ([(RawRequest(end="\n"),)], "pass"),
        ([(RawRequest(method="FROB"), RawResponse(501))], "pass"),
        ([(WebFinish(), END)], "pass"),
    ],
)
def test_a_request_has_one_answer(script: list[tuple[object, ...]], outcome: str) -> None:
    """With what was sent; the connection stays, or ends as the answer says."""
    assert _judged(bench(), *script) == outcome


@pytest.mark.parametrize(
    ("request_", "must_end"),
    [
        (post("Content-Length: +33", body=HIDDEN), True),
        (post("Content-Length: 3_3", body=HIDDEN), True),
        (post("Content-Length: 5", "Content-Length: 6", body="hello"), True),
        (post("Transfer-Encoding: xchunked", body=LAST), True),
        (post("Transfer-Encoding: chunked, identity", body=LAST), True),
        (post("Transfer-Encoding : chunked", body=LAST), False),
        (RawRequest(fields=()), False),
        (RawRequest(fields=("Host: a", "Host: a")), False),
        (RawRequest(fields=("Host: a/b",)), False),
    ],
)
def test_what_has_to_be_refused(request_: RawRequest, must_end: bool) -> None:
    """With a 400, and where its length is not known, with the end of the connection."""
    assert _judged(bench(), (request_, REFUSED, END)) == "pass"
    assert _judged(bench(), (request_, _echo(request_.body))) == "fail"
    assert _judged(bench(), (request_, RawResponse(400))) == ("fail" if must_end else "pass")


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_a_length_beside_a_coding_ends_the_connection(version: str) -> None:
    """Whether the request is refused or served; so does a coding in HTTP/1.0."""
    both = post("Transfer-Encoding: chunked", "Content-Length: 5", body=HELLO, version=version)
    assert _judged(bench(), (both, _echo("hello"), END)) == "pass"
    assert _judged(bench(), (both, REFUSED, END)) == "pass"
    assert _judged(bench(), (both, _echo("hello"))) == "fail"


def test_a_trailer_is_no_header() -> None:
    """RFC 9112, section 7.1.2: the server does not merge it."""
    request = coded(chunk("hello") + "0\r\nNote: trailer\r\n\r\n")
    assert _judged(bench(), (request, _echo("hello"))) == "pass"
    assert _judged(bench(), (request, _ok("POST /echo note=trailer body=hello"))) == "fail"


def test_known_issues_are_those_of_the_own_server() -> None:
    """Another server has others."""
    assert bench().known_issues
    assert not bench(server="127.0.0.1:9").known_issues


def test_pipelined_requests_are_answered_in_order() -> None:
    """Each once, up to one that ends the connection; a lost connection may cost answers on their way."""
    one, two = (RawRequest(target=f"/{each}") for each in (1, 2))
    first, second = (_ok(f"GET /{each} note= body=") for each in (1, 2))
    assert _judged(bench(), (Pipelined((one, two)), first, second)) == "pass"
    assert _judged(bench(), (Pipelined((one, two)), second, first)) == "fail"
    assert _judged(bench(), (Pipelined((one, two)), first)) == "fail"
    assert _judged(bench(), (Pipelined((CLOSE, two)), _ok(closes=True), END)) == "pass"
    assert _judged(bench(), (Pipelined((CLOSE, two)), "connection reset")) == "pass"
    assert _judged(bench(), (Pipelined((CLOSE, two)), _ok(closes=True), second)) == "fail"


def test_who_waits_for_a_100_gets_one_or_a_final_answer() -> None:
    """At once, and not in HTTP/1.0; with the body there already it may be left out."""
    head = FirstPart(WAITS, len(WAITS.text) - 5)
    assert _judged(bench(), (head, RawResponse(100)), (NextPart("hello"), _echo("hello"))) == "pass"
    assert _judged(bench(), (head, RawResponse(417, closes=True), END)) == "pass"
    assert _judged(bench(), (head,)) == "fail"
    assert _judged(bench(), (WAITS, RawResponse(100), _echo("hello"))) == "pass"
    assert _judged(bench(), (WAITS, _echo("hello"))) == "pass"
    assert _judged(bench(), (FirstPart(WAITS, len(WAITS.text) - 3),)) == "pass"
    old = measured("hello", "Expect: 100-continue", version="HTTP/1.0")
    assert _judged(bench(), (FirstPart(old, len(old.text) - 5), RawResponse(100))) == "fail"


def test_what_is_not_whole_is_not_answered() -> None:
    """Until its rest comes, or the client closes its half."""
    request = coded(HELLO)
    begun = FirstPart(request, len(request.text) - 3)
    assert _judged(bench(), (begun,), (NextPart(begun.rest), _echo("hello"))) == "pass"
    assert _judged(bench(), (begun,), (WebFinish(), REFUSED, END)) == "pass"
    assert _judged(bench(), (begun, _echo("hello"))) == "fail"
    assert _judged(bench(), (begun,), (WebFinish(),)) == "fail"


@pytest.mark.parametrize("size", ["0x5", "+5", "5_", "", "5 ", '5;a="b', "5;a\n"])
def test_the_grammar_of_chunks_is_only_a_should(size: str) -> None:
    """What does not match it is tried if the bench is asked for it; then it has to be refused."""
    broken = coded(f"{size}\r\nhello\r\n{LAST}")
    assert not web().specifies(WebSession(), broken)
    assert _judged(bench(also="should"), (broken, REFUSED, END)) == "pass"
    assert _judged(bench(also="should"), (broken, _echo("hello"))) == "fail"


def test_all_inputs_are_specified() -> None:
    """Those that only a SHOULD refuses, if the server is held to it."""
    for also in ("", "should"):
        spec = web(also)
        assert all(spec.specifies(WebSession(), each) for each in spec.inputs(WebSession()))
    assert not all(web().specifies(WebSession(), each) for each in inputs(should=True))


def test_an_answer_has_a_date_if_that_is_asked_for() -> None:
    """RFC 9110, 6.6.1; many servers leave it out of an error."""
    undated = RawResponse(400, closes=True, dated=False)
    assert _judged(bench(), (RawRequest(fields=()), undated, END)) == "pass"
    assert _judged(bench(also="date"), (RawRequest(fields=()), undated, END)) == "fail"
    assert _judged(served_by(["x"], "date"), (GET, _ok())) == "pass"
    with pytest.raises(UsageError, match="there is no such group"):
        bench(also="x")


CODEC = RawHttpCodec()


@pytest.mark.parametrize(
    ("data", "response"),
    [
        (b"HTTP/1.1 200 OK\r\nSaw: GET\r\nDate: x\r\nContent-Length: 2\r\n\r\nok", RawResponse(200, "ok")),
        (b"HTTP/1.1 200 OK\r\nSaw: HEAD\r\nContent-Length: 2\r\n\r\n", RawResponse(200, dated=False)),
        (b"HTTP/1.0 400 \r\n\r\noh", RawResponse(400, closes=True, dated=False)),
        (b"HTTP/1.1 100 Continue\r\n\r\n", RawResponse(100, dated=False)),
        (
            (
                b"HTTP/1.1 200 OK\r\nsaw: POST\r\nDate:x\r\nTransfer-Encoding: chunked\r\nconnection: Close\r\n\r\n"
                b"2;x\r\nok\r\n0\r\nA: b\r\n\r\n"
            ),
            RawResponse(200, "ok", closes=True, coded=True),
        ),
    ],
)
def test_responses(data: bytes, response: RawResponse) -> None:
    """However the stream is cut; one without a length ends with the connection."""
    for chunks in ([data], [data[at : at + 1] for at in range(len(data))]):
        framer = ResponseFramer()
        frames = [frame for each in chunks for frame in framer.feed(each)] + framer.rest()
        assert [(frame.data, frame.trouble) for frame in frames] == [(data, "")]
    assert CODEC.decode(PORT, data) == response


@pytest.mark.parametrize(
    "data",
    [
        b"oh\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad\r\n\r\n",
        b"HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    ],
)
def test_what_is_no_response(data: bytes) -> None:
    """A frame with a trouble, and no value."""
    framer = ResponseFramer()
    frames = framer.feed(data) + framer.feed(b"more") + framer.rest()
    assert frames[0].trouble
    with pytest.raises(CodecError, match="is not a response"):
        CODEC.decode(PORT, data)


def test_a_response_that_is_cut_off_is_none() -> None:
    """A reset may cut off an answer to what the server did not read."""
    framer = ResponseFramer()
    assert framer.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok") == framer.rest() == []
    assert not framer.unfinished
    assert framer.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def test_a_response_has_bounds() -> None:
    """One that never ends is given up."""
    framer = ResponseFramer(100)
    assert "longer than" in framer.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + b"x" * 100)[0].trouble
    with pytest.raises(CodecError, match="at least one byte"):
        framer.pack(b"")


def test_bytes_of_inputs() -> None:
    """Characters are bytes."""
    assert CODEC.encode(GET) == b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    assert CODEC.encode(WebConnect()) is PortAction.CONNECT
    assert CODEC.encode(WebFinish()) is PortAction.FINISH
    assert CODEC.encode(Pipelined((GET, GET))) == GET.text.encode() * 2
    for wrong in (NextPart("\u20ac"), "x"):
        with pytest.raises(CodecError):
            CODEC.encode(wrong)


@pytest.mark.parametrize("text", ["\n\r\n", "\n\n", "\r\r\n\n", "\r\n\n\r\n"])
def test_empty_lines_without_a_carriage_return_are_ignored_or_refused(text: str) -> None:
    """A server waits for a request after them, or refuses them as one."""
    ways = list(web().step(WebSession(pending=text[:1]), NextPart(text[1:])))
    states = {way.state for way in ways if isinstance(way, Transition)}
    assert {None, WebSession(pending=text)} <= states


def test_a_request_after_empty_lines_is_served_or_refused() -> None:
    """The empty lines before it may end in a single LF, as all its lines may."""
    ways = list(web().step(WebSession(pending="\n"), NextPart(f"\n{GET.text}")))
    says = {str(item) for way in ways if isinstance(way, Transition) for item in way.outputs}
    assert any("200 to a bare GET" in each for each in says)
    assert any("400" in each for each in says)
