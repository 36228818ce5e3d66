"""A system in this process that answers without end is cut off, and not blamed for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, repeat
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.core.walk import HEAVY, OUTPUTS, Act, Cut, bounded
from otf.errors import ContactError
from otf.runner.reproduce import reproduce
from otf.spec import Spec, Transition, goto
from otf.trace.events import Ended
from tests.campaign.machine import run


def _step(state: int, _inp: str) -> Iterator[Transition[int]]:
    yield goto(state)


def _bench(*answers: Iterable[object]) -> Bench:
    """Return a bench whose system gives these answers, one after the other; any number may come unasked."""
    spec = Spec[int, str](_step, 0, ["go"], lambda state: [goto(state, int)])

    def made() -> Act:
        given = iter(answers)

        def act(_inp: str) -> Iterable[object]:
            return next(given)

        return act

    return Bench(spec, system=made, types=(int,), name="talks")


@pytest.mark.parametrize("answer", [(), ("x",), ["x", "y"], range(OUTPUTS), repeat("x", OUTPUTS)])
def test_an_answer_with_an_end_is_as_it_is(answer: Iterable[object]) -> None:
    """However it is given."""
    given = tuple(answer) if not isinstance(answer, repeat) else ("x",) * OUTPUTS
    assert tuple(bounded(lambda _inp: answer)("go")) == given


NUMBER = f"{OUTPUTS} outputs"
SIZE = f"{HEAVY} bytes of outputs"


@pytest.mark.parametrize(
    ("answer", "kept", "most"),
    [
        (count(), OUTPUTS, NUMBER),
        (range(OUTPUTS + 1), OUTPUTS, NUMBER),
        ([0] * (OUTPUTS + 1), OUTPUTS, NUMBER),
        (repeat("x" * 60_000), HEAVY // 60_049, SIZE),
        (repeat(("x" * 30_000, b"y" * 30_000)), HEAVY // 60_138, SIZE),
    ],
    ids=["endless", "one too many", "a list of too many", "large", "large in parts"],
)
def test_an_answer_without_end_is_cut_off(answer: Iterable[object], kept: int, most: str) -> None:
    """By number and by size; the last output says so."""
    *outputs, last = bounded(lambda _inp: answer)("go")
    assert isinstance(last, Cut)
    assert last.reason == f"the system gave more than {most} to one input"
    assert len(outputs) == pytest.approx(kept, abs=3)


def test_a_flood_in_this_process_is_inconclusive(tmp_path: Path) -> None:
    """The model allows each of the outputs, and what would have come after them nobody knows."""
    summary = run(_bench(count()), tmp_path, traces=1)
    assert (summary.verdict, summary.steps, summary.failures) == ("inconclusive", 1, {})
    assert summary.inconclusive[0].verdict.why == f"the system gave more than {OUTPUTS} outputs to one input"
    with pytest.raises(ContactError, match="no run decides whether the failure is there"):
        reproduce(_bench(count()), [("go", [])])


def test_what_was_wrong_before_is_a_failure(tmp_path: Path) -> None:
    """An output that the model does not allow is found among those that were taken."""
    summary = run(_bench(iter(["x"]), repeat("x")), tmp_path, traces=1, shrink=False)
    assert [signature.kind for signature in summary.failures] == ["wrong"]


def test_an_end_of_its_own_is_a_failure(tmp_path: Path) -> None:
    """A system that has ended by itself has ended."""
    summary = run(_bench([Ended("exit status 3")]), tmp_path, traces=1, shrink=False)
    assert [signature.kind for signature in summary.failures] == ["ended"]
