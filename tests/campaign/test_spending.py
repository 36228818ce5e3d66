"""Campaigns that spend a time: what changed in a model, folders that begin anew, turns of paths and of shrinking."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench
from otf.campaign import Campaign, Settings, Summary
from otf.campaign.changes import CHANGED, TRANSITIONS, ChangedTransitions, TransitionPrints, read
from otf.campaign.journal_lines import digest
from otf.campaign.journal_reader import Past
from otf.campaign.time_shares import SpentParts, Turns
from otf.errors import UsageError
from otf.spec import Accept, Spec, Transition, goto
from otf.strategy import VisitCounts
from otf.values import key
from tests.campaign.machine import DIES, TEA, THIEF, bench, campaign, run
from tests.runner.playing import virtually

LOCKS = 12


def door(
    knock: object = "hollow",
    *,
    locks: int = LOCKS,
    emits: Callable[[int], list[Transition[int]]] | None = None,
    within: tuple[float, float] | None = None,
    echo: bool = False,
) -> Spec[int, str]:
    """A door with many locks, and something behind the last one."""

    def step(state: int, inp: str) -> Iterator[Transition[int]]:
        if inp == "turn" and state < locks:
            yield goto(state + 1)
        elif inp == "back" and state:
            yield goto(state - 1)
        elif inp == "knock":
            yield goto(state, knock, within=within) if state == locks else goto(state)
            if echo and not state:
                yield goto(state, "echo")

    return Spec(step, 0, ["turn", "back", "knock"], emits, name="door")


def changed(now: Spec[Any, Any], before: Spec[Any, Any]) -> set[tuple[int, str]]:
    """The states and inputs of a door whose transitions changed."""
    names = {
        f"{digest(key(state))} {digest(key(inp))}": (state, inp)
        for state in range(LOCKS + 2)
        for inp in ("turn", "back", "knock")
    }
    return {names[pair] for pair in TransitionPrints.of(now).changed(TransitionPrints.of(before))}


def test_what_changed() -> None:
    """An output, a window, or a spontaneous output of the next state; a new state is new with the way to it."""
    assert changed(door(), door()) == set()
    assert changed(door("dull"), door()) == {(LOCKS, "knock")}
    assert changed(door(within=(0.0, 2.0)), door(within=(0.0, 1.0))) == {(LOCKS, "knock")}
    assert changed(door(emits=lambda state: [goto(3, "creak")] if state == 3 else []), door()) == {
        *((2, "turn"), (3, "knock"), (4, "back"))
    }
    longer = changed(door(locks=LOCKS + 1), door())
    assert longer == {(LOCKS, "turn"), (LOCKS, "knock"), (LOCKS + 1, "back"), (LOCKS + 1, "knock")}
    assert changed(door(), door(locks=LOCKS + 1)) == {(LOCKS, "knock")}


def test_another_model_has_no_changes() -> None:
    """If most transitions are new there is nothing to put first."""
    assert changed(door(), Spec(lambda on, _inp: [goto(not on)], initial=False, inputs=["press"])) == set()


def test_where_the_end_of_a_model_is_not_known() -> None:
    """Beyond the part that was looked at before, nothing is known to be new; a time that is over ends the look."""
    part = TransitionPrints.of(door(), seconds=0.0)
    assert (part.whole, part.states) == (False, {})
    assert TransitionPrints.of(door()).changed(part) == []
    office = TransitionPrints.of(Spec(lambda _state, _inp: [Accept(lambda seen: [seen[0]])], 0, ["draw"]))
    assert not office.whole
    assert TransitionPrints.of(door()).changed(TransitionPrints(part.states, whole=False)) == []


def test_a_file_of_a_stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is damaged, of another kind, or too long, says nothing."""
    assert ChangedTransitions.of(tmp_path).changed == []
    (tmp_path / CHANGED).write_bytes(b'{"changed":["a b"]}')
    assert ChangedTransitions.of(tmp_path).changed == ["a b"]
    for text in (b'{"changed":[', b'{"changed":7}', b"[" * 100_000, b"\xff"):
        (tmp_path / CHANGED).write_bytes(text)
        assert ChangedTransitions.of(tmp_path).changed == []
    (tmp_path / TRANSITIONS).write_bytes(b'{"states":{"\xff":{}}}')
    assert read(tmp_path / TRANSITIONS, TransitionPrints) is None
    (tmp_path / TRANSITIONS).unlink()
    (tmp_path / TRANSITIONS).mkdir()
    assert read(tmp_path / TRANSITIONS, TransitionPrints) is None
    (tmp_path / CHANGED).write_bytes(b'{"changed":["a b"]}')
    monkeypatch.setattr("otf.campaign.changes.LARGEST", 4)
    assert ChangedTransitions.of(tmp_path).changed == []


