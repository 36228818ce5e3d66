"""What a CoAP server knows, in the model: its resources, and their observers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from otf.models.coap.messages import Ack, Ping, Request, Reset

CLIENTS: Final = ("c1", "c2")
PATHS: Final = ("a", "b")
PAYLOADS: Final = ("x", "y")
GONE: Final = "4.04"


@dataclass(frozen=True, slots=True)
class Watcher:
    """What the server knows of a client.

    The paths that it observes, those with `news` for it, and the path of its `unacked` notification.
    """

    observes: frozenset[str] = frozenset()
    news: frozenset[str] = frozenset()
    unacked: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The payload of each resource (None: it does not exist), and a watcher for each client."""

    store: tuple[str | None, ...] = (None,) * len(PATHS)
    watchers: tuple[Watcher, ...] = (Watcher(),) * len(CLIENTS)

    def at(self, path: str) -> str | None:
        """Return the payload of a resource."""
        return self.store[PATHS.index(path)]

    def of(self, client: str) -> Watcher:
        """Return what the server knows about a client."""
        return self.watchers[CLIENTS.index(client)]

    def put(self, path: str, payload: str | None) -> State:
        """Return the state with another payload."""
        store = tuple(payload if each == path else old for each, old in zip(PATHS, self.store, strict=True))
        return replace(self, store=store)

    def know(self, client: str, watcher: Watcher) -> State:
        """Return the state with another watcher."""
        known = (watcher if each == client else old for each, old in zip(CLIENTS, self.watchers, strict=True))
        return replace(self, watchers=tuple(known))


Input: TypeAlias = Request | Ping | Ack | Reset
Outcome: TypeAlias = tuple[State, tuple[object, ...]]
