"""Timers of real systems in small: a TFTP server's retransmission, a job queue's time to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from benchmarks.campaigns import TESTERS, Notes
from otf.core import Model, Oracle, Routes, Session, Timing
from otf.simulate import SimulatedSystem, TimeBounds, World, conduct
from otf.simulate.system import PortChoice
from otf.simulate.world import Chance
from otf.spec import Spec
from otf.strategy import Strategy
from otf.trace.verdict import Verdict
from tests.quality.imitations import JOBS, TFTP, JobQueue, TftpServer, job_port

L, R = 0.002, 0.004
MODES = ("strict", "eager")
CHANCES: tuple[Chance, ...] = ("uniform", "extreme", "lopsided")


@dataclass(frozen=True)
class Kind:
    """A model, the system that imitates what it is a model of, and the ports."""

    spec: Spec[Any, Any]
    device: Callable[[Callable[[], float], Random, str], SimulatedSystem]
    port: PortChoice
    outputs: tuple[str, ...]


KINDS = {
    "tftp": Kind(TFTP, TftpServer, lambda _value: "net", ("net",)),
    "jobs": Kind(JOBS, JobQueue, job_port, ("producer", "worker1", "worker2")),
}


@dataclass
class Now:
    """The clock of a device: that of its world, once there is one."""

    world: World | None = None

    def __call__(self) -> float:
        """Return the time."""
        return self.world.now if self.world is not None else 0.0


def campaign(kind: Kind, fault: str, mode: str, seed: int, paths: int) -> list[Verdict]:
    """Return the verdicts on so many paths, up to a failure."""
    timing, notes, verdicts = Timing(0.02, L, R), Notes(), list[Verdict]()
    oracle = Oracle(Model(kind.spec, Routes(kind.outputs, kind.port)), timing=timing)
    strategy = Strategy("random", "uioco", seed)
    while len(verdicts) < paths and not any(each.failed for each in verdicts):
        random = Random(f"{seed}/{len(verdicts)}")
        bounds, now = TimeBounds(L, R, chance=random.choice(CHANCES)), Now()
        now.world = World(kind.device(now, random, fault), bounds, random)
        pacing = TESTERS[mode].pacing(timing, notes)
        session = Session(oracle, strategy.path(len(verdicts) + 1), pacing, steps=30)
        verdicts.append(conduct(session, now.world, kind.port))
    return verdicts


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", KINDS)
def test_timers_that_are_right_never_fail(name: str, mode: str) -> None:
    """Two hundred paths of systems whose timers go off in time: every one passes."""
    outcomes = {verdict.outcome for seed in range(4) for verdict in campaign(KINDS[name], "", mode, seed, 50)}
    assert outcomes == {"pass"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", ["late", "early", "dead"])
@pytest.mark.parametrize("name", KINDS)
def test_a_timer_that_is_wrong_is_found(name: str, fault: str, mode: str) -> None:
    """Late by its whole time, early by half of it, or never: found from each of ten seeds within fifty paths."""
    for seed in range(10):
        assert campaign(KINDS[name], fault, mode, seed, 50)[-1].failed, seed


@pytest.mark.parametrize("mode", MODES)
def test_a_timer_that_is_not_set_anew_is_found(mode: str) -> None:
    """A touch that is answered and gives no more time: the job is ready again too early."""
    for seed in range(10):
        assert campaign(KINDS["jobs"], "untouched", mode, seed, 200)[-1].failed, seed


@pytest.mark.parametrize(
    ("fault", "kinds"), [("late", {"late", "missing"}), ("early", {"early"}), ("dead", {"missing"})]
)
def test_the_reason_says_what_is_wrong_with_a_timer_that_is_heard(fault: str, kinds: set[str]) -> None:
    """A retransmission is an output: it came too late, too early, or not at all."""
    for seed in range(10):
        failure = campaign(KINDS["tftp"], fault, "strict", seed, 50)[-1].failure
        assert failure is not None
        assert failure.kind in kinds, seed
