"""What `otf replay` does: judge traces again, and logs of other programs, whole or while they grow."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from io import BufferedReader
from typing import Any, BinaryIO, Final, TypeAlias

import msgspec

from otf.adapter import Bench
from otf.cli.benches import load
from otf.cli.output import error_document, report_error, say, show_traceback
from otf.cli.signals import SIGNALS
from otf.cli.sut_addresses import addressed
from otf.cli.traces import bench_of, opened
from otf.errors import STATUS_OF, OtfError, UsageError
from otf.offline import Judgement, judge
from otf.offline.captured import Captured, listed
from otf.offline.entries import Entries
from otf.offline.formats import FORMATS, guessed, unknown
from otf.offline.logs import ForeignJudge, Noted, Opinion, timed
from otf.trace.explain import explanation
from otf.trace.pcap import Capture
from otf.trace.reading import BAD_JSON, LONGEST, TraceReader, bounded
from otf.trace.result import counted
from otf.trace.verdict import Verdict

POLL: Final = 0.05  # seconds between two looks at a file that has not grown


class Growing:
    """Reads a file that another program is writing; calls `idle` when there is nothing new, which may raise to stop."""

    def __init__(self, file: BinaryIO, idle: Callable[[], None]) -> None:
        self._file = file
        self._idle = idle

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes, as soon as they have been written."""
        data = b""
        while len(data) < size:
            more = self._file.read(size - len(data))
            data += more
            self._wait(more)
        return data

    def lines(self, longest: int = LONGEST) -> Iterator[bytes]:
        """Yield lines, each as soon as it is complete."""
        line = b""
        while True:
            more = self._file.readline(longest + 1 - len(line))
            line += more
            if line.endswith(b"\n") or len(line) > longest:
                yield line
                line = b""
            self._wait(more)

    def _wait(self, more: bytes) -> None:
        if not more:
            self._idle()
            time.sleep(POLL)


class Whole:
    """Reads a file that is complete."""

    def __init__(self, file: BinaryIO) -> None:
        self.read: Callable[[int], bytes] = file.read
        self._file = file

    def lines(self) -> Iterator[bytes]:
        """Return the lines; an endless one is cut at the bound."""
        return bounded(self._file)


_HEAD = 4096


class _OverError(Exception):
    """Waiting for more is pointless."""


@dataclass(frozen=True, slots=True)
class How:
    """How to read a foreign log: while it grows, with its start lost, with silence after its end.

    `form` is the name of its format, `choice` the user's option for that format, and `port` the port of the log.
    """

    follow: bool = False
    lost: bool = False
    ended: bool = False
    form: str = ""
    choice: str = ""
    port: str = ""


def form_of(name: str, file: BinaryIO, how: How, bench: Callable[[str], Bench] | None) -> str:
    """Return the format of a log of another program; "" for a trace of otf. It does not consume the first bytes.

    Raises TraceError, listing the formats, for a log that is neither.
    """
    head = beginning(file)
    found = how.form or guessed(head)
    if how.form or found in {"pcap", "pcapng"}:
        return found
    first = head.split(b"\n", 1)[0]
    is_trace = re.search(rb'"event": ?"start"', first) is not None
    if how.follow and is_trace:
        raise UsageError(f"{name}: this is a trace of otf, which grows no more; leave out --follow")
    if bench is not None and head[:1] == b"{" and not is_trace and bench(name).foreign is not None:
        return "jsonl"
    if found or not how.follow:
        if not found and head.strip() and not _may_be_trace(name, first, named=bench is not None):
            raise unknown(name, head)
        return found
    # if the file is still empty, only its name tells its format
    return "pcap" if name.endswith((".pcap", ".pcapng")) else "jsonl"


def _may_be_trace(name: str, first: bytes, *, named: bool) -> bool:
    """Return whether a file may be a trace of otf, perhaps damaged; if a bench is `named`, it may instead be a log."""
    if name.endswith(".jsonl"):
        return not (named and _is_other(first))
    return first[:1] == b"{" and (not named or b'"event"' in first)


def _is_other(line: bytes) -> bool:
    try:
        return "event" not in msgspec.json.decode(line, type=dict[str, object])
    except BAD_JSON:
        return False


def opinion(name: str, file: BinaryIO, bench: Bench, how: How) -> Opinion:
    """Judge a foreign log; read one that grows until there is a verdict or a signal."""
    foreign = ForeignJudge(bench, lost=how.lost)
    latest = time.monotonic()

    def idle() -> None:
        SIGNALS.reached()
        foreign.until(foreign.last + time.monotonic() - latest)
        if foreign.decided or SIGNALS.number:
            raise _OverError

    source = Growing(file, idle) if how.follow else Whole(file)
    capture = Capture(source, name) if how.form in {"pcap", "pcapng"} else None
    log = Captured(capture, bench, how.port) if capture is not None else _log(name, source, bench, how)
    with _until_over(), SIGNALS.stopping(lambda: None) if how.follow else nullcontext():
        for noted in timed(log):
            foreign.take(noted, log.unit if isinstance(log, Entries) else 0.0)
            latest = time.monotonic()
            if foreign.decided or SIGNALS.number:
                break
    entries = log if isinstance(log, Entries) else log.bus if isinstance(log, Captured) and log.has_bus else None
    cut = any(each.cut for each in (capture, entries, log) if isinstance(each, Capture | Entries | Captured))
    found = foreign.end(ended=how.ended, cut=cut)
    return found if entries is None else _doubted(found, entries)


