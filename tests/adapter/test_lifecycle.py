"""The life of a system: what is done with it before a path and after it, and what is said where that fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from otf.adapter import Bench, Expect, Life, Line
from otf.adapter.reset import quieten
from otf.adapters import inprocess, unix
from otf.adapters.inprocess import Reply
from otf.codec import lines
from otf.errors import ContactError, UsageError
from otf.framing import lines as by_line
from otf.spec import Spec
from tests.adapters.harness import SECONDS, Baseline, children

pytestmark = pytest.mark.anyio


def bench(life: Life, system: Callable[[bytes], Any] = lambda _: None) -> Bench:
    """A bench with one port, behind which is this function."""
    return Bench(
        Spec(lambda _state, _inp: (), 0, []), codec=lines({}), ports={"p": inprocess(lambda: system)}, life=life
    )


async def opened(life: Life, system: Callable[[bytes], Any] = lambda _: None) -> Line:
    """The line of a system that was brought to life, and left."""
    async with bench(life, system).open() as found:
        return found["p"]


async def refused(life: Life, system: Callable[[bytes], Any] = lambda _: None) -> str:
    """Why a system cannot be brought to life."""
    with pytest.raises(ContactError) as raised:
        await opened(life, system)
    return str(raised.value)


async def test_everything_has_its_order() -> None:
    """Reset, open, the sequence over the port, health: once for each path, in this order."""
    told: list[str] = []

    async def health() -> None:
        told.append("health")

    def system(data: bytes) -> None:
        told.append(data.decode())

    life = Life(reset=lambda: told.append("reset"), inband=[("p", b"clear"), ("p", b"home")], health=health)
    for _ in range(2):
        async with bench(life, system).open():
            told.append("path")
    assert told == ["reset", "clear", "home", "health", "path"] * 2


async def test_what_comes_while_it_settles_is_dropped() -> None:
    """Answers to the sequence, and what was under way from before, are nobody's outputs."""

    def system(data: bytes) -> Iterator[Reply]:
        yield b"at once"
        yield 0.02, b"soon"
        yield 0.3, data

    async with bench(Life(inband=[("p", b"later")], settle=0.1), system).open() as found:
        assert found["p"].receive() == []
        await anyio.sleep(0.3)
        assert [getattr(each, "data", b"") for each in found["p"].receive()] == [b"later"]


async def test_an_answer_may_be_awaited_that_need_not_come() -> None:
    """A server that is still busy with a request drops the next one; one that answers nothing is given the time."""
    answered, told = [True], list[bytes]()

    def system(data: bytes) -> Iterator[Reply]:
        if answered[0]:
            told.append(data)
            answered[0] = False
            yield 0.02, data
            answered[0] = True

    wait = Expect("p", b"", 0.1, needed=False)
    inband: list[tuple[str, bytes] | Expect] = [("p", b"one"), wait, ("p", b"two"), wait]
    await opened(Life(inband=inband), system)
    assert told == [b"one", b"two"]
    said = list[bytes]()
    await opened(Life(inband=inband), said.append)
    assert said == [b"one", b"two"]


@pytest.mark.real
async def test_hooks_can_be_commands(tmp_path: Path) -> None:
    """A text is a command line for the shell, a list a program with its arguments."""
    file = tmp_path / "done"
    await opened(Life(reset=f"echo reset > {file} && test -s {file}", health=["/bin/sh", "-c", f"test -e {file}"]))
    assert file.read_text() == "reset\n"


