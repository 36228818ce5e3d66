"""Framing: the same frames however the bytes come, and never more of them than a frame may have."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import CodecError, UsageError
from otf.framing import (
    Frame,
    Framer,
    Framing,
    Tail,
    cobs,
    fixed,
    length,
    lines,
    measured,
    prompt,
    silence,
    slip,
)

BYTES = st.binary(max_size=20) | st.lists(st.sampled_from([b"\0", b"\xc0", b"\xdb", b"\xdc", b"a"])).map(b"".join)
TEXT = st.text("ab=> ", max_size=12).map(str.encode)
CUTS = st.lists(st.integers(0, 400))
FRAMED: dict[str, tuple[Framing, st.SearchStrategy[bytes]]] = {
    "lines": (lines(), TEXT),
    "lines, \\r\\n": (lines(b"\r\n"), TEXT),
    "lines, \\r": (lines(b"\r"), TEXT),
    "length": (length(), BYTES),
    "length, one byte": (length(1, itself=True), BYTES),
    "length, little": (length(4, "little"), BYTES),
    "fixed": (fixed(3), st.binary(min_size=3, max_size=3)),
    "measured": (measured(lambda begun: begun[0] + 1), BYTES.map(lambda data: bytes([len(data)]) + data)),
    "slip": (slip(), BYTES.filter(bool)),
    "cobs": (cobs(), BYTES | st.binary(min_size=250, max_size=600)),
}
each_framing = pytest.mark.parametrize(("framing", "data"), FRAMED.values(), ids=FRAMED)


def parts(stream: bytes, cuts: list[int]) -> list[bytes]:
    """Return the stream in parts."""
    return [stream[begin:end] for begin, end in pairwise([0, *sorted(cuts), len(stream) + 400])]


def read(framer: Framer, stream: bytes, cuts: list[int]) -> list[Frame]:
    """Return the frames of a stream that arrives in parts, and ends."""
    return [frame for part in parts(stream, cuts) for frame in framer.feed(part)] + framer.rest()


def given_back(framing: Framing, sent: list[bytes], cuts: list[int]) -> list[Frame]:
    """Return the frames that arrive after these frames are sent."""
    framer = framing()
    return read(framer, b"".join(map(framer.pack, sent)), cuts)


@each_framing
@given(st.data(), CUTS)
def test_what_is_packed_is_read(
    framing: Framing, data: st.SearchStrategy[bytes], draw: st.DataObject, cuts: list[int]
) -> None:
    """However the stream is cut into chunks, exactly the packed frames come out."""
    sent = draw.draw(st.lists(data, max_size=5))
    assert given_back(framing, sent, cuts) == [Frame(each) for each in sent]


@each_framing
@given(st.data(), CUTS)
def test_frames_do_not_depend_on_how_they_come(
    framing: Framing, data: st.SearchStrategy[bytes], draw: st.DataObject, cuts: list[int]
) -> None:
    """Any bytes at all, rubbish too, give the same frames in one piece and in many."""
    del data
    stream = draw.draw(
        st.lists(st.sampled_from([b"\n", b"\r", b"\0", b"\1", b"\3", b"a", b"\xc0", b"\xdb"])).map(b"".join)
    )
    assert read(framing(), stream, cuts) == read(framing(), stream, [])


SMALL: dict[str, Framing] = {
    "lines": lines(largest=4),
    "prompt": prompt(b"=> ", largest=4),
    "length": length(1, largest=4),
    "measured": measured(lambda begun: begun.find(b"\n") + 1 or None, largest=4),
    "fixed": fixed(4),
    "silence": silence(0.1, largest=4),
    "slip": slip(largest=4),
    "cobs": cobs(largest=4),
}


@pytest.mark.parametrize("framing", SMALL.values(), ids=SMALL)
@given(st.binary(max_size=200), st.integers(1, 20))
def test_no_frame_is_larger_than_the_largest(framing: Framing, stream: bytes, size: int) -> None:
    """For any bytes, no frame exceeds its largest size, and the buffer of an unfinished frame is bounded."""
    framer = framing()
    for at in range(0, len(stream), size):
        assert all(len(frame.data) <= 4 for frame in framer.feed(stream[at : at + size]))
        assert len(framer.begun) <= 16
    assert all(len(frame.data) <= 10 for frame in framer.rest())
    assert (framer.begun, framer.unfinished) == (b"", False)


@pytest.mark.parametrize(
    ("framing", "stream", "after"),
    [
        (lines(largest=4), b"12345", b"67\nnext\n"),
        (lines(largest=4), b"123456789", b"\nnext\n"),
        (prompt(b"=> ", largest=5), b"123456789", b"0\n=> next\n=> "),
        (length(1, largest=4), b"\x0912345678", b"9\x04next"),
        (slip(largest=4), b"\xc0123456789012", b"3\xc0next\xc0"),
        (cobs(largest=4), b"\x0912345678", b"\0\x05next\0"),
    ],
)
def test_after_a_frame_that_is_too_long_all_is_well(framing: Framing, stream: bytes, after: bytes) -> None:
    """A frame that is too long is cut, with a trouble; the next one is complete."""
    framer = framing()
    frames = framer.feed(stream) + framer.feed(after)
    assert [frame.trouble != "" for frame in frames[:2]] == [True, False]
    assert re.match("longer than [45] bytes", frames[0].trouble)
    assert frames[1].data.startswith(b"next")


def test_a_stream_that_ends_within_a_frame_has_torn_it() -> None:
    """An unfinished frame with a known size is torn; a last line and last words are frames all the same."""
    torn = "torn: the stream ended within it"
    framers = length(2)(), fixed(4)(), slip()(), cobs()(), lines()(), prompt(b"$ ")()
    for framer in framers:
        framer.feed(b"\x05ab")
    assert [framer.rest() for framer in framers] == [[Frame(b"\x05ab", torn)]] * 4 + [[Frame(b"\x05ab")]] * 2


def test_a_prompt_counts_at_the_beginning_of_a_line() -> None:
    """The bytes of the prompt inside a line belong to the answer, and the prompt may arrive in two parts."""
    framer = prompt(b"=> ", b"login: ")()
    stream = b"=> a => b\r\n=> \nlogin: "
    expected = [Frame(b""), Frame(b"a => b\r\n"), Frame(b"\n")]
    for cut in range(len(stream)):
        assert framer.feed(stream[:cut]) + framer.feed(stream[cut:]) == expected


def test_prompts_can_be_kept_and_be_anywhere() -> None:
    """With `keep` the prompt stays in its frame, and with `anywhere` it counts everywhere."""
    framer = prompt(b"> ", b">> ", keep=True, anywhere=True)()
    assert framer.feed(b"a> b>> c") == [Frame(b"a> "), Frame(b"b>> ")]


def test_silence_ends_what_has_come() -> None:
    """Only the end of the gap, which the line reports by `rest`, completes a frame."""
    framer = silence(0.01)()
    assert (framer.gap, framer.feed(b"ab"), framer.feed(b"c")) == (0.01, [], [])
    assert (framer.rest(), framer.rest()) == ([Frame(b"abc")], [])


def test_rubbish_is_no_frame_of_a_codec() -> None:
    """Bytes that no encoder can have written stay in the frame, and its trouble names the error."""
    assert slip()().feed(b"a\xdbz\xc0") == [Frame(b"a\xdbz", "not SLIP: the escape b'\\xdbz' is unknown")]
    assert cobs()().feed(b"\x05a\0") == [Frame(b"\x05a", "not COBS: a count points beyond the end")]
    assert length(1, itself=True)().feed(b"\0\2a") == [Frame(b"\0", "impossible: a frame of 0 bytes"), Frame(b"a")]


def test_a_measure_that_raises_is_no_end_of_the_run() -> None:
    """If a function of the user fails, the bytes become a frame with this trouble."""
    framer = measured(lambda begun: begun.index(b"x"))()
    assert framer.feed(b"abc") == [Frame(b"abc", "cannot be measured: ValueError: subsection not found")]


@pytest.mark.parametrize(
    ("framing", "data", "why"),
    [
        (lines(), b"a\nb", "cannot be sent as one line: it contains a line end"),
        (prompt(b"> "), b"a\rb", "cannot be sent as one command"),
        (length(1), b"x" * 256, "256 bytes cannot be sent as one frame: this length does not fit into 1 byte"),
        (fixed(2), b"abc", "it has 3 bytes, and a frame has 2"),
        (slip(), b"", "an empty frame cannot be sent with SLIP"),
    ],
)
def test_what_cannot_be_one_frame_is_refused(framing: Framing, data: bytes, why: str) -> None:
    """Data that would arrive as two frames, or as none, is an error of the codec."""
    with pytest.raises(CodecError, match=why):
        framing().pack(data)


def test_the_end_that_is_sent_may_differ() -> None:
    """A console takes a carriage return, and answers with both ends; neither may be in a line that is sent."""
    framer = lines(b"\r\n", sent=b"\r")()
    assert (framer.pack(b"AT"), framer.feed(b"OK\r\n\nREADY\n")) == (
        b"AT\r",
        [Frame(b"OK"), Frame(b""), Frame(b"READY")],
    )
    for line in (b"a\rb", b"a\nb"):
        with pytest.raises(CodecError, match="cannot be sent as one line"):
            framer.pack(line)


def test_framings_that_cannot_be_are_told() -> None:
    """Each message says what is allowed."""
    with pytest.raises(UsageError, match=r"lines\(sent=b';'\): lines end with"):
        lines(sent=b";")
    with pytest.raises(UsageError, match=r"lines end with b'\\n'"):
        lines(b";")
    with pytest.raises(UsageError, match="name the bytes that the system ends an answer with"):
        prompt()
    with pytest.raises(UsageError, match="1 to 8 bytes"):
        length(9)
    with pytest.raises(UsageError, match="at least one byte"):
        fixed(0)
    with pytest.raises(UsageError, match="at least one byte"):
        lines(largest=0)()
    with pytest.raises(UsageError, match="a number of seconds above 0"):
        silence(0)


STREAMS = st.lists(st.sampled_from([b"\n", b"\r", b"a", b"bc"]), max_size=40).map(b"".join)


@given(STREAMS, CUTS, st.integers(1, 5))
def test_no_line_is_missing(stream: bytes, cuts: list[int], largest: int) -> None:
    """All lines come out, those over the largest size cut and marked."""
    expected = [line.removesuffix(b"\r") for line in stream.split(b"\n")]
    if not stream.endswith(b"\n") and stream:
        expected[-1] = stream.split(b"\n")[-1].removesuffix(b"\r")
    got = read(lines(largest=largest)(), stream, cuts)
    assert [frame.data for frame in got] + [b""] * (len(expected) - len(got)) == [each[:largest] for each in expected]
    assert [bool(frame.trouble) for frame in got] == [len(each) > largest for each in expected[: len(got)]]


@given(STREAMS, st.integers(1, 5))
def test_a_tail_is_the_end_of_all_lines(stream: bytes, last: int) -> None:
    """A tail shows the last lines of a stream, and the line that has begun."""
    tail = Tail(last)
    tail.feed(stream)
    *ended, begun = stream.decode().split("\n")
    expected = [line.removesuffix("\r") for line in ended][-last:]
    assert tail.lines() == [*expected, *([begun] if begun else [])]


@given(st.lists(STREAMS, max_size=4), st.integers(1, 5), st.integers(1, 5))
def test_what_a_tail_skips_is_nothing_that_it_shows(chunks: list[bytes], last: int, largest: int) -> None:
    """Whole chunks in one call, or byte by byte: the same lines, also where some are too long."""
    one, two = Tail(last, largest), Tail(last, largest)
    one.feed(*chunks)
    for byte in b"".join(chunks):
        two.feed(bytes([byte]))
    assert one.lines() == two.lines()


def test_what_has_begun_before_a_silence_can_be_asked_for() -> None:
    """The bytes of an unfinished frame are kept, and reported when the line is lost."""
    framer = silence(0.01)()
    framer.feed(b"ab")
    assert (framer.unfinished, framer.begun) == (True, b"ab")


def test_between_two_ends_there_is_no_frame() -> None:
    """SLIP also sends an end before each frame, to end bytes of noise."""
    assert slip()().feed(b"\xc0\xc0a\xc0\xc0") == [Frame(b"a")]


def test_a_frame_for_silence_is_sent_as_it_is() -> None:
    """Silence after the data ends the frame, so nothing is added to it."""
    assert silence(0.01)().pack(b"ab") == b"ab"


def test_a_full_block_of_cobs_implies_no_zero() -> None:
    """254 bytes are one count, and the end of the frame needs one of its own."""
    framer, data = cobs()(), b"x" * 254
    assert framer.pack(data) == b"\xff" + data + b"\x01\x00"
    assert framer.feed(framer.pack(data)) == [Frame(data)]
