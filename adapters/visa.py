"""Instruments behind VISA (GPIB, USBTMC, VXI-11, HiSLIP, serial, sockets), using pyvisa; SCPI runs over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from threading import Condition, Thread
from typing import Any, Final

from otf.adapter import Port
from otf.adapter.mailbox import PATIENCE, Mailbox, open_thread
from otf.errors import UsageError
from otf.framing import LARGEST
from otf.values.arguments import checked
from otf.values.raised import describe

FORM: Final = "visa:RESOURCE?backend=@py, such as visa:TCPIP::10.0.0.5::INSTR or visa:GPIB0::12::INSTR"
TIMEOUT: Final = 2.0
_NETWORK: Final = "TCPIP"
_SIMULATED: Final = "@sim"


def is_query(data: bytes) -> bool:
    """Return whether a command has an answer: all SCPI queries have a question mark."""
    return b"?" in data


@dataclass(frozen=True)
class VisaResource:
    """An instrument in pyvisa's terms: its resource name, the library that opens it, and attributes."""

    name: str
    backend: str
    timeout: float
    attributes: Mapping[str, Any]

    def open(self) -> tuple[Any, Any]:
        """Return the manager and the instrument. Raises whatever pyvisa raises."""
        from pyvisa import ResourceManager

        manager = ResourceManager(self.backend)
        try:
            given: dict[str, Any] = {"timeout": round(self.timeout * 1000), "read_termination": "\n", **self.attributes}
            return manager, manager.open_resource(self.name, **given)
        except BaseException:
            manager.close()
            raise


class Instrument:
    """An open instrument, with a thread that reads its answers.

    Only one thread uses the library at a time, since VISA libraries are not made for two. So nothing is sent while an
    answer is outstanding.
    """

    def __init__(self, where: VisaResource, query: Callable[[bytes], bool], end: bytes, mailbox: Mailbox) -> None:
        self._mailbox, self._query, self._end = mailbox, query, end
        self._is_network = where.name.upper().startswith(_NETWORK)
        self._manager, self._resource = where.open()
        self._turn = Condition()
        self._is_asked = self._is_late = self._is_over = False
        self._senders = 0
        self._thread = Thread(target=self._run, name=f"otf visa {where.name}", daemon=True)
        self._thread.start()

    def send(self, data: bytes) -> None:
        """Send a command, once the last one is answered or its answer is late. Raises whatever pyvisa raises."""
        self._senders += 1
        with self._turn:
            self._turn.wait_for(lambda: self._is_over or self._is_late or not self._is_asked)
            self._senders -= 1
            self._resource.write_raw(data + self._end)
            if self._query(data):
                self._is_asked, self._is_late = True, False
            self._turn.notify_all()

    def close(self) -> None:
        """End the thread, and close the instrument."""
        self._is_over = True
        with self._turn:
            self._turn.notify_all()
        self._thread.join()
        self._resource.close()
        self._manager.close()

    def _run(self) -> None:
        try:
            while not self._is_over:
                with self._turn:
                    self._turn.wait_for(self._has_turn)
                    if not self._is_over:
                        self._read()
                        self._turn.notify_all()
        except Exception as error:  # noqa: BLE001 -- a library of VISA may raise anything
            self._fail(error)
            self._is_asked = False

    def _has_turn(self) -> bool:
        return self._is_over or (self._is_asked and not (self._is_late and self._senders))

    def _read(self) -> None:
        """Read an answer, if one comes in time."""
        from pyvisa.constants import StatusCode
        from pyvisa.errors import VisaIOError

        try:
            with self._resource.ignore_warning(StatusCode.success_max_count_read):
                data, _ = self._resource.visalib.read(self._resource.session, LARGEST + 1)
        except VisaIOError as error:
            if error.error_code != StatusCode.error_timeout:
                raise
            self._is_late = True
        else:
            self._is_asked = False
            self._mailbox.put(bytes(data).removesuffix(self._end))

    def _fail(self, error: Exception) -> None:
        from pyvisa.constants import StatusCode

        lost = (StatusCode.error_connection_lost, StatusCode.error_io)
        if self._is_network and getattr(error, "error_code", None) in lost:
            self._mailbox.end("connection lost")  # as on TCP; not a cable that was pulled out
        else:
            self._mailbox.fail(f"VISA failed: {describe(error)}")


@checked
def visa(  # noqa: PLR0913 -- all but the first have defaults
    url: str,
    *,
    backend: str = "",
    query: Callable[[bytes], bool] = is_query,
    end: str = "\n",
    timeout: float = TIMEOUT,
    patience: float = PATIENCE,
    **attributes: Any,  # noqa: ANN401 -- those of pyvisa
) -> Port:
    """Return the port of an instrument by its VISA resource name: "visa:TCPIP::10.0.0.5::INSTR".

    `backend` is the library, as pyvisa names it ("@py" for pyvisa-py). You can pass attributes of the pyvisa resource,
    such as `baud_rate`, as keyword arguments. A frame is one command or one answer, without the bytes `end` that
    terminate it. After a command for which `query` returns true, otf reads an answer; in SCPI, reading without a
    question is an error. Until the answer comes, otf sends no further command, for at most `timeout` seconds; `timeout`
    should be more than ten times the bench's quiescence time. Opening and sending may each take `patience` seconds, or
    twice `timeout` if that is longer. `visa` raises UsageError for an invalid resource; opening the port raises
    ContactError.

    >>> visa("visa:TCPIP::10.0.0.5::INSTR?backend=@py").kind
    'visa'
    """
    name, _, option = url.removeprefix("visa:").removeprefix("//").partition("?")
    key, _, library = option.partition("=")
    if not name or (option and key != "backend"):
        raise UsageError(f"not a VISA resource: {url!r}; write {FORM}")
    if name.upper().endswith("::SOCKET"):
        # with pyvisa-py, a connection closed by the other side looks like silence
        raise UsageError(f"{url}: a raw socket is a connection: write tcp://HOST:PORT, with framing=lines()")
    if find_spec("pyvisa") is None:
        raise UsageError(f"{url}: VISA needs pyvisa: pip install 'otf[visa]'")
    where = VisaResource(name, library or backend, timeout, attributes)
    opening = partial(Instrument, where, query, end.encode())
    again = partial(visa, backend=backend, query=query, end=end, timeout=timeout, patience=patience, **attributes)
    waits = max(patience, 2 * timeout)
    opened = partial(
        open_thread,
        opening,
        Instrument.send,
        Instrument.close,
        patience=waits,
        name=f"the instrument {name}",
        threads=backend.endswith(_SIMULATED),
    )
    return Port(opened, "visa", None, again, url)
