"""The layer of faults: what it does to frames, and that it does the same again."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from trio.testing import MockClock

from otf import goto, run
from otf.adapter import Arrival, Bench, Ending, Frame, Life, Line, Listening
from otf.adapter.faults import KINDS, planned
from otf.adapters import Faults, inject, inprocess, tcp, udp
from otf.adapters.faults import FaultyLine
from otf.codec import lines
from otf.errors import CodecError, UsageError
from otf.models.serving import free_port
from otf.spec import Spec
from tests.adapters.harness import SECONDS


def bench(got: list[bytes]) -> Bench:
    """A bench whose system keeps what it gets, and sends it back."""

    def echo(data: bytes) -> bytes | Ending:
        got.append(data)
        return Ending("told to") if data == b"end" else data

    spec = Spec[int, str](lambda _state, _inp: (), 0, [])
    return Bench(spec, codec=lines({}), ports={"p": inprocess(lambda: echo)}, name="echo")


def one_on(way: str, number: int, kind: str, *sent: bytes) -> tuple[list[bytes], list[Arrival], list[str]]:
    """What the system got, what came back, and what was noted, with one fault on the frames that are sent."""
    got: list[bytes] = []

    async def run() -> tuple[list[bytes], list[Arrival], list[str]]:
        with planned("7", [f"p {way} {number} {kind}"]):
            async with inject(bench(got), {"p": Faults(late=0.5)}).open() as found:
                line = found["p"]
                assert isinstance(line, FaultyLine)
                came: list[Arrival] = []
                for data in sent:
                    await line.send(data)
                    came += line.receive()
                await anyio.sleep(1)
                return got, came + line.receive(), line.noted()

    return anyio.run(run, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})


@pytest.mark.parametrize(
    ("kind", "got"),
    [
        ("drop", b"acd"),
        ("duplicate", b"abbcd"),
        ("reorder", b"acbd"),
        ("delay", b"abcd"),
        ("merge", b"abcd"),
        ("split", b"abcd"),
    ],
)
def test_what_happens_to_an_input(kind: str, got: bytes) -> None:
    """Of four frames the second one has a fault, and that is noted."""
    system, _, noted = one_on("in", 2, kind, b"a", b"b", b"c", b"d")
    assert (b"".join(system), noted) == (got, [f"p in 2 {kind}"])


@pytest.mark.parametrize(("kind", "came"), [("drop", b"acd"), ("duplicate", b"abbcd"), ("reorder", b"acbd")])
def test_what_happens_to_an_output(kind: str, came: bytes) -> None:
    """The same on the way back."""
    system, arrived, noted = one_on("out", 2, kind, b"a", b"b", b"c", b"d")
    assert b"".join(system) == b"abcd"
    assert b"".join(each.data for each in arrived if isinstance(each, Frame)) == came
    assert noted == [f"p out 2 {kind}"]


@pytest.mark.parametrize("way", ["in", "out"])
def test_frames_are_damaged(way: str) -> None:
    """One bit of a corrupted frame is wrong, and a truncated one lacks its end."""
    _, [corrupt], _ = one_on(way, 1, "corrupt", b"abcdefgh")
    _, [truncated], _ = one_on(way, 1, "truncate", b"abcdefgh")
    assert isinstance(corrupt, Frame)
    assert isinstance(truncated, Frame)
    assert sum((one ^ other).bit_count() for one, other in zip(corrupt.data, b"abcdefgh", strict=True)) == 1
    assert b"abcdefgh".startswith(truncated.data)
    assert truncated.data != b"abcdefgh"


@pytest.mark.parametrize("kind", ["reorder", "delay", "merge"])
def test_nothing_is_held_up_for_ever(kind: str) -> None:
    """What waits for a next frame goes on without one after a while, in both directions."""
    system, arrived, _ = one_on("in", 1, kind, b"a")
    assert (system, arrived) == ([b"a"], [Frame(b"a")])
    _, arrived, _ = one_on("out", 1, "reorder", b"a")
    assert arrived == [Frame(b"a")]


@pytest.mark.parametrize(("way", "kind"), [("in", "delay"), ("in", "merge"), ("out", "reorder"), ("out", "delay")])
def test_what_is_held_up_is_under_way(way: str, kind: str) -> None:
    """It counts until the system has got it, or the tester: a system that sleeps then is not at rest."""

    async def run() -> list[int]:
        with planned("7", [f"p {way} 1 {kind}"]):
            async with inject(bench([]), {"p": Faults(late=0.5)}).open() as found:
                line = found["p"]
                assert isinstance(line, FaultyLine)
                await line.send(b"a")
                line.receive()
                under_way = [line.under_way()]
                await anyio.sleep(1)
                line.receive()
                return [*under_way, line.under_way()]

    assert anyio.run(run, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)}) == [1, 0]


ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", int(sys.argv[1])))
while True:
    data, peer = s.recvfrom(99)
    s.sendto(data, peer)
"""


@pytest.mark.real
def test_silence_is_observed_behind_faults(tmp_path: Path) -> None:
    """A frame that is held up is awaited as any other; then a system that sleeps is silent."""
    port = free_port(socket.SOCK_DGRAM)
    spec = Spec[int, str](lambda state, inp: [goto(state, inp)], 0, ["a", "b"])
    life = Life(server=[sys.executable, "-c", ECHO, str(port)], ready=Listening(port, udp=True))
    ports = {"p": udp(f"udp://127.0.0.1:{port}")}
    echo = Bench.on_ports(spec, lines({str: "{}"}), ports, latency=0.5, quiescence=5.0, life=life)
    summary = run(inject(echo, {"p": Faults(delay=0.5, late=0.05)}), traces=1, steps=20, mode="strict", out=tmp_path)
    assert (summary.verdict, summary.silence) == ("pass", {"observed": 1})


