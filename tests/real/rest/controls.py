"""Answers of servers that are late on purpose, under the eyes of the observer: what it misses, and what comes later."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from otf.adapter.observed_rest.owners import adopting, ended, started
from otf.adapter.observed_rest.place import Unseen
from otf.adapter.observed_rest.system import SystemProcesses
from otf.runner.observing import Stillness

HERE = Path(__file__).parent
QUIESCENCE = 0.020
CONTROL = 0.030  # seconds in which nothing may come after a rest
ENOUGH = 20.0  # seconds for one rest, on any machine


@dataclass
class Found:
    """What a control found: answers that had not come at a rest, and what came in the time after one (`late`)."""

    answers: int = 0
    missed: int = 0
    late: int = 0
    unseen: str = ""
    seconds: list[float] = field(default_factory=list[float])


def built(folder: Path) -> str:
    """Compile the server in C. Raises CalledProcessError."""
    program = folder / "late"
    subprocess.run([shutil.which("cc") or "cc", "-O1", "-o", program, HERE / "late.c", "-lpthread"], check=True)
    return str(program)


def in_python(how: str, delay: float) -> list[str]:
    """The command of the server in Python; the delay is in milliseconds."""
    return [sys.executable, "-I", str(HERE / "late.py"), how, str(delay)]


@contextmanager
def serving(command: Sequence[str]) -> Generator[tuple[int, socket.socket]]:
    """Start a server; return its pid, and a socket that talks to it."""
    with adopting():
        server = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        started(server.pid)
        try:
            assert server.stdout is not None
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, server.stdout:
                sock.connect(("127.0.0.1", int(server.stdout.readline())))
                sock.settimeout(0)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
                yield server.pid, sock
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            ended(server.pid)


class Watch:
    """One server under observation."""

    def __init__(self, pid: int, sock: socket.socket, system: type[SystemProcesses] = SystemProcesses) -> None:
        self.system = system([pid])
        self.came: list[bytes] = []
        self._sock = sock

    def quiet(self) -> bool:
        """Take in what is there; return whether that was nothing."""
        before = len(self.came)
        try:
            while True:
                self.came.append(self._sock.recv(4096))
        except BlockingIOError:
            return len(self.came) == before

    def ask(self, number: int, wanted: float, stillness: type[Stillness] = Stillness) -> None:
        """Send an input and wait for the rest after it. Raises Unseen, and TimeoutError where there is none."""
        self.came.clear()
        end = time.monotonic() + ENOUGH
        self.system.look(self.quiet)  # a sleep that begins now began after this
        self._sock.send(b"%d" % number)
        waiting, seen, idle = stillness(wanted, wanted), 0, 0
        while time.monotonic() < end:
            rest = self.system.look(self.quiet)
            if len(self.came) != seen:
                waiting, seen, idle = stillness(wanted, wanted), len(self.came), 0
            if rest is None:
                waiting.broken(time.monotonic())
            elif waiting.rest(rest.began, rest.ended, rest.due, still=rest.still):
                return
            idle += 1
            time.sleep(0 if idle < 20 else min(0.00005 * (idle - 19), 0.001))
        raise TimeoutError


def control(
    command: Sequence[str],
    answers: int,
    each: int = 1,
    *,
    wanted: float = QUIESCENCE,
    pause: float = CONTROL,
    system: type[SystemProcesses] = SystemProcesses,
    stillness: type[Stillness] = Stillness,
) -> Found:
    """Ask a server many times, with a time of control after each rest; `each` says how many datagrams an answer has.

    `wanted`: the silence in seconds that is wanted; `pause`: the time of control.
    """
    found = Found()
    with serving(command) as (pid, sock):
        watch: Watch | None = None
        try:
            watch = Watch(pid, sock, system)
            for number in range(answers):
                began = time.monotonic()
                watch.ask(number, wanted, stillness)
                found.seconds.append(time.monotonic() - began)
                found.answers += 1
                came = len(watch.came)
                found.missed += came != each
                time.sleep(pause)
                watch.quiet()
                found.late += len(watch.came) != came
        except Unseen as unseen:
            found.unseen = str(unseen)
        finally:
            if watch is not None:
                watch.system.close()
    return found
