"""What a recorded run tested: without it, a run of which the model allows everything says nothing of the system."""

from __future__ import annotations

from typing import Any, Final

from otf.codec.malformed import Malformed
from otf.spec import Spec
from otf.trace.events import Closed, Event, Seen, Sent
from otf.trace.result import untested

NOTHING: Final = "it has no input, and no output was seen: nothing was tested"


class EventTally:
    """Counts what was sent and seen of a run: `take` its events; `nothing` says why they test nothing.

    >>> from otf.spec import goto
    >>> tally = EventTally(Spec(lambda state, _: [goto(state)], 0, ["a"]))
    >>> tally.nothing(truncated=False) == NOTHING
    True
    >>> tally.take(Sent("a", "line", 0.0))
    >>> tally.nothing(truncated=False), tally.nothing(truncated=True)[:31]
    ('', 'the first input of each path is')
    """

    def __init__(self, spec: Spec[Any, Any]) -> None:
        self.sent: int = 0
        self._seen = self._malformed = 0
        # where the model says what follows them, malformed inputs test as others do
        self._says_nothing = spec.malformed is None

    def take(self, event: Event, *, free: bool = False) -> None:
        """Count an event; `free`: the model allows any output there."""
        if isinstance(event, Sent):
            self.sent += 1
            self._malformed += self._says_nothing and isinstance(event.input, Malformed)
        else:
            self._seen += isinstance(event, Seen | Closed) and not free

    def nothing(self, *, truncated: bool) -> str:
        """Return why a run that passes tests nothing, "" if it tests something; `truncated` as in its verdict."""
        if not self.sent and not self._seen:
            return NOTHING
        # outputs that came before an unspecified input were judged; what answers a malformed one was not
        is_judged = self._seen and not self._malformed
        return "" if is_judged else untested(self.sent, self._malformed, int(truncated))
