"""Tools around a board: the image written before the first path, and a recording of each path."""

from __future__ import annotations

import shlex
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from glob import escape
from hashlib import file_digest
from pathlib import Path
from time import monotonic
from typing import Final

import anyio

from otf.adapter.child import Child, words
from otf.adapter.child.hook import Hook, obey
from otf.adapter.log import note
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
    """An image, and the hook that writes it to the board before the first path, with the ports closed.

    The hook is the vendor's tool (`esptool`, `openocd`, `avrdude`, `dfu-util`) with its arguments, or a function; it
    may take up to `timeout` seconds. If it fails, the run ends with a ContactError that has the tool's last words. Each
    `Flash` writes once; a bench of several boards (`Pool`) has one per board. Traces record the image's name and the
    start of its SHA-256 as a version; `otf compare` shows where two runs had different images.

    >>> Flash(["st-flash", "write", "build/lamp.bin", "0x8000000"], image="build/lamp.bin").timeout
    120.0
    """

    command: Hook = field(kw_only=False)
    image: str | Path
    timeout: float = 120.0
    written: BoardImage = field(default_factory=BoardImage, init=False, repr=False, compare=False)

    @property
    def version(self) -> dict[str, str]:
        """Return the image's name with the start of its digest: as written, or else of the file now."""
        return {f"image {Path(self.image).name}": self.written.digest or _digest(self.image)}

    async def once(self) -> None:
        """Write the image unless this has done so already. Raises ContactError, or UsageError if there is no image."""
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
    """A program that records each path, such as `candump` or `tcpdump`; its output is kept if the path fails.

    It starts `ahead` seconds before the system, and gets SIGINT at the end. The recording is what it prints, or the
    file that an argument names as `{file}`. It lies beside the trace (`path-0007.recording.pcap`) and ends at `largest`
    bytes. If the program runs here, its times and the trace's (`timestamp`) are of the same clock.

    >>> Recording(["tcpdump", "-i", "lo", "-U", "-w", "{file}", "port 7000"], suffix="pcap").ahead
    0.2
    """

    program: Sequence[str] = field(kw_only=False)
    suffix: str = "log"
    ahead: float = 0.2
    largest: int = 64 << 20

    def file(self, trace: Path) -> Path:
        """Return the recording's path, given the trace of its path."""
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