def test_each_lane_has_its_own() -> None:
    """Every changed transition is one lane's; without any a lane looks for nothing."""
    pairs = [f"s{number} i" for number in range(50)]
    parts = [ChangedTransitions(pairs).first(lane, 3) for lane in range(3)]
    owned = [state for part in parts if part is not None for state in part.left]
    assert sorted(owned) == sorted(pair.split()[0] for pair in pairs)
    assert ChangedTransitions().first(0, 1) is None


class Door:
    """The system, as the model was at first."""

    def __init__(self) -> None:
        self.turned = 0

    def act(self, inp: str) -> list[str]:
        """Take an input."""
        self.turned += (inp == "turn" and self.turned < LOCKS) - (inp == "back" and self.turned > 0)
        return ["hollow"] if inp == "knock" and self.turned == LOCKS else []


def spent(model: Spec[int, str], out: Path, **more: Any) -> Summary:  # noqa: ANN401
    """A campaign of 40 paths that continues in a folder; the hour is longer than these take."""
    given: dict[str, Any] = {"out": out, "time": 3600.0, "traces": 40, "seed": 3, "shrink": False}
    settings: dict[str, Any] = {**given, "spend": True, "resume": True, **more}
    return anyio.run(Campaign(Bench.in_process(model, lambda: Door().act, types=(str,)), Settings(**settings)).run)


def sent(file: Path) -> list[str]:
    """The inputs of a trace."""
    lines = map(json.loads, file.read_bytes().splitlines())
    return [line["value"] for line in lines if line["event"] == "sent"]


