"""ISO-TP: what every adapter promises, and what a system may do wrong."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import isotp as transport
import pytest
from can import Bus, BusABC, Message

from otf.adapter import CodecError, Trouble
from otf.adapters.isotp import isotp
from otf.errors import UsageError
from otf.testing import Echo, Rig
from tests.adapters.canbus import fresh, node
from tests.adapters.harness import LIBRARY_CHECKS, arrive, frames

pytestmark = pytest.mark.anyio
once = pytest.mark.parametrize("anyio_backend", ["asyncio"])
both = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])  # threads do the work: uvloop adds nothing


def isotp_layer(bus: BusABC, **params: Any) -> transport.CanStack:  # noqa: ANN401 -- those of can-isotp
    """The transport layer of an ECU at 7E0."""
    address = transport.Address(transport.AddressingMode.Normal_11bits, txid=0x7E8, rxid=0x7E0)
    return transport.CanStack(bus, address=address, params={"blocking_send": False, **params})


@asynccontextmanager
async def over_isotp() -> AsyncGenerator[Echo, None]:
    """An ECU that sends back each message."""
    channel = fresh()
    bus = Bus(interface="virtual", channel=channel, ignore_config=True)
    layer, stop = isotp_layer(bus, logger_name="otf.isotp"), threading.Event()

    def echo() -> None:
        while not stop.is_set():
            if (message := layer.recv(block=True, timeout=0.01)) is not None:
                layer.send(message)

    thread = threading.Thread(target=echo)
    layer.start()
    thread.start()
    try:
        async with isotp(f"isotp://virtual/{channel}?tx=7e0&rx=7e8")() as line:
            yield Echo(line, None)
    finally:
        stop.set()
        thread.join()
        layer.stop()
        bus.shutdown()


@both
@pytest.mark.parametrize("check", LIBRARY_CHECKS)
async def test_it_keeps_the_contract_of_adapters(check: Callable[[Rig], object]) -> None:
    """Each promise, on each event loop; and no thread is left."""
    await check(over_isotp)  # type: ignore[misc] # pyright: ignore[reportGeneralTypeIssues] -- a coroutine function
    assert not [each for each in threading.enumerate() if each.name.startswith("otf can") or "_thread_fn" in each.name]


@once
async def test_a_message_of_many_frames_is_whole() -> None:
    """4 KB both ways, padded; an empty message cannot be sent."""
    async with over_isotp() as echo:
        with pytest.raises(CodecError, match="one byte at least"):
            await echo.line.send(b"")
        await echo.line.send(bytes(4095))
        assert await arrive(echo.line, 1) == frames(bytes(4095))


async def iso(answers: list[bytes], sent: bytes, **options: Any) -> tuple[list[Any], list[bytes]]:  # noqa: ANN401 -- of `isotp`
    """What arrives, and what an ECU gets, that sends these frames when it gets a first one."""
    got = list[bytes]()

    def answer(bus: BusABC, message: Message) -> None:
        got.append(bytes(message.data))
        for data in answers if len(got) == 1 else []:
            bus.send(Message(arbitration_id=0x7E8, is_extended_id=False, data=data))

    with node(channel := fresh(), answer):
        async with isotp(f"isotp://virtual/{channel}?tx=7e0&rx=7e8", **options)() as line:
            await line.send(sent)
            return await arrive(line, 1), got


@pytest.mark.parametrize(
    ("answers", "sent", "trouble"),
    [
        ([b"\x21abc"], b"?", "UnexpectedConsecutiveFrameError"),
        ([b"\x10\x09abcdef", b"\x22ghi"], b"?", "WrongSequenceNumberError"),
        ([b"\x10\x09abcdef"], b"?", "ConsecutiveFrameTimeoutError"),
        ([b"\x32\x00\x00"], b"too long", "OverflowError"),
        ([b"", b"\x0f"], b"?", "InvalidCanDataError"),
        ([], b"too long", "FlowControlTimeoutError"),
    ],
)
@once
async def test_a_broken_message_is_undecodable(answers: list[bytes], sent: bytes, trouble: str) -> None:
    """Torn, out of order, or not let through: an output with its reason, and the line goes on."""
    arrived, _ = await iso(answers, sent, timeout=0.05 if "Timeout" in trouble else 20)
    assert arrived[0].trouble.startswith(trouble)


@once
async def test_a_message_that_arrives_is_not_silence() -> None:
    """While frames of it come the line has stirred, by the clock of the loop."""

    def answer(bus: BusABC, message: Message) -> None:
        if message.data[0] >> 4 == 0:
            bus.send(Message(arbitration_id=0x7E8, is_extended_id=False, data=b"\x10\x09abcdef"))

    with node(channel := fresh(), answer):
        async with isotp(f"isotp://virtual/{channel}", tx=0x7E0, rx=0x7E8, padding=0xCC, blocksize=2)() as line:
            await line.send(b"?")
            stirring: Any = line
            with anyio.fail_after(10):
                while stirring.stirred() < 0:  # noqa: ASYNC110 -- another thread reads
                    await anyio.sleep(0.001)
            assert 0 <= anyio.current_time() - stirring.stirred() < 10


@once
async def test_frames_are_padded_and_may_be_fd() -> None:
    """As the URL says, and with an address of can-isotp's own."""
    assert (await iso([b"\x01!"], b"?", padding=0xCC))[1] == [b"\x01?" + b"\xcc" * 6]
    assert (await iso([b"\x01!"], b"longer", fd=True))[1] == [b"\x06longer"]
    address = transport.Address(
        transport.AddressingMode.Extended_11bits, 0x7E0, 0x7E8, target_address=0x55, source_address=0xAA
    )
    assert isotp("isotp://virtual/x", address=address).kind == "isotp"
    assert (await iso([b"\xaa\x01!"], b"?", address=address))[1] == [b"\x55\x01?"]


@once
async def test_a_bus_that_fails_under_isotp_is_trouble() -> None:
    """As under frames."""
    async with over_isotp() as echo:
        threaded: Any = echo.line
        layer = threaded._send.args[0]  # noqa: SLF001
        layer._bus.shutdown()  # noqa: SLF001
        (arrived,) = await arrive(echo.line, 1)
        assert isinstance(arrived, Trouble)
        assert "the CAN bus failed" in arrived.reason
        layer._write(transport.CanMessage(0x7E0, 1, b"x"))  # noqa: SLF001 -- no error comes out of the library's thread


@pytest.mark.parametrize("query", ["", "?tx=7e0", "?tx=zz&rx=1", "?tx=1&rx=20000000", "?tx=1&rx=2&padding=x"])
def test_ids_are_hexadecimal(query: str) -> None:
    """Both are needed; what is not a number is named."""
    with pytest.raises(UsageError, match=r"not the id of a CAN frame|not a whole number"):
        isotp(f"isotp://virtual/x{query}")
