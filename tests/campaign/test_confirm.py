"""Eager mode: a failure counts when strict mode sees it too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, KnownIssue
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import Listener, Settings, Summary
from otf.campaign.confirm import TOGETHER, ConfirmedPath, Confirmer, confirm, counts, is_stalled
from otf.campaign.doubts import ONCE
from otf.campaign.paths import PathRun
from otf.campaign.results import FailureGroup, PathResult
from otf.campaign.settings import header
from otf.codec import lines
from otf.core import Monitor
from otf.runner.lookout import Lookout
from otf.runner.observing import OBSERVED, TRUSTING
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.verdict import Verdict
from tests.always import always
from tests.campaign.machine import (
    DIES,
    MOST,
    TEA,
    THIEF,
    Button,
    Coin,
    Machine,
    Refund,
    Started,
    bench,
    campaign,
    failing_path,
    inputs,
    judged,
    made_by,
    run,
)
from tests.runner.playing import virtually


@dataclass
class Hasty(Machine):
    """A machine that errs if an input comes less than half a second after the last one."""

    last: float = field(default=-1.0)

    def __call__(self, frame: bytes) -> list[Reply]:
        """Swallow inputs that come too soon."""
        last, self.last = self.last, anyio.current_time()
        return [] if self.last - last < 0.5 else super().__call__(frame)


def test_a_confirmed_failure(tmp_path: Path) -> None:
    """The eager trace stays, the strict one lies beside it, and it is that which is reported and shrunk."""
    summary = run(bench(TEA), tmp_path, mode="eager", stop_first=True)
    [group] = summary.failures.values()
    first = tmp_path / f"path-{group.first.number:04}.jsonl"
    assert group.first.trace == first.with_suffix(".strict.jsonl")
    assert (judged(first).header.mode, judged(group.first.trace).header.mode) == ("eager", "strict")
    assert judged(first).recorded == judged(group.first.trace).recorded == "fail"
    assert group.tries == 1
    sent = inputs(group.first.trace)
    assert sent == inputs(first)[: len(sent)]
    assert group.shrunk is not None
    assert judged(group.shrunk.trace).header.mode == "strict"


def test_what_confirms_a_failure_is_not_driven_once_more(tmp_path: Path) -> None:
    """The strict run of the same inputs counts as the first run of shrinking, which starts one copy less for it."""
    each = list[int]()

    class Counting(Listener):
        def confirming(self, number: int) -> None:
            each.append(-number)

        def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
            del group, length
            each.append(transitions)

    summary = run(bench(TEA), tmp_path, Counting(), mode="eager", seed=4, steps=200, traces=1)
    [group] = summary.failures.values()
    assert (group.tries, group.shrunk is not None) == (1, True)
    assert each.pop(0) == -1  # the path that is confirmed
    assert group.first.steps > 10 > each[0]
    assert group.shrunk is not None
    assert judged(group.shrunk.trace).header.shrunk


def test_a_failure_that_is_known(tmp_path: Path) -> None:
    """What was confirmed once is not confirmed again: the second path with the same failure costs nothing more."""
    summary = run(bench(THIEF), tmp_path, mode="eager", traces=30, shrink=False)
    assert sum(group.count for group in summary.failures.values()) > len(list(tmp_path.glob("*.strict.jsonl")))
    assert all(group.tries for group in summary.failures.values())


@pytest.mark.parametrize(
    ("strictly", "known", "driven"),
    [("Tea", "", [1]), ("Milk", "", [1, 2, 4, 8]), ("Milk", "Milk", [*range(1, 11)])],
)
def test_what_strict_runs_show_otherwise_is_driven_again(
    tmp_path: Path, strictly: str, known: str, driven: list[int]
) -> None:
    """The second, fourth and eighth time of ten: two defects may look the same in eager mode; a known issue each time.

    Else a failure would count under the signature of a known issue, and not be one.
    """
    issue = KnownIssue(lambda failure: failure.signature.seen == known, "known")
    tested = replace(bench(TEA), known_issues=(issue,))
    failing = failing_path(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    failure = failing.verdict.failure
    assert failure is not None
    seen = replace(failure, signature=replace(failure.signature, seen=strictly))
    shown = replace(failing, verdict=replace(failing.verdict, failure=seen))
    assert (seen.signature == failure.signature) == (strictly == "Tea")

    async def again(failing: PathResult, first: str, *, strict: bool) -> ConfirmedPath:
        del failing, first, strict
        return ConfirmedPath(shown, 1)

    async def ten() -> list[bool]:
        confirmer, oracle = Confirmer(tested, Summary()), tested.oracle()
        counted = [await confirmer.confirmed(failing, oracle, again, lambda _: None, doubtful=True) for _ in range(10)]
        assert {each.known for each in counted} == {None, *(() if known else [seen.signature])}
        return [each.known is None for each in counted]

    assert [turn for turn, anew in enumerate(anyio.run(ten), 1) if anew] == driven


def test_what_a_run_has_proven_is_not_driven_again(tmp_path: Path) -> None:
    """Another run of an hour would show nothing of what only its last minute shows."""
    tested = bench(TEA)
    failing = failing_path(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    proven = replace(failing, verdict=replace(failing.verdict, stalled=0.25, proven=True))

    async def again(failing: PathResult, first: str, *, strict: bool) -> ConfirmedPath:
        raise AssertionError(failing, first, strict)

    confirmed = partial(Confirmer(tested, Summary()).confirmed, doubtful=True)
    assert anyio.run(confirmed, proven, tested.oracle(), again, always(None)) == ConfirmedPath(proven)
    assert not is_stalled(proven)


def test_inputs_after_a_failure_do_not_count(tmp_path: Path) -> None:
    """A run that went on past it is driven again only up to it."""
    failing = failing_path(bench(TEA), tmp_path, [Coin(), Coin(), Coin(), Button()])
    longer = replace(failing, events=(*failing.events, Sent(Coin(), "", 9.0)), steps=failing.steps + 1)
    short = longer.upto(failing.verdict.failure)
    assert (list(short.events), short.steps) == (list(failing.events), failing.steps)


def test_a_failure_of_eager_mode_only(tmp_path: Path) -> None:
    """A failure that no strict re-run shows is inconclusive: the machine needs more time than the bench states."""
    summary = run(made_by(Hasty), tmp_path, mode="eager", stop_first=False, traces=3)
    assert (summary.verdict, summary.exit_status, summary.failures) == ("inconclusive", 3, {})
    assert "seen in eager mode only: 3 strict re-runs of the same inputs passed" in summary.inconclusive[0].verdict.why
    assert judged(summary.inconclusive[0].trace).recorded == "fail"
    assert run(made_by(Hasty), tmp_path / "strict", traces=3).verdict == "pass"


@dataclass
class Clocked(Machine):
    """A machine that makes a tea three seconds and a half after the first input, whatever comes meanwhile."""

    begun: bool = False

    def __call__(self, frame: bytes) -> list[Reply]:
        """Set its clock at the first input."""
        clock: list[Reply] = [] if self.begun else [(3.5, b"tea")]
        self.begun = True
        return [*super().__call__(frame), *clock]


@pytest.mark.parametrize(("speed", "fails", "tries"), [(1.0, True, 1), (0.5, False, 3)])
def test_what_comes_by_its_own_clock_is_waited_for(tmp_path: Path, speed: float, fails: bool, tries: int) -> None:
    """A path took its time for many inputs; driven again with few of them, it goes on for as long, by its clock."""
    tested = made_by(Clocked)
    slow = failing_path(tested, tmp_path, [Coin()] * MOST + [Refund()])
    failing = replace(slow, events=(slow.events[0], slow.events[-1]))
    assert slow.events[-1].at == pytest.approx(3.5)
    head = header(tested, Settings(out=tmp_path), 1)
    seen = virtually(partial(confirm, tested, tested.oracle(), head, failing, speed=speed))
    assert (seen.result.verdict.failed, seen.tries) == (fails, tries)


class Words:
    """Words as they are."""

    types = (str,)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "m"

    def encode(self, value: object) -> bytes:
        """Return a word in bytes."""
        return str(value).encode()

    def decode(self, port: str, data: bytes) -> str:
        """Return a word."""
        del port
        return data.decode()


@dataclass
class Door:
    """Is open for 2.5 seconds; if it is wrong, the second question in that time gets a wrong answer."""

    wrong: bool
    opened: float = field(default=-10.0)
    asked: int = 0

    def __call__(self, frame: bytes) -> list[Reply]:
        """Take an input."""
        is_open = anyio.current_time() - self.opened < 2.5
        if frame == b"ask":
            self.asked += 1
            return [(0.0, b"yes" if is_open and not (self.wrong and self.asked > 1) else b"no")]
        if is_open:
            return []
        self.opened, self.asked = anyio.current_time(), 0
        return [(0.0, b"hi"), (2.5, b"bye")]


def _visit(state: str, inp: str) -> Iterator[Transition[str]]:
    if inp == "ask":
        yield goto(state, "yes" if state == "open" else "no")
    elif state == "shut":
        yield goto("open", "hi", timers=[start("end", 2.0, 3.0)])


def _leave(state: str) -> Iterator[Transition[str]]:
    if state == "open":
        yield goto("shut", "bye", after="end")


def test_a_failure_that_a_wait_for_a_timer_hides(tmp_path: Path) -> None:
    """Late in a campaign few timers are waited for: the first strict re-run waits for none either, and shows it."""
    number = count(1)
    spec = Spec(_visit, "shut", ["open", "ask"], _leave, name="door")
    door = Bench.on_ports(
        spec=spec, codec=Words(), ports={"m": inprocess(lambda: Door(next(number) > 8))}, name="door", quiescence=0.2
    )
    summary = run(door, tmp_path, mode="eager", traces=40, steps=3, stop_first=True, shrink=False)
    [group] = summary.failures.values()
    assert (group.first.number > 8, group.tries) == (True, 1)


def test_re_runs_that_are_inconclusive_are_not_called_passed(tmp_path: Path, busy: Callable[[int], None]) -> None:
    """The reason counts them, with the reason of the first; if all were, nothing says that a mode is to blame."""
    busy(2)
    [result] = run(made_by(Hasty), tmp_path / "two", mode="eager", stop_first=False, traces=1).inconclusive
    assert "eager mode, and of 3 strict re-runs of the same inputs 1 passed, 2 were inconclusive" in result.verdict.why
    assert "(the first: the machine was busy)" in result.verdict.why
    busy(3)
    [result] = run(made_by(Hasty), tmp_path / "all", mode="eager", stop_first=False, traces=1).inconclusive
    assert "all strict re-runs of the same inputs were inconclusive (the first: the machine" in result.verdict.why
    busy(1)
    [group] = run(bench(TEA), tmp_path / "one", mode="eager", stop_first=True, shrink=False).failures.values()
    assert group.tries == 1


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let so many of the next strict re-runs be inconclusive, since the machine is busy."""
    left, whole = [0], PathRun.run

    async def unclear(path: PathRun, *given: Any, **more: Any) -> PathResult:  # noqa: ANN401 -- those of a run
        result = await whole(path, *given, **more)
        if not left[0] or path.header.strategy != "script":
            return result
        left[0] -= 1
        return replace(result, verdict=Verdict("inconclusive", why="the machine was busy"))

    monkeypatch.setattr(PathRun, "run", unclear)
    return lambda number: left.__setitem__(0, number)


