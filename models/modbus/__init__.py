"""A Modbus RTU server on a serial line, with 16 coils and 16 registers; pymodbus if no other is named.

Sources: "MODBUS application protocol specification V1.1b3" and "MODBUS over serial line specification and
implementation guide V1.02". To be silent is part of the protocol: on a wrong checksum, on what is for another server,
and on what is for all.
"""

from otf.models.modbus.bench import bench
from otf.models.modbus.spec import modbus

__all__ = ["bench", "modbus"]
