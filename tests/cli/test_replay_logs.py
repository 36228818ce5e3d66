"""`otf replay` on captures and on logs of other programs: what it says, and while they still grow."""

import io
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli.command import otf
from tests.offline.captures import CaptureWriter

BENCH = """
from otf.adapters import tcp
from otf.models import coffee
from dataclasses import replace
from otf.trace.events import Seen, Sent

def foreign(line):
    if line["what"] == "button":
        return Sent(coffee.Button(), "line", line["t"])
    if line["what"] == "coin":
        return Sent(coffee.Coin(10), "line", line["t"])
    return Seen(coffee.Coffee(), "line", line["t"])

bench = replace(coffee.bench(), name="mine", foreign=foreign, quiescence=0.02, latency=0.002, busy=0.002,
                ports={"line": tcp("tcp://127.0.0.1:7000")})
"""
GOOD = [
    {"what": "coin", "t": 1.0},
    {"what": "button", "t": 2.0},
    {"what": "coffee", "t": 2.001},
    {"what": "coin", "t": 3},
]
BAD = [*GOOD, {"what": "coffee", "t": 3.001}]


@pytest.fixture(autouse=True)
def bench(folder: Path) -> None:
    """Put the bench there."""
    (folder / "mine.py").write_text(BENCH)


def lines(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Return a log."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def capture(*parts: tuple[float, bool, int, bytes]) -> bytes:
    """Return a capture of a connection to 127.0.0.1:7000: times, directions, numbers and bytes."""
    file = io.BytesIO()
    writer = CaptureWriter(file)
    for at, sent, seq, data in parts:
        client, system = ("127.0.0.1", 5000), ("127.0.0.1", 7000)
        writer.tcp(at, *((client, system) if sent else (system, client)), seq, data)
    return file.getvalue()


@pytest.mark.parametrize("lost", [1, 7, 47, 48, 60])
def test_a_capture_that_ends_inside_a_packet_proves_no_silence(lost: int) -> None:
    """The answer is in the packet that was cut, in its bytes or in its header: nothing failed, and the cut is told."""
    parts = [(1.0, True, 1, b"coin 10\n"), (2.0, True, 9, b"button\n"), (2.1, False, 1, b"coffee\n")]
    whole = capture(*parts)
    Path("a.pcap").write_bytes(whole[:-lost])
    result = otf("replay", "a.pcap", "--bench", "mine.py", "--ended")
    assert result.status == 3
    assert "number 2; it ends inside a message, which was ignored" in result.out
    assert otf("replay", "a.pcap", "--bench", "mine.py", "--ended", "--json").data[0]["cut"] is True
    Path("a.pcap").write_bytes(whole)
    assert otf("replay", "a.pcap", "--bench", "mine.py", "--ended", "--json").data[0]["cut"] is False
    Path("a.pcap").write_bytes(capture(*parts[:2]))
    assert otf("replay", "a.pcap", "--bench", "mine.py", "--ended").status == 1


@pytest.mark.parametrize(("rows", "status", "place"), [(GOOD, 0, 4), (BAD, 1, 5)])
def test_a_log_of_another_program(folder: Path, rows: Sequence[Mapping[str, object]], status: int, place: int) -> None:
    """It is judged by what the bench makes of its lines; the place is the number of a line."""
    (folder / "log.jsonl").write_bytes(lines(rows))
    result = otf("replay", "log.jsonl", "--bench", "mine.py", "--json")
    assert (result.status, result.data[0]["place"]) == (status, place)
    assert result.data[0]["verdict"] == ("fail" if status else "pass")


@pytest.mark.parametrize("head", [b'{"kind":"start\xff"}', b'{"a":' + b"[" * 100_000])
def test_a_damaged_first_line_is_no_defect_of_otf(folder: Path, head: bytes) -> None:
    """A flipped bit in the header of a trace, or a hostile one: the error names the line."""
    (folder / "bench.py").write_text("from otf.models.coffee import bench\n")
    (folder / "damaged.jsonl").write_bytes(head + b"\n")
    result = otf("replay", "damaged.jsonl", "--bench", "bench.py")
    assert result.status == 2
    assert "damaged.jsonl, line 1" in result.err


def test_a_capture() -> None:
    """It needs the bench, whose ports tell the addresses; a person is told which packet it was."""
    data = capture((1.0, True, 1, b"coin 10\n"), (2.0, True, 9, b"button\n"), (2.1, False, 1, b"coffee\ncoffee\n"))
    Path("a.pcap").write_bytes(data)
    result = otf("replay", "a.pcap", "--bench", "mine.py")
    assert result.status == 1
    assert "FAIL (wrong)" in result.out
    assert "note: the last message that was judged was number 3" in result.out
    assert "this is not a trace of otf; name its bench with --bench BENCH" in otf("replay", "a.pcap").err


def test_a_capture_at_another_address() -> None:
    """`--sut` replaces the addresses of the bench."""
    data = capture((1.0, True, 1, b"coin 10\n"), (2.0, True, 9, b"button\n"), (9.0, True, 16, b"button\n"))
    Path("a.pcap").write_bytes(data)
    there = otf("replay", "a.pcap", "--bench", "mine.py", "--sut", "line=tcp://127.0.0.1:7000", "--json")
    elsewhere = otf("replay", "a.pcap", "--bench", "mine.py", "--sut", "line=tcp://127.0.0.1:7001", "--json")
    assert [each.data[0]["steps"] for each in (there, elsewhere)] == [2, 0]


def test_standard_input() -> None:
    """A capture tool may write into it while it captures."""
    data = capture((1.0, True, 1, b"coin 10\n"), (2.0, True, 9, b"button\n"), (2.1, False, 1, b"coffee\n"))
    result = otf("replay", "-", "--bench", "mine.py", stdin=data)
    assert (result.status, result.err) == (0, "")


def test_the_end_and_the_start_of_a_log(folder: Path) -> None:
    """Outstanding outputs at the end make it inconclusive, unless there was silence; a lost start is skipped."""
    (folder / "log.jsonl").write_bytes(lines(GOOD[:2]))
    assert otf("replay", "log.jsonl", "--bench", "mine.py").status == 3
    assert otf("replay", "log.jsonl", "--bench", "mine.py", "--ended").status == 1
    (folder / "log.jsonl").write_bytes(lines(GOOD[2:]))
    assert otf("replay", "log.jsonl", "--bench", "mine.py").status == 1
    result = otf("replay", "log.jsonl", "--bench", "mine.py", "--lost-start")
    assert result.status == 0
    assert "the first 1 were before the first silence and were skipped" in result.out


@pytest.mark.real
@pytest.mark.parametrize("name", ["log.jsonl", "log.pcap"])
def test_a_log_that_grows(folder: Path, name: str) -> None:
    """A missing output is reported by the clock while the log is written, before it ends."""
    log = folder / name
    rows = [{"what": "coin", "t": 0.0}, {"what": "button", "t": 0.001}]
    parts = (0.0, True, 1, b"coin 10\n"), (0.001, True, 9, b"button\n")
    log.write_bytes(b"" if name == "log.jsonl" else capture())
    command = [
        sys.executable,
        "-c",
        "from otf.cli import main; main()",
        "replay",
        str(log),
        "--bench",
        "mine.py",
        "--follow",
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as replay:
        time.sleep(0.2)
        with log.open("ab") as file:
            file.write(lines(rows) if name == "log.jsonl" else capture(*parts)[24:])
        said, _ = replay.communicate(timeout=30)
    assert json.loads(said)[0]["verdict"] == "fail"
    assert json.loads(said)[0]["place"] == 2


@pytest.mark.parametrize("data", [b"\x7fELF", b'{"level": "info"}\n', b'{"level": "in', b"hello\n"])
def test_a_log_that_is_not_recognized(data: bytes) -> None:
    """The error names the formats, rather than what is wrong with it as JSON."""
    Path("some.log").write_bytes(data)
    Path("some.jsonl").write_bytes(b'{"level": "info"}\n')
    assert "jsonl (by `foreign`" in otf("replay", "some.jsonl", "--bench", "otf.models.coffee").err
    result = otf("replay", "some.log", "--bench", "otf.models.coffee")
    assert result.status == 2
    assert "name its format with --format, one of pcap, pcapng, candump, asc, blf, script" in result.err
    assert "jsonl (by `foreign` of the bench)" in result.err


def test_the_format_is_named() -> None:
    """Where it is not plain; a person reads how many messages were ignored."""
    Path("some.log").write_bytes(b"coin 10\r\n\r\nbutton\r\ncoffee\r\ncoffee\r\n")
    result = otf("replay", "some.log", "--bench", "mine.py", "--format", "picocom", "--port", "line")
    assert result.status == 1
    assert "the last message that was judged was number 5; 1 are neither an input nor an output" in result.out
    assert otf("replay", "some.log", "--bench", "mine.py", "--format", "picocom", "--json").data[0]["strange"] == 1
    assert "there is no such format" in otf("replay", "some.log", "--bench", "mine.py", "--format", "exe").err


def test_a_draft_judges_the_log_that_it_was_made_from() -> None:
    """Of a log whose lines name no port, too: only to drive a device, the bench has to know where it is."""
    Path("log.txt").write_text("> hello\n< 200 ok\n> quit\n< 221 bye\n")
    assert otf("new", "draft", "--from", "log.txt").status == 0
    judged = otf("replay", "log.txt", "--bench", "draft.py")
    assert judged.status == 0, judged.err
    driven = otf("run", "draft.py", "--traces", "1")
    assert driven.status == 2
    assert "no serial port: name one" in driven.err
