"""Chunks that were cut before: what a line remembers of them never changes what it delivers."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.adapter import Arrival, Ending, Frame
from otf.adapter import stream as watched
from otf.adapter.stream import Inflow, StreamLine
from otf.framing import Framer, Framing, cobs, fixed, length, lines, measured, prompt, silence, slip


def _first(begun: bytes) -> int:
    return begun[0] % 4


def _stumbling(begun: bytes) -> int:
    return begun.index(b"\n") + 1


FRAMINGS: Final[dict[str, Framing]] = {
    "lines": lines(),
    "lines, short": lines(largest=3),
    "lines, \\r\\n": lines(b"\r\n", largest=4),
    "lines, \\r": lines(b"\r", largest=2),
    "prompt": prompt(b"a", b"aa", largest=4),
    "prompt, two bytes": prompt(b"\na", largest=3),
    "prompt, kept, anywhere": prompt(b"a\n", b"\xc0", keep=True, anywhere=True, largest=3),
    "length": length(1, largest=2),
    "length, two bytes": length(2, "little", largest=300),
    "length, itself": length(1, itself=True, largest=3),
    "fixed": fixed(3),
    "measured": measured(_first, largest=2),
    "measured, stumbling": measured(_stumbling, largest=3),
    "slip": slip(largest=2),
    "cobs": cobs(largest=2),
    "silence": silence(1000.0, largest=3),
}
each_framing = pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
# few chunks, so that the same one comes again, whatever the stream was doing before
CHUNKS = st.lists(st.sampled_from([b"\n", b"\r", b"\0", b"\1", b"\2", b"\3", b"a", b"\xc0", b"\xdb"]), min_size=1)
STREAMS = st.lists(CHUNKS.map(b"".join), min_size=1, max_size=4).flatmap(
    lambda few: st.lists(st.sampled_from(few), max_size=16)
)


@pytest.fixture(scope="module", autouse=True)
def _no_time() -> Generator[None, None, None]:
    """Let no time go by: there is no event loop here that could tell it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watched, "clock", lambda: lambda: 0.0)
        yield


