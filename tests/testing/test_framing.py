"""What `check_framing` accepts, what it finds, and that the shipped framings pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from otf.errors import CodecError
from otf.framing import (
    Frame,
    Framer,
    Framing,
    cobs,
    fixed,
    length,
    lines,
    measured,
    prompt,
    silence,
    slip,
)
from otf.models.jobs.messages import replies
from otf.models.modbus.messages import answers, crc
from otf.models.uboot.messages import prompts
from otf.testing import check_framing


def counted(size: int) -> bytes:
    """Return a frame of so many bytes whose first byte says how many it has."""
    return bytes([size]) + b"a" * (size - 1)


def to_a_prompt(size: int) -> bytes:
    """Return an answer of so many bytes, after which a prompt may come."""
    return b"a" * (size - 1) + b"\n"


def prompted(data: bytes) -> bytes:
    """Return an answer with the prompt after it."""
    return data + b"=> "


def coils(size: int) -> bytes:
    """Return an answer of Modbus of so many bytes."""
    frame = bytes([1, 1, size - 5]) + bytes(size - 5)
    return frame + crc(frame)


NOISY = [b"", b"a", b"some bytes", bytes(range(256))]
WORDS = [b"", b"a", b"two words", b"x" * 300]
SHIPPED: dict[str, tuple[Framing, list[bytes], dict[str, Any]]] = {
    "lines": (lines(largest=300), WORDS, {"largest": 300}),
    "lines, \\r\\n": (lines(b"\r\n", largest=300), WORDS, {"largest": 300}),
    "length": (length(largest=300), NOISY, {"largest": 300}),
    "length, 1": (length(1, itself=True, largest=100), NOISY[:3], {"largest": 100}),
    "length, default": (length(4, "little"), NOISY, {}),
    "fixed": (fixed(3), [b"abc", b"\0\0\0", b"\xff\xff\xff"], {"largest": 3}),
    "measured": (
        measured(lambda begun: begun[0], largest=100),
        [counted(1), counted(7), counted(100)],
        {"largest": 100, "sized": counted},
    ),
    "slip": (slip(largest=300), [*NOISY[1:], b"\xc0\xdb\xdc"], {"largest": 300}),
    "cobs": (cobs(largest=300), [*NOISY[1:], b"\0\0", b"a" * 254], {"largest": 300}),
    "silence": (silence(0.01, largest=300), NOISY[1:], {"largest": 300}),
    "prompt": (
        prompt(b"=> ", largest=300),
        [b"", b"printenv a\r\na=1\r\n", to_a_prompt(300)],
        {"wire": prompted, "largest": 300, "sized": to_a_prompt},
    ),
    "prompt, anywhere": (
        prompt(b"=> ", anywhere=True, largest=300),
        [b"", b"a line", b"="],
        {"wire": prompted, "largest": 300},
    ),
    "replies of jobs": (
        replies(),
        [b"INSERTED 1\r\n", b"RESERVED 1 2\r\nab\r\n", b"FOUND 1 0\r\n\r\n"],
        {"wire": bytes},
    ),
    "answers of modbus": (answers(), [coils(5), coils(9), b"\x01\x05abcdef", b"\x01\x81\x02ab"], {"sized": coils}),
    "prompts of uboot": (prompts(), [b"printenv a\r\na=1\r\n=> "], {"wire": bytes}),
}


@pytest.mark.parametrize(("framing", "frames", "more"), SHIPPED.values(), ids=SHIPPED)
def test_the_shipped_framings_pass(framing: Framing, frames: list[bytes], more: dict[str, Any]) -> None:
    """Cut anywhere, too long, without an end, and damaged."""
    check_framing(framing, frames, **more)


# Framings that are wrong


class Naive:
    """Cuts at line ends, and only what comes in one chunk."""

    gap = 0.0
    unfinished = False
    begun = b""

    def pack(self, data: bytes) -> bytes:
        return data + b"\n"

    def feed(self, chunk: bytes) -> list[Frame]:
        return [Frame(line) for line in chunk.split(b"\n")[:-1]]

    def rest(self) -> list[Frame]:
        return []


class Growing(Naive):
    """Keeps all that has come."""

    def __init__(self) -> None:
        self.begun = b""

    def feed(self, chunk: bytes) -> list[Frame]:
        *whole, self.begun = (self.begun + chunk).split(b"\n")
        return [Frame(line) for line in whole]

    def rest(self) -> list[Frame]:
        left, self.begun = self.begun, b""
        return [Frame(left, "torn")] if left else []


class Keeping(Growing):
    """Forgets to forget what has begun."""

    def rest(self) -> list[Frame]:
        return [Frame(self.begun, "torn")] if self.begun else []


class Raising(Growing):
    """Stumbles over a byte that no text has."""

    def feed(self, chunk: bytes) -> list[Frame]:
        chunk.decode()
        return super().feed(chunk)


class Plain(Growing):
    """Returns bytes and no frames, once it is over."""

    def rest(self) -> Any:  # noqa: ANN401 -- no frames
        return [frame.data for frame in super().rest()]


@pytest.mark.parametrize(
    ("framing", "says"),
    [
        (Naive, r"the stream \[b'o', b'n', b'e', b'\\n', .*\] came as \[.*\]; its frames are \[b'one', b'two'\]"),
        (Growing, r"a stream of b'x' without end takes more than \d+ bytes of memory"),
        (Keeping, r"after `rest` something is left: begun is b'.*'"),
        (Raising, r"the bytes b'.*' raised UnicodeDecodeError: .*; give them as a frame with a trouble"),
        (Plain, r"the bytes b'.*' came as \[b'.*'\]; `feed` and `rest` return frames"),
    ],
)
def test_a_wrong_framing_is_found(framing: Callable[[], Framer], says: str) -> None:
    """The error names the stream that broke the contract."""
    endless = () if framing is not Growing else (b"x",)
    with pytest.raises(AssertionError, match=says):
        check_framing(framing, [b"one", b"two"], endless=endless)


@pytest.mark.parametrize(
    ("largest", "says"),
    [
        (
            8,
            r"a frame of 8 bytes, the largest, came as \[Frame\(data=b'aaaaa', trouble='longer than 5 bytes', ",
        ),
        (4, "a frame of 5 bytes, one too many, came without trouble, or with more bytes"),
    ],
)
def test_a_wrong_largest_frame_is_found(largest: int, says: str) -> None:
    """The bound is the one that the framing says it has."""
    with pytest.raises(AssertionError, match=says):
        check_framing(lines(largest=5), [b"one"], largest=largest)


class Echoing(Growing):
    """An answer is as long as the request before it; with `late` as the one before that."""

    late = False

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def pack(self, data: bytes) -> bytes:
        if not data:
            raise CodecError("an empty request has no answer")
        self.sizes.append(len(data))
        return data

    def feed(self, chunk: bytes) -> list[Frame]:
        self.begun += chunk
        size = self.sizes[-2 if self.late and len(self.sizes) > 1 else -1] if self.sizes else 0
        if len(self.begun) < size or not size:
            self.begun = self.begun if size else b""
            return []
        whole, self.begun = self.begun[:size], b""
        return [Frame(whole)]


class Late(Echoing):
    """It looks at the request before the last."""

    late = True


def test_a_length_may_depend_on_the_request() -> None:
    """Each request is packed before its answer comes, and one framer has all of them, one after another."""
    exchanges = [(b"abc", b"ABC"), (b"a", b"A"), (b"abcd", b"ABCD")]
    check_framing(Echoing, [], exchanges=exchanges)
    with pytest.raises(AssertionError, match=r"came as .*; its frames are \[b'A'\]"):
        check_framing(Late, [], exchanges=exchanges)
