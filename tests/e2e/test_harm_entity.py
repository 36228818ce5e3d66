"""The conference entity, killed or stopped at any moment of an eager run: on pipes and UDP sockets at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

import pytest

from otf.adapter import Line
from otf.adapters.process import ProcessLine
from otf.core import Chooser
from otf.core.pacing import MOST
from otf.models.conference import bench
from otf.strategy import Strategy
from otf.trace.events import Closed, Quiet, Seen, Sent
from tests.adapters.harness import Baseline
from tests.e2e.harm import NEVER, Harm
from tests.e2e.harmed import LOOPS, MARGIN, TURN, Ran, Rig, assert_on_record

pytestmark = pytest.mark.real

STEPS: Final = 30
BOUND: Final = 0.01  # L, and R
REASONS: Final = {"killed by SIGKILL", "port unreachable"}
GRACE: Final = 0.2
WINDOW: Final = 2 * BOUND + (MOST + 1) * BOUND
WAITS: Final = {"stopped": WINDOW, "ended": 0.0, "passed": WINDOW}
"""Seconds that a run goes on after the harm or the last input, whichever is later, by what comes of it."""


class Conference(Rig):
    """The entity, with others around it and a user."""

    def __init__(self) -> None:
        self._bench = replace(bench(), quiescence=0.02, latency=BOUND, busy=BOUND)
        self._strategy = Strategy("alternating", self._bench.inputs, 1)
        super().__init__(self._bench, STEPS)

    def chooser(self) -> Chooser:
        """Choose as a campaign does."""
        return self._strategy.path(self.runs)

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Mapping[str, Line], None]:
        """Start an entity."""
        async with self._bench.open() as lines:
            user = lines["user"]
            assert isinstance(user, ProcessLine)
            with self.harm.awaiting(user.pid, Path()):
                yield lines


def came_to(harm: Harm, ran: Ran) -> str:
    """Say in a word what came of a run: what had to."""
    failure, last = ran.result.verdict.failure, harm.events[-1]
    if ran.result.verdict.outcome == "inconclusive":
        assert (harm.how, "is stopped by SIGSTOP" in ran.result.verdict.why) == ("stop", True)
        return "stopped"
    if failure is None:
        assert (ran.result.verdict.outcome, ran.result.steps, type(last)) == ("pass", STEPS, Quiet)
        assert harm.how == "stop" or harm.felt > harm.moments[-1] - TURN, "an end was taken for silence"
        return "passed"
    # what arrived together with the end, on another port, is recorded behind it
    ends = [event for event in harm.events if isinstance(event, Closed)]
    assert {type(event) for event in harm.events[harm.events.index(ends[0]) :]} <= {Closed, Seen}
    assert (harm.how, failure.kind, {end.reason for end in ends} <= REASONS) == ("kill", "ended", True)
    return "ended"


def took(harm: Harm, ran: Ran) -> float:
    """Seconds from the harm to the end of a run, or from the last input, since only who was asked owes an answer."""
    asked = [moment for moment, event in zip(harm.moments, harm.events, strict=True) if isinstance(event, Sent)]
    return ran.over - max(harm.struck, *asked[-1:], 0.0)


def harmed(number: int, seed: int) -> tuple[Counter[str], dict[str, float]]:
    """Do harm at so many moments; return how often it came to what, and the longest time to the end of a run."""
    random, rig, counts, longest = Random(seed), Conference(), Counter[str](), dict[str, float]()
    assert [rig.run(Harm(), loop).result.verdict.outcome for loop in LOOPS] == ["pass"] * len(LOOPS)
    before = Baseline()
    # a run may well be over before its moment comes: observed silence is short
    for harm in islice(iter(lambda: moment(random), None), 30 * number):
        ran = rig.run(harm, random.choice(list(LOOPS)))
        word = came_to(harm, ran)
        assert not before.lasting_leaks()
        assert_on_record(rig, harm, ran)
        if harm.struck < NEVER:
            assert took(harm, ran) < WAITS[word] + 2 * GRACE + MARGIN
            counts[f"{harm.how}: {word}"] += 1
            longest[word] = max(longest.get(word, 0.0), round(ran.over - harm.struck, 3))
        if counts.total() == number:
            break
    return counts, longest


def moment(random: Random) -> Harm:
    """Draw what is done, and when."""
    after = random.randrange(int(1.5 * STEPS))
    return Harm(random.choice(["kill", "stop"]), after, random.uniform(0, 0.02), at_once=not after)


def test_harm_at_some_moments() -> None:
    """Killed, an entity has ended, on whatever port that shows first; stopped, nothing can be said."""
    assert harmed(2, 0)[0].total() == 2


@pytest.mark.slow
@pytest.mark.parametrize("half", [1, 2])
def test_harm_at_a_hundred_moments(half: int, record_testsuite_property: Callable[[str, object], None]) -> None:
    """The same at a hundred moments; what came of them stands in the report that `--junitxml` asks for."""
    counts, longest = harmed(50, half)
    record_testsuite_property(f"conference {half}", f"{dict(counts)} longest: {longest}")
    assert counts.total() == 50
