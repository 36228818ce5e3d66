"""A model that answers differently the second time is reported as such wherever it would have blamed the system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.campaign import Settings, rerun
from otf.errors import ModelError
from otf.runner.reproduce import reproduce
from otf.trace.events import Event, Sent
from tests.campaign.machine import TEA, Button, Coffee, Coin, bench, fickle, run
from tests.runner.playing import virtually

AGAIN = (
    r"^step\(1, Button\(\)\) answered differently when it was asked again: first Tea\(\) -> 0; then Coffee\(\) -> 0: a"
)


def _campaign(tested: Bench, out: Path) -> None:
    run(tested, out)


def _eagerly(tested: Bench, out: Path) -> None:
    run(tested, out, mode="eager")


def _rerun(tested: Bench, out: Path) -> None:
    events: list[Event] = [Sent(Coin(), "m", 0.0), Sent(Button(), "m", 0.0)]
    virtually(lambda: rerun(tested, events, Settings(out=out)))


def _saved(tested: Bench, out: Path) -> None:
    kept = out / "kept"
    run(bench(TEA), out / "first", saved=kept, traces=4, seed=1)
    run(tested, out / "second", saved=kept)


def _reproduced(tested: Bench, _out: Path) -> None:
    reproduce(replace(tested, quiescence=0.01), [(Coin(), []), (Button(), [Coffee()])])


@pytest.mark.parametrize("way", [_campaign, _eagerly, _rerun, _reproduced])
def test_the_model_is_asked_again_before_the_system_is_blamed(
    way: Callable[[Bench, Path], None], tmp_path: Path
) -> None:
    """The error has the question and both answers; no failure is reported for a machine that works."""
    with pytest.raises(ModelError, match=AGAIN):
        way(replace(bench(), spec=fickle(), inputs="uioco"), tmp_path)


def test_the_model_is_asked_again_for_a_failure_that_was_kept(tmp_path: Path) -> None:
    """It is not a failure that is still there."""
    with pytest.raises(ModelError, match=AGAIN.replace("1", "3", 1).replace("0", "2")):
        _saved(replace(bench(), spec=fickle(), inputs="uioco"), tmp_path)
