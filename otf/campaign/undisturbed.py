"""Keeping the collector of garbage from stopping the tester."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Generator[None, None, None]:
    """Leave out all that is there now where garbage is looked for, until the context is left.

    To look through all modules and models takes ten milliseconds and more, in which the tester neither sends nor sees
    anything: where windows are judged that is time in which an output may have come. What a run makes is looked through
    as before. Where somebody has frozen objects already, they stay so.
    """
    ours = gc.get_freeze_count() == 0
    if ours:
        gc.freeze()
    try:
        yield
    finally:
        if ours:
            gc.unfreeze()
