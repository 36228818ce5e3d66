"""Serial ports: any port that pyserial has a name for, with a framing of one's choice."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, get_type_hints

import anyio
import msgspec

from otf.adapter import Ending, Port, Trouble
from otf.adapter.device import Device, Opened, opened
from otf.adapter.pump import Pump
from otf.adapter.stream import StreamLine, reader
from otf.adapter.waiting import Alarm, alarms
from otf.errors import UsageError
from otf.framing import Framing, lines

LINES: Final = lines()


class SerialLine(StreamLine):
    """A serial port; `open_serial` makes it. `port` is pyserial's, for its modem lines and breaks.

    A device that is unplugged is the trouble of the line, and no output of the system: the run is inconclusive. The
    other end of a pseudo-terminal is a program; that it went away is the ending "hung up".
    """

    def __init__(self, found: Opened, framing: Framing, alarm: Alarm) -> None:
        self.port: Any = found.port
        port = found.port
        self._found = found
        self._pump = None if _has_descriptor(port) else Pump(port)
        if self._pump is None:
            descriptor = port.fileno()
            super().__init__(descriptor, reader(descriptor), partial(os.write, descriptor), framing, alarm)
        else:
            end = self._pump.end
            super().__init__(end.fileno(), partial(end.recv, 65_536), end.send, framing, alarm)

    def remarks(self) -> list[str]:
        """Return what the port could not do, what was too long, and what has begun."""
        return [*self._found.remarks, *super().remarks()]

    def ended(self, error: OSError | None) -> Ending | Trouble:
        """Return what it means that the port ended."""
        if self._found.pty:
            return Ending("hung up")
        if _is_network(self.port):
            return super().ended(error)
        why = (self._pump and self._pump.why) or (error and str(error.strerror).lower()) or "its driver says no more"
        return Trouble(f"the device {self.port.name} is gone: {why}")

    async def close(self) -> None:
        """Close the port; DTR falls by that, unless its driver was told otherwise."""
        self._over, self._gone = True, self._gone or "closed by the tester"
        if self._pump is not None:
            await self._pump.stop()
        elif self.port.is_open:
            anyio.notify_closing(self._descriptor)
            self.port.close()


def serialport(url: str, *, framing: Framing = LINES, **options: Any) -> Port:  # noqa: ANN401 -- the fields of Device
    """Return what opens a serial port: "/dev/ttyUSB0", "COM3", "socket://host:port", "rfc2217://…", "loop://", ….

    The options are `baudrate` (9600), `bytesize` (8), `parity` ("N"), `stopbits` (1), `rtscts`, `xonxoff`, `exclusive`
    (True: nobody else may have it), `dtr` and `rts` (left alone), and `low_latency` (the driver shall not gather bytes
    for 16 ms). They may stand behind the name as well, and count before those: "/dev/ttyUSB0?baudrate=115200". Raises
    UsageError for what is none of this; opening raises ContactError.
    """
    opened = partial(open_serial, device(url, **options), framing)
    return Port(opened, "serialport", framing, partial(serialport, framing=framing, **options))


@asynccontextmanager
async def open_serial(device: Device, framing: Framing = LINES) -> AsyncGenerator[SerialLine, None]:
    """Open a serial port. What had come before is dropped. Raises ContactError with why and what to do."""
    async with alarms() as alarm:
        found = await opened(device)
        try:
            line = SerialLine(found, framing, alarm)
        except BaseException:
            found.port.close()
            raise
        try:
            yield line
        finally:
            await line.close()


def device(url: str, **options: Any) -> Device:  # noqa: ANN401 -- the fields of Device
    """Return the device that a name with options stands for. Raises UsageError for what is none."""
    name, _, query = url.partition("?") if "://" not in url else (url, "", "")
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    given: dict[str, Any] = {**options, **{key: value or "true" for key, _, value in pairs}}
    known = {key: hint for key, hint in get_type_hints(Device).items() if key != "url"}
    try:
        values: dict[str, Any] = {key: msgspec.convert(value, known[key], strict=False) for key, value in given.items()}
    except KeyError as error:
        message = f"{url}: a serial port has no option {error.args[0]!r}; it has {', '.join(known)}"
        raise UsageError(message) from error
    except msgspec.ValidationError as error:
        message = f"{url}: an option does not fit: {error}"
        raise UsageError(message) from error
    if not name:
        raise UsageError("no serial port: name one, such as /dev/ttyUSB0; `otf list --ports` shows what there is")
    return Device(url=name, **values)


def _is_network(port: Any) -> bool:  # noqa: ANN401 -- pyserial has a class for each kind of port
    return type(port).__module__ == "serial.urlhandler.protocol_socket"


def _has_descriptor(port: Any) -> bool:  # noqa: ANN401 -- the same
    # only the plain port and pyserial's socket are nothing but their descriptor: others (a log, a protocol with
    # escapes) have one too, but what is read from it is not what the port would have given
    return os.name == "posix" and (type(port).__module__ == "serial.serialposix" or _is_network(port))
