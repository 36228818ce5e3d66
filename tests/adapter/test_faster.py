"""Faster clocks: windows that are shorter, programs that follow, and those that are refused, with the reason."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, Frame
from otf.adapter.child import faster
from otf.adapter.lifecycle import Life
from otf.adapters.inprocess import inprocess
from otf.adapters.process import process
from otf.campaign import Campaign, Settings
from otf.campaign.speed import check_speed, greatest_speed
from otf.cli.benches import load
from otf.codec import lines
from otf.errors import UsageError
from otf.spec import Accept, Spec, Transition, at_speed, goto, start, stop
from tests.real.needs import needs


@dataclass(frozen=True)
class Go:
    """The input."""


@dataclass(frozen=True)
class Done:
    """The output."""


def answering(_state: int, _inp: Go) -> Iterator[Transition[int]]:
    """Answer after 0.5 s."""
    yield goto(0, Done(), within=(0.3, 0.95))


CODEC = lines({Go: "go", Done: "done"})
SPEC = Spec(answering, 0, [Go()])
SLEEPS = "import time; time.sleep(0.5)"
SIGNAL = "import signal; signal.signal(14, lambda *_: None); signal.setitimer(0, 0.5); signal.pause()"
TIMERFD = "import ctypes; ctypes.CDLL(None).timerfd_create(1, 0)"
LOOP = "import sys\nfor line in sys.stdin:\n    {}; print('done', flush=True)"


def bench(wait: str, speed: float = 1.0, *before: str) -> Bench:
    """Return the bench of a program that answers after it has waited in this way."""
    port = process([*before, sys.executable, "-I", "-S", "-u", "-c", LOOP.format(wait)], ready=None)
    return Bench(SPEC, codec=CODEC, ports={"line": port}, quiescence=0.02, life=Life(speed=speed))


def settings(folder: Path, **more: float) -> Settings:
    """Return those of a short campaign."""
    return Settings(out=folder / "out", traces=2, steps=2, seed=int(more.get("seed", 1)), shrink=False)


def test_windows_and_timers_are_shorter() -> None:
    """Those of answers, of timers that are started, and of an `Accept`; all else stays as it is."""
    accept = Accept(lambda _seen: [0], within=(1, 2), timers=(start("t", 2, 4), stop("u")))
    spec: Spec[int, str] = Spec(
        lambda _state, _inp: [goto(1, "x", within=(1, 2)), accept], 0, ["a"], lambda _state: [goto(0, after="t")]
    )
    assert at_speed(spec, 1) is spec
    first, second = at_speed(spec, 10).step(0, "a")
    assert first == goto(1, "x", within=(0.1, 0.2))
    assert (second.within, second.timers) == ((0.1, 0.2), (start("t", 0.2, 0.4), stop("u")))
    emits = at_speed(spec, 10).emits
    assert emits is not None
    assert list(emits(0)) == [goto(0, after="t")]


def test_what_is_no_transition_is_left_for_the_oracle_to_report() -> None:
    """It names the place."""

    def step(_state: object, inp: Any) -> Any:  # noqa: ANN401 -- of any type, since it is wrong
        return inp

    odd: Spec[Any, Any] = at_speed(Spec(step, 0, [3]), 10)
    given: list[object] = [odd.step(0, 3), list(odd.step(0, ["x"]))]
    assert given == [3, ["x"]]
    assert odd.emits is None


def test_the_times_of_a_bench_are_those_of_its_system() -> None:
    """Q and R are scaled, R not below L, and L not at all; a learnt Q is measured, and so not scaled."""
    line = inprocess(lambda: lambda frame: frame)
    stated = Bench(SPEC, codec=CODEC, ports={"p": line}, quiescence=1.0, latency=0.01, busy=1.0, life=Life(speed=50))
    assert (stated.timing.quiescence, stated.timing.latency, stated.timing.busy) == (0.02, 0.01, 0.02)
    assert stated.timing.speed == stated.at_speed(1).timing.speed * 50
    small = Bench(SPEC, codec=CODEC, ports={"p": line}, latency=0.01, busy=0.005).at_speed(50)
    assert (small.timing.quiescence, small.timing.busy) == (0.1, 0.005)
    assert small.at_speed(50) is small


@pytest.mark.parametrize("speed", [0, 0.5, -1, 1001, float("nan"), float("inf")])
def test_a_speed_that_is_none_is_refused(speed: float) -> None:
    """With the bounds."""
    with pytest.raises(UsageError, match="a number from 1 to 1000"):
        Life(speed=speed)


def test_a_system_in_this_process_has_no_clock_of_its_own() -> None:
    """A Python object is refused at once, a function behind a port when it is opened."""
    with pytest.raises(UsageError, match="no clock of its own"):
        Bench(SPEC, system=lambda: lambda _inp: [], life=Life(speed=2))
    within = Bench(SPEC, codec=CODEC, ports={"p": inprocess(lambda: lambda frame: frame)}, life=Life(speed=2))
    with pytest.raises(UsageError, match="starts no process"):
        anyio.run(opened, within)


def test_a_burst_cannot_be_confirmed_and_so_is_refused(tmp_path: Path) -> None:
    """It would have to be driven again at the system's own speed."""
    with pytest.raises(UsageError, match="burst"):
        Campaign(bench(SLEEPS, 2), Settings(out=tmp_path, burst=2))


