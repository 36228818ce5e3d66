"""What the benches for real systems share: finding a Debian program, and a free port."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import anyio

from otf.adapter import Ending, Frame, KnownIssue, Line, Opener, Trouble
from otf.adapter.waiting import any_readable
from otf.adapters.process import ProcessLine, open_process
from otf.errors import ContactError, UsageError
from otf.spec.transition import RequirementIds

HOST: Final = "127.0.0.1"
UNPACKED: Final = Path(sys.prefix) / "debian"
"""Where `python -m tests.debian` unpacks packages that conflict with others."""

GRACE: Final = 0.02
"""Seconds that a server has to end by itself: none ends with its input, so waiting longer would not help."""

READY: Final = 20.0
"""Seconds in which a server prints its port: it loads an interpreter and libraries, perhaps on a busy machine."""

PAUSE: Final = 0.002
PATIENCE: Final = 0.05  # seconds for one answer

# daemons and games are outside the path of an ordinary user
_ELSEWHERE: Final = ("/usr/sbin", "/usr/games")


def found(name: str) -> str | None:
    """Return the path of a program, None if it is not on this machine."""
    # unpacked programs come first: another package may have one of the same name
    folders = (f"{UNPACKED}/usr/sbin", os.environ.get("PATH", os.defpath), *_ELSEWHERE)
    return shutil.which(name, path=os.pathsep.join(folders))


def program(name: str, package: str) -> str:
    """Return the path of a program of a Debian package. Raises ContactError if it is not on this machine."""
    path = found(name)
    if path is None:
        message = f"{name} is not on this machine; on Debian, `apt-get install {package}` brings it"
        raise ContactError(message)
    return path


def known_issue(says: str, *words: str, req: RequirementIds = ()) -> KnownIssue:
    """Return the known issue that shows if a failure's last inputs and its output contain all these words."""
    return KnownIssue(lambda failure: all(word in f"{failure.input} {failure.seen}" for word in words), says, req)


def chosen(also: str, groups: Iterable[str]) -> None:
    """Refuse an unknown group of inputs; `""` means none. Raises UsageError."""
    if also and also not in groups:
        message = f"also={also}: there is no such group of inputs; there are {', '.join(groups)}"
        raise UsageError(message)


def expected(known: Mapping[str, KnownIssue], also: str) -> tuple[KnownIssue, ...]:
    """Return the known issues that a group of inputs shows."""
    return (known[also],) if also in known else ()


def free_port(kind: socket.SocketKind) -> int:
    """Return the number of a free port.

    Another program may take it before the server does: the server then ends before it is ready, and the bench tries
    again.
    """
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


async def until_answered(opener: Opener, question: bytes, process: ProcessLine, seconds: float = READY) -> None:
    """Wait until a server answers a question, repeated on new lines.

    Raises ContactError, with the server's output, if it ends or is too late.
    """
    why = f"the server did not answer within {seconds:g} s"
    with anyio.move_on_after(seconds):
        while not _has_ended(process):
            try:
                if await _is_answered(opener, question):
                    return
            except ContactError as error:  # a busy server may listen only after a connection attempt has timed out
                why = str(error)
            await anyio.sleep(PAUSE)
    raise ContactError(f"{why}{_printed(process)}")


def _printed(line: Line) -> str:
    """Return a server's output as lines below an error: it often says why it did not start."""
    return "".join(f"\n  {remark}" for remark in line.remarks()) or "\n  it printed nothing at all"


def _has_ended(process: ProcessLine) -> bool:
    return any(isinstance(arrival, Ending) for arrival in process.receive())


async def _is_answered(opener: Opener, question: bytes) -> bool:
    async with opener() as probe:
        await probe.send(question)
        with anyio.move_on_after(PATIENCE):
            await any_readable(probe.descriptors())
        # if no program listens yet, the network reports that, which is another form of answer
        return any(isinstance(arrival, Frame) for arrival in probe.receive())


async def started(stack: AsyncExitStack, argv: Sequence[str]) -> tuple[ProcessLine, int]:
    """Start a server that prints its port as a line of digits; return its line and port. The stack ends it.

    Raises ContactError if it does not.
    """
    process = await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
    return process, int(await until_told(process, bytes.isdigit, READY))


async def until_told(line: Line, test: Callable[[bytes], bool], seconds: float = 5.0) -> bytes:
    """Read a server's output until one frame passes the test, and return that frame.

    Raises ContactError, with the other output, if it ends or is too late.
    """
    with anyio.move_on_after(seconds):
        while True:
            for arrival in line.receive():
                match arrival:
                    case Frame(data) if test(data):
                        return data
                    case Ending(reason) | Trouble(reason):
                        raise ContactError(f"the server ended before it was ready: {reason}{_printed(line)}")
                    case _:
                        continue
            await any_readable(line.descriptors())
    raise ContactError(f"the server was not ready within {seconds:g} s{_printed(line)}")
