"""Traces that are hostile or damaged."""

import io
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from otf.cli.traces import bench_of
from otf.errors import OtfError
from otf.offline import judge
from otf.trace.explain import explanation
from otf.trace.reading import TraceReader, bounded
from tests.cli.command import failed, judged, otf, recorded, refused, rewrite

SENT = {"event": "sent", "at": 0.1, "port": "slot", "value": 1}


@pytest.mark.parametrize(
    ("number", "line", "message"),
    [
        pytest.param(1, b'{"event": "campaign started"}', "begins with 'campaign started'", id="a log"),
        pytest.param(1, b"[]", "is not a JSON object with an event; give a trace of `otf run`; of", id="a list"),
        pytest.param(3, b"hello", "not a line of a trace: JSON is malformed", id="no JSON"),
        pytest.param(
            3, bytes(range(1, 256)).replace(b"\n", b""), "not a line of a trace: JSON is malformed", id="garbage"
        ),
        pytest.param(3, b"\xff\xfe\xfd", "; all lines before it are good: `head -n 2` keeps them", id="no UTF-8"),
        pytest.param(3, b'"' + b"x" * 2_000_000 + b'"', "the line is longer than 1048576 bytes", id="2 MB"),
        pytest.param(3, b"[" * 100_000, "line 3: not a line of a trace: ", id="deep"),
        pytest.param(
            3, b'{"event": "tea"}', "the event 'tea' is not known; known: sent, seen, quiet", id="unknown event"
        ),
        pytest.param(3, b'{"event": "sent", "port": "slot", "value": 1}', "the field 'at' is missing", id="no time"),
        pytest.param(3, b'{"event": "sent", "at": 1, "value": 1}', "the field 'port' is missing", id="no port"),
        pytest.param(
            3, b'{"event": "quiet", "at": "soon"}', "the field 'at' is 'soon'; a number is needed", id="no number"
        ),
        pytest.param(3, b'{"event": "quiet", "at": "nan"}', "the field 'at' is 'nan'; a number is needed", id="nan"),
        pytest.param(
            3,
            b'{"event": "quiet", "at": 1, "by": "me"}',
            "the field 'by' is 'me'; choose one of timed, ",
            id="no such way",
        ),
        pytest.param(3, b'{"event": "quiet", "at": 1e999}', "not a line of a trace", id="inf"),
        pytest.param(
            3,
            b'{"event": "quiet", "at": 1e308}',
            "the field 'at' is 1e+308; a time is a number of seconds, from 0 to 1e+10",
            id="late",
        ),
        pytest.param(
            3,
            b'{"event": "seen", "at": 1, "port": 5, "value": 1}',
            "the field 'port' is 5; a text is needed",
            id="no name",
        ),
    ],
)
def test_a_line_that_is_none(folder: Path, trace: Path, number: int, line: bytes, message: str) -> None:
    """A line that is not part of a trace ends the command with status 2, its number, and the error."""
    lines = trace.read_bytes().splitlines(keepends=True)
    lines[number - 1 : number] = [line + b"\n"]
    strange = folder / "strange.jsonl"
    strange.write_bytes(b"".join(lines))
    told = refused(strange)
    assert told.startswith(f"otf: {strange}, line {number}: ")
    assert message in told


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"type": "Token", "cents": 5},
            "the type 'Token' is not known to the bench; known: Button, Coffee, Coin, Elapse, Ended",
        ),
        ({"type": "Coin"}, "Coin has the fields ['cents'], not []"),
        ({"type": "Coin", "cent": 5}, "did you mean cents? Coin has the fields ['cents'], not ['cent']"),
        ({"type": "Coyn", "cents": 5}, "the type 'Coyn' is not known to the bench; did you mean Coin? known: Button,"),
        ({"type": "Coin", "cents": "five"}, "Coin.cents is 'five', which is not of the type int"),
        ({"cents": 5}, "a value is plain or an object with a type"),
        ([5], "a value is plain or an object with a type, not [5]"),
        ({"type": "tuple", "value": 5}, "5 is not of the type tuple"),
        ({"type": "bytes", "value": "xy"}, "'xy' is not of the type bytes: non-hexadecimal number"),
        ({"type": "__import__", "value": "os"}, "the type '__import__' is not known to the bench"),
    ],
)
def test_a_value_that_does_not_decode_any_more(folder: Path, trace: Path, value: object, message: str) -> None:
    """The error for a value of an unknown or changed type names the line."""
    lines = recorded(trace)
    lines[3]["value"] = value
    told = refused(rewrite(folder / "old.jsonl", lines))
    assert "old.jsonl, line 4: " in told
    assert message in told


