"""Logs in parts: `script` with its timing file, and the tables that logic analysers export.

A table has decoded bytes, or wire levels, which this module decodes as a UART: eight data bits, no parity.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, NoReturn

from otf.errors import TraceError, UsageError
from otf.offline.entries import UNTIMED, LogEntry, Way
from otf.offline.textlogs import numbered
from otf.trace.reading import LONGEST
from otf.values import show

_CLASSIC = re.compile(rb"\d{1,9}\.\d{1,9} \d{1,7}\s*")
_COLUMNS: Final = 64
_BITS: Final = 10  # of a byte, with start and stop


def script(source: Iterable[bytes], name: str, typescript: str = "") -> Iterator[LogEntry]:
    """Yield what a terminal sent and showed, from the timing file of `script` and its `typescript`.

    A timing file of the newer form names its files, which must be in the same folder. Raises TraceError.
    """
    files, at, way_of_output = dict[str, BinaryIO](), 0.0, "unknown"
    folder = Path(name).parent
    try:
        for place, line in numbered(source, name):
            kind, delay, rest = _timing(line, name, place)
            at += delay
            if kind == "H":
                key, _, value = rest.partition(" ")
                if key in {"OUTPUT_LOG", "INPUT_LOG"}:
                    # a log must not choose which file we read, except in the folder of the timing file
                    files[key[0]] = _begun(files, folder / Path(value.strip()).name)
                way_of_output = "shown" if "I" in files else "unknown"
            elif kind in {"I", "O"}:
                if kind not in files:
                    files[kind] = _begun(files, _typescript(folder, typescript, name))
                way: Way = "sent" if kind == "I" else "shown" if way_of_output == "shown" else "unknown"
                yield LogEntry(at, _bytes(files[kind], rest, f"{name}, line {place}"), way, place)
    finally:
        for file in files.values():
            file.close()


def _timing(line: bytes, name: str, place: int) -> tuple[str, float, str]:
    words = line.decode("utf-8", "replace").split(None, 2)
    try:
        if _CLASSIC.fullmatch(line):
            return "O", float(words[0]), words[1]
        if words[0] in {"I", "O", "H", "S"}:
            return words[0], float(words[1]), words[2].strip() if words[2:] else ""
    except (IndexError, ValueError):
        pass
    raise TraceError(
        f"{name}, line {place}: this is not a line of a timing file of `script --log-timing`: {show(line)}"
    )


def _typescript(folder: Path, typescript: str, name: str) -> Path:
    if not typescript:
        why = "this timing file does not name what it belongs to"
        raise UsageError(f"{name}: {why}; give the file that `script` wrote beside it: --format script:TYPESCRIPT")
    return folder / typescript


def _begun(files: dict[str, BinaryIO], path: Path) -> BinaryIO:
    for file in files.values():
        if file.name == str(path):
            return file
    if path.exists() and not path.is_file():
        # a pipe would block for ever
        raise TraceError(f"{path}: this is not a file; it is to be a part of the log of `script`")
    try:
        opened = path.open("rb")
    except (OSError, ValueError) as error:  # a name with a zero byte
        why = error.strerror if isinstance(error, OSError) else error
        raise TraceError(f"{show(str(path))}: {why}; it is a part of the log of `script`") from error
    opened.readline(LONGEST)  # "Script started on …", which the times leave out
    return opened


def _bytes(file: BinaryIO, size: str, where: str) -> bytes:
    if not size.isdigit() or len(size) > 8 or int(size) > LONGEST:  # noqa: PLR2004 -- as many digits as the bound has
        raise TraceError(f"{where}: {show(size)} is not a number of bytes up to {LONGEST}")
    return file.read(int(size))


class _Table(NamedTuple):
    """The columns of a table that have the time, the byte, and the name of its channel; -1: none."""

    time: int
    data: int
    channel: int


def table(source: Iterable[bytes], name: str, baud: str = "") -> Iterator[LogEntry]:
    """Yield the bytes in a table of Saleae's Logic or sigrok: decoded bytes, or wire levels at a rate of `baud`.

    Raises TraceError that names the line; UsageError if the baud rate is missing.
    """
    rate, head, wires, place = 0.0, None, list[_Uart](), 0
    for place, line in numbered(source, name):
        texts = _cells(line, name, place)
        if texts[0].startswith((";", "META ")):
            rate = _rate(line) or rate
        elif _ANNOTATION.fullmatch(line):
            yield _annotated(line, place, float(baud or 0))
        elif head is None:
            head = _head(texts, name)
            if head.data < 0:
                wires = [_Uart(_baud(baud, name), text) for text in texts[(head.time >= 0) :]]
        elif head.data >= 0:
            yield _row(texts, head, name, place)
        else:
            at = _seconds(texts[head.time], name, place) if head.time >= 0 else place / (rate or _no_rate(name))
            for wire, level in zip(wires, texts[(head.time >= 0) :], strict=False):
                yield from wire.take(at, level.strip() == "1", place)
    for wire in wires:
        yield from wire.take(UNTIMED, wire.level, place)


def _cells(line: bytes, name: str, place: int) -> list[str]:
    try:
        rows = list(csv.reader([line.decode("utf-8", "replace").rstrip("\r\n")]))
    except csv.Error as error:
        _refuse(name, place, str(error))
    return [text for row in rows for text in row][:_COLUMNS] or [""]


def _head(texts: list[str], name: str) -> _Table:
    words = [text.strip().lower() for text in texts]
    time = next((at for at, word in enumerate(words) if word.startswith(("start_time", "time", "start"))), -1)
    data = next((at for at, word in enumerate(words) if word in {"data", "value", "mosi", "miso"}), -1)
    if time < 0 and data < 0 and not all(re.fullmatch(r"[a-z]+\d*|[01]|logic.*", word) for word in words):
        raise TraceError(f"{name}, line 1: {show(texts)} are not the columns of a table of Saleae's Logic or of sigrok")
    return _Table(time, data, words.index("name") if "name" in words else -1)


def _row(texts: list[str], head: _Table, name: str, place: int) -> LogEntry:
    if len(texts) <= max(head):
        _refuse(name, place, f"it has {len(texts)} columns")
    at = _seconds(texts[head.time], name, place) if head.time >= 0 else 0.0
    channel = texts[head.channel] if head.channel >= 0 else ""
    return LogEntry(
        at,
        _byte(texts[head.data], name, place),
        "unknown",
        place,
        unit=0.0 if head.time >= 0 else UNTIMED,
        channel=channel,
    )


_NAMED: Final = {"\\r": b"\r", "\\n": b"\n", "\\t": b"\t", "\\0": b"\0", "' '": b" ", "COMMA": b",", "SPACE": b" "}


def _byte(text: str, name: str, place: int) -> bytes:
    """Return the byte in a cell: hexadecimal, a character, or empty (an event without data)."""
    word = text.strip()
    if word in _NAMED or (len(word) == 3 and word[0] == word[2] == "'"):  # noqa: PLR2004 -- a character in quotes
        return _NAMED.get(word) or word[1].encode()
    if re.fullmatch(r"0[xX][0-9A-Fa-f]{2,128}", word) and len(word) % 2 == 0:
        return bytes.fromhex(word[2:])
    if len(text) == 1:
        return text.encode()
    if word:
        _refuse(name, place, f"{show(text)} is not a byte; export the data in hexadecimal")
    return b""


def _seconds(text: str, name: str, place: int) -> float:
    try:
        if "T" in text:
            return datetime.fromisoformat(text[:26] + text[29:] if len(text) > 29 else text).timestamp()  # noqa: PLR2004 -- nanoseconds
        seconds = float(text)
    except ValueError:
        _refuse(name, place, f"{show(text)} is not a time")
    if not abs(seconds) < 1e10:  # noqa: PLR2004 -- not `>=`, which is false for nan
        _refuse(name, place, f"{show(text)} is not a time")
    return seconds


_ANNOTATION = re.compile(rb"(?:(\d{1,15})-\d{1,15} )?([\w-]+): (?:([A-Z][\w ]*): )?([0-9A-F]{2})\s*")


def _annotated(line: bytes, place: int, rate: float) -> LogEntry:
    found = _ANNOTATION.fullmatch(line)
    assert found is not None  # noqa: S101 -- the caller has looked
    sample, channel, row, data = found.groups()
    at = int(sample) / rate if sample and rate else 0.0
    name = (channel + b" " + (row or b"")).decode()
    return LogEntry(
        at, bytes.fromhex(data.decode()), "unknown", place, unit=0.0 if sample and rate else UNTIMED, channel=name
    )


_RATES: Final = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}


def _rate(line: bytes) -> float:
    found = re.search(rb"[Ss]amplerate: ([\d.]{1,12}) ?([kMG]?Hz)?", line)
    return float(found[1]) * _RATES[(found[2] or b"Hz").decode()] if found else 0.0


def _no_rate(name: str) -> NoReturn:
    raise TraceError(f"{name}: the table has neither times nor a line with its sample rate")


def _baud(text: str, name: str) -> float:
    if not re.fullmatch(r"[1-9]\d{0,8}", text):
        message = f"{name}: the table has the levels of wires"
        raise UsageError(
            f"{message}; give the baud rate of the UART, as in --format sigrok:9600, or export decoded data"
        )
    return float(text)


@dataclass
class _Uart:
    """Decodes the levels of a wire: a low start bit, eight data bits, least significant first, and a high stop bit."""

    baud: float
    name: str
    level: bool = True
    since: float | None = None
    bits: list[bool] = field(default_factory=list[bool])

    def take(self, at: float, level: bool, place: int) -> Iterator[LogEntry]:  # noqa: FBT001 -- a level
        """Take a change of the level at a time; yield the byte that ended before it, if any."""
        while self.since is not None and at >= self.since + (len(self.bits) + 0.5) / self.baud:
            self.bits.append(self.level)
            if len(self.bits) == _BITS:
                if not self.bits[0] and self.bits[-1]:
                    byte = sum(bit << place for place, bit in enumerate(self.bits[1:-1]))
                    yield LogEntry(self.since + _BITS / self.baud, bytes([byte]), "unknown", place, channel=self.name)
                self.since, self.bits = None, []
        if self.since is None and self.level and not level:
            self.since = at
        self.level = level


def _refuse(name: str, place: int, why: str) -> NoReturn:
    raise TraceError(f"{name}, line {place}: {why}")
