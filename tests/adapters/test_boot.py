"""Boards that boot with their ports open: by a hook, or by inputs of the model that reset them."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from trio.testing import MockClock

from otf.adapter import Bench, Life
from otf.adapter.reset import Hook
from otf.adapters import serialport
from otf.adapters.serialport import SerialLine
from otf.campaign import Summary
from otf.codec import PortAction, lines
from otf.errors import CodecError, ModelError
from otf.offline import judge
from otf.spec import Spec, Transition, goto, start
from otf.trace.reading import TraceReader
from tests.adapters.board import campaign
from tests.adapters.harness import arrive, bare_errors, frames, terminal

pytestmark = [pytest.mark.anyio, pytest.mark.real]


@dataclass(frozen=True)
class Reset:
    """Resets the board."""


@dataclass(frozen=True)
class Hello:
    """A command."""


@dataclass(frozen=True)
class Boot:
    """The banner of the firmware; `cause` is its reset flag."""

    cause: str


@dataclass(frozen=True)
class World:
    """The answer to a command."""


CODEC = lines({Reset: PortAction.RESET, Hello: "hello", Boot: "boot {cause}", World: "world"})


def step(state: str, inp: object) -> Iterator[Transition[str]]:
    """Answer when it runs; a reset starts the firmware anew, and it says that it was one by its pin."""
    if inp == Reset():
        yield goto("running", Boot("pin"), within=(0.02, 0.5))
    elif state == "running":
        yield goto("running", World())


def emits(state: str) -> Iterator[Transition[str]]:
    """After power-on the banner comes by itself."""
    if state == "dark":
        yield goto("running", Boot("power"), after="boot")


def inputs(state: str) -> list[object]:
    """Nothing is sent to a board that has not booted."""
    return [] if state == "dark" else [Reset(), Hello()]


SPEC: Spec[str, object] = Spec(step, "dark", inputs, emits, timers=[start("boot", 0, 0.5)])


class Firmware:
    """The board; the banner after the third reset since power-on is wrong where it is `faulty`."""

    def __init__(self, far: int, *, faulty: bool = False) -> None:
        self.far, self.faulty, self.resets = far, faulty, 0

    async def boot(self, cause: str, pause: float = 0.0) -> None:
        """Start, and go on saying so while the command that started it still runs."""
        self.resets = 0 if cause == "power" else self.resets + 1
        await anyio.sleep(0.03)
        wrong = self.faulty and self.resets == 3
        os.write(self.far, f"boot {'brown-out' if wrong else cause}\n".encode())
        await anyio.sleep(pause)

    async def serve(self) -> None:
        """Answer commands."""
        while True:
            await anyio.wait_readable(self.far)
            os.write(self.far, b"world\n" * os.read(self.far, 4096).count(b"\n"))


@asynccontextmanager
async def board(*, faulty: bool = False, pause: float = 0.0, **more: Any) -> AsyncGenerator[Bench]:  # noqa: ANN401 -- fields of Life
    """The bench of a board that boots when a path begins, and that an input resets."""
    with bare_errors():
        async with terminal() as (name, far), anyio.create_task_group() as tasks:
            firmware = Firmware(far, faulty=faulty)
            tasks.start_soon(firmware.serve)
            given: dict[str, Any] = {
                "boot": partial(firmware.boot, "power"),
                "actions": {"console": {PortAction.RESET: partial(firmware.boot, "pin", pause)}},
            }
            life = Life(**{**given, **more})
            ports = {"console": serialport(name)}
            yield Bench(SPEC, codec=CODEC, ports=ports, life=life, quiescence=0.03, latency=0.02, name="board")
            tasks.cancel_scope.cancel()


def written(folder: Path) -> str:
    """Return the traces of a campaign."""
    return "".join(each.read_text("utf-8") for each in folder.glob("**/*.jsonl"))


def judged(bench: Bench, trace: Path) -> str:
    """Return the outcome of a trace, judged again."""
    with trace.open("rb") as file:
        return judge(TraceReader(file, trace.name), bench).verdict.outcome


@pytest.mark.parametrize("pause", [0.0, 0.3])
async def test_the_banner_is_an_output(pause: float, tmp_path: Path) -> None:
    """After power-on and after each reset, also if it comes while the command that resets still runs."""
    async with board(pause=pause) as bench:
        summary = await campaign(bench, tmp_path, traces=3, steps=6).run()
    assert (summary.verdict, summary.inconclusive) == ("pass", []), written(tmp_path)
    trace = written(tmp_path)
    assert '"power"' in trace
    assert '"pin"' in trace
    assert max(map(float, re.findall(r'"took":([0-9.]+)', trace))) > pause


async def test_a_wrong_banner_is_a_failure(tmp_path: Path) -> None:
    """A flag that is wrong after the third reset is found, shrunk to three resets, and replays to the same verdict."""
    async with board(faulty=True) as bench:
        summary = await campaign(bench, tmp_path, traces=4, steps=8).run()
        (group,) = summary.failures.values()
        assert group.shrunk is not None
        assert group.shrunk.steps == 3
        assert judged(bench, group.shrunk.trace) == "fail"


def test_a_board_that_does_not_boot_is_found(tmp_path: Path) -> None:
    """No banner by the end of its window, in virtual time: on a busy machine a real one decides nothing.

    The time jumps from the boot on: the port is opened in a thread, whose limit a clock that jumps would reach first.
    """
    clock = MockClock(rate=1)

    async def boot() -> None:
        clock.rate, clock.autojump_threshold = 0, 0

    async def run() -> Summary:
        async with board(boot=boot) as bench:
            return await campaign(bench, tmp_path, traces=1, shrink=False).run()

    summary = anyio.run(run, backend="trio", backend_options={"clock": clock})
    assert summary.verdict == "fail", str(summary)


async def test_a_command_that_fails_decides_nothing(tmp_path: Path) -> None:
    """The relay is the test bed's: the path is inconclusive, with its words."""
    hook: Hook = "echo no such hub; exit 2"
    async with board(actions={"console": {PortAction.RESET: hook}}) as bench:
        summary = await campaign(bench, tmp_path, traces=1, steps=20).run()
    assert summary.verdict == "inconclusive"
    assert "the command to reset the system failed" in str(summary)


