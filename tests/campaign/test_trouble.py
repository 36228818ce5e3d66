"""Trouble with the line: a path is gone again as often as the bench says, and then nothing was decided."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from otf.adapter import Arrival, Bench, Line, Trouble
from otf.adapters.inprocess import InprocessLine, open_inprocess
from otf.campaign import Campaign, Listener, Settings, Summary
from otf.campaign.contact import NoWorkersError
from otf.campaign.lanes import InProcess, Lease, Leased
from otf.codec import lines
from otf.errors import ContactError
from otf.models.coffee import Button, Coffee, Coin, coffee
from otf.models.coffee import Machine as CoffeeMachine
from otf.trace.events import Event, Seen
from tests.campaign.machine import TEA, Machine, Tea, bench, campaign, inputs, made_by, run
from tests.runner.playing import virtually

CODEC = lines({Coin: "coin {cents}", Button: "button", Coffee: "coffee"}, port="line")


class Troubled(InprocessLine):
    """A line to a coffee machine whose cable is pulled out after the first input."""

    def receive(self) -> list[Arrival]:
        """Say that the cable is gone."""
        return [Trouble("the cable is gone")]


def driven(folder: Path, troubles: int, retries: int) -> tuple[Summary, int]:
    """A campaign of one path on a machine with trouble in so many starts; and how often it was started."""
    starts = 0

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        nonlocal starts
        starts += 1
        async with open_inprocess(lambda: CoffeeMachine().take) as line:
            if starts <= troubles:
                line.__class__ = Troubled
            yield {"line": line}

    tested = Bench(
        coffee, codec=CODEC, connect=connect, outputs=("line",), retries=retries, name="cable", quiescence=0.01
    )
    return anyio.run(Campaign(tested, Settings(out=folder, traces=1, steps=10)).run), starts


@pytest.mark.parametrize(("troubles", "retries", "verdict"), [(1, 1, "pass"), (2, 2, "pass"), (2, 1, "inconclusive")])
def test_a_path_is_run_again(tmp_path: Path, troubles: int, retries: int, verdict: str) -> None:
    """A path is run again after trouble on its line; its result counts only if the trouble does not end."""
    summary, starts = driven(tmp_path, troubles, retries)
    assert (summary.verdict, summary.paths, starts) == (verdict, 1, min(troubles, retries) + 1)


def test_trouble_that_does_not_end_has_its_exit_status(tmp_path: Path) -> None:
    """Nothing was decided, and the path says why."""
    summary, _ = driven(tmp_path, 5, 0)
    assert summary.exit_status == 3
    assert summary.inconclusive[0].verdict.why == "the line was at fault: line: the cable is gone"


def away(seconds: float, since: float = 90.0) -> Callable[[], Machine]:
    """A machine that cannot be started for so many seconds."""
    began: float | None = None

    def make() -> Machine:
        nonlocal began
        now = anyio.current_time()
        began = now if began is None else began
        if since <= now - began < since + seconds:
            raise ContactError("the port is in use")
        return Machine()

    return make


def failed_starts(out: Path) -> list[tuple[int, str, float]]:
    """The starts that the log has as failed: path, reason, and the pause after it."""
    lines = map(json.loads, (out / "campaign.jsonl").read_text(encoding="utf-8").splitlines())
    return [(each["path"], each["why"], each["pause"]) for each in lines if each["event"] == "start failed"]


def test_a_long_campaign_waits_for_its_system(tmp_path: Path) -> None:
    """A system that cannot be started for some seconds costs no path; each start is counted, logged and reported."""
    tested = made_by(away(4), quiescence=10.0)
    summary, unharmed = (
        run(tested, tmp_path / "a", traces=8, steps=3),
        run(bench(quiescence=10.0), tmp_path / "b", traces=8, steps=3),
    )
    assert (summary.verdict, summary.paths, summary.trouble) == ("pass", 8, "")
    assert [inputs(tmp_path / "a" / f"path-{n:04}.jsonl") for n in range(1, 9)] == [
        inputs(tmp_path / "b" / f"path-{n:04}.jsonl") for n in range(1, 9)
    ]
    logged = failed_starts(tmp_path / "a")
    assert summary.failed_starts == len(logged) == 4
    assert all("the port is in use" in why for _, why, _ in logged)
    assert [later / pause for (_, _, pause), (_, _, later) in pairwise(logged)] == pytest.approx([2] * 3, rel=0.01)
    assert [*summary.result.basis()][-1] == (
        "4 starts of the system failed, each tried again after a pause: campaign.jsonl has the reasons"
    )
    assert unharmed.failed_starts == 0
    more = run(bench(quiescence=10.0), tmp_path / "a", traces=9, steps=3, resume=True)
    assert (more.failed_starts, more.paths) == (4, 9)


def test_a_system_that_stays_away(tmp_path: Path) -> None:
    """It is tried again five times, over a tenth of the time that the campaign has lasted; then the campaign ends."""
    summary = run(made_by(away(1e9), quiescence=10.0), tmp_path, traces=8, steps=3)
    assert (summary.verdict, summary.failed_starts, summary.exit_status) == ("inconclusive", 5, 3)
    assert "the port is in use" in summary.trouble
    assert sum(pause for _, _, pause in failed_starts(tmp_path)) == pytest.approx(9, abs=0.01)


@pytest.mark.parametrize("since", [0.0, 5.0])
def test_at_its_start_a_campaign_ends_at_once(tmp_path: Path, since: float) -> None:
    """A system that is not there, or that is lost within ten seconds: the user is waiting for the message."""
    summary = run(made_by(away(3, since), quiescence=1.0), tmp_path, traces=40, steps=5)
    assert (summary.verdict, summary.failed_starts) == ("inconclusive", 0)


def test_no_pause_is_longer_than_the_campaign(tmp_path: Path) -> None:
    """Where the time of the campaign is over before the next try, it ends."""
    summary = run(made_by(away(1e9), quiescence=10.0), tmp_path, traces=1000, steps=3, time=93.0, keep="failures")
    assert 0 < summary.failed_starts < 5
    assert summary.trouble


def test_what_trying_again_does_not_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths that no worker can drive end the campaign at once."""

    class Gone(InProcess):
        async def drive(self, lease: Lease) -> Leased:
            if lease.number > 5:
                raise NoWorkersError("the scheduler is gone")
            return await super().drive(lease)

    tested = campaign(bench(quiescence=10.0), tmp_path, traces=8, steps=3)
    # what starts a real cluster takes seconds
    monkeypatch.setattr("otf.campaign.campaign.InProcess", Gone)
    summary = virtually(tested.run)
    assert (summary.paths, summary.failed_starts) == (5, 0)
    assert summary.trouble.startswith("the scheduler is gone")


def test_confirming_and_shrinking_wait_as_well(tmp_path: Path) -> None:
    """A failure is confirmed and shrunk although the system cannot be started for a moment, twice."""
    starts, shown = 0, False

    def make() -> Machine:
        nonlocal starts
        starts += shown
        if starts in {1, 2, 5, 6}:  # of the runs that confirm it, and of those that shrink it; each is tried twice
            raise ContactError("the port is in use")
        return Machine([TEA])

    class Watches(Listener):
        def event(self, number: int, event: Event) -> None:
            nonlocal shown
            shown = shown or (number > 3 and isinstance(event, Seen) and event.output == Tea())

    summary = run(
        made_by(make, quiescence=10.0), tmp_path, Watches(), traces=9, steps=8, mode="eager", strategy="random", seed=2
    )
    (group,) = summary.failures.values()
    assert group.tries == 1
    assert group.shrunk is not None
    assert group.shrunk.steps == 4
    assert summary.failed_starts == 2
