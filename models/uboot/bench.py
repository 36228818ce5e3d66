"""The bench: a board in QEMU that lives for the whole campaign, reset at its prompt; or a board on a serial port."""

from __future__ import annotations

import secrets
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Expect, Life, trace_may_set
from otf.adapter.child import words
from otf.adapters.unix import unix
from otf.core import Barrier
from otf.errors import ContactError
from otf.models.serving import chosen, expected, known_issue, program
from otf.models.uboot.messages import INTERRUPT, PORT, PROMPT, Type, UbootCodec, ends_answer, prompts
from otf.models.uboot.spec import ALSO, BASE, uboot

KNOWN: Final = {"zero": known_issue("U-Boot 2023.01 hangs on a division by zero", "5 / 0")}
"""The known issues that each of `ALSO` shows."""
FIRMWARE: Final = "/usr/lib/u-boot/qemu_arm/u-boot.bin"
READY: Final = 20.0
CLEARED: Final = f"env default -a; mw.l {BASE:x} 0 100; setenv a".encode()
"""Brings variables and memory into the initial state; the return key does not repeat `setenv`."""
RESET: Final = (
    # ends a command and a countdown
    (PORT, INTERRUPT.encode()),
    Expect(PORT, PROMPT + b"$", READY / 2),
    (PORT, CLEARED),
    Expect(PORT, b"setenv a\r\n", READY),
)


@trace_may_set(also=ALSO)
def bench(*, firmware: str = FIRMWARE, also: str = "") -> Bench:
    """Return the bench of the boot loader U-Boot.

    `firmware` is the U-Boot image for QEMU's board `virt`. With `also="zero"`, the bench also sends a division by zero,
    after which the board restarts.

    >>> bench().name
    'uboot'
    """
    chosen(also, ALSO)
    console = Path(tempfile.gettempdir()) / f"otf-uboot-{secrets.token_hex(8)}"
    return Bench.on_ports(
        name="uboot",
        known_issues=expected(KNOWN, also),
        spec=uboot(also),
        codec=UbootCodec(),
        ports={PORT: unix(str(console), framing=prompts(), within=READY)},
        life=Life(server=partial(_board, firmware, console), keep=True, inband=RESET),
        inputs="uioco",
        # every command gets an answer that a prompt ends, so that only a board that hangs is silent
        barrier=Barrier({}, ends_answer),
        quiescence=1.0,
        # at its prompt the board computes all the time: no rest can be observed
        silence="timed",
        latency=0.010,
        busy=0.010,
        silence_key=by_command,
    )


def by_command(_state: object, inp: Type) -> str:
    """Return what decides whether the board says more: the command that it carries out."""
    return inp.line.partition(" ")[0]


def _board(firmware: str, console: Path) -> list[str]:
    """Return the command that starts the board. Raises ContactError."""
    if not Path(firmware).is_file():
        message = f"{firmware}: there is no such image; on Debian, `apt-get install u-boot-qemu` brings it"
        raise ContactError(message)
    qemu = program("qemu-system-arm", "qemu-system-arm")
    # wait=on: QEMU waits until the bench listens, so that nothing is lost
    board = words("-M virt -m 128M -nographic -nodefaults -nic none -monitor none")
    return [qemu, *board, "-bios", firmware, "-serial", f"unix:{console},server=on,wait=on"]
