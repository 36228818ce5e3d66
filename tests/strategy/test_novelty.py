"""Novelty: a system whose model has one state shows by its answers which inputs lead anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench
from otf.campaign import Campaign, Listener, Settings
from otf.spec import Spec, Transition, Where, goto
from otf.strategy.answers import Answered, LearntAnswers
from otf.trace.events import Event, Seen, Sent

LOCK = "cabdeac"
LEARNING = 20  # paths


def anything(state: int, inp: str) -> Iterator[Transition[int]]:
    """Allow every answer but one."""
    del inp
    yield goto(state, Where(lambda output: output != "open", says="not open"))


def lock() -> Callable[[str], list[str]]:
    """Return a lock that refuses what is not the next letter."""
    at = 0

    def act(inp: str) -> list[str]:
        nonlocal at
        if inp != LOCK[at]:
            return ["refused"]
        at += 1
        return ["open" if at == len(LOCK) else "click"]

    return act


class Outputs(Listener):
    """Counts the outputs of all paths, and keeps the inputs of each."""

    def __init__(self) -> None:
        self.outputs = Counter[str]()
        self.inputs: dict[int, str] = {}

    def event(self, number: int, event: Event) -> None:
        if isinstance(event, Seen) and number > LEARNING:
            self.outputs[str(event.output)] += 1
        elif isinstance(event, Sent):
            self.inputs[number] = self.inputs.get(number, "") + str(event.input)


def _campaign(out: Path, strategy: str, **more: Any) -> Outputs:  # noqa: ANN401 -- of the settings
    told, bench = Outputs(), Bench.in_process(Spec(anything, 0, [*"abcde"]), lock, types=(str,))
    settings = Settings(out=out, traces=100, steps=20, seed=1, strategy=strategy, shrink=False, **more)
    anyio.run(Campaign(bench, settings, told).run)
    return told


def test_what_is_refused_is_learnt(tmp_path: Path) -> None:
    """After 20 paths a quarter of a lock's answers are refusals at most; by random walks it is three of four."""
    novelty, chance = _campaign(tmp_path / "a", "novelty"), _campaign(tmp_path / "b", "random")
    assert novelty.outputs["refused"] < 0.25 * novelty.outputs.total()
    assert chance.outputs["refused"] > 0.6 * chance.outputs.total()
    assert novelty.outputs["open"] > 2 * chance.outputs["open"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_seed_gives_the_same_paths(jobs: int, tmp_path: Path) -> None:
    """Also where lanes know of each other."""
    assert (
        _campaign(tmp_path / "a", "novelty", jobs=jobs).inputs == _campaign(tmp_path / "b", "novelty", jobs=jobs).inputs
    )


def test_other_paths_are_known_as_ones_own() -> None:
    """What a path told is known to answers that have it from others."""
    first = LearntAnswers()
    for inp, output in [("a", "refused")] * 12 + [("b", "click"), ("c", "refused")] * 4:
        first.observe(Sent(inp, "", 0.0))
        first.observe(Seen(output, "", 0.0))
    others = Answered()
    others.add(first.told())
    second = LearntAnswers([others])
    assert second.weight("a") < second.weight("b")
    first.begin()
    assert {each: first.weight(each) for each in "abc"} == {each: second.weight(each) for each in "abc"}


def _told(answers: LearntAnswers, *steps: str) -> None:
    answers.begin()
    _go_on(answers, *steps)


def _go_on(answers: LearntAnswers, *steps: str) -> None:
    for inp, output in zip(steps[::2], steps[1::2], strict=True):
        answers.observe(Sent(inp, "", 0.0))
        answers.observe(Seen(output, "", 0.0))
    answers.settle()


def test_what_was_refused_before_that_was_learnt_is_left_out_too() -> None:
    """The first refusals look like answers that lead somewhere, until they came often enough."""
    answers = LearntAnswers()
    _told(answers, *("a", "refused") * 12, "b", "click")
    answers.begin()
    assert answers.weight("a") < answers.weight("b") / 1_000


def test_the_first_loop_is_gone_through_once_more() -> None:
    """A counter shows after loops: once a step has come again, the inputs since then are sent again, in their order."""
    answers = LearntAnswers()
    answers.begin()
    for sent, then in [(("a", "one", "b", "two", "a", "one"), "b"), (("b", "two"), "a")]:
        _go_on(answers, *sent)
        assert max("abc", key=answers.weight) == then
        assert sorted(map(answers.weight, "abc"))[1] < answers.weight(then) / 1_000
    _go_on(answers, "a", "one")
    assert answers.weight("c") == answers.weight("b")  # behind the loop
    _told(answers, "x", "one", "y", "two", "x", "one")  # each second path only prefers what followed
    assert 2 < answers.weight("y") / answers.weight("z") < 5  # instead of a thousand


def test_a_loop_that_breaks_off_is_left() -> None:
    """The second round may be refused, or another input be sent by chance; then there is no loop any more."""
    for sent in [("b", "refused"), ("c", "three")]:
        answers = LearntAnswers()
        _told(answers, *("b", "refused") * 12, "a", "one", "b", "two", "a", "one")
        assert answers.weight("b") == 1
        _go_on(answers, *sent)
        assert sorted(map(answers.weight, "abc"))[1] > 0.1


def test_the_last_answer_of_a_path_counts() -> None:
    """A path may end with an answer that fails: when the next one begins, that was tried."""
    answers = LearntAnswers()
    answers.begin()
    answers.observe(Sent("a", "", 0.0))
    answers.observe(Seen("error", "", 0.0))
    answers.begin()
    assert answers.weight("a") < answers.weight("b")


def test_what_is_refused_after_the_same_steps_is_refused() -> None:
    """In a place that was not reached before, the last steps tell what leads nowhere."""
    answers = LearntAnswers()
    _told(answers, *("c", "refused") * 20)
    for first in "xyz":
        _told(answers, first, "on", "a", "one", "c", "refused", "d", "two")
    _told(answers, "v", "on", "a", "one")
    assert answers.weight("c") < answers.weight("d") / 4
