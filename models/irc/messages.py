"""Messages of clients and of the server, and the parts of a line that the model needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.models.texts import text_of, whole_lines
from otf.values import show

CLIENTS: Final = ("n0", "n1", "n2")
"""The nicknames; the ports have the same names."""

SERVER: Final = "server"
_LONGEST: Final = 510  # bytes of a line (RFC 2812, section 2.3)
_NAMES: Final = re.compile(
    "PASS|NICK|USER|OPER|MODE|SERVICE|S?QUIT|N?JOIN|PART|TOPIC|NAMES|LIST|INVITE|KICK|PRIVMSG|NOTICE|MOTD|LUSERS|VERSION"
    "|STATS|LINKS|TIME|CONNECT|TRACE|ADMIN|INFO|SERVLIST|SQUERY|WHO(IS|WAS)?|KILL|P[IO]NG|ERROR|AWAY|REHASH|DIE|RESTART"
    "|SUMMON|USERS|WALLOPS|USERHOST|ISON|CAP|METADATA|CHANINFO|HELP|[GK]LINE|WEBIRC|SERVER|SVSNICK|BOGUS"
)
"""Words that a server takes for commands, known to the model or not, and one that no server has.
"""

_NUMBER: Final = re.compile("[0-9]{3}")
_ERRORS: Final = 400
_TIMED: Final = {"333", "329"}  # who set the topic and when, when the channel was made: not in the RFC, but everywhere


@dataclass(frozen=True, slots=True)
class Say:
    """A client sends a command; the last of its words may have blanks if it begins with a colon."""

    client: str
    command: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """A message to a client: its sender (a nickname, or the server), a command or a number, and its words.

    This leaves out the client's own name and the text for people in numbers, and the order of names in a channel.
    """

    client: str
    sender: str
    command: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IrcCodec:
    """The codec; a frame is a line."""

    server: str = "irc.test"

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Say, Told)

    def port(self, value: object) -> str:
        """Return the client that a value belongs to."""
        return str(getattr(value, "client", ""))

    def encode(self, value: object) -> bytes:
        """Return the line of an input."""
        if not isinstance(value, Say):
            message = f"{show(value)} is not a command of a client"
            raise CodecError(message)
        return " ".join((value.command, *value.words)).encode()

    def decode(self, port: str, data: bytes) -> Told:
        """Return the message in a line."""
        prefix, command, words = _parts(text_of(data))
        sender = SERVER if prefix == self.server else prefix.partition("!")[0]
        if _NUMBER.fullmatch(command):
            return Told(port, sender, command, _about(command, words[1:]))
        # the comment of a client that leaves or kicks comes last, and may be anything
        return Told(port, sender, command, words[: {"PART": 1, "KICK": 2}.get(command, len(words))])

    def decode_input(self, port: str, data: bytes) -> Say:
        """Return the command in a line. Raises CodecError if no server would take it for one."""
        line = text_of(data, "latin-1")
        prefix, command, _ = _parts(line)
        if prefix or not _NAMES.fullmatch(command.upper()) or any(end in line for end in "\r\n"):
            message = f"{show(line)} is not a command of a client"
            raise CodecError(message)
        middle, colon, last = line.partition(" :")
        words = [word for word in middle.split(" ") if word]
        return Say(port, words[0], (*words[1:], *([":" + last] if colon else [])))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the lines in a frame. Raises CodecError where servers differ: a long line or a zero byte."""
        del port
        if len(data) > _LONGEST or b"\0" in data:
            raise CodecError("a line is too long, or has a zero byte, after which some servers see no end of it")
        return whole_lines(data)


def _parts(line: str) -> tuple[str, str, tuple[str, ...]]:
    prefix, _, rest = line.removeprefix(":").partition(" ") if line.startswith(":") else ("", "", line)
    middle, colon, last = rest.partition(" :")
    words = [word for word in middle.split(" ") if word]
    if not words:
        message = f"the line {show(line)} has no command"
        raise CodecError(message)
    return prefix, words[0], (*words[1:], *([last] if colon else []))


def _about(number: str, words: tuple[str, ...]) -> tuple[str, ...]:
    if number == "353" and words:
        # who is in the channel: "= #x :@n0 n1"
        return (*words[1:-1], " ".join(sorted(words[-1].split())))
    if number in _TIMED:
        return words[:1]
    texts = int(number) >= _ERRORS or number in {"331", "366"}
    return words[:-1] if texts else words
