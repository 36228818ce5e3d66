"""Threads that wake for nothing: learnt, for each kind of input, and taken back at their first output."""

from __future__ import annotations

from itertools import pairwise

import pytest

from otf.adapter.observed_rest import wakers as learning
from otf.adapter.observed_rest.wakers import CHECKED, EACH, LATER, LOST, TRIALS, Sleeping, Trust, Waker, Wakers
from tests.adapter.observed_rest.waking import Found

TICKER = Waker("server", "ticker", 0, 230)
OTHER = Waker("server", "other", 0, 230)
# in pieces of 12,000 answers, since a test may take two minutes
SEEDS = [range(1), *(pytest.param(range(at, at + 3), marks=pytest.mark.slow) for at in range(1, 25, 3))]


class Threads:
    """A ticker and another thread, which wake when the test says so."""

    def __init__(self, *known: Waker) -> None:
        self.wakers = Wakers()
        self.trust = Trust(self.wakers)
        self.runs = dict.fromkeys(range(len(known)), 0)
        self.known = known

    def counters(self, tid: int) -> bytes:
        """Return the counters of a thread."""
        return b"%d" % self.runs[tid]

    def rest(self) -> bool:
        """Look at a rest; return whether it is believed."""
        waking = {tid: Sleeping(each, self.counters(tid)) for tid, each in enumerate(self.known)}
        return self.trust.rest(waking, self.counters)

    def step(self, kind: str, *, wakes: int = 1) -> bool:
        """Send an input, and look at a rest before and after the threads wake; return whether the first is believed."""
        self.trust.sent(kind)
        self.trust.wait(careful=False)
        believed = self.rest()
        for _ in range(wakes):
            self.runs = {tid: count + 1 for tid, count in self.runs.items()}
            self.rest()
        return believed

    def learn(self, kind: str = "get") -> None:
        """Take as many steps as it takes to trust the threads."""
        for _ in range(TRIALS):
            assert not self.step(kind)


def test_a_thread_that_always_woke_for_nothing_is_trusted() -> None:
    """After a hundred inputs; one input is one trial, however often it wakes."""
    threads = Threads(TICKER)
    for _ in range(TRIALS):
        assert not threads.step("get", wakes=3)
    assert threads.step("get")
    assert threads.trust.used == {TICKER}


def test_each_kind_of_input_has_trials_of_its_own() -> None:
    """What a command leaves to a thread shows after that command, and after no other."""
    threads = Threads(TICKER)
    threads.learn()
    assert [threads.step("set") for _ in range(EACH + 1)] == [False] * EACH + [True]


def test_a_rest_is_believed_if_all_threads_that_wake_are_trusted() -> None:
    """One more thread that wakes too soon is one too many."""
    threads = Threads(TICKER)
    threads.learn()
    both = Threads(TICKER, OTHER)
    both.trust.wakers = threads.wakers
    assert not both.step("get")


def test_where_much_rests_on_it_no_thread_is_trusted() -> None:
    """Silence that would fail a run is waited for."""
    threads = Threads(TICKER)
    threads.learn()
    threads.trust.sent("get")
    threads.trust.wait(careful=True)
    assert not threads.rest()


def test_now_and_then_a_rest_is_waited_out() -> None:
    """One rest in two hundred is a check, and later one in a tenth of those so far; after an output as at first."""
    threads = Threads(TICKER)
    threads.learn()
    # the last step of learning has believed a rest already
    believed = [threads.step("get", wakes=0) for _ in range(40 * CHECKED)]
    checks = [number for number, each in enumerate(believed, start=2) if not each]
    gaps = [later - before for before, later in pairwise([0, *checks])]
    assert gaps[:10] == [CHECKED] * 10
    assert all(gap == max(CHECKED, before // LATER) for before, gap in zip(checks, gaps[1:], strict=False))
    threads.runs[0] += 1
    threads.trust.heard(threads.counters)
    for _ in range(2):
        threads.learn()
    assert [threads.step("get", wakes=0) for _ in range(CHECKED)].index(False) == CHECKED - 2


def test_an_output_after_a_thread_woke_takes_it_back() -> None:
    """It is learnt anew, from nothing, and each time takes twice as many trials."""
    threads = Threads(TICKER)
    threads.learn()
    assert threads.step("get")
    threads.runs[0] += 1
    threads.trust.heard(threads.counters)
    assert threads.trust.lost == {TICKER}
    for _ in range(2):
        threads.learn()
    assert threads.step("get")


def test_a_thread_that_was_taken_back_often_is_never_trusted_again() -> None:
    """After the third output nothing is learnt of it."""
    threads = Threads(TICKER)
    for _ in range(LOST):
        threads.step("get")
        threads.runs[0] += 1
        threads.trust.heard(threads.counters)
    for _ in range(TRIALS << LOST):
        assert not threads.step("get")


def test_an_output_before_a_thread_woke_is_none_of_its() -> None:
    """It has not run since the last rest."""
    threads = Threads(TICKER)
    threads.learn()
    threads.trust.heard(threads.counters)
    assert threads.step("get")


def test_a_thread_that_is_known_to_answer_explains_the_output() -> None:
    """Another one that woke meanwhile is not to blame; without such a one, both are."""
    threads = Threads(TICKER, OTHER)
    threads.learn()
    assert threads.step("get")
    assert not threads.wakers.take_back({TICKER}) or threads.wakers.harmless(OTHER, "get")
    for _ in range(LOST - 1):
        threads.wakers.take_back({TICKER})
    threads.runs = dict.fromkeys(threads.runs, -1)
    threads.trust.heard(threads.counters)
    assert threads.wakers.harmless(OTHER, "get")
    assert threads.wakers.take_back({OTHER})
    assert not threads.wakers.harmless(OTHER, "get")


@pytest.mark.parametrize("ticks", [False, True])
@pytest.mark.parametrize("seeds", SEEDS)
def test_no_rest_that_counts_is_wrong(seeds: range, ticks: bool) -> None:
    """100,000 answers in all, at once or by a thread that wakes: always, to some inputs, or to one of hundreds.

    Another 100,000 where that thread also says something by itself whenever it wakes.
    """
    found = {harm: [Found(seed, harm, ticks=ticks) for seed in seeds] for harm in ("none", "always", "kind", "rare")}
    assert sum(each.counting for servers in found.values() for each in servers) == 0
    often = [each for harm, servers in found.items() if harm != "rare" for each in servers]
    assert sum(each.wrong for each in often) == 0
    assert not any(each.harmful for each in often)
    harmless = [learnt for servers in found.values() for each in servers for learnt in each.harmless]
    assert sum(harmless) >= 0.9 * len(harmless)


def test_without_trials_of_each_kind_rests_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation is no place where everything is found."""
    monkeypatch.setattr(learning, "TRIALS", 1)
    monkeypatch.setattr(learning, "EACH", 0)
    assert sum(Found(seed, "kind").wrong for seed in range(3)) > 0
