"""CoAP: requests, notifications, duplicates; and what an endpoint makes of message ids."""

from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.adapter import Arrival, Frame
from otf.errors import CodecError
from otf.models.coap import bench
from otf.models.coap.codec import CoapCodec
from otf.models.coap.endpoint import FIRST, Endpoint
from otf.models.coap.messages import Ack, Message, Ping, Request, Reset
from otf.models.coap.wire import Packet, packed, unpacked
from tests.models.scripts import judged

CODEC = CoapCodec()
PUT_X = Request("c1", "PUT", "a", "x")
PUT_Y = Request("c1", "PUT", "a", "y")
WATCH = Request("c2", "GET", "a", observe="on")


def answer(client: str, code: str, about: str = "t", payload: str = "", *, observe: bool = False) -> Message:
    """Return an acknowledgement with an answer in it."""
    return Message(client, "ACK", code, about, payload, observe, id="answer")


def note(payload: str, code: str = "2.05", **other: Any) -> Message:  # noqa: ANN401 -- fields by name
    """Return a notification of the resource a to the second client."""
    return replace(Message("c2", "CON", code, "oa", payload, observe=True), **other)


WATCHED = ((PUT_X, answer("c1", "2.01")), (WATCH, answer("c2", "2.05", "oa", "x", observe=True)))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Request("c1", "GET", "a"), answer("c1", "4.04"))], "pass"),
        ([(PUT_X, answer("c1", "2.01")), (PUT_Y, answer("c1", "2.04"))], "pass"),
        ([(PUT_X, answer("c1", "2.04"))], "fail"),
        ([(Request("c1", "PUT", "a", "x", twice=True), answer("c1", "2.01"), answer("c1", "2.04"))], "pass"),
        ([(Request("c1", "POST", "a", "x", twice=True), answer("c1", "2.01"), answer("c1", "2.04"))], "fail"),
        ([*WATCHED, (PUT_Y, answer("c1", "2.04"), note("y"))], "pass"),
        ([*WATCHED, (PUT_Y, note("y", kind="NON"), answer("c1", "2.04"))], "pass"),
        ([*WATCHED, (PUT_Y, answer("c1", "2.04"))], "fail"),
        ([*WATCHED, (PUT_Y, answer("c1", "2.04"), note("x"))], "fail"),
        ([*WATCHED, (PUT_Y, answer("c1", "2.04"), note("y", id="stale"))], "fail"),
        ([*WATCHED, (PUT_Y, answer("c1", "2.04"), note("y")), (PUT_X, answer("c1", "2.04"))], "pass"),
        (
            [*WATCHED, (PUT_Y, answer("c1", "2.04"), note("y")), (PUT_X, answer("c1", "2.04")), (Ack("c2"), note("x"))],
            "pass",
        ),
        ([*WATCHED, (PUT_Y, answer("c1", "2.04"), note("y")), (PUT_X, answer("c1", "2.04")), (Ack("c2"),)], "fail"),
        ([*WATCHED, (PUT_Y, answer("c1", "2.04"), note("y")), (Reset("c2"),), (PUT_X, answer("c1", "2.04"))], "pass"),
        ([*WATCHED, (Request("c1", "DELETE", "a"), answer("c1", "2.02"), note("", "4.04", observe=False))], "pass"),
        ([(Ping("c1"), Message("c1", "RST", "0.00", id="answer"))], "pass"),
        ([(Ping("c1"),)], "fail"),
    ],
)
def test_what_a_server_may_say(script: list[tuple[object, ...]], outcome: str) -> None:
    """To two clients, of a resource that is created, changed, observed and deleted."""
    assert judged(bench(), *script) == outcome


options = st.lists(st.tuples(st.integers(1, 12), st.binary(max_size=12)), max_size=1).map(tuple)
packets = st.builds(
    Packet,
    st.sampled_from(["CON", "NON", "ACK", "RST"]),
    st.integers(0, 255),
    st.integers(0, 0xFFFF),
    st.binary(max_size=8),
    options,
    st.binary(max_size=20),
)


@given(packets)
def test_a_packet_survives_its_bytes(packet: Packet) -> None:
    """What is packed is what is unpacked."""
    assert unpacked(packed(packet)) == packet


@given(st.binary(max_size=30))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    """Any datagram is a packet, or none; nothing else is raised."""
    try:
        unpacked(data)
    except CodecError:
        return


@dataclass
class Wire:
    """A line that keeps what is sent, and brings what a test puts in."""

    sent: list[bytes] = field(default_factory=list[bytes])
    coming: list[Arrival] = field(default_factory=list[Arrival])

    def descriptors(self) -> tuple[int, ...]:
        return ()

    def arm(self, wake: object) -> None:
        del wake

    async def send(self, data: bytes) -> None:
        self.sent.append(data)

    def receive(self) -> list[Arrival]:
        coming, self.coming = self.coming, []
        return coming

    def remarks(self) -> list[str]:
        return []


def test_an_endpoint_gives_fresh_message_ids() -> None:
    """Each request has the next id, twice if it is sent twice; an acknowledgement has that of its message."""
    wire = Wire()
    endpoint = Endpoint(wire)

    async def talk() -> None:
        for value in (PUT_X, Request("c1", "GET", "a", twice=True)):
            await endpoint.send(CODEC.encode(value))
        wire.coming = [Frame(packed(Packet("CON", 0x45, 77, b"oa", ((6, b"\x02"),), b"x")))]
        endpoint.receive()
        await endpoint.send(CODEC.encode(Ack("c1")))

    anyio.run(talk)
    assert [unpacked(data).id for data in wire.sent] == [FIRST, FIRST + 1, FIRST + 1, 77]


def test_an_endpoint_tells_what_ids_and_numbers_mean() -> None:
    """An answer to the last request, the same message again, a number that has not grown, an answer to nothing."""
    wire = Wire()
    endpoint = Endpoint(wire)
    anyio.run(endpoint.send, CODEC.encode(PUT_X))
    new = Packet("CON", 0x45, 77, b"oa", ((6, b"\x05"),), b"x")
    coming = [Packet("ACK", 0x44, FIRST, b"t"), new, new, Packet("CON", 0x45, 78, b"oa", ((6, b"\x05"),), b"y")]
    wire.coming = [Frame(packed(packet)) for packet in (*coming, Packet("ACK", 0x44, 5, b"t"))]
    messages = [CODEC.decode("c1", each.data) for each in endpoint.receive() if isinstance(each, Frame)]
    assert [message.id for message in messages] == ["answer", "new", "again", "stale", "wrong"]
