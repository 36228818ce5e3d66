"""A Modbus RTU server on a serial line, with 16 coils and 16 registers; pymodbus by default.

`otf run modbus --set port=/dev/ttyUSB0` tests a server of your own. Sources: "MODBUS application protocol specification
V1.1b3" and "MODBUS over serial line specification and implementation guide V1.02". A Modbus server must stay silent
after a wrong checksum, after a request for another server, and after a broadcast.
"""

from otf.models.modbus.bench import bench
from otf.models.modbus.spec import modbus

__all__ = ["bench", "modbus"]