def test_values_that_are_nested_too_deep(folder: Path, trace: Path) -> None:
    """A value may be nested, but not without end."""
    deep = b'{"type":"tuple","value":[' * 400 + b"]}" * 400
    lines = trace.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"event":"sent","at":1,"port":"slot","value":' + deep + b"}\n"
    strange = folder / "deep.jsonl"
    strange.write_bytes(b"".join(lines))
    assert "line 3: a value is nested too deep" in refused(strange)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", 2, "the format is 2; this version of otf reads format 1"),
        ("format", "one", "the format is 'one'; this version of otf reads format 1"),
        (
            "mode",
            "strct",
            "in the header the field 'mode' is 'strct'; did you mean strict? choose one of strict, eager",
        ),
        ("R", "long", "in the header the field 'R' is 'long'; a number is needed"),
        ("inputs", "some", "in the header the field 'inputs' is 'some'; choose one of uioco, any, all, mixed"),
        ("parameters", [], "in the header the field 'parameters' is []; an object is needed"),
        ("quiescence", None, "in the header the field 'quiescence' is None; a number is needed"),
    ],
)
def test_a_header_that_is_none(folder: Path, trace: Path, field: str, value: object, message: str) -> None:
    """A header of another format, or with something in it that cannot stand there, is told."""
    lines = recorded(trace)
    lines[0][field] = value
    assert message in refused(rewrite(folder / "strange.jsonl", lines))


def test_a_page_is_no_trace(folder: Path) -> None:
    """Nothing before the bad line was a line of a trace: there is nothing to keep."""
    (folder / "page.html").write_text("\n<!doctype html>\n<p>\n", encoding="utf-8")
    told = failed("show", "page.html")
    assert "page.html, line 2: not a line of a trace" in told
    assert "; give a trace of `otf run`; " in told


def test_a_header_in_which_something_is_missing(folder: Path, trace: Path) -> None:
    """A header without something that is needed is told; what has a default may be missing."""
    lines = recorded(trace)
    del lines[0]["burst"]
    assert judged(rewrite(folder / "older.jsonl", lines)).status == 1
    del lines[0]["seed"]
    assert "line 1: the header's field 'seed' is missing" in refused(rewrite(folder / "strange.jsonl", lines))
    lines[0]["sed"] = 1
    assert "'seed' is missing; did you write sed?" in refused(rewrite(folder / "strange.jsonl", lines))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("raw", "xy", "the field 'raw' is 'xy'; two hexadecimal digits are needed for each byte"),
        ("at", -3, "the field 'at' is -3; a time is a number of seconds, from 0 to 1e+10"),
        ("slack", "x", "the field 'slack' is 'x'; a number is needed"),
        ("port", "slott", "the bench has no port 'slott'; did you mean slot? it has slot"),
        ("event", "snet", "the event 'snet' is not known; did you mean sent? known: sent, seen, "),
    ],
)
def test_a_field_that_is_none(folder: Path, trace: Path, field: str, value: object, message: str) -> None:
    """The error names the field, what is in it, and what it may be."""
    lines = recorded(trace)
    lines[1][field] = value
    assert f"strange.jsonl, line 2: {message}" in refused(rewrite(folder / "strange.jsonl", lines))


@pytest.mark.parametrize(
    ("line", "port", "message"),
    [
        (2, "cpe9", "the bench has no port 'cpe9'; did you mean cpe3? it has user, cpe2, cpe3"),
        (3, "cpe9", "the bench has no port 'cpe9'; did you mean cpe3? it has user, cpe2, cpe3"),
        (2, "cpe2", "the field 'port' is 'cpe2'; the input Join(nick='n1', conf='c2') goes to user"),
    ],
)
def test_a_port_of_a_bench_that_connects_its_ports_itself(folder: Path, line: int, port: str, message: str) -> None:
    """Each command refuses an output on a port that no bench has, and an input on a port that is not its own."""
    assert otf("run", "conference", "--traces", 1, "--steps", 4, "--seed", 3, "--out", "talk").status == 0
    lines = recorded(folder / "talk" / "path-0001.jsonl")
    lines[line - 1]["port"] = port
    rewrite(folder / "strange.jsonl", lines)
    for command in ("replay", "show", "rerun", "shrink"):
        assert f"strange.jsonl, line {line}: {message}" in failed(command, "strange.jsonl")


HOSTILE = "\x1b[2J\x1b[31m\x07\u202e\x9b\r"


