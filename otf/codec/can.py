"""CAN frames: each frame as a value and as Wireshark records its bytes, and a codec of the messages in a DBC file."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, make_dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any, Final

from otf.codec import OnePort
from otf.errors import CodecError, UsageError
from otf.values import show
from otf.values.arguments import checked

_HEAD: Final = struct.Struct(">IBBxx")
_EXTENDED, _REMOTE, _ERROR = 0x8000_0000, 0x4000_0000, 0x2000_0000
_BRS, _ESI, _FD = 1, 2, 4
_STANDARD_IDS, _EXTENDED_IDS = 1 << 11, 1 << 29
SIZES: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64)
"""The possible numbers of data bytes in a frame; only CAN FD allows more than 8."""
_CLASSIC: Final = 8
LONGEST: Final = 14_280
"""The bits of the longest message, one of J1939 in several frames (SAE J1939-21: 1,785 bytes)."""
_LENGTHS: Final = re.compile(rb"\bSG_ [^\n]{0,500}?: *\d+\|(\d+)@")


@dataclass(frozen=True, slots=True)
class CanFrame:
    r"""A frame on a CAN bus; `id` has 11 bits, or 29 if `extended`; `data` has 0 to 8 bytes.

    A `remote` frame requests that many bytes, all 0. `fd` is CAN FD: up to 64 bytes (`SIZES`), and it has `brs` (the
    data were sent at the higher bit rate) and `esi` (the sender is error passive).

    >>> CanFrame(0x123, b"\x01\x02").id
    291
    """

    id: int
    data: bytes = b""
    extended: bool = False
    remote: bool = False
    fd: bool = False
    brs: bool = False
    esi: bool = False


CLASSES: Final = (
    "transmission timed out",
    "arbitration lost",
    "controller",
    "protocol",
    "transceiver",
    "no acknowledgement",
    "bus off",
    "bus error",
    "restarted",
)
"""The classes of an error frame, starting from the lowest bit of its id, as in linux/can/error.h."""


@dataclass(frozen=True, slots=True)
class CanError:
    """An error frame: what the tester's own controller reports about the bus, if port and codec have `errors=True`.

    `what` holds some of `CLASSES`. The data of the frame say more, but they differ between controllers. So the trace
    has them as bytes, and they are not part of the value.

    >>> CanError(("protocol", "bus error")).what
    ('protocol', 'bus error')
    """

    what: tuple[str, ...]


def encode_can_error(number: int, data: bytes) -> bytes:
    """Return the bytes of an error frame whose id is `number`, the bits of `CLASSES`; `data` has 0 to 8 bytes.

    >>> decode_bus(encode_can_error(0x140, bytes(8)))
    CanError(what=('bus off', 'restarted'))
    """
    return _HEAD.pack(number & (_STANDARD_IDS - 1) | _ERROR, len(data), 0) + data


def decode_bus(data: bytes) -> CanFrame | CanError:
    """Return the frame or the error frame with these bytes. Raises CodecError if they are neither.

    >>> decode_bus(encode_can(CanFrame(0x123))).id
    291
    """
    number = int.from_bytes(data[:4], "big")
    if not number & _ERROR or number & _EXTENDED or len(data) < _HEAD.size:
        return decode_can(data)
    return CanError(tuple(each for at, each in enumerate(CLASSES) if number >> at & 1))


def encode_can(frame: CanFrame) -> bytes:
    r"""Return the bytes of a frame, as in captures of LINKTYPE_CAN_SOCKETCAN. Raises CodecError for an invalid frame.

    >>> encode_can(CanFrame(0x123, b"\x01\x02")).hex(" ")
    '00 00 01 23 02 00 00 00 01 02'
    """
    if why := _fault(frame):
        raise CodecError(f"{show(frame)} cannot be sent: {why}")
    number = frame.id | _EXTENDED * frame.extended | _REMOTE * frame.remote
    flags = _FD * frame.fd | _BRS * frame.brs | _ESI * frame.esi
    return _HEAD.pack(number, len(frame.data), flags) + frame.data


def decode_can(data: bytes) -> CanFrame:
    """Return the frame with these bytes. Raises CodecError if they are not a frame.

    >>> decode_can(bytes.fromhex("00 00 01 23 02 00 00 00 01 02")) == CanFrame(0x123, bytes([1, 2]))
    True
    """
    if len(data) < _HEAD.size:
        raise CodecError(f"{data.hex(' ')} is not a CAN frame: {_HEAD.size} bytes at least are needed")
    number, size, flags = _HEAD.unpack_from(data)
    is_extended, is_remote = bool(number & _EXTENDED), bool(number & _REMOTE)
    has = (bool(flags & each) for each in (_FD, _BRS, _ESI))
    frame = CanFrame(number & ~(_EXTENDED | _REMOTE), data[_HEAD.size :], is_extended, is_remote, *has)
    why = _fault(frame)
    if size != len(frame.data):
        why = f"its length is {size}, and {len(frame.data)} bytes follow"
    if not why and encode_can(frame) != data:
        why = "its flags or padding are unknown"
    if why:
        raise CodecError(f"{data[:80].hex(' ')} is not a CAN frame: {why}")
    return frame


def _fault(frame: CanFrame) -> str:
    """Return why a frame is invalid, "" if it is valid."""
    ids = _EXTENDED_IDS if frame.extended else _STANDARD_IDS
    if not 0 <= frame.id < ids:
        return f"the id {frame.id:#x} is not below {ids:#x}"
    if len(frame.data) not in (SIZES if frame.fd else SIZES[: _CLASSIC + 1]):
        return f"a {'CAN FD' if frame.fd else 'classic CAN'} frame cannot have {len(frame.data)} bytes of data"
    if frame.remote and (frame.fd or any(frame.data)):
        return "a remote frame has no data, and CAN FD has no remote frames"
    if (frame.brs or frame.esi) and not frame.fd:
        return "only CAN FD has brs and esi"
    return ""


@dataclass(frozen=True, slots=True)
class CanCodec(OnePort):
    r"""The codec of plain CAN frames, for the only port of a bench or for the port with this name.

    With `errors` it also decodes error frames.

    >>> CanCodec().decode("", CanCodec().encode(CanFrame(1, b"\x07")))
    CanFrame(id=1, data=b'\x07', extended=False, remote=False, fd=False, brs=False, esi=False)
    >>> CanCodec("bus").port(CanFrame(1))
    'bus'
    """

    name: str = ""
    errors: bool = False

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of its values."""
        return (CanFrame, CanError) if self.errors else (CanFrame,)

    def encode(self, value: object) -> bytes:
        """Return the bytes of a frame. Raises CodecError."""
        if not isinstance(value, CanFrame):
            raise CodecError(f"{show(value)} is not a CanFrame")
        return encode_can(value)

    def decode(self, port: str, data: bytes) -> CanFrame | CanError:
        """Return the frame with these bytes. Raises CodecError."""
        del port
        return decode_bus(data) if self.errors else decode_can(data)