def test_an_end_comes_after_what_was_held_up() -> None:
    """An output that waits to be overtaken is not overtaken by the end of the port."""
    _, arrived, _ = one_on("out", 1, "reorder", b"a", b"end")
    assert arrived == [Frame(b"a"), Ending("told to")]


def decided(faults: Faults, seed: str, frames: int = 200) -> list[str]:
    """What is noted of a number of frames."""

    async def run() -> list[str]:
        with planned(seed, None):
            async with inject(bench([]), {"p": faults}).open() as found:
                line = found["p"]
                assert isinstance(line, FaultyLine)
                for _ in range(frames):
                    await line.send(b"a")
                    line.receive()
                return line.noted()

    return anyio.run(run, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})


def test_a_seed_decides() -> None:
    """The same seed injects the same faults, another one others, and about as many as the rates say."""
    faults = Faults(drop=0.2, duplicate=0.1)
    first = decided(faults, "1/1")
    assert first == decided(faults, "1/1")
    assert first != decided(faults, "1/2")
    drops = [each for each in first if each.startswith("p in") and each.endswith("drop")]
    assert 20 <= len(drops) <= 60


def test_faults_may_be_on_one_way_alone() -> None:
    """Of inputs or of outputs; what happens on that way is what would happen on both."""
    both = decided(Faults(drop=0.2), "1")
    for way in ("in", "out"):
        # a dropped input brings no output: then the outputs are others
        found = decided(Faults(drop=0.2, only=way), "1")
        assert found
        assert all(each.startswith(f"p {way} ") for each in found)
    assert decided(Faults(drop=0.2, only="in"), "1") == [each for each in both if each.startswith("p in")]
    with pytest.raises(UsageError, match="split happens to inputs alone"):
        Faults(split=0.1, only="out")
    with pytest.raises(UsageError, match='only is "in", "out", or "" for both'):
        Faults(only="up")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- as a user may write it


def test_without_rates_nothing_happens() -> None:
    """A layer that is told nothing does nothing."""
    assert decided(Faults(), "1") == []


@pytest.mark.parametrize("rates", [{"drop": 1.1}, {"drop": -0.1}, {"drop": 0.6, "delay": 0.6}, {"late": -1.0}])
def test_what_is_no_probability_is_refused(rates: dict[str, Any]) -> None:
    """Rates are probabilities, all together too."""
    with pytest.raises(UsageError, match="each rate is a probability from 0 to 1, all together at most 1"):
        Faults(**rates)


def test_a_port_that_is_not_there_is_told() -> None:
    """The error names the ports that there are."""
    with pytest.raises(UsageError, match="no port 'q' to inject faults on: the bench echo has p"):
        inject(bench([]), {"q": Faults()})


def test_all_kinds_are_known() -> None:
    """What a trace may list is what there are rates for."""
    assert KINDS == ("drop", "duplicate", "reorder", "delay", "corrupt", "truncate", "split", "merge", "disconnect")


@asynccontextmanager
async def connected(fault: str) -> AsyncGenerator[tuple[Line, socket.socket], None]:
    """A line over TCP with one fault, and the system's end of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ports = {"p": tcp(f"127.0.0.1:{server.getsockname()[1]}")}
        spec = Spec[int, str](lambda _state, _inp: (), 0, [])
        with planned("1", [fault]):
            async with inject(Bench(spec, codec=lines({}), ports=ports), {"p": Faults(late=SECONDS)}).open() as found:
                peer, _ = server.accept()
                with peer:
                    peer.settimeout(SECONDS)
                    yield found["p"], peer


def on_tcp(fault: str, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What the system reads of two frames, one part at a time; what lets a time pass waits for the first part."""

    async def run() -> list[bytes]:
        heard, parts = anyio.Event(), list[bytes]()

        async def pause(_: float) -> None:
            await heard.wait()

        async with connected(fault) as (line, peer):
            monkeypatch.setattr(anyio, "sleep", pause)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(twice, line)
                while b"".join(parts).count(b"\n") < 2:
                    parts.append(await anyio.to_thread.run_sync(peer.recv, 100))
                    heard.set()
            return parts

    return anyio.run(run)


async def twice(line: Line) -> None:
    """Send two frames."""
    await line.send(b"one")
    await line.send(b"two")


@pytest.mark.real
def test_frames_are_split_and_merged_on_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system gets one frame in two parts, or two in one part."""
    assert on_tcp("p in 1 split", monkeypatch)[0] == b"on"
    assert on_tcp("p in 1 merge", monkeypatch) == [b"one\ntwo\n"]


@pytest.mark.real
def test_a_connection_can_break() -> None:
    """The system sees a reset in the place of a frame."""

    async def run() -> None:
        async with connected("p in 2 disconnect") as (line, peer):
            await twice(line)
            with pytest.raises(ConnectionResetError):
                await anyio.to_thread.run_sync(lambda: [peer.recv(100), peer.recv(100)])

    anyio.run(run)


def test_what_cannot_break_says_so() -> None:
    """A port without a connection cannot be disconnected."""
    with pytest.raises(CodecError, match="it cannot abort: tcp and unix can"):
        one_on("in", 1, "disconnect", b"a")
