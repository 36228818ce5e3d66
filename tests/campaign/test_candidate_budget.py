"""The runs of a search: bounds in time and number, failures that depend on chance, bursts and injected faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import anyio
import pytest
import trio
from trio.testing import MockClock

from benchmarks.shrink_classical import ALGORITHMS
from otf.campaign import Budget, Settings, Shrinker
from otf.campaign.candidate_budget import spared
from otf.campaign.settings import header
from otf.core import Symbol
from otf.shrink.issue import NodeSet
from otf.shrink.shortest_ways import ModelMap, Successor
from tests.campaign.machine import (
    FAULTS,
    LONG,
    TEA,
    Button,
    Coin,
    Machine,
    bench,
    failing_path,
    inputs,
    judged,
    made_by,
    shrinker_of,
    shrunk_from,
)
from tests.runner.playing import virtually

# Bounds


@pytest.mark.parametrize(
    ("budget", "resets"),
    [(Budget(resets=1), 1), (Budget(resets=5), 5), (Budget(transitions=1), 1)],
)
def test_a_budget_ends_the_search(tmp_path: Path, budget: Budget, resets: int) -> None:
    """When the budget is used up, the result is the shortest trace so far, marked as not minimal."""
    sent = [*LONG[:-5], *[Coin()] * 20, Button()]
    shrunk = shrunk_from(bench(TEA), tmp_path, sent, budget=budget, algorithm=ALGORITHMS["elements"], mode="strict")
    assert (shrunk.resets, shrunk.minimal, shrunk.rate) == (resets, False, 1.0)
    assert shrunk.steps == len(LONG) - 5 + 21 - (resets - 1)  # the first of them is the original
    assert judged(shrunk.trace).recorded == "fail"


def test_the_time_cuts_off_a_run(tmp_path: Path) -> None:
    """A run that is still going on half a second after the time is cut off; the reason is part of the result."""
    shrunk = shrunk_from(bench(TEA), tmp_path, LONG, budget=Budget(seconds=1e-6), mode="strict")
    assert (shrunk.tried, shrunk.rate, shrunk.minimal) == (0, 0.0, False)
    assert shrunk.ended == "the time of 1e-06 s was used up"
    assert (shrunk.trace, shrunk.steps) == (tmp_path / "path-0001.jsonl", len(LONG) - 2)
    assert [path.name for path in tmp_path.iterdir()] == ["path-0001.jsonl"]


def test_time_that_is_gone_is_not_used_again(tmp_path: Path) -> None:
    """A search in the second half of its time runs fewer candidates; half of its time is left however much is gone."""
    sent, budget = [*LONG[:-5], *[Coin()] * 20, Button()], Budget(seconds=3000.0)
    runs = [
        shrunk_from(
            bench(TEA),
            tmp_path / str(spent),
            sent,
            budget=budget,
            spent=spent,
            algorithm=ALGORITHMS["elements"],
            mode="strict",
        )
        for spent in (0.0, 1500.0, 9000.0)
    ]
    assert runs[0].resets > runs[1].resets == runs[2].resets > 1
    assert {each.ended for each in runs} == {"the time of 3e+03 s was used up"}


def test_the_time_ends_work_on_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with very many spontaneous moves takes long to say where an input leads: it is not asked any more."""
    asked, find = 0, ModelMap._find  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- it alone asks the model

    def slow(self: ModelMap, nodes: NodeSet, inp: Symbol) -> Iterator[Successor]:
        nonlocal asked
        clock = trio.lowlevel.current_clock()
        if isinstance(clock, MockClock):
            asked += 1
            clock.jump(1000.0)
        return find(self, nodes, inp)

    monkeypatch.setattr(ModelMap, "_find", slow)
    shrunk = shrunk_from(bench(TEA), tmp_path, LONG, budget=Budget(seconds=4000.0), mode="strict")
    assert shrunk.ended == "the time of 4e+03 s was used up"
    assert 2 < asked < 10


def test_a_budget_of_nothing(tmp_path: Path) -> None:
    """Without any budget the original is run once more, and that is all."""
    shrunk = shrunk_from(bench(TEA), tmp_path, LONG, budget=Budget(resets=0))
    assert (shrunk.resets, shrunk.steps, shrunk.minimal, shrunk.rate) == (1, len(LONG) - 2, False, 1.0)


