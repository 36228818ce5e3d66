"""The one interface to the outside: lines, and the bench that puts them together."""

from typing import TYPE_CHECKING

from otf.adapter.bench import Bench
from otf.adapter.bench_options import Connect, KnownIssue, Opener
from otf.adapter.life import Life
from otf.adapter.line import Arrival, Ending, Line, LineLost, Trouble
from otf.adapter.port import Port
from otf.adapter.strangers import trace_may_set
from otf.framing import Frame

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

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
