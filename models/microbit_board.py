"""QEMU's emulated micro:bit: how to start it, and what its prompt looks like."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Line
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.errors import ContactError
from otf.framing import prompt
from otf.models.serving import GRACE, HOST, free_port, program, until_told

READY: Final = 20.0
PROMPT, MORE = b">>> ", b"... "


def board(firmware: str, port: int) -> list[str]:
    """Return the command that starts the board, with its serial port behind TCP. Raises ContactError for no image."""
    if not Path(firmware).is_file():
        message = (
            f"{firmware}: there is no such image; on Debian, `apt-get install firmware-microbit-micropython` has it"
        )
        raise ContactError(message)
    qemu = program("qemu-system-arm", "qemu-system-arm")
    machine = ["-M", "microbit", "-nographic", "-monitor", "none", "-device", f"loader,file={firmware}"]
    # wait=on: the board starts once the connection exists, so that nothing is lost
    return [qemu, *machine, "-serial", f"tcp:{HOST}:{port},server=on,wait=on"]


@asynccontextmanager
async def connect(firmware: str) -> AsyncGenerator[Mapping[str, Line], None]:
    """Start the board, and yield its serial port after its first prompt. Raises ContactError."""
    port, framing = free_port(socket.SOCK_STREAM), prompt(PROMPT, MORE, end=b"\r", keep=True)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_process(board(firmware, port), ready=None, grace=GRACE))
        line = await stack.enter_async_context(open_tcp((HOST, port), framing, within=READY))
        await until_told(line, lambda data: data.endswith(PROMPT), READY)
        yield {"serial": line}
