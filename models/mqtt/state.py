"""What a broker knows: connections, sessions with their subscriptions and messages, and retained messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from otf.codec.mqtt import MqttProperties, MqttVersion
from otf.models.mqtt.messages import CLIENTS

QOS_2: Final = 2


@dataclass(frozen=True, slots=True)
class Publication:
    """An application message: as a client publishes it, or as a subscriber gets it.

    `retain` is the flag sent with it.
    """

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: MqttProperties = ()


@dataclass(frozen=True, slots=True)
class InFlight:
    """A message sent to a subscriber with QoS 1 or 2 under the packet identifier `id`.

    `mark` distinguishes those of a session while the identifier is unknown; `released`: the server sent its PUBREL.
    """

    publication: Publication
    mark: int
    id: int = 0
    released: bool = False


@dataclass(frozen=True, slots=True)
class Subscription:
    """A topic filter of a session: the byte of its options, including the granted QoS, and its identifier or 0."""

    filter: str
    options: int
    number: int = 0

    @property
    def qos(self) -> int:
        """Return the granted QoS."""
        return self.options & 3


@dataclass(frozen=True, slots=True)
class Session:
    """What a broker keeps under a ClientId.

    `port` is the connection, "" if there is none; `lasting`: the session survives without one. `queue` has the waiting
    messages, and `incoming` the QoS 2 messages received but not yet released, in order: each with its identifier, and
    whether its delivery waits for the release. `repeated` has the identifiers of those that came again. The server
    publishes `will` if the client does not come back.
    """

    client: str
    port: str = ""
    lasting: bool = False
    subscriptions: tuple[Subscription, ...] = ()
    flying: tuple[InFlight, ...] = ()
    queue: tuple[Publication, ...] = ()
    incoming: tuple[tuple[int, Publication, bool], ...] = ()
    repeated: tuple[int, ...] = ()
    will: Publication | None = None

    def renumbered(self) -> Session:
        """Return the session with the marks of its messages in flight renumbered in order."""
        if all(each.mark == mark for mark, each in enumerate(self.flying, 1)):
            return self
        return replace(self, flying=tuple(replace(each, mark=mark) for mark, each in enumerate(self.flying, 1)))


Past: TypeAlias = Literal["emptied", "replaced", "passed", "outlived", "closed", "unreleased"]
"""What happened to a retained message, or to a session."""
Status: TypeAlias = Literal["shut", "open", "up", "leaving"]


@dataclass(frozen=True, slots=True)
class Link:
    """A connection: "open" before the CONNECT, "up" after the CONNACK, "leaving" after a DISCONNECT.

    `window` is the Receive Maximum of the client, `largest` its Maximum Packet Size, `problems` its Request Problem
    Information; `alias_limit` is the server's limit, `alias` the client's alias; `shares`: the server has shared
    subscriptions. `fresh`: the session was resumed, and the client has sent nothing since.
    """

    status: Status = "open"
    client: str = ""
    will: Publication | None = None
    delayed: bool = False
    window: int = 65_535
    largest: int = 0
    problems: bool = True
    alias_limit: int = 0
    alias: str = ""
    shares: bool = True
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Broker:
    """The state of the model.

    `past` names the topics and ClientIds for which a statement forbids something later: a retained message was removed,
    was replaced by one of QoS 0, was followed by another message, or outlived a session; a session ended with its
    connection. A ClientId followed by a packet identifier means that a session ended before the release of that
    message.
    """

    version: MqttVersion = 4
    links: tuple[tuple[str, Link], ...] = tuple((port, Link()) for port in CLIENTS)
    sessions: tuple[Session, ...] = ()
    retained: tuple[tuple[str, Publication], ...] = ()
    past: tuple[tuple[Past, str], ...] = ()

    @property
    def new(self) -> bool:
        """Return whether this is MQTT 5.0."""
        return self.version == 5  # noqa: PLR2004 -- the version

    def link(self, port: str) -> Link:
        """Return a connection."""
        return next(link for each, link in self.links if each == port)

    def linking(self, port: str, link: Link) -> Broker:
        """Return the state with another state of a connection."""
        return replace(self, links=tuple((each, link if each == port else old) for each, old in self.links))

    def session(self, client: str) -> Session | None:
        """Return the session of a ClientId, None if there is none."""
        return next((each for each in self.sessions if each.client == client), None)

    def holding(self, session: Session) -> Broker:
        """Return the state with this session, in place of the one with the same ClientId."""
        others = [each for each in self.sessions if each.client != session.client]
        return replace(self, sessions=tuple(sorted([*others, session], key=lambda each: each.client)))

    def without(self, client: str) -> Broker:
        """Return the state without the session of a ClientId."""
        return replace(self, sessions=tuple(each for each in self.sessions if each.client != client))

    def noting(self, what: Past, *names: str) -> Broker:
        """Return the state that also remembers these events."""
        return replace(self, past=tuple(sorted({*self.past, *((what, name) for name in names)})))

    def forgetting(self, name: str) -> Broker:
        """Return the state that remembers nothing about a topic or ClientId."""
        return replace(self, past=tuple(each for each in self.past if each[1] != name))

    def renumbered(self) -> Broker:
        """Return the state with the marks renumbered: it does not matter which of two equal copies came first."""
        return replace(self, sessions=tuple(each.renumbered() for each in self.sessions))

    def retaining(self, topic: str, publication: Publication | None) -> Broker:
        """Return the state with another retained message for a topic, or None."""
        others = [pair for pair in self.retained if pair[0] != topic]
        kept = others if publication is None else [*others, (topic, publication)]
        return replace(self, retained=tuple(sorted(kept, key=lambda pair: pair[0])))
