"""Serial devices: opens and configures them by their usual names, and explains why one could not be opened."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import anyio

from otf.adapter.third_party import answered
from otf.errors import ContactError, UsageError

_PROC: Final = Path("/proc")


def explained(url: str, error: OSError, forms: str) -> str:
    """Return the message for a device that could not be opened; `forms` lists how to write ports."""
    path = Path(url)
    explain = _EXPLANATIONS.get(error.errno or 0)
    if explain is not None and path.is_absolute():
        return f"cannot open {url}: {explain(path)}"
    return f"cannot open {url}: {error}; {forms}"


def _forbidden(path: Path) -> str:
    group = _group(path)
    return (
        f"permission denied; it belongs to the group {group}: `sudo usermod -aG {group} $USER`, then log in again"
        if group
        else "permission denied; look at its rights with `ls -l`"
    )


def _missing(path: Path) -> str:
    del path
    found = ", ".join(ports()) or "there are none"
    return f"there is no such device; is it plugged in? serial ports of this machine: {found}"


def _busy(path: Path) -> str:
    users = ", ".join(holders(path))
    if not users and _ours(path):
        return "this very run has it open already; each job (--jobs) and each port of a bench needs a device of its own"
    return f"another program has it{f': {users}' if users else ''}; end that first, or open it with exclusive=False"


_EXPLANATIONS: Final[Mapping[int, Callable[[Path], str]]] = {
    errno.EACCES: _forbidden,
    errno.EPERM: _forbidden,
    errno.ENOENT: _missing,
    errno.ENXIO: _missing,
    errno.ENODEV: _missing,
    errno.EBUSY: _busy,
    errno.EAGAIN: _busy,
}


def ports() -> dict[str, str]:
    """Return the serial ports of this machine, each with its description."""
    from serial.tools.list_ports import comports

    return {port.device: port.description for port in sorted(comports())}


def holders(path: Path) -> list[str]:
    """Return the programs that have a device open, as far as permissions allow: "minicom (4711)"."""
    found = set[str]()
    for link in _PROC.glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if link.samefile(path) and stat.S_ISCHR(link.stat().st_mode) and link.parts[2] != str(os.getpid()):
                name = (_PROC / link.parts[2] / "comm").read_text(encoding="utf-8", errors="replace").strip()
                found.add(f"{name} ({link.parts[2]})")
    return sorted(found)


def _ours(path: Path) -> bool:
    for link in (_PROC / "self/fd").glob("*"):
        with suppress(OSError):
            if link.samefile(path):
                return True
    return False


def _group(path: Path) -> str:
    if os.name != "posix":
        return ""
    import grp

    with suppress(KeyError, OSError):
        return grp.getgrgid(path.stat().st_gid).gr_name
    return ""


Parity = Literal["N", "E", "O", "M", "S"]
OPENING: Final = 10.0
"""Seconds that a driver, or the other side of a network, may take to open a port."""

_PTYS: Final = "/dev/pts/"
_MISSING: Final = frozenset({errno.ENOENT, errno.ENXIO, errno.ENODEV})
_CHUNK: Final = 65_536  # bytes
_ROUNDS: Final = 64  # chunks of old input to drop; a device with more is still sending
_AGAIN: Final = 0.05  # seconds until the next look for a missing device


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The settings of a serial port; None for `dtr` or `rts` leaves that line as it is.

    On Linux, opening a port raises both, whatever the settings: boards that reset on DTR do so at that moment. With
    `keep`, that happens once per campaign instead of on every path. otf waits `within` seconds for a missing device:
    many boards disappear and come back when reset.
    """

    url: str
    baudrate: int = 9600
    bytesize: int = 8
    parity: Parity = "N"
    stopbits: float = 1
    rtscts: bool = False
    xonxoff: bool = False
    exclusive: bool = True
    dtr: bool | None = None
    rts: bool | None = None
    low_latency: bool = False
    keep: bool = False
    within: float = 2.0


@dataclass(slots=True)
class Opened:
    """An open port, and remarks for people. `pty`: it is one end of a pseudo-terminal, not a device.

    `dropped` is what had come before the path.
    """

    port: Any
    remarks: list[str]
    pty: bool = False
    dropped: bytes = b""


async def opened(device: Device) -> Opened:
    """Open a port. Raises ContactError if it cannot be opened, UsageError for impossible settings."""
    until, missing = anyio.current_time() + device.within, False
    while True:
        try:
            # opening may wait for a modem, a network or a driver; the loop must not
            return await answered(partial(_open, device), OPENING, lambda late: late.port.close())
        except TimeoutError as error:
            why = f"it does not open within {OPENING:g} s; unplug it and plug it in again, or see who else uses it"
            raise ContactError(f"cannot open {device.url}: {why}") from error
        except ContactError as error:
            # a device that comes back is inaccessible for a moment, until its group is set
            missing = missing or getattr(error.__cause__, "errno", None) in _MISSING
            if not missing or anyio.current_time() >= until:
                raise
        await anyio.sleep(_AGAIN)


