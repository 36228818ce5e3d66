"""docs/howto-first-minutes.md, typed word for word in an empty folder: five commands and forty lines at most."""

from __future__ import annotations

import importlib
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from otf.models.serving import free_port
from tests.cli.command import otf
from tests.offline.captures import CaptureWriter
from tests.real import devices

PAGE = Path(__file__).parents[2] / "docs" / "howto-first-minutes.md"
BLOCK = re.compile(r"(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
SYSTEMS = {
    "A line console on a serial port": ("console", "/dev/ttyUSB0"),
    "A device with a heartbeat and a watchdog": ("watchdog", "/dev/ttyUSB0"),
    "An HTTP API with two clients": ("shop", "./shop --port 8000"),
    "A Go server": ("store", "./store --port 7000"),
    "A binary protocol over UDP": ("meter", ":7000"),
    "A binary UDP server with three clients": ("lock", "./lock --port 7000"),
    "A TCP text server with two clients": ("chat", ":7000"),
    "A TCP text server with a log-in and a timer": ("vault", ":7000"),
    "A CAN node": ("node", "can://socketcan/can0"),
    "A SCPI instrument": ("supply", ":5025"),
    "A child process with JSON lines": ("calc", "exec:./calc"),
    "A library with threads": ("gauge", ""),
}
"""For each section the system that is tested, and its place in the page."""


class Typed(NamedTuple):
    """What a newcomer types: files, and commands."""

    files: Mapping[str, str]
    commands: tuple[str, ...]

    @property
    def lines(self) -> int:
        """How many lines that are."""
        return len(self.commands) + sum(len(text.splitlines()) for text in self.files.values())


def sections() -> dict[str, Typed]:
    """Return what is typed for each kind, by the heading of its section."""
    _, *parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {head: BLOCK.findall(text) for head, text in zip(parts[::2], parts[1::2], strict=True)}
    return {
        head: Typed(
            {name: text for name, _, text in blocks if name},
            tuple(line for _, kind, text in blocks if kind == "sh" for line in text.splitlines()),
        )
        for head, blocks in found.items()
        if blocks
    }


def test_what_is_copied_is_short() -> None:
    """Each bench to copy from is one file of 250 lines at most."""
    files: list[str] = re.findall(r"^\|.*\]\((\.\./models/\w+\.py)\)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(files) == 7
    for file in files:
        assert len((PAGE.parent / file).read_text(encoding="utf-8").splitlines()) <= 250, file


@contextmanager
def started(kind: str, *, broken: bool = False) -> Generator[str]:
    """Start a system as a program; its place is a terminal, or a port of this machine."""
    name, place = SYSTEMS[kind]
    port = free_port(socket.SOCK_DGRAM if name in {"meter", "lock"} else socket.SOCK_STREAM)
    command = [sys.executable, devices.__file__, name, str(port), *(["broken"] if broken else [])]
    if name == "calc":
        yield f"exec:{shlex.join(command)}"  # otf starts it
        return
    if not place or "--port" in place:
        yield shlex.join(command)  # otf starts it, or imports it
        return
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        try:
            if name == "node":
                yield f"can://udp_multicast/239.74.163.3?port={port}&hop_limit=0"
            else:
                yield f":{port}" if said == "ready" else said
        finally:
            process.kill()


def at(place: str, real: str, text: str) -> str:
    """Return what is typed, for the system in its real place; a server that otf starts gets its port so."""
    if "--port" not in place:
        return text.replace(place, real) if place else text
    return text.replace(place, real).replace(place.rpartition(" ")[2], re.findall(r" (\d+)", real)[0])


def library(folder: Path, *, broken: bool = False) -> None:
    """Write the library beside the bench; the wrong one counts on."""
    text = (Path(__file__).parent / "gauge.py").read_text(encoding="utf-8")
    (folder / "gauge.py").write_text(text.replace("MOST = 9", "MOST = 10") if broken else text, encoding="utf-8")
    importlib.invalidate_caches()
    for name in ("gauge", "gauge_bench"):
        sys.modules.pop(name, None)  # commands are run in this process


def record(file: Path, port: int) -> None:
    """Write the capture of what the meter's own client asks: this is not a part of the test."""
    system, ours, registers = ("127.0.0.1", port), ("127.0.0.1", 40_000), dict[int, int]()
    with file.open("wb") as opened:
        writer = CaptureWriter(opened)
        for number in range(24):
            head = bytes([1 + number % 2, number, 0, number % 5])
            data = head + (number * 700).to_bytes(2, "big") if number % 2 else head
            writer.udp(number, ours, system, data)
            writer.udp(number + 0.002, system, ours, devices.metered(registers, data))


def test_the_page_is_short() -> None:
    """Each kind has a section, and needs five commands and forty lines at most."""
    assert set(sections()) == set(SYSTEMS)
    for typed in sections().values():
        assert 1 <= len(typed.commands) <= 5
        assert typed.lines <= 40


# these take seconds: their silence cannot be observed, or they have timers, or several clients
SLOW = (
    "A binary UDP server with three clients",
    "A device with a heartbeat and a watchdog",
    "A CAN node",
    "An HTTP API with two clients",
    "A line console on a serial port",
    "A TCP text server with two clients",
    "A TCP text server with a log-in and a timer",
)
KINDS = [pytest.param(kind, marks=[pytest.mark.slow] if kind in SLOW else []) for kind in SYSTEMS]


@pytest.mark.real
@pytest.mark.parametrize("kind", KINDS)
def test_a_newcomer_has_a_verdict(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the page end with PASS, and the last one again with FAIL when the system is wrong."""
    typed, (_, place) = sections()[kind], SYSTEMS[kind]
    monkeypatch.chdir(tmp_path)
    if not place:
        library(tmp_path)
    done = None
    with started(kind) as real:
        for name, text in typed.files.items():
            (tmp_path / name).write_text(at(place, real, text), encoding="utf-8")
        for command in typed.commands:
            if command.startswith("tcpdump "):
                record(tmp_path / "meter.pcap", int(real[1:]))
            if not command.startswith("otf "):
                continue  # the program that `go build` makes is played by another
            done = otf(*(at(place, real, word) for word in shlex.split(command)[1:]))
            # on a busy machine it may take long enough to tell its progress
            assert (done.status, re.sub("otf: paths: .*\n", "", done.err)) == (0, ""), done.out
    assert done is not None
    assert "PASS" in done.out
    with started(kind, broken=True) as wrong:
        file = tmp_path / typed.commands[-1].split()[-1]
        if not place:
            library(tmp_path, broken=True)
        given = typed.files.get(file.name)
        text = file.read_text(encoding="utf-8").replace(real, wrong) if given is None else at(place, wrong, given)
        file.write_text(text, encoding="utf-8")
        done = otf(*shlex.split(typed.commands[-1])[1:], "--stop-first", "--no-shrink")
    assert done.status == 1, done.out
