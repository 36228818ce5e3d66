"""The runner: the only async code of the engine. It performs commands, and turns inputs, outputs and time to events."""

from otf.runner.driving import drive
from otf.runner.path import Conduct
from otf.runner.wire import Wire
from otf.runner.writer import TraceWriter

__all__ = ["Conduct", "TraceWriter", "Wire", "drive"]
