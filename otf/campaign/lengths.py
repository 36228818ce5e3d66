"""How long each path is: a fault of the 51st command, or of the 50th second, shows on no path of 50 inputs."""

from __future__ import annotations

from typing import Final

from otf.campaign.settings import UNLIMITED, Settings

SCALES: Final = (2, 4, 8)
"""Every second path is twice as long as the shortest, every fourth four times, every eighth eight times."""
FEW: Final = 3
"""Paths from which on one of them is the longest."""


def length(settings: Settings, number: int, *, late: bool) -> int:
    """Return the greatest number of inputs of a path, by its number from 1.

    Where the settings mix lengths, they double from path to path, and the last path takes half of all inputs. Where
    only the time ends the campaign, a path that begins when half of it is over (`late`) lasts to the end.

    >>> from pathlib import Path
    >>> ten = Settings(out=Path("out"), traces=10, mixed=True)
    >>> [length(ten, number, late=False) for number in range(1, 11)]
    [11, 24, 12, 48, 12, 23, 12, 96, 12, 250]
    """
    if not settings.mixed:
        return settings.steps
    if settings.traces >= UNLIMITED:
        return UNLIMITED if late else max(1, _scaled(number, 2 * settings.steps, 5))
    whole = settings.steps * settings.traces
    longest = whole // 2 if settings.traces >= FEW else settings.steps
    if number == settings.traces:
        return longest
    return max(1, _scaled(number, whole - longest, _sum(settings.traces - 1)))


def _scaled(number: int, inputs: int, parts: int) -> int:
    """Return the length of a path where so many inputs are for so many parts; the lengths add up to the inputs."""
    return inputs * _sum(number) // parts - inputs * _sum(number - 1) // parts


def _sum(number: int) -> int:
    """Return the parts of the first paths together."""
    return number + sum(number // scale * (scale // 2) for scale in SCALES)
