"""ISO-TP (ISO 15765-2): messages in several CAN frames, using can-isotp; UDS and OBD-II run over it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from queue import Queue
from typing import Any, Final

from otf.adapter import Port
from otf.adapter.canbus import CanBus, bus_failed, read_bus
from otf.adapter.mailbox import PATIENCE, Mailbox, open_thread
from otf.errors import CodecError, UsageError
from otf.framing import LARGEST
from otf.values.arguments import checked

FORM: Final = "isotp://INTERFACE/CHANNEL?tx=7e0&rx=7e8, with the options of python-can"
TIMEOUT: Final = 5.0
"""Seconds without its next frame after which a message counts as incomplete: more than the standard's 1, as machines
may stall."""

_TURN: Final = 0.05  # seconds that a thread waits for a frame before it checks whether to end
_LOG: Final = "otf.isotp"
_STANDARD_IDS: Final = 0x7FF
_FIRST, _CONSECUTIVE = 1, 2


class _Outlet(Queue[bytearray]):
    """The queue of complete messages: those that can-isotp puts in go to the mailbox."""

    def __init__(self, mailbox: Mailbox) -> None:
        super().__init__()
        self._mailbox = mailbox

    def put(self, item: bytearray, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002 -- the signature of a queue
        del block, timeout
        self._mailbox.put(item)


@dataclass(frozen=True)
class IsoTpPeer:
    """The other side of ISO-TP: a bus, an `isotp.Address`, and parameters of can-isotp."""

    bus: CanBus
    address: Any
    params: Mapping[str, Any]


class IsoTpLayer:
    """can-isotp's transport layer, on a bus of its own; it has two threads."""

    def __init__(self, peer: IsoTpPeer, mailbox: Mailbox) -> None:
        import isotp

        self._mailbox, self._address = mailbox, peer.address
        self._prefix: int = peer.address.get_rx_prefix_size()
        self._message, self._failure = isotp.CanMessage, isotp.BlockingSendFailure
        self._bus = peer.bus.open()
        try:
            self._layer = isotp.TransportLayer(
                self._read, self._write, peer.address, self._break, dict(peer.params), _TURN
            )
            self._layer.rx_queue = _Outlet(mailbox)
            self._layer.start()
        except BaseException:
            self._bus.shutdown()
            raise

    def send(self, data: bytes) -> None:
        """Send one message, and wait until its last frame is sent. Raises CodecError for an empty one."""
        if not data:
            raise CodecError("an ISO-TP message has one byte at least: no frame carries an empty one")
        try:
            self._layer.send(data)
        except self._failure:
            return  # the system did not let it through, which `_break` has reported as an output

    def close(self) -> None:
        """End the threads, and close the bus."""
        self._layer.stop()
        self._bus.shutdown()

    def _read(self, timeout: float) -> Any:  # noqa: ANN401 -- an isotp.CanMessage
        try:
            found = self._bus.recv(timeout)
        except Exception as error:  # noqa: BLE001 -- a driver may raise anything
            self._mailbox.fail(bus_failed(error))
            return None
        if found is None or found.is_error_frame or found.is_remote_frame:
            return None
        message = self._message(found.arbitration_id, found.dlc, found.data, found.is_extended_id, found.is_fd)
        if self._address.is_for_me(message) and found.data[self._prefix : self._prefix + 1]:
            kind = found.data[self._prefix] >> 4
            if kind in {_FIRST, _CONSECUTIVE}:
                self._mailbox.stir()
        return message

    def _write(self, message: Any) -> None:  # noqa: ANN401 -- an isotp.CanMessage
        import can

        try:
            self._bus.send(
                can.Message(
                    arbitration_id=message.arbitration_id,
                    data=message.data,
                    is_extended_id=message.is_extended_id,
                    is_fd=message.is_fd,
                    bitrate_switch=message.bitrate_switch,
                )
            )
        except Exception as error:  # noqa: BLE001 -- a driver may raise anything
            self._mailbox.fail(bus_failed(error))

    def _break(self, error: Exception) -> None:
        self._mailbox.put(b"", f"{type(error).__name__}: {error}")


