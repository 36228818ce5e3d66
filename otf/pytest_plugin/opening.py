"""Opening the ports of a bench for a test that talks to the system by hand."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager

import pytest
from anyio.from_thread import start_blocking_portal

from otf.adapter import Bench
from otf.errors import UsageError
from otf.pytest_plugin.devices import reserved
from otf.pytest_plugin.given import made_with
from otf.pytest_plugin.talking import Spoken, Talk, talking


class SystemOpener:
    """Opens systems for one test, and stops them at its end."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._open = ExitStack()

    def __repr__(self) -> str:
        """Show the name of the test: pytest prints the fixtures of one that fails."""
        return self._item.name

    def open(self, bench: Bench | Callable[..., Bench], *, alone: str | bool = True, **parameters: object) -> Talk:
        """Start a system; `parameters` are those of the function that makes the bench."""
        made = self._made(bench, parameters)
        self._open.enter_context(reserved(self._item, made, alone))
        portal = self._open.enter_context(start_blocking_portal())
        return Talk(self._open.enter_context(portal.wrap_async_context_manager(talking(made))), portal)

    @asynccontextmanager
    async def open_async(
        self, bench: Bench | Callable[..., Bench], *, alone: str | bool = True, **parameters: object
    ) -> AsyncGenerator[Spoken]:
        """Start a system on the event loop of the test."""
        made = self._made(bench, parameters)
        with reserved(self._item, made, alone):
            async with talking(made) as spoken:
                yield spoken

    def close(self) -> None:
        """Stop all that were started."""
        self._open.close()

    def _made(self, bench: Bench | Callable[..., Bench], parameters: dict[str, object]) -> Bench:
        made, rest = made_with(bench, parameters)
        if rest:
            message = f"{next(iter(rest))}= is no parameter of the bench"
            raise UsageError(message)
        return made
