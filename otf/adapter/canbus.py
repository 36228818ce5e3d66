"""CAN buses, opened by python-can: where one is, and its messages as the bytes of a `CanFrame`."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from otf.adapter.socket.datagrams import Stamps
from otf.codec.can import CanFrame, decode_can, encode_can, encode_can_error
from otf.errors import CodecError, UsageError
from otf.framing import Frame
from otf.values.raised import describe

WATCHED: Final = {"socketcan", "udp_multicast"}
"""Interfaces whose descriptor shows waiting frames, and whose calls never block; others need threads."""

CanFilter: TypeAlias = tuple[int, int]
"""An id and a mask: frames pass if their id equals this one in the bits of the mask."""

_BUS_OFF: Final = 0x40  # CAN_ERR_BUSOFF in linux/can/error.h


@dataclass(frozen=True)
class CanBus:
    """Where a bus is and how it is set up, in python-can's terms."""

    interface: str
    channel: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    filters: Sequence[CanFilter] = ()
    errors: bool = False

    @property
    def is_watched(self) -> bool:
        """Whether watching the descriptor is enough: if python-can itself filters, a frame may wait behind others."""
        return self.interface in WATCHED and (self.interface == "socketcan" or not self.filters)

    @property
    def is_virtual(self) -> bool:
        """Whether the whole bus is in this process."""
        return self.interface == "virtual"

    @property
    def name(self) -> str:
        """The name of the bus in errors."""
        return f"the CAN bus {self.interface}/{self.channel}"

    def open(self) -> Any:  # noqa: ANN401 -- a can.BusABC, imported late
        """Open the bus. Raises whatever python-can raises."""
        from can import Bus

        given: dict[str, Any] = dict(self.options)
        if self.filters:
            given["can_filters"] = [{"can_id": number, "can_mask": mask} for number, mask in self.filters]
        # ignores files and variables with which this user sets up other programs: the bench says everything
        bus = Bus(channel=self.channel, interface=self.interface, ignore_config=True, **given)
        if self.interface == "udp_multicast":
            _keep_apart(bus.fileno())
        return bus


def _keep_apart(descriptor: int) -> None:
    """Let a multicast socket hear only its own group: by default Linux delivers all groups joined on this machine."""
    with socket.socket(fileno=os.dup(descriptor)) as sock:
        is_new = sock.family == socket.AF_INET6
        level, option = (socket.IPPROTO_IPV6, 29) if is_new else (socket.IPPROTO_IP, 49)  # IP(V6)_MULTICAST_ALL
        sock.setsockopt(level, option, 0)


def read_bus(
    url: str, form: str, options: Mapping[str, Any], filters: Sequence[CanFilter] = (), *, errors: bool = False
) -> CanBus:
    """Return the bus at the address `SCHEME://INTERFACE/CHANNEL?OPTION=VALUE`. Raises UsageError with the form.

    >>> read_bus("can://slcan//dev/ttyACM0?bitrate=500000&fd=true", "can://…", {})
    CanBus(interface='slcan', channel='/dev/ttyACM0', options={'bitrate': 500000, 'fd': True}, filters=(), errors=False)
    """
    if find_spec("can") is None:
        raise UsageError(f"{url}: CAN needs python-can and can-isotp: pip install 'otf[can]'")
    place, _, query = url.partition("://")[2].partition("?")
    interface, _, channel = place.partition("/")
    if not interface or not channel:
        raise UsageError(f"not a CAN bus: {url!r}; write {form}")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return CanBus(interface, channel, {**options, **{key: _value(value) for key, _, value in pairs}}, filters, errors)


def message_of(data: bytes) -> Any:  # noqa: ANN401 -- a can.Message
    """Return python-can's message for the bytes of a frame. Raises CodecError."""
    from can import Message

    frame = decode_can(data)
    return Message(
        arbitration_id=frame.id,
        data=None if frame.remote else frame.data,
        dlc=len(frame.data),
        is_extended_id=frame.extended,
        is_remote_frame=frame.remote,
        is_fd=frame.fd,
        bitrate_switch=frame.brs,
        error_state_indicator=frame.esi,
    )


class BusStamps:
    """Tells when the messages of a bus came, by the time stamps of the kernel or the hardware."""

    def __init__(self) -> None:
        self._stamps = Stamps()
        self._empty = time.monotonic()

    def empty(self, at: float) -> None:
        """Note that nothing had come by a moment (`time.monotonic`)."""
        self._empty = at

    def received(self, message: Any) -> float | None:  # noqa: ANN401 -- a can.Message
        """Return when a message came, by `time.monotonic`; None if its stamp cannot be right."""
        now = time.monotonic()
        ago = self._stamps.ago(message.timestamp, now - self._empty)
        return None if ago is None else now - ago


def frame_of(
    message: Any,  # noqa: ANN401 -- a can.Message
    received: float | None = None,
    *,
    errors: bool = False,
) -> Frame | None:
    """Return the frame of a received message.

    An error frame reports a disturbed frame, which the controllers repeat by themselves. It is therefore None unless
    `errors` is set. Raises OSError if it reports that the bus is off, unless `errors` is set.
    """
    if message.is_error_frame:
        if errors:
            return Frame(encode_can_error(message.arbitration_id, bytes(message.data)), "", received)
        if message.arbitration_id & _BUS_OFF:
            raise OSError("the controller is bus-off: it has seen too many errors, and sends nothing more")
        return None
    data = bytes(message.dlc) if message.is_remote_frame else bytes(message.data)
    kinds = {"extended": bool(message.is_extended_id), "remote": bool(message.is_remote_frame)}
    flags = {"brs": bool(message.bitrate_switch), "esi": bool(message.error_state_indicator)}
    try:
        raw = encode_can(CanFrame(message.arbitration_id, data, fd=bool(message.is_fd), **kinds, **flags))
    except CodecError as error:
        return Frame(data, str(error), received)
    return Frame(raw, "", received)


def bus_failed(error: Exception) -> str:
    """Return the trouble of a line whose bus raised an error."""
    return f"the CAN bus failed: {describe(error)}"


def _value(text: str) -> object:
    """Return a number, a boolean or the text itself, as python-can takes options."""
    with suppress(ValueError):
        return float(text) if "." in text else int(text)
    return {"true": True, "false": False, "": True}.get(text.lower(), text)
