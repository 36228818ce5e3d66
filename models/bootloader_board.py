"""An ATmega328P on simavr with a boot loader, its UART on the standard streams: `python bootloader_board.py HEX`.

The clock of the board stands still while no byte comes. Otherwise its watchdog would end a session while the tester is
busy, and a board that computes all the time would never look silent. It prints `R` when it is ready.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

HERTZ: Final = 16_000_000
STARTING: Final = 4_000_000
"""Instructions until the boot loader listens: it blinks first."""

BYTE: Final = 3_000
"""Instructions for a byte, which takes 87 µs on the wire."""

SETTLING: Final = 300_000
"""Instructions after the last byte: writing a page of the flash takes 9 ms."""

# sets the external reset flag, which the boot loader checks, and jumps to it: ldi r16, 2; out MCUSR, r16; jmp
_RESET: Final = (0xE002, 0xBF04, 0x940C)
_VERSION: Final = 0x7FFE  # the last word of the flash, which is not code and beyond what simavr loads
_NOTIFY: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)


def image(lines: list[str]) -> tuple[int, bytes]:
    """Return the address and the bytes of a program in Intel HEX."""
    found: dict[int, int] = {}
    for line in lines:
        raw = bytes.fromhex(line.strip().removeprefix(":"))
        if raw[3] == 0:
            found.update(enumerate(raw[4 : 4 + raw[0]], int.from_bytes(raw[1:3], "big")))
    first, last = min(found), max(at for at in found if at < _VERSION)
    return first, bytes(found.get(at, 0xFF) for at in range(first, last + 1))


class Board:
    """The board; it calls `sent` with each byte that it sends."""

    def __init__(self, program: tuple[int, bytes], sent: Callable[[int], object]) -> None:
        self.lib, self.libc = ctypes.CDLL("libsimavr.so.2"), ctypes.CDLL(None)
        self.lib.avr_make_mcu_by_name.restype = self.lib.avr_io_getirq.restype = ctypes.c_void_p
        self.avr = ctypes.c_void_p(self.lib.avr_make_mcu_by_name(b"atmega328p"))
        self.lib.avr_init(self.avr)
        self._clocked()
        start, code = program
        reset = b"".join(word.to_bytes(2, "little") for word in (*_RESET, start // 2))
        for data, at in ((code, start), (reset, 0)):
            self.lib.avr_loadcode(self.avr, data, len(data), at)
        flags = ctypes.c_uint32(0)  # or simavr prints what is sent
        self.lib.avr_ioctl(self.avr, _ioctl(b"uas0"), ctypes.byref(flags))
        self.rx, tx = (ctypes.c_void_p(self.lib.avr_io_getirq(self.avr, _ioctl(b"uar0"), n)) for n in (0, 1))

        def notified(_irq: int, value: int, _data: int) -> None:
            sent(value)

        self.notify = _NOTIFY(notified)  # kept, since simavr does not own it
        self.lib.avr_irq_register_notify(tx, self.notify, None)

    def _clocked(self) -> None:
        # the public way to set the frequency: a firmware that has one, and no code. It begins with the name, 64 bytes
        firmware = ctypes.create_string_buffer(b"atmega328p".ljust(64, b"\0") + HERTZ.to_bytes(4, "little"), 1 << 16)
        self.lib.avr_load_firmware(self.avr, firmware)

    def run(self, instructions: int) -> None:
        """Run that many instructions."""
        # avr_run executes one, and a call from Python takes longer than it does. lfind calls it once for each item of
        # an array; only the number of items counts, since avr_run takes the key, which is the board
        count = ctypes.c_size_t(instructions)
        self.libc.lfind(self.avr, self.avr, ctypes.byref(count), ctypes.c_size_t(0), self.lib.avr_run)

    def take(self, data: bytes) -> None:
        """Receive bytes, and run until they have been answered."""
        for byte in data:
            self.lib.avr_raise_irq(self.rx, ctypes.c_uint32(byte))
            self.run(BYTE)
        self.run(SETTLING)


def _ioctl(name: bytes) -> ctypes.c_uint32:
    return ctypes.c_uint32(int.from_bytes(name, "big"))


def main() -> None:
    """Run until the input ends."""
    lines = Path(sys.argv[1]).read_text(encoding="ascii").split()
    board = Board(image(lines), lambda value: os.write(1, bytes([value & 0xFF])))
    board.run(STARTING)
    os.write(1, b"R")
    while data := os.read(0, 1000):
        board.take(data)


if __name__ == "__main__":
    main()
