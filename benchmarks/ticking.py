"""Devices that speak all the time, driven: `python -m benchmarks.ticking [FORM …]`.

A server that says a tick each 1, 20 and 200 ms, on a connection of its own or on that of the answers, with five forms
of its model. A row has the inputs per second of a correct one, and after how many inputs a wrong answer, from the third
on, was found. `--busy 8` runs so many busy loops beside it; with `--steps 10000 --seconds 600` it has to pass so many.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final, cast, get_args

import anyio

from benchmarks.measure import command, positive, save
from otf.adapter import Bench
from otf.adapters import tcp
from otf.campaign import Campaign, Settings, Summary
from otf.spec import Spec, TimerStart, Transition, goto, start
from otf.trace.record import Mode
from tests.runner.words import Words

FORMS: Final = ("free", "window", "timer", "numbered", "modulo")
PERIODS: Final = (0.2, 0.02, 0.001)
QUIESCENCE: Final = 0.05
SLACK: Final = 0.04
"""Seconds after its time by which the model allows a tick."""
HEAD: Final = "mode    ports  tick ms  form      verdict       inputs  in seconds  inputs/s  wrong found after  load"

SERVER: Final = """
import select, socket, sys, time
period, ports, wrong, modulo = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
def serve(asked, tick):
    said, got, due = 0, 0, time.monotonic() + period
    while True:
        ready, _, _ = select.select([asked], [], [], max(0.0, due - time.monotonic()))
        if time.monotonic() >= due:
            tick.sendall(b"tick%d\\n" % (said % modulo))
            said, due = said + 1, time.monotonic() + period
        if ready:
            data = asked.recv(4096)
            if not data:
                return
            for _ in range(data.count(b"\\n")):
                got += 1
                asked.sendall(b"wrong\\n" if 0 < wrong <= got else b"answer\\n")
listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(ports)]
print(*(each.getsockname()[1] for each in listening), flush=True)
while True:
    lines = [each.accept()[0] for each in listening]
    for each in lines:
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        serve(lines[0], lines[-1])
    except OSError:
        pass
    for each in lines:
        each.close()
"""


@dataclass(frozen=True)
class Case:
    """One row: when inputs are sent, how many connections, seconds between ticks, the form of the model."""

    mode: Mode
    ports: int
    period: float
    form: str

    @property
    def modulo(self) -> int:
        """After how many ticks their numbers begin anew."""
        return {"numbered": 1 << 60, "modulo": 50}.get(self.form, 1)

    @property
    def spec(self) -> Spec[int, str]:
        """Return the model."""
        timers = [self._timer] if self.form == "timer" else []
        return Spec(lambda state, _: [goto(state, "p.answer")], 0, ["p.ask"], emits=self._emits, timers=timers)

    @property
    def _timer(self) -> TimerStart:
        return start("tick", self.period / 2, self.period + SLACK)

    def _emits(self, state: int) -> Iterator[Transition[int]]:
        text, then = f"{'q' if self.ports > 1 else 'p'}.tick{state}", (state + 1) % self.modulo
        match self.form:
            case "window":
                yield goto(then, text, within=(0, self.period + SLACK))
            case "timer":
                yield goto(then, text, after="tick", timers=[self._timer])
            case _:
                yield goto(then, text)


@contextmanager
def served(case: Case, wrong: int) -> Iterator[list[int]]:
    """Run the server; its ports."""
    words = (case.period, case.ports, wrong, case.modulo)
    call = [sys.executable, "-I", "-S", "-c", SERVER, *map(str, words)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 -- our own
        try:
            assert server.stdout is not None
            yield [int(word) for word in server.stdout.readline().split()]
        finally:
            server.kill()


def driven(case: Case, steps: int, seconds: float, wrong: int = 0) -> tuple[Summary, float]:
    """Return what one path on the server came to, and the seconds that it took."""
    with TemporaryDirectory() as folder, served(case, wrong) as numbers:
        ports = {name: tcp(f"tcp://127.0.0.1:{number}") for name, number in zip("pq", numbers, strict=False)}
        bench = Bench(case.spec, codec=cast("Any", Words()), ports=ports, quiescence=QUIESCENCE)
        settings = Settings(
            out=Path(folder, "out"), traces=1, steps=steps, time=seconds, mode=case.mode, shrink=False, saved=None
        )
        began = monotonic()
        return anyio.run(Campaign(bench, settings).run), monotonic() - began


def row(case: Case, steps: int, seconds: float) -> str:
    """Return the figures of a case."""
    summary, lasted = driven(case, steps, seconds)
    found, _ = driven(case, steps, seconds, wrong=3)
    after = min((group.first.steps for group in found.failures.values()), default=0)
    rate = f"{summary.steps / lasted:8.0f}"
    wrong = str(after) if after else found.verdict
    head = f"{case.mode:7} {case.ports:5}  {case.period * 1000:7g}  {case.form:8}"
    return f"{head}  {summary.verdict:12}  {summary.steps:6}  {lasted:10.1f}  {rate}  {wrong:>17}"


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Run so many busy loops beside."""
    running = [subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print a row for each case."""
    parser = command("ticking", __doc__)
    parser.add_argument("forms", nargs="*", default=[*FORMS], help=f"of {', '.join(FORMS)}; all by default")
    parser.add_argument("--mode", choices=get_args(Mode), action="append")
    parser.add_argument("--ports", type=int, choices=(1, 2), action="append")
    parser.add_argument("--period", type=float, action="append", help="seconds between ticks; 0.2, 0.02, 0.001")
    parser.add_argument("--steps", type=positive, default=100_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside")
    chosen, found = parser.parse_args(arguments), list[str]()
    modes, ports, periods = chosen.mode or get_args(Mode)[::-1], chosen.ports or (2, 1), chosen.period or PERIODS
    print(HEAD, flush=True)
    with busy(chosen.busy):
        for parts in product(modes, ports, periods, chosen.forms):
            found.append(f"{row(Case(*parts), chosen.steps, chosen.seconds)}  {os.getloadavg()[0]:.1f}")
            print(found[-1], flush=True)
    save(found, chosen.json)


if __name__ == "__main__":
    main()
