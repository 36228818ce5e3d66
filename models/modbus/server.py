"""The server of the bench: pymodbus on a serial port, whose name is its argument, with 16 coils and 16 registers."""

from __future__ import annotations

import asyncio
import sys

from pymodbus import FramerType
from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext
from pymodbus.server import ModbusSerialServer

SIZE = 16


async def serve(port: str) -> None:
    """Serve until the standard input ends."""
    # pymodbus has no types here
    coils, registers = (ModbusSequentialDataBlock(1, [0] * SIZE) for _ in range(2))  # type: ignore[no-untyped-call]
    device = ModbusDeviceContext(co=coils, hr=registers)
    server = ModbusSerialServer(
        ModbusServerContext(devices={1: device}, single=False),
        framer=FramerType.RTU,
        port=port,
        baudrate=19200,
        ignore_missing_devices=True,
        broadcast_enable=True,
    )
    await server.serve_forever(background=True)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await server.shutdown()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
