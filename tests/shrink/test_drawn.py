"""Values of a Hypothesis strategy: what the sample lacks is found, and Hypothesis shrinks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import strategies as st

from otf.adapter import Bench
from otf.campaign import Campaign, Settings
from otf.spec import Spec, Transition, goto
from otf.trace.events import Sent
from tests.campaign.machine import judged


@dataclass(frozen=True)
class Deposit:
    account: str
    amount: int


def one(state: int, inp: int) -> Iterator[Transition[int]]:
    """Answer ok."""
    del inp
    yield goto(state, "ok")


def many(state: int, inp: Deposit) -> Iterator[Transition[int]]:
    """Answer ok."""
    del inp
    yield goto(state, "ok")


def _shrunk(spec: Spec[Any, Any], fails: Callable[[Any], bool], out: Path, seed: int) -> list[Any]:
    """Return the inputs of the shrunk run after ten paths of 300 steps."""
    bench = Bench.in_process(spec, lambda: lambda inp: ["bad" if fails(inp) else "ok"], types=(str, int, Deposit))
    summary = anyio.run(Campaign(bench, Settings(out=out, traces=10, steps=300, seed=seed)).run)
    (group,) = summary.failures.values()
    assert group.shrunk is not None
    return [each.input for each in group.shrunk.events if isinstance(each, Sent)]


@pytest.mark.parametrize("seed", range(1, 11))
def test_a_defect_from_501_on_is_shrunk_to_501(seed: int, tmp_path: Path) -> None:
    """Of `integers(0, 1000)`, with each of ten seeds, in ten paths of 300 steps."""
    assert _shrunk(Spec(one, 0, st.integers(0, 1000)), lambda inp: inp >= 501, tmp_path / "out", seed) == [501]


@pytest.mark.parametrize("seed", range(1, 11))
def test_a_defect_at_the_upper_edge_is_found(seed: int, tmp_path: Path) -> None:
    """Of `integers(0, 10**6)`, the last alone fails: with each of ten seeds, in ten paths of 300 steps."""
    spec = Spec(one, 0, st.integers(0, 10**6))
    assert _shrunk(spec, lambda inp: inp == 10**6, tmp_path / "out", seed) == [10**6]


def test_a_trace_needs_no_strategy(tmp_path: Path) -> None:
    """It has the value: judged by a bench that offers another one, it fails all the same."""
    assert _shrunk(Spec(one, 0, st.integers(0, 1000)), lambda inp: inp >= 501, tmp_path / "out", 1) == [501]
    (trace,) = (tmp_path / "out").glob("*.shrunk.jsonl")
    other = Bench.in_process(Spec(one, 0, [0]), lambda: lambda _: ["ok"], types=(str, int))
    assert judged(trace, other).verdict.failed


def test_a_value_in_a_field_is_shrunk_as_well(tmp_path: Path) -> None:
    """The other fields are those of the simplest input."""
    spec = Spec(many, 0, values={int: st.integers(0, 10**6), str: ["a", "b"]})
    assert _shrunk(spec, lambda inp: inp.amount > 5000, tmp_path / "out", 1) == [Deposit("a", 5001)]
    assert _shrunk(spec, lambda inp: inp == Deposit("b", 10**6), tmp_path / "two", 1) == [Deposit("b", 10**6)]


def test_a_text_is_shrunk_by_its_strategy(tmp_path: Path) -> None:
    """Texts are names of different things to the search, and still become short."""

    def step(state: int, inp: str) -> Iterator[Transition[int]]:
        del inp
        yield goto(state, "ok")

    assert _shrunk(Spec(step, 0, st.text()), lambda inp: len(inp) > 3, tmp_path / "out", 1) == ["0000"]


def test_values_that_come_again_are_still_told_apart(tmp_path: Path) -> None:
    """A strategy of few words is not a set without an end: two words that fail are two kinds."""

    def step(state: int, inp: str) -> Iterator[Transition[int]]:
        del inp
        yield goto(state, "ok")

    wrong = {"red": "no", "blue": "never"}
    spec = Spec(step, 0, st.sampled_from(["red", "green", "blue", "white"]))
    bench = Bench.in_process(spec, lambda: lambda inp: [wrong.get(inp, "ok")], types=(str,))
    summary = anyio.run(Campaign(bench, Settings(out=tmp_path / "out", traces=30, steps=20, seed=1)).run)
    assert len(summary.failures) == 2


def test_two_inputs_with_one_value_are_shrunk_together(tmp_path: Path) -> None:
    """A system that fails when the same number comes twice in a row needs it twice."""
    seen = list[int]()

    def system() -> Callable[[int], list[str]]:
        seen.clear()

        def act(inp: int) -> list[str]:
            seen.append(inp)
            return ["bad" if seen[-2:] == [inp, inp] and inp > 40 and len(seen) > 1 else "ok"]

        return act

    bench = Bench.in_process(Spec(one, 0, st.integers(0, 10**6)), system, types=(str, int))
    summary = anyio.run(Campaign(bench, Settings(out=tmp_path / "out", traces=10, steps=300, seed=1)).run)
    (group,) = summary.failures.values()
    assert group.shrunk is not None
    assert [each.input for each in group.shrunk.events if isinstance(each, Sent)] == [41, 41]
