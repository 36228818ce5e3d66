"""Bytes that mean nothing, values without bytes, and a model that is broken."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.errors import CodecError, ModelError, UsageError
from otf.spec import Transition, goto
from tests.runner.playing import answering, on_function, on_still, play, spec
from tests.runner.words import Words


def test_bytes_that_do_not_decode() -> None:
    """Bytes that are no output are a failure that shows them."""
    played = play(answering(b"\xff\x00"), "p.ping")
    assert played.script == ["0 > p.ping", "0 < p garbled ff00"]
    failure = played.failure
    assert failure.kind == "undecodable"
    assert r"b'\xff\x00'" in failure.seen


class Stumbling(Words):
    """A codec with faults of its own."""

    def port(self, value: object) -> str:
        """Know nothing of the moon."""
        return super().port(_no("moon", value))

    def encode(self, value: object) -> bytes:
        """Have no bytes for a stone, know nothing of trees."""
        if value == "p.stone":
            raise CodecError("a stone has no bytes")
        return super().encode(_no("p.tree", value))

    def decode(self, port: str, data: bytes) -> object:
        """Know nothing at all."""
        return _no("", "") + port + data.hex()


def _no(wrong: str, value: object) -> str:
    if value == wrong:
        raise IndexError(f"beyond {wrong}")
    return str(value)


def _anything(state: int, _inp: object) -> Iterator[Transition[int]]:
    yield goto(state)


def test_a_codec_that_stumbles_over_bytes() -> None:
    """A codec that raises what it never announced may be to blame itself: the run decides nothing, and says why."""
    played = play(on_function(lambda: lambda _frame: b"pong", codec=Stumbling()), "p.ping")
    assert played.verdict.outcome == "inconclusive"
    assert "the codec raised for the bytes 70 6f 6e 67 on the port 'p'" in played.verdict.why
    assert "IndexError: beyond ; the mistake may be the codec's" in played.verdict.why


class Parsing(Words):
    """A codec that parses numbers, and forgets to return most of them."""

    def decode(self, port: str, data: bytes) -> object:
        """Return nothing of a number."""
        return None if int(data) else port


def test_bytes_that_are_no_number() -> None:
    """A ValueError is Python's own word for bytes that are not a message: a failure, at a line of the codec."""
    played = play(on_function(lambda: lambda _frame: b"pong", codec=Parsing()), "p.ping")
    assert played.failure.kind == "undecodable"
    assert "ValueError: invalid literal" in played.failure.seen
    line = Parsing.decode.__code__.co_firstlineno + 2
    assert f"({Path(__file__).name}, line {line}, in decode)" in played.failure.seen


class Unpacking(Words):
    """A codec of two bytes."""

    def decode(self, port: str, data: bytes) -> object:
        """Return the number, with its port."""
        return f"{port}.{struct.unpack('>H', data)[0]}"


def test_bytes_that_do_not_fit_a_struct() -> None:
    """A system that sends four bytes for two is wrong, as if the codec had counted them."""
    played = play(on_function(lambda: lambda _frame: b"pong", codec=Unpacking()), "p.ping")
    assert played.failure.kind == "undecodable"
    assert "requires a buffer of 2 bytes" in played.failure.seen


def test_a_codec_that_forgets_to_return() -> None:
    """A value of None is a mistake of the codec, not an output of the system."""
    with pytest.raises(ModelError, match=r"^the codec's decode returned None.*\n.*, in decode$"):
        play(on_function(lambda: lambda _frame: b"7", codec=Parsing()), "p.ping")


@pytest.mark.parametrize(
    ("inp", "says"),
    [
        ("p.stone", r"no bytes for the input 'p\.stone': a stone has no bytes"),
        ("p.tree", r"the codec raised for the input 'p\.tree': IndexError: beyond p\.tree"),
        ("moon", "the codec raised on the port of 'moon': IndexError: beyond moon"),
        ("q.ping", r"the input 'q\.ping' belongs to the port 'q'; .* p\n  File .*, line \d+, in on_function$"),
    ],
)
def test_an_input_without_bytes_or_port(inp: object, says: str) -> None:
    """An input that the codec has no bytes for, or that belongs to no port, is a mistake in the model."""
    bench = on_function(lambda: lambda _frame: None, codec=Stumbling(), spec=spec(_anything))
    with pytest.raises(ModelError, match=says):
        play(bench, inp)


def test_an_input_that_its_port_cannot_take() -> None:
    """An input that does not fit into a frame of its port is a mistake in the model, and the message names it."""
    bench = on_still(refusal=CodecError("b'ping' has a line end in it"))
    with pytest.raises(ModelError, match=r"port 'p' cannot take the input 'p\.ping': b'ping' has a line end"):
        play(bench, "p.ping")


def test_a_bench_without_bytes() -> None:
    """A system in this process has no ports: it is walked through, and not driven."""
    with pytest.raises(UsageError, match="the bench has no codec"):
        play(Bench(spec(_anything), system=lambda: lambda _inp: []), "p.ping")


def test_a_model_that_raises() -> None:
    """An error of the model is raised as it is, not in a group: its handlers expect no group."""

    def step(_state: int, _inp: str) -> Iterator[Transition[int]]:
        message = "division by coffee"
        raise ZeroDivisionError(message)
        yield

    with pytest.raises(ModelError, match="ZeroDivisionError: division by coffee"):
        play(on_function(lambda: lambda _frame: None, spec=spec(step)), "p.ping")
