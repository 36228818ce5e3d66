"""Rerun: the inputs of a trace, once more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.campaign import PathResult, Settings, rerun
from otf.errors import ContactError
from otf.trace.events import Event, Quiet, Sent
from tests.campaign.machine import TEA, Button, Coin, Refund, Started, bench, inputs, judged, made_by, run
from tests.runner.playing import virtually


def _rerun(tested: Bench, events: Sequence[Event], out: Path, burst: int = 1) -> PathResult:
    return virtually(lambda: rerun(tested, events, Settings(out=out, reference="machine.py", burst=burst)))


def _sent(*values: object) -> list[Event]:
    return [event for value in values for event in (Sent(value, "m", 0.0), Quiet(0.0))]


def test_a_failure_shows_again(tmp_path: Path) -> None:
    """The inputs of a failing trace fail again in the same way; on a system without the fault they pass."""
    summary = run(bench(TEA), tmp_path / "first", stop_first=True)
    [group] = summary.failures.values()
    events = judged(group.first.trace).events
    again = _rerun(bench(TEA), events, tmp_path / "again")
    assert again.verdict.failure is not None
    assert again.verdict.failure.signature == group.signature
    repaired = _rerun(bench(), events, tmp_path / "repaired")
    assert (repaired.verdict.outcome, repaired.steps) == ("pass", group.first.steps)


def test_the_trace_of_a_rerun(tmp_path: Path) -> None:
    """It says that its inputs were given, and by which bench; the journal tells of it."""
    result = _rerun(bench(), _sent(Coin(), Button()), tmp_path)
    judgement = judged(result.trace)
    assert result.trace == tmp_path / "rerun-0001.jsonl"
    assert (judgement.header.strategy, judgement.header.mode, judgement.header.bench) == (
        "script",
        "strict",
        "machine.py",
    )
    assert inputs(result.trace) == [Coin(), Button()]
    assert (tmp_path / "campaign.jsonl").read_text().count("path ended") == 1


def test_inputs_that_are_not_allowed_any_more(tmp_path: Path) -> None:
    """An input that the model no longer allows, because the system chose differently, is skipped: that proves nothing.

    It is no pass, in the journal neither.
    """
    strict = bench(inputs="uioco")
    result = _rerun(strict, _sent(Button(), Coin(), Refund(), Refund(), Coin()), tmp_path)
    assert inputs(result.trace) == [Coin(), Refund(), Coin()]
    assert (result.verdict.outcome, result.verdict.why[:18]) == ("inconclusive", "sent 3 of 5 inputs")
    assert judged(result.trace).recorded == "inconclusive"
    assert '"verdict":"pass"' not in (tmp_path / "campaign.jsonl").read_text(encoding="utf-8")


def test_a_trace_without_inputs(tmp_path: Path) -> None:
    """There is nothing to be sent: that passes."""
    result = _rerun(bench(), [Quiet(0.0)], tmp_path)
    assert (result.verdict.outcome, result.steps) == ("pass", 0)


def test_several_at_once(tmp_path: Path) -> None:
    """In bursts the inputs go out together, and only then silence is waited for."""
    result = _rerun(bench(), _sent(Coin(), Coin(), Button(), Button()), tmp_path, burst=2)
    kinds = [type(event).__name__ for event in judged(result.trace).events]
    assert kinds == ["Sent", "Sent", "Quiet", "Sent", "Sent", "Seen", "Seen", "Quiet"]
    assert judged(result.trace).header.burst == 2


def test_no_contact(tmp_path: Path) -> None:
    """A system that cannot be started is reported; its trace has an end."""
    with pytest.raises(ContactError, match="start 2 failed"):
        _rerun(made_by(Started(broken=9)), _sent(Coin()), tmp_path)
    assert judged(tmp_path / "rerun-0001.jsonl").recorded == "inconclusive"
