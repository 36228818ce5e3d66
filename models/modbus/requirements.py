"""The normative sentences about a Modbus server that the model decides.

AP is the "MODBUS application protocol specification V1.1b3", SL the "MODBUS over serial line specification and
implementation guide V1.02"; the number is the section. Most sentences are shortened. Neither text uses the key words of
RFC 2119; plain statements count as MUST.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class ModbusRule(Enum):
    """A sentence each, with its level."""

    AP_6_1_READ_COILS = (
        "MUST",
        "The coils in the response message are packed as one coil per bit; the remaining bits are padded with zeros.",
    )
    AP_6_3_READ_REGISTERS = (
        "MUST",
        "The register data are packed as two bytes per register; the first contains the high order bits.",
    )
    AP_6_5_WRITE_COIL = (
        "MUST",
        "FF 00 hex requests the output to be ON, 00 00 to be OFF. The normal response is an echo of the request.",
    )
    AP_6_5_ILLEGAL = "MUST", "All other values are illegal and will not affect the output: exception code 3."
    AP_6_6_WRITE_REGISTER = (
        "MUST",
        "The normal response is an echo of the request, returned after the register contents have been written.",
    )
    AP_6_11_WRITE_COILS = (
        "MUST",
        "The normal response returns the function code, starting address, and quantity of coils forced.",
    )
    AP_6_12_WRITE_REGISTERS = (
        "MUST",
        "The normal response returns the function code, starting address, and quantity of registers written.",
    )
    AP_6_11_BYTE_COUNT = (
        "MUST",
        "Exception code 3 unless the byte count fits the quantity of outputs, or of registers (6.12).",
    )
    AP_6_QUANTITY = (
        "MUST",
        "Exception code 3 unless the quantity is from 1 to the largest one of the function (the state diagrams of 6).",
    )
    AP_7_FUNCTION = (
        "MUST",
        "Exception code 1: the function code received in the query is not an allowable action for the server.",
    )
    AP_7_ADDRESS = (
        "MUST",
        "Exception code 2: the combination of reference number and transfer length is invalid.",
    )
    AP_7_FAILURE = (
        "MUST",
        "Exception code 4: an unrecoverable error occurred while the server attempted to perform the requested action.",
        "nothing that a client sends brings it about",
    )
    SL_2_1_BROADCAST = (
        "MUST",
        "All devices must accept the broadcast for writing functions; no response is returned to broadcast requests.",
    )
    SL_2_4_2_ERROR = (
        "MUST",
        "If the slave detects an error in the received frame, no response is returned to the master.",
    )
    SL_2_4_2_OTHER = "MUST", "A frame that is not addressed to this slave is not answered (its state diagram)."


MODBUS_REQUIREMENTS: Final = Requirements.from_enum(ModbusRule)
"""The table of the bench."""
