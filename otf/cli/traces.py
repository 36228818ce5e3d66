"""Traces as arguments: opening them, and making the bench that they name as it was when they were recorded.

A trace may come from a stranger. So otf loads the bench that it names only if it is shipped: reading a trace must never
run code of its choice. The bench gets only those parameters that it lets a trace choose, within their bounds
(`otf.adapter.bench_options`): an address, a file or a program of a stranger's choice never reaches it.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, cast

import msgspec

from otf.adapter import Bench
from otf.adapter.bench_options import allowed, settable
from otf.campaign.journal_lines import JOURNAL
from otf.cli.benches import LONGEST, is_shipped, load, named, parameters
from otf.cli.catalogue import TIMES, sources
from otf.cli.output import warn
from otf.cli.user_code import near_file
from otf.errors import OtfError, TraceError, UsageError, choose, near
from otf.trace.reading import TraceReader, bounded
from otf.trace.record import Header
from otf.values import as_text, show

SHORT: Final = 1.0
"""Seconds of waiting that a trace may choose for any bench, or ten times the bench's own time if that is longer."""
TIMES_AS_LONG: Final = 10
LARGEST: Final = 50  # inputs in a burst that a trace may choose


def bench_as_recorded(header: Header, reference: str, sets: Mapping[str, object], *, drives: bool) -> Bench:
    """Return the bench of a trace, made as it was recorded; `sets` take precedence.

    `drives`: the system will be driven, so waiting takes real time. Raises UsageError for values that a trace may not
    choose, unless they are in `sets`.
    """
    own = _parameters(header, reference, sets)
    if refused := _choices_refused(reference, own):
        _refuse(refused, settable(named(reference)))
    bench = load(reference, {**own, **sets})
    recorded = {"quiescence": header.quiescence, "L": header.latency, "R": header.busy}
    times: dict[str, Any] = {key: value for key, value in recorded.items() if key not in sets}
    if too_long := {key: value for key, value in times.items() if not 0 <= value <= _most(bench, key, drives=drives)}:
        _refuse(too_long)
    return replace(bench, parameters={**bench.parameters, **times}, **{TIMES[key]: times[key] for key in times})


def burst_as_recorded(header: Header, steps: int) -> int:
    """Return how many inputs to send at once: at most all, and few enough to explain their outputs quickly."""
    if min(header.burst, steps) > LARGEST:
        warn(f"note: a trace may choose bursts of at most {LARGEST} inputs, so bursts have {LARGEST}")
    return min(header.burst, max(1, steps), LARGEST)


def repeated(bench: Bench, reference: str, *, drives: bool) -> str:
    """Return the options that traces of a bench need to be accepted; `drives`: when the system is driven again."""
    own = {key: _as_recorded(value) for key, value in bench.parameters.items() if key not in TIMES}
    refused = _choices_refused(reference, _differing(own, parameters(reference)))
    given: dict[str, Any] = {key: value for key, value in bench.parameters.items() if drives and key in TIMES}
    long = {key: value for key, value in given.items() if float(value) > SHORT}
    return _set({**refused, **long})


def walking(bench: Bench, reference: str) -> str:
    """Return the command that walks through the model of a bench, with the parameters that are not its defaults."""
    known = parameters(reference)
    own = {key: _as_recorded(value) for key, value in bench.parameters.items() if key in known}
    return f"otf step {shlex.quote(reference)}{_set(_differing(own, known))}"


def _set(values: Mapping[str, object]) -> str:
    texts = {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode() for key, value in values.items()
    }
    return "".join(f" --set {shlex.quote(f'{key}={value}')}" for key, value in texts.items())


def _refuse(refused: Mapping[str, object], may: Mapping[str, object] | None = None) -> NoReturn:
    values = ", ".join(f"{key}={show(value)}" for key, value in refused.items())
    again = " ".join(f"--set {key}=…" for key in refused)
    message = f"the trace was recorded with {values}, which a trace may not choose, since it may come from a stranger"
    text = "; --set KEY= is the empty text" if any(isinstance(each, str) for each in refused.values()) else ""
    known = "".join(_choices(value, (may or {}).get(key)) for key, value in refused.items())
    raise UsageError(
        f"{message}: set it yourself with {again}, to the value of the trace or of a repaired system{known or text}"
    )


def _choices(value: object, may: object) -> str:
    """Return the value that a trace may choose and was probably meant, and all such values, if they are names."""
    if not (isinstance(may, Iterable) and isinstance(value, str)):
        return ""
    return f"; {choose(value, map(str, cast('Iterable[object]', may)), 'a trace may choose')}"


