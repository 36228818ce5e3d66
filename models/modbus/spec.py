"""A Modbus server as a function of a request and earlier writes.

After "MODBUS application protocol specification V1.1b3", whose diagrams check the function first, then the quantity
(exception 3), then the addresses (exception 2); and, for silence, after the serial line guide, sections 2.4.2 and
2.5.1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from otf.models.modbus.messages import (
    ON,
    READ_COILS,
    READ_REGISTERS,
    WRITE_COIL,
    WRITE_COILS,
    WRITE_REGISTER,
    WRITE_REGISTERS,
    Bits,
    Refused,
    Request,
    Words,
    Written,
    padded,
)
from otf.models.modbus.requirements import ModbusRule
from otf.spec import Spec, Transition, goto

SIZE: Final = 16
"""Coils, and registers."""

UNIT, EVERYBODY, STRANGER = 1, 0, 2
CODES: Final = {
    ModbusRule.AP_7_FUNCTION: 1,
    ModbusRule.AP_7_ADDRESS: 2,
    ModbusRule.AP_6_QUANTITY: 3,
    ModbusRule.AP_6_11_BYTE_COUNT: 3,
    ModbusRule.AP_6_5_ILLEGAL: 3,
}
"""The exception code that each of these sentences demands."""

ANSWERED: Final = {
    READ_COILS: ModbusRule.AP_6_1_READ_COILS,
    READ_REGISTERS: ModbusRule.AP_6_3_READ_REGISTERS,
    WRITE_COIL: ModbusRule.AP_6_5_WRITE_COIL,
    WRITE_REGISTER: ModbusRule.AP_6_6_WRITE_REGISTER,
    WRITE_COILS: ModbusRule.AP_6_11_WRITE_COILS,
    WRITE_REGISTERS: ModbusRule.AP_6_12_WRITE_REGISTERS,
}
"""The sentence on the answer to each function."""

MOST: Final = {READ_COILS: 2000, READ_REGISTERS: 125, WRITE_COILS: 1968, WRITE_REGISTERS: 123}
"""The largest quantity of each function with a quantity."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Coils and registers."""

    coils: tuple[int, ...] = (0,) * SIZE
    registers: tuple[int, ...] = (0,) * SIZE


def modbus(also: str = "") -> Spec[Memory, Request]:
    """Return the spec of a Modbus RTU server.

    `also` adds wrong requests: `count`, `function`, `other`, `quantity` or `value`.

    >>> modbus().name
    'modbus'
    """
    return Spec(_step, Memory(), partial(_inputs, also), name="modbus")


def _step(memory: Memory, inp: Request) -> Iterator[Transition[Memory]]:
    if not inp.crc or inp.unit == STRANGER:
        yield goto(memory, req=ModbusRule.SL_2_4_2_OTHER if inp.crc else ModbusRule.SL_2_4_2_ERROR)
        return
    wrong = _wrong(inp)
    then = memory if wrong else _written(memory, inp)
    if inp.unit == EVERYBODY:
        yield goto(then, req=ModbusRule.SL_2_1_BROADCAST)  # the server carries it out without an answer
    elif wrong:
        yield goto(memory, Refused(inp.function, CODES[wrong]), req=wrong)
    else:
        yield goto(then, _answer(memory, inp), req=ANSWERED[inp.function])


def _wrong(inp: Request) -> ModbusRule | None:
    """Return the sentence by which the server refuses a request, None if it accepts."""
    several = inp.function in MOST
    if not several and inp.function not in {WRITE_COIL, WRITE_REGISTER}:
        return ModbusRule.AP_7_FUNCTION
    if several and not 1 <= inp.value <= MOST[inp.function]:
        return ModbusRule.AP_6_QUANTITY
    if inp.function in {WRITE_COILS, WRITE_REGISTERS} and len(inp.values) != inp.value:
        return ModbusRule.AP_6_11_BYTE_COUNT
    if inp.function == WRITE_COIL and inp.value not in {0, ON}:
        return ModbusRule.AP_6_5_ILLEGAL
    return ModbusRule.AP_7_ADDRESS if inp.address + (inp.value if several else 1) > SIZE else None


