"""Tools around a board: the image written before the first path, a recording of each path, and an emulator's state.

The initial state of a machine emulated by QEMU is saved once and restored before each path, over its monitor (QMP).
"""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from glob import escape
from hashlib import file_digest
from pathlib import Path
from time import monotonic
from typing import Any, Final

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

from otf.adapter.child import Child, words
from otf.adapter.log import note
from otf.adapter.reset import Hook, obey
from otf.errors import ContactError, UsageError

_LOOK: Final = 0.01
_GRACE: Final = 2.0  # seconds in which a recording may write its remaining data
_LAST_WORDS: Final = 400  # characters
# a size in blocks of 512 bytes: an endless recording must not fill the disk, nor block on a full pipe
_SCRIPT: Final = 'ulimit -f {blocks}; exec "$@" > {printed} 2> "$0".said'
FILE: Final = "{file}"


@dataclass(slots=True, eq=False)
class BoardImage:
    """What was written to a board: the digest of the image, "" before that."""

    digest: str = ""


@dataclass(frozen=True, kw_only=True)
class Flash:
    """An `image` for a board, and the `command` that writes it before the first path, while the ports are closed.

    The command is the vendor's tool (`esptool`, `openocd`, `avrdude`, `dfu-util`) with its arguments, or a function. It
    may take `timeout` seconds. If the command fails, otf raises a ContactError with the last lines that the command
    printed. A `Flash` writes only once, so a bench with several boards (`Pool`) needs one `Flash` for each board. A
    trace records the image's name and the start of its SHA-256 as a version; `written` is that version. `otf compare`
    shows where two campaigns had different images.

    >>> Flash(["st-flash", "write", "build/lamp.bin", "0x8000000"], image="build/lamp.bin").timeout
    120.0
    """

    command: Hook = field(kw_only=False)
    image: str | Path
    timeout: float = 120.0
    written: BoardImage = field(default_factory=BoardImage, init=False, repr=False, compare=False)

    @property
    def version(self) -> dict[str, str]:
        """Return the image's name, with the start of the SHA-256 of the image that otf wrote (or will write)."""
        return {f"image {Path(self.image).name}": self.written.digest or _digest(self.image)}

    async def once(self) -> None:
        """Write the image unless otf has already written it.

        Raises ContactError if the command fails, and UsageError if there is no image.
        """
        if self.written.digest:
            return
        digest, began = _digest(self.image), monotonic()
        note("flashing", image=str(self.image), sha256=digest)
        await obey(self.command, f"flashing {Path(self.image).name}", self.timeout)
        if _digest(self.image) != digest:
            raise ContactError(f"the image {self.image} changed while it was written: build it first, then run")
        self.written.digest = digest
        note("flashed", seconds=round(monotonic() - began, 3))


def _digest(image: str | Path) -> str:
    try:
        with Path(image).open("rb") as file:
            return file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        message = f"the image {image} cannot be read: {error.strerror}; build it, or name what the build writes"
        raise UsageError(message) from error


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A `program` that records each path, such as `candump` or `tcpdump`; otf keeps the recording if the path fails.

    otf starts the program `ahead` seconds before the system, and sends SIGINT to the program at the end. The recording
    is the program's standard output, or the file in place of `{file}` among the program's arguments. otf puts the
    recording beside the trace (`path-0007.recording.pcap`, ending in its `suffix`), and cuts it off at `largest` bytes.
    If the program runs on this machine, its clock is the clock of the trace, so you can compare times with `timestamp`
    in the trace.

    >>> Recording(["tcpdump", "-i", "lo", "-U", "-w", "{file}", "port 7000"], suffix="pcap").ahead
    0.2
    """

    program: Sequence[str] = field(kw_only=False)
    suffix: str = "log"
    ahead: float = 0.2
    largest: int = 64 << 20

    def file(self, trace: Path) -> Path:
        """Return the name of the file that contains the recording of a path, given the path's trace."""
        return trace.with_name(f"{trace.name.removesuffix('.jsonl')}.recording.{self.suffix}")


def kept_recording(trace: Path) -> Path | None:
    """Return the recording beside a trace, or None."""
    start = f"{trace.name.removesuffix('.jsonl')}.recording."
    return next(iter(sorted(trace.parent.glob(f"{escape(start)}*"))), None)


