"""An event loop that does nothing any more ends its process."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otf.adapter import threads
from otf.adapter.threads import DEEP, LOOKS, NO_LOOP, NO_PYTHON, LoopCheck, in_loop
from otf.errors import INCONCLUSIVE
from tests.always import always


class Looks(threading.Event):
    """Takes no time, and is never over."""

    def wait(self, timeout: float | None = None) -> bool:
        """Return at once."""
        del timeout
        return False


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The statuses with which the process would have ended."""
    statuses = list[int]()
    monkeypatch.setattr("otf.adapter.threads.os._exit", statuses.append)
    return statuses


async def _checked(told: list[str], turns: bool) -> None:
    check = LoopCheck(Looks(), told.append)
    for _ in range(LOOKS + 2):
        assert not check.wait(0.25)
        await asyncio.sleep(0) if turns else None


@pytest.mark.parametrize(
    ("turns", "at_work", "ends"), [(False, True, True), (True, True, False), (False, False, False)]
)
def test_a_loop_that_does_nothing(
    ended: list[int], monkeypatch: pytest.MonkeyPatch, turns: bool, at_work: bool, ends: bool
) -> None:
    """It ends the process if it was at work itself all the time; one that turns, or waits for a model, does not."""
    monkeypatch.setattr("otf.adapter.threads.in_loop", always(at_work))
    told = list[str]()
    asyncio.run(_checked(told, turns))
    assert (ended[:1], told[:1]) == (([INCONCLUSIVE], [NO_LOOP]) if ends else ([], []))


def test_a_loop_without_a_processor(ended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not blamed for what it could not do: an hour's run beside eight busy processes once ended so."""
    monkeypatch.setattr("otf.adapter.threads.in_loop", always(value=True))
    monkeypatch.setattr("otf.adapter.threads.time.clock_gettime", always(1.0))
    asyncio.run(_checked([], turns=False))
    assert ended == []


def test_where_a_thread_is() -> None:
    """A loop that waits is at work itself; code that it calls is not."""

    async def work() -> bool:
        here, waits = threading.get_ident(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def look() -> None:
            while not in_loop(here):
                pass
            loop.call_soon_threadsafe(waits.set)

        called = in_loop(here)
        threading.Thread(target=look).start()
        await waits.wait()
        return called

    assert not asyncio.run(work())


@pytest.mark.parametrize("broken", ["len", "range", "isinstance", "set"])
def test_python_itself(ended: list[int], monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """Without what every loop rests on, the process ends at the next look."""
    told = list[str]()
    with monkeypatch.context() as patch:
        patch.setitem(vars(threads), broken, always(0))
        LoopCheck(Looks(), told.append).wait(0.25)
    assert (ended, told) == ([INCONCLUSIVE], [NO_PYTHON])


def test_a_recursion_limit_that_leaves_no_room(ended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors would end in errors of their own, anywhere; a lower limit that leaves room is the bench's business."""
    told = list[str]()
    for limit in (DEEP, DEEP - 1):
        monkeypatch.setattr("sys.getrecursionlimit", lambda limit=limit: limit)
        LoopCheck(Looks(), told.append).wait(0.25)
    assert (ended, told) == ([INCONCLUSIVE], [NO_PYTHON])


def test_without_a_loop(ended: list[int]) -> None:
    """There is nothing to look at; a loop that was closed is none."""
    check = LoopCheck(Looks(), print)
    for _ in range(2 * LOOKS):
        check.wait(0.25)
    assert ended == []
