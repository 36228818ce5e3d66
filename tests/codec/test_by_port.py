"""A codec for each port: the type of a value tells its port, or the value itself does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from otf.adapter import Bench, Line
from otf.adapters import inprocess
from otf.campaign import NonconformanceError, run
from otf.codec import PortAction, lines
from otf.codec.by_port import At, codecs
from otf.core import Monitor
from otf.core.nodes import EnabledInputs
from otf.errors import CodecError, UsageError
from otf.offline import judge
from otf.spec import Spec, Transition, goto
from otf.strategy.least import action
from otf.testing import check_codec
from otf.trace.alike import head
from otf.trace.events import Seen, Sent
from otf.trace.reading import TraceReader
from otf.values import show
from otf.values.text import LONGEST


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


def test_what_a_message_does_is_said_by_the_message() -> None:
    """A failure, a strategy and a group of failures see what clients say, and not that each of them is an `At`."""

    def step(_state: int, inp: At) -> Iterator[Transition[int]]:
        yield goto(0, At(inp.port, Value(0)))

    inputs = [At(port, each) for port in ("one", "two") for each in (Get(), Tick())]
    bench = Bench.on_ports(Spec(step, 0, inputs), codecs(one=CLIENT, two=CLIENT), connect=_nowhere, outputs=("one",))
    monitor = Monitor(bench.oracle())
    monitor.tell(Sent(inputs[0], "one", 0.0))
    verdict = monitor.tell(Seen(At("one", Tick()), "one", 0.0))
    assert verdict is not None
    assert (failure := verdict.failure) is not None
    assert str(failure.signature) == "wrong: int --Get--> expected Value, seen Tick"
    assert head(failure.input) == "Get"
    symbols = [bench.oracle().model.symbol(each) for each in inputs]
    assert [action(each) for each in symbols] == ["Get", "Tick", "Get", "Tick"]
    assert EnabledInputs.fixed(symbols).kinds == [[0, 2], [1, 3]]


@asynccontextmanager
async def _nowhere() -> AsyncGenerator[Mapping[str, Line]]:
    yield {}


def test_a_long_message_is_compared_to_its_end() -> None:
    """Two that differ late have different texts, and a text that is cut still names the port."""
    one, other = At("one", ("x" * 1000, 1)), At("one", ("x" * 1000, 2))
    assert repr(one) != repr(other)
    assert show(one).endswith("… (1,014 characters) on one")
    assert len(show(one)) == LONGEST


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
    with pytest.raises(
        NonconformanceError, match=r"Get\(\) on two -> expected Value\(number=3\), seen Value\(number=4\)\n"
    ):
        run(bench(skips=3), traces=1, steps=8, seed=1, out=tmp_path / "wrong", shrink=False)


@pytest.mark.parametrize(("codec", "brief"), [("x", "'x'"), (Get, "Get")])
def test_what_is_no_codec_is_refused_with_its_port(codec: Any, brief: str) -> None:  # noqa: ANN401 -- no codec at all
    """A text, or a class that nobody called."""
    with pytest.raises(UsageError, match=rf"^codecs: line={brief}: a codec is needed, such as lines\(…\)$"):
        codecs(line=codec)
