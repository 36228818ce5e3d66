"""How often to try: a failure that shows in one run of three is not ruled out by one run that passed."""

from __future__ import annotations

from math import ceil, log
from typing import Final

WANTED: Final = 0.95
MOST: Final = 50  # runs; a failure that is rarer than one in seventeen runs is looked for with less confidence


def repeats(rate: float) -> int:
    """Return after how many runs a failure that shows at this rate has shown itself, with the wanted confidence.

    >>> repeats(1.0), repeats(0.5), repeats(0.1)
    (1, 5, 29)
    """
    if rate >= 1:
        return 1
    return min(MOST, ceil(log(1 - WANTED) / log(1 - rate))) if rate > 0 else MOST
