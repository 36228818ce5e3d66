"""The end of a campaign's time ends every path, also one that cannot send: the verdict says why it could not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from otf import InconclusiveError, run
from otf.adapter import Bench, Life
from otf.adapters import inprocess
from otf.campaign import Campaign, Settings, Summary
from otf.core import Symbol, View
from otf.spec import Elapse, Spec, Transition, goto
from otf.strategy import own
from tests.runner.playing import virtually
from tests.runner.words import Words


def step(state: str, inp: object) -> Iterator[Transition[str]]:
    """`slow` is answered within an hour; `wait` is answered by nothing."""
    yield goto(state, "p.done", within=(0, 3600)) if inp == "p.slow" else goto(state)


def walked(tmp_path: Path, *inputs: object, life: Life | None = None) -> tuple[Summary, float]:
    """Run a campaign of two seconds on a system that says nothing; return its summary and how long it took."""
    port = inprocess(lambda: lambda _data: None)
    bench = Bench(Spec(step, "on", list(inputs)), codec=Words(), ports={"p": port}, quiescence=0.1, life=life)

    async def run() -> tuple[Summary, float]:
        began = anyio.current_time()
        summary = await Campaign(bench, Settings(out=tmp_path / "out", time=2.0, saved=None)).run()
        return summary, anyio.current_time() - began

    return virtually(run)


@pytest.mark.parametrize(
    ("inp", "why"),
    [
        ("p.slow", "an output is due, by 3600"),
        (Elapse(3600.0), "an input that only waits lasts until 3600.0"),
    ],
)
def test_a_path_that_waits_ends_with_the_time(tmp_path: Path, inp: object, why: str) -> None:
    """An hour of waiting is cut off after two seconds, and ten times the quiescence time."""
    summary, seconds = walked(tmp_path, inp)
    assert 2.0 < seconds < 4.0
    assert (summary.verdict, summary.steps) == ("pass", 1)
    trace = (tmp_path / "out" / "path-0001.jsonl").read_text(encoding="utf-8")
    assert "no input could be sent in the last 1 s or more" in trace
    assert why in trace


def test_a_system_that_is_still_starting_when_the_time_ends(tmp_path: Path) -> None:
    """The verdict says that the system was being started, and nothing about inputs."""
    summary, seconds = walked(tmp_path, "p.slow", life=Life(settle=3600.0))
    assert 2.0 < seconds < 4.0
    assert [result.verdict.why for result in summary.inconclusive] == [
        "the time was over while the system was being started"
    ]


class Wrong:
    """A strategy that sends what the model does not specify."""

    def choose(self, view: View) -> Symbol | None:
        """Choose it, where anything can be sent."""
        return next(iter(view.enabled.all[-1:]), None)


def test_unspecified_inputs_alone_test_nothing(tmp_path: Path) -> None:
    """After one the model allows any answer: a system that answers all wrongly would pass."""
    spec = Spec(lambda state, inp: [goto(state, "right")] if inp == "a" else [], 0, ["a", "b"])
    bench = Bench(spec, system=lambda: lambda _: ["wrong"], types=(str,), inputs="any")
    for resume in (False, True):
        with pytest.raises(InconclusiveError, match=r"the first input of each path is|nothing was driven"):
            run(bench, out=tmp_path / "out", traces=2, strategy=own(Wrong), resume=resume)