async def test_without_a_command_it_is_said_what_to_write(tmp_path: Path) -> None:
    """An action that no port can do names the field of the bench."""
    async with board(actions={}) as bench:
        with pytest.raises(ModelError, match=r"a pseudo-terminal cannot reset the system"):
            await campaign(bench, tmp_path, traces=1, steps=20).run()


async def test_what_was_dropped_is_said() -> None:
    """A banner that came before the port was opened is named, with what makes it an output."""
    async with terminal() as (name, far):
        os.write(far, b"boot v1\n")
        async with serialport(name)() as line:
            os.write(far, b"fresh\n")
            assert await arrive(line, 1) == frames(b"fresh")
            (remark,) = line.remarks()
    assert remark.startswith(r"8 bytes that had come before the path were dropped, at last b'boot v1\n'; ")
    assert "Life(boot=…)" in remark


@pytest.mark.parametrize(
    ("action", "sets"),
    [
        (PortAction.BREAK, [("break_condition", True), ("break_condition", False)]),
        (PortAction.PULSE_DTR, [("dtr", False), ("dtr", True)]),
        (PortAction.PULSE_RTS, [("rts", False), ("rts", True)]),
    ],
)
async def test_a_serial_port_pulses_its_lines(action: PortAction, sets: list[tuple[str, bool]]) -> None:
    """By the lines of pyserial, which are as they were afterwards; a pseudo-terminal has none, and says so."""
    async with terminal() as (name, _), serialport(name)() as line:
        assert isinstance(line, SerialLine)
        with pytest.raises(CodecError, match=f"a pseudo-terminal cannot {action.value}"):
            await line.perform(action)
        recorded = Lines()
        line.port, line._held.found.pty = recorded, False  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- a device of which only the lines matter
        await line.perform(action)
        assert recorded.sets == sets
        with pytest.raises(CodecError, match="this port cannot connect"):
            await line.perform(PortAction.CONNECT)


class Lines:
    """The modem lines of a device, and what was set."""

    def __init__(self) -> None:
        self.__dict__.update(sets=[], dtr=True, rts=True, break_condition=False, name="/dev/ttyUSB0")
        self.sets: list[tuple[str, bool]]

    def __setattr__(self, name: str, value: bool) -> None:
        self.__dict__[name] = value
        self.sets.append((name, value))
