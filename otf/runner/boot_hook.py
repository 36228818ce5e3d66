"""What arrives on the ports while a boot hook runs: some of it may come from before the reset."""

from __future__ import annotations

from otf.adapter.lifecycle import Life
from otf.adapter.log import note
from otf.core import Session
from otf.runner.wire import Wire
from otf.trace.events import Closed, Seen
from otf.values import show


class BeforeReset:
    """Recognises, among the outputs present when a run begins, those sent before the boot hook reset the system.

    The moment of the reset is unknown. So it drops what the model does not allow on a port until something allowed
    comes. A wrong banner therefore fails as a missing one.
    """

    def __init__(self, session: Session, wire: Wire, life: Life | None) -> None:
        self._session = session
        self._ports = set(wire.lines) if life is not None and life.boot is not None else set[str]()
        if self._ports:
            wire.poll()
        self._left = len(wire.inbox)

    def has(self, event: Seen | Closed) -> bool:
        """Return whether the next output is to be dropped."""
        self._left -= 1
        if self._left < 0 or event.port not in self._ports:
            return False
        if isinstance(event, Closed) or self._session.monitor.would(event):
            self._ports.discard(event.port)
            return False
        note("dropped, as from before the boot hook", "warning", port=event.port, output=show(event.output))
        return True
