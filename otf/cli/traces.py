"""Traces as arguments: opening them, and finding the bench that they name.

A trace is data from strangers. The bench that it names is loaded by itself only if it is one of the shipped ones:
reading a trace must never run code of its choice.
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
from otf.cli.benches import is_shipped
from otf.cli.recorded import bench_as_recorded
from otf.errors import OtfError, TraceError, UsageError
from otf.trace.reading import TraceReader, bounded
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
    """Return the bench of a trace, made as it was recorded, changed by `sets`; `drives`: a system is to be driven."""
    header, reference = reader.header, named or reader.header.bench
    if named is None and not is_shipped(reference):
        message = f"{reader.name}: the trace is of the bench {show(reference)}, which is not shipped; a trace may not "
        raise UsageError(f"{message}choose what is loaded: name it yourself with --bench BENCH")
    try:
        bench = bench_as_recorded(header, reference, sets, drives=drives)
    except OtfError as error:
        raise type(error)(f"{reader.name}: {error}") from error
    return replace(bench, inputs=header.inputs)


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
