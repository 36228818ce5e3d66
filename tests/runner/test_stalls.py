"""A machine that keeps the tester or the system from running is no evidence against the system."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import get_native_id

import anyio
import pytest

from otf.adapter import Bench
from otf.adapter.canbus import read_bus
from otf.adapter.observed_rest.elsewhere import KERNEL
from otf.core.stalls import CpuUse, ThreadUse
from otf.runner import driving, lookout
from otf.runner.cpu_use import cpu_use, in_real_time
from otf.runner.driving import unless_fed
from otf.spec import Elapse, Spec, Transition, goto
from otf.trace.events import Stalled
from otf.trace.verdict import Verdict
from tests.always import always
from tests.runner.playing import Played, answering, on_function, play, spec, virtually

STALL = 0.4


def _busy(_started: object, **_how: bool) -> CpuUse:
    """Return what the kernel shows of a system that could not run at the beginning, for `STALL` seconds."""
    return CpuUse(waited=min(STALL, anyio.current_time()), known=True)


@pytest.fixture
def stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine stall, in virtual time."""
    monkeypatch.setattr(lookout, "in_real_time", lambda: True)
    monkeypatch.setattr(lookout, "cpu_use", _busy)


def _perhaps(state: int, inp: str) -> Iterator[Transition[int]]:
    """Answer `p.ping` or not, and everything else."""
    if inp == "p.ping":
        yield goto(state)
    yield goto(state, "p.pong" if inp == "p.ping" else "p.sure")


def _late(after: float, **more: object) -> Bench:
    answers = {b"ping": (after, b"pong"), b"sure?": (0.0, b"sure")}
    given = {"spec": spec(_perhaps), "quiescence": 0.2, "latency": 0.01, "busy": 0.0, **more}
    return on_function(lambda: lambda frame: [answers[frame]], **given)


def test_an_answer_that_comes_after_the_quiescence_time() -> None:
    """On a machine that does not stall it belongs to the next step, where nothing allows it."""
    played = play(_late(0.3), "p.ping", "p.sure?")
    assert played.failure.kind == "wrong"
    assert played.verdict.stalled == 0.0


@pytest.mark.usefixtures("stalled")
def test_an_answer_that_is_late_by_a_stall() -> None:
    """Silence does not count while the system cannot run: the answer is seen in its own step."""
    played = play(_late(0.3), "p.ping", "p.sure?")
    assert not played.verdict.failed
    assert played.script[:4] == ["0 > p.ping", "0.3 < p.pong", "0.7 quiet", "0.7 > p.sure?"]


@pytest.mark.usefixtures("stalled")
def test_an_answer_that_is_late_by_more_than_a_stall() -> None:
    """A stall excuses no more than its length."""
    played = play(_late(0.7), "p.ping", "p.sure?")
    assert played.failure.kind == "wrong"
    assert played.verdict.stalled == pytest.approx(0.2)


def _waits(state: int, _inp: object) -> Iterator[Transition[int]]:
    yield goto(state)


@pytest.mark.usefixtures("stalled")
def test_a_wait_is_longer_only_by_what_was_lost_at_its_end() -> None:
    """What the machine lost long before holds no output back: by at most the quiescence time, and not by the stall."""
    made = _late(0.3, spec=Spec(_waits, 0, [Elapse(2.0)]))
    assert play(made, Elapse(2.0)).script == ["0 > Elapse(seconds=2.0)", "2.2 quiet"]


def _within_a_second(state: int, _inp: str) -> Iterator[Transition[int]]:
    yield goto(state, "p.pong", within=(0.0, 1.0))


def _timed(after: float) -> Played:
    return play(_late(after, spec=spec(_within_a_second)), "p.ping")


@pytest.mark.usefixtures("stalled")
def test_a_window_that_was_missed_by_a_stall() -> None:
    """An output that is too late by no more than a stall ends no path; the trace has the stall."""
    played = _timed(1.3)
    assert played.verdict.outcome == "pass"
    assert sum(each.seconds for each in played.events if isinstance(each, Stalled)) == pytest.approx(STALL)


@pytest.mark.usefixtures("stalled")
def test_a_window_that_was_missed_by_more_than_a_stall() -> None:
    """An output that is later than twice the stall fails, and so does one that never comes.

    The stall came while the input was on its way and its answer was due: it opens both times, by its length each.
    """
    assert _timed(1.9).failure.kind == "late"
    assert _timed(100.0).failure.kind == "missing"


