"""memcached: what it stores, counts and compares, and its bytes over TCP and UDP."""

import pytest

from otf.errors import CodecError
from otf.models.memcached import bench
from otf.models.memcached.inputs import WAIT
from otf.models.memcached.messages import Command, MemcachedCodec, Reply, Value, replies
from otf.models.memcached.state import Item, State, alike
from otf.spec import Elapse
from tests.models.scripts import judged

TCP, UDP = MemcachedCodec(), MemcachedCodec(udp=True)
SET = Command("a", "set", ("k", 7, 0), "10")
STORED = Reply("a", "STORED")
GET, GETS = Command("b", "get", ("k",)), Command("b", "gets", ("k",))
DECR = Command("a", "decr", ("k", 1))


def held(data: str, unique: int | None = None, flags: int = 7) -> Reply:
    """Return the reply to client b that has the one item."""
    return Reply("b", "END", (Value("k", flags, data, unique),))


def cas(unique: int) -> Command:
    """Return the storing of new data if the item still has this id."""
    return Command("a", "cas", ("k", 0, 0, unique), "new")


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(GET, Reply("b", "END"))], "pass"),
        ([(SET, STORED), (GET, held("10"))], "pass"),
        ([(SET, STORED), (GET, held("10", flags=0))], "fail"),
        ([(Command("a", "add", ("k", 0, 0), "x"), STORED), (Command("a", "add", ("k", 0, 0), "y"), STORED)], "fail"),
        ([(Command("a", "replace", ("k", 0, 0), "x"), Reply("a", "NOT_STORED"))], "pass"),
        ([(SET, STORED), (Command("a", "append", ("k", 0, 0), "x"), STORED), (GET, held("10x"))], "pass"),
        ([(SET, STORED), (Command("a", "prepend", ("k", 0, 0), "x"), STORED), (GET, held("10x"))], "fail"),
        ([(SET, STORED), (DECR, Reply("a", "9")), (GET, held("9"))], "pass"),
        ([(SET, STORED), (DECR, Reply("a", "9")), (GET, held("9 "))], "pass"),
        ([(SET, STORED), (DECR, Reply("a", "9")), (GET, held("9 ")), (GET, held("9"))], "fail"),
        ([(SET, STORED), (Command("a", "decr", ("k", 11)), Reply("a", "0"))], "pass"),
        ([(Command("a", "set", ("k", 0, 0), "x"), STORED), (DECR, Reply("a", "CLIENT_ERROR not a number"))], "pass"),
        ([(Command("a", "set", ("k", 0, 0), "x"), STORED), (DECR, Reply("a", "0"))], "fail"),
        ([(Command("a", "set", ("k", 0, -1), "x"), STORED), (GET, Reply("b", "END"))], "pass"),
        ([(SET, STORED), (Command("a", "touch", ("k", -1)), Reply("a", "TOUCHED")), (GET, held("10"))], "fail"),
        ([(SET, STORED), (Command("b", "flush_all"), Reply("b", "OK")), (GET, held("10"))], "fail"),
        ([(Command("a", "bogus"), Reply("a", "ERROR"))], "pass"),
    ],
)
def test_what_is_stored_and_counted(script: list[tuple[object, ...]], outcome: str) -> None:
    """By one client, as the other sees it."""
    assert judged(bench(), *script) == outcome


SOON = Command("a", "set", ("k", 7, 1), "10")


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(SOON, STORED), (GET, held("10")), (GET, Reply("b", "END"))], "pass"),
        ([(SOON, STORED), (GET, Reply("b", "END")), (GET, held("10"))], "fail"),
        ([(SOON, STORED), (WAIT,), (GET, Reply("b", "END"))], "pass"),
        ([(SOON, STORED), (WAIT,), (GET, held("10"))], "fail"),
        ([(SOON, STORED), (DECR, Reply("a", "9")), (WAIT,), (GET, Reply("b", "END"))], "pass"),
        ([(SET, STORED), (Command("b", "touch", ("k", 1)), Reply("b", "TOUCHED")), (WAIT,), (GET, held("10"))], "fail"),
        ([(SOON, STORED), (Elapse(0.1),), (GET, held("10"))], "pass"),
    ],
)
def test_items_that_expire(script: list[tuple[object, ...]], outcome: str) -> None:
    """Without a wait an item may be there or not; after a wait of seconds it is gone."""
    assert judged(bench(expiry=True), *script) == outcome


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(SET, STORED), (GETS, held("10", 5)), (GETS, held("10", 5))], "pass"),
        ([(SET, STORED), (GETS, held("10", 5)), (GETS, held("10", 6))], "fail"),
        ([(SET, STORED), (GETS, held("10", 5)), (SET, STORED), (GETS, held("10", 5))], "fail"),
        ([(SET, STORED), (GETS, held("10", 5)), (cas(5), STORED), (GET, held("new", flags=0))], "pass"),
        ([(SET, STORED), (GETS, held("10", 5)), (cas(4), Reply("a", "EXISTS"))], "pass"),
        ([(SET, STORED), (GETS, held("10", 5)), (cas(4), STORED)], "fail"),
        ([(cas(5), Reply("a", "NOT_FOUND"))], "pass"),
        ([(SET, STORED), (GETS, held("10"))], "fail"),
        ([(SET, STORED), (GETS, held("11", 5))], "fail"),
    ],
)
def test_the_server_chooses_the_ids(script: list[tuple[object, ...]], outcome: str) -> None:
    """An id is learned from `gets`; it stays while the item stays, and never comes back."""
    assert judged(bench(), *script) == outcome


def test_bytes() -> None:
    """Over TCP items come up to END; over UDP each message is one datagram with its header."""
    assert TCP.encode(SET) == b"set k 7 0 2\r\n10\r\n"
    assert TCP.encode(cas(5)) == b"cas k 0 0 3 5\r\nnew\r\n"
    assert UDP.encode(GET) == b"\0\0\0\0\0\1\0\0get k\r\n"
    data = b"VALUE k 7 4\r\n\r\nEN\r\nEND\r\n"
    framer = replies()()
    frames = [frame.data for byte in data + b"OK\r\n" for frame in framer.feed(bytes((byte,)))]
    assert frames == [data, b"OK\r\n"]
    assert TCP.decode("b", data) == held("\r\nEN")
    assert UDP.decode("b", b"\0\0\0\0\0\1\0\0" + data) == held("\r\nEN")


@pytest.mark.parametrize("data", [b"OK\r\n", b"\0\0\0\0\0\0\0\0", b"\0\0\0\0\0\1\0\0END\r\nOK\r\n"])
def test_what_is_no_datagram_of_one_reply(data: bytes) -> None:
    """A header that is missing or counts no datagram, and a second reply behind the first."""
    with pytest.raises(CodecError):
        UDP.decode("a", data)


def test_a_silence_holds_for_all_data() -> None:
    """What is appended and cas ids make each state a new one; the server talks about whether there is an item."""
    first, later = State().having("k", Item(7, "10")), State().having("k", Item(7, "1010", 5))
    assert alike(first, GET) == alike(later, GET)
    assert alike(first, GET) != alike(State(), GET)
    assert alike(first, WAIT) == (first, WAIT)
