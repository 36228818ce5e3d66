"""Logs of other tools from strangers: torn, endless or malformed, they end in a verdict or a sentence."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from otf.cli.replay_logs import How, opinion
from otf.errors import OtfError, TraceError, UsageError
from otf.offline.formats import FORMATS, guessed, named, unknown
from otf.testing.framing import damaged, noise
from tests.offline.test_canlogs import BUS
from tests.offline.test_formats import BENCH, LOGS, judged

FILES = {
    "script": "script-right.timing",
    "raw": "picocom-right.log",
    "text": "ts-right.log",
    "directed": "directed-right.log",
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
        ("candump", b"hello\n", "log, line 1: this is not a line of candump; `candump -L BUS` prints such logs"),
        ("asc", b"base dec\n 0.1 1 100 Rx d 2 01\n", "log, line 2: this is not a frame: it has 1 bytes of 2"),
        ("asc", b"base dec\n 0.1 1 1AF Rx d 0\n", "log, line 2: this is not a frame: invalid literal"),
        ("blf", b"LOGG" + bytes(10), "log, its start: this is not a BLF file"),
        ("blf", b"LOGG" + b"\xff" * 200, "log, its start: this is not a BLF file"),
        ("script", b"hello\n", "line 1: this is not a line of a timing file"),
        ("script", b"0.1 5\n", "give the file that `script` wrote beside it: --format script:TYPESCRIPT"),
        ("script", b"O 0.1 -5\n", "give the file that"),
        (
            "script",
            b"H 0 OUTPUT_LOG /etc/passwd\nO 0.1 5\n",
            "passwd': No such file or directory; it is a part of the log",
        ),
        ("journal-json", b"{}\n", "line 1: this is not an entry of `journalctl -o json`: KeyError"),
        ("journal-json", b"[]\n", "line 1: this is not an entry"),
        ("journal-export", b"MESSAGE=x\n\n", "entry 1: it has no __REALTIME_TIMESTAMP"),
        ("journal-export", b"MESSAGE\n" + b"\xff" * 20, "the field b'MESSAGE' has 18446744073709551615 bytes"),
        ("saleae", b"\x01\x02\n", "line 1: .* are not the columns of a table"),
        ("saleae", b"name,type,start_time,duration,data\nTX,data,1,0,xyz\n", "line 2: 'xyz' is not a byte"),
        ("saleae", b"name,type,start_time,duration,data\nTX,data,nan,0,0x41\n", "line 2: 'nan' is not a time"),
        ("saleae", b"name,type,start_time,duration,data\nTX,data,soon,0,0x41\n", "line 2: 'soon' is not a time"),
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


def test_a_log_does_not_choose_what_is_read(tmp_path: Path) -> None:
    """The files that a timing file names are beside it, and are files: a pipe would block for ever."""
    os.mkfifo(tmp_path / "out")
    how = How(form="script")
    with pytest.raises(TraceError, match="out: this is not a file"):
        opinion(str(tmp_path / "log"), io.BytesIO(b"H 0 OUTPUT_LOG /tmp/out\n"), BENCH, how)
    with pytest.raises(TraceError, match=r"\.\.: this is not a file"):
        opinion(str(tmp_path / "log"), io.BytesIO(b"H 0 OUTPUT_LOG ..\n"), BENCH, how)


def test_the_name_of_a_format() -> None:
    """The error for an unknown one lists those that there are; only some take something after a colon."""
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
