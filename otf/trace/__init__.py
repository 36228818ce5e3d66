"""The record of a path as data: its events, its verdict, and their form in a trace file.

Use `Ended` in a model that expects a port to close, and `Undecodable` in code that handles bytes the codec cannot
decode. To judge another program's log, write a function `foreign` that turns the log into the events `Sent`, `Seen`,
`Quiet` and `Closed`. The function `shows` of a known issue receives a `Failure`.
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
