"""What one path leaves open for the next, such as ports and servers; all of it is closed when the campaign ends.

Of a system that lives on, it also keeps when its threads fell asleep. Each new connection wakes the server, but it
sleeps again before the new path first looks at it. So that look alone does not tell when a sleep of up to a second
began. Such a thread may wake at any moment, and otf has to wait the whole quiescence time. But if otf looks once more
before the next path opens its ports, the sleep began after that look.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

_END: Final = ContextVar[AsyncExitStack | None]("end", default=None)


def campaigns_end() -> AsyncExitStack | None:
    """Return the stack that is closed when the campaign ends, for what is kept until then; None outside `keeping`."""
    return _END.get()


@asynccontextmanager
async def keeping() -> AsyncGenerator[None]:
    """Keep resources from path to path; all of them end when the context is left, however that happens.

    If one such context is inside another, the outer one keeps them.
    """
    if campaigns_end() is not None:
        yield
        return
    end = AsyncExitStack()
    token = _END.set(end)
    try:
        async with end:
            yield
    finally:
        _END.reset(token)


if TYPE_CHECKING:
    from otf.adapter.observed_rest.system import SystemProcesses

_earlier: Final[WeakKeyDictionary[AsyncExitStack, SystemProcesses]] = WeakKeyDictionary()


def glance() -> None:
    """Note, before a path opens its ports, which threads of the last path's system sleep."""
    end = campaigns_end()
    if end is not None and end in _earlier:
        with suppress(OSError):
            _earlier[end].glance()


def recall(system: SystemProcesses) -> None:
    """Tell a system what the path before knows of its threads."""
    end = campaigns_end()
    if end is not None and end in _earlier:
        system.sleepers.recall(_earlier[end].sleepers)


def hand_over(system: SystemProcesses) -> None:
    """Keep a system for the next path of the campaign; without a campaign, close it."""
    end = campaigns_end()
    if end is None:
        system.close()
        return
    if end not in _earlier:
        end.callback(lambda: _earlier.pop(end).close())
    else:
        _earlier[end].close()
    _earlier[end] = system
