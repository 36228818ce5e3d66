"""The control unit under test of `otf run ecu`: UDS over ISO-TP on a virtual bus, with can-isotp; it knows no model.

`python-can`'s virtual buses live within a process, so the unit does too, in its own threads. Services after ISO
14229-1: 0x10 session, 0x27 security, 0x22 read, 0x2E write, 0x3E tester present. In an extended session it sends a
status frame in each cycle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

CYCLE: Final = 0.3
SESSION: Final = 1.4
"""Seconds after which a session without a request ends; in a car, 5."""
REQUESTS, ANSWERS, STATUS = 0x7E0, 0x7E8, 0x100
VIN: Final = b"W0L00000000000001"
SEED: Final = b"\x12\x34"
KEY: Final = b"\xed\xcb"
ATTEMPTS: Final = 1
VIN_ID: Final = b"\xf1\x90"

DEFAULT, EXTENDED = 1, 3
SESSION_CONTROL, READ, SECURITY, WRITE, PRESENT = 0x10, 0x22, 0x27, 0x2E, 0x3E
LENGTH, SEQUENCE, RANGE, DENIED, WRONG_KEY, EXCEEDED, NOT_NOW = 0x13, 0x24, 0x31, 0x33, 0x35, 0x36, 0x7F
SUPPRESS: Final = 0x80
_TURN: Final = 0.05
"""Seconds between a thread's checks whether to end; a busy machine delays frequent wake-ups."""
_NEVER: Final = float("inf")


class Refusal(Exception):  # noqa: N818 -- a negative response
    """The unit answers a request with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Ecu:
    """The control unit. `fault` is one of `MUTANTS` in otf/models/ecu.py."""

    def __init__(self, channel: str, fault: str = "none") -> None:
        import isotp
        from can import Bus

        self._fault = fault
        self._bus = Bus(interface="virtual", channel=channel, ignore_config=True)
        address = isotp.Address(isotp.AddressingMode.Normal_11bits, txid=ANSWERS, rxid=REQUESTS)
        self._layer = isotp.CanStack(self._bus, address=address, params={"blocking_send": False}, read_timeout=_TURN)
        self._session, self._is_open, self._is_seeded = DEFAULT, False, False
        self._attempts = self._cycles = 0
        self._ends = self._ticks = _NEVER
        self._vin = VIN
        self._over = Event()
        self._thread = Thread(target=self._run, name="ecu", daemon=True)
        self._layer.start()
        self._thread.start()

    def close(self) -> None:
        """End the threads, and leave the bus."""
        self._over.set()
        self._thread.join()
        self._layer.stop()
        self._bus.shutdown()

    def _run(self) -> None:
        while not self._over.is_set():
            wait = min(self._ends, self._ticks) - time.monotonic()
            request = self._layer.recv(block=True, timeout=max(0.0, min(_TURN, wait)))
            if request is not None:
                self._answer(bytes(request))
            now = time.monotonic()
            if now >= self._ends:
                self._leave()
                self._status(DEFAULT)
            elif now >= self._ticks:
                self._tick()

    def _answer(self, request: bytes) -> None:
        service = request[0]
        if self._session != DEFAULT and not (self._fault == "deaf" and service == PRESENT):
            self._ends = time.monotonic() + (SESSION / 2 if self._fault == "early" else SESSION)
        services: dict[int, Callable[[bytes], bytes]] = {
            SESSION_CONTROL: self._control,
            READ: self._read,
            SECURITY: self._secure,
            WRITE: self._write,
            PRESENT: self._present,
        }
        try:
            answer = services[service](request[1:])
        except Refusal as refusal:
            answer = bytes([0x7F, service, refusal.code])
        if answer:
            self._layer.send(answer)

    def _control(self, data: bytes) -> bytes:
        kept = self._fault == "unlocked" and self._is_open
        self._leave()
        if data[0] == EXTENDED:
            self._session, self._cycles = EXTENDED, 0
            self._ticks = time.monotonic() + CYCLE
            self._ends = _NEVER if self._fault == "endless" else time.monotonic() + SESSION
            self._is_open = kept
        return bytes([SESSION_CONTROL + 0x40, data[0], 0x00, 0x32, 0x01, 0xF4])

    def _read(self, data: bytes) -> bytes:
        if data != VIN_ID:
            raise Refusal(RANGE)
        vin = self._vin[:-1] if self._fault == "short" else self._vin
        return bytes([READ + 0x40]) + VIN_ID + vin

    def _secure(self, data: bytes) -> bytes:
        if self._session == DEFAULT:
            raise Refusal(NOT_NOW)
        if data[0] == 1:
            self._is_seeded = True
            return bytes([SECURITY + 0x40, 1]) + (bytes(2) if self._is_open else SEED)
        if not self._is_seeded:
            raise Refusal(SEQUENCE)
        self._is_seeded = False
        if self._attempts >= ATTEMPTS and self._fault != "patient":
            raise Refusal(EXCEEDED)
        if data[1:] != KEY:
            self._attempts += 1
            raise Refusal(WRONG_KEY)
        self._is_open, self._attempts = True, 0
        return bytes([SECURITY + 0x40, 2])

    def _write(self, data: bytes) -> bytes:
        if self._session == DEFAULT:
            raise Refusal(NOT_NOW)
        if len(data) != len(VIN_ID) + len(VIN):
            raise Refusal(LENGTH)
        if not self._is_open:
            raise Refusal(DENIED)
        self._vin = data[len(VIN_ID) :]
        return bytes([WRITE + 0x40]) + VIN_ID

    def _present(self, data: bytes) -> bytes:
        suppressed = data[0] & SUPPRESS and self._fault != "chatty"
        return b"" if suppressed else bytes([PRESENT + 0x40, 0])

    def _leave(self) -> None:
        self._session, self._is_open, self._is_seeded = DEFAULT, False, False
        self._ends = self._ticks = _NEVER

    def _tick(self) -> None:
        self._cycles += 1
        # with a fixed schedule, the unit would send several at once after a stall of the machine
        self._ticks = time.monotonic() + CYCLE
        if self._fault != "lost" or self._cycles % 3:
            self._status(self._session)

    def _status(self, session: int) -> None:
        from can import Message

        self._bus.send(Message(arbitration_id=STATUS, is_extended_id=False, data=bytes([session])))