def test_there_is_no_time_to_see_it_again(tmp_path: Path) -> None:
    """Strict re-runs end with the time of the campaign, which says so; one that continues drives the path again."""
    whole = run(made_by(Hasty), tmp_path / "whole", mode="eager", stop_first=False, traces=1)
    assert "3 strict re-runs" in whole.inconclusive[0].verdict.why
    events = judged(tmp_path / "whole" / "path-0001.jsonl").events
    [result] = run(made_by(Hasty), tmp_path / "a", mode="eager", traces=1, time=events[-1].at + 3.0).inconclusive
    over = "a failure was seen in eager mode, and the time of the campaign was over before it was seen again"
    assert over in result.verdict.why
    assert "re-runs" not in result.verdict.why
    [result] = run(made_by(Hasty), tmp_path / "a", mode="eager", traces=1, resume=True).inconclusive
    assert "3 strict re-runs" in result.verdict.why


@dataclass
class Aged(Machine):
    """A machine that errs once it has run for forty seconds."""

    born: float = field(default_factory=anyio.current_time)

    def __call__(self, frame: bytes) -> list[Reply]:
        """Serve tea instead of coffee when it is old."""
        self.faults = (TEA,) if anyio.current_time() - self.born > 40 else ()
        return super().__call__(frame)