def _log(name: str, source: Growing | Whole, bench: Bench, how: How) -> Iterable[Noted]:
    if how.form == "jsonl":
        return listed(source.lines(), name, bench)
    return Entries(FORMATS[how.form].entries(source, name, how.choice), bench, name, how.port)


def _doubted(found: Opinion, entries: Entries) -> Opinion:
    """Return an opinion, made inconclusive if the log had nothing or only outputs: inputs may be missing from it."""
    found.strange = entries.strange
    if not found.events and not found.skipped and found.verdict.outcome == "pass":
        found.verdict = Verdict("inconclusive", why="no message in the log is an input or an output of the bench")
    if entries.guessed and not found.steps and found.verdict.failure is not None:
        why = "the log does not say what was sent, and no message before this one is an input of the model: "
        found.verdict = Verdict("inconclusive", why=why + str(found.verdict.failure.signature))
    return found


def position(found: Opinion) -> str:
    """Return the place in the log where the verdict was reached."""
    skipped = f", the first {found.skipped} were before the first silence and were skipped" if found.skipped else ""
    strange = f"; {found.strange} are neither an input nor an output, and were ignored" if found.strange else ""
    cut = "; it ends inside a message, which was ignored, so what followed is unknown" if found.cut else ""
    return f"the last message that was judged was number {found.place}{skipped}{strange}{cut}"


@contextmanager
def _until_over() -> Generator[None]:
    try:
        yield
    except _OverError:
        return


def beginning(file: BinaryIO) -> bytes:
    """Return the first bytes of a file without consuming them."""
    return file.peek(_HEAD)[:_HEAD] if isinstance(file, BufferedReader) else b""


Replayed: TypeAlias = Judgement | Opinion | OtfError
"""The judgement of a trace or the opinion on a log; an error if it cannot be read."""


@dataclass(frozen=True, slots=True)
class TraceSource:
    """What the command line says about the traces: bench, addresses, parameters, and how to read them."""

    bench: str | None
    suts: list[str] | None
    sets: Mapping[str, object]
    how: How

    def named(self, name: str) -> Bench:
        """Return the bench that a foreign log needs. Raises UsageError if none was named."""
        if self.bench is None:
            raise UsageError(f"{name}: this is not a trace of otf; name its bench with --bench BENCH")
        return addressed(load(self.bench, self.sets), self.suts)


def judged(name: str, source: TraceSource) -> Replayed:
    """Return the judgement of a trace or a log, or its error, which must not hide failures in the others."""
    try:
        with opened(name) as file:
            if form := form_of(name, file, source.how, source.named if source.bench is not None else None):
                return _seen(opinion(name, file, source.named(name), replace(source.how, form=form)))
            reader = TraceReader(bounded(file), "standard input" if name == "-" else name)
            judgement = judge(reader, bench_of(reader, source.bench, source.sets, drives=False))
            return replace(judgement, verdict=judgement.conclusion)
    except OtfError as error:
        return error


def _seen(found: Opinion) -> Opinion:
    """Return an opinion, made inconclusive if there is no event of the system."""
    if found.events or found.verdict.outcome != "pass":
        return found
    why = f"there is no event of the bench in it, {found.strange:,} messages of others: nothing was tested"
    return replace(found, verdict=Verdict("inconclusive", why=why))


def status_of(judgement: Replayed) -> int:
    """Return the exit status for a judgement, or an error."""
    return judgement.exit_status if isinstance(judgement, OtfError) else STATUS_OF[judgement.verdict.outcome]


def as_data(name: str, judgement: Replayed) -> dict[str, Any]:
    """Return a judgement as JSON data."""
    if isinstance(judgement, OtfError):
        show_traceback(judgement)
        return {"trace": name, **error_document(str(judgement))}
    failure = judgement.verdict.failure
    common = {
        "trace": name,
        "verdict": judgement.verdict.outcome,
        "steps": judgement.steps,
        "signature": str(failure.signature) if failure else None,
        "why": judgement.verdict.why,
        "cut": judgement.cut,
    }
    if isinstance(judgement, Opinion):
        own = {"place": judgement.place, "skipped": judgement.skipped, "strange": judgement.strange}
        return {**common, **own}
    event = failure.event if failure else None
    return {**common, "recorded": judgement.recorded, "event": event, "changed": judgement.changed}


def report(name: str, judgement: Replayed) -> None:
    """Print a judgement."""
    if isinstance(judgement, OtfError):
        report_error(judgement)
        return
    say(f"{name}: {counted(judgement.steps, 'step')}")
    say(explanation(judgement.verdict))
    if isinstance(judgement, Opinion):
        say(f"note: {position(judgement)}")
        return
    for note in notes(judgement):
        say(f"note: {note}")


def notes(judgement: Judgement) -> Iterator[str]:
    """Yield what the user should know about a judgement besides its verdict."""
    if judgement.cut:
        yield "the trace was cut: it was judged up to its last whole line"
    if judgement.left_open:
        yield f"open at its end, neither kept nor broken: {', '.join(judgement.left_open)}"
    if judgement.changed:
        yield "the model has changed since this trace was recorded; it was judged against the current model"
    if judgement.recorded not in (None, judgement.verdict.outcome):
        yield f"the recorded verdict is {judgement.recorded}"
    if judgement.header.faults:
        yield f"faults were injected on the ports, only these: {', '.join(judgement.header.faults)}"
