"""Campaigns on systems with several defects: each is found, shrunk, saved and reported as a kind of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest

from benchmarks.kinds import named
from otf.adapter import Bench
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import Campaign, PathResult, Settings, Summary
from otf.campaign.summary import Listener
from otf.cli.tools.campaign_folder import gathered
from otf.codec import lines
from otf.spec import Spec, Transition, goto
from otf.trace.kinds import FailurePart
from otf.values import show
from tests.runner.playing import virtually

REFERENCE = f"{__name__}:registers"


@dataclass(frozen=True)
class Read:
    """Reads a register."""

    number: int


@dataclass(frozen=True)
class Value:
    """The content of a register."""

    value: int


def system() -> Callable[[Any], list[object]]:
    """Return registers of which two are read wrongly."""
    return lambda inp: [Value({3: 99, 7: -1}.get(inp.number, 0))]


def registers() -> Bench:
    """Return the bench of ten registers."""

    def step(state: int, _: Read) -> list[Transition[int]]:
        return [goto(state + 1, Value(0))]

    return Bench.in_process(Spec(step, 0, [*map(Read, range(10))]), system, name="registers", types=(Value,))


TABLE = {("s", "a"): ("t", "x"), ("s", "b"): ("s", "x"), ("s", "c"): ("s", "x"), ("t", "a"): ("s", "x")}


def table() -> Bench:
    """Return a table of texts whose system answers wrongly on b and on c."""

    def step(state: str, inp: str) -> list[Transition[str]]:
        then, output = TABLE.get((state, inp), ("t", "z"))
        return [goto(then, output)]

    def act() -> Callable[[str], list[str]]:
        state = "s"

        def answer(inp: str) -> list[str]:
            nonlocal state
            wrong = {("s", "b"): "y", ("t", "c"): "y"}.get((state, inp))
            state, output = TABLE.get((state, inp), ("t", "z"))
            return [wrong or output]

        return answer

    return Bench.in_process(Spec(step, "s", ["a", "b", "c"]), act, name="table")


def run(bench: Bench, settings: Settings) -> Summary:
    """Return the result of a campaign."""
    return anyio.run(Campaign(bench, settings).run)


def settings(out: Path) -> Settings:
    """Return those of thirty paths."""
    return Settings(out=out, reference=REFERENCE, traces=30, seed=1)


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary]:
    """Return the folder of a campaign on the registers, and its result; nobody changes them."""
    out = tmp_path_factory.mktemp("kinds") / "out"
    return out, run(registers(), settings(out))


def found(summary: Summary) -> dict[str, int]:
    """Return the last inputs of the shrunk runs, with the lengths of these."""
    groups = [group.shrunk for group in summary.failures.values() if group.shrunk is not None]
    failures = [(each.verdict.failure, each.steps) for each in groups]
    return {failure.input: steps for failure, steps in failures if failure is not None}


def test_two_registers(driven: tuple[Path, Summary]) -> None:
    """Two registers that are wrong independently are two kinds, and each is shrunk to its own input."""
    _, summary = driven
    assert found(summary) == {show(Read(3)): 1, show(Read(7)): 1}
    assert sum(group.count for group in summary.failures.values()) == sum(
        each.paths for each in summary.result.failures
    )


def test_parts_that_were_asked_for(tmp_path: Path) -> None:
    """With `group_by` the values of these parts make the kinds, and nothing else: not even where one rule would do."""
    asked: list[tuple[FailurePart, ...]] = [(), ("seen",), ("input",), ("state", "input")]
    for number, parts in enumerate(asked):
        summary = run(registers(), replace(settings(tmp_path / str(number)), group_by=parts, shrink=False))
        failures = [group.first.verdict.failure for group in summary.failures.values()]
        exact = [each.signature.exact for each in failures if each is not None]
        assert len(exact) == len({tuple(getattr(each, part) for part in parts) for each in exact})
        assert (len(exact) == 1) == (parts == ())
        report = gathered(tmp_path / str(number), REFERENCE, {})
        assert {*report.failures} == {*map(str, summary.failures)}


def test_a_table_of_texts(tmp_path: Path) -> None:
    """Two wrong entries of a table of texts are two kinds, each with its own shrunk run."""
    assert found(run(table(), settings(tmp_path / "out"))) == {"'b'": 1, "'c'": 2}


def test_a_name_that_the_system_gives(tmp_path: Path) -> None:
    """It is one kind in all states and of all inputs, also once it is shrunk."""
    system = named(16)
    settings = Settings(out=tmp_path, traces=40, seed=1)
    summary = anyio.run(Campaign(system.bench(system.defects[:1]), settings).run)
    assert [group.signature.seen for group in summary.failures.values()] == ["'error_0'"]


def test_one_wrong_state(tmp_path: Path) -> None:
    """A lamp that does not go on answers three questions wrongly: one defect, one kind, also when it continues."""

    def step(on: bool, inp: str) -> list[Transition[bool]]:
        return [goto(inp == "on")] if inp in {"on", "off"} else [goto(on, f"{inp} {on}")]

    inputs = ["on", "off", "look", "count", "ring"]
    spec = Spec(step, initial=False, inputs=inputs)
    lamp = Bench.in_process(spec, lambda: lambda inp: [] if inp in {"on", "off"} else [f"{inp} False"], name="lamp")
    told = [run(lamp, replace(settings(tmp_path / "out"), resume=resume)) for resume in (False, True)]
    counts = [[group.count for group in summary.failures.values()] for summary in told]
    assert len(counts[0]) == 1
    assert counts[0] == counts[1]


def test_a_campaign_that_continues(driven: tuple[Path, Summary], tmp_path: Path) -> None:
    """A campaign that continues finds the same kinds, and does not shrink again what was shrunk."""
    folder, first = driven
    out = shutil.copytree(folder, tmp_path / "out")
    again = run(registers(), replace(settings(out), resume=True))
    assert [*map(str, again.failures)] == [*map(str, first.failures)]
    assert [each.count for each in again.failures.values()] == [each.count for each in first.failures.values()]
    assert all(each.shrunk is not None for each in again.failures.values())


def test_its_report(driven: tuple[Path, Summary]) -> None:
    """The report of the folder has the kinds of the campaign, with their counts and shrunk runs."""
    out, summary = driven
    report = gathered(out, REFERENCE, {})
    assert {name: each.count for name, each in report.failures.items()} == {
        str(name): group.count for name, group in summary.failures.items()
    }
    assert all(each.shrunk and each.steps == 1 for each in report.failures.values())


def test_more_kinds_than_are_told_apart(
    driven: tuple[Path, Summary], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary and the report say if there were more different failures than are told apart."""
    assert "told apart" not in "".join(driven[1].result.basis())
    monkeypatch.setattr("otf.trace.kinds.MOST", 1)
    summary = run(registers(), settings(tmp_path / "one"))
    report = gathered(tmp_path / "one", REFERENCE, {})
    for each in (summary.result, report.result):
        assert "more than 1,000 different failures" in [*each.basis()][-1]


