"""Each rule of the observer is needed: without it, wrong rests do appear."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

import pytest

from otf.adapter.rest import process
from otf.adapter.rest.calls import NEVER
from otf.adapter.rest.kernel import Thread
from otf.adapter.rest.sleepers import ASLEEP, ThreadReading, Tid, Wake
from otf.adapter.rest.started import ended, started
from otf.adapter.rest.stillness import Stillness
from otf.adapter.rest.system import SystemProcesses
from otf.adapter.rest.unsent import Unsent
from tests.real.rest.controls import QUIESCENCE, built, control

ANSWERS = 30
MS = QUIESCENCE * 1000

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a compiler: apt-get install gcc"),
]


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The server in C."""
    return built(tmp_path_factory.mktemp("late"))


class Untimed(Stillness):
    """Believes that no timer wakes a thread."""

    def rest(self, began: float, ended: float, due: float, *, still: bool) -> bool:
        """Any rest will do."""
        super().rest(began, ended, due, still=still)
        return True


class ByTheWall(Stillness):
    """Counts all time that passes, whether threads sleep or not."""

    def broken(self, at: float) -> None:
        """It counts as well."""
        self._count(at, still=True)
        self._since = at

    def rest(self, began: float, ended: float, due: float, *, still: bool) -> bool:
        """It ends where the quiescence time has passed, whatever is due."""
        del still
        return super().rest(began, ended, due, still=True) or self.left <= 0


class Familiar(SystemProcesses):
    """Believes that a time-out which was there before the input brings no answer."""

    def _wakes(self) -> dict[Tid, Wake] | None:
        wakes = super()._wakes()
        return None if wakes is None else {tid: Wake() if wake.at < NEVER else wake for tid, wake in wakes.items()}


class Childless(SystemProcesses):
    """Does not look for orphans."""

    def _listed(self, *, whole: bool) -> bool:
        if self._orphans is not None:
            self._orphans.close()
            self._orphans = None
        return super()._listed(whole=whole)


class Late(SystemProcesses):
    """Reads time-outs behind pointers after the second reading, when the stack may have something else."""

    def _wakes(self) -> dict[Tid, Wake] | None:
        wakes = super()._wakes()
        return None if wakes is None else dict.fromkeys(wakes, Wake(3600.0))


def test_without_timers_answers_are_missed(late: str) -> None:
    """A thread that sleeps for 9 ms looks like one that sleeps for ever."""
    assert control([late, "nanosleep", "9"], ANSWERS, stillness=Untimed).missed > ANSWERS // 2


def test_a_believed_tick_misses_what_it_brings(late: str) -> None:
    """The loop answers in its tick; by its time-out nothing has changed."""
    assert control([late, "tick", str(MS / 2)], ANSWERS, system=Familiar).missed > ANSWERS // 2


def test_without_orphans_two_forks_are_missed(late: str) -> None:
    """The grandchild has no parent in the system any more."""
    assert control([late, "forks", "9"], ANSWERS, system=Childless).missed > ANSWERS // 2


def test_by_the_wall_a_system_that_computes_is_missed(late: str) -> None:
    """It has computed for twice the quiescence time when it goes to sleep for a moment."""
    assert control([late, "busy", "9"], ANSWERS, stillness=ByTheWall).missed > 0


class _Sleepless(Thread):
    """Takes the call for a proof of sleep."""

    def reading(self) -> ThreadReading:
        found = super().reading()
        blocked = os.pread(self._syscall, 64, 0) != b"running\n"
        return ThreadReading(found.counters, ASLEEP if blocked else found.letter)


def test_the_name_of_a_call_is_no_sleep(late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that was woken and waits for a processor still shows its old call."""
    monkeypatch.setattr(process, "Thread", _Sleepless)
    monkeypatch.setattr("tests.real.rest.controls.CONTROL", 0.002)
    found = control([late, "plain"], 2000)
    if not found.missed:
        pytest.skip(f"the kernel never showed the old call of a woken thread in {found.answers} answers")


def test_a_time_out_that_was_misread_misses_the_answer(late: str) -> None:
    """What the pointer leads to once the thread has woken may be any number."""
    assert control([late, "nanosleep", "9"], ANSWERS, system=Late).missed > ANSWERS // 2


NAGLE = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
sys.stdout.write(f"{server.getsockname()[1]}\\n")
sys.stdout.flush()
peer, _ = server.accept()
while data := peer.recv(100):
    peer.send(b"one ")
    peer.send(b"two")
"""


@contextmanager
def in_two_writes() -> Generator[tuple[int, socket.socket]]:
    """Start the server; return its number, and a connection to it."""
    server = subprocess.Popen([sys.executable, "-I", "-S", "-c", NAGLE], stdout=subprocess.PIPE, start_new_session=True)
    started(server.pid)
    assert server.stdout is not None
    with server, socket.create_connection(("127.0.0.1", int(server.stdout.readline()))) as sock:
        sock.settimeout(0)
        yield server.pid, sock
        server.kill()
    ended(server.pid)


def torn(pid: int, sock: socket.socket, *, asks: bool) -> int:
    """Ask many times; return how often half of the answer was missing at the rest."""
    half, unsent, system = 0, Unsent(sock), SystemProcesses([pid])
    came = bytearray()

    def quiet() -> bool:
        held = asks and unsent.bytes()
        if asks:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        with suppress(BlockingIOError):
            came.extend(sock.recv(100))
            return False
        return not held

    for _ in range(200):
        came.clear()
        sock.send(b"x")
        while system.look(quiet) is None:
            time.sleep(0)
        if bytes(came) != b"one two":
            half += 1
            time.sleep(0.06)
            quiet()
    system.close()
    unsent.close()
    return half


def test_what_the_kernel_of_the_system_holds_back_is_asked_for() -> None:
    """Nagle's algorithm keeps the second write of an answer until the first is acknowledged."""
    with in_two_writes() as (pid, sock):
        assert torn(pid, sock, asks=True) == 0
    with in_two_writes() as (pid, sock):
        wrong = torn(pid, sock, asks=False)
    if not wrong and os.getloadavg()[0] > 1:
        pytest.skip("beside other processes the kernel acknowledges before the second write")
    assert wrong > 0