def _parameters(header: Header, reference: str, sets: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters in which a trace differs from the bench's defaults."""
    known = parameters(reference, sets)
    own = {key: value for key, value in header.parameters.items() if key not in TIMES or key in known}
    # a trace of another bench is refused, with that as the reason
    for key in sorted(own.keys() - known.keys()) if not header.bench or _same(reference, header.bench) else ():
        message = f"{reference} has no parameter {show(key)}"
        if hint := near(key, known.keys() - sets.keys(), 0.75):
            # without the parameter that was meant, another system would be driven, and pass
            raise UsageError(f"{message}; {hint} Correct the header of the trace, or set it yourself with --set")
        warn(f"note: {message}; its value in the trace is ignored")
    return _differing({key: value for key, value in own.items() if key in known and key not in sets}, known)


def _differing(written: Mapping[str, object], known: Mapping[str, object]) -> dict[str, object]:
    # encode the values of the bench as a trace does; decoding those of the trace could run any code of a type
    return {key: value for key, value in written.items() if _as_recorded(known[key]) != value}


def _as_recorded(value: object) -> object:
    return msgspec.to_builtins(value, enc_hook=as_text)


def _choices_refused(reference: str, written: Mapping[str, object]) -> dict[str, object]:
    may = settable(named(reference))
    return {key: value for key, value in written.items() if not allowed(may.get(key, ()), value)}


def _most(bench: Bench, key: str, *, drives: bool) -> float:
    if not drives:
        return LONGEST
    own = bench.timing.quiescence if key == "quiescence" else float(getattr(bench, TIMES[key]))
    return max(SHORT, TIMES_AS_LONG * own)


@contextmanager
def reading(name: str) -> Generator[TraceReader]:
    """Yield the reader of a trace file; `-` is standard input."""
    if name == "-":
        yield TraceReader(bounded(_standard_input()), "standard input")
        return
    with _open(Path(name)) as file:
        yield TraceReader(bounded(file), name)


@contextmanager
def opened(name: str) -> Generator[BinaryIO]:
    """Yield the bytes of a file; `-` is standard input."""
    if name == "-":
        file = _standard_input()
        # the caller must be able to peek at the first bytes
        yield file if isinstance(file, BufferedReader) else BufferedReader(cast("RawIOBase", file))
        return
    with _open(Path(name)) as file:
        yield file


def bench_of(reader: TraceReader, named: str | None, sets: Mapping[str, object], *, drives: bool) -> Bench:
    """Return the bench of a trace, made as recorded and changed by `sets`; `drives`: the system will be driven."""
    header, reference = reader.header, named or reader.header.bench
    if named is None and not is_shipped(reference):
        message = f"{reader.name}: the trace is of the bench {show(reference)}, which is not shipped; a trace may not "
        hint = near(reference, sources())
        raise UsageError(
            f"{message}choose what code is loaded: name the bench yourself with --bench BENCH{hint and f'; {hint}'}"
        )
    other = (
        "" if _same(reference, header.bench) else f"it is a trace of the bench {show(header.bench)}, not of {reference}"
    )
    if other and is_shipped(header.bench) and is_shipped(reference):
        raise UsageError(f"{reader.name}: {other}; leave out --bench")
    try:
        bench = bench_as_recorded(header, reference, sets, drives=drives)
        return replace(bench, inputs=header.inputs).at_speed(header.speed).with_malformed(header.malformed)
    except OtfError as error:
        raise type(error)(f"{reader.name}: {other and f'{other}; '}{error}") from error


def _same(reference: str, other: str) -> bool:
    return reference.removesuffix(":bench") == other.removesuffix(":bench")


def each_trace(names: list[str]) -> Iterator[str]:
    """Yield the names of traces; for a folder, those in it. Raises TraceError if it has none."""
    for name in names:
        if Path(name).is_dir():
            yield from map(str, _inside(Path(name)))
        else:
            yield name


def _inside(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.glob("*.jsonl") if path.name != JOURNAL)
    if not found:
        message = f"{folder}: there is no trace in this folder (their names end in .jsonl); `otf run` prints its folder"
        raise TraceError(message)
    return [ordinary(path) for path in found]


def _standard_input() -> BinaryIO:
    stdin: object = sys.stdin
    if stdin is None:
        raise TraceError("standard input is closed: there is no trace to read")
    return sys.stdin.buffer


def ordinary(path: Path) -> Path:
    """Return a path found in a folder. Raises TraceError for a pipe or a device, which may block for ever.

    A pipe that the user names is read: a shell makes one of `<(…)`.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise TraceError(f"{path}: this is a pipe or a device, and not a file with a trace; remove it")
    return path


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        inside = next(path.glob("path-*.jsonl"), None) if path.is_dir() else None
        advice = f"a trace in it, such as {inside}" if inside else "the path of a trace (`otf run` prints the folder)"
        what = near_file(path, f"; give {advice}")
        raise TraceError(f"{path}: {error.strerror}{what}") from error


def raw(trace: Path, number: int) -> bytes:
    """Return the bytes of the event with that number in a trace; empty if there are none, or no trace."""
    with suppress(OSError), trace.open("rb") as file:
        for line in bounded(file):
            record: dict[str, Any] = json.loads(line)
            if record.get("n") == number:
                return bytes.fromhex(record.get("raw") or "")
    return b""
