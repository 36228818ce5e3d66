"""Where the time of a campaign goes; all times are virtual."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from trio.testing import MockClock

from otf.adapter import Bench, Line
from otf.core.model_calls import CURRENT
from otf.runner.time_spent import TimeSpent, spending, spent
from otf.spec import Transition, goto
from tests.runner.playing import answering, conduct, hub, ping, spec, virtually


def counted(make: Callable[[], Bench], *inputs: str, within: float = 1e6) -> TimeSpent:
    """Drive a system with these inputs for at most so long; return where the time went."""
    count = TimeSpent()

    async def run() -> None:
        with spending(count), anyio.move_on_after(within):
            await conduct(make(), inputs)

    virtually(run)
    return count


def slow(start: float, stop: float) -> Bench:
    """A system that starts and stops slowly."""
    connect = hub(lambda _port, _frame: [(0.25, "p", b"pong")], "p")

    @asynccontextmanager
    async def slowly() -> AsyncGenerator[Mapping[str, Line], None]:
        await anyio.sleep(start)
        async with connect() as lines:
            yield lines
        await anyio.sleep(stop)

    return answering(connect=slowly, ports={}, outputs=("p",))


def test_waits_are_counted_by_what_ended_them() -> None:
    """A wait that ends with an output counts for the wire, and one in which nothing comes for silence."""
    count = counted(lambda: answering((0.25, b"pong")), "p.ping", "p.ping")
    assert (count.wire, count.silence, count.starts, count.model) == (0.5, 2.0, 0.0, 0.0)
    assert list(count.shares())[:2] == ["silence", "wire"]


def test_what_the_model_itself_waits_for_is_no_slowness_of_the_system() -> None:
    """Quiescence shows that the input was taken; then the window is waited for."""

    def later(state: int, _inp: str) -> Iterator[Transition[int]]:
        yield goto(state, "p.pong", within=(3.0, 5.0))

    count = counted(lambda: answering((4.0, b"pong"), spec=spec(later)), "p.ping")
    assert (count.silence, count.wire, count.timers) == (2.0, 0.0, 3.0)


def test_starts_and_stops_are_counted() -> None:
    """Opening the lines of a fresh copy and closing them takes its time."""
    count = counted(lambda: slow(3.0, 4.0), "p.ping")
    assert (count.starts, count.wire, count.silence) == (7.0, 0.25, 1.0)


@pytest.mark.parametrize(
    ("within", "parts"), [(2.0, (2.0, 0.0, 0.0)), (3.125, (3.0, 0.0, 0.125)), (3.75, (3.0, 0.25, 0.5))]
)
def test_an_interrupted_run_is_counted_up_to_then(within: float, parts: tuple[float, float, float]) -> None:
    """An interruption may come while the system starts, while it answers, or in the silence after that."""
    count = counted(lambda: slow(3.0, 0.0), "p.ping", within=within)
    assert (count.starts, count.wire, count.silence) == parts


def test_calls_of_the_model_are_counted() -> None:
    """The functions of the model are called once for the same arguments, and each call counts."""
    clock = MockClock()

    def thinking(state: int, inp: str) -> Iterator[Transition[int]]:
        clock.jump(5.0)
        return ping(min(state, 1) - 1, inp)

    def transitions(state: int, inp: str) -> Any:  # noqa: ANN401 -- what a spec returns
        return [goto(0, "p.pong") for _ in thinking(state, inp)]

    count = TimeSpent()

    async def run() -> None:
        with spending(count):
            await conduct(answering(b"pong", spec=spec(transitions, "p.ping")), ["p.ping"] * 3)

    clock.autojump_threshold = 0
    anyio.run(run, backend="trio", backend_options={"clock": clock})
    assert count.model == 5.0


def test_what_other_programs_take_is_not_the_models() -> None:
    """In real time, a model's function counts with its CPU time: while it is kept waiting, it takes none."""

    def kept_waiting(_state: int, _inp: str) -> Any:  # noqa: ANN401 -- what a spec returns
        time.sleep(0.2)
        return [goto(0, "p.pong")]

    count = TimeSpent()

    async def run() -> None:
        with spending(count):
            await conduct(answering(b"pong", spec=spec(kept_waiting, "p.ping")), ["p.ping"])

    anyio.run(run)
    assert count.model < 0.1


def test_nothing_is_counted_outside() -> None:
    """Without a campaign the clock of the model stands still, and each run has a count of its own."""
    counted(lambda: answering(b"pong"), "p.ping")
    assert CURRENT.clock() == CURRENT.clock() == 0.0
    assert spent() is not spent()


def test_shares_begin_with_the_largest() -> None:
    """The largest share is the one to do something about."""
    assert list(TimeSpent(silence=1.0, starts=3.0, otf=2.0).shares().items()) == [
        ("starts", 3.0),
        ("otf", 2.0),
        ("silence", 1.0),
        ("wire", 0.0),
        ("timers", 0.0),
        ("model", 0.0),
    ]
