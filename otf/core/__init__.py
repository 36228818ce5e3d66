"""The oracle and the session: pure code without a clock, randomness, input or output."""

from otf.core.barrier import Barrier
from otf.core.compile import Routes
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.monitor import Monitor, Oracle
from otf.core.moves import Limits, Relation
from otf.core.nodes import Node
from otf.core.pacing import Moment, Pacing, Pause
from otf.core.session import Chooser, Ping, Send, Session, SessionCommand, Stop, Wait
from otf.core.timing import Timing
from otf.core.view import InputMode, View

__all__ = [
    "Barrier",
    "Chooser",
    "InputMode",
    "Limits",
    "Model",
    "Moment",
    "Monitor",
    "Node",
    "Oracle",
    "Pacing",
    "Pause",
    "Ping",
    "Relation",
    "Routes",
    "Send",
    "Session",
    "SessionCommand",
    "Stop",
    "Symbol",
    "Timing",
    "View",
    "Wait",
]