# Failures that depend on chance


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_that_does_not_show_again(tmp_path: Path, jobs: int) -> None:
    """A failure that no run shows again has the rate 0, and the result is the original trace."""
    copies = count(1)
    tested = made_by(lambda: Machine((TEA,) if next(copies) == 1 else ()))
    failing = failing_path(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    shrunk = virtually(lambda: shrinker_of(tested, tmp_path, jobs=jobs).run(failing))
    assert (shrunk.rate, shrunk.trace, shrunk.steps) == (0.0, failing.trace, 4)
    assert shrunk.resets > 1
    assert shrunk.verdict == failing.verdict
    assert [path.name for path in tmp_path.iterdir()] == ["path-0001.jsonl"]


def test_a_failure_that_cannot_be_shorter(tmp_path: Path) -> None:
    """What is minimal already is run again, so that the shrunk trace is there and its rate is known."""
    shrunk = shrunk_from(bench(TEA), tmp_path, [Coin(), Coin(), Coin(), Button()])
    assert (shrunk.steps, shrunk.rate, shrunk.minimal) == (4, 1.0, True)
    assert shrunk.trace.name == "path-0001.shrunk.jsonl"


@dataclass
class Moody:
    """A machine of which only some copies give tea: those with these numbers."""

    wrong: frozenset[int]
    starts: int = 0

    def __call__(self) -> Machine:
        """Start one."""
        self.starts += 1
        return Machine((TEA,) if self.starts in self.wrong else ())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_that_depends_on_chance(tmp_path: Path, jobs: int) -> None:
    """Its rate is stated before and after; candidates are repeated, so that it is shrunk all the same."""
    random = Random(1)
    tested = made_by(Moody(frozenset({1, *[at for at in range(3, 5000) if random.random() < 0.4]})))
    failing = failing_path(tested, tmp_path, LONG)
    shrunk = virtually(lambda: shrinker_of(tested, tmp_path, jobs=jobs).run(failing))
    # of two copies either may be the n-th to start: by chance 10 of 10 runs fail once in 10,000 times
    assert (0.1 if jobs == 1 else 0.0) <= shrunk.before <= (0.7 if jobs == 1 else 0.9)
    assert shrunk.tried == 10
    assert 0.1 <= shrunk.rate <= 0.7
    assert (shrunk.runs, shrunk.minimal) == (20, True)
    assert inputs(shrunk.trace) == [Coin(), Coin(), Coin(), Button()]


def test_a_result_that_fails_more_rarely_is_shrunk_more_patiently(tmp_path: Path) -> None:
    """Where the original failed at once but the result only now and then, the search is made again with repeats."""
    random = Random(2)
    tested = made_by(Moody(frozenset({1, 2, *[at for at in range(3, 5000) if random.random() < 0.5]})))
    failing = failing_path(tested, tmp_path, LONG)
    shrunk = virtually(lambda: shrinker_of(tested, tmp_path).run(failing))
    assert (shrunk.before, shrunk.steps) == (1.0, 4)
    assert 0.2 <= shrunk.rate <= 0.8


def test_an_original_that_never_fails_again_failed_once(tmp_path: Path) -> None:
    """Where its shrunk run fails, the run in which it was found counts: it is not said to recur never."""
    found = list[tuple[float, int]]()
    last = 5000
    for turn in ("all", "but the last ten"):
        moody = Moody(frozenset({1, *range(2, last, 2)}))
        shrunk = shrunk_from(made_by(moody), tmp_path / turn, LONG, confirmed=True)
        found.append((shrunk.before, shrunk.tried))
        last = moody.starts - 9
    assert found == [(0.5, 10), (1 / 11, 11)]


def test_a_budget_of_time_ends_repeats(tmp_path: Path) -> None:
    """A candidate is not repeated beyond the budget."""
    tested = made_by(Moody(frozenset({1, 4})))
    failing = failing_path(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    shrunk = virtually(lambda: shrinker_of(tested, tmp_path, budget=Budget(resets=11)).run(failing))
    assert (shrunk.resets, shrunk.before, shrunk.minimal) == (11, 0.1, False)


# Bursts


def test_a_burst_is_shrunk_to_the_smallest_that_fails(tmp_path: Path) -> None:
    """What fails one by one as well needs no race to be explained: the trace says that no burst is needed."""
    tested = bench(*FAULTS)
    head = header(tested, Settings(out=tmp_path, mode="strict", burst=3), 1, strategy="script")
    failing = failing_path(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    shrinker = Shrinker(bench=tested, oracle=tested.oracle(), header=head)
    shrunk = virtually(lambda: shrinker.run(failing))
    assert judged(shrunk.trace).header.burst == 1
    assert shrunk.steps == 4


# Injected faults

INJECTED = ("p in 1 drop", "p in 2 drop", "q out 1 delay", "q out 3 drop")


@pytest.mark.parametrize(
    ("needed", "left"),
    [
        ([], ()),
        (["p in 2 drop"], ("p in 2 drop",)),
        (["p in 1 drop", "q out 3 drop"], ("p in 1 drop", "q out 3 drop")),
        (INJECTED, INJECTED),
    ],
)
def test_the_fewest_that_show_the_failure_are_left(needed: Sequence[str], left: tuple[str, ...]) -> None:
    """Whatever is needed stays, in its order, and nothing else does."""

    async def shows(faults: tuple[str, ...]) -> bool:
        return set(needed) <= set(faults)

    assert anyio.run(spared, INJECTED, shows) == left
