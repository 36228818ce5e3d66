"""The parts that adapters are made of: addresses, alarms."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.adapter.socket.connection import read_address, show_address
from otf.adapter.waiting import alarms, any_readable
from otf.errors import UsageError
from tests.adapters.harness import bound


@given(st.sampled_from(["127.0.0.1", "::1", "fe80::1%eth0", "localhost", "a.example"]), st.integers(0, 65_535))
def test_addresses_are_read_as_they_are_shown(host: str, port: int) -> None:
    """Reading what was shown gives the same address."""
    assert read_address(show_address((host, port))) == (host, port)


@pytest.mark.parametrize("text", ["", ":", ":1", "a", "a:", "a:b", "a:-1", "a:65536", "::1", "[]:1", "[::1:1", "a:²"])
def test_what_is_no_address_is_told(text: str) -> None:
    """Everything else is refused, with the form that is expected."""
    with pytest.raises(UsageError, match=r"not an address: '.*'; write HOST:PORT, an IPv6 host in brackets"):
        read_address(text)


@pytest.mark.anyio
async def test_any_readable_descriptor_is_enough() -> None:
    """Of several descriptors the first that is readable ends the waiting."""
    with bound() as quiet, bound() as talking:
        talking.sendto(b"hello", talking.getsockname())
        await any_readable([quiet.fileno(), talking.fileno()])


@pytest.mark.anyio
async def test_no_descriptor_is_never_readable() -> None:
    """Waiting for one of no descriptors goes on until it is cancelled."""
    with anyio.move_on_after(0.01) as waiting:
        await any_readable([])
    assert waiting.cancelled_caught


@pytest.mark.anyio
async def test_alarms_are_off_once_they_are_left() -> None:
    """An alarm that is due rings, and one that is left before its time does not."""
    rung, due = anyio.Event(), list[float]()
    async with alarms() as alarm:
        alarm(anyio.current_time() + 0.02, lambda: due.append(anyio.current_time()))
        alarm(anyio.current_time(), rung.set)
        await rung.wait()
        left = anyio.current_time()
    await anyio.sleep(0.03)
    assert all(each <= left for each in due)


@pytest.mark.anyio
async def test_alarms_can_be_cancelled_from_outside() -> None:
    """A cancelled context ends as cancelled."""
    with anyio.CancelScope() as scope:
        async with alarms():
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught


@pytest.mark.anyio
async def test_an_alarm_does_not_ring_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an event loop ends a sleep before its time, the alarm still rings, and not before its time."""

    async def sleep_until(at: float) -> None:
        del at
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(anyio, "sleep_until", sleep_until)
    rung = anyio.Event()
    async with alarms() as alarm:
        due = anyio.current_time() + 0.005
        alarm(due, rung.set)
        await rung.wait()
        assert anyio.current_time() >= due
