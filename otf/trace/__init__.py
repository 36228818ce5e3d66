"""The record of a path as data: its events, its verdict, and their form in a trace file.

Four kinds of code need `otf.trace`. A model that expects the end of a port uses `Ended`. A model that handles broken
bytes uses `Undecodable`. A bench that reads another program's log (`foreign`) turns the log into the events `Sent`,
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
