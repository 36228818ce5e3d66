"""A Python function as the system: what is special about it."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, cast

import anyio
import pytest
from trio.testing import MockClock

from otf.adapter import Ending, LineLost
from otf.adapters import inprocess
from otf.adapters.inprocess import FrameHandler, InprocessLine, Reply, open_inprocess
from otf.errors import ContactError, UsageError
from tests.adapters.harness import arrive, frames, over

pytestmark = pytest.mark.anyio

virtual = pytest.mark.parametrize(
    "anyio_backend", [("trio", {"clock": MockClock(autojump_threshold=0)})], ids=["virtual"]
)
"""A test in trio's virtual time, which jumps whenever all tasks wait."""


def answering(*replies: Reply) -> Callable[[], FrameHandler]:
    """What makes a system that gives these replies to each frame."""
    return lambda: lambda _: list(replies)


async def test_each_path_has_a_fresh_function() -> None:
    """What a function remembers does not leak from one path into the next."""

    def make() -> FrameHandler:
        numbers = count()
        return lambda _: str(next(numbers)).encode()

    opener = inprocess(make)
    for _ in range(2):
        async with opener() as line:
            await line.send(b"?")
            await line.send(b"?")
            assert line.receive() == frames(b"0", b"1")


@pytest.mark.parametrize(
    ("answer", "arriving"),
    [(b"one", [b"one"]), ([], []), (None, []), ((b"one", b"two"), [b"one", b"two"]), ({b"x": 1}, [b"x"])],
)
async def test_answers_have_many_forms(answer: Iterable[Reply] | None, arriving: list[bytes]) -> None:
    """A function may answer with one reply, with any iterable of them, or with None; they are there at once."""
    async with open_inprocess(lambda: lambda _: answer) as line:
        await line.send(b"?")
        assert line.receive() == frames(*arriving)


async def test_a_reply_calls_the_runner() -> None:
    """There is no descriptor, so that the line calls; a silent function calls nobody."""
    calls: list[str] = []
    async with open_inprocess(lambda: lambda data: [data] if data else []) as line:
        line.arm(lambda: calls.append("wake"))
        await line.send(b"")
        assert (line.descriptors(), calls) == ((), [])
        await line.send(b"hello")
        assert calls == ["wake"]


# Time


@virtual
async def test_delayed_replies_come_at_their_times() -> None:
    """Replies arrive in the order of their times, each when it is due, and waiting for them costs no real time."""
    start = anyio.current_time()
    async with open_inprocess(answering((15, b"late"), b"now", (10.0, b"soon"), (10.0, b"soon too"))) as line:
        await line.send(b"?")
        assert (line.receive(), line.receive()) == (frames(b"now"), [])
        assert await arrive(line, 2) == frames(b"soon", b"soon too")
        assert anyio.current_time() - start == pytest.approx(10, abs=0.001)
        assert await arrive(line, 1) == frames(b"late")
        assert anyio.current_time() - start == pytest.approx(15, abs=0.001)


@virtual
async def test_a_single_delayed_reply_needs_no_list() -> None:
    """A pair of seconds and bytes is one reply."""
    async with open_inprocess(lambda: lambda data: (1, data)) as line:
        await line.send(b"hello")
        assert line.receive() == []
        assert await arrive(line, 1) == frames(b"hello")


async def test_delays_are_real_where_time_is() -> None:
    """On every event loop a delayed reply arrives, and not before its time."""
    start = anyio.current_time()
    async with open_inprocess(answering((0.02, b"soon"))) as line:
        await line.send(b"?")
        assert await arrive(line, 1) == frames(b"soon")
        assert round(anyio.current_time() - start, 6) >= 0.02


@virtual
async def test_delayed_replies_are_dropped_with_the_line() -> None:
    """Who leaves the line does not wait for what would still have come."""
    start = anyio.current_time()
    async with open_inprocess(answering((1000, b"late"))) as line:
        await line.send(b"?")
    assert anyio.current_time() == start


# Endings


@virtual
async def test_an_ending_can_come_later() -> None:
    """Until a delayed ending is due the function takes frames; what would come after it does not come."""
    replies: list[Reply] = [(1, b"one"), (2, Ending("power off")), (3, b"never")]
    async with open_inprocess(lambda: lambda _: replies) as line:
        await line.send(b"?")
        await line.send(b"?")
        assert await arrive(line, over) == [*frames(b"one", b"one"), Ending("power off")]
        with pytest.raises(LineLost, match="ended"):
            await line.send(b"?")
        await anyio.sleep(5)
        assert line.receive() == []


async def test_nothing_is_sent_into_an_ending_that_waits() -> None:
    """A function that has ended takes nothing more, though nobody has received its ending yet."""
    async with open_inprocess(answering(Ending("off"), b"never")) as line:
        await line.send(b"?")
        with pytest.raises(LineLost):
            await line.send(b"?")
        assert (line.receive(), line.receive()) == ([Ending("off")], [])


