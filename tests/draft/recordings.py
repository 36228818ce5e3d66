"""Recordings for drafts of benches, and the drafts as modules."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType

from otf.draft import draft_bench
from otf.trace.pcap import Endpoint
from tests.offline.captures import CaptureWriter

SYSTEM: Endpoint = ("127.0.0.1", 7000)
OURS: Endpoint = ("127.0.0.1", 5555)


def log(*lines: str) -> io.BytesIO:
    """A log with these lines."""
    return io.BytesIO("\n".join(lines).encode("utf-8", "surrogateescape"))


def datagrams(*messages: tuple[bool, bytes]) -> io.BytesIO:
    """A capture of datagrams, to the system or from it, 10 ms apart."""
    file = io.BytesIO()
    writer = CaptureWriter(file)
    for number, (sent, data) in enumerate(messages):
        writer.udp(100 + number / 100, *((OURS, SYSTEM) if sent else (SYSTEM, OURS)), data)
    file.seek(0)
    return file


def stream(*pieces: tuple[bool, bytes]) -> io.BytesIO:
    """A capture of a TCP connection with these pieces."""
    file = io.BytesIO()
    writer, at = CaptureWriter(file), {True: 1001, False: 5001}
    writer.tcp(100, OURS, SYSTEM, 1000, flags=2)
    writer.tcp(100, SYSTEM, OURS, 5000, flags=18)
    for number, (sent, data) in enumerate(pieces, 1):
        writer.tcp(100 + number / 100, *((OURS, SYSTEM) if sent else (SYSTEM, OURS)), at[sent], data)
        at[sent] += len(data)
    file.seek(0)
    return file


def text_of(source: io.BytesIO, url: str = "") -> str:
    """The text of the draft of a recording."""
    return draft_bench(source, "recording", "drafted_system", url).written()


def imported(source: io.BytesIO, folder: Path, url: str = "tcp://127.0.0.1:7000") -> ModuleType:
    """The draft of a recording, imported."""
    file = folder / "drafted_system.py"
    file.write_text(text_of(source, url), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("drafted_system", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["drafted_system"] = made
    spec.loader.exec_module(made)
    return made
