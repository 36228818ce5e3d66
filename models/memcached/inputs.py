"""Inputs worth trying with a memcached server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import Final

from otf.models.memcached.messages import CLIENTS, Command
from otf.models.memcached.state import State
from otf.spec import Elapse

ALSO: Final = {
    "keys": "several keys in one gets over UDP",
    "number": "incr and decr of data that only begins with a number",
}
"""Where memcached departs from its protocol: what a path demands or tries in addition, by name."""

ENOUGH: Final = 40
"""Characters beyond which an item is not extended."""

_STORING: Final = ("set", "add", "replace", "append", "prepend")
_DATA: Final = ("", "x", "9", "10", "18446744073709551615")
_FLAGS: Final = (0, 7)
_WIDE: Final = (_DATA, _FLAGS)
_FEW: Final = (("x", "10"), (0,))
_EXPIRED: Final = -1
_SOON: Final = 1  # seconds
WAIT: Final = Elapse(2.5)
"""After this wait an item that expires in a second is gone: the server's clock ticks once a second, and may be late."""
_RECENT: Final = 1_000  # commands with ids to keep: a fresh server counts from the start
_NEVER: Final = 1  # a cas id that no test reaches, since ids of a fresh server count up


@dataclass(frozen=True, slots=True)
class Choice:
    """The keys, one of `ALSO` or "", and whether to try all flags and data, several keys in one get, and expiry."""

    keys: tuple[str, ...]
    also: str = ""
    wide: bool = False
    together: bool = True
    expiry: bool = False


def inputs(choice: Choice, state: State) -> list[Command | Elapse]:
    """Return the commands of both clients, and the wait that lets an item expire."""
    found: list[Command | Elapse] = [WAIT] if choice.expiry else []
    for client in CLIENTS:
        for key in choice.keys:
            item = state.item(key)
            # most commands are the same in every state: make them once
            found += _plain(choice, client, key, item is not None and len(item.data) > ENOUGH)
            found += _comparing(client, key, state)
        found += _of_all(choice, client)
    return found


@cache
def _plain(choice: Choice, client: str, key: str, long: bool) -> tuple[Command, ...]:  # noqa: FBT001 -- of a cache
    return (*_storing(choice, client, key, long=long), *_others(choice, client, key), *_counting(client, key))


@cache
def _of_all(choice: Choice, client: str) -> tuple[Command, ...]:
    together = choice.together or choice.also == "keys"
    gets = (Command(client, "gets", choice.keys),) if together else ()
    return (*gets, Command(client, "flush_all"), Command(client, "bogus"))


def _storing(choice: Choice, client: str, key: str, *, long: bool) -> Iterator[Command]:
    for name in _STORING:
        if long and name in {"append", "prepend"}:
            continue
        for data, flags in product(*(_WIDE if choice.wide else _FEW)):
            yield Command(client, name, (key, flags, 0), data)
    yield Command(client, "set", (key, 1, _EXPIRED), "gone")
    if choice.also == "number":
        yield Command(client, "set", (key, 0, 0), "9 1")


def _others(choice: Choice, client: str, key: str) -> Iterator[Command]:
    for name in ("get", "gets", "delete"):
        yield Command(client, name, (key,))
    yield Command(client, "touch", (key, 0))
    yield Command(client, "touch", (key, _EXPIRED))
    if choice.expiry:
        yield Command(client, "touch", (key, _SOON))
        yield Command(client, "set", (key, 3, _SOON), "soon")


def _counting(client: str, key: str) -> Iterator[Command]:
    for name, amount in product(("incr", "decr"), (1, 3)):
        yield Command(client, name, (key, amount))


def _comparing(client: str, key: str, state: State) -> Iterator[Command]:
    """Yield `cas` with the id of the item, with the previous id, and with one that never existed."""
    item = state.item(key)
    known = [] if item is None else [*item.used, *([] if item.unique is None else [item.unique])]
    for unique in [2**63, *known]:
        yield _compare(client, key, unique)


@lru_cache(_RECENT)
def _compare(client: str, key: str, unique: int) -> Command:
    return Command(client, "cas", (key, 2, 0, unique), "cas")
