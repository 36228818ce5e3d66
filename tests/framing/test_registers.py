"""Registers: what was in an answer is in the next message, and a mark is in its place for the tester."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import UsageError
from otf.framing import Register, length, lines, registers, silence


@given(st.lists(st.integers(0, 10**9), max_size=5), st.integers(1, 7))
def test_a_register_has_the_last_value_that_came(values: list[int], size: int) -> None:
    """However the bytes of the answers are cut: the mark is seen, and the value is sent."""
    framer = registers(lines(), {"job": rb"INSERTED (\d+)"})()
    stream = b"".join(b"INSERTED %d\n" % value for value in values)
    seen = [frame.data for at in range(0, len(stream), size) for frame in framer.feed(stream[at : at + size])]
    assert seen == [b"INSERTED {job}"] * len(values)
    assert framer.pack(b"delete {job} {jobs}") == b"delete %d {jobs}\n" % (values[-1] if values else 0)


def test_a_sequence_number_grows_with_each_message() -> None:
    """In a binary message, where the mark has the length of the number; each connection begins anew."""

    def one_more(value: bytes) -> bytes:
        return ((int.from_bytes(value) + 1) % (1 << 16)).to_bytes(2)

    framing = registers(length(1), {"seq": Register(rb"\x06(..)", b"\0\1", b"\xff\xee", one_more)})
    for _ in range(2):
        framer = framing()
        assert [framer.pack(b"\x05\xff\xee") for _ in range(2)] == [b"\3\5\0\1", b"\3\5\0\2"]
        (frame,) = framer.feed(b"\3\6\x10\x00")
        assert (frame.data, framer.pack(b"\xff\xee")) == (b"\6\xff\xee", b"\2\x10\x00")


def test_the_framing_below_is_asked_for_all_else() -> None:
    """What has begun, what silence ends, and the rest; without registers it is the framing itself."""
    framer = registers(silence(0.5), {"id": rb"id=(\d+)"})()
    assert (framer.gap, framer.feed(b"id=7"), framer.unfinished, framer.begun) == (0.5, [], True, b"id=7")
    assert [frame.data for frame in framer.rest()] == [b"id={id}"]
    framing = lines()
    assert registers(framing, {}) is framing


def test_each_pattern_looks_at_the_answer_as_it_came() -> None:
    """A mark that another register puts there does not hide a value; where two overlap, the later one has its mark."""
    framer = registers(lines(), {"next": rb"next=(\w+)", "id": rb"^made (\w+) next=\w+$", "all": rb"(a1 next=\w+)"})()
    assert framer.feed(b"made a1 next=7\n")[0].data == b"made {id} next={next}"
    assert framer.pack(b"{id}, {next}, {all}") == b"a1, 7, a1 next=7\n"


@pytest.mark.parametrize(
    ("pattern", "why"), [(rb"(", "not a regular expression"), (rb"a", "0 groups"), (rb"(a)(b)", "2 ")]
)
def test_a_pattern_has_one_group(pattern: bytes, why: str) -> None:
    """The value, and no more."""
    with pytest.raises(UsageError, match=why):
        registers(lines(), {"id": pattern})