def test_a_machine_without_libfaketime_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the package."""
    monkeypatch.setattr(faster, "_FOLDERS", ())
    faster.library.cache_clear()
    with pytest.raises(UsageError, match="apt-get install faketime"):
        anyio.run(opened, bench(SLEEPS, 2))
    faster.library.cache_clear()


async def opened(tested: Bench) -> float:
    """Return how long the answer took."""
    async with tested.open() as found:
        began = anyio.current_time()
        await found["line"].send(b"go")
        with anyio.fail_after(20):
            while not any(isinstance(each, Frame) for each in found["line"].receive()):  # noqa: ASYNC110 -- another process
                await anyio.sleep(0.001)
        return anyio.current_time() - began


@pytest.mark.real
@needs("faketime")
def test_a_program_lives_faster() -> None:
    """A wait of 0.5 s is over sooner."""
    assert anyio.run(opened, bench(SLEEPS, 20)) < 0.4
    assert anyio.run(opened, bench(SLEEPS)) > 0.49


@pytest.mark.real
@needs("faketime")
def test_libfaketime_leaves_nothing_behind() -> None:
    """It makes shared memory, which stays where its program is killed by a signal."""

    async def killed() -> faster.FasterClock:
        clock = faster.FasterClock(20)
        with faster.under(clock):
            async with bench(SLEEPS).ports["line"]():
                await clock.check()
                await anyio.sleep(0.1)
        return clock

    clock = anyio.run(killed)
    clock.clean()
    (pid,) = clock.pids
    assert not list(Path("/dev/shm").glob(f"*faketime_*_{pid}"))  # noqa: S108 -- libfaketime puts it there


@pytest.mark.real
@needs("faketime")
@pytest.mark.parametrize(
    ("wait", "before", "why"),
    [
        (SLEEPS, ("/usr/bin/env", "-u", "LD_PRELOAD"), "libfaketime is not loaded"),
        (TIMERFD, (), "timerfd"),
    ],
)
def test_a_program_that_cannot_follow_is_refused(wait: str, before: tuple[str, ...], why: str) -> None:
    """Without libfaketime in it, or with a timer of the kernel that libfaketime does not change."""

    async def second_look() -> None:
        clock = faster.FasterClock(2)
        with faster.under(clock):
            async with bench(wait, 1, *before).ports["line"]() as line:
                await line.send(b"go")
                while not line.receive():  # noqa: ASYNC110 -- another process
                    await anyio.sleep(0.001)
                await clock.check()

    with pytest.raises(UsageError, match=why):
        anyio.run(second_look)


@pytest.mark.real
@needs("faketime")
def test_a_program_of_go_is_refused(tmp_path: Path) -> None:
    """It reads clocks without the C library; its file says what it is. Here `sleep` says so."""
    sleep = shutil.which("sleep")
    assert sleep is not None
    program = tmp_path / "sleep"
    program.write_bytes(Path(sleep).read_bytes() + b"\xff Go buildinf:")
    program.chmod(0o755)
    line = process([str(program), "9"], ready=None)
    tested = Bench(SPEC, codec=CODEC, ports={"line": line}, life=Life(speed=2, settle=0.1))
    with pytest.raises(UsageError, match="sleep does not follow a faster clock: it is a Go program"):
        anyio.run(opened, tested)


def probe(tested: Bench, folder: Path) -> None:
    """Check the speed of a bench, if the machine is not too busy for that."""
    if not anyio.run(check_speed, tested, settings(folder)):
        pytest.skip("the machine was too busy to see whether the program follows")


@pytest.mark.real
@needs("faketime")
def test_a_timed_system_that_does_not_follow_is_refused(tmp_path: Path) -> None:
    """Its answer comes too late at any speed, and in time at its own: neither it nor the model is to blame."""
    with pytest.raises(UsageError, match="seen at this speed and not at its own"):
        probe(bench(SIGNAL, 10), tmp_path)


@pytest.mark.real
@pytest.mark.slow
@needs("faketime")
def test_no_speed_is_found_for_a_timed_system_that_does_not_follow(tmp_path: Path) -> None:
    """A speed at which the machine was too busy to see is none that the system follows."""
    with pytest.raises(UsageError, match="speed=2"):
        anyio.run(greatest_speed, bench(SIGNAL), settings(tmp_path))


@pytest.mark.real
@needs("faketime", "libcoap3-bin")
def test_libcoap_is_refused(tmp_path: Path) -> None:
    """Its retransmissions wait through a timerfd with an absolute time: they would never come."""
    with pytest.raises(UsageError, match="timerfd"):
        anyio.run(Campaign(load("coap", {}).at_speed(10), settings(tmp_path)).run)


@pytest.mark.real
@needs("faketime", "beanstalkd")
def test_a_job_queue_lives_faster(tmp_path: Path) -> None:
    """Its timers of a second are over twenty times as soon, and it conforms."""
    assert anyio.run(greatest_speed, load("jobs", {}), settings(tmp_path)) >= 2
    summary = anyio.run(Campaign(load("jobs", {}).at_speed(20), settings(tmp_path)).run)
    assert summary.verdict == "pass"


@pytest.mark.real
@needs("faketime")
@pytest.mark.parametrize(("wait", "verdict"), [(SIGNAL, "inconclusive"), ("continue", "fail")])
def test_a_failure_counts_at_the_own_speed_only(
    wait: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait that does not follow, and that the probe has missed, is not a failure; an answer that never comes is."""

    async def missed(_bench: Bench, _settings: Settings, _until: float) -> bool:
        return True

    monkeypatch.setattr("otf.campaign.lanes.check_speed", missed)
    summary = anyio.run(Campaign(bench(wait, 10), settings(tmp_path)).run)
    if any(word in each.verdict.why for each in summary.inconclusive for word in ("could not run", "stall")):
        pytest.skip("the machine was too busy: for a part of the window the system could not run")
    assert summary.verdict == verdict
    assert all("10 times as fast" in each.verdict.why for each in summary.inconclusive)
    for group in summary.failures.values():
        assert '"speed":1.0' in group.first.trace.read_text(encoding="utf-8").splitlines()[0]
