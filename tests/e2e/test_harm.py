"""A system that is killed, stopped or cut off at any moment of an eager run: the right verdict, in time, on record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from random import Random
from typing import Final

import pytest

from otf.adapter.child.reading import PATIENCE as LAST_WORDS
from otf.core.pacing import PATIENCE
from otf.trace.events import Closed, Quiet, Seen, Sent
from tests.adapters.harness import Baseline
from tests.e2e.counting import BOUND, GRACE, QUIESCENCE, STEPS, Counting
from tests.e2e.harm import NEVER, Harm
from tests.e2e.harmed import LOOPS, MARGIN, TURN, Ran, assert_on_record

pytestmark = pytest.mark.real

GONE: Final = {"end of stream", "connection reset", "closed by the other side"}
BROKEN: Final = GONE - {"end of stream"}
CUT_OFF: Final = BROKEN | {"cut off without closing tls"}
HUNG_UP: Final = {"hung up"}
REFUSED: Final = {"port unreachable"}
KILLED: Final = {"killed by SIGKILL"}
REASONS: Final[dict[str, dict[str, set[str]]]] = {
    "udp": {"kill": REFUSED, "close": REFUSED},
    "tcp": {"kill": GONE, "close": GONE, "half": GONE, "reset": BROKEN},
    "listen": {"kill": GONE, "close": GONE, "half": GONE},
    "tls": {"kill": CUT_OFF, "close": CUT_OFF},
    "socket": {"kill": GONE, "close": GONE, "half": GONE, "reset": BROKEN},
    "faults": {"kill": GONE, "close": GONE, "half": GONE, "reset": BROKEN},
    "unix": {"kill": GONE, "close": GONE, "half": GONE},
    "serial": {"kill": HUNG_UP, "close": HUNG_UP},
    "pipe": {"kill": KILLED, "output": {"closed its output"}, "input": {"closed its input"}},
    "pty": {"kill": KILLED, "close": {"closed its output"}},
}
"""With which words a port ends, for each wire and what is done to it; a system that was stopped ends none."""

STOPPED: Final = {"unix", "pipe", "pty"}
"""Where the tester sees that a process is stopped: its silence says nothing then."""

UNSEEN: Final = {("udp", "kill"), ("udp", "close"), ("pipe", "input")}
"""What nobody can know before the next input is sent."""

WINDOW: Final = max(
    QUIESCENCE, 2 * BOUND + 2 * BOUND
)  # 2L + nR: an input, and the one that its answer has proven taken
WAITS: Final = {"missing": PATIENCE * WINDOW, "ended": LAST_WORDS, "passed": WINDOW, "stopped": WINDOW}
"""Seconds that a run goes on after the harm, by what comes of it; then the system has to be stopped."""

PLACES: Final = ("before the first input", "in the middle", "after the last answer")


def moments(random: Random, wire: str) -> Iterator[Harm]:
    """Draw what is done and when: before the first input, in the middle, after the last answer, just before that."""
    cuts = [how for how in REASONS[wire] if how != "kill"]
    for number in count():
        how = random.choice(["kill", "stop", random.choice(cuts)])
        match number % 5:
            case 0:
                yield Harm(how, at_once=True)
            case 2:
                yield Harm(how, 2 * STEPS, random.uniform(0, 0.8 * QUIESCENCE))
            case 3:
                yield Harm(how, random.randrange(2 * STEPS - 20, 2 * STEPS), random.uniform(0, 0.0005))
            case _:
                yield Harm(how, random.randrange(1, 2 * STEPS - 100), random.uniform(0, 0.001))


def came_to(wire: str, harm: Harm, ran: Ran) -> str:
    """Say in a word what came of a run: what had to, going by what was sent and answered, and what was done when."""
    failure, last = ran.result.verdict.failure, harm.events[-1]
    sent, seen = (sum(isinstance(event, kind) for event in harm.events) for kind in (Sent, Seen))
    unseen = harm.how == "stop" or (wire, harm.how) in UNSEEN
    if ran.result.verdict.outcome == "inconclusive":
        assert (harm.how, wire in STOPPED) == ("stop", True)
        assert "is stopped by SIGSTOP" in ran.result.verdict.why
        return "stopped"
    if failure is None:
        assert (ran.result.verdict.outcome, sent, seen, type(last)) == ("pass", STEPS, STEPS, Quiet)
        assert unseen or harm.felt > harm.moments[-1] - TURN, "an end was taken for silence"
        return "passed"
    if failure.kind == "missing":
        assert (sent, type(last)) == (seen + 1, Quiet)
        assert unseen, "an end was taken for silence"
        assert (harm.how, wire in STOPPED) != ("stop", True), "a stopped process was blamed for its silence"
        assert harm.how == "stop" or began_last_step(harm) < harm.felt, "a refusal was not heard"
        return "missing"
    assert (failure.kind, type(last)) == ("ended", Closed)
    assert getattr(last, "reason", "") in REASONS[wire].get(harm.how, ())
    return "ended"


def began_last_step(harm: Harm) -> float:
    """When the event before the last input was told: what is sent after a refusal is possible is refused."""
    asked = max(at for at, event in enumerate(harm.events) if isinstance(event, Sent))
    return harm.moments[asked - 1] if asked else 0.0


@dataclass
class Tally:
    """How often each harm came to what, and in which place; and how long it took at most from the harm to the end."""

    counts: Counter[str] = field(default_factory=Counter[str])
    places: Counter[str] = field(default_factory=Counter[str])
    longest: dict[str, float] = field(default_factory=dict[str, float])

    def add(self, harm: Harm, word: str, took: float) -> None:
        """Count one harm."""
        self.counts[f"{harm.how}: {word}"] += 1
        self.places[PLACES[(harm.before > 0) + (harm.before >= 2 * STEPS)]] += 1
        self.longest[word] = max(self.longest.get(word, 0.0), round(took, 3))


def harmed(wire: str, number: int) -> Tally:
    """Do harm at so many moments; each time the verdict is right, in time and on record, and nothing is left."""
    random, rig, tally = Random(f"{wire}/{number}"), Counting(wire), Tally()
    # what is quiet is found out here, so that all that follows is eager; and what a loop opens once is open from here
    assert [rig.run(Harm(), loop).result.verdict.outcome for loop in LOOPS] == ["pass"] * len(LOOPS)
    before = Baseline()
    for harm in islice(moments(random, wire), 2 * number):
        ran = rig.run(harm, random.choice(list(LOOPS)))
        word, took = came_to(wire, harm, ran), ran.over - harm.struck
        assert not before.lasting_leaks()
        assert_on_record(rig, harm, ran)
        if harm.struck < NEVER:  # or the run was over before
            assert took < WAITS[word] + 2 * GRACE + MARGIN
            tally.add(harm, word, took)
        if tally.counts.total() == number:
            break
    return tally


@pytest.mark.parametrize("wire", REASONS)
def test_harm_at_some_moments(wire: str) -> None:
    """Killed or cut off, a system has ended; stopped, it owes an answer, or nothing can be said; unasked, it passed."""
    tally = harmed(wire, 3)
    # only the first place is certain: where the others are, is up to the machine
    assert (tally.counts.total(), tally.places[PLACES[0]]) == (3, 1)


@pytest.mark.slow
@pytest.mark.parametrize("wire", REASONS)
def test_harm_at_a_hundred_moments(wire: str, record_testsuite_property: Callable[[str, object], None]) -> None:
    """The same at a hundred moments on each wire; what came of them stands in the report that `--junitxml` asks for."""
    tally = harmed(wire, 100)
    record_testsuite_property(wire, f"{dict(tally.counts)} {dict(tally.places)} longest: {tally.longest}")
    assert (tally.counts.total(), set(tally.places)) == (100, set(PLACES))
