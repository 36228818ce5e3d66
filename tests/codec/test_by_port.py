"""A codec for each port: the type of a value tells its port, or the value itself does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.adapters import inprocess
from otf.campaign import NonconformanceError, run
from otf.codec import PortAction, lines
from otf.codec.by_port import At, codecs
from otf.errors import CodecError, UsageError
from otf.offline import judge
from otf.spec import Spec, Transition, goto
from otf.testing import check_codec
from otf.trace.reading import TraceReader


@dataclass(frozen=True)
class Get:
    """A request."""


@dataclass(frozen=True)
class Value:
    """An answer."""

    number: int


@dataclass(frozen=True)
class Tick:
    """A message on the bus."""


CLIENT = lines({Get: "get", Value: "value {number}"})
DEVICE = codecs(bus=lines({Tick: "tick"}), diag=CLIENT)
SERVER = codecs({"client 1": CLIENT}, two=CLIENT, bus=lines({Tick: PortAction.CLOSE}))


def test_the_type_tells_the_port() -> None:
    """Each port has its own codec."""
    assert [DEVICE.port(value) for value in (Tick(), Get(), Value(3))] == ["bus", "diag", "diag"]
    assert (DEVICE.encode(Value(3)), DEVICE.decode("bus", b"tick")) == (b"value 3", Tick())
    assert DEVICE.decode_input("diag", b"get") == Get()
    assert DEVICE.types == (Tick, Get, Value)
    check_codec(DEVICE, [Tick(), Get(), Value(3)])


def test_clients_that_speak_alike_name_their_port() -> None:
    """Values of two clients are told apart by the port that they name; other ports need none."""
    one, two = At("client 1", Get()), At("two", Get())
    assert [SERVER.port(value) for value in (one, two, Tick())] == ["client 1", "two", "bus"]
    assert (SERVER.encode(two), SERVER.decode("two", b"value 3")) == (b"get", At("two", Value(3)))
    assert SERVER.encode(Tick()) is PortAction.CLOSE
    assert SERVER.types == (At, Get, Value, Tick)


@pytest.mark.parametrize("value", [Get(), At("bus", Tick()), At("nobody", Get()), 3])
def test_a_value_without_a_port_is_refused(value: object) -> None:
    """With the ports, and how to name one."""
    with pytest.raises(
        CodecError, match=r"belongs to none of the ports client 1, two, bus; of client 1, two write At\("
    ):
        SERVER.port(value)
    with pytest.raises(CodecError, match=r"none of the ports bus, diag$"):
        DEVICE.port(3)


def test_ports_are_needed() -> None:
    """With an example."""
    with pytest.raises(UsageError, match=r"write codecs\(bus=dbc"):
        codecs()


def test_a_campaign_with_two_clients(tmp_path: Path) -> None:
    """A server that counts the requests of both passes, its traces can be read, and one that mixes them up fails."""

    def step(count: int, inp: At) -> Iterator[Transition[int]]:
        yield goto((count + 1) % 10, At(inp.port, Value(count)))

    def bench(*, skips: int) -> Bench:
        state = {"count": 0}

        def answer(_frame: bytes) -> bytes:
            state["count"] += 1
            return b"value %d" % ((state["count"] - 1 + (state["count"] > skips)) % 10)

        def system() -> Callable[[bytes], bytes]:
            state["count"] = 0
            return answer

        ports = {"one": inprocess(system), "two": inprocess(lambda: answer)}
        server = codecs(one=CLIENT, two=CLIENT)
        return Bench(Spec(step, 0, [At("one", Get()), At("two", Get())]), codec=server, ports=ports, quiescence=0.01)

    summary = run(bench(skips=99), traces=2, steps=8, seed=1, out=tmp_path / "right")
    assert summary.verdict == "pass"
    with (tmp_path / "right" / "path-0001.jsonl").open("rb") as file:
        assert judge(TraceReader(file, "trace"), bench(skips=99)).verdict.outcome == "pass"
    with pytest.raises(NonconformanceError, match=r"message\.number is 4, not 3"):
        run(bench(skips=3), traces=1, steps=8, seed=1, out=tmp_path / "wrong", shrink=False)
