"""What lanes learn from each other: it depends on the number of a path alone, and reaches each process once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from otf.adapter import Bench
from otf.campaign import lane_knowledge
from otf.campaign.journal_lines import Knowledge, named
from otf.campaign.journal_reader import Past
from otf.campaign.lane_knowledge import Known, Merged, Rounds
from otf.campaign.lane_memory import Layer, Learning
from otf.codec import lines
from otf.core import Model, Symbol
from otf.spec import Spec, Transition, goto
from otf.values import key
from tests.campaign.machine import Machine, inputs, made_by, run
from tests.runner.playing import on_function, virtually

_NAMES = [f"s{number}" for number in range(80)]


def _learned(number: int) -> Knowledge:
    return Knowledge({f"s{number} i": 1, "s i": 1}, {"i": 1}, [f"q{number}"], {"t": 1}, [float(number)])


def _merged(tmp_path: Path, lanes: int, *, remote: bool = True) -> Merged:
    return Merged(lanes, Past(tmp_path / "none"), remote=remote)


def _states(known: Known | None, rounds: Rounds) -> set[str]:
    assert known is not None
    return {state for layer in rounds.layers(known) for state in layer.states} - {"s"}


@pytest.mark.parametrize("order", range(3))
def test_what_a_path_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: int) -> None:
    """It knows all rounds but the last two, and of those its own lane, in whichever order paths begin and end."""
    monkeypatch.setattr(lane_knowledge, "LAG", 1)
    random = Random(order)

    async def work() -> None:
        found, rounds, next_of = _merged(tmp_path, 3), Rounds(), [1, 2, 3]
        under_way: dict[int, tuple[Iterable[Layer], set[int]]] = {}
        while min(next_of) < 60:
            lane = random.choice([at for at in range(3) if next_of[at] <= min(next_of) + 3])
            number = next_of[lane]
            if number in under_way:
                layers, known_paths = under_way.pop(number)
                seen = {name: sum(layer.states.get(name, 0) for layer in layers) for name in ("s", *_NAMES)}
                assert seen == {
                    "s": len(known_paths),
                    **{name: int(at in known_paths) for at, name in enumerate(_NAMES)},
                }
                found.add(number, _learned(number))
                next_of[lane] += 3
                continue
            known = await found.known(number)
            assert known is not None
            if not rounds.take(known):
                assert rounds.take(found.whole(known))
            whole = max(0, (number - 1) // 3 - 1) * 3
            own = {each for each in range(whole + 1, number) if each % 3 == number % 3}
            assert found.reach(number) == whole
            under_way[number] = rounds.layers(known), {*range(1, whole + 1), *own}

    anyio.run(work)


def test_a_lane_waits(tmp_path: Path) -> None:
    """A lane that is nine rounds ahead waits for the slowest, and ends if that ends."""

    async def work() -> list[object]:
        found, seen = _merged(tmp_path, 2), list[object]()
        for number in range(1, 18, 2):
            assert await found.known(number) is not None
            found.add(number, _learned(number))

        async def ahead(number: int) -> None:
            seen.append(await found.known(number))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ahead, 19)
            await anyio.sleep(1)
            assert not seen
            found.add(2, _learned(2))
            await anyio.sleep(1)
            tasks.start_soon(ahead, 21)
            await anyio.sleep(1)
            assert len(seen) == 1
            found.end()
        return seen

    first, second = virtually(work)
    assert isinstance(first, Known)
    assert first.upto == 0
    assert second is None


def test_a_new_worker_gets_all(tmp_path: Path) -> None:
    """A process that lacks rounds says so, and has then what one knows that took them one by one."""

    async def work() -> None:
        found, steady = _merged(tmp_path, 2), Rounds()
        for number in range(1, 101):
            known = await found.known(number)
            assert known is not None
            assert steady.take(known)
            found.add(number, _learned(number))
        known = await found.known(101)
        assert known is not None
        late = Rounds()
        assert not late.take(known)
        assert late.take(found.whole(known))
        assert steady.take(known)
        assert _states(known, late) == _states(known, steady)
        for name in ("quiet", "waits"):
            assert [{*getattr(each, name)} for each in (_sum(late, known), _sum(steady, known))] == [
                {*getattr(_sum(late, known), name)}
            ] * 2
        assert _sum(late, known).visits == _sum(steady, known).visits
        assert (_sum(late, known).actions, _sum(late, known).timers) == ({"i": 92}, {"t": 92})

    anyio.run(work)


def _sum(rounds: Rounds, known: Known) -> Knowledge:
    found = Layer()
    for layer in rounds.layers(known):
        found.add(layer.knowledge())
    return found.knowledge()


def test_states_that_never_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many states those that were visited once are forgotten."""
    monkeypatch.setattr("otf.campaign.lane_memory.STATES", 4)
    layer = Layer(Knowledge({"a x": 2, "b x": 1, "c x": 1, "c y": 1, "d x": 1, "e x": 1}))
    assert layer.states == {"a": 2, "c": 2}
    assert layer.inputs == {"a": {"x": 2}, "c": {"x": 1, "y": 1}}


