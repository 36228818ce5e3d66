"""Reports a model that hangs: after a second, which of its functions is at work, and on what.

A thread looks at the question that the model is working on. It cannot report code that keeps all threads from
running, as one call of a C library may.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from otf.core.calls import CURRENT, ModelCall
from otf.values import show

PATIENCE: Final = 1.0  # seconds
LOOKS: Final = 4  # in that time
_ONE: Final = threading.Lock()  # two that watch the same would report everything twice
_TOLD: Final = frozenset(10**power * LOOKS for power in range(6))  # after a second, after ten, a hundred …

Tell = Callable[[str], object]


def warn(text: str) -> None:
    """Report on standard error, if there is one."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] -- it is None where it was closed
        sys.stderr.write(f"otf: {text}\n")
        sys.stderr.flush()


@contextmanager
def watched(tell: Tell = warn, patience: float = PATIENCE) -> Generator[None]:
    """Watch the model while the context is open; `tell` is called from another thread."""
    if not _ONE.acquire(blocking=False):
        yield
        return
    over = threading.Event()
    threading.Thread(target=watch, args=(over, tell, patience), name="otf watchdog", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        _ONE.release()


def watch(over: threading.Event, tell: Tell, patience: float) -> None:
    """Look at what the model is asked, four times in `patience` seconds, until it is over."""
    seen, looks = CURRENT.now, 0
    while not over.wait(patience / LOOKS):
        now = CURRENT.now
        looks = looks + 1 if now is not None and now is seen else 0
        seen = now
        if now is not None and looks in _TOLD:
            tell(
                f"the model has been at work for {looks / LOOKS * patience:g} s: {_text(now)}; Ctrl-C breaks out of it"
            )


def _text(question: ModelCall) -> str:
    function, arguments = question
    return f"{function}({', '.join(map(show, arguments))})"
