"""Keeping the collector of garbage from stopping the tester."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

SELDOM: Final = 100  # times less often than usual


@contextmanager
def undisturbed() -> Generator[None, None, None]:
    """Leave out all that is there now where garbage is looked for, until the context is left.

    To look through all modules and models takes ten milliseconds and more, in which the tester neither sends nor sees
    anything: where windows are judged that is time in which an output may have come. What a run makes is looked through
    as before, what has lasted for a while a hundred times less often: the core remembers 100,000 answers without any
    cycle among them, and to look through these takes a third of a second. Where somebody has frozen objects already,
    they stay so.
    """
    young, middle, old = gc.get_threshold()
    ours = gc.get_freeze_count() == 0
    if ours:
        gc.freeze()
    gc.set_threshold(young, middle, old * SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        if ours:
            gc.unfreeze()