def test_memory_with_layers() -> None:
    """Counts, silences and timers of other paths are there by value, and are not learned again."""

    def step(state: int, _inp: str) -> Iterator[Transition[int]]:
        yield goto(state + 1)

    model = Model(Spec(step, 0, ["go", "back"]))
    [first, second, third] = map(model.node, range(3))
    go, back = (Symbol(name, key(name)) for name in ("go", "back"))
    names = [f"{named(first.key)} {named(go.key)}", f"{named(second.key)} {named(go.key)}"]
    quiet, timed = named((first, go)), named((first,))
    layers = [
        Layer(Knowledge({names[0]: 2, names[1]: 1}, {"go": 3}, [quiet])),
        Layer(Knowledge({names[0]: 1}, {}, [], {timed: 4})),
    ]
    learning = Learning(layers)
    assert [learning.visits.states.get(node, 0) for node in (first, second, third)] == [3, 1, 0]
    assert [learning.visits.inputs[first][inp] for inp in (go, back)] == [3, 0]
    assert [learning.visits.inputs[node][go] for node in (second, third)] == [1, 0]
    assert learning.visits.actions == {"go": 3}
    assert (first, go) in learning.proven
    assert (first, back) not in learning.proven
    assert learning.waited.get((first,)) == 4
    learning.proven.update([(first, go), (first, back)])
    assert learning.path() == Knowledge(quiet=[named((first, back))])


@dataclass(frozen=True)
class Press:
    """A button."""

    number: int


def _wide() -> Bench:
    """A system with one state and 60 inputs."""

    def step(_state: int, _inp: Press) -> Iterator[Transition[int]]:
        yield goto(0)

    spec = Spec(step, 0, [*map(Press, range(60))])
    return on_function(lambda: lambda _frame: None, spec=spec, codec=lines({Press: "press {number}"}))


def test_lanes_do_not_repeat_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four lanes try 60 inputs of a state in about as many steps as one: each knows what the others tried before."""
    monkeypatch.setattr(lane_knowledge, "LAG", 1)
    needed = {}
    for lanes in (1, 4):
        out = tmp_path / f"{lanes}"
        run(_wide(), out, traces=160, steps=1, jobs=lanes, seed=1, strategy="least-input")
        [*paths] = sorted(out.glob("path-????.jsonl"))
        tried = [inputs(file, _wide())[0] for file in paths]
        needed[lanes] = max(tried.index(Press(number)) for number in range(60)) + 1
    assert needed[1] < needed[4] < 80  # 133 if each lane knew its own paths alone


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_killed_after_merging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: float) -> None:
    """A campaign whose lanes know of each other goes on to the same paths, whichever copies are faster then."""
    monkeypatch.setattr(lane_knowledge, "LAG", 1)
    settings: dict[str, Any] = {"mode": "eager", "traces": 40, "steps": 6, "seed": 3, "jobs": 3}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    run(made_by(_delays(1)), whole, **settings)
    shutil.copytree(whole, killed)
    journal = killed / "campaign.jsonl"
    text = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(text[: int(len(text) * cut)]))
    run(made_by(_delays(2)), killed, resume=True, **settings)
    for number in range(1, 41):
        name = f"path-{number:04}.jsonl"
        assert inputs(killed / name) == inputs(whole / name), number
    knows = {line["path"]: line["knows"] for line in map(json.loads, text) if line["event"] == "path started"}
    assert (knows[1], knows[9], knows[40]) == (0, 3, 36)


def _delays(seed: int) -> Any:  # noqa: ANN401 -- what makes machines
    """Return what makes machines that are slow in turn."""
    turn = count(seed)
    return lambda: Machine(delay=0.001 * (next(turn) % 5))


def test_one_lane_elsewhere(tmp_path: Path) -> None:
    """One lane in another process knows what it would know in this one, and no more is handed over to this one."""

    async def work() -> None:
        here, there = _merged(tmp_path, 1, remote=False), _merged(tmp_path, 1)
        rounds = Rounds()
        for number in range(1, 40):
            known = await there.known(number)
            assert known is not None
            assert rounds.take(known)
            assert _states(known, rounds) == {f"s{each}" for each in range(1, number)}
            assert await here.known(number) == Known(alone=True)
            assert here.reach(number) == number - 1
            here.add(number, _learned(number))
            there.add(number, _learned(number))

    anyio.run(work)