async def test_a_function_that_raises_has_ended() -> None:
    """What it gave before arrives, then the ending with the error; the traceback is remarked."""

    def fragile(data: bytes) -> Iterator[Reply]:
        yield data
        raise ValueError(7)

    async with open_inprocess(lambda: fragile) as line:
        await line.send(b"one")
        assert line.receive() == [*frames(b"one"), Ending("raised ValueError: 7")]
        assert "in fragile\n" in line.remarks()[0]
        assert line.remarks()[0].endswith("\nValueError: 7")


# Floods


async def test_an_answer_without_end_comes_in_bounded_parts() -> None:
    """A generator that never ends gives 256 replies at a time, and takes no more memory than that."""

    def flood(_: bytes) -> Iterator[Reply]:
        yield from (str(number).encode() for number in count())

    async with open_inprocess(lambda: flood) as line:
        await line.send(b"?")
        arrived = [line.receive() for _ in range(4)]
        assert [len(part) for part in arrived] == [256] * 4
        assert [frame for part in arrived for frame in part] == frames(
            *(str(number).encode() for number in range(1024))
        )


@virtual
async def test_replies_behind_many_late_ones_are_found() -> None:
    """Where more replies are to come than the line takes at a time, and all of these are late, it asks to be asked."""
    start = anyio.current_time()
    async with open_inprocess(answering(*[(9, b"late")] * 1000, b"now")) as line:
        await line.send(b"?")
        assert await arrive(line, 1) == frames(b"now")
        assert anyio.current_time() == start
        assert len(await arrive(line, 1000)) == 1000


@virtual
async def test_late_replies_without_end_come_in_bounded_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function is not asked for more while 20,000 of its replies, here 500, are not due."""
    monkeypatch.setattr(sys.modules[InprocessLine.__module__], "_FULL", 500)
    asked = count()

    def flood(_: bytes) -> Iterator[Reply]:
        yield from ((9, b"late") for _ in asked)

    start = anyio.current_time()
    async with open_inprocess(lambda: flood) as line:
        await line.send(b"?")
        assert len(await arrive(line, 501)) >= 501
        assert anyio.current_time() == start + 18
        assert next(asked) <= 1500


async def test_inputs_are_taken_one_after_another() -> None:
    """A frame that comes while the function still answers the one before waits until that is answered whole."""
    seen: list[bytes] = []

    def slow(data: bytes) -> Iterator[Reply]:
        seen.append(data)
        yield from [data] * 300

    async with open_inprocess(lambda: slow) as line:
        await line.send(b"one")
        await line.send(b"two")
        assert await arrive(line, 600) == frames(*[b"one"] * 300, *[b"two"] * 300)
        assert seen == [b"one", b"two"]


# What is wrong with the function


@pytest.mark.parametrize("answer", ["text", ["text"], 7, [7], [(1, 2)], [(-1, b"early")], [None], (1, "text"), (True,)])
async def test_what_is_no_reply_is_told(answer: object) -> None:
    """A function that gives something else gets an error that shows it, and names the port and the function's line."""
    async with open_inprocess(lambda: lambda _: cast("bytes", answer), port="panel") as line:
        with pytest.raises(UsageError, match=r"(?s)behind port 'panel' gave .* is not a reply.*test_inprocess\.py"):
            await line.send(b"?")


async def test_what_cannot_be_called_is_told() -> None:
    """It would look like a system that dies at the first frame: a false alarm."""
    with pytest.raises(UsageError, match=r"^make\(\) behind port 'panel' returned 7, which cannot be called"):
        async with open_inprocess(lambda: cast("FrameHandler", 7), port="panel"):
            pass


async def test_a_function_that_cannot_be_made_is_told() -> None:
    """Where `make` raises, there is no system to talk to."""

    def make() -> FrameHandler:
        raise KeyError("config")

    with pytest.raises(
        ContactError,
        match=r"behind port 'panel' cannot be made: KeyError: 'config' \(/.*, line \d+\); inprocess\(make\) calls make",
    ):
        await opened(make)


async def opened(make: Callable[[], FrameHandler]) -> None:
    """Open a line."""
    async with inprocess(make, port="panel")() as line:
        assert isinstance(line, InprocessLine)


class Lamp:
    """A system, which has a method for each frame."""


def test_an_object_instead_of_its_maker_is_refused() -> None:
    """The commonest mistake: the object itself, which one path would pass on to the next."""
    with pytest.raises(UsageError, match=r"a function is needed; it makes .*: write lambda: Lamp\(…\)\.METHOD"):
        inprocess(cast("Any", Lamp()))
