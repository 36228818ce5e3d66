"""Garbage collection skips the objects that existed before a campaign."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from otf.campaign.paths import undisturbed


@pytest.fixture(autouse=True)
def _nothing_is_frozen() -> Generator[None]:
    """Unfreeze what all tests share, and freeze it again afterwards."""
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


def test_what_is_there_is_left_out_for_the_time() -> None:
    """Inside everything from before is frozen, and nothing is after that."""
    with undisturbed():
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_what_others_have_frozen_stays_so() -> None:
    """A campaign inside a program that has frozen its objects leaves them as they are."""
    gc.freeze()
    with undisturbed():
        pass
    assert gc.get_freeze_count() > 0