def test_a_proven_failure_that_there_is_no_time_to_see_again(tmp_path: Path) -> None:
    """A wrong value after a long time is not a delay: it counts, and is said to be seen once."""
    aged = made_by(partial(Aged, delay=0.1))
    summary = run(aged, tmp_path, mode="eager", traces=1, steps=10_000, time=60.0, shrink=False)
    [group] = summary.failures.values()
    failure = group.first.verdict.failure
    assert (summary.verdict, group.signature.seen) == ("fail", "Tea")
    assert failure is not None
    assert ONCE in failure.note


def test_a_death_that_does_not_come_again(tmp_path: Path) -> None:
    """A system that died once has died, though no strict re-run sees it again: no pace makes a death up."""
    machines = iter([Machine((DIES,))])
    summary = run(made_by(lambda: next(machines, Machine())), tmp_path, mode="eager", seed=2, steps=200, traces=1)
    [group] = summary.failures.values()
    assert (summary.verdict, summary.exit_status) == ("fail", 1)
    assert (group.signature.kind, group.tries) == ("ended", 3)
    assert judged(group.first.trace).header.mode == "eager"
    assert group.shrunk is None or not group.shrunk.rate


def test_contact_that_is_lost_before_it_is_confirmed(tmp_path: Path) -> None:
    """A failure that cannot be confirmed, since contact was lost, is inconclusive, and the trouble is reported."""
    summary = run(made_by(Started((TEA,), good=1)), tmp_path, mode="eager", seed=4, steps=200)
    assert summary.verdict == "inconclusive"
    assert "failed" in summary.trouble
    [result] = summary.inconclusive
    assert "a failure was seen in eager mode, and there was no contact to see it again" in result.verdict.why


