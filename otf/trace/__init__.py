"""What happened, as data: events, verdicts, and their form in a trace file.

A model needs `Ended` and `Undecodable`. A bench that reads another program's log (`foreign`) turns it into `Sent`,
`Seen`, `Quiet` and `Closed`. A known issue examines a `Failure`.
"""

from otf.trace.events import Closed, Ended, Event, Quiet, Seen, Sent, Undecodable
from otf.trace.verdict import Allowed, Failure, FailureKind, Signature, Verdict

__all__ = [
    "Allowed",
    "Closed",
    "Ended",
    "Event",
    "Failure",
    "FailureKind",
    "Quiet",
    "Seen",
    "Sent",
    "Signature",
    "Undecodable",
    "Verdict",
]
