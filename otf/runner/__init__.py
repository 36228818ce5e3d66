"""The runner performs the commands of a session, and turns inputs, outputs and time into events.

The runner is the only asynchronous code of the engine.
"""

from typing import TYPE_CHECKING

from otf._exports import fetching

if TYPE_CHECKING:
    from otf.runner.driving import drive
    from otf.runner.path import Conduct
    from otf.runner.wire import Wire
    from otf.runner.writer import TraceWriter

__all__ = ["Conduct", "TraceWriter", "Wire", "drive"]

if not TYPE_CHECKING:
    __getattr__ = fetching(__name__)