def test_control_characters_are_escaped(folder: Path, trace: Path) -> None:
    """Nothing that a trace says reaches the terminal as it is: not in values, ports, names, notes and verdicts."""
    lines = recorded(trace)
    lines[0]["bench"] = lines[0]["run"] = HOSTILE
    lines[1] |= {"port": HOSTILE}
    lines.insert(2, {**SENT, "value": HOSTILE})
    lines.insert(3, {"event": "closed", "at": 0.2, "port": HOSTILE, "reason": HOSTILE})
    lines[-1] |= {"verdict": HOSTILE, "reason": {"note": HOSTILE}}
    strange = rewrite(folder / "hostile.jsonl", lines)
    for command in (["replay"], ["show"], ["show", "--json"], ["replay", "--json"]):
        said = otf(*command, strange, "--bench", "machine.py:make").said
        assert said.replace("\n", "").isprintable()
        assert "\\x1b[31m" in said or "\\u001b[31m" in said
    assert failed("replay", strange).replace("\n", "").isprintable()
    assert failed("replay", HOSTILE + "\udc80").replace("\n", "").isprintable()


Change = Callable[[random.Random, list[bytes]], None]
ODD: list[object] = [
    *(None, True, -1, 2**70, 1.5, 1e308, "", "slot", "\x1b", [], {}, [1], "start", "end", "seen", "taken"),
    {"type": "tuple", "value": []},
    {"type": "frozenset", "value": [1]},
    {"type": "Ended", "reason": "x"},
    {"type": "Undecodable", "raw": {"type": "bytes", "value": "00"}, "why": ""},
    {"type": "Coin", "cents": 5},
    {"type": "float", "value": "nan"},
]


def _bytes(draw: random.Random, lines: list[bytes]) -> None:
    line = bytearray(draw.choice(lines))
    at = lines.index(bytes(line))
    line[draw.randrange(len(line))] = draw.randrange(256)
    lines[at] = bytes(line)


def _value(draw: random.Random, lines: list[bytes]) -> None:
    at = draw.randrange(len(lines))
    try:
        data = json.loads(lines[at])
        data[draw.choice(sorted(data))] = draw.choice(ODD)
        lines[at] = json.dumps(data).encode() + b"\n"
    except (ValueError, TypeError, IndexError, AttributeError):
        return


def _inside(draw: random.Random, lines: list[bytes]) -> None:
    at = draw.randrange(len(lines))
    for name in ("value", "parameters", "reason"):
        if f'"{name}":{{'.encode() in lines[at] and lines[at].startswith(b"{"):
            lines[at] = lines[at].replace(b'"cents":', draw.choice([b'"cents_":', b'"cents":1', b'"cents":[],"x":']))


def _lines(draw: random.Random, lines: list[bytes]) -> None:
    match draw.randrange(4):
        case 0:
            lines.reverse()
        case 1:
            draw.shuffle(lines)
        case 2:
            lines.insert(0, draw.choice(lines))
        case _:
            lines.pop()


@pytest.mark.parametrize("seed", range(4))
def test_no_trace_brings_otf_down(folder: Path, trace: Path, seed: int) -> None:
    """Of 400 traces with random damage each is judged, or refused with a message; nothing else ever happens."""
    draw = random.Random(seed)
    good = trace.read_bytes().splitlines(keepends=True)
    changes: list[Change] = [_bytes, _value, _value, _inside, _lines]
    for _ in range(100):
        lines = good.copy()
        for _ in range(draw.randint(1, 3)):
            if lines:
                draw.choice(changes)(draw, lines)
        _judge(b"".join(lines))
    assert (folder / "machine.py").exists()


def _judge(data: bytes) -> None:
    try:
        reader = TraceReader(bounded(io.BytesIO(data)), "a trace")
        judgement = judge(reader, bench_of(reader, "machine.py:make", {}, drives=False), keep=True)
    except OtfError:
        return
    explanation(judgement.verdict, judgement.events)


@pytest.mark.parametrize("name", ["path-0007.jsonl", "path-0001.x.shrunk.jsonl", "campaign.jsonl"])
def test_a_pipe_in_a_folder_is_not_opened(folder: Path, name: str) -> None:
    """A folder of a stranger may have a pipe where a trace or the log is: opening it would block for ever."""
    otf("run", "coffee", "--set", "fault=free", "--seed", 1, "--traces", 1, "--mode", "strict", "--out", "out")
    (folder / "out" / name).unlink(missing_ok=True)
    os.mkfifo(folder / "out" / name)
    for command in (("report",), ("show",), ("replay",), ("compare", "out")):
        if name == "campaign.jsonl":
            assert otf(*command, "out").status in {0, 1}
        else:
            assert f"out/{name}: this is a pipe or a device, and not a file with a trace" in failed(*command, "out")


@pytest.mark.parametrize("line", [b'{"event":"\xff"}', b'{"event":"x","y":' + b"[" * 100_000])
def test_a_log_that_is_damaged(folder: Path, line: bytes) -> None:
    """The log of a campaign is read up to a line that is not JSON."""
    otf("run", "coffee", "--seed", 1, "--traces", 1, "--out", "out")
    log = folder / "out" / "campaign.jsonl"
    log.write_bytes(log.read_bytes() + line + b"\n")
    assert otf("report", "out").out.startswith("PASS")
