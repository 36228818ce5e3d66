"""Serial devices: within a campaign, a port stays open from path to path."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from otf.adapter.kept import campaigns_end
from otf.adapter.serial.carrier import Carrier, Direct, carried
from otf.adapter.serial.device import Device, Opened, emptied, opened


@dataclass(eq=False, slots=True)
class OpenPort:
    """An open port with its carrier.

    `again`: it has been used before. Its user sets `lost` if it cannot be used again.
    """

    device: Device
    found: Opened
    carrier: Carrier
    again: bool = False
    lost: bool = False

    def refresh(self) -> bool:
        """Drop what arrived between two paths; return whether the port still belongs to its device."""
        if not self.carrier.port.is_open:
            return False  # and its descriptor may now belong to another file
        try:
            self.found.dropped = b"".join(emptied(self.carrier.read))
        except OSError:
            return False
        return self._named()

    def _named(self) -> bool:
        # a link such as those below /dev/serial leads to another device when one was plugged in again
        if not isinstance(self.carrier, Direct) or not os.path.isabs(self.device.url):  # noqa: PTH117 -- the text of a user
            return True
        try:
            return os.stat(self.device.url).st_rdev == os.fstat(self.carrier.descriptor).st_rdev  # noqa: PTH116 -- as above
        except OSError:
            return False


_KEPT: Final = WeakKeyDictionary[AsyncExitStack, list[OpenPort]]()


def _kept() -> list[OpenPort] | None:
    """Return the ports kept until the end of the campaign; None outside of one."""
    end = campaigns_end()
    if end is not None and end not in _KEPT:
        end.push_async_callback(_stopped, _KEPT.setdefault(end, []))
    return None if end is None else _KEPT[end]


@asynccontextmanager
async def held(device: Device) -> AsyncGenerator[OpenPort]:
    """Open a port or take a kept one; afterwards keep or close it. Raises ContactError, UsageError."""
    kept = _kept() if device.keep else None
    port = await _taken(kept, device) or await _open(device)
    try:
        yield port
    finally:
        if kept is None or port.lost:
            await port.carrier.stop()
        else:
            port.again = True
            kept.append(port)


async def _open(device: Device) -> OpenPort:
    found = await opened(device)
    try:
        return OpenPort(device, found, carried(found.port))
    except BaseException:
        found.port.close()
        raise


async def _taken(kept: list[OpenPort] | None, device: Device) -> OpenPort | None:
    """Return a kept port that still works, and close those that do not."""
    if kept is None:
        return None
    # removed from the list before any wait, since several jobs use it
    gone = [port for port in kept if not port.refresh()]
    kept[:] = [port for port in kept if port not in gone]
    found = next((port for port in kept if port.device == device), None)
    if found is not None:
        kept.remove(found)
    await _stopped(gone)
    return found


async def _stopped(ports: list[OpenPort]) -> None:
    # whatever one of them raises, the others are closed
    async with AsyncExitStack() as stack:
        for port in ports:
            stack.push_async_callback(port.carrier.stop)
