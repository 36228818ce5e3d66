"""The initial state of a machine emulated by QEMU, saved once and restored before each path over its monitor (QMP)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Final

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

from otf.adapter.log import note
from otf.errors import ContactError, UsageError

_NAME: Final = "otf"
_LINE: Final = 1 << 20  # the most bytes of one answer
_BROKEN: Final = (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound)
_LISTENING: Final = 0.02  # seconds until the next try to connect: QEMU makes its socket while it starts


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The initial state of a machine emulated by QEMU, saved after the first reset and restored before each path.

    `monitor` is where QEMU listens for QMP: the path of a unix socket (`-qmp unix:PATH,server=on,wait=off`) or
    HOST:PORT. QEMU keeps the state in a disk, and so needs one of the format qcow2 (`-drive
    if=none,format=qcow2,cache=unsafe,file=state.qcow2`), which the machine itself need not have. `timeout` bounds
    saving and restoring, in seconds.

    A snapshot may hold what no reset gives. So a failure counts only if it also occurs after a reset. One in `both`
    passed paths is driven again from a reset; if that run fails, it counts.

    >>> Snapshot("/tmp/board.qmp").both
    50
    """

    monitor: str = field(kw_only=False)
    both: int = 50
    timeout: float = 10.0

    def __post_init__(self) -> None:
        """Raise UsageError for an invalid number of paths."""
        if self.both < 1:
            raise UsageError(f"both={self.both}: each path in so many is driven both ways: 1 or more")

    async def save(self) -> None:
        """Save the state of the machine, which is stopped meanwhile and then runs on. Raises ContactError."""
        await command_qemu(self.monitor, "stop", f"savevm {_NAME}", "cont", timeout=self.timeout)

    @asynccontextmanager
    async def restored(self) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
        """Restore the state; the machine stays stopped until the yielded function is called.

        That call does not wait for QEMU: a machine that stays stopped fails in the path, and is tried again from a
        reset. Raises ContactError.
        """
        async with _obey(self.monitor, ("stop", f"loadvm {_NAME}"), self.timeout) as stream:
            yield partial(_resume_machine, stream)


async def _resume_machine(stream: ByteStream) -> None:
    with suppress(*_BROKEN):  # the ports show what became of the machine
        await stream.send(_request("cont"))


async def command_qemu(monitor: str, *commands: str, timeout: float = 10.0) -> None:  # noqa: ASYNC109 -- a hook has one
    """Have a QEMU that listens for QMP run commands ("system_reset", "stop", "cont"): a hook for `Life.actions`.

    A command with an argument goes to its human monitor ("drive_add …"). Raises ContactError with QEMU's message.

    >>> from functools import partial
    >>> reset = partial(command_qemu, "/tmp/board/qmp", "system_reset")
    """
    async with _obey(monitor, commands, timeout):
        pass


@asynccontextmanager
async def _obey(monitor: str, commands: Sequence[str], timeout: float) -> AsyncGenerator[ByteStream]:  # noqa: ASYNC109
    """Have QEMU run commands; the connection stays open for more. Raises ContactError with QEMU's message."""
    began, told = monotonic(), " ".join(map(repr, commands))
    async with AsyncExitStack() as stack:
        try:
            with anyio.fail_after(timeout):
                stream = await stack.enter_async_context(await _connected(monitor))
                await _told(stream, commands)
        except TimeoutError as error:
            raise ContactError(f"QEMU took longer than {timeout:g} s for {told}, at {monitor}") from error
        except (OSError, ValueError, KeyError, *_BROKEN) as error:
            raise ContactError(f"{told}: no QMP at {monitor}: {type(error).__name__}: {error}") from error
        except _Refusal as refusal:
            raise ContactError(f"{told}: QEMU says: {refusal}") from refusal
        note("QEMU was told", commands=told, seconds=round(monotonic() - began, 4))
        yield stream


async def _connected(monitor: str) -> ByteStream:
    host, _, port = monitor.rpartition(":")
    while True:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            if port.isdigit():
                return await anyio.connect_tcp(host or "127.0.0.1", int(port))
            return await anyio.connect_unix(monitor)
        await anyio.sleep(_LISTENING)


class _Refusal(Exception):  # noqa: N818 -- what QEMU says
    pass


async def _told(stream: ByteStream, commands: Sequence[str]) -> None:
    """Have QEMU run commands; those with an argument go to its human monitor."""
    asked = [_request(command) for command in ("qmp_capabilities", *commands)]
    await stream.send(b"".join(asked))  # together, since on a busy machine QEMU gets a processor late after each
    reader = BufferedByteReceiveStream(stream)
    await reader.receive_until(b"\n", _LINE)  # its greeting
    for _ in asked:
        answer: dict[str, Any] = {}
        while not answer.keys() & {"return", "error"}:  # events come between
            answer = json.loads(await reader.receive_until(b"\n", _LINE))
        # the human monitor prints what failed, and nothing otherwise
        if said := answer["error"]["desc"] if "error" in answer else answer["return"]:
            raise _Refusal(str(said).strip())


def _request(command: str) -> bytes:
    asked: dict[str, Any] = {"execute": command}
    if " " in command:
        asked = {"execute": "human-monitor-command", "arguments": {"command-line": command}}
    return json.dumps(asked).encode() + b"\n"
