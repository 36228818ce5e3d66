"""redis: what it stores, when a key is gone, transactions, clients that wait or subscribe, and its bytes."""

from __future__ import annotations

import pytest

from otf.adapter import Bench
from otf.campaign import run
from otf.errors import CodecError
from otf.models.redis import bench, redis
from otf.models.redis.inputs import WAIT
from otf.models.redis.messages import Command, Fault, NoArray, RedisCodec, Reply, Status, replies
from otf.models.redis.spec import OVERFLOW, WRONG_TYPE
from otf.models.redis.state import State
from otf.spec import Elapse
from tests.models.scripts import judged

OK, QUEUED = Status("OK"), Status("QUEUED")
NO_MULTI = Fault("ERR EXEC without MULTI")
HEARS = ("a SUBSCRIBE news", ("subscribe", "news", 1))


def said(text: str) -> Command:
    """Return the command of "a GET k0"."""
    client, name, *words = text.split(" ")
    return Command(client, name, tuple(words))


def script(*steps: tuple[object, ...] | Elapse) -> list[tuple[object, ...]]:
    """Return a conversation: a command as text, the value of its reply, and further replies; or a wait."""
    found: list[tuple[object, ...]] = []
    for step in steps:
        if isinstance(step, Elapse):
            found.append((step,))
            continue
        text, *values = str(step[0]), *step[1:]
        told = [each if isinstance(each, Reply) else Reply(text[0], each) for each in values]
        found.append((said(text), *told))
    return found


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([("a GET k0", None), ("a SET k0 x", OK), ("b GET k0", "x")], "pass"),
        ([("a SET k0 x", OK), ("b GET k0", "y")], "fail"),
        ([("a INCR k0", 1), ("b INCR k0", 2), ("a APPEND k0 1", 2), ("a GET k0", "21")], "pass"),
        ([(f"a SET k0 {2**63 - 1}", OK), ("a INCR k0", OVERFLOW)], "pass"),
        ([("a SETNX k0 y", 1), ("a SETNX k0 y", 0), ("a GETSET k0 y", "y"), ("a DEL k0", 1), ("a DEL k0", 0)], "pass"),
        ([("a LPUSH k0 x", 1), ("b RPUSH k0 y", 2), ("a LRANGE k0 0 -1", ("x", "y")), ("a LPOP k0", "x")], "pass"),
        ([("a LPUSH k0 x", 1), ("a RPOP k0", "x"), ("a LLEN k0", 0), ("a RPOP k0", None)], "pass"),
        ([("a LPUSH k0 x", 1), ("a INCR k0", WRONG_TYPE), ("a SET k0 x", OK), ("a LPOP k0", WRONG_TYPE)], "pass"),
        ([("a LPUSH k0 x", 1), ("a GET k0", "x")], "fail"),
    ],
)
def test_strings_and_lists(steps: list[tuple[object, ...] | Elapse], outcome: str) -> None:
    """What one client stores, the others see; a key holds a string or a list."""
    assert judged(bench(), *script(*steps)) == outcome


