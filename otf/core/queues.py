"""Small immutable maps from a port to a queue, kept sorted so that equal contents are equal values."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
Queues: TypeAlias = tuple[tuple[str, tuple[Item, ...]], ...]


def queue(queues: Queues[Item], port: str) -> tuple[Item, ...]:
    """Return the queue of `port`, empty where there is none."""
    for name, items in queues:
        if name == port:
            return items
    return ()


def put(queues: Queues[Item], port: str, items: tuple[Item, ...]) -> Queues[Item]:
    """Return the map with `items` as the queue of `port`; an empty queue leaves no trace."""
    if not queues or (len(queues) == 1 and queues[0][0] == port):
        return ((port, items),) if items else ()
    rest = tuple(entry for entry in queues if entry[0] != port)
    return tuple(sorted((*rest, (port, items)), key=_port)) if items else rest


def push(queues: Queues[Item], port: str, item: Item) -> Queues[Item]:
    """Return the map with `item` at the end of the queue of `port`."""
    return put(queues, port, (*queue(queues, port), item))


def _port(entry: tuple[str, object]) -> str:
    return entry[0]
