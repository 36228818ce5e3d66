"""Hooks: a shell command or a Python function that resets, power-cycles or checks the system."""

from __future__ import annotations

import inspect
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias

import anyio

from otf.adapter.child import Child
from otf.adapter.child.reading import Reading
from otf.adapter.stream import Inflow
from otf.adapter.third_party import answered, describe, is_interruption
from otf.adapter.waiting import alarms
from otf.errors import ContactError
from otf.framing import lines

Hook: TypeAlias = str | Sequence[str] | Callable[[], object] | Callable[[], Awaitable[object]]
"""A command line for the shell, a program with its arguments, or a function.

It succeeds with exit status 0, or with any result but False. A function that blocks runs in a thread of its own, one
that is `async` on the loop.
"""

_LAST: Final = 5.0
_FOREVER: Final = float("inf")  # the caller sets the limit


async def obey(hook: Hook, what: str, seconds: float) -> None:
    """Run a hook to its end; errors call it `what`. Raises ContactError if it fails or takes too long."""
    with anyio.move_on_after(seconds):
        why = await (_called(hook) if callable(hook) else _run(hook))
        if why:
            message = f"{what} failed: {why}"
            raise ContactError(message)
        return
    message = f"{what} took longer than {seconds:g} s; give it more time, or see by hand where it hangs"
    raise ContactError(message)


async def _called(hook: Callable[[], Any]) -> str:
    try:
        if inspect.iscoroutinefunction(hook):
            answer: object = await hook()
        else:
            answer = await answered(hook, _FOREVER)
    except BaseException as error:  # whatever it raises, the system is not ready
        if is_interruption(error):
            raise
        return describe(error)
    return "the function returned False" if answer is False else ""


async def _run(command: str | Sequence[str]) -> str:
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    async with alarms() as alarm:
        child = Child(argv)
        reading = Reading(child, lines()(), alarm)
        try:
            child.close_input()
            await _until_ended(reading)
        finally:
            # the whole group, whatever the hook has left behind
            child.signal(signal.SIGKILL)
            with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST):
                await _until_ended(reading)
            reading.close()
            child.close()
        printed = [*reading.tail.lines(), *_printed(reading.inflow)]
        ended = reading.ended
    return "" if ended == "exit status 0" else "; ".join([f"{ended} of `{child.command}`", *printed[-3:]])


async def _until_ended(reading: Reading) -> None:
    reading.look()
    while not reading.ended:
        await reading.more()
        reading.look()
        while len(reading.inflow.queue) > 1:
            reading.inflow.queue.popleft()  # only its last part is of interest


def _printed(inflow: Inflow) -> list[str]:
    data = [getattr(each, "data", b"") for each in inflow.queue]
    return [each.decode(errors="backslashreplace") for each in data if each]