def test_interrupted_before_it_is_confirmed(tmp_path: Path) -> None:
    """An interruption while the failure is seen again leaves it as inconclusive; it is not forgotten."""
    starts: list[int] = []
    scopes: list[anyio.CancelScope] = []

    def make() -> Callable[[bytes], list[Reply]]:
        starts.append(1)
        machine = Machine((TEA,))

        def take(frame: bytes) -> list[Reply]:
            if len(starts) == again:
                scopes[0].cancel()
            return machine(frame)

        return take

    again = -1
    tested = run(made_by(make), tmp_path / "whole", mode="eager", stop_first=True, shrink=False)
    [group] = tested.failures.values()
    again = group.first.number + 1
    starts.clear()
    machines = campaign(made_by(make), tmp_path / "cut", mode="eager", stop_first=True)

    async def interrupted() -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await machines.run()

    virtually(interrupted)
    [result] = machines.summary.inconclusive
    assert "an interruption came before it could be seen again" in result.verdict.why


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_eager_mode_saves_waiting(tmp_path: Path, delay: float) -> None:
    """The same inputs take a fraction of the time: silence is waited for once a transition, and at the end."""

    async def timed(mode: str) -> float:
        began = anyio.current_time()
        summary = await campaign(bench(delay=delay), tmp_path / mode, mode=mode, traces=10).run()
        assert summary.verdict == "pass"
        return anyio.current_time() - began

    strict, eager = (virtually(partial(timed, mode)) for mode in ("strict", "eager"))
    assert eager < strict / 3
    traces = [[inputs(path) for path in sorted((tmp_path / mode).glob("path-*"))] for mode in ("strict", "eager")]
    assert traces[0] == traces[1]
    assert all(isinstance(judged(path).events[-1], Quiet) for path in (tmp_path / "eager").glob("path-*"))