class DbcCodec(OnePort):
    r"""The codec of the messages in a DBC file; made by `dbc`.

    `messages` maps each name to its dataclass, one of `types`.

    >>> from cantools.database import load_string
    >>> codec = DbcCodec(load_string('BO_ 291 Lamp: 1 ECU\n SG_ On : 0|8@1+ (1,0) [0|255] "" ECU\n'), "bus")
    >>> codec.encode(codec.messages["Lamp"](1)).hex()
    '000001230100000001'
    >>> codec.decode("bus", bytes.fromhex("000001230100000001")), codec.port(codec.messages["Lamp"](1))
    (Lamp(On=1), 'bus')
    """

    def __init__(self, database: Any, name: str, *, errors: bool = False) -> None:  # noqa: ANN401 -- cantools has no types for it
        self.name, self._errors = name, errors
        self._kinds = {_key(message): (message, _kind(message)) for message in database.messages}
        self._keys = {kind: key for key, (_, kind) in self._kinds.items()}
        self.messages: Mapping[str, Callable[..., Any]] = {kind.__name__: kind for _, kind in self._kinds.values()}
        self.types: tuple[type, ...] = (*(kind for _, kind in self._kinds.values()), *([CanError] if errors else []))

    def encode(self, value: object) -> bytes:
        """Return the bytes of a message. Raises CodecError."""
        if (key := self._keys.get(type(value))) is None:
            raise CodecError(f"{show(value)} is not a message of the DBC file; it has {', '.join(self.messages)}")
        message, kind = self._kinds[key]
        pairs = ((name, getattr(value, each.name)) for each, name in zip(fields(kind), _names(message), strict=True))
        given = {name: number for name, number in pairs if number is not None}
        try:
            data = message.encode(
                {key: each for key, each in given.items() if each is not None}, scaling=False, strict=False
            )
        except Exception as error:
            raise CodecError(f"{show(value)} cannot be encoded: {type(error).__name__}: {error}") from error
        fd = {"fd": True} if message.is_fd else {}
        return encode_can(CanFrame(message.frame_id, data, extended=message.is_extended_frame, **fd))

    def decode(self, port: str, data: bytes) -> object:
        """Return the message in a frame. Raises CodecError if none has this id, or its bytes do not fit."""
        del port
        frame = decode_bus(data) if self._errors else decode_can(data)
        if isinstance(frame, CanError):
            return frame
        if (found := self._kinds.get((frame.id, frame.extended))) is None:
            raise CodecError(f"the DBC file has no message with the id {frame.id:#x}: {show(frame)}")
        message, kind = found
        try:
            signals = message.decode(frame.data, scaling=False, decode_choices=False)
        except Exception as error:
            raise CodecError(f"{kind.__name__}: {frame.data.hex(' ')}: {type(error).__name__}: {error}") from error
        value: object = kind(*(signals.get(name) for name in _names(message)))
        # bits that belong to no signal would be lost, and two different frames look alike
        if self.encode(value) != data:
            raise CodecError(f"{kind.__name__}: {frame.data.hex(' ')} has bits that belong to no signal: {show(value)}")
        return value


