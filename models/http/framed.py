"""Requests with bodies whose length is stated in odd or invalid ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.models.http.messages import RawRequest

HOST: Final = "Host: a"
HIDDEN: Final = RawRequest("GET", "/hidden").text
"""A request in the body of another: a server that answers it has misread the length of that body."""
TARGET: Final = "/echo"


def post(
    *fields: str, body: str = "", target: str = TARGET, method: str = "POST", version: str = "HTTP/1.1"
) -> RawRequest:
    """Return a request with a body.

    >>> post("Content-Length: 2", body="hi").fields
    ('Host: a', 'Content-Length: 2')
    """
    return RawRequest(method, target, version, (HOST, *fields), body)


def measured(
    body: str, *fields: str, target: str = TARGET, method: str = "POST", version: str = "HTTP/1.1"
) -> RawRequest:
    """Return a request that states the length of its body."""
    return post(f"Content-Length: {len(body)}", *fields, body=body, target=target, method=method, version=version)


def coded(body: str, *fields: str, target: str = TARGET, method: str = "POST") -> RawRequest:
    """Return a request with this chunked body, in wire form."""
    return post("Transfer-Encoding: chunked", *fields, body=body, target=target, method=method)


def chunk(text: str, extension: str = "") -> str:
    r"""Return a chunk.

    >>> chunk("hello", ";a")
    '5;a\r\nhello\r\n'
    """
    return f"{len(text):x}{extension}\r\n{text}\r\n"


LAST: Final = "0\r\n\r\n"
HELLO: Final = chunk("hello") + LAST


def odd_lengths() -> Iterator[RawRequest]:
    """Yield requests whose lengths are odd or invalid."""
    many = len(HIDDEN)
    spoilt: tuple[str, ...] = (
        f"+{many}",
        f"-{many}",
        "-0",
        f"{many // 10}_{many % 10}",
        f"0x{many:x}",
        f"{many} {many}",
        "",
        ",",
        f"{many};",
    )
    spoilt += (
        f"{many}.",
        f"{many}.0",
        f"{many // 10}e1",
        f"\x0b{many}",
        f"{many}\x0c",
        "\xb2",
        f"\xa0{many}",
        f'"{many}"',
    )
    spoilt += (f"{many}, 0", f"0, {many}", f"{many}, x", f"{many}\x85", "nil")
    yield from (post(f"Content-Length: {each}", body=HIDDEN) for each in spoilt)
    yield from (post(f"Content-Length: {each}", body="hello") for each in ("5, 5", "5,5", "5\0", "5\r"))
    yield post("Content-Length: 5", "Content-Length: 5", body="hello")
    yield post("Content-Length: 0", f"Content-Length: {many}", body=HIDDEN)
    yield post(f"Content-Length: {many}", "content-length: 0", body=HIDDEN)
    yield post("Content-Length: 5", "Content-Length: +5", body="hello")
    for method in ("GET", "FROB"):
        yield measured(HIDDEN, method=method)
    for size in (2**32 + 5, 2**64 + 5, 10**40):
        yield post(f"Content-Length: {size}", body="hello")


def odd_codings() -> Iterator[RawRequest]:
    """Yield requests with odd or invalid transfer codings; a server that goes by the length meets a hidden request."""
    spoilt: tuple[str, ...] = (
        "identity",
        "gzip",
        "xchunked",
        "chunkedx",
        "chunked, identity",
        "chunked, gzip",
        "chunke",
        "cow",
        "\x0bchunked",
    )
    spoilt += (
        "chunked\x0c",
        '"chunked"',
        "x chunked",
        "chunked x",
        "chunked;q=1, identity",
        "\x85chunked",
        "chunked\xa0",
    )
    short, whole = len(LAST), LAST + HIDDEN
    for each in spoilt:
        yield post(f"Transfer-Encoding: {each}", body=whole)
        yield post(f"Transfer-Encoding: {each}", f"Content-Length: {short}", body=whole)
    for each in (
        "gzip, chunked",
        "chunked, chunked",
        "identity, chunked",
        "chunked;q=1",
        ", chunked",
        "chunked,",
        "chunked\0",
    ):
        yield post(f"Transfer-Encoding: {each}", body=HELLO)
    yield post("Transfer-Encoding: chunked", "Transfer-Encoding: identity", body=whole)
    yield post("Transfer-Encoding: identity", "Transfer-Encoding: chunked", body=whole)
    yield post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=whole)
    for body, size in ((HELLO, 5), (HELLO, len(HELLO)), (whole, len(whole)), (whole, short), (chunk(HIDDEN) + LAST, 0)):
        yield post("Transfer-Encoding: chunked", f"Content-Length: {size}", body=body)
        yield post(f"Content-Length: {size}", "Transfer-Encoding: Chunked", body=body)
    yield post("Transfer-Encoding: chunked", "Content-Length: +5", body=HELLO)
    yield coded(chunk(HIDDEN) + LAST, method="GET")
    yield coded(HELLO, method="FROB")
