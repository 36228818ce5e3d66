"""What clients say and what the server says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
Kind: TypeAlias = Literal["CON", "NON", "ACK", "RST"]
Id: TypeAlias = Literal["answer", "again", "new", "stale", "wrong"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a client; `observe` begins ("on") or ends ("off") an observation; sent twice where `twice`."""

    client: str
    method: Method
    path: str
    payload: str = ""
    kind: Kind = "CON"
    observe: Literal["", "on", "off"] = ""
    twice: bool = False


@dataclass(frozen=True, slots=True)
class Ping:
    """An empty confirmable message, which only asks for a reset."""

    client: str


@dataclass(frozen=True, slots=True)
class Ack:
    """A client acknowledges the last confirmable message."""

    client: str


@dataclass(frozen=True, slots=True)
class Reset:
    """A client rejects the last message, and all others like it."""

    client: str


@dataclass(frozen=True, slots=True)
class Message:
    """What the server sends to a client; `token` is the request's, `code` is as in "2.05".

    `id`: "answer" to the last message of the client, the same message "again", a "new" one, one that is "stale" by the
    number of its notification, or a "wrong" answer. Only contents keep their payload: errors may have any text.
    """

    client: str
    kind: Kind
    code: str
    token: str = ""
    payload: str = ""
    observe: bool = False
    id: Id = "new"