class Stream:
    """A stream that comes in these chunks, and ends."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.left = list(chunks)

    def read(self) -> bytes:
        """Return the next chunk; nothing at the end."""
        return self.left.pop(0) if self.left else b""


def _nowhere(data: bytes) -> int:
    raise AssertionError(data)


def _unset(_at: float, _ring: object) -> None:
    """Set no alarm: no stream here is silent for that long."""


def delivered(framing: Framing, chunks: Iterable[bytes]) -> list[Arrival]:
    """Return what a line delivers of a stream."""
    return received(StreamLine(-1, Stream(chunks).read, _nowhere, framing, _unset))


def received(line: StreamLine) -> list[Arrival]:
    """Return what a line delivers to the end of its stream."""
    arrivals = list[Arrival]()
    while not (arrivals and isinstance(arrivals[-1], Ending)):
        arrivals += line.receive()
    return arrivals


def cut(framing: Framing, chunks: Iterable[bytes]) -> list[Arrival]:
    """Return what a framer makes of the same."""
    framer = framing()
    frames = [frame for chunk in chunks for frame in framer.feed(chunk)]
    return [*frames, *framer.rest(), Ending("end of stream")]


@each_framing
@settings(max_examples=15)
@given(STREAMS)
def test_chunks_that_come_again_are_cut_the_same(framing: Framing, chunks: list[bytes]) -> None:
    """Sound, broken or too long, whole or in parts: the frames are those of a framer without a memory."""
    assert delivered(framing, chunks) == cut(framing, chunks)


@pytest.mark.slow
@each_framing
@settings(max_examples=2000)
@given(STREAMS)
def test_many_chunks_that_come_again_are_cut_the_same(framing: Framing, chunks: list[bytes]) -> None:
    """The same, for a long list."""
    assert delivered(framing, chunks) == cut(framing, chunks)


@each_framing
@settings(max_examples=8)
@given(STREAMS, STREAMS)
def test_a_line_that_begins_anew_begins_with_a_frame(framing: Framing, before: list[bytes], after: list[bytes]) -> None:
    """A connection that was broken off within a frame leaves nothing to the next one; what was learnt still holds."""
    line = StreamLine(-1, Stream(before).read, _nowhere, framing, _unset)
    for _ in before:
        line.receive()
    line.restart(-1, Stream(after).read, _nowhere)
    assert received(line) == cut(framing, after)


@each_framing
@settings(max_examples=8)
@given(STREAMS)
def test_broken_frames_are_counted(framing: Framing, chunks: list[bytes]) -> None:
    """The remark counts each, also where the chunk came before, and has the reason of the last."""
    line = StreamLine(-1, Stream(chunks).read, _nowhere, framing, _unset)
    received(line)
    framer = framing()
    broken = [frame.trouble for chunk in chunks for frame in framer.feed(chunk) if frame.trouble]
    told = f"frames that were too long or broken: {len(broken)}; the last: {broken[-1]}" if broken else ""
    assert line.remarks() == ([told] if told else [])


class Counting:
    """A framing that counts how often it is fed."""

    def __init__(self, framing: Framing) -> None:
        self.framer: Framer = framing()
        self.fed = 0
        feed = self.framer.feed

        def counted(chunk: bytes) -> list[Frame]:
            self.fed += 1
            return feed(chunk)

        self.framer.feed = counted  # type: ignore[method-assign]

    def __call__(self) -> Framer:
        """Return the one framer that there is."""
        return self.framer


@pytest.mark.parametrize(("name", "chunk"), [("lines", b"a\nb\r\n"), ("length", b"\1a\2bc"), ("slip", b"\xc0a\xc0")])
def test_a_chunk_of_whole_frames_is_cut_once(name: str, chunk: bytes) -> None:
    """After the first time it is known."""
    counting = Counting(FRAMINGS[name])
    delivered(counting, [chunk] * 5)
    assert counting.fed == 1


def test_what_was_learnt_outlives_a_connection() -> None:
    """It was broken off within a frame; the next one begins with a chunk that is known."""
    counting = Counting(length(1))
    line = StreamLine(-1, Stream([b"\1a", b"\1"]).read, _nowhere, counting, _unset)
    line.receive()
    line.receive()
    line.restart(-1, Stream([b"\1a"]).read, _nowhere)
    assert received(line) == [Frame(b"a"), Ending("end of stream")]
    assert counting.fed == 2


class Numbered:
    """A framing of somebody's own, whose frames depend on what came before."""

    gap = 0.0
    unfinished = False
    begun = b""

    def __init__(self) -> None:
        self.number = 0

    def pack(self, data: bytes) -> bytes:
        """Return the bytes as they are."""
        return data

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return one frame."""
        self.number += 1
        return [Frame(b"%d %b" % (self.number, chunk))]

    def rest(self) -> list[Frame]:
        """Return nothing: a chunk is a frame."""
        return []


def test_a_framing_of_somebody_s_own_is_always_asked() -> None:
    """Nobody knows what it remembers."""
    assert delivered(Numbered, [b"a", b"a"]) == [Frame(b"1 a"), Frame(b"2 a"), Ending("end of stream")]


@pytest.mark.parametrize(
    ("name", "chunks"),
    [
        ("lines", [b"a\nb", b"\n"] * 3),  # a frame goes over two chunks
        ("lines, short", [b"abcd", b"e\n"] * 3),  # one is too long
        ("lines, short", [b"abcde\n"] * 6),  # the same in one piece
        ("length", [b"\5abcde"] * 6),
        ("lines", [b"x" * 600 + b"\n"] * 6),  # a long chunk hardly ever comes twice
        ("silence", [b"a"] * 6),  # what ends a frame is not in its bytes
    ],
)
def test_other_chunks_are_cut_each_time(name: str, chunks: list[bytes]) -> None:
    """What is not whole, not sound or not short is never taken for known."""
    counting = Counting(FRAMINGS[name])
    delivered(counting, chunks)
    assert counting.fed >= len(chunks)


def test_a_memory_has_a_bound() -> None:
    """After 1,024 chunks all are forgotten, and the first one is cut anew."""
    counting = Counting(lines())
    many = [b"%d\n" % number for number in range(1024)]
    delivered(counting, [*many, *many])
    assert counting.fed == 1024
    counting = Counting(lines())
    delivered(counting, [*many, b"more\n", *many])
    assert counting.fed == 1024 + 1 + 1024


def test_what_was_remembered_is_no_list_of_anybody() -> None:
    """Who takes the frames of a chunk may change the list that he gets: the next one gets his own."""
    chunks = [b"a\nb\n"] * 3
    line = StreamLine(-1, Stream(chunks).read, _nowhere, lines(), _unset)
    for _ in chunks:
        arrivals = line.receive()
        assert arrivals == [Frame(b"a"), Frame(b"b")]
        arrivals.clear()


def test_frames_that_wait_come_before_a_known_chunk() -> None:
    """More frames than are handed out at a time wait in the line, and what comes meanwhile waits behind them."""
    many = b"\n" * 300
    chunks = [b"a\n", many, b"a\n"]
    assert delivered(lines(), chunks) == cut(lines(), chunks)


def test_a_fresh_inflow_knows_nothing() -> None:
    """Also of nothing: an empty chunk is the end of a stream, and no frames."""
    fresh = Inflow(lines()(), _unset)
    assert fresh.whole(b"") is None
    fresh.take(b"a\n")
    assert (fresh.whole(b""), fresh.whole(b"b\n"), fresh.whole(b"a\n")) == (None, None, (Frame(b"a"),))
