"""Calls that never return: whoever waits for one is free again in time, and nobody is kept from ending."""

from __future__ import annotations

import gc
import socket
import subprocess
import sys
from contextvars import ContextVar
from threading import Event as Flag
from typing import Any

import anyio
import pytest

from otf.adapter import third_party
from otf.adapter.socket import connection
from otf.adapter.third_party import answer, answered
from otf.adapters import tcp, udp
from otf.errors import ContactError
from tests.adapters.harness import SECONDS, Baseline
from tests.always import always

pytestmark = [pytest.mark.anyio, pytest.mark.real]

NAMED: ContextVar[str] = ContextVar("named", default="")


async def test_what_a_call_returns_or_raises() -> None:
    """It comes out as it is, and nothing is left open; what is set around it is seen in it."""
    gc.collect()  # what other tests have left open would be closed in the midst of this
    before = Baseline()
    NAMED.set("here")
    assert answer(NAMED.get, 1.0) == await answered(NAMED.get, 1.0) == "here"
    with pytest.raises(ZeroDivisionError):
        answer(lambda: 1 / 0, 1.0)
    with pytest.raises(ZeroDivisionError):
        await answered(lambda: 1 / 0, 1.0)
    assert not before.lasting_leaks()


async def test_a_call_that_does_not_return() -> None:
    """Its time is up; what it returns later is undone."""
    go, undone = Flag(), Flag()
    with pytest.raises(TimeoutError):
        answer(go.wait, 0.01)
    with pytest.raises(TimeoutError):
        await answered(go.wait, 0.01, lambda _: undone.set())
    go.set()
    assert undone.wait(SECONDS)


async def test_a_call_that_is_given_up() -> None:
    """An interruption is heard at once, and what the call returns later is undone."""
    go, undone = Flag(), Flag()
    with anyio.fail_after(SECONDS), anyio.move_on_after(0.01) as scope:
        await answered(go.wait, 1000.0, lambda _: undone.set())
    assert scope.cancelled_caught
    go.set()
    assert undone.wait(SECONDS)


@pytest.mark.parametrize("call", ["answered(call, 0.01)", "obey(call, 'the reset hook', 0.01)"])
def test_a_call_that_does_not_return_keeps_nobody_from_ending(call: str) -> None:
    """The interpreter ends while it hangs."""
    program = f"""
import time, anyio
from otf.adapter.third_party import answered
from otf.adapter.reset import obey
def call():
    time.sleep(1000)
async def main():
    try:
        await {call}
    except Exception as error:
        print(type(error).__name__)
anyio.run(main)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=SECONDS, check=True)
    assert done.stdout in {b"TimeoutError\n", b"ContactError\n"}


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> Flag:
    """Look-ups of names that nobody answers until the flag is set."""
    flag, ask = Flag(), socket.getaddrinfo

    def look_up(*args: Any, **more: Any) -> Any:  # noqa: ANN401 -- as it is called
        if not more.get("flags"):
            flag.wait(SECONDS)
        return ask(*args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(connection, "LOOKUP", 0.05)
    return flag


@pytest.mark.parametrize("port", [tcp("nowhere.invalid:7"), udp("nowhere.invalid:7")])
async def test_a_name_that_nobody_knows_in_time(deaf: Flag, port: Any) -> None:  # noqa: ANN401 -- a port
    """The look-up has its time, and what is to be done is told."""
    with anyio.fail_after(SECONDS), pytest.raises(ContactError, match=r"look-up was not answered within 0.05 s; check"):
        async with port():
            pass
    deaf.set()


async def test_numbers_are_not_looked_up(deaf: Flag) -> None:
    """Whoever writes numbers needs nobody to answer."""
    found = [connection.resolved((host, 7), socket.SOCK_STREAM)[1][:2] for host in ("127.0.0.1", "::1")]
    assert found == [("127.0.0.1", 7), ("::1", 7)]
    assert not deaf.is_set()


async def test_an_interruption_while_a_name_is_looked_up(deaf: Flag, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is heard at once."""
    monkeypatch.setattr(connection, "LOOKUP", 1000.0)
    with anyio.fail_after(SECONDS), anyio.move_on_after(0.05) as scope:
        async with tcp("nowhere.invalid:7")():
            pass
    assert scope.cancelled_caught
    deaf.set()


def test_a_thread_that_never_begins_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel started it, but Python had no memory to begin its work: nobody waits for it for ever."""
    monkeypatch.setattr(third_party, "start_new_thread", always(1))
    monkeypatch.setattr(third_party, "BEGINNING", 0.0)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        third_party.start_thread(lambda: None)


def test_a_thread_that_raises_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for its end gets it."""
    monkeypatch.setattr(sys, "unraisablehook", always(None))
    assert third_party.start_thread(lambda: 1 // 0).wait(10)
