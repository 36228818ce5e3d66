"""The one interface to the outside: lines, and the bench that puts them together."""

from otf.adapter.bench import Bench, Connect, Opener
from otf.adapter.known_issue import KnownIssue
from otf.adapter.life import Life
from otf.adapter.line import Arrival, Ending, Line, LineLost, Trouble
from otf.adapter.port import Port
from otf.adapter.strangers import trace_may_set
from otf.framing import Frame

__all__ = [
    "Arrival",
    "Bench",
    "Connect",
    "Ending",
    "Frame",
    "KnownIssue",
    "Life",
    "Line",
    "LineLost",
    "Opener",
    "Port",
    "Trouble",
    "trace_may_set",
]
