"""The runner: the only async code of the engine. It performs commands and turns input, output and time into events."""

from otf.runner.path import Conduct, drive
from otf.runner.wire import Wire
from otf.runner.writer import TraceWriter

__all__ = ["Conduct", "TraceWriter", "Wire", "drive"]
