"""Commands, mails and replies of SMTP, and their bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.codec import PortAction
from otf.errors import CodecError
from otf.framing import Framing, measured
from otf.models.texts import text_of
from otf.values import show

SESSION: Final = "session"
SPOOL: Final = "spool"
HANDSHAKE: Final = b"\0handshake"
"""The codec's bytes for the client's part of TLS, which the line carries out."""
SECURED: Final = b"\0secured"
"""The line's frame once both sides have agreed on TLS."""
KEYWORDS: Final = ("AUTH", "PIPELINING", "STARTTLS")
_REPLY: Final = re.compile(r"([2-5][0-9]{2})(?:([- ])(.*))?", re.ASCII)
_COMMAND: Final = re.compile(
    r"(EHLO|HELO|MAIL|RCPT|DATA|RSET|NOOP|QUIT|VRFY|EXPN|HELP|AUTH|STARTTLS)( .*|:.*)?", re.IGNORECASE
)
"""What a server takes for a command, right or wrong; nothing else is one, unless it asked for text."""
_ENDS: Final = re.compile(rb"\r(?!\n)|(?<!\r)\n|\0")
_MAIL: Final = re.compile(r"mail (\S+) (\S+) ([0-9a-f]*)", re.ASCII)
_END: Final = b"\r\n"


@dataclass(frozen=True, slots=True)
class Connect:
    """The client connects."""


@dataclass(frozen=True, slots=True)
class Command:
    """A line that is not part of a mail."""

    line: str


@dataclass(frozen=True, slots=True)
class Commands:
    """Several lines in one segment."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of a mail, sent after DATA; the codec doubles leading dots, and ends the mail."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The raw beginning of a mail, without the end of a mail in it."""

    text: str


@dataclass(frozen=True, slots=True)
class Handshake:
    """The client negotiates TLS, once the server is ready for it."""


@dataclass(frozen=True, slots=True)
class Secured:
    """Both sides have agreed on TLS."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: its code, its number of lines, and the extensions that it offers. Its text is for people."""

    code: int
    lines: int = 1
    offers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Accepted:
    """A mail that the server has accepted responsibility for: sender ("" for none), distinct recipients, and lines."""

    sender: str
    recipients: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SmtpCodec:
    """The codec; the session is a connection, and the spool is the server's output."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Connect, Command, Commands, Text, Part, Handshake, Secured, Reply, Accepted)

    def port(self, value: object) -> str:
        """Return the port of a value."""
        return SPOOL if isinstance(value, Accepted) else SESSION

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input. Raises CodecError."""
        match value:
            case Connect():
                return PortAction.CONNECT
            case Handshake():
                return HANDSHAKE
            case Command(line):
                return f"{line}\r\n".encode()
            case Commands(lines):
                return "".join(f"{line}\r\n" for line in lines).encode()
            case Text(lines):
                stuffed = (f".{line}" if line.startswith(".") else line for line in lines)
                return "".join(f"{line}\r\n" for line in [*stuffed, "."]).encode()
            case Part(text):
                return text.encode()
            case _:
                message = f"{show(value)} is not an input of a mail server"
                raise CodecError(message)

    def decode_input(self, port: str, data: bytes) -> Command | Commands | Text:
        """Return the commands or the mail in some bytes, as a server reads them. Raises CodecError."""
        del port
        # letters beyond ASCII do not make it another command, and a server may accept them
        text = text_of(data, "latin-1")
        if text.endswith("\r\n.\r\n") or text == ".\r\n":
            return Text(tuple(line.removeprefix(".") for line in text.split("\r\n")[:-2]))
        lines = tuple(text.removesuffix("\r\n").split("\r\n"))
        if not text.endswith("\r\n") or not all(map(_COMMAND.fullmatch, lines)):
            message = f"{show(text[:60])} is neither a command nor a mail"
            raise CodecError(message)
        return Command(lines[0]) if len(lines) == 1 else Commands(lines)

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the bytes, which are lines. Raises CodecError if a server may wait for the end of one."""
        del port
        if not data.endswith(_END) or _ENDS.search(data):
            raise CodecError("a server may wait for the end of a line, or find one where another does not")
        return [data]

    def decode(self, port: str, data: bytes) -> Reply | Accepted | Secured:
        """Return the reply or the mail in a frame. Raises CodecError."""
        if port == SPOOL:
            return _accepted(text_of(data, "ascii"))
        return Secured() if data == SECURED else _reply(text_of(data, "ascii"))


def _reply(text: str) -> Reply:
    lines = text.removesuffix("\r\n").split("\r\n")
    found = [_REPLY.fullmatch(line) for line in lines]
    marks = [each[2] or " " for each in found if each is not None]
    if len(marks) < len(lines) or marks != ["-"] * (len(lines) - 1) + [" "] or len({line[:3] for line in lines}) > 1:
        message = f"{show(text)} is not a reply: each line has the same code, and all but the last a hyphen after it"
        raise CodecError(message)
    words = {line[4:].partition(" ")[0].upper() for line in lines[1:]}
    return Reply(int(lines[0][:3]), len(lines), tuple(each for each in KEYWORDS if each in words))


def _accepted(text: str) -> Accepted:
    found = _MAIL.fullmatch(text)
    if found is None:
        message = f"{show(text)} is not a mail as the server prints it"
        raise CodecError(message)
    content = text_of(bytes.fromhex(found[3]), "ascii").split("\r\n")
    return Accepted(found[1].removeprefix("-"), tuple(dict.fromkeys(found[2].split(","))), tuple(content[:-1]))


def replies() -> Framing:
    """Return the framing: a reply extends to the first line without a hyphen after its code."""
    return measured(_size)


def _size(begun: bytes) -> int | None:
    """Return the size of the first reply; None while unknown."""
    at = 0
    while (end := begun.find(_END, at)) >= 0:
        if begun[at + 3 : at + 4] != b"-":
            return end + len(_END)
        at = end + len(_END)
    return None