def test_paths_that_end_in_another_order(tmp_path: Path) -> None:
    """Workers may end a later path first: its failures are listed and named as if they had been driven in order."""

    class Ended(Listener):
        """Keeps the paths."""

        def path(self, result: PathResult, summary: Summary) -> None:  # noqa: ARG002 -- of a Listener
            ended.append(result)

    ended = list[PathResult]()
    campaign = Campaign(registers(), replace(settings(tmp_path / "out"), shrink=False), Ended())
    anyio.run(campaign.run)
    other = Summary()
    for path in reversed(ended):
        other.add(path)
    other.regroup()
    assert other.result.failures == campaign.summary.result.failures
    assert [each.first.number for each in other.failures.values()] == [
        each.first.number for each in campaign.summary.failures.values()
    ]


def test_saved_failures(tmp_path: Path) -> None:
    """Each kind is saved by itself, and the next campaign finds both still there, as the same kinds."""
    kept = replace(settings(tmp_path / "one"), saved=tmp_path / "saved")
    first = run(registers(), kept)
    again = run(registers(), replace(kept, out=tmp_path / "two", seed=2))
    assert [str(each) for each in again.saved] == ["still there"] * 2
    assert {*map(str, again.failures)} == {*map(str, first.failures)}
    assert len([*(tmp_path / "saved").iterdir()]) == 2


def test_what_tells_defects_apart_takes_no_pauses(tmp_path: Path) -> None:
    """The system is asked as fast as ever: a second between two inputs took most of a campaign."""

    def step(full: int, inp: Read) -> list[Transition[int]]:
        return [goto(min(full + 1, 3), Value(inp.number))]

    def system() -> Callable[[bytes], list[Reply]]:
        asked = count(1)
        return lambda frame: [b"value %b" % frame.split()[1]] if next(asked) < 4 else []

    spec = Spec(step, 0, [Read(number) for number in range(6)])
    codec = lines({Read: "read {number}", Value: "value {value}"})
    bench = Bench.on_ports(spec, codec, {"p": inprocess(system)}, name="mute", quiescence=0.01)

    async def seconds() -> float:
        began = anyio.current_time()
        summary = await Campaign(bench, Settings(out=tmp_path, traces=6, seed=1, aftermath=0.0)).run()
        assert len(summary.failures) == 1
        return anyio.current_time() - began

    assert virtually(seconds) < 20
