"""A redis server as a function; after the descriptions of its commands on redis.io.

An expiring key may be gone at any time, since the tester cannot tell how much time a busy machine took: only a wait
(`Elapse`) decides, and the remaining time from `PTTL` is bounded. The server notices an expired key when someone uses
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import Final, NamedTuple, TypeAlias

from otf.models.redis.inputs import EXPIRY, inputs
from otf.models.redis.messages import CLIENTS, Command, Fault, NoArray, Reply, Status
from otf.models.redis.state import Client, State
from otf.spec import Elapse, Spec, Transition, Where, goto, on

OK: Final = Status("OK")
QUEUED: Final = Status("QUEUED")
WRONG_TYPE: Final = Fault("WRONGTYPE Operation against a key holding the wrong kind of value")
NO_NUMBER: Final = Fault("ERR value is not an integer or out of range")
OVERFLOW: Final = Fault("ERR increment or decrement would overflow")
LARGEST: Final = 2**63 - 1
LASTING: Final = -1  # what PTTL gives for a key that does not expire
NO_KEY: Final = -2  # and for one that there is not
ON_LISTS: Final = ("LPUSH", "RPUSH", "LPOP", "RPOP", "LLEN", "LRANGE", "BLPOP")
ANY_TYPE: Final = ("SET", "SETNX", "DEL", "PERSIST", "PEXPIRE", "PTTL")
Yields: TypeAlias = Iterator[Transition[State]]


class Done(NamedTuple):
    """What a command did: the state after it, its reply, and the messages to subscribers."""

    state: State
    value: object
    messages: tuple[Reply, ...] = ()


def redis(keys: tuple[str, ...]) -> Spec[State, Command | Elapse]:
    """Return the spec of a redis server with the given keys; the spec excludes commands that a client may not send.

    >>> redis(("k",)).name
    'redis'
    """
    return Spec(_step, State(), partial(inputs, keys), name="redis", guarded=True)


def _step(state: State, inp: Command | Elapse) -> Yields:
    if isinstance(inp, Elapse):
        if inp.seconds * 1000 > EXPIRY:
            yield goto(_expired(state, state.expiring))
        return
    client = state.client(inp.client)
    if client.queue is not None and inp.name not in {"EXEC", "DISCARD"}:
        yield goto(state.knowing(inp.client, replace(client, queue=(*client.queue, inp))), Reply(inp.client, QUEUED))
    elif client.channels or inp.name in {"SUBSCRIBE", "UNSUBSCRIBE"}:
        yield _subscribing(state, inp, client)
    elif inp.name == "PTTL":
        yield from _remaining(state, inp)
    else:
        for done in _conducted(state, inp, client):
            then, served = _served(done.state)
            own = () if then.client(inp.client).waits else (Reply(inp.client, done.value),)
            yield goto(then, *own, *done.messages, *served)


def _conducted(state: State, inp: Command, client: Client) -> Iterator[Done]:
    match inp.name, inp.words:
        case "MULTI", ():
            yield Done(state.knowing(inp.client, replace(client, queue=())), OK)
        case (("EXEC" | "DISCARD"), ()) if client.queue is None:
            yield Done(state, Fault(f"ERR {inp.name} without MULTI"))
        case (("DISCARD" | "UNWATCH"), ()):
            yield Done(state.knowing(inp.client, Client()), OK)
        case "EXEC", ():
            yield from _executed(state, inp.client)
        case "WATCH", (key,):
            for now in _perhaps(state, {key}):
                known = now.client(inp.client)
                yield Done(now.knowing(inp.client, replace(known, watches=known.watches | {key})), OK)
        case "BLPOP", (key, _):
            for done in _command(state, inp):
                empty = isinstance(done.value, NoArray)
                yield _blocked(done.state, inp.client, key) if empty else done
        case _:
            yield from _command(state, inp)


def _executed(state: State, name: str) -> Iterator[Done]:
    for now in _perhaps(state, state.client(name).watches):
        client = now.client(name)
        then = now.knowing(name, Client())
        if client.changed:
            yield Done(then, NoArray())
            continue
        found: list[tuple[State, tuple[object, ...], tuple[Reply, ...]]] = [(then, (), ())]
        for command in client.queue or ():
            found = [
                (done.state, (*values, done.value), (*messages, *done.messages))
                for before, values, messages in found
                for done in _command(before, command)
            ]
        yield from (Done(*each) for each in dict.fromkeys(found))


def _command(state: State, inp: Command) -> Iterator[Done]:
    """Carry out a command that needs only the keys."""
    if inp.name == "PUBLISH":
        channel, text = inp.words
        heard = [name for name in CLIENTS if channel in state.client(name).channels]
        yield Done(state, len(heard), tuple(Reply(name, ("message", channel, text)) for name in heard))
        return
    key, *words = inp.words
    for now in _perhaps(state, {key}):
        value = now.value(key)
        is_list = isinstance(value, tuple)
        if value is not None and inp.name not in ANY_TYPE and is_list is not (inp.name in ON_LISTS):
            yield Done(now, WRONG_TYPE)
        elif inp.name in ON_LISTS:
            yield _on_list(now, inp.name, key, words, value if isinstance(value, tuple) else ())
        elif inp.name in ANY_TYPE:
            yield _on_any(now, inp.name, key, words)
        else:
            yield _on_string(now, inp.name, key, words, value if isinstance(value, str) else None)


def _on_any(state: State, name: str, key: str, words: list[str]) -> Done:
    there = state.value(key) is not None
    match name:
        case "SET":
            then = state.having(key, words[0], lasting=True)
            return Done(then.limited(key) if len(words) > 1 else then, OK)
        case "SETNX":
            return Done(state, 0) if there else Done(state.having(key, words[0]), 1)
        case "DEL":
            return Done(state.having(key, None), 1) if there else Done(state, 0)
        case "PEXPIRE":
            return Done(state.limited(key), 1) if there else Done(state, 0)
        case _ if key in state.expiring:
            return Done(state.having(key, state.value(key), lasting=True), 1)
        case _:
            return Done(state, 0)


def _on_string(state: State, name: str, key: str, words: list[str], value: str | None) -> Done:
    match name:
        case "GET":
            return Done(state, value)
        case "GETSET":
            return Done(state.having(key, words[0], lasting=True), value)
        case "APPEND":
            longer = (value or "") + words[0]
            return Done(state.having(key, longer), len(longer))
        case _:
            number = _number(value or "0")
            if number is None or number == LARGEST:
                return Done(state, NO_NUMBER if number is None else OVERFLOW)
            return Done(state.having(key, str(number + 1)), number + 1)


def _on_list(state: State, name: str, key: str, words: list[str], value: tuple[str, ...]) -> Done:
    match name:
        case "LPUSH" | "RPUSH":
            longer = (*words, *value) if name == "LPUSH" else (*value, *words)
            return Done(state.having(key, longer), len(longer))
        case "LLEN":
            return Done(state, len(value))
        case "LRANGE":
            return Done(state, value)
        case "BLPOP":
            return Done(state.having(key, value[1:]), (key, value[0])) if value else Done(state, NoArray())
        case _:
            rest = value[1:] if name == "LPOP" else value[:-1]
            return Done(state.having(key, rest), value[0 if name == "LPOP" else -1]) if value else Done(state, None)


def _blocked(state: State, name: str, key: str) -> Done:
    then = state.knowing(name, replace(state.client(name), waits=key))
    return Done(replace(then, waiting=(*then.waiting, name)), None)


def _served(state: State) -> tuple[State, tuple[Reply, ...]]:
    """Return what clients waiting for an element get; the one that has waited longest comes first."""
    told: tuple[Reply, ...] = ()
    for name in state.waiting:
        client = state.client(name)
        value = state.value(client.waits)
        if isinstance(value, tuple):
            told = (*told, Reply(name, (client.waits, value[0])))
            state = state.having(client.waits, value[1:])
            # it may take from a key that it watches
            state = state.knowing(name, replace(state.client(name), waits=""))
            state = replace(state, waiting=tuple(each for each in state.waiting if each != name))
    return state, told


def _subscribing(state: State, inp: Command, client: Client) -> Transition[State]:
    if inp.name == "PING":
        return goto(state, Reply(inp.client, ("pong", "")))
    change = client.channels.union if inp.name == "SUBSCRIBE" else client.channels.difference
    channels = change(inp.words)
    then = state.knowing(inp.client, replace(client, channels=channels))
    return goto(then, Reply(inp.client, (inp.name.lower(), inp.words[0], len(channels))))


def _remaining(state: State, inp: Command) -> Yields:
    def fits(reply: object) -> bool:
        return isinstance(reply, Reply) and isinstance(reply.value, int) and 0 <= reply.value <= EXPIRY

    (key,) = inp.words
    for now in _perhaps(state, {key}):
        if now.value(key) is None:
            yield goto(now, Reply(inp.client, NO_KEY))
        elif key in now.expiring:
            yield goto(now, on(inp.client, Where(fits, f"0 to {EXPIRY}")))
        else:
            yield goto(now, Reply(inp.client, LASTING))


def _perhaps(state: State, keys: AbstractSet[str]) -> Iterator[State]:
    """Yield the state with and without each of these keys that may have expired."""
    at_stake = sorted(state.expiring & keys)
    for gone in chain.from_iterable(combinations(at_stake, size) for size in range(len(at_stake) + 1)):
        yield _expired(state, frozenset(gone))


def _expired(state: State, keys: AbstractSet[str]) -> State:
    for key in sorted(keys):
        state = state.having(key, None)
    return state


def _number(text: str) -> int | None:
    digits = text.removeprefix("-")
    number = int(text) if digits.isdecimal() and digits.isascii() else None
    return number if number is not None and str(number) == text and -LARGEST - 1 <= number <= LARGEST else None
