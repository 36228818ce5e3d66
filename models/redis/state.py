"""What a redis server knows, in the model: keys, transactions, and waiting or subscribed clients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from otf.models.redis.messages import Command

Value: TypeAlias = str | tuple[str, ...]
"""A string, or a list."""


@dataclass(frozen=True, slots=True)
class Client:
    """One client: the keys it watches, whether one of them changed, and the commands it queued after MULTI.

    `queue` is None outside of a transaction. `waits` is the key of its BLPOP, `channels` are those it subscribed to.
    """

    watches: frozenset[str] = frozenset()
    changed: bool = False
    queue: tuple[Command, ...] | None = None
    waits: str = ""
    channels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class State:
    """The keys by name, those that may expire at any time, the clients by name, and the waiting clients, in order."""

    keys: tuple[tuple[str, Value], ...] = ()
    expiring: frozenset[str] = frozenset()
    clients: tuple[tuple[str, Client], ...] = ()
    waiting: tuple[str, ...] = ()

    def value(self, key: str) -> Value | None:
        """Return the value of a key, None if it has none."""
        return next((value for name, value in self.keys if name == key), None)

    def client(self, name: str) -> Client:
        """Return what the server knows about a client."""
        return next((client for each, client in self.clients if each == name), Client())

    def knowing(self, name: str, client: Client) -> State:
        """Return the state with this client replaced; a client in its default state is left out."""
        others = [pair for pair in self.clients if pair[0] != name]
        known = [(name, client)] if client != Client() else []
        return replace(self, clients=tuple(sorted([*others, *known], key=lambda pair: pair[0])))

    def having(self, key: str, value: Value | None, *, lasting: bool = False) -> State:
        """Return the state with another value under a key, None or an empty list for none; its watchers notice.

        A `lasting` value does not expire; otherwise the key expires as before.
        """
        others = [pair for pair in self.keys if pair[0] != key]
        keys = tuple(sorted([*others, (key, value)])) if value or value == "" else tuple(others)
        gone = lasting or len(keys) == len(others)
        expiring = self.expiring - {key} if gone else self.expiring
        return replace(self, keys=keys, expiring=expiring, clients=self._noticed(key))

    def limited(self, key: str) -> State:
        """Return the state in which a key will expire."""
        return replace(self, expiring=self.expiring | {key}, clients=self._noticed(key))

    def _noticed(self, key: str) -> tuple[tuple[str, Client], ...]:
        return tuple(
            (name, replace(client, changed=True) if key in client.watches else client) for name, client in self.clients
        )