@pytest.mark.usefixtures("stalled")
def test_an_output_that_never_comes_is_missing_whatever_the_machine_did() -> None:
    """The tester waits so long that the output is overdue also if the stall delayed it."""
    bench = _late(100.0, spec=spec(_within_a_second), quiescence=0.01)
    played = play(bench, "p.ping")
    assert played.failure.kind == "missing"
    assert played.events[-1].at < 1.0 + 0.1 + 4 * STALL + 0.1


def test_what_the_kernel_shows_of_processes() -> None:
    """A process that computes runs, and is ready to: it is one of the tester's."""
    before = cpu_use()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        use = cpu_use()
        # while it starts it may wait for its files
        while use.ran - before.ran < 0.01 or not use.ready:
            use = cpu_use()
        busy.kill()
    assert use.known


def _proc(folder: Path, *, pid: int, children: str = "", stat: str = "1 (a) S 0", schedstat: str = "0 0 0") -> None:
    task = folder / str(pid) / "task" / str(pid)
    task.mkdir(parents=True)
    for name, text in (("children", children), ("stat", stat), ("schedstat", schedstat)):
        (task / name).write_text(text)


def test_the_descendants_of_the_tester(tmp_path: Path) -> None:
    """Their times are summed up; one that has ended, or whose line is strange, is left out."""
    _proc(tmp_path, pid=os.getpid(), children="7 8", schedstat="9 9 9")
    _proc(tmp_path, pid=7, children="70 71", schedstat="1000000000 500000000 3", stat="7 (a) b) R 1")
    _proc(tmp_path, pid=70, schedstat="2000000000 250000000 3")
    _proc(tmp_path, pid=71, schedstat="?")
    use = cpu_use(proc=tmp_path)
    assert use[:5] == CpuUse(0.75, 3.0, ready=True, known=True)[:5]
    assert use.threads == {ThreadUse("70", 2.0, 0.25, 3), ThreadUse("7", 1.0, 0.5, 3)}
    assert [*use.stuck] == [ThreadUse("7", 1.0, 0.5, 3)]


def test_a_system_that_was_started_by_hand(tmp_path: Path) -> None:
    """Its own processes count where they are known, as long as one lives; else the pressure of the machine does."""
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some avg10=1.00 total=9000000\n")
    _proc(tmp_path, pid=7, children="70", schedstat="1000000000 500000000 3")
    _proc(tmp_path, pid=70, schedstat="2000000000 250000000 3")
    assert cpu_use({7}, proc=tmp_path)[:4] == (0.75, 3.0, False, True)
    assert cpu_use({7, 70}, proc=tmp_path).waited == 0.75
    assert cpu_use({8}, proc=tmp_path) == CpuUse(9.0)


def test_a_device_that_is_not_on_this_machine(tmp_path: Path) -> None:
    """The machine's pressure is no excuse for it; what carries its bytes is, and processes that have a part in it."""
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some avg10=1.00 total=9000000\n")
    _proc(tmp_path, pid=2, children="20 21 22")
    for number, name in ((20, "kworker/u8:1-events"), (21, "kworker/R-netns"), (22, "khungtaskd")):
        (tmp_path / str(number)).mkdir()
        for file, text in (("comm", f"{name}\n"), ("stat", "1 (a) S 0"), ("schedstat", "0 250000000 1")):
            (tmp_path / str(number) / file).write_text(text)
    assert cpu_use({KERNEL}, proc=tmp_path)[:4] == (0.25, 0.0, False, True)
    assert cpu_use({KERNEL, 7}, proc=tmp_path) == CpuUse(9.0)
    _proc(tmp_path, pid=7, schedstat="1000000000 500000000 3")
    assert cpu_use({KERNEL, 7}, proc=tmp_path).waited == 0.75


def test_a_device_abroad_is_fed_by_nobody_here() -> None:
    """No process of this machine has a part in what it says, so its failure is not looked at again."""
    wrong = play(_late(0.3), "p.ping", "p.sure?").verdict
    assert unless_fed(wrong, frozenset({KERNEL}), 1.0) is wrong