def test_a_burst_is_not_confirmed(tmp_path: Path) -> None:
    """What only several inputs at once bring to light is not a shortcut's doing: it counts as it is."""
    summary = run(made_by(Hasty), tmp_path, burst=2, traces=20, shrink=False)
    assert summary.verdict == "fail"
    assert all(group.tries == 0 for group in summary.failures.values())
    assert not list(tmp_path.glob("*.strict.jsonl"))
    assert {type(inp) for inp in inputs(tmp_path / "path-0001.jsonl")} >= {Coin, Button}


def test_a_death_after_which_nothing_is_there(tmp_path: Path) -> None:
    """A death that was seen counts, even if the system cannot be started again or reached any more."""
    summary = run(made_by(Started((DIES,), good=1)), tmp_path, mode="eager", seed=2, steps=200)
    [group] = summary.failures.values()
    assert (summary.verdict, summary.exit_status, group.signature.kind) == ("fail", 1, "ended")
    assert (group.tries, group.shrunk, summary.inconclusive) == (0, None, [])
    assert "failed" in summary.trouble


def test_interrupted_while_a_death_is_confirmed(tmp_path: Path) -> None:
    """A death counts, whatever keeps it from being seen again."""
    summary = died(tmp_path, "eager", cut=2 * TOGETHER)
    assert (summary.verdict, [group.signature.kind for group in summary.failures.values()]) == ("fail", ["ended"])


@pytest.mark.parametrize("mode", ["eager", "strict"])
def test_interrupted_as_a_system_dies(tmp_path: Path, mode: str) -> None:
    """Ctrl-C ends a system that was started in the same terminal as well: that is not a failure of it."""
    summary = died(tmp_path, mode, cut=TOGETHER / 2)
    assert (summary.verdict, summary.failures) == ("inconclusive", {})
    assert "the same signal may have ended both" in summary.inconclusive[0].verdict.why


def died(folder: Path, mode: str, *, cut: float) -> Summary:
    """What a campaign comes to that is interrupted so many seconds after its system has died."""
    scopes: list[anyio.CancelScope] = []

    class Cutting(Listener):
        def event(self, number: int, event: Event) -> None:
            del number
            if isinstance(event, Closed):
                scopes[0].deadline = anyio.current_time() + cut

    machines = campaign(bench(DIES), folder, Cutting(), mode=mode, seed=2, steps=200, shrink=False)

    async def interrupted() -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await machines.run()

    virtually(interrupted)
    return machines.summary


def test_the_end_of_a_long_path(tmp_path: Path) -> None:
    """An hour is not driven again for a failure that its last inputs show."""
    sent = list[bytes]()

    def machine() -> Callable[[bytes], list[Reply]]:
        works = Machine((TEA,), delay=0.5)

        def answer(frame: bytes) -> list[Reply]:
            sent.append(frame)
            return works(frame)

        return answer

    tested = made_by(machine)
    seldom = [Button(), Refund(), Coin()] * 400
    path = failing_path(tested, tmp_path, [*seldom, Coin(), Coin(), Button()])
    del sent[:]
    head = header(tested, Settings(out=tmp_path), 1)
    found = virtually(partial(confirm, tested, tested.oracle(), head, path))
    assert found.result.verdict.failed
    assert (found.tries, found.result.steps) == (1, len(sent))
    assert len(sent) <= 8


@pytest.mark.parametrize(
    ("fault", "inputs", "outcome"),
    [(TEA, [Coin(), Coin(), Coin(), Button()], "fail"), (THIEF, [Coin(), Coin(), Refund()], "inconclusive")],
)
def test_no_time_to_drive_again(tmp_path: Path, fault: str, inputs: list[object], outcome: str) -> None:
    """What no delay explains counts, seen once; money that has not come may have been late."""
    tested = bench(fault)
    path, head = failing_path(tested, tmp_path, inputs), header(tested, Settings(out=tmp_path), 1)
    found = virtually(partial(confirm, tested, tested.oracle(), head, path, until=-1.0))
    assert (found.result.verdict.outcome, found.tries) == (outcome, 0)
    assert (found.result.verdict.failure is not None and ONCE in found.result.verdict.failure.note) == (
        outcome == "fail"
    )


