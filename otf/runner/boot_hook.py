"""What comes on the ports while a boot hook runs: some of it may be from the life before."""

from __future__ import annotations

from otf.adapter.lifecycle import Life
from otf.adapter.log import note
from otf.core import Session
from otf.runner.wire import Wire
from otf.trace.events import Closed, Seen
from otf.values import show


class BeforeReset:
    """Tells which outputs a system sent before its boot hook reset it, of those that are there when a run begins.

    When that was is not known. So what the model does not allow on a port, before anything that it does, is left out:
    a banner that is wrong fails as one that is missing.
    """

    def __init__(self, session: Session, wire: Wire, life: Life | None) -> None:
        self._session = session
        self._ports = set(wire.lines) if life is not None and life.boot is not None else set[str]()
        if self._ports:
            wire.poll()
        self._left = len(wire.inbox)

    def has(self, event: Seen | Closed) -> bool:
        """Return whether the next output is to be left out."""
        self._left -= 1
        if self._left < 0 or event.port not in self._ports:
            return False
        if isinstance(event, Closed) or self._session.monitor.would(event):
            self._ports.discard(event.port)
            return False
        note("dropped, as from before the boot hook", "warning", port=event.port, output=show(event.output))
        return True
