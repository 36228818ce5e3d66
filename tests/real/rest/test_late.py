"""Servers that answer late on purpose: a rest is never found before their answer, whatever wakes them."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from otf import run
from otf.adapter import Bench
from otf.adapters.process import process
from otf.codec import lines
from otf.core.pacing import PATIENCE
from otf.spec import Spec, goto
from tests.real.rest.controls import QUIESCENCE, Found, built, control, in_python

ANSWERS = 12
MS = QUIESCENCE * 1000
LATE = (0.075 * MS, 0.45 * MS, 0.75 * MS)

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a compiler: apt-get install gcc"),
]


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The server in C."""
    return built(tmp_path_factory.mktemp("late"))


def faultless(found: Found, answers: int = ANSWERS) -> bool:
    """Whether every rest was right."""
    return found == Found(answers, 0, 0, "", found.seconds)


SLEEPS = ("nanosleep", "ppoll", "select", "pselect", "rcvtimeo", "worker", "thread", "chain", "child", "forks")


TIMERS = ("timerfd", "timerpoll", "timerselect", "timerread")


@pytest.mark.parametrize("delay", LATE)
@pytest.mark.parametrize("how", [*SLEEPS, "helper", *TIMERS])
def test_an_answer_that_a_timer_brings_within_the_quiescence_time_comes_before_the_rest(
    late: str, how: str, delay: float
) -> None:
    """Whatever thread, child or orphan sleeps until then, and in whatever call."""
    assert faultless(control([late, how, str(delay)], ANSWERS))


@pytest.mark.parametrize("how", ["poll", "epoll"])
def test_a_time_out_in_milliseconds_is_waited_for(late: str, how: str) -> None:
    """These calls have theirs in a register."""
    assert faultless(control([late, how, "9"], ANSWERS))


@pytest.mark.parametrize("how", ["plain", "fsync"])
def test_a_server_that_does_not_sleep_before_it_answers_is_heard(late: str, how: str) -> None:
    """It runs, or waits for a disk, until the answer is out."""
    assert faultless(control([late, how], ANSWERS))


def test_computing_is_no_rest(late: str) -> None:
    """Longer than the quiescence time: timed silence would not have waited for it."""
    assert faultless(control([late, "compute", "40"], ANSWERS))


def test_all_of_a_long_answer_is_seen(late: str) -> None:
    """300 datagrams to one input."""
    assert faultless(control([late, "many"], ANSWERS, 300))


def test_a_tick_that_was_there_before_the_input_is_waited_for(late: str) -> None:
    """A loop that answers in its tick, of half the quiescence time, never changes its time-out."""
    assert faultless(control([late, "tick", str(MS / 2)], ANSWERS))


@pytest.mark.parametrize("how", ["asyncio", "pool", "timer", "process"])
def test_a_server_in_python_is_seen_like_any_other(how: str) -> None:
    """Timers of its event loop, threads of a pool, timer threads, child processes."""
    assert faultless(control(in_python(how, 0.45 * MS), ANSWERS))


def test_a_handler_of_sigalrm_is_a_reason_not_to_observe(late: str) -> None:
    """The kernel does not show when that signal is due."""
    assert "SIGALRM" in control([late, "itimer", "9"], ANSWERS).unseen


def test_beyond_the_quiescence_time_nothing_is_waited_for(late: str) -> None:
    """An answer after 500 of 200 ms is late for timed silence too; the rest is known at once."""
    found = control([late, "nanosleep", "500"], 3, wanted=0.2, pause=0.6)
    assert (found.missed, found.late) == (3, 3)
    assert min(found.seconds) < QUIESCENCE


@pytest.mark.parametrize("times", [0.5, 1.5, 5, 9])
def test_as_long_as_a_failure_is_waited_for_an_answer_comes_before_the_rest(late: str, times: float) -> None:
    """Silence that would fail a run is wanted for ten times as long; a program in C, and two in Python."""
    commands = [[late, "nanosleep", str(times * MS)], *(in_python(how, times * MS) for how in ("asyncio", "timer"))]
    for command in commands:
        assert faultless(control(command, 2, wanted=PATIENCE * QUIESCENCE), 2)


def test_an_answer_after_eleven_quiescence_times_is_given_up(late: str) -> None:
    """Each comes after the rest; on a busy machine one may still be waited for, since it is close to the bound."""
    found = control([late, "nanosleep", str(11 * MS)], 3, wanted=PATIENCE * QUIESCENCE, pause=0.3)
    assert found.missed == found.late
    assert found.missed > 0


@dataclass(frozen=True)
class Ask:
    """A question."""


@dataclass(frozen=True)
class Told:
    """Its answer."""


BUSY_FIRST = """
import sys, time
print("ready", flush=True)
for _ in sys.stdin:
    end = time.process_time() + 0.1
    while time.process_time() < end: pass
    time.sleep(0.02)
    print("told", flush=True)
"""


def test_patience_counts_from_the_first_rest(tmp_path: Path) -> None:
    """A server that runs for longer than a failure is waited for, and then waits for a timer, is not blamed."""
    (tmp_path / "server.py").write_text(BUSY_FIRST)
    tested = Bench.on_ports(
        spec=Spec(lambda state, _: [goto(state, Told())], 0, [Ask()]),
        codec=lines({Ask: "ask", Told: "told"}),
        ports={"line": process([sys.executable, "-I", str(tmp_path / "server.py")])},
        quiescence=0.005,
        latency=0.001,
        busy=0.001,
    )
    summary = run(tested, out=tmp_path / "out", traces=1, steps=1, mode="strict")
    assert (summary.verdict, summary.silence) == ("pass", {"observed": 1})
