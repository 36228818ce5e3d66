"""Servers that the bench does not start, struck at any moment of a campaign in its default mode."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Final

import anyio
import pytest

from otf.adapters import tcp, unix
from otf.campaign import Campaign, Listener, Settings, Summary
from otf.models.serving import HOST, free_port
from otf.trace.events import Event
from tests.adapters.harness import Baseline
from tests.e2e.counting import Counting
from tests.e2e.harm import NEVER, Harm
from tests.e2e.harmed import LOOPS, TURN
from tests.e2e.test_harm import REASONS

pytestmark = pytest.mark.real

SERVER: Final = [sys.executable, "-I", "-S", str(Path(__file__).with_name("server.py"))]
WIRES: Final = ("tcp", "unix")
PATHS: Final = 3
STEPS: Final = 30
EVENTS: Final = PATHS * 2 * STEPS
WITHIN: Final = 0.1  # seconds in which a server that is there has taken a call
DEADLY: Final = {"kill", "segv"}


class Struck(Listener):
    """Lets harm be done at its moment."""

    def __init__(self, harm: Harm) -> None:
        self.harm = harm

    def event(self, number: int, event: Event) -> None:
        """Take an event."""
        del number
        self.harm.told(event)


@contextmanager
def served(wire: str, name: str) -> Generator[tuple[int, str]]:
    """Start a server; return the number of its process, and its address."""
    address = f"{name}.sock" if wire == "unix" else str(free_port(socket.SOCK_STREAM))
    with subprocess.Popen([*SERVER, wire, address], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield server.pid, address
        finally:
            server.kill()


def struck(wire: str, name: str, harm: Harm, loop: str) -> Summary:
    """Run a campaign on a server that harm is done to."""
    with served(wire, name) as (pid, address), harm.awaiting(pid, Path(name)):
        port = unix(address, within=WITHIN) if wire == "unix" else tcp(f"{HOST}:{address}", within=WITHIN)
        bench = replace(Counting(wire).bench, connect=None, ports={"p": port})
        settings = Settings(out=Path(name), traces=PATHS, steps=STEPS, stop_first=True, shrink=False)
        backend, options = LOOPS[loop]
        return anyio.run(Campaign(bench, settings, Struck(harm)).run, backend=backend, backend_options=options)


def came_to(wire: str, harm: Harm, summary: Summary) -> str:
    """Say in a word what came of a campaign: what had to."""
    kinds = {signature.kind for signature in summary.failures}
    if harm.how in DEADLY and kinds:
        [group] = summary.failures.values()
        assert kinds == {"ended"}
        assert group.signature.seen == "Ended"
        failure = group.first.verdict.failure
        assert failure is not None
        assert failure.seen.removeprefix("the port ended: ") in REASONS[wire]["kill"]
        assert not summary.inconclusive
        return "ended"
    if harm.how in DEADLY and summary.trouble:
        # between two paths nobody was there to see it, and nothing is there for the next
        assert not summary.inconclusive
        assert harm.felt > harm.moments[-1] - TURN, "an end was taken for silence"
        assert ("it may have died since" in summary.trouble) == bool(summary.steps)
        return "no contact"
    if kinds:
        assert (harm.how, wire, kinds) == ("stop", "tcp", {"missing"})
        return "missing"
    if summary.verdict == "inconclusive":
        assert (harm.how, wire) == ("stop", "unix")
        assert all("is stopped by SIGSTOP" in each.verdict.why for each in summary.inconclusive)
        return "stopped"
    assert (summary.verdict, summary.paths) == ("pass", PATHS)
    unseen = (harm.how, wire) == ("stop", "tcp")  # nothing more was asked of it
    assert unseen or harm.felt > harm.moments[-1] - TURN, "an end was taken for silence"
    return "passed"


def moments(random: Random) -> Iterator[Harm]:
    """Draw what is done and when: after some event, right away or while the tester waits."""
    for number in count():
        how = ("kill", "segv", "stop")[number % 3]
        yield Harm(how, random.randrange(1, EVENTS), random.choice([random.uniform(0, 0.001), random.uniform(0, 0.06)]))


def all_struck(wire: str, number: int) -> Counter[str]:
    """Strike so many servers; each time the verdict is right, and nothing is left."""
    random, words = Random(f"{wire}/{number}"), Counter[str]()
    for loop in LOOPS:
        assert struck(wire, f"{wire}-{loop}", Harm(), loop).verdict == "pass"
    before = Baseline()
    for at, harm in enumerate(islice(moments(random), number)):
        summary = struck(wire, f"{wire}-{at}", harm, random.choice(list(LOOPS)))
        assert not before.lasting_leaks()
        if harm.struck < NEVER:  # or the campaign was over before
            words[f"{harm.how}: {came_to(wire, harm, summary)}"] += 1
    return words


@pytest.mark.parametrize("wire", WIRES)
def test_blows_at_some_moments(wire: str) -> None:
    """Killed or crashed, a server has ended, though nobody starts it again; stopped, it is silent, or seen to be."""
    assert all_struck(wire, 3).total()


@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
def test_blows_at_a_hundred_moments(wire: str, record_testsuite_property: Callable[[str, object], None]) -> None:
    """The same at a hundred moments; what came of them stands in the report that `--junitxml` asks for."""
    words = all_struck(wire, 100)
    record_testsuite_property(f"standing {wire}", str(dict(words)))
    assert {f"{how}: ended" for how in DEADLY} <= set(words)
