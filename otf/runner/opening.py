"""Opening the lines of a bench: whatever its own code raises at that is told as an error of the bench."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

from otf.adapter import Bench, Line
from otf.adapter.exits import is_interruption, said, where
from otf.errors import ContactError, OtfError, UsageError
from otf.values import show


@asynccontextmanager
async def opened(bench: Bench) -> AsyncGenerator[Mapping[str, Line], None]:
    """Open the lines of a bench; whatever its own code raises at that is told as an error of the bench."""
    async with AsyncExitStack() as stack:
        try:
            lines = await stack.enter_async_context(bench.open())
        except OtfError:
            raise
        except OSError as error:
            message = f"the bench could not open its ports: {type(error).__name__}: {error}"
            raise ContactError(message) from error
        except BaseException as error:
            if is_interruption(error):
                raise
            message = f"the bench raised while it opened its ports: {where(error)}: {said(error)}"
            raise UsageError(message) from error
        yield _checked(lines)


def _checked(lines: object) -> Mapping[str, Line]:
    if isinstance(lines, Mapping):
        return cast("Mapping[str, Line]", lines)
    message = f"the bench's connect gave {show(lines)}, and no mapping from the names of its ports to lines"
    raise UsageError(message)
