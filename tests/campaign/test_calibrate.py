"""Calibrating: the times that a bench may state, from how fast its system answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.campaign import Settings
from otf.campaign.run import Calibration, _Stopwatch, calibrate  # pyright: ignore[reportPrivateUsage] -- a part of it
from otf.core import Model, Monitor, Oracle
from otf.spec import Idle, Spec, goto, start
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.campaign.machine import Machine, Started, bench, judged, made_by
from tests.runner.playing import virtually


def _calibrated(tested: Bench, out: Path) -> Calibration:
    settings = Settings(out=out, traces=2, steps=40, mode="eager", burst=3, jobs=2)
    return virtually(lambda: calibrate(tested, settings))


def _by_turns(*delays: float) -> Callable[[], Machine]:
    each = cycle(delays)
    return lambda: Machine(delay=next(each))


def test_replies_are_measured(tmp_path: Path) -> None:
    """Each reply took as long as it took; L and R are a third of the slowest with room, silence is three times them."""
    found = _calibrated(made_by(_by_turns(0.25, 0.125)), tmp_path)
    assert set(found.replies) == {0.25, 0.125}
    assert (found.quantile(0.0), found.quantile(1.0)) == (0.125, 0.25)
    assert found.bound == pytest.approx(0.25)
    assert found.quiescence == pytest.approx(0.75)
    assert found.summary.verdict == "pass"


def test_it_is_not_in_a_hurry(tmp_path: Path) -> None:
    """Replies that take longer than the bench believes are measured, not missed: one path at a time, strictly."""
    found = _calibrated(bench(delay=0.4, quiescence=0.01), tmp_path)
    assert {round(reply, 6) for reply in found.replies} == {0.4}
    head = judged(tmp_path / "path-0001.jsonl").header
    assert (head.mode, head.burst, head.quiescence) == ("strict", 1, 0.5)


def test_a_system_that_answers_nothing(tmp_path: Path) -> None:
    """Without a reply there is nothing to be learnt."""
    found = _calibrated(made_by(Started(broken=9)), tmp_path)
    assert (found.replies, found.quantile(0.5), found.bound, found.quiescence) == ((), 0.0, 0.0, 0.0)
    assert found.summary.verdict == "inconclusive"


def test_what_a_timer_brings_is_no_answer() -> None:
    """An alarm 0.3 s after the answer would make L and R that long; nor is what comes while the tester waits."""
    alarm = start("alarm", 0.2, 0.4)
    spec: Spec[int, str] = Spec(
        lambda _, __: [goto(0, "armed", timers=[alarm])], 0, ["arm"], lambda _: [goto(0, "alarm", after="alarm")]
    )
    watch = _Stopwatch(partial(Monitor, Oracle(Model(spec))))
    path: list[Event] = [Sent("arm", "sut", 1.0), Seen("armed", "sut", 1.002), Seen("alarm", "sut", 1.3)]
    path += [Quiet(1.8), Sent(Idle(0.4), "sut", 1.9), Quiet(2.3)]
    for number in (1, 2):
        for event in path:
            watch.event(number, event)
    assert watch.replies == pytest.approx([0.002, 0.002])