@asynccontextmanager
async def recorded(recording: Recording, trace: Path) -> AsyncGenerator[Callable[[], None]]:
    """Record until the context ends. The recording is kept only if the yielded function was called.

    Raises ContactError if the program ends before there is anything to record.
    """
    file, kept = recording.file(trace), list[bool]()
    said = file.with_name(f"{file.name}.said")
    child = _started(recording, file)
    try:
        await _begin(child, words(recording.program), recording.ahead, said)
        yield lambda: kept.append(True)
    finally:
        with anyio.CancelScope(shield=True):
            await _stop(child)
        said.unlink(missing_ok=True)
        if not kept:
            file.unlink(missing_ok=True)


def _started(recording: Recording, file: Path) -> Child:
    argv = words(recording.program)
    printed = "/dev/null" if any(FILE in each for each in argv) else '"$0"'
    script = _SCRIPT.format(blocks=-(-recording.largest // 512), printed=printed)
    child = Child(["/bin/sh", "-c", script, str(file), *(each.replace(FILE, str(file)) for each in argv)])
    child.close_input()
    return child


async def _begin(child: Child, argv: Sequence[str], seconds: float, said: Path) -> None:
    await _until_ended(child, seconds)
    if how := child.ended():
        message = f"the recording {shlex.join(argv)!r} ended before the path began: {how}"
        raise ContactError("; it said: ".join(filter(None, [message, _last_words(said)])))


def _last_words(said: Path) -> str:
    with suppress(OSError):
        return said.read_text(errors="backslashreplace").strip()[-_LAST_WORDS:]
    return ""


async def _stop(child: Child) -> None:
    child.signal(signal.SIGINT)
    await _until_ended(child, _GRACE)
    child.signal(signal.SIGKILL)
    child.close()


async def _until_ended(child: Child, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        while not child.ended():  # noqa: ASYNC110 -- what it waits for is in another process
            await anyio.sleep(_LOOK)


_NAME: Final = "otf"
_LINE: Final = 1 << 20  # the most bytes of one answer
_BROKEN: Final = (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound)
_LISTENING: Final = 0.02  # seconds until the next try to connect: QEMU makes its socket while it starts


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The initial state of a machine in QEMU, which otf saves after the first reset and restores before each path.

    `monitor` is where QEMU listens for QMP commands: the path of a unix socket (`-qmp unix:PATH,server=on,wait=off`) or
    HOST:PORT. QEMU keeps the state in a disk of the format qcow2 (`-drive
    if=none,format=qcow2,cache=unsafe,file=state.qcow2`), which the machine itself need not use. `timeout` bounds saving
    and restoring, in seconds.

    A restored machine may behave differently from a machine after a reset. Therefore otf reports a failure only if the
    failure also occurs after a reset. If the number of a passed path is a multiple of `both`, otf drives that path
    again after a reset.

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
        """Save the state of the machine; the machine pauses while QEMU saves. Raises ContactError."""
        await command_qemu(self.monitor, "stop", f"savevm {_NAME}", "cont", timeout=self.timeout)

    @asynccontextmanager
    async def restored(self) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
        """Restore the state of the machine, which stays stopped until the caller calls the yielded function.

        The yielded function starts the machine without waiting for QEMU's answer. If the machine stays stopped, the
        path fails, and otf drives it again after a reset. `restored` raises ContactError.
        """
        async with _obey(self.monitor, ("stop", f"loadvm {_NAME}"), self.timeout) as stream:
            yield partial(_resume_machine, stream)


async def _resume_machine(stream: ByteStream) -> None:
    with suppress(*_BROKEN):  # the ports show what became of the machine
        await stream.send(_request("cont"))


async def command_qemu(monitor: str, *commands: str, timeout: float = 10.0) -> None:  # noqa: ASYNC109 -- a hook has one
    """Send commands ("system_reset", "stop", "cont") to a QEMU that listens for QMP; a hook for `Life.actions`.

    A command with an argument, such as "drive_add …", goes to QEMU's human monitor. All commands together may take
    `timeout` seconds. If a command fails, `command_qemu` raises a ContactError with QEMU's message.

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
        note("QEMU took commands", commands=told, seconds=round(monotonic() - began, 4))
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
