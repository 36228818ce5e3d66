"""Logs of CAN buses: candump, and ASC and BLF files of python-can and other tools.

Each frame has the bytes that the CAN adapter gives it: those of LINKTYPE_CAN_SOCKETCAN. Frames that a log marks as sent
were inputs. The others were seen on the bus, which also shows the tester's own.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Generator, Iterable, Iterator
from itertools import count
from typing import Final, NoReturn

from otf.errors import TraceError
from otf.offline.entries import UNTIMED, LogEntry, Way
from otf.offline.textlogs import Bounded, numbered

_HEAD: Final = struct.Struct(">IBBxx")
_EXTENDED, _REMOTE = 0x8000_0000, 0x4000_0000
_BRS, _ESI, _FD = 1, 2, 4
_LOGGED = re.compile(
    rb"\((\d{1,12}\.\d{1,9})\)\s+\S+\s+([0-9A-Fa-f]{3,8})#(#[0-9A-Fa-f])?([0-9A-Fa-f]*|R\d?)(?:\s+([RT]))?\s*"
)
_SHOWN = re.compile(
    rb"\s*(?:\((\d{1,12}\.\d{1,9})\)\s+)?\S+\s+(?:([RT])X\s\S\s\S\s+)?([0-9A-Fa-f]{3,8})\s+\[(\d\d?)\]\s*"
    rb"((?:[0-9A-Fa-f]{2} ?)*|remote request)\s*"
)


def frame_entry(  # noqa: PLR0913 -- what a frame has
    at: float,
    number: int,
    data: bytes,
    place: int,
    *,
    way: Way = "unknown",
    remote: int | None = None,
    flags: int = 0,
    unit: float = 0.0,
) -> LogEntry:
    """Return the entry of a frame; a `remote` frame asks for that many bytes."""
    if remote is not None:
        number, data = number | _REMOTE, bytes(remote)
    return LogEntry(at, _HEAD.pack(number & 0xFFFF_FFFF, len(data), flags) + data, way, place, is_frame=True, unit=unit)


def candump(source: Iterable[bytes], name: str) -> Iterator[LogEntry]:
    """Yield the frames in the output of `candump -L` or `candump`. Raises TraceError that names the line."""
    for place, line in numbered(source, name):
        if found := _LOGGED.fullmatch(line):
            yield _logged_entry(found, place)
        elif found := _SHOWN.fullmatch(line):
            yield _shown(found, place)
        elif line.strip():
            _refuse(name, f"line {place}", "this is not a line of candump; `candump -L BUS` prints such logs")


def _logged_entry(found: re.Match[bytes], place: int) -> LogEntry:
    at, number, fd, data, way = found.groups()
    remote = int(data[1:] or b"0") if data[:1] == b"R" else None
    return frame_entry(
        float(at),
        _number(number),
        b"" if remote is not None else bytes.fromhex(data[: len(data) & ~1].decode()),
        place,
        way="sent" if way == b"T" else "unknown",
        remote=remote,
        flags=_FD | int(fd[1:], 16) & (_BRS | _ESI) if fd else 0,
    )


def _shown(found: re.Match[bytes], place: int) -> LogEntry:
    at, way, number, size, data = found.groups()
    is_remote = data.startswith(b"remote")
    return frame_entry(
        float(at or 0),
        _number(number),
        b"" if is_remote else bytes.fromhex(data.decode()),
        place,
        way="sent" if way == b"T" else "unknown",
        remote=int(size) if is_remote else None,
        flags=_FD if len(size) > 1 else 0,
        unit=0.0 if at else UNTIMED,
    )


def _number(text: bytes) -> int:
    # eight digits are a 29-bit identifier, however small
    return int(text, 16) | (_EXTENDED if len(text) == 8 and int(text, 16) < 1 << 29 else 0)  # noqa: PLR2004 -- the same


_CLASSIC = re.compile(rb"\s*(\d{1,9}\.\d{1,9})\s+\S+\s+([0-9A-Fa-f]{1,9})(x?)\s+(Rx|Tx)\s+([dr])\b\s*(.*)", re.DOTALL)
_CANFD = re.compile(
    rb"\s*(\d{1,9}\.\d{1,9})\s+CANFD\s+\d+\s+(Rx|Tx)\s+([0-9A-Fa-f]{1,9})(x?)\s+(?:\S+\s+)?([01])\s+([01])\s+\w\s+(\d\d?)\s(.*)",
    re.DOTALL,
)


def asc(source: Iterable[bytes], name: str) -> Iterator[LogEntry]:
    """Yield the frames of an ASC file. It skips other events. Raises TraceError that names the line."""
    base, is_relative, last = 16, False, 0.0
    for place, line in numbered(source, name):
        if line.startswith(b"base "):
            base, is_relative = 10 if b"dec" in line else 16, b"relative" in line
        try:
            entry = _asc_entry(line, place, base)
        except ValueError as error:
            _refuse(name, f"line {place}", f"this is not a frame: {error}")
        if entry is not None:
            last = entry.at + (last if is_relative else 0.0)
            yield entry._replace(at=last)


def _asc_entry(line: bytes, place: int, base: int) -> LogEntry | None:
    if found := _CLASSIC.fullmatch(line):
        at, number, extended, way, kind, rest = found.groups()
        words = rest.split()
        size = min(int(words[0], 16), 8) if words else 0
        remote, data, flags = size if kind == b"r" else None, words[1 : size + 1], 0
    elif found := _CANFD.fullmatch(line):
        at, way, number, extended, brs, esi, length, rest = found.groups()
        size = int(length)
        remote, data, flags = None, rest.split()[:size], _FD | _BRS * (brs == b"1") | _ESI * (esi == b"1")
    else:
        return None
    if remote is None and len(data) != size:
        raise ValueError(f"it has {len(data)} bytes of {size}")
    identifier = int(number, base) | (_EXTENDED if extended else 0)
    raw = bytes(int(each, base) for each in data)
    return frame_entry(float(at), identifier, raw, place, way=_direction(way == b"Tx"), remote=remote, flags=flags)


def _direction(is_sent: bool) -> Way:  # noqa: FBT001 -- the caller has named it
    return "sent" if is_sent else "unknown"


_LOBJ, _CONTAINER = b"LOBJ", 10
_OBJECT: Final = struct.Struct("<4sHHII")
_MOST: Final = 1 << 24  # bytes of a container, even unpacked: writers begin a new one after 128 KiB
_FRAME, _FD_FRAME, _FD_64 = struct.Struct("<HBBI8s"), struct.Struct("<HBBIIBBB5x64s"), struct.Struct("<BBBBIII16xHBB4x")
_SIZES: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64)


def blf(file: Bounded, name: str) -> Iterator[LogEntry]:
    """Yield the frames of a BLF file, container by container. Raises TraceError that names the object at fault."""
    head = file.read(144)
    size = int.from_bytes(head[4:8], "little")
    if head[:4] != b"LOGG" or not len(head) <= size <= _MOST:
        _refuse(name, "its start", "this is not a BLF file")
    file.read(size - len(head))
    places, rest = count(1), b""
    for unpacked in _containers(file, name):
        rest = yield from _objects(rest + unpacked, places, name)


def _containers(file: Bounded, name: str) -> Iterator[bytes]:
    for place in count(1):
        head = file.read(_OBJECT.size)
        if len(head) < _OBJECT.size:
            return
        signature, _, _, size, kind = _OBJECT.unpack(head)
        if signature != _LOBJ or not _OBJECT.size <= size <= _MOST:
            _refuse(
                name,
                f"container {place}",
                f"it begins with {head.hex()}, which is not an object of at most {_MOST} bytes",
            )
        data = file.read(size - _OBJECT.size)
        file.read(size % 4)
        if len(data) < size - _OBJECT.size:
            return  # the program that wrote it was killed
        if kind == _CONTAINER:
            yield _unpack(data, f"{name}, container {place}")


def _unpack(data: bytes, where: str) -> bytes:
    method, packed = int.from_bytes(data[:2], "little"), data[16:]
    if method == 0:
        return packed
    try:
        unpacked = zlib.decompressobj().decompress(packed, _MOST + 1)
    except zlib.error as error:
        raise TraceError(f"{where}: {error}") from error
    if len(unpacked) > _MOST:
        raise TraceError(f"{where}: it has more than {_MOST} bytes when it is unpacked")
    return unpacked


def _objects(data: bytes, places: Iterator[int], name: str) -> Generator[LogEntry, None, bytes]:
    """Yield the frames among the objects; return the bytes of an object that continues in the next container."""
    at = 0
    while (at := data.find(_LOBJ, at, at + 8)) >= 0 and at + _OBJECT.size <= len(data):
        _, head, _, size, kind = _OBJECT.unpack_from(data, at)
        if not 32 <= head <= size <= _MOST:  # noqa: PLR2004 -- the smallest head that has a time
            _refuse(name, f"object {next(places)}", f"it has {size} bytes, and its head has {head}")
        if at + size > len(data):
            return data[at:]
        entry = _blf_entry(data[at : at + size], head, kind, next(places))
        if entry is not None:
            yield entry
        at += size
    return data[at:] if at >= 0 else b""


def _blf_entry(data: bytes, head: int, kind: int, place: int) -> LogEntry | None:
    unit = 1e-5 if int.from_bytes(data[16:20], "little") == 1 else 1e-9
    at = int.from_bytes(data[24:32], "little") * unit
    try:
        if kind in {1, 86}:
            _, flags, size, number, raw = _FRAME.unpack_from(data, head)
            size, remote = min(size, 8), flags & 0x80
            way, bits = _direction(bool(flags & 1)), 0
        elif kind == 100:  # noqa: PLR2004 -- as the format numbers them
            _, flags, _, number, _, _, fd, size, raw = _FD_FRAME.unpack_from(data, head)
            remote, way, bits = flags & 0x80, _direction(bool(flags & 1)), _fd_flags(fd & 1, fd & 2, fd & 4)
        elif kind == 101:  # noqa: PLR2004 -- the same
            _, code, size, _, number, _, fd, _, tx, _ = _FD_64.unpack_from(data, head)
            raw = data[head + _FD_64.size :]
            remote, size = fd & 0x10, _SIZES[int(code) & 15]
            way, bits = _direction(bool(tx)), _fd_flags(fd & 0x1000, fd & 0x2000, fd & 0x4000)
        else:
            return None
    except struct.error:
        return None
    return frame_entry(at, number, raw[:size], place, way=way, remote=size if remote else None, flags=bits)


def _fd_flags(is_fd: int, brs: int, esi: int) -> int:
    return (_FD | _BRS * bool(brs) | _ESI * bool(esi)) if is_fd else 0


def _refuse(name: str, where: str, why: str) -> NoReturn:
    raise TraceError(f"{name}, {where}: {why}")
