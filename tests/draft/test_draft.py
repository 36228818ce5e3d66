"""A draft of a bench has the recording's own words, runs, and takes nothing of it for code."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.codec.checksums import crc16_modbus
from otf.draft import draft_bench
from otf.errors import UsageError
from tests.draft.recordings import datagrams, imported, log, stream, text_of
from tests.trace.test_pcapng import interface, packet, section

STORE = """\
> set a 5
< 250 ok
> get a
< 251 a 5
> get b
< 550 no such key
> set b 7
< 250 ok
> get b
< 251 b 7
> frob
< 500 what?
> mute""".splitlines()
CALC = """\
> {"cmd": "add", "n": 2}
< {"total": 2}
> {"cmd": "add", "n": null}
< {"error": "no number", "at": 1.5}
> {"cmd": "reset"}
< {"total": 0}""".splitlines()
RUFF = ["--isolated", "--line-length", "120", "--target-version", "py311"]


def meter(number: int) -> list[tuple[bool, bytes]]:
    """A request with a counter and a register; an answer with the same and a value, its length and a checksum."""
    question = bytes([1, number & 255, 0, number % 5])
    values = bytes([number * 7 & 255]) * (2 + number % 3)
    answer = bytes([0x81, number & 255, 0, number % 5, len(values) + 2]) + values
    return [(True, question), (False, answer + crc16_modbus(answer).to_bytes(2, "little"))]


METER = [message for number in range(20) for message in meter(number)]


def test_lines_become_verbs_and_fields() -> None:
    """What varies in a line is a field, by the word before it; a word that was an argument is a value in an answer."""
    text = text_of(
        log("> set a temp=21", "< ok a", "> set b temp=5", "< ok b", "> get b", "< b 2.5", "> get a", "< a 1.5")
    )
    for pattern in ('"set {text} temp={temp}"', '"ok {text}"', '"get {text}"', '"{text} {value}"'):
        assert pattern in text


def test_an_answer_with_the_same_field_is_noticed(tmp_path: Path) -> None:
    """The model of the draft allows the answers that were recorded after an input, and echoes only as they were."""
    made: Any = imported(log(*STORE), tmp_path)
    get, found, missing = made.Get("a"), made.Code251("a", 9), made.NoSuchKey()
    allowed = [each.outputs for each in made.step(None, get)]
    assert (missing,) in allowed
    same = next(outputs[0] for outputs in allowed if outputs != (missing,))
    assert same.test(found)
    assert not same.test(made.Code251("b", 9))
    assert [each.outputs for each in made.step(None, made.Mute())] == [()]
    assert {made.Set("a", 5), made.Set("b", 7), made.Get("b"), made.Get("a"), made.Frob(), made.Mute()} == {
        *made.INPUTS
    }


def test_a_greeting_is_a_state(tmp_path: Path) -> None:
    """What the system says before the first input has to come before any input is sent."""
    made: Any = imported(log("< 220 ready", *STORE), tmp_path)
    assert list(made.step(made.spec.initial, made.Frob())) == []
    assert [each.outputs for each in made.emits(made.spec.initial)] == [(made.Ready(),)]


def test_bytes_become_constants_counters_lengths_and_checksums() -> None:
    """A length and a checksum are found where they fit every message, a counter where it grew by one."""
    text = text_of(datagrams(*METER))
    assert "check: ClassVar[Annotated[int, checksum(crc16_modbus, u16le)]]  # it fits every message" in text
    assert "size: ClassVar[Annotated[int, length(u8)]]  # it fits every message" in text
    assert "counter: Annotated[int, u8]  # guess: it grew by 1 from message to message" in text
    assert "data: Annotated[bytes, raw(rest)]" in text
    assert 'def bench(url: str = "udp://127.0.0.1:7000")' in text


def test_two_bytes_that_change_together_are_one_number() -> None:
    """Also behind one byte, where no number of two bytes is aligned; bytes that change by themselves stay two."""

    def fields(*values: tuple[int, int]) -> list[tuple[str, str]]:
        found = text_of(datagrams(*(each for pair in values for each in ((True, b"R"), (False, bytes([7, *pair]))))))
        return re.findall(r"byte\d: Annotated\[int, (.*)\]  # guess.*|byte\d: Annotated\[int, (u8)\]", found)

    rising = [divmod(number, 256) for number in (250, 255, 260, 300, 511, 514, 490)]
    assert [code for code, _ in fields(*rising)] == ["u16be"]
    assert [code for code, _ in fields(*((low, high) for high, low in rising))] == ["u16le"]
    apart = [(1, 3), (20, 90), (2, 4), (41, 200), (3, 9), (33, 250), (17, 7)]
    assert [code for _, code in fields(*apart)] == ["u8", "u8"]


@pytest.mark.parametrize(
    ("pieces", "framing"),
    [
        ([(True, b"a\r\n"), (False, b"b"), (False, b"\r\n")], 'framing.lines(end=b"\\r\\n")'),
        ([(True, b"a\nb\n"), (False, b"b\n")], "tcp(url)"),
        ([(True, b"\0\2ab"), (False, b"\0"), (False, b"\3abc")], 'framing.length(2, "big")'),
        ([(True, b"\1\0ab\1"), (False, b"\2\3abc")], "framing.fixed(5)"),
        ([(True, b"\1\0ab\1"), (False, b"\2\3abcd")], "framing.silence(0.02)"),
    ],
)
def test_a_stream_is_cut_by_what_leaves_nothing_over(pieces: list[tuple[bool, bytes]], framing: str) -> None:
    """Lines, a length before each message, one size of all; otherwise what came in one piece is a message."""
    assert framing in text_of(stream(*pieces))


def test_logs_with_hexadecimal_bytes_are_binary() -> None:
    """Directions are arrows or words, with a time before them; lines without one are counted."""
    text = text_of(log("0.5 TX: 01 02", "noise", "[0.7] RX: 81 05", "1.0 tx 01 02", "1.1 rx 81 06"), "/dev/ttyUSB0")
    assert "Of the recording, 1 line without a direction was left out." in text
    assert "the slowest answer of the recording took 0.200 s" in text
    assert "serialport(url, baudrate=115200, framing=framing.fixed(2))" in text


@pytest.mark.parametrize(
    ("sent", "seen"), [("->", "<-"), ("-->", "<--"), (">", "<"), (">>>", "<<<"), ("sent", "recv:")]
)
def test_arrows_are_no_part_of_what_was_said(sent: str, seen: str) -> None:
    """However long they are."""
    text = text_of(log(f"{sent} hello", f"{seen} hi", f"{sent} bye", f"{seen} gone"), "tcp://127.0.0.1:1")
    assert text == text_of(log("> hello", "< hi", "> bye", "< gone"), "tcp://127.0.0.1:1")


def test_the_captures_of_wireshark_are_read() -> None:
    """The same packets in pcapng are the same draft."""
    classic = datagrams(*METER).getvalue()
    packets, at = list[bytes](), 24
    while at < len(classic):
        size = int.from_bytes(classic[at + 8 : at + 12], "little")
        packets.append(classic[at + 16 : at + 16 + size])
        at += 16 + size
    blocks = [packet((100_000_000 + number * 10_000), data) for number, data in enumerate(packets)]
    capture = io.BytesIO(b"".join([section(), interface(link=101), *blocks]))
    assert text_of(capture) == text_of(datagrams(*METER))


def test_other_systems_in_a_capture_are_left_out() -> None:
    """The system with the most packets is drafted, or the one that is named; one that is not there is an error."""
    source = datagrams(*METER)
    assert 'url: str = "udp://127.0.0.1:7000"' in text_of(source, "udp://127.0.0.1:7000")
    source.seek(0)
    with pytest.raises(UsageError, match=r"the capture has no such system; it has udp://127.0.0.1:7000"):
        text_of(source, "udp://127.0.0.1:1")


@pytest.mark.parametrize(
    "source",
    [b"", b"\0" * 5000, b"no arrows\n" * 100, b"\xd4\xc3\xb2\xa1" + bytes(20), b"\x7fELF\n", b"< only outputs\n"],
)
def test_what_is_no_recording_is_an_error(source: bytes) -> None:
    """The error names the file, and what a recording is."""
    with pytest.raises((UsageError, Exception), match="recording"):
        draft_bench(io.BytesIO(source), "recording", "x")


@pytest.mark.slow
def test_a_hundred_thousand_messages() -> None:
    """What is read is bounded, and the draft says so; varied text is one field, and there are few kinds."""
    lines = [f"{'<' if number % 2 else '>'} word{number % 4000} {number} {number / 7}" for number in range(100_001)]
    draft = draft_bench(log(*lines), "recording", "x")
    assert draft.notes == ["only the first 100000 lines were read"]
    assert len(draft.kinds) <= 24
    assert len(draft.written().splitlines()) < 400


@pytest.mark.parametrize(
    "source", [log(*STORE), log("< 220 ready", *STORE), log(*CALC), datagrams(*METER), stream(*METER)]
)
def test_a_draft_is_well_written(source: io.BytesIO, tmp_path: Path) -> None:
    """It is formatted, has no remark from the linter, and two hundred lines at most."""
    text = text_of(source, "")
    (tmp_path / "drafted.py").write_text(text, encoding="utf-8")
    ruff = Path(sys.executable).with_name("ruff")
    rules = ["--select", "E,F,I,UP,B,SIM"]
    for command in (["format", "--diff"], ["check", *rules]):
        done = subprocess.run(
            [ruff, *command, *RUFF, "drafted.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) in {(0, ""), (0, "All checks passed!\n")}
    assert len(text.splitlines()) <= 200


@pytest.mark.slow
def test_a_draft_is_typed(tmp_path: Path) -> None:
    """A strict type checker has no remark."""
    files = [tmp_path / "text_draft.py", tmp_path / "binary_draft.py", tmp_path / "json_draft.py"]
    files[2].write_text(text_of(log(*CALC)), encoding="utf-8")
    files[0].write_text(text_of(log("< 220 ready", *STORE)), encoding="utf-8")
    files[1].write_text(text_of(datagrams(*METER)), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.stdout.startswith("Success")


NASTY = st.sampled_from(
    ['"""', "'''", "\\", "{x}", "}", "#", "\\n", "__import__('os')", "class", "é", "None", "\t", "🙂", "%s"]
)
LINES = st.lists(st.one_of(NASTY, st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=9)), max_size=5)
MARKED = st.lists(st.tuples(st.booleans(), LINES.map(" ".join)), min_size=1, max_size=12)
BINARY = st.lists(st.tuples(st.booleans(), st.binary(min_size=1, max_size=9)), min_size=1, max_size=12)


