"""Serial ports: any port that pyserial has a name for, with any framing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import anyio
import msgspec

from otf.adapter import Ending, LineLost, Port, Trouble
from otf.adapter.observed_rest.place import Place
from otf.adapter.serial import OpenPort, held
from otf.adapter.serial.carrier import is_network
from otf.adapter.serial.device import Device
from otf.adapter.serial.polled import Polled
from otf.adapter.stream import StreamLine
from otf.adapter.waiting import Alarm, alarms
from otf.codec import PortAction
from otf.errors import CodecError, UsageError, choose
from otf.framing import Framing, lines
from otf.values.arguments import checked

LINES: Final = lines()
PULSES: Final[Mapping[PortAction, tuple[str, bool | None, float]]] = {
    PortAction.BREAK: ("break_condition", True, 0.25),
    PortAction.PULSE_DTR: ("dtr", None, 0.1),
    PortAction.PULSE_RTS: ("rts", None, 0.1),
}
"""What each of them sets in pyserial, to which value (None: inverted), and for how many seconds."""

SHOWN: Final = 80  # bytes
DROPPED: Final = (
    "{} bytes that had come before the path were dropped, at last {!r}; what a system says when it boots is an output "
    "where it is reset with the ports open: Life(boot=…), or an input of the model"
)
CONNECTIONS: Final = ("socket://", "rfc2217://")


class SerialLine(StreamLine):
    """A serial port; made by `open_serial`. `port` is pyserial's, for its modem lines and breaks.

    Unplugging a device is trouble of the line, not an output of the system: the run is inconclusive. The other end of a
    pseudo-terminal is a program; when it goes away, the ending is "hung up".
    """

    def __init__(self, held: OpenPort, framing: Framing, alarm: Alarm) -> None:
        carrier = held.carrier
        super().__init__(carrier.descriptor, carrier.read, carrier.write, framing, alarm)
        self.port: Any = carrier.port
        self._held = held

    def place(self) -> Place:
        """Return that a device at the other end has no processes here."""
        return Place(hidden="a serial port, and what is at its other end is not on this machine or not known")

    def remarks(self) -> list[str]:
        """Return remarks: what the port could not do, and which bytes were dropped, too long or left unfinished."""
        kept = [
            "the port was kept open over the paths before this one; keep=False opens it anew for each"
        ] * self._held.again
        dropped = [DROPPED.format(len(early), early[-SHOWN:])] if (early := self._held.found.dropped) else []
        return [*self._held.found.remarks, *kept, *dropped, *super().remarks()]

    def ended(self, error: OSError | None) -> Ending | Trouble:
        """Return what the end of the port means."""
        if self._held.found.pty:
            return Ending("hung up")
        if is_network(self.port):
            return super().ended(error)
        says = str(error.strerror).lower() if error is not None and error.strerror else "its driver says no more"
        return Trouble(f"the device {self.port.name} is gone: {self._held.carrier.why or says}")

    async def perform(self, port_action: PortAction) -> None:
        """Send a break, or pulse DTR or RTS. Raises CodecError if the port cannot, LineLost if it is gone."""
        if self._gone:
            raise LineLost(self._gone)
        if port_action not in PULSES or self._held.found.pty or is_network(self.port):
            kind = "a pseudo-terminal" if self._held.found.pty else "this port"
            raise CodecError(f"{kind} cannot {port_action.value}")
        name, first, seconds = PULSES[port_action]
        before: bool = getattr(self.port, name) if first is None else not first
        try:
            setattr(self.port, name, not before)
            await anyio.sleep(seconds)
            setattr(self.port, name, before)
        except OSError as error:
            raise CodecError(f"the driver of {self.port.name} cannot {port_action.value}: {error}") from error

    def leave(self) -> None:
        """Stop using the port; its holder closes or keeps it. A port with any trouble is not kept."""
        self._held.lost = self._over or self._gone != ""
        self._over, self._gone = True, self._gone or "closed by the tester"
        if self._descriptor >= 0:
            # no task may go on waiting: what arrives from here on belongs to the next path
            anyio.notify_closing(self._descriptor)


class PolledLine(SerialLine):
    """A serial port without a descriptor: its transport calls when something has come."""

    def __init__(self, held: OpenPort, polled: Polled, framing: Framing, alarm: Alarm) -> None:
        super().__init__(held, framing, alarm)
        self._polled = polled

    def descriptors(self) -> tuple[int, ...]:
        """Return no descriptors."""
        return ()

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` when something has come, or when silence has ended a frame."""
        super().arm(wake)
        self._polled.wake = wake

    async def push(self, raw: bytes) -> None:
        """Send bytes as they are. Raises LineLost."""
        await super().push(raw)
        with anyio.move_on_after(self.patience) as waiting:
            if not await self._polled.taken():
                raise self._lost(OSError(self._polled.why))
        if waiting.cancelled_caught:
            self._gone = f"did not read for {self.patience:g} s"
            raise LineLost(self._gone)


