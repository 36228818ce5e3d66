"""Inputs worth trying with a WebSocket server: handshakes and frames that are right, odd or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.models.websocket.messages import (
    BINARY,
    CLOSE,
    CONTINUED,
    FIELDS,
    KEY,
    PING,
    PONG,
    TEXT,
    RawFrame,
    RawFrames,
    RawHandshake,
)

HOST, UPGRADE, CONNECTION, KEYED, VERSION = FIELDS
LONGEST: Final = 60
"""Bytes of a message after which only its last fragment may follow, so that there are finitely many states."""
_MORE: Final = RawFrame(CONTINUED, "hello", fin=False)


def _handshakes() -> Iterator[RawHandshake]:
    yield RawHandshake()
    yield RawHandshake(FIELDS[::-1])
    yield RawHandshake((HOST, "upgrade: WebSocket", "connection: keep-alive, upgrade", KEYED, VERSION))
    yield RawHandshake((*FIELDS, "Origin: http://a", "Sec-WebSocket-Protocol: chat", "X: y"))
    yield from (RawHandshake(tuple(each for each in FIELDS if each != left_out)) for left_out in FIELDS)
    yield from (RawHandshake(method="POST"), RawHandshake(version="HTTP/1.0"))
    yield RawHandshake((HOST, "Upgrade: h2c", CONNECTION, KEYED, VERSION))
    yield RawHandshake((HOST, UPGRADE, "Connection: keep-alive", KEYED, VERSION))
    for key in ("", "x", KEY[:-4], KEY + KEY, KEY.rstrip("="), f"{KEY[:-3]}!=="):
        yield RawHandshake((HOST, UPGRADE, CONNECTION, f"Sec-WebSocket-Key: {key}", VERSION))
    yield RawHandshake((*FIELDS, KEYED))
    for version in ("12", "14", "0", "13, 8", "", "0xd", "x"):
        yield RawHandshake((HOST, UPGRADE, CONNECTION, KEYED, f"Sec-WebSocket-Version: {version}"))


def _utf8(text: str) -> str:
    return text.encode().decode("latin-1")


def _single() -> Iterator[RawFrame]:
    for payload in ("", "hello", _utf8("äöü €"), "x" * 125, "x" * 126, "x" * 70_000):
        yield RawFrame(TEXT, payload)
    yield from (RawFrame(BINARY, payload) for payload in ("", "\x00\xff\x81\x80mask", "y" * 300))
    yield from (RawFrame(PING, payload) for payload in ("", "hi", "\xff\x00", "p" * 125))
    yield from (RawFrame(PONG), RawFrame(PONG, "unasked"))
    yield from (
        RawFrame(CLOSE, payload) for payload in ("", "\x03\xe8", "\x03\xe9away", "\x0b\xb8", "\x13\x87" + "r" * 123)
    )
    yield from (RawFrame(CLOSE, _code(each)) for each in (0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535))
    yield from (RawFrame(CLOSE, "\x03"), RawFrame(CLOSE, "\x03\xe8\xff\xfe"), RawFrame(CLOSE, "\x03\xe8" + "r" * 124))
    for opcode in (TEXT, BINARY, PING, CLOSE):
        yield RawFrame(opcode, masked=False)
    yield from (
        RawFrame(TEXT, "hello", masked=False),
        RawFrame(TEXT, "hello", wide=2),
        RawFrame(BINARY, "hello", wide=8),
    )
    yield from (RawFrame(opcode, "hello", reserved=each) for opcode in (TEXT, PING) for each in (1, 2, 4, 7))
    yield from (RawFrame(opcode, payload) for opcode in (3, 7, 11, 15) for payload in ("", "hello"))
    yield from (RawFrame(opcode, "", fin=False) for opcode in (PING, PONG, CLOSE))
    yield from (RawFrame(opcode, "x" * 126) for opcode in (PING, PONG, CLOSE))
    yield RawFrame(PING, "hi", wide=2)
    for broken in ("\xff", "\xc3\x28", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "hello\xe2\x82"):
        yield RawFrame(TEXT, broken)
    yield from (RawFrame(CONTINUED, "hello"), _MORE)
    yield from (RawFrame(opcode, "he", fin=False) for opcode in (TEXT, BINARY))
    yield from (RawFrame(TEXT, "\xc3", fin=False), RawFrame(CONTINUED, "\xa4"), RawFrame(TEXT, "\xff", fin=False))


def _code(code: int) -> str:
    return code.to_bytes(2).decode("latin-1")


def _bursts() -> Iterator[tuple[RawFrame, ...]]:
    first, last = RawFrame(TEXT, "he", fin=False), RawFrame(CONTINUED, "llo")
    ping, text, close = RawFrame(PING, "hi"), RawFrame(TEXT, "a"), RawFrame(CLOSE, _code(1000))
    yield from ((text, ping, text), (first, last), (first, ping, last), (first, RawFrame(PONG), last, text))
    yield from (
        (first, RawFrame(CONTINUED, "", fin=False), last),
        (RawFrame(TEXT, "\xe2", fin=False), RawFrame(CONTINUED, "\x82\xac")),
    )
    yield from (
        (first, RawFrame(CONTINUED, "\xff")),
        (first, text),
        (first, RawFrame(BINARY, "b"), last),
        (first, last, last),
    )
    yield from ((close, text), (close, close), (close, ping), (text, close), (first, close), (RawFrame(3), text))
    yield from (
        (RawFrame(TEXT, "a", masked=False), text),
        (RawFrame(TEXT, "\xff"), text),
        (text, RawFrame(CLOSE, "\x03"), text),
    )


HANDSHAKES: Final = tuple(_handshakes())
FRAMES: Final = tuple(RawFrames(each) for each in [*((frame,) for frame in _single()), *_bursts()])
LAST: Final = tuple(each for each in FRAMES if each != RawFrames((_MORE,)))
"""Frames that end a message."""