@pytest.mark.real
@pytest.mark.parametrize(
    ("life", "why"),
    [
        (Life(reset="echo no power >&2; exit 3"), "the reset hook failed: exit status 3 of `/bin/sh -c 'echo no power"),
        (Life(reset="echo no power >&2; exit 3"), "; no power"),
        (Life(reset=["/no/such/program"]), "cannot start `/no/such/program`"),
        (Life(reset=lambda: 1 / 0), "the reset hook failed: ZeroDivisionError: division by zero (/"),
        (Life(health=lambda: False), "the health check failed: the function returned False"),
        (Life(health="sleep 100", timeout=0.05), "the health check took longer than 0.05 s"),
        (Life(server=[sys.executable, "-c", "exit(4)"], ready="ready"), "was never ready: exit status 4"),
        (Life(server="sleep 100", ready="ready", timeout=0.05), "did not print the line 'ready' within 0.05 s"),
    ],
)
async def test_what_fails_is_trouble_with_the_test_bed(life: Life, why: str) -> None:
    """It is told as no contact, with what was said, and leaves nothing behind."""
    before = Baseline()
    assert why in await refused(life)
    assert not before.lasting_leaks()


@pytest.mark.real
async def test_a_server_that_ends_before_its_port_is_there(tmp_path: Path) -> None:
    """The error is what the server said, and not that there is nothing to connect to."""
    server = [sys.executable, "-c", "print('cannot bind the socket'); exit(4)"]
    ports = {"p": unix(str(tmp_path / "nothing"), within=0.5)}
    made = Bench(Spec(lambda _state, _inp: (), 0, []), codec=lines({}), ports=ports, life=Life(server=server))
    with pytest.raises(ContactError, match=r"has ended \(exit status 4\)\n  printed: cannot bind the socket"):
        async with made.open():
            pass


async def test_a_port_that_ends_while_it_settles() -> None:
    """A system that dies of its own reset is not there to be tested."""

    def system(_data: bytes) -> None:
        raise RuntimeError("dead")

    why = await refused(Life(inband=[("p", b"clear")], settle=0.05), system)
    assert why == "port 'p' ended while the system was to settle: raised RuntimeError: dead"


async def test_a_reset_that_the_framing_cannot_send() -> None:
    """Bytes that are no frame are a mistake in the bench: the error names the field and the port."""

    class ByLine:
        async def send(self, data: bytes) -> None:
            by_line()().pack(data)

    with pytest.raises(UsageError, match=r"^Life\.inband, port 'p': b'clear\\n' cannot be sent as one line"):
        await quieten({"p": cast("Line", ByLine())}, [("p", b"clear\n")], settle=0.0)


FORKS = """
import os, sys, time
if os.fork() == 0:
    time.sleep(1000)
print("listening", os.getpid(), flush=True)
print("ready", flush=True)
for _ in range(100_000): print("chatter" * 10)
time.sleep(1000)
"""


@pytest.mark.real
async def test_a_server_is_stopped_with_all_that_it_started() -> None:
    """A server that forks, talks and does not end by itself is gone after the path, and its children are."""
    await opened(Life(server=[sys.executable, "-I", "-S", "-c", FORKS], ready="ready"))
    before, there = Baseline(), children()
    life = Life(server=[sys.executable, "-I", "-S", "-c", FORKS], ready="ready", grace=0.05)
    async with bench(life).open():
        started = children() - there
        assert len(started) == 2  # the server, and its guard
        await anyio.sleep(0.05)
    assert not before.lasting_leaks()
    for group in map(str, started):
        with anyio.fail_after(SECONDS):
            while alive(group):  # noqa: ASYNC110 -- who is killed takes a moment to die
                await anyio.sleep(0.01)


def alive(group: str) -> list[str]:
    """The processes of a group that run; who buries the dead ones, and when, is another matter."""
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    fields = [stat.rpartition(")")[2].split() for stat in stats]
    return [state for state, _, its, *_ in fields if its == group and state != "Z"]


@pytest.mark.real
async def test_what_the_body_raises_comes_out_as_it_is() -> None:
    """With a server beside it an error of the path leaves bare."""
    error = KeyError("of the body")
    with pytest.raises(KeyError) as raised:
        await raise_inside(Life(server="sleep 100", grace=0.05), error)
    assert raised.value is error


async def raise_inside(life: Life, error: Exception) -> None:
    """Bring a system to life and fail."""
    async with bench(life).open():
        raise error