def test_others_that_have_a_part_in_what_a_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they may have caused by waiting is not a failure, unless nobody waited, or no wait explains it."""
    wrong = play(_late(0.3), "p.ping", "p.sure?").verdict
    assert wrong.failed
    for fed in (False, True):
        monkeypatch.setattr(driving, "are_fed", always(fed))
        assert unless_fed(wrong, frozenset({7}), 1.0).failed is not fed
        assert unless_fed(wrong, frozenset({7}), 0.0).failed
        assert unless_fed(wrong, frozenset(), 1.0).failed
        assert unless_fed(Verdict("pass"), frozenset({7}), 1.0).outcome == "pass"


@pytest.mark.parametrize(("state", "ready"), [("R", True), ("T", True), ("t", True), ("S", False), ("D", False)])
def test_a_process_that_is_stopped_waits_to_run(state: str, ready: bool, tmp_path: Path) -> None:
    """A signal or a debugger keeps it from running as a busy machine does: its silence is no evidence."""
    _proc(tmp_path, pid=os.getpid(), children="7")
    _proc(tmp_path, pid=7, stat=f"7 (a) {state} 1")
    assert cpu_use(proc=tmp_path).ready is ready


def test_a_tester_that_has_started_nothing(tmp_path: Path) -> None:
    """Then the pressure of the machine counts, if the kernel shows it."""
    assert cpu_use(proc=tmp_path) == CpuUse()
    (tmp_path / "pressure").mkdir()
    pressure = tmp_path / "pressure" / "cpu"
    pressure.write_text("some avg10=1.00 avg60=1.00 avg300=1.00 total=2500000\nfull avg10=0.00 total=0\n")
    assert cpu_use(proc=tmp_path) == CpuUse(2.5)
    pressure.write_text("")
    assert cpu_use(proc=tmp_path) == CpuUse()


def test_a_tester_that_waits_for_a_processor_itself(tmp_path: Path) -> None:
    """What it computes counts where it tests several systems at once."""
    (tmp_path / "thread-self").mkdir()
    (tmp_path / "thread-self" / "schedstat").write_text("2000000000 500000000 7\n")
    assert cpu_use(proc=tmp_path).own == 0.5
    assert cpu_use(proc=tmp_path, shared=True).own == 2.5


def test_a_system_in_threads_of_the_tester(tmp_path: Path) -> None:
    """They may have kept each other waiting whenever one of them, or the tester, ran; nothing else counts."""
    (tmp_path / "thread-self").mkdir()
    (tmp_path / "thread-self" / "schedstat").write_text("250000000 500000000 7\n")
    for thread, stat in ((get_native_id(), "1 (a) R 0"), (1, "1 (a) S 0")):
        task = tmp_path / "self" / "task" / str(thread)
        task.mkdir(parents=True)
        (task / "stat").write_text(stat)
        (task / "schedstat").write_text("2000000000 1000000000 3")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some avg10=1.00 total=9000000\n")
    assert cpu_use(threads=True, proc=tmp_path)[:5] == CpuUse(3.75, 2.0, known=True, own=0.5)[:5]


@pytest.mark.parametrize(("url", "known"), [("can://virtual/otf-a", True), ("can://udp_multicast/ff15::1", False)])
def test_where_a_system_is_in_this_process(url: str, known: bool) -> None:
    """A virtual bus lies within a process; who is on another one is not known."""
    assert read_bus(url, "", {}).is_virtual is known


def test_more_processes_than_are_counted(tmp_path: Path) -> None:
    """A tester whose system forks without end goes on."""
    _proc(tmp_path, pid=os.getpid(), children=" ".join(map(str, range(10**8, 10**8 + 300))))
    assert cpu_use(proc=tmp_path).known


def test_whether_the_machine_matters() -> None:
    """In virtual time it does not; in real time it does, on asyncio and on trio."""

    async def real() -> bool:
        return in_real_time()

    assert not virtually(real)
    assert anyio.run(real, backend="trio")
    assert anyio.run(real, backend="asyncio")


def test_a_plan_in_virtual_time_has_no_end() -> None:
    """Planning takes no virtual time, so a slow machine changes no path; a real system waits half a pause."""

    async def over() -> bool:
        return lookout.patience(answering(pause=0.0))()()

    assert (virtually(over), anyio.run(over)) == (False, True)
    assert not lookout.patience(answering(pause=0.0))()()
