"""Every trouble that is not a verdict: who has to act, and the exit status that says so.

A nonconformance is never an exception inside the engine; it is a verdict with its reason as data. What is raised
here ends a command: the user called it wrongly, the model is broken, a trace cannot be read, the system under test
could not be reached. Each message says what happened, where, what was possible and what to do.
"""

from __future__ import annotations

from typing import ClassVar, Final

PASS, FAIL, USAGE, INCONCLUSIVE = 0, 1, 2, 3


class OtfError(Exception):
    """Base of all errors that otf raises on purpose; `exit_status` is what the command line ends with."""

    exit_status: ClassVar[int] = USAGE


class UsageError(OtfError):
    """The call cannot be carried out as it stands: an unknown name, an impossible value, a folder that is not there."""


class WriteError(UsageError):
    """A file cannot be written: the disk is full, the folder is gone, or it belongs to somebody else."""


class ModelError(OtfError):
    """The model is broken: it raised, or it answered with something that is not a transition, a state or an input."""


class TraceError(OtfError):
    """A trace cannot be read; the message names the file and the line."""


class CodecError(OtfError):
    """A value has no bytes, or bytes stand for no value; where `decode` raises it, the bytes become an output."""


class ContactError(OtfError):
    """The system under test cannot be started or reached, or died before it was ready."""

    exit_status: ClassVar[int] = INCONCLUSIVE


class Interruption(BaseException):
    """Raised where a signal of the user breaks into code that hangs; no KeyboardInterrupt, which asyncio takes over."""


USERS_OWN: Final = (KeyboardInterrupt, Interruption)
"""What the user raises: all else that is raised belongs to the code that raises it."""
