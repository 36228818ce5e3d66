"""Inputs worth trying with a redis server; a waiting or subscribed client may not send everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.models.redis.messages import CLIENTS, Command
from otf.models.redis.state import State
from otf.spec import Elapse

EXPIRY: Final = 100
"""Milliseconds after which a key expires."""

WAIT: Final = Elapse(0.15)
MOST: Final = 3
"""The most elements of a list, commands of a transaction, and changes of a string by `append`."""

_LARGEST: Final = str(2**63 - 1)
_VALUES: Final = ("x", "9", _LARGEST)
_LONG: Final = 24
CHANNELS: Final = ("news", "mail")


def inputs(keys: tuple[str, ...], state: State) -> Iterator[Command | Elapse]:
    """Yield the commands of all clients, and the wait that lets a key expire."""
    for name in CLIENTS:
        client = state.client(name)
        if client.waits:
            continue
        if client.channels:
            yield from _subscribed(name)
            continue
        if client.queue is None or len(client.queue) < MOST:
            for key in keys:
                yield from _strings(name, key, state)
                yield from _lists(name, key, state)
        yield from _transactions(name, keys, queued=client.queue is not None)
        if client.queue is None:
            yield from (Command(name, "PTTL", (key,)) for key in keys)
            yield from (Command(name, "SUBSCRIBE", (channel,)) for channel in CHANNELS)
        yield from (Command(name, "PUBLISH", (channel, "m")) for channel in CHANNELS)
    yield WAIT


def _strings(client: str, key: str, state: State) -> Iterator[Command]:
    yield Command(client, "GET", (key,))
    yield from (Command(client, "SET", (key, value)) for value in _VALUES)
    yield Command(client, "SET", (key, "soon", "PX", str(EXPIRY)))
    yield Command(client, "PEXPIRE", (key, str(EXPIRY)))
    yield from (Command(client, name, (key,)) for name in ("PERSIST", "INCR", "DEL"))
    yield from (Command(client, name, (key, "y")) for name in ("SETNX", "GETSET"))
    value = state.value(key)
    if not isinstance(value, str) or len(value) < _LONG:
        yield Command(client, "APPEND", (key, "1"))


def _lists(client: str, key: str, state: State) -> Iterator[Command]:
    value = state.value(key)
    if not isinstance(value, tuple) or len(value) < MOST:
        yield from (Command(client, name, (key, each)) for name in ("LPUSH", "RPUSH") for each in ("x", "y"))
    yield from (Command(client, name, (key,)) for name in ("LPOP", "RPOP", "LLEN"))
    yield Command(client, "LRANGE", (key, "0", "-1"))
    yield Command(client, "BLPOP", (key, "0"))


def _transactions(client: str, keys: tuple[str, ...], *, queued: bool) -> Iterator[Command]:
    yield from (Command(client, name) for name in ("EXEC", "DISCARD"))
    if not queued:
        yield from (Command(client, name) for name in ("MULTI", "UNWATCH"))
        yield from (Command(client, "WATCH", (key,)) for key in keys)


def _subscribed(client: str) -> Iterator[Command]:
    for channel in CHANNELS:
        yield Command(client, "SUBSCRIBE", (channel,))
        yield Command(client, "UNSUBSCRIBE", (channel,))
    yield Command(client, "PING")
