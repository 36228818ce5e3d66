"""A pool of boards: one that stops answering is reset, then its power is cycled, then another drives its paths."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from otf.adapter import Bench, Life, Line
from otf.adapters.inprocess import open_inprocess
from otf.campaign import Campaign, Settings, Summary
from otf.errors import ContactError
from otf.models.coffee import Machine, coffee
from tests.campaign.test_trouble import CODEC


class Board:
    """A board that answers for so many starts, and what was done with it."""

    def __init__(self, name: str, starts: float = float("inf"), mends: str = "", fault: str = "none") -> None:
        self.name, self.left, self.mends, self.fault = name, starts, mends, fault
        self.told, self.used = list[str](), 0

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Mapping[str, Line], None]:
        """Connect, if it answers; it must not be used twice at a time."""
        if self.left <= 0:
            raise ContactError(f"{self.name} does not answer")
        self.left -= 1
        self.used += 1
        assert self.used == 1
        async with open_inprocess(lambda: Machine(self.fault).take) as line:
            yield {"line": line}
        self.used -= 1
        self.told.append("path")

    def done(self, what: str) -> None:
        """Do something with the board, which may mend it."""
        self.told.append(what)
        if what == self.mends:
            self.left = float("inf")

    def bench(self) -> Bench:
        """The bench of this board, with its own reset and relay."""
        life = Life(reset=lambda: self.done("reset"), power=lambda: self.done("power"))
        connect, retries = self.connect, 0
        return Bench(
            coffee, codec=CODEC, connect=connect, life=life, outputs=("line",), retries=retries, quiescence=0.01
        )


def driven(folder: Path, boards: list[Board], jobs: int = 1, traces: int = 6, steps: int = 3) -> Summary:
    """A campaign on a pool of boards."""
    benches = [each.bench() for each in boards]
    device: Callable[[int], Bench] = benches.__getitem__
    return anyio.run(
        Campaign(benches[0], Settings(out=folder, traces=traces, steps=steps, jobs=jobs, device=device)).run
    )


def test_a_board_that_stops_answering_is_taken_out(tmp_path: Path) -> None:
    """It was reset, and its power cycled; a spare one drives its path and those after it, and the summary says so."""
    first, spare = Board("A", starts=2), Board("B")
    summary = driven(tmp_path, [first, spare])
    assert first.told == ["reset", "path", "reset", "path", "reset", "power"]
    assert spare.told.count("path") == 4
    assert (summary.verdict, summary.paths, summary.trouble) == ("pass", 6, "")
    (said,) = summary.devices_out
    assert said.startswith(
        "device 1 was taken out, and others drove its paths: A does not answer; after power cycle 1: "
    )
    assert [*summary.result.basis()][-1] == said
    assert summary.result.data()["devices_out"] == [said]


def test_a_board_that_its_power_mends_stays(tmp_path: Path) -> None:
    """Nothing is taken out."""
    first, spare = Board("A", starts=2, mends="power"), Board("B")
    summary = driven(tmp_path, [first, spare])
    assert (summary.verdict, summary.devices_out, spare.told) == ("pass", [], [])


def test_without_a_spare_one_the_others_take_turns(tmp_path: Path) -> None:
    """No board ever drives two paths at a time."""
    boards = [Board("A", starts=1), Board("B")]
    summary = driven(tmp_path, boards, jobs=2)
    assert (summary.verdict, summary.paths, len(summary.devices_out)) == ("pass", 6, 1)
    assert [each.told.count("path") for each in boards] == [1, 5]


def test_the_last_board_ends_the_campaign(tmp_path: Path) -> None:
    """There is no other: contact is lost, as without a pool."""
    summary = driven(tmp_path, [Board("A", starts=1), Board("B", starts=1)])
    assert summary.verdict == "inconclusive"
    assert "B does not answer" in summary.trouble
    assert [each[:8] for each in summary.devices_out] == ["device 1"]


def test_a_failure_of_one_board_is_shrunk_there(tmp_path: Path) -> None:
    """Another board does not have the fault, and no run there would show it."""
    boards = [Board("A"), Board("B", fault="dry")]
    summary = driven(tmp_path, boards, jobs=2, traces=2, steps=40)
    [group] = summary.failures.values()
    assert group.shrunk is not None
    assert (group.shrunk.steps, boards[0].told.count("path")) == (2, 1)


def test_a_function_that_knows_one_board_only(tmp_path: Path) -> None:
    """It has no spare one, whatever number it is asked for."""
    board = Board("A", starts=1)
    bench = board.bench()
    settings = Settings(out=tmp_path, traces=3, steps=3, device=lambda _lane: bench)
    assert "A does not answer" in anyio.run(Campaign(bench, settings).run).trouble
