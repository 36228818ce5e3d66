"""Requests worth trying with a web server, whose parts are right, odd, or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from otf.models.http.framed import (
    HELLO,
    HIDDEN,
    HOST,
    LAST,
    TARGET,
    chunk,
    coded,
    measured,
    odd_codings,
    odd_lengths,
    post,
)
from otf.models.http.messages import FirstPart, Pipelined, RawRequest, WebFinish, WebInput

_GET: Final = RawRequest()
_HEAD: Final = RawRequest("HEAD")


def _plain() -> Iterator[RawRequest]:
    """Yield requests that a server must serve."""
    yield from (_GET, _HEAD, replace(_GET, target="/a?b=c"), replace(_GET, target="http://a/abs"))
    yield from (measured("hello"), measured(""), measured(HIDDEN), measured("x" * 3_000), post())
    yield from (coded(HELLO), coded(LAST), coded(chunk(HIDDEN) + LAST))
    yield coded("5;a\r\nhello\r\n" + LAST)
    yield coded('5;a=b;c="d \\" e"\r\nhello\r\n0;z\r\n\r\n')
    yield coded("005\r\nhello\r\n" + chunk("x" * 26) + "000\r\n\r\n")
    yield coded("1A\r\n" + "y" * 26 + "\r\n" + LAST)
    yield coded(chunk("hello") + "0\r\nNote: trailer\r\nX: y\r\n\r\n")
    yield coded(chunk("a") * 50 + LAST)
    yield post("transfer-encoding:\tChunked ", body=HELLO)
    yield post("content-length:005", body="hello")
    yield from (measured("hello", target="/skip"), coded(HELLO, target="/skip"), measured(HIDDEN, target="/skip"))
    yield measured("hello", "Connection: close")
    yield replace(_GET, fields=(HOST, "Connection: Close"))
    yield replace(_GET, fields=(HOST, "Connection: keep-alive, close"))
    yield replace(_GET, fields=(HOST, "Connection: keep-alive"))
    yield replace(_GET, fields=(HOST, "Note: n"))
    yield replace(_GET, fields=(HOST, "Note:\t n \t"))
    yield replace(_GET, version="HTTP/1.2")


def _old() -> Iterator[RawRequest]:
    """Yield requests of HTTP/1.0."""
    old = RawRequest(version="HTTP/1.0", fields=())
    yield from (old, replace(old, method="HEAD"), replace(old, fields=("Connection: keep-alive",)))
    yield measured("hello", version="HTTP/1.0")
    yield measured("hello", "Connection: keep-alive", version="HTTP/1.0")
    yield measured("hello", "Connection: keep-alive", "Expect: 100-continue", version="HTTP/1.0")
    for more in (
        (),
        ("Content-Length: 15",),
        ("Connection: keep-alive",),
        ("Connection: keep-alive", "Content-Length: 15"),
    ):
        yield post("Transfer-Encoding: chunked", *more, body=HELLO, version="HTTP/1.0")


def _fields() -> Iterator[RawRequest]:
    """Yield requests whose fields are odd or invalid."""
    spoilt = [(), (HOST, HOST), (HOST, "Host: b"), ("Host: a b",), ("Host: a/b",), ("Host: x@a",), ("Host: a", "host:")]
    yield from (replace(_GET, fields=each) for each in spoilt)
    yield replace(_GET, version="HTTP/1.0", fields=(HOST, "Host: b"))
    yield replace(_GET, fields=("Host:",))
    yield replace(_GET, target="http://a/abs", fields=())
    for line in (
        "Note : n",
        "Note\t: n",
        "Note: a\r\n b",
        "Note: a\r\n\tb\r\n  c",
        "Note:\r\n n",
        "Note: a\rb",
        "Note: a\0b",
    ):
        yield replace(_GET, fields=(HOST, line))
        yield replace(_GET, fields=(line, HOST))
    yield replace(_GET, fields=(" Note: n", HOST))
    yield replace(_GET, fields=("\tNote: n", " X: y", HOST))
    for line in (" Transfer-Encoding: chunked", "\tTransfer-Encoding: chunked"):
        yield RawRequest(
            "POST", TARGET, fields=(line, HOST, f"Content-Length: {len(LAST + HIDDEN)}"), body=LAST + HIDDEN
        )
    for line in ("Content-Length : 5", "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked"):
        yield post(line, body="hello" if "Length" in line else HELLO)
        yield post("X: y", line, f"Content-Length: {len(HIDDEN)}", body=HIDDEN)
    yield post("Transfer-Encoding:\r\n chunked", body=HELLO)
    yield post("Content-Length:\r\n 5", body="hello")
    for odd in (
        "X: y\nTransfer-Encoding: chunked",
        "X: y\rTransfer-Encoding: chunked",
        "X: y\r\rTransfer-Encoding: chunked",
    ):
        yield post(odd, f"Content-Length: {len(LAST + HIDDEN)}", body=LAST + HIDDEN)
    yield replace(_GET, fields=(HOST, f"Note: {'n' * 3_000}"))
    yield replace(_GET, fields=(HOST, f"X: {'n' * 200_000}"))
    yield replace(_GET, fields=(HOST, *(f"X{number}: y" for number in range(1_500))))


def _lines() -> Iterator[RawRequest]:
    """Yield requests with an odd request line, or with other line ends."""
    yield from (replace(_GET, method=each) for each in ("FROB", "get", "POSTS"))
    yield replace(_GET, method="\r\nGET")
    yield replace(_GET, target=" /")
    yield replace(_GET, target="/\t")
    yield replace(_GET, target=f"/{'t' * 7_000}")
    yield replace(_GET, target=f"/{'t' * 200_000}")
    yield from (replace(_GET, version=each) for each in ("HTTP/2.0", "HTTP/0.9", "HTTP/3.1"))
    yield replace(_GET, end="\n")
    yield replace(_GET, fields=("Host: a\nNote: n",))
    yield measured("hello", "Expect: 100-continue")
    yield measured("hello", "Expect: 200-maybe")
    yield replace(_GET, fields=(HOST, "Expect: 100-continue"))


def _should() -> Iterator[RawRequest]:
    """Yield requests that do not match the grammar, so that a server should refuse them."""
    for size in (
        "0x5",
        "+5",
        "-5",
        "5_",
        "5 ",
        " 5",
        "",
        "g",
        "5\0",
        "5\x0b",
        "\xb2",
        "5;\0",
        "5;a\n",
        "5\r",
        "5x",
        '5;a="b',
        "5,",
    ):
        yield coded(f"{size}\r\nhello\r\n{LAST}")
    for broken in ("5\nhello\r\n" + LAST, "5\r\nhelloXX" + LAST, "5\r\nhello\n" + LAST, "5\r\nhello world\r\n" + LAST):
        yield coded(broken)
    yield coded(f"5;a\nb\r\nhello\r\n{LAST}")
    yield coded(f"5;{HIDDEN[:-4]}\n\r\nhello\r\n{LAST}")
    yield coded(chunk("hello") + "0\r\nX\r\n\r\n")
    yield coded(chunk("hello") + "0\r\nX : y\r\n\r\n")
    yield coded(chunk("hello") + "0\r\n\rX" + HIDDEN)
    for line in ("X", ": y", "X y: z", "X\0: y", "(X): y", "X\x0b: y", "\xff: y", "[X]: y"):
        yield replace(_GET, fields=(HOST, line))
    yield post("Transfer-Encoding\0: chunked", "Content-Length: 5", body="hello")
    for version in (
        "HTTP/1.10",
        "http/1.1",
        "HTTP/1",
        "HTTP/1.1x",
        "HTTP/ 1.1",
        "HTTP/11.1",
        "HTTP/1.\xb2",
        "HTTP/+1.1",
        "",
    ):
        yield replace(_GET, version=version)
    yield from (replace(_GET, method=each) for each in ("G(ET", "G\0ET", "", "G,ET", "\x00GET"))
    yield replace(_GET, target="/a b")


def _pipelines() -> Iterator[Pipelined]:
    """Yield requests sent at once: the answers come in this order."""
    a, b = replace(_GET, target="/1"), replace(_GET, target="/2")
    last = replace(b, fields=(HOST, "Connection: close"))
    yield from (Pipelined((a, b)), Pipelined((a, _HEAD, b)), Pipelined((a, last)), Pipelined((last, a)))
    for first in (measured("hello"), coded(HELLO), coded(chunk("hello") + "0\r\nX: y\r\n\r\n"), measured(HIDDEN)):
        yield from (Pipelined((first, a)), Pipelined((a, first, b)), Pipelined((first, first)))
        yield Pipelined((replace(first, target="/skip"), a))
    yield Pipelined((measured("x" * 3_000, target="/skip"), a))
    yield Pipelined((measured("hello", "Connection: close"), a))
    yield Pipelined((replace(a, version="HTTP/1.0"), b))
    yield Pipelined((replace(a, fields=()), b))
    yield Pipelined((a, replace(b, fields=(HOST, "Note : n")), a))
    yield Pipelined((a, post("Content-Length: x", body="hello"), b))
    yield Pipelined((a, a, a, a, b))
    later = replace(_GET, target="/later")
    yield from (Pipelined((later, a)), Pipelined((a, later, b)), Pipelined((later, measured("hello"))))


def _parts() -> Iterator[FirstPart]:
    """Yield the beginnings of requests."""
    asked = measured("hello", "Expect: 100-continue")
    head = len(asked.text) - len("hello")
    yield from (FirstPart(asked, head), FirstPart(asked, head + 2))
    old = measured("hello", "Connection: keep-alive", "Expect: 100-continue", version="HTTP/1.0")
    yield FirstPart(old, len(old.text) - len("hello"))
    for request in (
        _GET,
        measured("hello"),
        measured(HIDDEN),
        coded(HELLO),
        coded(chunk("hello", ";a=b") + "0\r\nX: y\r\n\r\n"),
    ):
        text = request.text
        cuts = {1, 10, text.index("\r\n") + 1, text.index("\r\n\r\n") + 2, text.index("\r\n\r\n") + 4}
        cuts |= {len(text) - each for each in (1, 2, 3, 7)}
        yield from (FirstPart(request, each) for each in sorted(cuts) if each < len(text))


@cache
def inputs(*, should: bool) -> tuple[WebInput, ...]:
    """Return the inputs for when no request is pending; `should` includes those that a server SHOULD refuse."""
    requests = [*_plain(), *_old(), *odd_lengths(), *odd_codings(), *_fields(), *_lines()]
    return (WebFinish(), *requests, *_pipelines(), *_parts(), *(_should() if should else ()))
