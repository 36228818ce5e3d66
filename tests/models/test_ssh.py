"""SSH: what a server may answer at each stage, and its packets: two ends of the framing understand each other."""

from dataclasses import replace

import pytest

from otf.adapter import Ended
from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.ssh import bench, ssh, transport
from otf.models.ssh.cipher import Counter
from otf.models.ssh.messages import Dial, Send, Sent, SshCodec
from otf.models.ssh.spec import CLOSE, FAILING, GLOBALS, LOGIN, OPENS, REQUESTS, USERAUTH, State
from otf.models.ssh.transport import ANSWER, Direction, Packets, string, strings
from tests.models.scripts import judged

CODEC = SshCodec()
ENDED = Ended("end of stream")
EXCHANGE, NEWKEYS, UNASSIGNED = Send("EXCHANGE"), Send("NEWKEYS"), Send("UNASSIGNED")
KEYED = [(Dial(),), (Send("HELLO"),), (EXCHANGE, Sent("NEWKEYS")), (NEWKEYS,)]
SERVED = [*KEYED, (USERAUTH, Sent("SERVICE_ACCEPT"))]
OPEN = [*SERVED, (LOGIN, Sent("USERAUTH_SUCCESS"))]
CHANNEL = [*OPEN, (OPENS[0], Sent("CHANNEL_OPEN_CONFIRMATION"))]
FAILED, UNKNOWN, GONE = Sent("USERAUTH_FAILURE"), Sent("UNIMPLEMENTED"), Sent("DISCONNECT")
CLOSED = Sent("CHANNEL_CLOSE")


@pytest.mark.parametrize(
    ("also", "script", "outcome"),
    [
        ("", [*OPEN, (LOGIN,)], "pass"),
        ("", [*OPEN, (LOGIN, Sent("USERAUTH_SUCCESS"))], "fail"),
        ("", [*SERVED, (FAILING[0], FAILED), (LOGIN, Sent("USERAUTH_SUCCESS"))], "pass"),
        ("", [*SERVED, (FAILING[0], Sent("USERAUTH_SUCCESS"))], "fail"),
        ("", [*SERVED, (FAILING[1], GONE, ENDED), (Dial(),)], "pass"),
        ("", [*SERVED, (FAILING[1], FAILED), (LOGIN, GONE)], "pass"),
        ("", [*SERVED, (FAILING[3], FAILED), (LOGIN, GONE)], "fail"),
        ("", [*SERVED, (USERAUTH, GONE, ENDED), (Dial(),)], "pass"),
        ("", [*SERVED, (USERAUTH, FAILED)], "fail"),
        ("", [*KEYED, (USERAUTH, GONE)], "fail"),
        ("early", [*SERVED, (OPENS[0], GONE, ENDED)], "pass"),
        ("early", [*SERVED, (OPENS[0], ENDED)], "pass"),
        ("early", [*SERVED, (OPENS[0], Sent("CHANNEL_OPEN_CONFIRMATION"))], "fail"),
        ("early", [*SERVED, (OPENS[0], Sent("CHANNEL_OPEN_FAILURE"))], "fail"),
        ("", [*KEYED, (LOGIN, Sent("USERAUTH_SUCCESS"))], "pass"),
        ("", [*KEYED, (Send("SERVICE_REQUEST", ("ssh-connection",)), Sent("SERVICE_ACCEPT"))], "fail"),
        ("unassigned", [*KEYED, (UNASSIGNED, UNKNOWN)], "pass"),
        ("unassigned", [*KEYED, (UNASSIGNED, ENDED)], "fail"),
        ("", [*OPEN, (OPENS[0], Sent("CHANNEL_OPEN_FAILURE"))], "pass"),
        ("", [*OPEN, (OPENS[1], Sent("CHANNEL_OPEN_CONFIRMATION"))], "fail"),
        ("", [*OPEN, (GLOBALS[0], Sent("REQUEST_FAILURE")), (GLOBALS[1],)], "pass"),
        ("", [*OPEN, (GLOBALS[1], Sent("REQUEST_FAILURE"))], "fail"),
        ("", [*CHANNEL, (REQUESTS[0], Sent("CHANNEL_FAILURE")), (REQUESTS[1],)], "pass"),
        ("", [*CHANNEL, (REQUESTS[0], Sent("CHANNEL_SUCCESS"))], "fail"),
        ("", [*CHANNEL, (CLOSE, Sent("CHANNEL_EOF"), Sent("CHANNEL_CLOSE"))], "pass"),
        ("", [*CHANNEL, (CLOSE,)], "fail"),
        ("", [*OPEN, (USERAUTH, Sent("SERVICE_ACCEPT"))], "pass"),
        ("refusals", [*SERVED, (OPENS[0], Sent("CHANNEL_OPEN_FAILURE")), (LOGIN, Sent("USERAUTH_SUCCESS"))], "pass"),
        ("refusals", [*SERVED, (OPENS[0], Sent("CHANNEL_OPEN_CONFIRMATION"))], "fail"),
        ("", [*OPEN, (OPENS[0], Sent("CHANNEL_OPEN_CONFIRMATION", 7)), (replace(CLOSE, channel=7), CLOSED)], "pass"),
        ("claims", [*SERVED, (Send("USERAUTH_SUCCESS"), UNKNOWN), (FAILING[0], FAILED)], "pass"),
        ("refusals", [*SERVED, (Send("USERAUTH_SUCCESS"),), (OPENS[0], Sent("CHANNEL_OPEN_CONFIRMATION"))], "fail"),
        ("injected", [*KEYED[:2], (USERAUTH,), (LOGIN,), *KEYED[2:]], "pass"),
        ("injected", [*KEYED[:2], (USERAUTH,), (LOGIN,), *KEYED[2:3], (NEWKEYS, Sent("USERAUTH_SUCCESS"))], "fail"),
        ("injected", [*KEYED[:2], (LOGIN, ENDED)], "pass"),
    ],
)
def test_what_a_server_may_answer(also: str, script: list[tuple[object, ...]], outcome: str) -> None:
    """No channel before a login, one success, and nothing of what came before the keys."""
    assert judged(bench(also=also), *script) == outcome


