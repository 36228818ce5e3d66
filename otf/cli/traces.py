"""Traces as arguments: opening them, and finding the bench that they name.

A trace is data from strangers. The bench that it names is loaded by itself only if it is one of the shipped ones, and
a program that it names is started only if the user names it too: reading a trace must never run code of its choice.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

from otf.adapter import Bench
from otf.cli.benches import TIMES, is_shipped, load, parameters
from otf.cli.ending import warn
from otf.errors import OtfError, TraceError, UsageError
from otf.trace.reading import TraceReader, bounded
from otf.trace.record import Header
from otf.values import show


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
        # what begins a file has to be looked at without taking it
        yield file if isinstance(file, BufferedReader) else BufferedReader(cast("RawIOBase", file))
        return
    with _open(Path(name)) as file:
        yield file


def bench_of(reader: TraceReader, named: str | None, sets: Mapping[str, object], *, drives: bool) -> Bench:
    """Return the bench of a trace with the parameters of its header, changed by `sets`; `drives`: to start a system."""
    header, reference = reader.header, named or reader.header.bench
    if named is None and not is_shipped(reference):
        message = f"{reader.name}: the trace is of the bench {show(reference)}, which is not shipped; a trace may not "
        raise UsageError(f"{message}choose what is loaded: name it yourself with --bench BENCH")
    try:
        bench = load(reference, {**_recorded(header, reference), **sets})
    except OtfError as error:
        raise type(error)(f"{reader.name}: {error}") from error
    unnamed = [name for name in bench.named_programs if name not in sets]
    if drives and unnamed:
        name = unnamed[0]
        message = f"{reader.name}: the trace names a program to start, {name}={show(bench.parameters[name])}; "
        raise UsageError(f"{message}a trace may not choose what runs: say so yourself with --set {name}=…")
    return replace(bench, inputs=header.inputs)


def _recorded(header: Header, reference: str) -> dict[str, object]:
    known = parameters(reference)
    own = {key: value for key, value in header.parameters.items() if key not in TIMES or key in known}
    for key in own.keys() - known.keys():
        warn(f"note: {reference} has no parameter {show(key)} any more; what the trace says of it is left out")
    times = {"quiescence": header.quiescence, "L": header.latency, "R": header.busy}
    return {**times, **{key: value for key, value in own.items() if key in known}}


def _standard_input() -> BinaryIO:
    stdin: object = sys.stdin
    if stdin is None:
        raise TraceError("standard input is closed: there is no trace to read")
    return sys.stdin.buffer


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        message = f"{path}: {error.strerror}; give the path of a trace (`otf run` prints the folder)"
        raise TraceError(message) from error