@checked
def isotp(  # noqa: PLR0913 -- all but the first have defaults
    url: str,
    *,
    tx: int = 0,
    rx: int = 0,
    address: Any = None,  # noqa: ANN401 -- an isotp.Address
    padding: int | None = None,
    stmin: int = 0,
    blocksize: int = 8,
    timeout: float = TIMEOUT,
    patience: float = PATIENCE,
    **options: Any,  # noqa: ANN401 -- those of python-can
) -> Port:
    """Return the port of ISO-TP messages, such as "isotp://socketcan/can0?tx=7e0&rx=7e8" (ids in hexadecimal).

    otf sends frames with the id `tx` and receives frames with the id `rx`; ids above 7FF have 29 bits. `address` is an
    `isotp.Address` for other kinds of addressing. `padding` is the byte that fills up frames. otf sends `stmin`
    (milliseconds) and `blocksize` to the system when it answers a first frame with flow control. If `fd` is true, otf
    sends and receives CAN FD frames. If a message is incomplete, out of order, or held up by flow control for `timeout`
    seconds, otf records an `Undecodable` output. Sending may take `patience` seconds. `isotp` raises UsageError for an
    invalid address; opening the port raises ContactError.

    >>> isotp("isotp://virtual/test?tx=7e0&rx=7e8").kind
    'isotp'
    """
    if find_spec("isotp") is None:
        raise UsageError(f"{url}: ISO-TP needs can-isotp: pip install 'otf[can]'")
    bus = read_bus(url, FORM, options)
    given = dict(bus.options)
    ids = (given.pop("tx", f"{tx:x}"), given.pop("rx", f"{rx:x}"))
    sending, hearing = (0, 0) if address is not None else (_id(url, each) for each in ids)
    params: dict[str, Any] = {
        "blocking_send": True,
        "logger_name": _LOG,
        "max_frame_size": LARGEST,
        "rx_flowcontrol_timeout": round(timeout * 1000),
        "rx_consecutive_frame_timeout": round(timeout * 1000),
        "tx_padding": _number(url, given.pop("padding", padding)),
        "stmin": _number(url, given.pop("stmin", stmin)),
        "blocksize": _number(url, given.pop("blocksize", blocksize)),
        "can_fd": bool(given.get("fd")),
        "tx_data_length": 64 if given.get("fd") else 8,
    }
    opening = partial(_open, CanBus(bus.interface, bus.channel, given), (sending, hearing), address, params)
    again = partial(isotp, tx=tx, rx=rx, address=address, padding=padding, stmin=stmin, blocksize=blocksize,
                    timeout=timeout, patience=patience, **options)  # fmt: skip
    opened = partial(open_thread, opening, IsoTpLayer.send, IsoTpLayer.close, patience=patience, name=bus.name,
                     threads=bus.is_virtual)  # fmt: skip
    return Port(opened, "isotp", None, again, url)


def _open(bus: CanBus, ids: tuple[int, int], address: Any, params: Mapping[str, Any], mailbox: Mailbox) -> IsoTpLayer:  # noqa: ANN401 -- an isotp.Address
    import isotp

    logger = logging.getLogger(_LOG)  # it would print what becomes an output
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    modes = isotp.AddressingMode
    mode = modes.Normal_11bits if max(ids) <= _STANDARD_IDS else modes.Normal_29bits
    return IsoTpLayer(IsoTpPeer(bus, address or isotp.Address(mode, txid=ids[0], rxid=ids[1]), params), mailbox)


def _id(url: str, text: object) -> int:
    try:
        found = int(str(text), 16)
    except ValueError:
        found = 0
    if not 0 < found < 1 << 29:
        raise UsageError(f"{url}: {text!r} is not the id of a CAN frame; write {FORM}, both ids hexadecimal and not 0")
    return found


def _number(url: str, value: object) -> int | None:
    try:
        return None if value is None else int(str(value), 0)
    except ValueError as error:
        raise UsageError(f"{url}: {value!r} is not a whole number, such as 204 or 0xcc") from error