SOON = ("a SET k0 soon PX 100", OK)


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([SOON, ("a GET k0", "soon"), ("a GET k0", None)], "pass"),
        ([SOON, ("a GET k0", None), ("a GET k0", "soon")], "fail"),
        ([SOON, WAIT, ("a GET k0", None)], "pass"),
        ([SOON, WAIT, ("a GET k0", "soon")], "fail"),
        ([SOON, ("a PERSIST k0", 1), WAIT, ("a GET k0", "soon")], "pass"),
        ([SOON, ("a PERSIST k0", 1), WAIT, ("a GET k0", None)], "fail"),
        ([SOON, ("a SET k0 x", OK), WAIT, ("a PTTL k0", -1)], "pass"),
        ([SOON, ("a PTTL k0", 100), ("a PTTL k0", -2)], "pass"),
        ([SOON, ("a PTTL k0", 101)], "fail"),
        ([("a SET k0 x", OK), ("b PEXPIRE k0 100", 1), WAIT, ("a PTTL k0", -2)], "pass"),
        ([SOON, ("b WATCH k0", OK), ("b GET k0", "soon"), WAIT, ("b MULTI", OK), ("b EXEC", NoArray())], "pass"),
        ([SOON, ("b WATCH k0", OK), ("b GET k0", "soon"), WAIT, ("b MULTI", OK), ("b EXEC", ())], "fail"),
    ],
)
def test_keys_that_expire(steps: list[tuple[object, ...] | Elapse], outcome: str) -> None:
    """Without a wait a key may be there or not, but once gone it stays gone; after a wait it is gone."""
    assert judged(bench(), *script(*steps)) == outcome


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([("a MULTI", OK), ("a INCR k0", QUEUED), ("b INCR k0", 1), ("a EXEC", (2,))], "pass"),
        (
            [("a MULTI", OK), ("a INCR k0", QUEUED), ("a DISCARD", OK), ("a EXEC", NO_MULTI)],
            "pass",
        ),
        ([("a WATCH k0", OK), ("b SET k0 x", OK), ("a MULTI", OK), ("a EXEC", NoArray())], "pass"),
        ([("a WATCH k0", OK), ("b SET k0 x", OK), ("a MULTI", OK), ("a EXEC", ())], "fail"),
        ([("a WATCH k0", OK), ("b SET k0 x", OK), ("a UNWATCH", OK), ("a MULTI", OK), ("a EXEC", ())], "pass"),
        ([("a BLPOP k0 0",), ("b LPUSH k0 x", 1, Reply("a", ("k0", "x"))), ("b LLEN k0", 0)], "pass"),
        ([("a BLPOP k0 0",), ("c BLPOP k0 0",), ("b LPUSH k0 x", 1, Reply("c", ("k0", "x")))], "fail"),
        ([("a BLPOP k0 0", NoArray())], "fail"),
        ([("a MULTI", OK), ("a BLPOP k0 0", QUEUED), ("a EXEC", (NoArray(),))], "pass"),
        ([("a LPUSH k0 x", 1), ("a BLPOP k0 0", ("k0", "x")), ("a GET k0", None)], "pass"),
        (
            [
                HEARS,
                ("b PUBLISH news m", 1, Reply("a", ("message", "news", "m"))),
            ],
            "pass",
        ),
        ([HEARS, ("b PUBLISH mail m", 0), ("a PING", ("pong", ""))], "pass"),
        (
            [
                HEARS,
                ("a UNSUBSCRIBE news", ("unsubscribe", "news", 0)),
                ("a GET k0", None),
            ],
            "pass",
        ),
    ],
)
def test_several_clients(steps: list[tuple[object, ...] | Elapse], outcome: str) -> None:
    """Transactions, watched keys, clients that wait for an element in turn, and messages to subscribers."""
    assert judged(bench(), *script(*steps)) == outcome


class SlowToForget:
    """A store whose keys live three times too long; a wait advances its clock."""

    def __init__(self, times: float) -> None:
        self._now = 0.0
        self._times = times
        self._value: str | None = None
        self._until = float("inf")

    def act(self, inp: object) -> list[Reply]:
        """Answer one command."""
        if isinstance(inp, Elapse):
            self._now += inp.seconds
            return []
        assert isinstance(inp, Command)
        value = self._value if self._now < self._until else None
        if inp.name == "GET":
            return [Reply(inp.client, value)]
        self._value, lives = inp.words[1], 0.1 * self._times if len(inp.words) > 2 else float("inf")
        self._until = self._now + lives
        return [Reply(inp.client, OK)]


def forgetting(times: float) -> Bench:
    """Return the bench of a store that only stores and gets."""
    from otf.spec import restrict

    spec = restrict(redis(("k0",)), lambda _, inp: isinstance(inp, Elapse) or inp.name in {"SET", "GET"})
    return Bench.in_process(spec, lambda: SlowToForget(times).act, types=(Reply, Status))


def test_keys_that_live_too_long_are_found_by_a_wait() -> None:
    """Set with expiry, wait, get: three steps show it, in virtual time."""
    assert run(forgetting(1), traces=10, steps=200, seed=1, strategy="random").verdict == "pass"
    with pytest.raises(AssertionError, match="Elapse"):
        run(forgetting(3), traces=10, steps=200, seed=1, strategy="random")


def test_bytes() -> None:
    """A command is an array of texts; replies nest, and come in any pieces."""
    codec = RedisCodec()
    assert codec.encode(said("a SET k0 x")) == b"*3\r\n$3\r\nSET\r\n$2\r\nk0\r\n$1\r\nx\r\n"
    data = b"*4\r\n:1\r\n$4\r\n\r\n+x\r\n*2\r\n$-1\r\n-ERR no\r\n*-1\r\n"
    framer = replies()()
    frames = [frame.data for byte in data + b"+OK\r\n" for frame in framer.feed(bytes((byte,)))]
    assert frames == [data, b"+OK\r\n"]
    assert codec.decode("a", data) == Reply("a", (1, "\r\n+x", (None, Fault("ERR no")), NoArray()))


BROKEN = [b"", b"OK\r\n", b":x\r\n", b"$3\r\nabcd\r\n", b"+OK\r\n+OK\r\n", b"*1\r\n" * 20, b"*2\r\n:1\r\n"]


@pytest.mark.parametrize("data", BROKEN)
def test_what_is_no_reply(data: bytes) -> None:
    """It cannot be decoded, and raises nothing else."""
    with pytest.raises(CodecError):
        RedisCodec().decode("a", data)
    with pytest.raises(CodecError):
        RedisCodec().encode(data)


def test_a_state_without_anything_is_the_first_one() -> None:
    """What is over leaves nothing behind, so that states come again."""
    state = State().having("k0", "x").limited("k0")
    assert state.having("k0", None) == State()
