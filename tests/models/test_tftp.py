"""TFTP: blocks and acknowledgements, what comes again, and the bytes."""

import pytest

from otf.core import Monitor
from otf.errors import CodecError, UsageError
from otf.models.tftp import bench
from otf.models.tftp.bench import KNOWN
from otf.models.tftp.messages import Ack, Data, Error, Read, TftpCodec, Write
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.models.scripts import judged

CODEC = TftpCodec()


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Read("short"), Data(1, "s", 3)), (Ack(1),)], "pass"),
        ([(Read("short"), Data(1, "s", 2))], "fail"),
        ([(Read("missing"), Error(1))], "pass"),
        ([(Read("missing"), Error(0))], "fail"),
        ([(Read("full"), Data(1, "f", 512)), (Ack(1), Data(2, "", 0)), (Ack(2),)], "pass"),
        ([(Read("full"), Data(1, "f", 512)), (Ack(1),)], "fail"),
        ([(Read("long"), Data(1, "a", 512)), (Ack(0),)], "pass"),
        ([(Read("long"), Data(1, "a", 512)), (Ack(0), Data(2, "b", 512))], "fail"),
        ([(Write("new"), Ack(0)), (Data(1, "x", 5), Ack(1)), (Read("new"), Data(1, "x", 5))], "pass"),
        ([(Write("new"), Ack(0)), (Data(1, "x", 5), Ack(1)), (Read("new"), Data(1, "y", 5))], "fail"),
        ([(Write("new"), Ack(0)), (Data(1, "x", 512), Ack(1)), (Data(1, "x", 512), Ack(1))], "pass"),
        ([(Write("new"), Ack(0)), (Data(1, "x", 512), Ack(1)), (Data(1, "x", 512),)], "fail"),
    ],
)
def test_what_a_server_may_send(script: list[tuple[object, ...]], outcome: str) -> None:
    """From the files that the bench puts there."""
    assert judged(bench(server="hpa"), *script) == outcome


@pytest.mark.parametrize(("at", "outcome"), [(0.21, "pass"), (0.05, "fail"), (9.0, "fail")])
def test_what_is_not_acknowledged_comes_again_in_time(at: float, outcome: str) -> None:
    """A server with a time-out of 0.2 s sends a block again after about that time: not much earlier, and not never."""
    monitor = Monitor(bench(server="hpa").oracle())
    block = Data(1, "s", 3)
    events: list[Event] = [
        Sent(Read("short"), "tftp", 0.0),
        Seen(block, "tftp", 0.001),
        Quiet(0.03),
        Seen(block, "tftp", at),
    ]
    for event in events:
        monitor.tell(event)
    assert monitor.end().outcome == outcome


def test_bytes() -> None:
    """Requests have a name and a mode; blocks a number and up to 512 bytes; whatever else comes is not a packet."""
    assert CODEC.encode(Read("a", "octet")) == b"\0\1a\0octet\0"
    assert CODEC.encode(Data(2, "x", 3)) == b"\0\3\0\2xxx"
    assert CODEC.decode("tftp", b"\0\3\0\1" + b"f" * 512) == Data(1, "f", 512)
    assert CODEC.decode("tftp", b"\0\3\0\1ab") == Data(1, "?", 2)
    assert CODEC.decode("tftp", b"\0\5\0\1no\0") == Error(1)
    for data in (b"\0\3\0", b"\0\4\0\1x", b"\0\3\0\1" + bytes(513), b"\0\5\0\1no"):
        with pytest.raises(CodecError, match=r"are not a packet|no packet of a server"):
            CODEC.decode("tftp", data)


def test_an_unknown_server_needs_its_time_out() -> None:
    """No standard says how long it is."""
    with pytest.raises(UsageError, match="of another one say the timeout as well"):
        bench(server="./mine {port} {folder}")


def test_a_fault_that_slowness_brings_to_light_is_always_known() -> None:
    """With a faster clock atftpd sends the first block again where the tester is slow by some milliseconds."""
    assert KNOWN["first"] in bench().known_issues
    assert not bench(server="hpa", also="first").known_issues
    assert bench(also="repeat").known_issues == (KNOWN["first"], KNOWN["repeat"])