@checked
def dbc(path: str | Path, *, name: str = "", errors: bool = False, **options: Any) -> DbcCodec:  # noqa: ANN401 -- those of cantools
    """Return the codec of the messages in a file that cantools reads (DBC, KCD, ARXML …); needs the extra `can`.

    Each message is a frozen dataclass, `codec.messages["Name"]`. Its fields are the signals as raw numbers on the bus,
    without factor and offset, so that a model compares integers. Signals left out by a multiplexer are None. `name` is
    that of the port; with `errors`, error frames are `CanError`. Further options go to `cantools.database.load_file`.
    Raises UsageError.

    >>> dbc("no.dbc")
    Traceback (most recent call last):
    otf.errors.UsageError: no.dbc: FileNotFoundError: [Errno 2] No such file or directory: 'no.dbc'
    """
    try:
        from cantools import database
    except ImportError as error:  # pragma: no cover -- the tests have it
        raise UsageError("DBC files need cantools: pip install 'otf[can]'") from error
    try:
        _bounded(Path(path).read_bytes())
        return DbcCodec(database.load_file(path, **options), name, errors=errors)
    except Exception as error:
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error


def _bounded(text: bytes) -> None:
    """Raise ValueError for a signal longer than any message, since cantools makes a list of its bits."""
    for length in _LENGTHS.findall(text):
        if len(length) > len(str(LONGEST)) or int(length) > LONGEST:
            raise ValueError(f"a signal of {show(length[:20].decode())} bits; the longest message has {LONGEST:,}")


def _key(message: Any) -> tuple[int, bool]:  # noqa: ANN401 -- one of cantools
    return message.frame_id, message.is_extended_frame


def _names(message: Any) -> list[str]:  # noqa: ANN401 -- one of cantools
    return [signal.name for signal in message.signals]


def _kind(message: Any) -> type[Any]:  # noqa: ANN401 -- one of cantools
    muxed = {signal.name for signal in message.signals if signal.multiplexer_ids}
    columns = [
        (f"{signal.name}_" if iskeyword(signal.name) else signal.name, _hint(signal, signal.name in muxed))
        for signal in message.signals
    ]
    return make_dataclass(message.name, columns, frozen=True)


def _hint(signal: Any, optional: bool) -> Any:  # noqa: ANN401, FBT001 -- one of cantools
    hint = float if signal.is_float else int
    return hint | None if optional else hint
