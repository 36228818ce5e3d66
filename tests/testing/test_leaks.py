"""What counts as left open: the rig's own descriptors and processes, and none of anything else in this process."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from otf.adapter.observed_rest.owners import adopting
from otf.testing import Echo, Rig, leaks
from otf.testing.adapter import a_cancelled_opening_leaves_nothing, nothing_is_left_open
from otf.testing.leaks import Baseline, children, leaks_of
from tests.testing.test_adapter import EchoLine

pytestmark = [pytest.mark.anyio, pytest.mark.real]
on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])
SLEEPER = ["/bin/sleep", "600"]
SLEEP = "sleep 600 >/dev/null 2>&1 & echo $!"


@pytest.fixture(autouse=True)
def adopted(monkeypatch: pytest.MonkeyPatch) -> Generator[None, None, None]:
    """Let this process adopt orphans, as a run of otf does; what is left here is left at once."""
    monkeypatch.setattr(leaks, "SETTLING", 0.01)
    with adopting():
        yield


class Shell:
    """A program that runs a script line by line; `others` are what it has started."""

    def __init__(self, *, new_session: bool = False) -> None:
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(["/bin/sh"], stdin=pipe, stdout=pipe, start_new_session=new_session, text=True)
        self.others: list[int] = []

    def start(self, script: str = SLEEP) -> int:
        """Run a script that prints the number of a process."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        print(script, file=self.child.stdin, flush=True)
        self.others.append(int(self.child.stdout.readline()))
        return self.others[-1]

    def end(self) -> None:
        """End; the kernel gives its children to this process before it can be waited for."""
        self.child.communicate("exit")


@contextmanager
def shell(*, new_session: bool = False) -> Generator[Shell, None, None]:
    """Start a shell, and kill it with all that it has started."""
    made = Shell(new_session=new_session)
    try:
        yield made
    finally:
        with suppress(ValueError):  # it has ended before
            made.end()
        for pid in made.others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


@contextmanager
def sleeper(*, new_session: bool) -> Generator[int, None, None]:
    """Start a process that sleeps; it is killed and waited for at the end."""
    with subprocess.Popen(SLEEPER, start_new_session=new_session) as child:
        try:
            yield child.pid
        finally:
            child.kill()


def names(before: Baseline) -> list[str]:
    """Return what is open."""
    return [leak.name for leak in before.leaks()]


@pytest.mark.parametrize("new_session", [False, True])
def test_a_process_that_was_started_and_still_runs_is_found(new_session: bool) -> None:
    """In a session of its own as well as in ours; also one that has ended and was not waited for."""
    before = Baseline()
    with sleeper(new_session=new_session) as pid:
        assert [name.split()[1] for name in names(before)] == [str(pid)]
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert [name.split()[1] for name in names(before)] == [str(pid)]
    assert names(before) == []


def test_a_process_that_another_test_left_behind_is_no_fault() -> None:
    """It may run on, and it may end in the middle, waited for or not."""
    with sleeper(new_session=False) as pid:
        before = Baseline()
        assert names(before) == []
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert names(before) == []
    assert names(before) == []


def test_an_orphan_that_is_adopted_in_the_middle_is_no_fault() -> None:
    """A program that was there before ends, and its children become ours."""
    with shell() as other:
        orphan = other.start()
        before = Baseline()
        other.end()
        assert orphan in children()
        assert names(before) == []


def test_an_orphan_of_another_session_is_no_fault() -> None:
    """It was started in the middle too, by a program that was there before."""
    with shell(new_session=True) as other:
        before = Baseline()
        orphan = other.start()
        other.end()
        assert orphan in children()
        assert names(before) == []


def test_a_zombie_that_a_killed_system_left_is_no_fault() -> None:
    """The adapter has killed its group, and has waited for its own child; only we adopt the rest."""
    before = Baseline()
    with shell(new_session=True) as system:
        zombie = system.start()
        os.killpg(system.child.pid, signal.SIGKILL)
        system.child.wait()
        os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
        assert zombie in children()
        assert not any(name.startswith("process") for name in names(before))


@on_asyncio
async def test_what_another_program_may_have_left_counts_if_it_is_left_each_time() -> None:
    """A program of our own group, there before, starts an orphan once: no fault; the rig's own process each time is."""
    with shell() as other:
        rounds = list[int]()

        async def use() -> None:
            rounds.append(1)
            if len(rounds) == 1:
                other.start(f"echo $(sh -c '{SLEEP}')")

        assert await leaks_of(use) == []
        assert len(rounds) == 2
        started = list[subprocess.Popen[bytes]]()

        async def leave() -> None:
            started.append(subprocess.Popen(SLEEPER))  # noqa: ASYNC220 -- what is to be found

        found = await leaks_of(leave)
        for child in started:
            child.kill()
            child.wait()
        assert [name.split()[1] for name in found] == [str(started[-1].pid)]
        assert len(started) == 3


def test_a_file_that_is_closed_in_the_middle_is_no_fault() -> None:
    """Whatever closes it; one that is opened in the middle counts."""
    with Path(os.devnull).open():
        before = Baseline()
    assert names(before) == []
    opened = os.pipe()
    assert [leak.name.split()[0] for leak in before.lasting_leaks()] == sorted(map(str, opened))
    for descriptor in opened:
        os.close(descriptor)
    assert names(before) == []


@asynccontextmanager
async def leaving_a_process() -> AsyncGenerator[Echo, None]:
    """Start a process, and forget it."""
    LEFT.append(subprocess.Popen(SLEEPER, start_new_session=True))  # noqa: ASYNC220 -- what is to be found
    yield Echo(EchoLine(), "stopped")


LEFT = list[subprocess.Popen[bytes]]()


@pytest.mark.parametrize("check", [nothing_is_left_open, a_cancelled_opening_leaves_nothing])
@on_asyncio
async def test_the_checks_of_the_kit_blame_a_rig_for_its_own_alone(
    check: Callable[[Rig], Awaitable[None]],
) -> None:
    """One that starts a process fails; one during which another program ends, and its orphan is adopted, passes."""
    with pytest.raises(AssertionError, match=r"process \d+ \(sleep\)"):
        await check(leaving_a_process)
    for child in LEFT:
        child.kill()
        child.wait()
    LEFT.clear()
    with shell() as other:
        other.start()
        opened = list[int]()

        @asynccontextmanager
        async def beside_an_orphan() -> AsyncGenerator[Echo, None]:
            opened.append(1)
            if len(opened) == 2:  # the first path is before the first look
                other.end()
            await checkpoint()
            yield Echo(EchoLine(), "stopped")

        await check(beside_an_orphan)
        assert len(opened) >= 2
