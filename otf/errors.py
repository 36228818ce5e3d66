"""The exceptions of otf, for instance for a wrong call or a broken model; each class has an exit status for the shell.

If a system does not conform, otf raises no exception while it drives the system, but returns a verdict with the reason.
The errors of this module end a command: the call was wrong, the model is broken, or otf cannot read a trace or reach
the system. Each message says what happened, where, what was possible and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

PASS, FAIL, USAGE, INCONCLUSIVE = 0, 1, 2, 3
STATUS_OF: Final = {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}
"""The exit status of the command line for the outcome of a verdict."""


class OtfError(Exception):
    """The base class of otf's errors; `exit_status` is the exit status with which an `otf` command ends.

    >>> from otf import Settings
    >>> try:
    ...     Settings(out="out", steps=0)
    ... except OtfError as error:
    ...     print(f"{error} (status {error.exit_status})")
    steps=0: at least 1 is needed (status 2)
    """

    exit_status: ClassVar[int] = USAGE


class UsageError(OtfError):
    """A call is wrong: it has an unknown name, an impossible value, or a folder that does not exist.

    >>> from otf import Settings
    >>> Settings(out="out", steps=0)
    Traceback (most recent call last):
    otf.errors.UsageError: steps=0: at least 1 is needed
    """


class WriteError(UsageError):
    """otf cannot write a file: the disk is full, the folder is gone, or the user has no permission.

    >>> from pathlib import Path
    >>> from otf.campaign import run
    >>> from otf.models.coffee import bench
    >>> try:
    ...     run(bench(), out=Path("/dev/null/out"))
    ... except WriteError as error:
    ...     print(error)
    /dev/null/out: the folder cannot be written (Not a directory); choose another with --out
    """


class ModelError(OtfError):
    """The model is broken: for instance, it raised an exception, or `step` yielded something other than transitions.

    >>> from otf import Spec
    >>> from otf.explore import explore
    >>> def step(state: int, inp: str):
    ...     yield "done"
    >>> try:
    ...     explore(Spec(step, 0, ["press"]))
    ... except ModelError as error:
    ...     print(str(error).splitlines()[0])
    step(0, 'press'): it gave 'done', which is not a transition; write goto(state, output, …)
    """


class TraceError(OtfError):
    """otf cannot read a trace; the message names the file and the line.

    >>> from otf.trace.reading import TraceReader
    >>> try:
    ...     TraceReader([b"tea"], "path-0001.jsonl")
    ... except TraceError as error:
    ...     print(str(error).partition(": ")[0])
    path-0001.jsonl, line 1
    """


class CodecError(OtfError):
    """A codec cannot encode a value or decode bytes; bytes that `decode` rejects become an `Undecodable` output.

    A codec of your own raises it, too:

    >>> def decode(data: bytes) -> int:
    ...     if not data.isdigit():
    ...         raise CodecError(f"{data!r} is not a number")
    ...     return int(data)
    >>> decode(b"7")
    7
    >>> decode(b"seven")
    Traceback (most recent call last):
    otf.errors.CodecError: b'seven' is not a number
    """


class ContactError(OtfError):
    """otf cannot start or reach the system under test, or the system died before it was ready.

    A function that starts a system raises it, too:

    >>> import shutil
    >>> def server() -> str:
    ...     path = shutil.which("no-such-server")
    ...     if path is None:
    ...         raise ContactError("no-such-server is not installed")
    ...     return path
    >>> server()
    Traceback (most recent call last):
    otf.errors.ContactError: no-such-server is not installed
    """

    exit_status: ClassVar[int] = INCONCLUSIVE


class Interruption(BaseException):
    """otf raises this exception to stop code that hangs after the user has pressed Ctrl-C.

    It is no Exception, so `except Exception` in a model or a codec does not swallow it:

    >>> issubclass(Interruption, Exception)
    False
    """


USERS_OWN: Final = (KeyboardInterrupt, Interruption)
"""The exceptions that the user causes; every other exception is caused by the code that raises it."""


def near(name: str, names: Iterable[str], cutoff: float = 0.6, ending: str = "") -> str:
    """Return "did you mean tcp?" if `tcp` is the known name that is closest to `name`; "" if no known name is close.

    >>> near("eger", ["strict", "eager"]), near("x", ["strict"])
    ('did you mean eager?', '')
    """
    from difflib import get_close_matches  # most commands never need it

    found = get_close_matches(name, list(names), 1, cutoff)
    return f"did you mean {found[0]}{ending}?" if found else ""


def choose(name: str, names: Iterable[str], otherwise: str = "choose one of") -> str:
    """Return the advice for an unknown name: the known name that the user probably meant, and all known names.

    >>> choose("eger", ["strict", "eager"])
    'did you mean eager? choose one of strict, eager'
    """
    known = list(names)
    return f"{near(name, known)} {otherwise} {', '.join(known)}".lstrip()


MOST: Final = 10  # mistakes told at once


def refuse(call: str, *mistakes: Iterable[str]) -> None:
    """Raise a UsageError that lists all mistakes of a call; do nothing if there are no mistakes.

    >>> refuse("f(x): ", ["x=5: a text is needed"], [])
    Traceback (most recent call last):
    otf.errors.UsageError: f(x): x=5: a text is needed
    """
    __tracebackhide__ = True  # pytest shows the call
    found = [each for several in mistakes for each in several]
    if len(found) > 1:
        left = f"\n  … and {len(found) - MOST} more" if len(found) > MOST else ""
        raise UsageError(f"{call}{len(found)} mistakes\n  " + "\n  ".join(found[:MOST]) + left)
    if found:
        raise UsageError(f"{call}{found[0]}")
