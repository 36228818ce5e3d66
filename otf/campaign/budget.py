"""What shrinking may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """How much shrinking may take: transitions (inputs sent) and resets (copies started) of the system, and seconds."""

    transitions: int = 20_000
    resets: int = 5_000
    seconds: float = 600.0
