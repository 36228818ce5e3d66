"""Opening the ports of a bench, one after the other."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from otf.adapter.log import bound, note
from otf.errors import UsageError
from otf.values.arguments import brief
from otf.values.raised import definition

if TYPE_CHECKING:
    from otf.adapter.bench_options import Opener
    from otf.adapter.line import Line


@asynccontextmanager
async def opened(ports: Mapping[str, Opener]) -> AsyncGenerator[Mapping[str, Line], None]:
    """Open the ports in their order, and close them in reverse. Raises UsageError for what opens no port."""
    async with AsyncExitStack() as stack:
        lines: dict[str, Line] = {}
        for name, opener in ports.items():
            with bound(port=name):
                line = opener()
                if not hasattr(line, "__aenter__"):
                    raise UsageError(_unopened(name, opener, line))
                lines[name] = await stack.enter_async_context(line)
                note("opened")
        yield lines


def _unopened(name: str, opener: object, found: object) -> str:
    advice = "; leave out the function around it" if callable(found) else ""
    what = f"ports[{name!r}] is a function that returned {brief(found)}, and must return an open line (`async with`)"
    return f"{what}{advice}; an adapter does, such as tcp('127.0.0.1:7000'){definition(opener)}"
