"""Another order of the same values: still small before large by and large, and repeatable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")
LONGEST: Final = 65_536
_MASK: Final = 2**64 - 1


def perturbed(values: Iterable[T], seed: int) -> Iterator[tuple[int, T]]:
    """Yield each value with its old place, shuffled in blocks of 1, 2, 4, 8, … values.

    So no value comes more than twice as late as it would have, and all before its block have been there before it.

    >>> [place for place, _ in perturbed("abcdefg", seed=1)]
    [0, 2, 1, 4, 5, 3, 6]
    """
    rest = iter(values)
    start = 0
    while block := list(islice(rest, min(start + 1, LONGEST))):
        for place in sorted(range(start, start + len(block)), key=lambda place: _lot(seed, place)):
            yield place, block[place - start]
        start += len(block)


def block_start(place: int) -> int:
    """Return the first place of the block that holds this place.

    >>> [block_start(place) for place in range(8)]
    [0, 1, 1, 3, 3, 3, 3, 7]
    """
    if place < 2 * LONGEST:
        return (1 << (place + 1).bit_length() - 1) - 1
    return place - (place - 2 * LONGEST + 1) % LONGEST


def _lot(seed: int, place: int) -> int:
    # splitmix64: no state, and no import of `random`, which has no business in what the core is built on
    mixed: int = (seed * 0x9E3779B97F4A7C15 + place * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return mixed ^ (mixed >> 31)
