"""What is kept from path to path, such as open ports and servers; all of it ends with the campaign."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Final

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
