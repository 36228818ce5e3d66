"""Typed lines and the board's answers, and their bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.framing import Framing, prompt
from otf.models.texts import printable, text_of, whole_line
from otf.values import show

PORT: Final = "serial"
"""The name of the only port.

>>> UbootCodec().port(Type("version")) == PORT
True
"""
PROMPT: Final = b"=> "
"""What the board prints when it waits for a line.

>>> UbootCodec().decode(PORT, PROMPT)
Answer(echo='', lines=())
"""
COUNTDOWN: Final = b"Hit any key to stop autoboot:  2 "
INTERRUPT: Final = "\x03"


@dataclass(frozen=True, slots=True)
class Type:
    """A typed `line`; empty: only the return key.

    >>> UbootCodec().encode(Type("printenv"))
    b'printenv'
    """

    line: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The output up to the next prompt: the `echo` of the command, and the printed `lines`.

    >>> Answer("echo hello", ("hello",)).lines
    ('hello',)
    """

    echo: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Countdown:
    """The board has restarted, and waits for a key.

    >>> UbootCodec().decode(PORT, COUNTDOWN)
    Countdown()
    """


@dataclass(frozen=True, slots=True)
class UbootCodec:
    r"""The codec; a frame is the output up to a prompt.

    >>> UbootCodec().decode(PORT, b"echo hello\r\nhello\r\n=> ")
    Answer(echo='echo hello', lines=('hello',))
    >>> UbootCodec().encode(Type("version")), UbootCodec().port(Type("version"))
    (b'version', 'serial')
    >>> UbootCodec().decode_input(PORT, b"version"), UbootCodec().split_input(PORT, b"version")
    (Type(line='version'), [b'version'])
    """

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Type, Answer, Countdown)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes:
        """Return the typed bytes. Raises CodecError."""
        if not isinstance(value, Type):
            message = f"{show(value)} cannot be typed"
            raise CodecError(message)
        return value.line.encode()

    def decode(self, port: str, data: bytes) -> Answer | Countdown:
        """Return the answer in the bytes up to a prompt. Raises CodecError."""
        del port
        if data.endswith(COUNTDOWN):
            return Countdown()
        echo, *lines = text_of(data.removesuffix(PROMPT), "ascii").split("\r\n")
        if lines[-1:] == [""]:
            lines.pop()
        # the end of a countdown is not an echo: it goes back over its digits
        return Answer("" if "\b" in echo else echo, tuple(line.rstrip() for line in lines))

    def decode_input(self, port: str, data: bytes) -> Type:
        """Return the typed input: any printable line, or Ctrl-C. Raises CodecError."""
        del port
        return Type(INTERRUPT if data == INTERRUPT.encode() else printable(data))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the line. Raises CodecError if it contains editing keys."""
        del port
        return whole_line(data)


def prompts() -> Framing:
    r"""Return the framing: up to the prompt, or to the countdown.

    >>> [frame.data for frame in prompts()().feed(b"version\r\nU-Boot\r\n=> ver")]
    [b'version\r\nU-Boot\r\n=> ']
    """
    return prompt(PROMPT, COUNTDOWN, keep=True)


def ends_answer(_port: str, output: object) -> bool:
    """Return whether the board says nothing more after an output: it does only after an interruption."""
    return isinstance(output, Countdown) or (isinstance(output, Answer) and output.echo != "<INTERRUPT>")
