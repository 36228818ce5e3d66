"""The public names: few at the top, and all that a bench is made of in one place."""

from __future__ import annotations

import dataclasses
from importlib import import_module

import pytest

import otf
import otf.adapter

MOST = 30


def test_the_top_has_few_names() -> None:
    """`from otf import …` gives at most 30 names, each the same object as in its home, and each is listed."""
    assert len(otf.__all__) <= MOST
    assert dir(otf) == sorted(otf.__all__)
    for name in otf.__all__:
        value = getattr(otf, name)
        assert getattr(import_module(value.__module__), value.__name__) is value


def test_there_is_no_other_name_at_the_top() -> None:
    """A name that is not there is an AttributeError that names it."""
    with pytest.raises(AttributeError, match="module 'otf' has no attribute 'Nothing'"):
        _ = otf.Nothing  # type: ignore[attr-defined]


def test_a_bench_is_made_of_what_is_in_one_package() -> None:
    """`otf.adapter` has each type of a field of `Bench`, and each word that a codec, a model's port or a line needs."""
    for name in ("Barrier", "Ended", "Life", "Limits", "KnownIssue", "PortAction", "Codec", "lossy", "reordering"):
        assert name in otf.adapter.__all__
    assert dataclasses.is_dataclass(otf.adapter.Bench)
    assert all(hasattr(otf.adapter, name) for name in otf.adapter.__all__)
