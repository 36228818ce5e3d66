"""The codec around a library: what it encodes, what it decodes, and what it verifies each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from otf.codec import PortAction
from otf.codec.libraries import from_construct, from_json
from otf.codec.library import LibraryCodec, MessageForm
from otf.errors import CodecError, UsageError
from tests.codec.declared import construct


@dataclass(frozen=True)
class Level:
    """A message with one number."""

    value: int


@dataclass(frozen=True)
class Answer:
    """Another with the same bytes."""

    value: int


@dataclass(frozen=True)
class Hangup:
    """An action."""


def test_an_unknown_option() -> None:
    """An option that the codec does not have is refused, with the way to give several ports their codecs."""
    with pytest.raises(
        UsageError, match=r"no option port_field=.*; it has inputs, exact, actions, port\. .*codecs\(alice"
    ):
        from_json(Level, port_field="client")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_inputs_and_actions() -> None:
    """Requests may have the bytes of answers; an action has none; what is unknown is refused."""
    one = construct.Struct("value" / construct.Int8ub)
    codec = from_construct({Answer: one}, inputs={Level: one}, actions={Hangup: PortAction.CLOSE}, port="line")
    assert codec.encode(Level(5)) == b"\5"
    assert codec.decode("", b"\5") == Answer(5)
    assert codec.encode(Hangup()) is PortAction.CLOSE
    assert codec.types == (Answer, Level, Hangup)
    assert codec.port(Level(5)) == "line"
    with pytest.raises(CodecError, match="no message 5; there are Answer, Level, Hangup"):
        codec.encode(5)
    with pytest.raises(CodecError, match="inputs only"):
        from_json(inputs=[Level]).decode("", b"{}")


class Meter:
    """A library that writes a number in one byte; `seal` makes the byte behind it, which is not read."""

    def __init__(self, seal: Callable[[int], int]) -> None:
        self.seal, self.writes = seal, 0

    def form(self, kind: type[Level | Answer]) -> MessageForm:
        """Return how it reads and writes messages of a type."""
        return MessageForm(kind, lambda data: kind(data[0]), self.write)

    def write(self, value: Level | Answer) -> bytes:
        self.writes += 1
        return bytes([value.value, self.seal(self.writes)])


def meter(library: Meter, *kinds: type[Level | Answer]) -> LibraryCodec:
    """Return the codec of these types."""
    forms = tuple(map(library.form, kinds))
    return LibraryCodec({form.kind: form for form in forms}, forms, exact=True)


def test_a_library_that_never_writes_the_same() -> None:
    """The first message is not sent, and no bytes of the system are a message."""
    codec = meter(Meter(lambda writes: writes), Level)
    with pytest.raises(CodecError, match="written again it differs from byte 1 on"):
        codec.encode(Level(5))
    with pytest.raises(CodecError, match="written again it differs from byte 1 on"):
        codec.decode("", b"\5\0")


def test_what_is_sent_is_written_twice_each_time() -> None:
    """It is read back, and that is written again."""
    library = Meter(lambda _: 0)
    codec = meter(library, Level)
    assert {codec.encode(Level(5)) for _ in range(64)} == {b"\5\0"}
    assert library.writes == 2 * 64


def test_what_the_system_sends_is_written_again_each_time() -> None:
    """However many messages were sent before: bytes that are not canonical are undecodable."""
    codec = meter(Meter(lambda _: 0), Level)
    for _ in range(100):
        codec.encode(Level(5))
    for _ in range(100):
        with pytest.raises(CodecError, match="written again it differs from byte 1 on"):
            codec.decode("", b"\5\1")


def test_a_message_that_would_be_read_as_another_is_never_sent() -> None:
    """However many messages of its type were sent before: types before it are written again each time."""
    first, second = Meter(lambda _: 0), Meter(lambda writes: int(writes <= 1000))
    forms = first.form(Level), second.form(Answer)
    codec = LibraryCodec({form.kind: form for form in forms}, forms, exact=True)
    assert {codec.encode(Answer(5)) for _ in range(80)} == {b"\5\1"}
    second.writes = 1000
    with pytest.raises(CodecError, match=r"its bytes would be read as Level\(value=5\)"):
        codec.encode(Answer(5))