@checked
def serialport(url: str, *, framing: Framing = LINES, keep: bool | None = None, **options: Any) -> Port:  # noqa: ANN401 -- the fields of Device
    """Return the port of a serial device, such as "/dev/ttyUSB0", "COM3", "socket://host:port" or "rfc2217://…".

    The options are the fields of `Device`: `baudrate` (9600), `bytesize` (8), `parity` ("N"), `stopbits` (1), `rtscts`,
    `xonxoff`, `exclusive` (True: no other program may open the device), `dtr` and `rts` (unchanged). If `low_latency`
    is true, the driver delivers bytes at once, instead of collecting them for up to 16 ms. `within` (2.0) is how many
    seconds otf waits for a missing device. You can also write options after the name, as in
    "/dev/ttyUSB0?baudrate=115200"; they override arguments.

    If `keep` is true, the port stays open between the paths of a campaign, and otf drops bytes that arrive between
    paths. By default, `keep` is true, except for network connections, since many systems treat a new connection as a
    restart. `serialport` raises UsageError for an unknown option or name; opening the port raises ContactError.

    >>> serialport("/dev/ttyUSB0", baudrate=115_200, keep=True).kind
    'serialport'
    """
    kept = not url.startswith(CONNECTIONS) if keep is None else keep
    opened = partial(open_serial, device(url, keep=kept, **options), framing)
    return Port(opened, "serialport", framing, partial(serialport, framing=framing, keep=keep, **options))


@asynccontextmanager
async def open_serial(device: Device, framing: Framing = LINES) -> AsyncGenerator[SerialLine, None]:
    """Open a serial port, and drop what had come before. Raises ContactError with the reason and what to do."""
    if not device.url:  # a bench that only judges logs needs none
        raise UsageError("no serial port: name one, such as /dev/ttyUSB0; `otf list --ports` shows what there is")
    async with alarms() as alarm, held(device) as port:
        line = _line(port, framing, alarm)
        try:
            yield line
        finally:
            line.leave()


@checked
def device(url: str, **options: Any) -> Device:  # noqa: ANN401 -- the fields of Device
    """Return the device for a name with options. Raises UsageError if they are invalid."""
    name, _, query = url.partition("?") if "://" not in url else (url, "", "")
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    given: dict[str, Any] = {**options, **{key: value or "true" for key, _, value in pairs}}
    known = {key: hint for key, hint in get_type_hints(Device).items() if key != "url"}
    for key in given.keys() - known.keys():
        raise UsageError(f"{url}: a serial port has no option {key!r}; {choose(key, known, 'it has')}")
    values = {key: _option(url, key, value, known[key]) for key, value in given.items()}
    return Device(url=name, **values)


def _option(url: str, key: str, value: object, kind: Any) -> Any:  # noqa: ANN401 -- of the type of the field
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        has = f"it is one of {', '.join(choices)}" if choices else str(error)
        raise UsageError(f"{url}: an option does not fit: {key}={value}: {has}") from error


def _line(port: OpenPort, framing: Framing, alarm: Alarm) -> SerialLine:
    if isinstance(port.carrier, Polled):
        return PolledLine(port, port.carrier, framing, alarm)
    return SerialLine(port, framing, alarm)
