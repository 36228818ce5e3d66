"""Each rule of the observer is needed: without it, wrong rests do appear."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import sys
import time
import tty
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from otf.adapter.observed_rest import process
from otf.adapter.observed_rest.calls import NEVER
from otf.adapter.observed_rest.owners import ended, started
from otf.adapter.observed_rest.place import UnderWay
from otf.adapter.observed_rest.system import SystemProcesses
from otf.adapter.observed_rest.threads import ASLEEP, Thread, ThreadReading, Tid, Wake
from otf.runner.observing import Stillness
from tests.real.rest.controls import QUIESCENCE, Watch, built, control, serving

ANSWERS = 3
SILENCE = 0.3  # seconds of silence that are wanted where no delay of the tester must hide a wrong rest …
DELAY = "200"  # … and milliseconds until the answer
LONGEST = 45.0  # seconds in which the processor of a server has to be idle …
IDLE = 15.0  # … for so many: on one that was idle for 0.07 s of 1 s, 11 of 1,000 answers were missed

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

    def _read_lists(self, *, whole: bool) -> bool:
        if self._orphans is not None:
            self._orphans.close()
            self._orphans = None
        return super()._read_lists(whole=whole)


class Late(SystemProcesses):
    """Reads time-outs behind pointers after the second reading, when the stack may have something else."""

    def _wakes(self) -> dict[Tid, Wake] | None:
        wakes = super()._wakes()
        return None if wakes is None else dict.fromkeys(wakes, Wake(3600.0))


def all_missed(
    command: list[str],
    *,
    wanted: float = SILENCE,
    system: type[SystemProcesses] = SystemProcesses,
    stillness: type[Stillness] = Stillness,
) -> bool:
    """Whether each answer came after the rest."""
    found = control(command, ANSWERS, wanted=wanted, pause=2 * SILENCE, system=system, stillness=stillness)
    return (found.answers, found.missed) == (ANSWERS, ANSWERS)


def test_without_timers_answers_are_missed(late: str) -> None:
    """A thread that sleeps for a while looks like one that sleeps for ever."""
    assert all_missed([late, "nanosleep", DELAY], stillness=Untimed)


def test_a_believed_tick_misses_what_it_brings(late: str) -> None:
    """The loop answers in its tick; by its time-out nothing has changed."""
    assert all_missed([late, "tick", DELAY], system=Familiar)


def test_without_orphans_two_forks_are_missed(late: str) -> None:
    """The grandchild has no parent in the system any more."""
    assert all_missed([late, "forks", DELAY], system=Childless)


def test_by_the_wall_a_system_that_computes_is_missed(late: str) -> None:
    """It has computed for twice the quiescence time when it goes to sleep for a moment."""
    assert all_missed([late, "busy", "100"], wanted=0.15, stillness=ByTheWall)


class _Sleepless(Thread):
    """Takes the call for a proof of sleep."""

    def reading(self) -> ThreadReading:
        found = super().reading()
        blocked = os.pread(self._syscall, 64, 0) != b"running\n"
        return ThreadReading(found.counters, ASLEEP if blocked else found.letter)


def _idle(core: int) -> float:
    """Return for how many seconds a processor has had nothing to do so far."""
    line = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith(f"cpu{core} "))
    return sum(map(int, line.split()[4:6])) / os.sysconf("SC_CLK_TCK")


def misses_one(late: str, tester: int, server: int, seconds: float) -> tuple[bool, int]:
    """Ask a server on another processor for so long, or until an answer is missed; with the number of answers."""
    os.sched_setaffinity(0, {tester})
    end, asked = time.monotonic() + seconds, 0
    with serving(["taskset", "-c", str(server), late, "plain"]) as (pid, sock):
        watch = Watch(pid, sock)
        try:
            while time.monotonic() < end:
                watch.ask(asked, QUIESCENCE)
                asked += 1
                if not watch.came:
                    return True, asked
                time.sleep(0.0005)  # its processor goes to sleep as well
                watch.quiet()
        finally:
            watch.system.close()
    return False, asked


@pytest.mark.slow
def test_the_name_of_a_call_is_no_sleep(late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that was woken still shows its old call, until its idle processor has noticed."""
    monkeypatch.setattr(process, "Thread", _Sleepless)
    usable = os.sched_getaffinity(0)
    cores = sorted(usable)[:2]
    if len(cores) < 2 or shutil.which("taskset") is None:
        pytest.skip("it takes a second processor, and taskset")
    idle, asked, missed, end = 0.0, 0, False, time.monotonic() + LONGEST
    try:
        while not missed and idle < IDLE and time.monotonic() < end:
            cores.reverse()
            before = _idle(cores[1])
            missed, answers = misses_one(late, cores[0], cores[1], 0.3)
            asked, idle = asked + answers, idle + _idle(cores[1]) - before
    finally:
        os.sched_setaffinity(0, usable)
    if not missed and idle < IDLE:
        pytest.skip(
            f"in {LONGEST:g} s and {asked} answers no processor of a server was idle for more than {idle:.2f} s"
        )
    assert missed, f"{asked} answers on processors that were idle for {idle:.2f} s"