def _open(device: Device) -> Opened:
    import serial

    port = _made(device)
    remarks, early = list[str](), list[bytes]()
    try:
        with _left_alone(port, device), _looked_at(port, early):
            remarks += _configure(port, device)
    except (serial.SerialException, OSError) as error:
        raise ContactError(explained(device.url, error, FORMS)) from error
    if device.low_latency:
        remarks += _try_setting("low latency", lambda: port.set_low_latency_mode(device.low_latency))
    # asked now, since the name may be a link that vanishes with the program behind it
    return Opened(port, remarks, os.path.realpath(device.url).startswith(_PTYS), b"".join(early))


@contextmanager
def _looked_at(port: Any, early: list[bytes]) -> Generator[None]:  # noqa: ANN401 -- see below
    """Look at what has come before a port is opened, which pyserial would throw away."""
    if hasattr(port, "_reset_input_buffer"):

        def look() -> None:
            with suppress(OSError):
                early.extend(emptied(partial(os.read, port.fd, _CHUNK)))

        port._reset_input_buffer = look  # noqa: SLF001 -- it has no other way
        try:
            yield
        finally:
            del port._reset_input_buffer  # noqa: SLF001 -- the same
    else:
        yield


def emptied(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield what is there; if the device keeps sending, only a bounded part. Raises OSError at the end of the port."""
    with suppress(BlockingIOError):
        for _ in range(_ROUNDS):
            if not (chunk := read()):
                raise OSError(errno.EIO, "it is at its end")
            yield chunk


def _made(device: Device) -> Any:  # noqa: ANN401 -- pyserial has a class for each kind of port
    import serial

    options: dict[str, Any] = {
        name: getattr(device, name) for name in ("baudrate", "bytesize", "parity", "stopbits", "rtscts", "xonxoff")
    }
    try:
        port = serial.serial_for_url(device.url, do_not_open=True, **options)
        if type(port) is serial.Serial:
            port.exclusive = device.exclusive or None
            # makes a read without data fail, which would otherwise look like the end of the device
            port.inter_byte_timeout = 0.01 if os.name == "posix" else None
    except (ValueError, serial.SerialException) as error:
        message = f"not a serial port: {device.url!r}: {error}; {FORMS}"
        raise UsageError(message) from error
    return port


FORMS: Final = "write /dev/ttyUSB0, /dev/serial/by-id/…, COM3, socket://HOST:PORT, rfc2217://HOST:PORT, loop://"


@contextmanager
def _left_alone(port: Any, device: Device) -> Generator[None]:  # noqa: ANN401 -- see above
    """Keep pyserial from setting DTR and RTS when it opens the port, unless they are asked for."""
    names = [name for name in ("dtr", "rts") if getattr(device, name) is None]
    methods = [f"_update_{name}_state" for name in names if hasattr(port, f"_update_{name}_state")]
    for method in methods:
        setattr(port, method, lambda: None)
    try:
        yield
    finally:
        for method in methods:
            delattr(port, method)


def _configure(port: Any, device: Device) -> list[str]:  # noqa: ANN401 -- see above
    for name in ("dtr", "rts"):
        if (wanted := getattr(device, name)) is not None:
            setattr(port, name, wanted)
    try:
        port.open()
    except OSError:
        raise
    except Exception as error:  # termios.error, which does not exist everywhere and is not an OSError
        if device.parity == "N":
            raise OSError(*error.args) from error
        port.parity = "N"
        port.open()
    if device.parity != "N" and not _has_parity(port):
        return [f"{device.url} has no parity, as pseudo-terminals do not; parity={device.parity} was left out"]
    return []


def _has_parity(port: Any) -> bool:  # noqa: ANN401 -- see above
    # a pseudo-terminal rejects it, or accepts and ignores it
    if port.parity == "N" or os.name != "posix" or not os.isatty(port.fileno()):
        return bool(port.parity != "N")
    import termios

    return bool(termios.tcgetattr(port.fileno())[2] & termios.PARENB)


def _try_setting(what: str, do: Callable[[], object]) -> list[str]:
    try:
        do()
    except (OSError, ValueError, NotImplementedError, AttributeError) as error:
        return [f"{what}: this port cannot do it ({error})"]
    return []
