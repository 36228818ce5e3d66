"""The bench: a fresh board in QEMU for every path, or a board on a serial port."""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import SocketStream

from otf.adapter import Bench, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.serialport import device, open_serial
from otf.errors import ContactError
from otf.models.serving import GRACE, chosen, expected, known_issue, program, until_told
from otf.models.uboot.messages import COUNTDOWN, PORT, PROMPT, Type, UbootCodec, prompts
from otf.models.uboot.spec import ALSO, BASE, uboot

KNOWN: Final = {"zero": known_issue("U-Boot 2023.01 hangs on a division by zero", "5 / 0")}
"""The known issues that each of `ALSO` shows."""
FIRMWARE: Final = "/usr/lib/u-boot/qemu_arm/u-boot.bin"
READY: Final = 20.0
BAUDRATE: Final = 115_200


@trace_may_set(also=ALSO)
def bench(*, firmware: str = FIRMWARE, also: str = "") -> Bench:
    """Return the bench of the boot loader U-Boot.

    `firmware` is the U-Boot image for QEMU's board `virt`. With `also="zero"`, the bench also sends a division by zero,
    after which the board restarts.

    >>> bench().name
    'uboot'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="uboot",
        known_issues=expected(KNOWN, also),
        spec=uboot(also),
        codec=UbootCodec(),
        connect=lambda: _connect(firmware),
        outputs=(PORT,),
        inputs="uioco",
        # every command gets an answer that a prompt ends: any later output would be wrong anyway
        quiescence=0.030,
        latency=0.010,
        busy=0.010,
        silence_key=by_command,
    )


def by_command(_state: object, inp: Type) -> str:
    """Return what decides whether the board says more: the command that it carries out."""
    return inp.line.partition(" ")[0]


@asynccontextmanager
async def _connect(firmware: str) -> AsyncGenerator[Mapping[str, Line], None]:
    with tempfile.TemporaryDirectory(prefix="otf-uboot-") as folder:
        control = Path(folder) / "qmp"
        async with open_process(_command(firmware, control), ready=None, grace=GRACE) as process:
            said = await until_told(process, lambda data: b"redirected to" in data, READY)
            async with open_serial(device(_port(said), baudrate=BAUDRATE), prompts()) as line:
                await _run(control)
                await until_told(line, lambda data: data.endswith(COUNTDOWN), READY)
                await line.send(b"")
                await until_told(line, lambda data: data.endswith(PROMPT), READY)
                await line.send(f"mw.l {BASE:x} 0 100".encode())
                await until_told(line, lambda data: data.endswith(PROMPT), READY)
                yield {PORT: line}


def _command(firmware: str, control: Path) -> list[str]:
    if not Path(firmware).is_file():
        message = f"{firmware}: there is no such image; on Debian, `apt-get install u-boot-qemu` brings it"
        raise ContactError(message)
    qemu = program("qemu-system-arm", "qemu-system-arm")
    # -S: QEMU waits until the bench listens, so that nothing is lost
    board = words("-M virt -m 128M -nographic -nodefaults -nic none -monitor none -serial pty -S")
    return [qemu, *board, "-bios", firmware, "-qmp", f"unix:{control},server=on,wait=off"]


def _port(said: bytes) -> str:
    found = re.search(r"redirected to (\S+)", said.decode(errors="replace"))
    if found is None:
        message = f"QEMU did not print where its serial port is: {said!r}"
        raise ContactError(message)
    return found[1]


async def _run(control: Path) -> None:
    """Let the board go, over QEMU's own protocol."""
    async with await anyio.connect_unix(control) as stream:
        await _told(stream, b'"QMP"')
        for command in ("qmp_capabilities", "cont"):
            await stream.send(f'{{"execute": "{command}"}}\n'.encode())
            await _told(stream, b'"return"')


async def _told(stream: SocketStream, word: bytes) -> None:
    said = b""
    with anyio.move_on_after(READY):
        while word not in said:
            said += await stream.receive()
        return
    message = f"QEMU did not answer: {said!r}"
    raise ContactError(message)