def test_a_time_out_that_was_misread_misses_the_answer(late: str) -> None:
    """What the pointer leads to once the thread has woken may be any number."""
    assert all_missed([late, "nanosleep", DELAY], system=Late)


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
    half, under_way, system = 0, UnderWay(sock), SystemProcesses([pid])
    came = bytearray()

    def quiet() -> bool:
        held = asks and under_way.bytes()
        # without it a connection begins with quick acknowledgements all the same
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, int(asks))
        with suppress(BlockingIOError):
            came.extend(sock.recv(100))
            return False
        return not held

    for _ in range(30):
        came.clear()
        sock.send(b"x")
        while system.look(quiet) is None:
            time.sleep(0)
        if bytes(came) != b"one two":
            half += 1
            time.sleep(0.06)
            quiet()
    system.close()
    under_way.close()
    return half


def test_what_the_kernel_of_the_system_holds_back_is_asked_for() -> None:
    """Nagle's algorithm keeps the second write of an answer until the first is acknowledged."""
    with in_two_writes() as (pid, sock):
        assert torn(pid, sock, asks=True) == 0
    with in_two_writes() as (pid, sock):
        assert torn(pid, sock, asks=False) > 0


MANY = 20_000


@contextmanager
def echoing() -> Generator[tuple[int, int, int]]:
    """Start an echo at a terminal; return its pid, our end of the terminal, and the echo's."""
    near, far = os.openpty()
    tty.setraw(far)
    os.set_blocking(near, False)
    try:
        with subprocess.Popen([shutil.which("cat") or "cat"], stdin=far, stdout=far, start_new_session=True) as echo:
            started(echo.pid)
            yield echo.pid, near, far
            echo.kill()
        ended(echo.pid)
    finally:
        os.close(near)
        os.close(far)


def torn_echo(answers: int, *, settles: bool) -> int:
    """Ask an echo up to the first rest before an answer; return the number of that one, 0 if there was none."""
    came = bytearray()
    with echoing() as (pid, near, far):
        look, system = select.poll(), SystemProcesses([pid])
        look.register(far, select.POLLIN)

        def quiet() -> bool:
            with suppress(BlockingIOError):
                came.extend(os.read(near, 100))
                return False
            return True

        with closing(system):
            for number in range(1, answers + 1):
                came.clear()
                while system.look(quiet) is None:
                    time.sleep(0)
                os.write(near, b"x")
                if settles:
                    look.poll(0)
                while system.look(quiet) is None:
                    pass
                if not came:
                    return number
    return 0


def test_what_a_terminal_still_carries_is_no_rest() -> None:
    """A worker of the kernel carries the bytes to the other end; a look at that end does it at once."""
    assert torn_echo(2_000, settles=True) == 0
    assert torn_echo(MANY, settles=False) > 0
