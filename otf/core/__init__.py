"""The oracle, which decides whether an observation is allowed, and the session, which decides when to send and wait."""

from typing import TYPE_CHECKING

from otf._exports import fetching

if TYPE_CHECKING:
    from otf.core.commands import Barrier, Chooser, Ping, Send, SessionCommand, Stop, Wait
    from otf.core.compile import Routes
    from otf.core.memory import Symbol
    from otf.core.model import Model
    from otf.core.monitor import Monitor
    from otf.core.moves import Limits, Relation
    from otf.core.nodes import FEW, EnabledInputs, Node
    from otf.core.oracle import Oracle
    from otf.core.pacing import Moment, Pacing, Pause
    from otf.core.requirement_evidence import RequirementEvidence
    from otf.core.session import Session
    from otf.core.timing import Timing
    from otf.core.view import InputMode, View

__all__ = [
    "FEW",
    "Barrier",
    "Chooser",
    "EnabledInputs",
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
    "RequirementEvidence",
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

if not TYPE_CHECKING:
    __getattr__ = fetching(__name__)
