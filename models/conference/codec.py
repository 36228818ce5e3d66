"""The bytes of the conference protocol: lines between user and entity, datagrams between entities.

A datagram is one type byte (`J`, `A`, `D`, `L`), one byte with the id of the sending entity, then for J and A the
nickname and the conference, for D the text, each as one length byte and that many bytes of UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.models.conference.messages import (
    TYPES,
    AnswerPDUin,
    AnswerPDUout,
    Data,
    DataPDUin,
    DataPDUout,
    Datareq,
    Join,
    JoinPDUin,
    JoinPDUout,
    Leave,
    LeavePDUin,
    LeavePDUout,
)
from otf.models.texts import text_of
from otf.values import show

USER: Final = "user"
LONGEST: Final = 255


def cpe_port(cpe: int) -> str:
    """Return the name of the port on which the tester plays an entity."""
    return f"cpe{cpe}"


@dataclass(frozen=True, slots=True)
class ConferenceCodec:
    """The codec of the bench for the entity with the id `me`."""

    me: int
    entities: int

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return TYPES

    @property
    def ports(self) -> tuple[str, ...]:
        """Return the names of all ports: the user, and one for each other entity."""
        return (USER, *[cpe_port(cpe) for cpe in range(1, self.entities + 1) if cpe != self.me])

    def port(self, value: object) -> str:
        """Return the port of a value; a PDU with the tested entity's own id is sent from the lowest entity's port."""
        cpe = getattr(value, "cpe", None)
        if cpe is None:
            return USER
        name = cpe_port(cpe)
        return name if name in self.ports else self.ports[1]

    def encode(self, value: object) -> bytes:
        """Return the line or datagram of an input."""
        match value:
            case Join(nick, conf):
                return b"join " + _name(nick) + b" " + _name(conf)
            case Datareq(text):
                return b"data " + _bytes(text)
            case Leave():
                return b"leave"
            case _:
                return _datagram(value)

    def decode(self, port: str, data: bytes) -> object:
        """Return the output for a line on `user` or a datagram on the port of another entity."""
        return _line(data) if port == USER else _pdu(data, int(port.removeprefix("cpe")), self.me)

    def decode_input(self, port: str, data: bytes) -> object:
        """Return the input in a line of the user, or in a datagram to the entity. Raises CodecError."""
        value = _typed(data) if port == USER else _arrived(data)
        for name in (getattr(value, "nick", "-"), getattr(value, "conf", "-")):
            _name(name)
        # each text has to fit into a datagram, even that of a line
        texts = [getattr(value, name, "") for name in ("nick", "conf", "text")]
        if any("\n" in each for each in texts) or not all(map(_text, texts)) or self.encode(value) != data:
            message = f"{show(data)} is not an input: a text has lines, or the same is written otherwise"
            raise CodecError(message)
        return value


def _datagram(value: object) -> bytes:
    match value:
        case JoinPDUin(cpe, nick, conf):
            return b"J" + _id(cpe) + _text(nick) + _text(conf)
        case AnswerPDUin(cpe, nick, conf):
            return b"A" + _id(cpe) + _text(nick) + _text(conf)
        case DataPDUin(cpe, text):
            return b"D" + _id(cpe) + _text(text)
        case LeavePDUin(cpe):
            return b"L" + _id(cpe)
        case _:
            message = f"{show(value)} is not an input of the conference protocol"
            raise CodecError(message)


def _name(name: str) -> bytes:
    if name.split() != [name]:
        message = f"{show(name)} is not a name: a line of the user is cut at its blanks"
        raise CodecError(message)
    return _bytes(name)


def _id(cpe: int) -> bytes:
    if cpe not in range(LONGEST + 1):
        message = f"{cpe} is not an id: it has one byte"
        raise CodecError(message)
    return bytes([cpe])


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = f"{show(text)} cannot be written: {error}"
        raise CodecError(message) from error


def _text(text: str) -> bytes:
    data = _bytes(text)
    if len(data) > LONGEST:
        message = f"{show(text)} takes {len(data)} bytes; a text has one length byte"
        raise CodecError(message)
    return bytes([len(data)]) + data


def _line(data: bytes) -> Data:
    match text_of(data).split(" ", 2):
        case ["data", nick, text]:
            return Data(nick, text)
        case _:
            message = f"the line {show(data)} is not of the form: data NICK TEXT"
            raise CodecError(message)


def _typed(data: bytes) -> object:
    match text_of(data).split(" "):
        case ["join", nick, conf]:
            return Join(nick, conf)
        case ["data", *words]:
            return Datareq(" ".join(words))
        case ["leave"]:
            return Leave()
        case _:
            message = f"{show(data)} is not a command of the user"
            raise CodecError(message)


def _arrived(data: bytes) -> object:
    match data[:1], data[1:2], _texts(data[2:]):
        case b"J", cpe, [nick, conf] if cpe:
            return JoinPDUin(cpe[0], nick, conf)
        case b"A", cpe, [nick, conf] if cpe:
            return AnswerPDUin(cpe[0], nick, conf)
        case b"D", cpe, [text] if cpe:
            return DataPDUin(cpe[0], text)
        case b"L", cpe, [] if cpe:
            return LeavePDUin(cpe[0])
        case _:
            message = f"the datagram {data.hex(' ')} has bytes missing or too many, or an unknown type"
            raise CodecError(message)


def _pdu(data: bytes, cpe: int, me: int) -> object:
    if len(data) < 2 or data[1] != me:  # noqa: PLR2004 -- the type byte and the id byte
        message = f"the datagram {data.hex(' ')} does not begin with a type and the id {me}"
        raise CodecError(message)
    match data[:1], _texts(data[2:]):
        case b"J", [nick, conf]:
            return JoinPDUout(cpe, nick, conf)
        case b"A", [nick, conf]:
            return AnswerPDUout(cpe, nick, conf)
        case b"D", [text]:
            return DataPDUout(cpe, text)
        case b"L", []:
            return LeavePDUout(cpe)
        case _:
            message = f"the datagram {data.hex(' ')} has bytes missing or too many, or an unknown type"
            raise CodecError(message)


def _texts(data: bytes) -> list[str]:
    texts: list[str] = []
    while data:
        length = data[0]
        if len(data) <= length:
            message = f"a text of the datagram ends after {len(data) - 1} bytes, before its length of {length}"
            raise CodecError(message)
        texts.append(text_of(data[1 : 1 + length]))
        data = data[1 + length :]
    return texts
