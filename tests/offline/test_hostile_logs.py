"""Logs of other tools from strangers: torn, endless or malformed, they end in a verdict or a sentence."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from otf.cli.foreign import How, opinion
from otf.errors import OtfError, TraceError, UsageError
from otf.offline.canlogs import blf
from otf.offline.formats import FORMATS, guessed, named, unknown
from otf.testing.framing import damaged, noise
from tests.offline.test_formats import BENCH, BUS, LOGS, judged

FILES = {
    "script": "script-right.timing",
    "raw": "picocom-right.log",
    "text": "ts-right.log",
    "journal-export": "journal-right.export",
    "journal-json": "journal-right.json",
    "sigrok": "sigrok-right.csv",
    "saleae": "saleae-right.csv",
    "pcapng": "net-right.pcapng",
    "candump": "can-right.log",
    "asc": "can-right.asc",
    "blf": "can-right.blf",
}


def read(form: str, data: bytes, folder: Path, choice: str = "") -> str:
    """Return the outcome of a log with these bytes, or the error."""
    bench = BUS if form in {"candump", "asc", "blf"} else BENCH
    try:
        how = How(form=form, choice=choice or ("9600" if form == "sigrok" else ""))
        return opinion(str(folder / "log"), io.BytesIO(data), bench, how).verdict.outcome
    except OtfError as error:
        return str(error)


@pytest.mark.parametrize("form", FILES)
def test_damage(form: str) -> None:
    """A log with a byte changed, cut off, doubled or added, and noise, raise nothing but an error of otf."""
    whole = (LOGS / FILES[form]).read_bytes()[:4_000]
    random = Random(0)
    for data in [*damaged(random, [whole], 60), *noise(random, 60, 200), whole[:-1], whole[:7]]:
        assert read(form, data, LOGS)


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("byte", [b"0", b"\0", b"(", b"{", b"\xff"])
def test_a_line_without_end(form: str, byte: bytes, tmp_path: Path) -> None:
    """It is not read into memory as a whole."""
    assert read(form, (LOGS / FILES[form]).read_bytes()[:30] + byte * 3_000_000, tmp_path)


@pytest.mark.parametrize(
    ("form", "data", "says"),
    [
        ("candump", b"hello\n", "log, line 1: this is no line of candump; `candump -L BUS` prints such logs"),
        ("asc", b"base dec\n 0.1 1 100 Rx d 2 01\n", "log, line 2: this is no frame: it has 1 bytes of 2"),
        ("asc", b"base dec\n 0.1 1 1AF Rx d 0\n", "log, line 2: this is no frame: invalid literal"),
        ("blf", b"LOGG" + bytes(10), "log, its start: this is no BLF file"),
        ("blf", b"LOGG" + b"\xff" * 200, "log, its start: this is no BLF file"),
        ("script", b"hello\n", "line 1: this is no line of a timing file"),
        ("script", b"0.1 5\n", "give the file that `script` wrote beside it: --format script:TYPESCRIPT"),
        ("script", b"O 0.1 -5\n", "give the file that"),
        (
            "script",
            b"H 0 OUTPUT_LOG /etc/passwd\nO 0.1 5\n",
            "passwd: No such file or directory; it is a part of the log",
        ),
        ("journal-json", b"{}\n", "line 1: this is no entry of `journalctl -o json`: KeyError"),
        ("journal-json", b"[]\n", "line 1: this is no entry"),
        ("journal-export", b"MESSAGE=x\n\n", "entry 1: it has no __REALTIME_TIMESTAMP"),
        ("journal-export", b"MESSAGE\n" + b"\xff" * 20, "the field b'MESSAGE' has 18446744073709551615 bytes"),
        ("saleae", b"\x01\x02\n", "line 1: .* are no columns of a table"),
        ("saleae", b"name,type,start_time,duration,data\nTX,data,1,0,xyz\n", "line 2: 'xyz' is no byte"),
        ("saleae", b"name,type,start_time,duration,data\nTX,data,nan,0,0x41\n", "line 2: 'nan' is no time"),
        ("saleae", b"name,type,start_time,duration,data\nTX,data,soon,0,0x41\n", "line 2: 'soon' is no time"),
        ("saleae", b"name,type,start_time,duration,data\nTX,data\n", "line 2: it has 2 columns"),
        ("saleae", b"Time [s],Channel 0\n0.0,1\n", "give the baud rate of the UART"),
        ("sigrok", b"logic\n1\n", "the table has neither times nor a line with its sample rate"),
    ],
)
def test_what_is_wrong_has_a_place(form: str, data: bytes, says: str, tmp_path: Path) -> None:
    """The error says what was expected, and where."""
    how = How(form=form, choice="9600" if form == "sigrok" else "")
    bench = BUS if form in {"candump", "asc", "blf"} else BENCH
    with pytest.raises(OtfError, match=says):
        opinion(str(tmp_path / "log"), io.BytesIO(data), bench, how)


def container(data: bytes, method: int = 2) -> bytes:
    """Return a BLF file with one container."""
    body = struct.pack("<H6xL4x", method, len(data)) + (zlib.compress(data) if method else data)
    head = b"LOGG" + struct.pack("<I", 144) + bytes(136)
    return head + struct.pack("<4sHHII", b"LOBJ", 16, 1, 16 + len(body), 10) + body


def frame(kind: int, body: bytes, size: int | None = None, head: int = 32) -> bytes:
    """Return an object of a BLF file."""
    whole = head + len(body) if size is None else size
    return struct.pack("<4sHHIIIHHQ", b"LOBJ", head, 1, whole, kind, 2, 0, 0, 10**9) + body


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (container(bytes(1 << 25)), "more than 16777216 bytes when it is unpacked"),
        (container(b"x", method=2)[:-5] + b"hello", "container 1: Error"),
        (container(frame(1, b"", size=0), method=0), "object 1: it has 0 bytes"),
        (container(frame(1, b"", size=1 << 30), method=0), "object 1: it has 1073741824 bytes"),
        (container(b"")[:144] + b"hello, world, hello", "container 1: it begins with 68656c6c"),
        (container(b"")[:144] + struct.pack("<4sHHII", b"LOBJ", 16, 1, 0, 10), "container 1"),
    ],
    ids=map(str, range(6)),
)
def test_a_blf_file_of_a_stranger(data: bytes, says: str) -> None:
    """Neither a length of nothing nor one of everything is believed, and what is unpacked has a bound."""
    with pytest.raises(TraceError, match=says):
        list(blf(io.BytesIO(data), "a.blf"))


def test_objects_of_a_blf_file() -> None:
    """Classic frames and both kinds of CAN FD frames; an object may go on in the next container; others are skipped."""
    classic = frame(1, struct.pack("<HBBI8s", 1, 1, 2, 0x123, b"ab"))
    remote = frame(86, struct.pack("<HBBI8s", 1, 0x80, 2, 0x80000123, b""))
    fd = frame(100, struct.pack("<HBBIIBBB5x64s", 1, 0, 9, 0x124, 0, 0, 3, 12, b"x" * 12))
    fd_64 = frame(101, struct.pack("<BBBBIII16xHBB4x", 1, 9, 12, 0, 0x125, 0, 0x5000, 0, 1, 0) + b"y" * 12)
    data = classic + frame(65, bytes(8)) + remote + fd + frame(1, b"") + fd_64
    whole = container(data[:150]) + b"\0" * ((len(container(data[:150])) - 144) % 4) + container(data[150:])[144:]
    found = [(each.at, each.way, each.data.hex()) for each in blf(io.BytesIO(whole), "a.blf")]
    assert found == [
        (1.0, "sent", "0000012302000000" + "6162"),
        (1.0, "unknown", "c000012302000000" + "0000"),
        (1.0, "unknown", "000001240c050000" + "78" * 12),
        (1.0, "sent", "000001250c060000" + "79" * 12),
    ]


def test_the_name_of_a_format() -> None:
    """An unknown one is told those that there are; only some take something after a colon."""
    assert (named("candump"), named("picocom"), named("script:out")) == (
        ("candump", ""),
        ("raw", ""),
        ("script", "out"),
    )
    with pytest.raises(UsageError, match=r"--format 'exe': there is no such format; there are pcap, pcapng, candump"):
        named("exe")
    with pytest.raises(UsageError, match="raw has no option"):
        named("raw:5")
    assert guessed(b"\x7fELF") == ""
    assert "name its format with --format, one of pcap" in str(unknown("a.bin", b"\x7fELF"))
    assert all(each.about for each in FORMATS.values())


def test_the_port_of_a_log() -> None:
    """With several it has to be named, and it has to be one of them."""
    two = replace(BENCH, ports={"a": BENCH.ports["line"], "b": BENCH.ports["line"]}, codec=BENCH.codec)
    with pytest.raises(UsageError, match=r"say of which port of the bench it is: --port a\|b"):
        judged("ts-right.log", two)
    with pytest.raises(UsageError, match="the bench has no port 'c'; it has a, b"):
        judged("ts-right.log", two, port="c")
    with suppress(OtfError):
        judged("ts-right.log", two, port="a")
