"""The evidence for the exact solver: the observations of a run, and how strictly times are taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from otf.trace.events import Event, Quiet, Seen, Sent


@dataclass(frozen=True)
class Given:
    """The observed inputs and outputs of each port, with the numbers of their events.

    `quiets`: the events at which the tester believed in silence.
    """

    sent: Mapping[str, tuple[tuple[int, Sent], ...]]
    seen: Mapping[str, tuple[tuple[int, Seen], ...]]
    quiets: tuple[tuple[int, Quiet], ...]
    end: float

    @property
    def quiet(self) -> bool:
        """Return whether all arrivals until the end were seen: the tester has looked."""
        return bool(self.quiets) and self.quiets[-1][1].at == self.end


def given(events: Sequence[Event]) -> Given:
    """Return the evidence of these events."""
    sent: dict[str, tuple[tuple[int, Sent], ...]] = {}
    seen: dict[str, tuple[tuple[int, Seen], ...]] = {}
    for number, event in enumerate(events):
        if isinstance(event, Sent):
            sent[event.port] = (*sent.get(event.port, ()), (number, event))
        elif isinstance(event, Seen):
            seen[event.port] = (*seen.get(event.port, ()), (number, event))
    quiets = tuple((number, event) for number, event in enumerate(events) if isinstance(event, Quiet))
    return Given(sent, seen, quiets, max((event.at for event in events), default=0.0))


class Rigour(NamedTuple):
    """How strictly bounds are taken.

    `slack`: the seconds by which each bound may be missed. `later`: the seconds after which a time counts as after the
    end. `loose`: an answer with a window may keep the system busy to the end of that, whenever it came. `patient`: R
    does not bound answers without a window, but they come before the tester believes silence.
    """

    slack: float
    later: float
    loose: bool = False
    patient: bool = False


EXACT: Final = Rigour(1e-9, 1e-6)
BLURRED: Final = Rigour(3e-6, -1e-6, loose=True)  # the rounding of the core, and a bit more
PATIENT: Final = Rigour(3e-6, -1e-6, loose=True, patient=True)
