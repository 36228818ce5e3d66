"""A library of the kind in docs/howto-first-minutes.md: it calls back from a thread of its own."""

import queue
import threading
from collections.abc import Callable

MOST = 9


class Gauge:
    """Counts up to nine, and tells each total from its own thread."""

    def __init__(self, on_change: Callable[[int], object]) -> None:
        self._tell, self._added, self._total = on_change, queue.Queue[int | None](), 0
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def add(self, number: int) -> None:
        """Add a number, soon."""
        self._added.put(number)

    def stop(self) -> None:
        """End the thread."""
        self._added.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (number := self._added.get()) is not None:
            self._total = min(self._total + number, MOST)
            self._tell(self._total)
