"""The board of board.c in QEMU: flashed, reset by a line, dipped and switched off and on as inputs of a model.

The power is off while QEMU stands still; when it comes back the RAM is lost. A dip of the power leaves the RAM, and its
cause there, as a brown-out detector does.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

import anyio

from otf.adapter import Bench, Flash, Life, PortAction, lines
from otf.adapter.board import command_qemu
from otf.adapters import unix
from otf.models.serving import program
from otf.spec import Elapse, Spec, Transition, goto

HERE: Final = Path(__file__).parent
FAULTS: Final = {
    "mute": "the banner is lost after a brown-out",
    "stale": "the flag of the watchdog is not cleared",
    "early": "the first message comes before the board has tested itself",
    "forgetful": "settings are lost at power-off",
    "looping": "the third reset leads into a boot loop",
    "late": "the first boot after flashing is late",
}
NAMES: Final = ("a", "b")
Cause = Literal["pin", "wdog", "brown", "por"]


@dataclass(frozen=True)
class Say:
    """A command."""

    text: str


@dataclass(frozen=True)
class Reset:
    """Pull the line."""


@dataclass(frozen=True)
class Dip:
    """Let the power dip."""


@dataclass(frozen=True)
class Off:
    """Switch the power off."""


@dataclass(frozen=True)
class On:
    """Switch the power on."""


@dataclass(frozen=True)
class Reflash:
    """Write the image again: settings are erased."""


@dataclass(frozen=True)
class Boot:
    """The banner."""

    cause: str


@dataclass(frozen=True)
class Ready:
    """The board has tested itself."""

    name: str


@dataclass(frozen=True)
class Name:
    """The setting."""

    name: str


@dataclass(frozen=True)
class Led:
    """Whether it is on."""

    on: int


@dataclass(frozen=True)
class Ok:
    """A command was carried out."""


@dataclass(frozen=True)
class Board:
    """What the board keeps; `phase` is boot, test, ready or off."""

    phase: Literal["boot", "test", "ready", "off"] = "boot"
    cause: Cause = "por"
    name: str = "-"
    led: int = 0
    hangs: bool = False


Input = Say | Reset | Dip | Off | On | Reflash | Elapse
CODEC: Final = lines(
    {
        Reset: PortAction.RESET,
        Dip: PortAction.PULSE_RTS,
        Off: PortAction.POWER_OFF,
        On: PortAction.POWER_ON,
        Reflash: PortAction.PULSE_DTR,
        Boot: "boot {cause}",
        Ready: "ready {name}",
        Name: "name {name}",
        Led: "led {on}",
        Ok: "ok",
        Say: "{text}",
    }
)
COMMANDS: Final = ("get", "led", "led on", "led off", "hang", *(f"set {name}" for name in NAMES))


def inputs(state: Board) -> Iterator[Input]:
    """Yield commands of a board that is ready, and what happens to it; while it boots, waits."""
    if state.phase == "off":
        yield On()
        yield Elapse(0.3)
    elif state.phase == "ready" and not state.hangs:
        yield from map(Say, COMMANDS)
        yield from (Reset(), Dip(), Off(), Reflash())
    else:
        yield Elapse(1.5 if state.hangs else 0.4)


def step(state: Board, inp: Input) -> Iterator[Transition[Board]]:
    """Yield what an input causes."""
    match inp:
        case Reset():
            yield goto(Board("boot", "pin", state.name))
        case Dip():
            yield goto(Board("boot", "brown", state.name))
        case On():
            yield goto(Board("boot", "por", state.name))
        case Reflash():
            yield goto(Board("boot", "por"))
        case Off():
            yield goto(replace(state, phase="off"))
        case Say(text):
            then, said = _done(state, text)
            yield goto(then, said)
        case Elapse():
            return


def _done(state: Board, text: str) -> tuple[Board, Name | Led | Ok]:
    match text.split():
        case ["get"]:
            return state, Name(state.name)
        case ["led"]:
            return state, Led(state.led)
        case ["led", way]:
            return replace(state, led=int(way == "on")), Ok()
        case ["set", name]:
            return replace(state, name=name), Ok()
        case _:
            return replace(state, hangs=True), Ok()


def emits(state: Board) -> Iterator[Transition[Board]]:
    """Yield the banner, the first message after the board has tested itself, and the bite of the watchdog."""
    if state.phase == "boot":
        yield goto(replace(state, phase="test"), Boot(state.cause), within=(0.0, 0.3))
    elif state.phase == "test":
        yield goto(replace(state, phase="ready"), Ready(state.name), within=(0.08, 0.2))
    elif state.hangs:
        yield goto(Board("test", "wdog", state.name), Boot("wdog"), within=(0.9, 1.2))


def build(folder: Path, fault: str = "none") -> Path:
    """Return the image, compiled."""
    image = folder / f"{fault}.elf"
    number = ["none", *FAULTS].index(fault)
    gcc = program("arm-none-eabi-gcc", "gcc-arm-none-eabi")
    options = ["-mcpu=cortex-m3", "-mthumb", "-O1", "-Wall", "-Werror", "-ffreestanding", "-nostdlib"]
    argv = [gcc, *options, f"-DFAULT={number}", "-T", str(HERE / "board.ld"), str(HERE / "board.c"), "-o", str(image)]
    subprocess.run(argv, check=True)
    return image


class Bed:
    """The bed of the board: QEMU, its monitor, its memory, and the file of the settings."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.settings = folder, folder / "settings"
        self.monitor, self.console, self.memory = (folder / name for name in ("qmp", "console", "memory"))

    @property
    def server(self) -> list[str]:
        """The program that plays the board; it begins with the power off."""
        sockets = [f"unix:{each},server=on,wait=off" for each in (self.console, self.monitor, self.memory)]
        argv = ["-M", "lm3s6965evb", "-display", "none", "-nodefaults", "-monitor", "none", "-S"]
        argv += ["-serial", sockets[0], "-qmp", sockets[1], "-qtest", sockets[2], "-qtest-log", "/dev/null"]
        argv += ["-kernel", str(self.folder / "flash.elf"), "-semihosting-config", "enable=on,target=native"]
        # the file of the settings lies where QEMU runs
        return [
            "/bin/sh",
            "-c",
            f'cd {self.folder} && exec "$@"',
            "sh",
            program("qemu-system-arm", "qemu-system-arm"),
            *argv,
        ]

    async def off(self) -> None:
        """Switch the power off."""
        await command_qemu(str(self.monitor), "stop")

    async def on(self) -> None:
        """Switch the power on: the RAM is lost."""
        await self.write(0x20000000, 0)
        await command_qemu(str(self.monitor), "system_reset", "cont")

    async def reset(self) -> None:
        """Pull the line."""
        await command_qemu(str(self.monitor), "system_reset")

    async def dip(self) -> None:
        """Let the power dip: the detector notes the cause."""
        await self.write(0x20000004, 2)
        await self.reset()

    async def erased(self) -> None:
        """Have the power off, and the settings erased."""
        self.settings.unlink(missing_ok=True)
        if self.monitor.exists():
            await self.off()

    async def reflash(self) -> None:
        """Write the image: settings are erased, and the board starts."""
        await self.erased()
        await self.on()

    async def write(self, address: int, word: int) -> None:
        """Write a word of the memory."""
        async with await anyio.connect_unix(self.memory) as stream:
            await stream.send(f"writel {address:#x} {word:#x}\n".encode())
            assert (await stream.receive()).startswith(b"OK")


def bench(folder: Path, fault: str = "none") -> Bench:
    """The bench of the board, with an image that has this fault."""
    bed, image = Bed(folder), build(folder, fault)
    life = Life(
        flash=Flash(partial(_copied, image, folder / "flash.elf"), image=image),
        server=bed.server,
        keep=True,
        reset=bed.erased,
        boot=bed.on,
        actions={
            "console": {
                PortAction.RESET: bed.reset,
                PortAction.PULSE_RTS: bed.dip,
                PortAction.PULSE_DTR: bed.reflash,
                PortAction.POWER_OFF: bed.off,
                PortAction.POWER_ON: bed.on,
            }
        },
    )
    spec = Spec(step, Board(), inputs, emits, name="board", guarded=True)
    ports = {"console": unix(str(bed.console))}
    return Bench.on_ports(spec, CODEC, ports, life=life, name="board", quiescence=0.05, latency=0.02, busy=0.04)


def _copied(image: Path, to: Path) -> None:
    shutil.copyfile(image, to)