def test_what_is_tried() -> None:
    """A login comes after the keys, and a channel is closed only while it is open."""
    assert set(ssh().inputs(State("hello"))) == {EXCHANGE, Send("IGNORE", ("x",))}
    assert LOGIN in set(ssh("injected").inputs(State("hello")))
    assert Send("USERAUTH_SUCCESS") in set(ssh("claims").inputs(State("login")))
    assert LOGIN not in set(ssh().inputs(State("login", failed=3)))
    assert CLOSE in set(ssh().inputs(State("open", channel=0))) - set(ssh().inputs(State("open")))
    assert list(ssh().inputs(State("gone"))) == []


def test_payloads() -> None:
    """A message has its number and its texts; a message of a server is known by its number."""
    assert CODEC.encode(Dial()) is PortAction.CONNECT
    assert CODEC.encode(LOGIN)[-11:] == b"\0\0\0\0\6secret"  # type: ignore[index]
    assert CODEC.encode(REQUESTS[0]) == bytes([98, 0, 0, 0, 0]) + string(b"frob@example.org") + b"\1"
    assert CODEC.encode(GLOBALS[1]) == bytes([80]) + string(b"frob@example.org") + b"\0"
    assert CODEC.encode(CLOSE) == bytes([97, 0, 0, 0, 0])
    assert CODEC.encode(OPENS[0])[:12] == bytes([90]) + string(b"session")  # type: ignore[index]
    assert (CODEC.decode("ssh", b"\x34"), CODEC.decode("ssh", b"\xff")) == (
        Sent("USERAUTH_SUCCESS"),
        Sent("MESSAGE_255"),
    )
    with pytest.raises(CodecError, match="empty"):
        CODEC.decode("ssh", b"")
    with pytest.raises(CodecError, match="not a message of a client"):
        CODEC.encode(ENDED)


def test_packets_are_encrypted_once_keys_are_exchanged() -> None:
    """Before that they are readable; after it they have whole blocks and a code, and hide what is in them."""
    client, server = Packets(), Packets()
    assert client.feed(b"welcome\r\n" + server.pack(bytes([transport.HELLO]))) == []
    assert server.feed(client.pack(bytes([transport.HELLO]))) == []
    public = client.pack(bytes([transport.EXCHANGE]))
    assert [frame.data[0] for frame in server.feed(public)] == [transport.EXCHANGE]
    reply = bytes([ANSWER]) + string(b"key") + string(b"\3") + string(b"signature")
    assert client.feed(server.pack(reply)) == []
    assert [frame.trouble for frame in server.feed(client.pack(bytes([transport.NEWKEYS])))] == [
        "new keys were not exchanged"
    ]
    payload = CODEC.encode(LOGIN)
    assert isinstance(payload, bytes)
    packet = client.pack(payload)
    assert b"secret" not in packet
    assert len(packet) % 16 == 0


def test_a_counter_goes_on() -> None:
    """The second block is encrypted with the next counter; encrypting twice gives the data back."""
    one, two = Counter(bytes(16), bytes(15) + b"\xff"), Counter(bytes(16), bytes(15) + b"\xff")
    assert two.turned(one.turned(bytes(48))) == bytes(48)


def test_broken_packets() -> None:
    """A size that is impossible is trouble; keys that were not exchanged cannot be used; a new connection is new."""
    packets = Packets()
    assert [frame.trouble for frame in packets.feed(b"SSH-2.0-x\r\n\xff\xff\xff\xff1234")] == [
        "a packet of 4294967299 bytes is impossible"
    ]
    with pytest.raises(CodecError, match="no new keys"):
        packets.pack(bytes([transport.NEWKEYS]))
    packets.feed(Packets().pack(bytes([ANSWER])))
    packets.feed(b"abc")
    assert (packets.unfinished, packets.begun) == (True, b"abc")
    assert (packets.rest(), packets.unfinished) == ([], False)
    assert Direction().mac(b"x") == b""
    assert strings(string(b"a") + string(b"b"), 2) == [b"a", b"b"]
    with pytest.raises(CodecError, match="longer"):
        strings(b"\0\0\0\5a", 1)