@pytest.mark.parametrize(("silence", "outcome"), [(OBSERVED, "fail"), (f"{TRUSTING} wrongly", "inconclusive")])
@pytest.mark.parametrize("at", [1.0, 60.0])
@pytest.mark.parametrize("said", ["done", "gone"])
def test_no_time_to_drive_a_run_again_that_trusted_threads(
    silence: str, outcome: str, at: float, said: str, tmp_path: Path
) -> None:
    """Such a run may have sent an input too early: only one that trusted none shows a failure, however long it is."""
    spec: Spec[int, str] = Spec(lambda state, _: [goto(state), goto(state, "done")], 0, ["ask"])
    tested = Bench.on_ports(spec, lines({str: "{}"}, port="m"), {"m": inprocess(Machine)})
    monitor = Monitor(tested.oracle())
    events: tuple[Event, ...] = (Sent("ask", "m", at), Quiet(at + 0.1, by="observed"), Seen(said, "m", at + 0.2))
    [*_, verdict] = map(monitor.tell, events)
    assert verdict is not None
    path = PathResult(1, verdict, 1, tmp_path / "path-0001.jsonl", events, silence=silence)
    head = header(tested, Settings(out=tmp_path), 1)
    found = virtually(partial(confirm, tested, tested.oracle(), head, path, until=-1.0))
    assert found.result.verdict.outcome == outcome


@pytest.fixture
def stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine stall for a quarter of a second in each run."""

    def stalled(_lookout: Lookout) -> float:
        return 0.25

    monkeypatch.setattr(Lookout, "stalled", stalled)


@pytest.mark.usefixtures("stalled")
@pytest.mark.parametrize("mode", ["strict", "eager"])
def test_a_failure_that_was_seen_once_beside_a_stall(tmp_path: Path, mode: str) -> None:
    """It is driven again, and inconclusive if no other of five runs shows it, with the stall and its length."""
    machines = iter([Machine((THIEF,))] * (1 if mode == "strict" else 2))
    tested = made_by(lambda: replace(next(machines, Machine())))
    summary = run(tested, tmp_path, mode=mode, seed=4, steps=200, traces=1)
    [result] = summary.inconclusive
    assert not summary.failures
    assert "seen once in 5 strict runs" in result.verdict.why
    assert "beside a stall of 0.250 s" in result.verdict.why


@pytest.mark.usefixtures("stalled")
def test_what_no_delay_explains_counts_after_an_eager_and_a_strict_run(tmp_path: Path) -> None:
    """Tea instead of coffee is wrong at any time: two runs show it, though one is eager, and the other stalled."""
    machines = iter([Machine((TEA,))] * 2)
    tested = made_by(lambda: replace(next(machines, Machine())))
    summary = run(tested, tmp_path, mode="eager", seed=4, steps=200, traces=1, shrink=False)
    [group] = summary.failures.values()
    assert (group.signature.seen, group.tries) == ("Tea", 1)


@pytest.mark.usefixtures("stalled")
@pytest.mark.parametrize("mode", ["strict", "eager"])
def test_a_failure_that_is_seen_twice_beside_a_stall(tmp_path: Path, mode: str) -> None:
    """A busy machine hides no failure: one that comes again counts, and nothing says that it depends on chance."""
    summary = run(bench(THIEF), tmp_path, mode=mode, seed=4, steps=200, traces=1)
    [group] = summary.failures.values()
    assert group.tries == 1


@pytest.mark.usefixtures("stalled")
def test_a_wrong_answer_beside_a_stall(tmp_path: Path) -> None:
    """No delay turns coffee into tea: it counts at once."""
    summary = run(bench(TEA), tmp_path, mode="strict", seed=4, steps=200, traces=1)
    [group] = summary.failures.values()
    assert (group.signature.seen, group.tries) == ("Tea", 0)


@pytest.mark.usefixtures("stalled")
def test_a_busy_machine_makes_another_answer_late_in_each_run(tmp_path: Path) -> None:
    """Answers of one kind that are missing at another input in each run do not confirm each other."""
    lost = iter(range(9, 0, -1))

    def machine() -> Callable[[bytes], list[Reply]]:
        works, which, coffees = Machine(), next(lost), count(1)

        def answer(frame: bytes) -> list[Reply]:
            replies = works(frame)
            return [] if replies and frame == b"button" and next(coffees) == which else replies

        return answer

    summary = run(made_by(machine), tmp_path, seed=4, steps=200, traces=1)
    [result] = summary.inconclusive
    assert not summary.failures
    assert "strict runs of the same inputs (missing: Button() -> expected Coffee" in result.verdict.why


@pytest.mark.parametrize(("stall", "fails"), [(0.9, True), (1.1, False)])
def test_a_machine_that_is_put_aside_in_each_run(
    stall: float,
    fails: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After more than a second the system itself may have given up: that an answer is missing then proves nothing."""
    monkeypatch.setattr(Lookout, "stalled", always(stall))

    def machine() -> Callable[[bytes], list[Reply]]:
        works, coffees = Machine(), count(1)

        def answer(frame: bytes) -> list[Reply]:
            replies = works(frame)
            return [] if replies and frame == b"button" and next(coffees) == 2 else replies

        return answer

    summary = run(made_by(machine), tmp_path, seed=4, steps=200, traces=1)
    assert bool(summary.failures) is fails
    assert bool(summary.inconclusive) is not fails