@pytest.fixture
def prints(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets the fingerprint of the models: all those here are written in one file."""

    def put(text: str) -> None:
        def fingerprint(_spec: object) -> str:
            return text

        monkeypatch.setattr("otf.campaign.settings.fingerprint", fingerprint)

    put("one")
    return put


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_changed_comes_first(tmp_path: Path, prints: Callable[[str], None], jobs: int) -> None:
    """One path of each lane at most goes straight to the change; the earlier campaign is whole in its own folder."""
    assert spent(door(), tmp_path, jobs=jobs).verdict == "pass"
    prints("two")
    found = spent(door("dull"), tmp_path, traces=jobs, jobs=jobs)
    assert found.paths == jobs
    [group] = found.failures.values()
    assert group.first.steps == LOCKS + 1
    assert (found.parts.done, len(found.parts.changed)) == (1, 1)
    assert sorted(Past(tmp_path / "before-one").counted) == [*range(1, 41)]
    assert len([*(tmp_path / "before-one").glob("path-*.jsonl")]) == 40
    assert len([*tmp_path.glob("path-*.jsonl")]) == jobs


def test_what_was_not_tried_comes_next_time(tmp_path: Path, prints: Callable[[str], None]) -> None:
    """Also if the model changes again before; a folder of the same model goes on."""
    spent(door(), tmp_path, steps=13)
    prints("two")
    # the nearer one comes first, and then the path is one step too short
    first = spent(door("dull", echo=True), tmp_path, traces=1, steps=13)
    assert (first.verdict, first.parts.done, len(first.parts.changed)) == ("pass", 1, 2)
    prints("three")
    # of which no transition is another
    found = spent(door("dull", echo=True), tmp_path, traces=1, steps=13)
    assert (found.verdict, found.parts.done, len(found.parts.changed)) == ("fail", 1, 1)
    again = spent(door("dull", echo=True), tmp_path, traces=2, steps=13)
    assert (again.paths, again.parts.done) == (2, 1)
    prints("four")
    assert spent(door("dull", echo=True), tmp_path, traces=1, steps=13).parts.changed == set()


def test_a_campaign_that_was_being_set_aside(tmp_path: Path, prints: Callable[[str], None]) -> None:
    """A kill in between leaves the rest for the next time, and a folder with the name of the model may be there."""
    spent(door(), tmp_path, traces=4)
    aside = tmp_path / "before-one"
    aside.mkdir()
    (tmp_path / "path-0001.jsonl").rename(aside / "path-0001.jsonl")
    prints("two")
    spent(door("dull"), tmp_path, traces=1)
    assert sorted(Past(aside).counted) == [1, 2, 3, 4]
    assert len([*aside.glob("path-*.jsonl")]) == 4
    prints("one")
    spent(door(), tmp_path, traces=1)
    prints("two")
    spent(door("dull"), tmp_path, traces=1)
    assert sorted(Past(tmp_path / "before-one~2").counted) == [1]


def test_what_else_differs_is_refused(tmp_path: Path, prints: Callable[[str], None]) -> None:
    """Another strategy is not a change of the model: nothing is moved."""
    spent(door(), tmp_path, traces=2)
    prints("two")
    with pytest.raises(UsageError, match="run with fingerprint 'one'"):
        spent(door("dull"), tmp_path, strategy="random")
    assert not [*tmp_path.glob("before-*")]
    with pytest.raises(UsageError, match="run with fingerprint 'one'"):
        spent(door("dull"), tmp_path, spend=False)
    with pytest.raises(UsageError, match="holds the traces of another run"):
        spent(door("dull"), tmp_path, resume=False)


def test_independent_paths_stay_independent(tmp_path: Path, prints: Callable[[str], None]) -> None:
    """The strategy `random` looks for nothing first."""
    spent(door(), tmp_path, strategy="random", traces=1)
    prints("two")
    assert spent(door("dull"), tmp_path, strategy="random", traces=3).verdict == "pass"


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_killed_campaign_looks_for_the_same(tmp_path: Path, prints: Callable[[str], None], jobs: int) -> None:
    """Continued, it drives the paths of an undisturbed one."""
    steps = {"steps": 20, "traces": 24, "jobs": jobs}
    for name in ("whole", "cut"):
        prints("one")
        spent(door(), tmp_path / name, **steps)
        prints("two")
        spent(door("dull", locks=9), tmp_path / name, **steps)
    journal = tmp_path / "cut" / "campaign.jsonl"
    journal.write_bytes(journal.read_bytes()[: journal.stat().st_size // 3])
    spent(door("dull", locks=9), tmp_path / "cut", **steps)
    for file in (tmp_path / "whole").glob("path-????.jsonl"):
        assert sent(file) == sent(tmp_path / "cut" / file.name)


def test_the_rest_of_the_time_finds_more(tmp_path: Path) -> None:
    """A failure is shrunk at once, by all jobs in turn, and the paths go on: all kinds are found and shrunk."""
    found = run(bench(TEA, THIEF, DIES), tmp_path, traces=30, steps=30, time=9000, spend=True, jobs=2, seed=1)
    assert found.paths == 30
    assert len(found.failures) >= 3
    assert all(group.shrunk is not None and group.shrunk.minimal for group in found.failures.values())
    assert found.parts.seconds["shrinking"] > 1
    assert found.parts.seconds["paths"] > 1


def test_shrinking_leaves_time_for_paths(tmp_path: Path) -> None:
    """It takes three tenths at most, however many kinds there are; what was not shrunk has its reason."""
    found = run(bench(TEA, THIEF, DIES), tmp_path, traces=100_000, steps=30, time=300, spend=True, seed=1)
    seconds = found.parts.seconds
    assert seconds["shrinking"] <= 0.35 * 300
    assert seconds["paths"] >= 0.6 * 300
    assert all((group.shrunk is None) is bool(group.unshrunk) for group in found.failures.values())


def test_a_short_time_shrinks_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where half of what is left for shrinking is too short, the first kind gets the least that is enough."""
    monkeypatch.setattr("otf.campaign.reports.LEAST", 20.0)
    found = run(bench(TEA), tmp_path, traces=100_000, steps=10, time=100, spend=True)
    [group] = found.failures.values()
    assert group.shrunk is not None


def test_all_of_the_time_is_spent(tmp_path: Path) -> None:
    """Also after a failure, and not much more."""

    async def timed() -> float:
        began = anyio.current_time()
        await campaign(bench(TEA), tmp_path, traces=100_000, steps=10, time=500, spend=True).run()
        return anyio.current_time() - began

    assert 499 < virtually(timed) < 502


def test_saved_failures_within_the_time(tmp_path: Path) -> None:
    """They come first, and those for which no time is left are not decided."""
    folder = tmp_path / "saved"
    first = run(bench(TEA), tmp_path / "first", traces=9, saved=folder)
    [group] = first.failures.values()
    shrunk = group.shrunk
    assert shrunk is not None
    one = next(folder.iterdir())
    for number in range(5):
        one.with_name(f"{one.stem}{number}.jsonl").write_bytes(one.read_bytes())
    found = run(bench(TEA), tmp_path / "next", traces=9, saved=folder, time=6, spend=True)
    assert found.verdict == "fail"
    late = [each for each in found.saved if "the time of the campaign was over" in each.why]
    assert 0 < len(late) < len(found.saved) == 6


def test_a_time_is_needed(tmp_path: Path) -> None:
    """There is nothing to spend without one."""
    with pytest.raises(UsageError, match="spend=True: a time to be spent is needed"):
        Settings(out=tmp_path, spend=True)


def test_turns() -> None:
    """What waits is done while no path is under way, and before another one begins."""
    log: list[str] = []
    waiting: list[str] = []

    async def does() -> None:
        log.append(f"{waiting.pop()} begins")
        await anyio.sleep(5)
        log.append("done")

    turns = Turns(lambda: bool(waiting), does)

    async def lane(name: str, *durations: float) -> None:
        for number, seconds in enumerate(durations):
            async with turns.path():
                log.append(f"{name}{number}")
                await anyio.sleep(seconds)
                if name == "a" and number == 0:
                    waiting.append("shrinking")
                log.append(f"end {name}{number}")

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane, "a", 1, 1)
            tasks.start_soon(lane, "b", 3, 1)

    virtually(both)
    assert sorted(log[:2]) == ["a0", "b0"]
    assert log[2:6] == ["end a0", "end b0", "shrinking begins", "done"]
    assert sorted(log[6:]) == ["a1", "b1", "end a1", "end b1"]


def test_what_each_part_took() -> None:
    """Shrinking between paths is not counted with them."""

    async def work() -> SpentParts:
        parts = SpentParts(changed={"a b"})
        with parts.part("paths"):
            await anyio.sleep(2)
            with parts.part("shrinking"):
                await anyio.sleep(3)
        return parts

    assert virtually(work).seconds == {"shrinking": 3, "paths": 2}


def test_visits_begin_without_a_change() -> None:
    """Only a campaign that has some sets them."""
    assert VisitCounts().changed is None
