"""Text in a system's bytes: its contents, and lines of commands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from otf.errors import CodecError
from otf.values import show

_END: Final = b"\r\n"
_KEYS: Final = re.compile(rb"[\0-\x1f\x7f]")
_UNPRINTED: Final = re.compile(rb"[^\x20-\x7e]")
_INTERRUPTS: Final = (b"\3", b"\4")
_DIGITS: Final = 20  # the most digits of a number


def text_of(data: bytes, encoding: str = "utf-8") -> str:
    """Return the text of some bytes. Raises CodecError if they are not text."""
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        raise CodecError(str(error)) from error


def number_of(word: str) -> str | int:
    """Return the number that a word is written as, or the word itself.

    >>> number_of("-7"), number_of("07"), number_of("x")
    (-7, '07', 'x')
    """
    digits = word.removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS and str(int(word)) == word
    return int(word) if plain else word


def with_blocks(data: bytes, end_of_line: bytes, block: Callable[[list[bytes]], int | None]) -> list[bytes]:
    r"""Return the commands in a stream, each a line and an optional block of bytes.

    `block` returns the size of the block after a line of these words, None for no block. Raises CodecError if the
    system would wait for more.

    >>> with_blocks(b"get a\r\nset 1\r\nx\r\n", b"\n", lambda words: 1 if words[0] == b"set" else None)
    [b'get a\r\n', b'set 1\r\nx\r\n']
    """
    found, at = list[bytes](), 0
    while at < len(data):
        found_at = data.find(end_of_line[:1], at)
        if not data.startswith(end_of_line, found_at):
            found_at = -1  # beanstalkd looks no further than the first carriage return
        end = found_at + len(end_of_line)
        size = block([word for word in data[at:end].rstrip(_END).split(b" ") if word]) if found_at >= 0 else None
        stop = end if size is None else end + size + len(_END)
        if found_at < 0 or stop > len(data):
            message = f"the system waits for more after {show(data[at:][:40])}"
            raise CodecError(message)
        found.append(data[at:stop])
        at = stop
    return found


def with_sizes(data: bytes, size: Callable[[bytes], int | None]) -> list[bytes]:
    r"""Return the messages in a stream.

    `size` returns the length of the first message in some bytes, None if it needs more bytes.
    Raises CodecError if the system would wait for more. After bytes that contain no size, the system reads nothing
    more.

    >>> with_sizes(b"\x01a\x02bc", lambda begun: 1 + begun[0])
    [b'\x01a', b'\x02bc']
    """
    found, at = list[bytes](), 0
    while at < len(data):
        try:
            many = size(data[at:])
        except CodecError:
            return [*found, data[at:]]
        if many is None or at + many > len(data):
            message = f"the system waits for more after {show(data[at:][:40])}"
            raise CodecError(message)
        found.append(data[at : at + many])
        at += many
    return found


def whole_lines(data: bytes) -> list[bytes]:
    """Return the lines in the bytes of one frame, whatever their line ends.

    >>> whole_lines(b"one" + _END + b"two"), whole_lines(b"")
    ([b'one', b'two'], [b''])
    """
    return data.replace(b"\r", b"\n").replace(b"\n\n", b"\n").split(b"\n")


def whole_line(data: bytes) -> list[bytes]:
    r"""Return the typed line, without the return key; editing keys would make it another line.

    Raises CodecError for editing keys: backspace, escape and the like, whatever the prompt makes of them.

    >>> whole_line(b"a = 1\xff")
    [b'a = 1\xff']
    """
    if _KEYS.search(data) and data not in _INTERRUPTS:
        message = f"{show(data[:40])} has keys that edit the line"
        raise CodecError(message)
    return [data]


def printable(data: bytes) -> str:
    """Return the text of a printable line, which is a message to a prompt. Raises CodecError for any other.

    >>> printable(b"a = 1")
    'a = 1'
    """
    if _UNPRINTED.search(data):
        message = f"{show(data[:40])} is not a line that can be printed"
        raise CodecError(message)
    return data.decode("ascii")
