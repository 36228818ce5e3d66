"""Connecting, closing and half closing as inputs of a spec, on a real connection."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Thread

import anyio
import pytest

from otf.adapter import Bench, Opener
from otf.adapters import process, tcp, udp
from otf.codec import PortAction, lines
from otf.core.burst import Burst
from otf.errors import ModelError
from otf.spec import Spec, Transition, goto, on
from otf.trace.events import Ended, Seen
from tests.runner.playing import Played, conduct

pytestmark = pytest.mark.real


@dataclass(frozen=True)
class Dial:
    """Connect."""


@dataclass(frozen=True)
class Say:
    """Say a number."""

    number: int


@dataclass(frozen=True)
class Done:
    """Close our half."""


@dataclass(frozen=True)
class Hangup:
    """Close."""


@dataclass(frozen=True)
class Total:
    """The sum of all numbers in one connection, sent at its end."""

    number: int


CODEC = lines(
    {
        Dial: PortAction.CONNECT,
        Done: PortAction.FINISH,
        Hangup: PortAction.CLOSE,
        Say: "{number}",
        Total: "total {number}",
    }
)


def step(total: int | None, inp: object) -> Iterator[Transition[int | None]]:
    """Add up the numbers; None: not connected."""
    match inp:
        case Dial() if total is None:
            yield goto(0)
        case Say(number) if total is not None:
            yield goto(total + number)
        case Done() if total is not None:
            yield goto(None, Total(total), on("line", Ended))
        case Hangup() if total is not None:
            yield goto(None)
        case _:
            return


def serve(server: socket.socket) -> None:
    """Serve one caller after another: add up lines, tell the sum at the end of the stream, and close."""
    while True:
        peer, _ = server.accept()
        with peer, peer.makefile("rw") as stream:
            try:
                numbers = [int(line) for line in stream]
                if numbers == [666]:
                    return
                stream.write(f"total {sum(numbers)}\n")
                stream.flush()
            except OSError:
                continue


def called(*inputs: object, connected: bool = False, burst: int = 1) -> Played:
    """Drive the server with these inputs, so many at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        thread = Thread(target=serve, args=(server,))
        thread.start()
        initial: int | None = 0 if connected else None
        spec = Spec[int | None, object](step, initial, [], name="sums")
        ports = {"line": tcp(f"127.0.0.1:{port}", connected=connected)}
        try:
            bench = Bench(spec, codec=CODEC, ports=ports, quiescence=0.05)
            return anyio.run(conduct, bench, inputs, Burst(bench.timing, burst) if burst > 1 else None)
        finally:
            with socket.create_connection(("127.0.0.1", port)) as last:
                last.sendall(b"666\n")
                last.shutdown(socket.SHUT_WR)
                thread.join(20)


def test_connections_come_and_go_within_a_path() -> None:
    """A path connects, half closes, gets its answer and the end, connects anew, and hangs up without an answer."""
    played = called(Dial(), Say(1), Say(2), Done(), Dial(), Say(3), Hangup(), Dial(), Say(4), Done())
    assert played.verdict.outcome == "pass"
    kinds = [type(event).__name__ for event in played.events if type(event).__name__ in {"Seen", "Closed"}]
    assert kinds == ["Seen", "Closed", "Seen", "Closed"]


def test_a_burst_does_not_drop_its_own_answers() -> None:
    """Who connects anew drops what is under way: in a burst that waits for silence, and the rest of it after that."""
    played = called(Dial(), Say(1), Done(), Dial(), Say(2), Done(), burst=3)
    assert played.verdict.outcome == "pass"
    assert [each.output for each in played.events if isinstance(each, Seen)] == [Total(1), Total(2)]


def test_a_line_may_begin_connected() -> None:
    """Where the spec begins in a connection the port opens it."""
    assert called(Say(5), Done(), connected=True).verdict.outcome == "pass"


def test_a_refused_connection_is_an_ending() -> None:
    """A refused connection ends the port; it is not a silence."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    ports = {"line": tcp(f"127.0.0.1:{port}", connected=False, within=0.05)}
    played = anyio.run(conduct, Bench(Spec(step, None, []), codec=CODEC, ports=ports, quiescence=0.05), [Dial()])
    assert played.failure.kind == "ended"
    assert "cannot connect" in played.failure.seen


def test_a_process_can_be_told_that_its_input_is_over() -> None:
    """Closing the standard input of a process is an input, and its exit an output."""
    program = "python3 -I -S -c 'import sys; print(\"total\", sum(map(int, sys.stdin)))'"
    ports = {"line": process(program, ready=None)}
    played = anyio.run(conduct, Bench(Spec(step, 0, []), codec=CODEC, ports=ports, quiescence=1.0), [Say(1), Done()])
    assert played.verdict.outcome == "pass"


@pytest.mark.parametrize(
    ("opener", "why"),
    [
        (lambda: udp("127.0.0.1:9"), "it cannot connect; give the bench a command for it"),
        (lambda: process("cat", ready=None), "a process cannot connect, only finish"),
    ],
)
def test_what_a_port_cannot_do_is_told(opener: Callable[[], Opener], why: str) -> None:
    """A model that asks a port for an action that it does not have is an error."""
    bench = Bench(Spec(step, None, []), codec=CODEC, ports={"line": opener()}, quiescence=0.05)
    with pytest.raises(ModelError, match=why):
        anyio.run(conduct, bench, [Dial()])
