"""Running an evaluation to its end: at once, or with an event loop where something has to be awaited."""

from __future__ import annotations

from inspect import iscoroutine
from typing import TypeVar

from otf.errors import UsageError
from otf.logic.judging import Waiting

T = TypeVar("T")


def finish(steps: Waiting[T]) -> T:
    """Return what an evaluation comes to. Raises UsageError where something would have to be awaited."""
    try:
        waits_for = next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result
    if iscoroutine(waits_for):
        waits_for.close()
    raise UsageError("the property is asynchronous: write `await check_async(prop)`")


async def answered(steps: Waiting[T]) -> T:
    """Await whatever an evaluation asks for, and give it what comes, or what is raised."""
    try:
        waits_for = next(steps)
        while True:
            try:
                answer = await waits_for
            except Exception as error:  # noqa: BLE001 -- whatever a property raises is a counterexample
                waits_for = steps.throw(error)
            else:
                waits_for = steps.send(answer)
    except StopIteration as stop:
        result: T = stop.value
        return result
