"""Asynchronous properties, on the loop that runs already."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from hypothesis import strategies as st

from otf import check_async
from otf.logic import Property, exists, for_all, implies

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run each test on both event loops."""
    return str(request.param)


async def doubled(number: int) -> int:
    """Answer later."""
    await anyio.lowlevel.checkpoint()
    return 2 * number


async def grows(number: int) -> bool:
    """Say too much: 0 does not grow."""
    return await doubled(number) != number


async def positive_grow(number: int) -> Property:
    """Say what is true, in a property that has to be awaited inside as well."""
    bigger = await doubled(number)
    return implies(number > 0, lambda: later(bigger > number))


async def later(truth: bool) -> bool:
    """Say it later."""
    await anyio.lowlevel.checkpoint()
    return truth


async def is_sorted(xs: list[int]) -> bool:
    """Say too much of lists."""
    return await later(xs == sorted(xs))


async def raises(number: int) -> bool:
    """Raise later."""
    await anyio.lowlevel.checkpoint()
    return 6 // (number - 1) > -7


async def test_verdicts_are_those_of_check() -> None:
    """Values, rejections and errors are counted in the same way."""
    assert str(await check_async(grows)) == "counterexample after 1 test: number=0"
    assert str(await check_async(positive_grow, tests=10)) == "passed 10 tests, 10 rejections"
    assert str(await check_async(positive_grow, range(5))) == "proof after 4 tests, 1 rejection"
    assert str(await check_async(raises)).startswith("counterexample after 2 tests: number=1 raised ZeroDivisionError")
    assert str(await check_async(grows, [2])) == "proof after 1 test"


async def test_quantifiers_await_too() -> None:
    """Inside others, and from a coroutine that is there already."""
    found = exists(int, lambda n: later(n == -2))
    assert str(await check_async(found)) == "proof after 1 test: n=-2"
    assert (
        str(await check_async(for_all(range(3), lambda n: exists(int, lambda m: later(n + m == 0)))))
        == "proof after 3 tests"
    )
    assert str(await check_async(lambda: later(True))) == "proof after 1 test"  # noqa: FBT003 -- a truth


async def test_counterexamples_are_shrunk_in_the_order_of_the_enumeration() -> None:
    """With a seed, earlier values in the usual order are tried again; values that Hypothesis drew stay as found."""
    for seed in range(9):
        result = await check_async(is_sorted, seed=seed)
        assert result.values == {"xs": [1, 0]}
    drawn = await check_async(grows, st.integers(0, 99))
    assert drawn.values == drawn.found


async def test_all_tests_run_on_one_loop() -> None:
    """What belongs to a loop can be used from one test to the next."""
    event = anyio.Event()

    async def waits(number: int) -> bool:
        if number:
            await event.wait()
        event.set()
        return True

    assert await check_async(waits, range(5))
