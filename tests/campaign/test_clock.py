"""A keep-alive by the system's own clock, which the model forgot, is one kind of failure, and is shrunk once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import sleep

import anyio
import pytest

from otf import Bench, Spec, goto, lines
from otf.adapters import tcp
from otf.campaign import Campaign, Settings, Summary
from otf.cli.tools.campaign_folder import gathered
from otf.spec import Transition, start
from otf.trace.clock import by_clock
from otf.trace.explain import explanation

pytestmark = pytest.mark.real
AFTER = 0.6  # seconds after which the server speaks by itself
REFERENCE = f"{__name__}:bench"
ANSWERS = {"hello": "hi", "nop": "ok", "look": "seen"}


def serve(line: socket.socket) -> None:
    """Answer each line, some time later, and say `ping` once."""

    def ping() -> None:
        sleep(AFTER)
        with suppress(OSError):
            line.sendall(b"ping\n")

    threading.Thread(target=ping, daemon=True).start()
    with suppress(OSError), line, line.makefile("r") as words:
        for each in words:
            sleep(0.005)
            line.sendall(f"{ANSWERS[each.strip()]}\n".encode())


@pytest.fixture
def port() -> Iterator[int]:
    """Return the port of a server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def step(state: int, inp: str) -> list[Transition[int]]:
    """Answer each word with another."""
    return [goto(state, ANSWERS[inp])]


def bench(port: int = 1) -> Bench:
    """Return a bench whose model knows of no ping."""
    spec = Spec(step, 0, [*ANSWERS])
    codec = lines({str: "{}"})
    return Bench(spec, ports={"line": tcp(f"127.0.0.1:{port}")}, codec=codec, quiescence=0.2, latency=0.05, busy=0.1)


def run(tested: Bench, out: Path, **options: object) -> Summary:
    """Return the result of four paths that are driven one after the other."""
    settings = Settings(out=out, reference=REFERENCE, traces=4, steps=12, mode="strict", seed=1)
    return anyio.run(Campaign(tested, replace(settings, **options)).run)  # type: ignore[arg-type]


def test_a_keep_alive(port: int, tmp_path: Path) -> None:
    """Four paths fail after whichever input came before: one kind, shown by waiting alone, in two runs."""
    summary = run(bench(port), tmp_path / "out")
    [group] = summary.failures.values()
    assert group.shrunk is not None
    assert (group.shrunk.steps, group.shrunk.resets, group.shrunk.rate) == (1, 2, 1.0)
    found = by_clock(group.shrunk.verdict.failure, group.shrunk.events)
    assert found is not None
    assert found.at == pytest.approx(AFTER, abs=0.2)
    told = explanation(group.shrunk.verdict, group.shrunk.events)
    assert f"  comes {found.at:.1f} s after connecting, whatever is sent; " in told
    assert "yield goto(state, 'ping', after='ping')" in told


def test_its_report(port: int, tmp_path: Path) -> None:
    """The report of the folder has the same kind, with as many paths; so has a campaign that spends its time."""
    for name, options in {"one": {}, "two": {"spend": True, "time": 40.0}}.items():
        summary = run(bench(port), tmp_path / name, traces=2, **options)
        report = gathered(tmp_path / name, REFERENCE, {})
        assert {name: each.count for name, each in report.failures.items()} == {
            str(name): group.count for name, group in summary.failures.items()
        }
        assert len(report.failures) == 1


def test_the_lines_that_allow_it(port: int, tmp_path: Path) -> None:
    """The model with the timer that is offered has no failure."""

    def emits(state: int) -> Iterator[Transition[int]]:
        yield goto(state, "ping", after="ping")

    tested = bench(port)
    spec = Spec(step, 0, [*ANSWERS], timers=[start("ping", AFTER * 0.7, AFTER * 1.3)], emits=emits)
    assert not run(replace(tested, spec=spec), tmp_path / "out", traces=2, steps=12).failures