def obeyed(text: str) -> set[str]:
    """The names and calls of a text, without what it quotes."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


@settings(max_examples=60, deadline=None)
@given(MARKED)
def test_a_hostile_log_is_quoted(tmp_path_factory: pytest.TempPathFactory, messages: list[tuple[bool, str]]) -> None:
    """The draft of any lines is a module; each line that came decodes, and each input is one that was sent."""
    lines = [f"{'>' if sent else '<'} {text}" for sent, text in [(True, "x"), *messages]]
    text = text_of(log(*lines))
    assert "__import__" not in obeyed(text)
    assert text.isascii()
    made: Any = imported(log(*lines), tmp_path_factory.mktemp("draft"))
    for sent, line in messages:
        if line and not sent:  # an empty message has no kind, if some are binary
            made.codec.decode("line", line.encode())
    assert {made.codec.encode(inp) for inp in made.INPUTS} <= {
        b"x",
        *(line.encode() for sent, line in messages if sent),
    }


@settings(max_examples=60, deadline=None)
@given(BINARY)
def test_hostile_bytes_are_quoted(tmp_path_factory: pytest.TempPathFactory, messages: list[tuple[bool, bytes]]) -> None:
    """Whatever the datagrams are: each that came decodes to what encodes to it, and each input is one that was sent."""
    messages = [(True, b"\xff\0"), *messages]
    made: Any = imported(datagrams(*messages), tmp_path_factory.mktemp("draft"), "")
    for sent, data in messages:
        assert sent or made.codec.encode(made.codec.decode("line", data)) == data
    assert {made.codec.encode(inp) for inp in made.INPUTS} <= {data for sent, data in messages if sent}


def test_objects_are_told_apart_by_a_name() -> None:
    """A member such as `cmd` names the kind and is a constant; the others are fields, of the types that were seen."""
    text = text_of(log(*CALC), "exec:./calc")
    for line in ('cmd: ClassVar[str] = "add"', "n: int | None", "at: float", "class Reset:", "codec = from_json("):
        assert line in text
    for other in ('< {"total": [1]}', '< {"class": 1}'):
        text = text_of(log(*CALC, other))
        assert "codec = from_json(" not in text
        assert f"message {len(CALC) + 1} is a JSON object that is not flat, so all messages are texts here" in text


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False)
)
MEMBERS = st.dictionaries(
    st.sampled_from(["cmd", "goto", "n", "total", "str", "Any"]), PLAIN | st.text(max_size=5), max_size=3
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), MEMBERS), min_size=1, max_size=8))
def test_hostile_objects_are_quoted(
    tmp_path_factory: pytest.TempPathFactory, messages: list[tuple[bool, dict[str, Any]]]
) -> None:
    """The draft of any objects is a module, and each that came decodes."""
    lines = [f"{'>' if sent else '<'} {json.dumps(members)}" for sent, members in [(True, {"cmd": "x"}), *messages]]
    made: Any = imported(log(*lines), tmp_path_factory.mktemp("draft"))
    for sent, members in messages:
        if not sent:
            made.codec.decode("line", json.dumps(members).encode())
    assert all(made.codec.encode(inp) for inp in made.INPUTS)