@pytest.mark.usefixtures("stalled")
def test_the_same_wrong_output_at_another_input(tmp_path: Path) -> None:
    """What comes beside stalls, in the same state and with the same values, confirms itself wherever it comes."""
    begins = iter([9, *range(8, 0, -1)])

    def machine() -> Callable[[bytes], list[Reply]]:
        works, begin, given = Machine(), next(begins), count(1)

        def answer(frame: bytes) -> list[Reply]:
            paid, replies = works.paid, works(frame)
            wrong = frame == b"button" and paid == 1 and next(given) >= begin
            return [(0.0, b"tea")] if wrong else replies

        return answer

    summary = run(made_by(machine), tmp_path, seed=4, steps=400, traces=1)
    [group] = summary.failures.values()
    assert (group.signature.kind, group.signature.seen) == ("wrong", "Tea")


@pytest.mark.usefixtures("stalled")
def test_a_death_beside_a_stall(tmp_path: Path) -> None:
    """A death is a death, however busy the machine."""
    machines = iter([Machine((DIES,))])
    summary = run(made_by(lambda: next(machines, Machine())), tmp_path, seed=2, steps=200, traces=1)
    [group] = summary.failures.values()
    assert (group.signature.kind, group.tries) == ("ended", 0)


@pytest.mark.parametrize(("timers", "alike"), [("shut shut", True), ("shut lock", False), ("shut", False), ("", False)])
def test_what_one_timer_brings_is_alike_whatever_came_last(tmp_path: Path, timers: str, alike: bool) -> None:
    """Its output was due by the timer, and not by the input before it, which is another one in each run."""
    failing, seen = failing_path(bench(TEA), tmp_path, [Coin(), Coin(), Coin(), Button()]), list[PathResult]()
    failure = failing.verdict.failure
    assert failure is not None
    for at, timer in zip(range(2), [*timers.split(), "", ""], strict=False):
        times = (f"due 0.4 to 0.6 s after the timer {timer!r} was started: between 1.0 s and 1.{at} s",) * bool(timer)
        early = replace(failure.signature, kind="early", input=str(at), exact=None)
        verdict = Verdict("fail", replace(failure, signature=early, step=10 * at, times=times), stalled=0.3)
        seen.append(replace(failing, verdict=verdict))
    assert (seen[0].verdict.failure == seen[1].verdict.failure) is False
    assert counts(seen[0], seen[1:]) is alike


def test_failures_at_the_same_time_are_confirmed_once(tmp_path: Path) -> None:
    """Of jobs that fail in the same way at the same time one is driven again; the others wait, and count with it."""
    summary = run(bench(TEA, delay=0.5), tmp_path, mode="eager", jobs=8, traces=8, steps=200, shrink=False)
    failures = [judged(path).verdict.failure for path in tmp_path.glob("path-????.jsonl")]
    signatures = {failure.signature for failure in failures if failure is not None}
    assert sum(group.count for group in summary.failures.values()) == len(failures) == 8
    assert len(list(tmp_path.glob("*.strict.jsonl"))) == len(signatures) < 8
