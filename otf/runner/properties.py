"""Checking asynchronous properties, on the event loop that runs already."""

from __future__ import annotations

from otf.logic import TESTS, PropertyResult, Testable, Waiting, checking, quantified
from otf.values import Values


async def check_async(
    prop: Testable,
    *sources: object,
    tests: int = TESTS,
    seed: int | None = None,
    values: Values | None = None,
) -> PropertyResult:
    """Check a property as `check` does, which may be an `async def`, or say something that has to be awaited.

    One row of values is tried after the other, all on the loop of the caller.

    >>> import anyio
    >>> async def below_two(number: int) -> bool:
    ...     await anyio.sleep(0)
    ...     return number < 2
    >>> anyio.run(check_async, below_two)
    <counterexample after 4 tests: number=2>
    """
    return await _answered(checking(quantified(prop, sources, values), tests, seed, waits=True))


async def _answered(steps: Waiting[PropertyResult]) -> PropertyResult:
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
        result: PropertyResult = stop.value
        return result