def _written(memory: Memory, inp: Request) -> Memory:
    match inp.function:
        case 5:
            return replace(memory, coils=_put(memory.coils, inp.address, (int(inp.value == ON),)))
        case 15:
            return replace(memory, coils=_put(memory.coils, inp.address, inp.values))
        case 6:
            return replace(memory, registers=_put(memory.registers, inp.address, (inp.value,)))
        case 16:
            return replace(memory, registers=_put(memory.registers, inp.address, inp.values))
        case _:
            return memory


def _put(old: tuple[int, ...], at: int, new: tuple[int, ...]) -> tuple[int, ...]:
    return old[:at] + new + old[at + len(new) :]


def _answer(memory: Memory, inp: Request) -> Bits | Words | Written:
    end = inp.address + inp.value
    if inp.function == READ_COILS:
        return Bits(READ_COILS, padded(memory.coils[inp.address : end]))
    if inp.function == READ_REGISTERS:
        return Words(READ_REGISTERS, memory.registers[inp.address : end])
    return Written(inp.function, inp.address, inp.value)


# ---- what is worth trying ------------------------------------------------------------------------------------------

ALSO: Final[dict[str, tuple[Request, ...]]] = {
    "count": (
        Request(WRITE_COILS, 0, 3, (1, 0, 1, 1, 1, 1, 1, 1, 1)),
        Request(WRITE_REGISTERS, 0, 2, (1,)),
    ),
    "function": (Request(0x55, 0, 0), Request(9, 0, 1)),
    "other": (Request(WRITE_REGISTER, 0, 7, unit=STRANGER), Request(READ_REGISTERS, 0, 1, unit=STRANGER)),
    "quantity": (Request(READ_COILS, 0, 2001), Request(READ_REGISTERS, 0, 126), Request(READ_REGISTERS, 0, 0)),
    "value": (Request(WRITE_COIL, 1, 0x1234), Request(WRITE_COIL, 0, 1)),
}
"""Descriptions of requests that are wrong, or for another server."""

_INPUTS: Final = (
    Request(READ_COILS, 0, SIZE),
    Request(READ_COILS, 1, 3),
    Request(READ_COILS, 15, 1),
    Request(READ_COILS, 15, 2),
    Request(READ_REGISTERS, 0, SIZE),
    Request(READ_REGISTERS, 14, 2),
    Request(READ_REGISTERS, SIZE, 1),
    Request(READ_REGISTERS, 0x60, 1),
    Request(WRITE_COIL, 0, ON),
    Request(WRITE_COIL, 0, 0),
    Request(WRITE_COIL, 15, ON),
    Request(WRITE_COIL, SIZE, ON),
    Request(WRITE_REGISTER, 0, 0x1234),
    Request(WRITE_REGISTER, 15, 0xFFFF),
    Request(WRITE_REGISTER, SIZE, 1),
    Request(WRITE_COILS, 1, 3, (1, 0, 1)),
    Request(WRITE_COILS, 4, 9, (1, 1, 0, 0, 1, 0, 1, 1, 1)),
    Request(WRITE_COILS, 14, 3, (1, 0, 1)),
    Request(WRITE_REGISTERS, 1, 2, (1, 0xFFFE)),
    Request(WRITE_REGISTERS, 15, 2, (1, 2)),
    Request(READ_COILS, 0, 1, crc=False),
    Request(WRITE_REGISTER, 0, 7, crc=False),
    Request(WRITE_REGISTER, 3, 9, unit=EVERYBODY),
    Request(WRITE_COILS, 8, 2, (1, 1), unit=EVERYBODY),
)


def _inputs(also: str, memory: Memory) -> Iterator[Request]:
    del memory
    yield from _INPUTS
    yield from ALSO.get(also, ())
