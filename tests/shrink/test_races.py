"""Races: failures of inputs that are sent at once, which show by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from math import inf
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from trio.testing import MockClock

from benchmarks.racing.own import KINDS, bench
from benchmarks.racing.server import Store, acting
from benchmarks.shrink_simulated import unpaused
from otf.campaign.candidate_budget import BudgetedRuns
from otf.campaign.settings import Budget
from otf.codec.by_port import At
from otf.core import Oracle
from otf.shrink import Candidate, Issue, ModelStep, Setting, StepPlan, issue_of, last_bursts
from otf.shrink.issue import completed, meets
from otf.trace.events import Event, Quiet, Seen, Sent

FEWEST = {"lost_update": 3, "double_spend": 5, "stale_read": 4, "check_then_act": 2, "id_reuse": 2}
RATE = 0.4  # of the bursts of which the server does more than one thing at a time
TIMES = 30
SEEDS = 3


class Server:
    """A server whose clients interrupt one another by chance."""

    def __init__(self, kind: str, seed: object) -> None:
        self.oracle: Oracle = bench(kind=kind).oracle()
        self.runs: int = 0
        self._kind, self._random = kind, Random(str(seed))

    def failing(self) -> Issue:
        """Return a long run that fails."""
        model = self.oracle.model
        offered = [cast("At", each.value) for each in model.enabled_inputs(model.initial)]
        while True:
            bursts = [self._random.sample(offered, self._random.choice([1, 2])) for _ in range(40)]
            issue = self._judged([each for each in bursts if len({inp.port for inp in each}) == len(each)])
            if issue is not None and len(issue) > 10:
                return issue

    def shows(self, candidate: Candidate) -> Issue | None:
        """Return the issue that a run of a candidate shows, None if it passes."""
        assert isinstance(candidate, StepPlan)
        together = groupby(enumerate(candidate.steps), lambda each: each[1].burst or -each[0])
        return self._judged([cast("At", step.input.value) for _, step in group] for _, group in together)

    def _judged(self, bursts: Iterable[Sequence[At]]) -> Issue | None:
        self.runs += 1
        issue = issue_of(self.oracle, self._events(bursts), bursts=True)
        return issue if issue.signature else None

    def _events(self, bursts: Iterable[Sequence[At]]) -> Iterator[Event]:
        store = Store()
        for burst in bursts:
            yield from (Sent(inp, inp.port, 0.0) for inp in burst)
            yield from self._answers(store, burst)
            yield Quiet(0.0)

    def _answers(self, store: Store, burst: Sequence[At]) -> Iterator[Event]:
        assert len({each.port for each in burst}) == len(burst)
        said: list[Any] = [each.message for each in burst]
        lines = [f"{each.client} {each.word} {each.number}".encode() for each in said]
        acts = {inp.port: acting(store, self._kind, line) for inp, line in zip(burst, lines, strict=True)}
        mixed, port = self._random.random() < RATE, ""
        while acts:
            port = self._random.choice([*acts]) if mixed or port not in acts else port
            try:
                next(acts[port])
            except StopIteration as done:
                del acts[port]
                yield Seen(At(port, _told(done.value)), port, 0.0)


def _told(text: str) -> object:
    from benchmarks.racing.own import Told

    return Told(text)


class Turns(BudgetedRuns):
    """Runs of a simulated server; each takes so many seconds."""

    __slots__ = ("seconds", "server")
    server: Server
    seconds: float

    def more(self) -> bool:
        """Return whether there is time."""
        return anyio.current_time() < self.deadline

    async def _answers(self, candidate: Candidate, copies: int) -> list[Issue | None]:
        await anyio.sleep(self.seconds)
        found = self.server.shows(candidate)
        if found is not None and found.signature == self.issue.signature:
            self.tries.best = cast("Any", found)
        return [found] * copies


def _turned(server: Server, issue: Issue, seconds: float = 0.0, deadline: float = inf) -> tuple[Issue | None, float]:
    """Return the shortest run that showed the failure, and when the turns ended."""
    tries = cast("Any", SimpleNamespace(best=None, signature=issue.signature))
    turns = Turns(tries, issue, Budget(), deadline, 1, lambda _: None)
    turns.server, turns.seconds = server, seconds
    candidates, clock = completed(last_bursts(issue, server.oracle)), MockClock(autojump_threshold=0)

    async def timed() -> float:
        await turns.in_turns(candidates)
        return anyio.current_time()

    ended = anyio.run(timed, backend="trio", backend_options={"clock": clock})
    return cast("Issue | None", tries.best), ended


def _repeated(server: Server, issue: Issue, candidate: Candidate) -> Issue | None:
    shown = (server.shows(candidate) for _ in range(TIMES))
    return next((each for each in shown if each is not None and each.signature == issue.signature), None)


def _shrunk(server: Server, issue: Issue) -> Issue:
    search, answer = unpaused(issue, Setting(server.oracle)), partial(_repeated, server, issue)
    try:
        candidate = next(search)
        while True:
            candidate = search.send(answer(candidate))
    except StopIteration as done:
        return cast("Issue", done.value)


@pytest.mark.parametrize("kind", [*KINDS])
def test_a_race_is_shrunk_to_the_fewest_inputs(kind: str) -> None:
    """Of five kinds of races, with each seed: by the last bursts, in turns, and then by less of these."""
    for seed in range(SEEDS):
        server = Server(kind, seed)
        issue = server.failing()
        guessed, _ = _turned(server, issue)
        assert guessed is not None
        assert len(guessed) < len(issue)
        assert len(_shrunk(server, guessed)) == FEWEST[kind]


class _Sure(Server):
    """A server that fails in every run of all inputs, and in no shorter one."""

    whole: Issue | None = None

    def shows(self, candidate: Candidate) -> Issue | None:
        """Return the issue of the whole run."""
        return None if self.whole is None or candidate.limit < len(self.whole) else self.whole


def test_where_each_start_takes_long_most_of_the_time_is_left_for_leaving_out_inputs() -> None:
    """Guesses of the last bursts that do not show the failure end after a third of the time."""
    server = _Sure("lost_update", 1)
    issue = server.whole = server.failing()
    shown, ended = _turned(server, issue, seconds=1.0, deadline=18.0)
    assert shown is issue
    assert 6 <= ended <= 7


def test_what_is_sent_at_once_stays_so() -> None:
    """A candidate without an input of a burst sends the others of it at once, and nothing that was apart before."""
    server = Server("check_then_act", 1)
    taken, *_ = server.oracle.model.enabled_inputs(server.oracle.model.initial)
    nodes = frozenset([server.oracle.model.initial])
    a, b, c = (ModelStep(nodes, taken, nodes, burst) for burst in (1, 1, 2))
    assert meets([a, b, c])
    assert not meets([a, c])
    assert not meets([a._replace(burst=0), b._replace(burst=0)])
