"""Which programs can arm an interval timer, by what their files say."""

from __future__ import annotations

import ctypes
import os
import select
import struct
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from otf.adapter.observed_rest.calls import Timeout, _names_a_call, arming  # pyright: ignore[reportPrivateUsage] -- by files made here
from otf.adapter.observed_rest.process import _KEPT, Process  # pyright: ignore[reportPrivateUsage] -- how many
from tests.adapter.observed_rest.test_kernel import SLEEPER, python, stop


@pytest.mark.parametrize(
    ("content", "linked", "arms"),
    [
        (b"\0read\0write\0", True, False),
        (b"\0read\0alarm\0", True, True),
        (b"\0read\0ualarm\0", True, True),  # a linker keeps `alarm` as its end
        (b"\0setitimer\0", True, True),
        (b"\0alarms\0", True, False),
        (b"\0read\0write\0", False, True),  # a program without libraries names nothing
        (b"\xff Go buildinf:\0runtime.setitimer\0", False, False),
        (b"\xff Go buildinf:\0runtime.setitimer\0unix.Setitimer\0", False, True),
    ],
)
def test_a_program_arms_a_timer_by_a_function_that_its_file_names(
    content: bytes, linked: bool, arms: bool, tmp_path: Path
) -> None:
    """Linked at run time, in one piece, and made by Go, whose runtime has a function of its own by that name."""
    file = tmp_path / "program"
    file.write_bytes(content)
    assert _names_a_call(str(file), (0,), linked=linked) == arms


def test_a_file_that_cannot_be_read_may_arm_a_timer(tmp_path: Path) -> None:
    """One that was deleted meanwhile, an empty one, and a process that is not there."""
    assert _names_a_call(str(tmp_path / "gone"), (0,), linked=True)
    (tmp_path / "empty").write_bytes(b"")
    assert _names_a_call(str(tmp_path / "empty"), (0,), linked=True)
    assert arming(1 << 30) == "which cannot be read"


@pytest.mark.real
def test_a_handler_alone_is_no_timer() -> None:
    """A program that handles SIGALRM, and whose files do not name what arms its timer, rests."""
    child = subprocess.Popen(["/bin/cat"], stdin=-1, stdout=-1, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b"once\n")
    assert child.stdout.read(5) == b"once\n"
    try:
        assert arming(child.pid) == ""
    finally:
        child.kill()
        child.communicate()


@pytest.mark.real
def test_an_interpreter_may_arm_a_timer() -> None:
    """Python names `setitimer`, whatever its programs do."""
    child = python(SLEEPER)
    try:
        assert Path(arming(child.pid)).name.startswith(("python", "libpython"))
    finally:
        stop(child)


@pytest.mark.real
def test_a_timer_of_computing_time_wakes_nobody() -> None:
    """Go profiles with one for each thread; one of the clock on the wall is not known to be due or not."""
    arm = "import ctypes; ctypes.CDLL(None).timer_create({clock}, None, ctypes.byref(ctypes.c_void_p())); "
    found = list[str]()
    for clock in (2, 1):  # CLOCK_PROCESS_CPUTIME_ID, CLOCK_MONOTONIC
        child = python(arm.format(clock=clock) + SLEEPER)
        process = Process(child.pid)
        try:
            process.read({})
            found.append(process.why_untimed())
        finally:
            process.close()
            stop(child)
    assert found == ["", "it has a POSIX timer, and the kernel does not show when that is due"]


def timer(seconds: int) -> int:
    """Return a descriptor of a timer that expires after so many seconds."""
    libc = ctypes.CDLL(None)
    descriptor = int(libc.timerfd_create(1, 0))
    assert libc.timerfd_settime(descriptor, 0, struct.pack("4l", 0, 0, seconds, 0), None) == 0
    return descriptor


@pytest.mark.real
def test_a_timer_under_a_number_that_was_another_timer_is_read_anew() -> None:
    """The files about descriptors stay open, and show what has the number now, or that nothing has."""
    process, left = Process(os.getpid()), list[dict[int, float]]()
    with closing(process), select.epoll() as epoll:
        for seconds in (100, 300):
            descriptor = timer(seconds)
            epoll.register(descriptor)
            left.append(process.alarms(Timeout(role="epoll", descriptor=epoll.fileno())))
            assert list(left[-1]) == [descriptor]
            os.close(descriptor)
            assert process.alarms(Timeout(role="epoll", descriptor=epoll.fileno())) == {}
    assert [round(each, -1) for found in left for each in found.values()] == [100, 300]


def opened() -> int:
    """Return how many files are open."""
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.real
def test_a_system_with_many_timers_takes_few_files_of_the_tester() -> None:
    """What is known of each is read all the same."""
    timers = [timer(100) for _ in range(_KEPT + 10)]
    before = opened()
    try:
        with closing(Process(os.getpid())) as process, select.epoll() as epoll:
            where = Timeout(role="epoll", descriptor=epoll.fileno())
            process.alarms(where)
            without = opened()  # some for each thread of this process
            for each in timers:
                epoll.register(each)
            assert [process.alarms(where).keys() == {*timers} for _ in range(2)] == [True, True]
            assert opened() <= without + _KEPT
        assert opened() == before
    finally:
        for each in timers:
            os.close(each)
