"""What the benches for real systems share: where a program of Debian is, and a free port."""

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
"""Where `python -m tests.debian` unpacks what cannot be installed beside another package."""

GRACE: Final = 0.02
"""Seconds that a server has to end by itself: none does because its input ends, so longer would only be waited."""

READY: Final = 20.0
"""Seconds in which a server prints its port: an interpreter and its libraries are loaded, perhaps on a busy machine."""

PAUSE: Final = 0.002
PATIENCE: Final = 0.05  # seconds for one answer

# daemons and games are installed where the path of an ordinary user does not lead
_ELSEWHERE: Final = ("/usr/sbin", "/usr/games")


def found(name: str) -> str | None:
    """Return the path of a program, None where it is not on this machine."""
    # what was unpacked comes first: another package may have a program of the same name
    folders = (f"{UNPACKED}/usr/sbin", os.environ.get("PATH", os.defpath), *_ELSEWHERE)
    return shutil.which(name, path=os.pathsep.join(folders))


def program(name: str, package: str) -> str:
    """Return the path of a program of a Debian package. Raises ContactError where it is not on this machine."""
    path = found(name)
    if path is None:
        message = f"{name} is not on this machine; on Debian, `apt-get install {package}` brings it"
        raise ContactError(message)
    return path


def known_issue(says: str, *words: str, req: RequirementIds = ()) -> KnownIssue:
    """Return the known issue that shows where all these words stand in a failure's last inputs and its output."""
    return KnownIssue(lambda failure: all(word in f"{failure.input} {failure.seen}" for word in words), says, req)


def chosen(also: str, groups: Iterable[str]) -> None:
    """Refuse a group of inputs that there is not; `""` is none. Raises UsageError."""
    if also and also not in groups:
        message = f"also={also}: there is no such group of inputs; there are {', '.join(groups)}"
        raise UsageError(message)


def expected(known: Mapping[str, KnownIssue], also: str) -> tuple[KnownIssue, ...]:
    """Return the known issues that a group of inputs brings to light."""
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
    """Wait until a server answers a question, asked again and again on new lines.

    Raises ContactError, with what the server printed, if it ends or is too late.
    """
    why = f"the server did not answer within {seconds:g} s"
    with anyio.move_on_after(seconds):
        while not _has_ended(process):
            try:
                if await _is_answered(opener, question):
                    return
            except ContactError as error:  # a busy server listens only after the time that a connection waits for it
                why = str(error)
            await anyio.sleep(PAUSE)
    raise ContactError(f"{why}{_printed(process)}")


def _printed(line: Line) -> str:
    """Return what a server printed, as the lines below an error: it often says there why it did not start."""
    return "".join(f"\n  {remark}" for remark in line.remarks()) or "\n  it printed nothing at all"


def _has_ended(process: ProcessLine) -> bool:
    return any(isinstance(arrival, Ending) for arrival in process.receive())


async def _is_answered(opener: Opener, question: bytes) -> bool:
    async with opener() as probe:
        await probe.send(question)
        with anyio.move_on_after(PATIENCE):
            await any_readable(probe.descriptors())
        # where no program listens yet, the network reports that, which is an answer of another kind
        return any(isinstance(arrival, Frame) for arrival in probe.receive())


async def started(stack: AsyncExitStack, argv: Sequence[str]) -> tuple[ProcessLine, int]:
    """Start a server that prints its port as a line of digits, until the stack ends; return its line and the port.

    Raises ContactError if it does not.
    """
    process = await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
    return process, int(await until_told(process, bytes.isdigit, READY))


async def until_told(line: Line, test: Callable[[bytes], bool], seconds: float = 5.0) -> bytes:
    """Take what a server prints until one frame passes the test, and return that.

    Raises ContactError, with what it printed otherwise, if it ends or is too late.
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
