"""Dataclasses of which every step of a run makes several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def light(kind: type[Kind]) -> type[Kind]:
    """Make a dataclass with slots and a hash, that nobody may change: type checkers see to that.

    A frozen one guards itself at run time too, by which making it takes three times as long; five are made in a step.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
