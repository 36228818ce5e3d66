"""What clients may do in a state, chosen so that a campaign meets what the standards speak of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.codec.mqtt import (
    MqttConnect,
    MqttDisconnect,
    MqttFilter,
    MqttPingreq,
    MqttProperty,
    MqttPuback,
    MqttPubcomp,
    MqttPublish,
    MqttPubrec,
    MqttPubrel,
    MqttSubscribe,
    MqttTopic,
    MqttUnsubscribe,
)
from otf.codec.mqtt_packets import MqttProperties
from otf.models.mqtt.groups import TOPICS, left_out
from otf.models.mqtt.messages import CLIENTS, MqttDial, MqttHalt, MqttInput, MqttMessage, MqttPacket, MqttViolation
from otf.models.mqtt.routing import SHARE, matches
from otf.models.mqtt.state import QOS_2, Broker, InFlight, Link, Session
from otf.models.mqtt.violations import rules_of

ROWDY: Final = "c"
"""The only client that breaks rules, so that the others keep their connections."""
MOST: Final = 4
"""How many messages of a session may be in flight or waiting; servers bound them."""
BUSY: Final = 2
"""With this many messages to acknowledge, a client does nothing else."""
FIRST, OTHERS, UNKNOWN = 10, (20, 21), 30
"""Packet identifiers of clients: for QoS 1, for QoS 2, and one that is never published."""
_FILTERS: Final = ("t", "t/u", "t/#", "#", "+", "+/u", "+/t", "/+", "T", "\ufefft", "w")
_BIG: Final = b"z" * 150
LIMIT: Final = 120
"""The Maximum Packet Size of a client that states one: `_BIG` is too large for it."""

_RICH: Final[MqttProperties] = (
    *(MqttProperty("payload_format", 1), MqttProperty("message_expiry", 3600), MqttProperty("content_type", "text")),
    *(MqttProperty("response_topic", "r"), MqttProperty("correlation_data", b"\x01\xff")),
    *(MqttProperty("user", ("k", "2")), MqttProperty("user", ("k", "1"))),
)
_IDS: Final = {"a": ("otfA",), "b": ("otfB",), ROWDY: ("otfA", "otfC", "")}
_CLEAN, _WILL = 0x02, 0x04


def inputs(without: tuple[str, ...], broker: Broker) -> Iterator[MqttInput]:
    """Yield what the clients may do, except inputs of the groups `without`."""
    return (each for each in _inputs(broker) if not left_out(without, broker, each))


def _inputs(broker: Broker) -> Iterator[MqttInput]:
    for port in CLIENTS:
        link = broker.link(port)
        match link.status:
            case "shut":
                yield MqttDial(port)
            case "open":
                yield from (MqttMessage(port, each) for each in _connects(broker, port))
                yield from _violations(broker, port, first=True)
            case "leaving":
                yield MqttHalt(port)
            case "up":
                yield from _active(broker, port, link)


def _active(broker: Broker, port: str, link: Link) -> Iterator[MqttInput]:
    session = broker.session(link.client) or Session(link.client)
    yield from (MqttMessage(port, each) for each in _acknowledgements(broker, session))
    if len(session.flying) < BUSY:
        yield from (MqttMessage(port, each) for each in _packets(broker, link, session))
        yield from _violations(broker, port, first=False)
    yield MqttHalt(port)


def _violations(broker: Broker, port: str, *, first: bool) -> Iterator[MqttInput]:
    if port == ROWDY:
        for name, rule in rules_of(broker.version).items():
            if rule.first == first and _is_violation(name, broker.link(port)):
                yield MqttViolation(port, name, rule.raw)


def _is_violation(name: str, link: Link) -> bool:
    match name:
        case "disconnect with wrong flags":
            return not link.will  # it is open whether this is a DISCONNECT that deletes the will
        case "unknown topic alias":
            return not link.alias
        case "topic alias 65535":
            return link.alias_limit < 65_535  # noqa: PLR2004 -- the largest
        case _:
            return link.shares or " share" not in name


def _connects(broker: Broker, port: str) -> Iterator[MqttConnect]:
    for client in _IDS[port]:
        for clean in (_CLEAN, 0) if client else (_CLEAN,):
            yield MqttConnect(clean, 0, client)
            if broker.new and client:
                yield MqttConnect(clean, 0, client, b"", (MqttProperty("session_expiry", 3600),))
        before = broker.session(client)
        own = before is not None and any(matches(each.filter, "w") for each in before.subscriptions)
        yield from _with_wills(broker, client) if client and not own else ()
    if port == ROWDY and not broker.new:
        yield MqttConnect(0, 0, "")
    if broker.new:
        lasting = MqttProperty("session_expiry", 3600)
        one, small = MqttProperty("receive_maximum", 1), MqttProperty("maximum_packet", LIMIT)
        before = broker.session(_IDS[port][0])
        if before is None or len(before.flying) <= 1:  # or the server could not send unacknowledged messages again
            yield MqttConnect(0, 0, _IDS[port][0], b"", (lasting, one))
        for more in (small, MqttProperty("request_problem", 0)):
            yield MqttConnect(0, 0, _IDS[port][0], b"", (lasting, more))


def _with_wills(broker: Broker, client: str) -> Iterator[MqttConnect]:
    topic = b"\0\1w"
    for flags, payload in ((0x0E, b"gone"), (0x36, b"lost"), (0x04, b"away")):
        body = len(payload).to_bytes(2) + payload
        yield MqttConnect(flags, 0, client, (b"\0" if broker.new else b"") + topic + body)
    if broker.new:
        late = b"\x05\x18\x00\x00\x0e\x10" + topic + b"\0\4late"
        yield MqttConnect(0x0C, 0, client, late, (MqttProperty("session_expiry", 3600),))


def _acknowledgements(broker: Broker, session: Session) -> Iterator[MqttPacket]:
    """Yield the due acknowledgements, in the order of the messages (section 4.6)."""
    for each in _due(session.flying):
        if each.released:
            yield MqttPubcomp(each.id)
        else:
            kind = MqttPuback if each.publication.qos == 1 else MqttPubrec
            yield kind(each.id)
            if broker.new:
                yield kind(each.id, 0x80, ())


def _due(flying: tuple[InFlight, ...]) -> Iterator[InFlight]:
    seen = set[tuple[int, bool]]()
    for each in flying:
        kind = each.publication.qos, each.released
        if kind not in seen and each.id:
            yield each
        seen.add(kind)


def _packets(broker: Broker, link: Link, session: Session) -> Iterator[MqttPacket]:
    yield from (MqttPingreq(), MqttDisconnect())
    yield from (MqttPubrel(number) for number, *_ in session.incoming[:1])  # in the order of the messages (section 4.6)
    yield MqttPubrel(UNKNOWN)
    full = any(len(each.flying) + len(each.queue) >= MOST for each in broker.sessions)
    yield from _publishes(broker, link, session, full=full)
    yield from (each for each in _subscribes(broker, link) if _is_plain(broker, session, each))
    if broker.new:
        yield MqttDisconnect(4, ())
        yield from _aliases(link) if not full else ()
    for topic in ("t", "t/#", "t/"):
        yield MqttUnsubscribe(8, (MqttTopic(topic),))
    yield MqttUnsubscribe(8, (MqttTopic("#"), MqttTopic("none"), MqttTopic("+/u")))


def _publishes(broker: Broker, link: Link, session: Session, *, full: bool) -> Iterator[MqttPublish]:
    taken = {each for each, *_ in session.incoming}
    number = next((each for each in OTHERS if each not in taken), 0)
    yield MqttPublish("$x/t", b"x")
    if full:
        return
    yield from (MqttPublish(topic, b"x") for topic in TOPICS[:-1])
    for topic in ("t", "t/u"):
        yield MqttPublish(topic, b"y", 1, FIRST)
        yield MqttPublish(topic, b"r", 1, FIRST, retain=True)
        yield from [MqttPublish(topic, b"z", QOS_2, number, retain=topic == "t/u")] if number else []
    yield from (MqttPublish("t", payload, retain=True) for payload in (b"q", b""))
    yield MqttPublish("t", b"", 1, FIRST, retain=True)
    if not broker.new:
        yield MqttPublish("t", b"y", 1, FIRST, dup=True)
    if not broker.new or link.fresh:  # in 5.0 nothing is repeated on the same connection (section 4.4)
        for each, message, _ in session.incoming:
            yield MqttPublish(message.topic, message.payload, QOS_2, each, message.retain, dup=True)
    if broker.new:
        yield from (MqttPublish("t", b"y", 1, FIRST, properties=_RICH), MqttPublish("t", _BIG, 1, FIRST))


def _aliases(link: Link) -> Iterator[MqttPublish]:
    alias = (MqttProperty("topic_alias", 1),)
    if link.alias_limit:
        yield from (MqttPublish(topic, b"i", properties=alias) for topic in ("t", "t/u"))
    if link.alias:
        yield from (MqttPublish("", b"j", properties=alias), MqttPublish("", b"j", 1, FIRST, properties=alias))


def _is_plain(broker: Broker, session: Session, packet: MqttSubscribe) -> bool:
    """Return whether the result of a SUBSCRIBE is clear."""
    link = broker.link(session.port)
    asked = [each.topic for each in packet.filters]
    own = link.will is not None and any(matches(each, link.will.topic) for each in asked)  # it may come before the end
    kept = sum(qos > 0 and matches(each, topic) for topic, qos in _levels(broker) for each in asked)
    crowded = kept > max(1, link.window - len(session.flying))  # it is open which retained message comes first
    return not own and not crowded


def _levels(broker: Broker) -> Iterator[tuple[str, int]]:
    return ((topic, kept.qos) for topic, kept in broker.retained)


def _subscribes(broker: Broker, link: Link) -> Iterator[MqttSubscribe]:
    yield from (MqttSubscribe(9, (MqttFilter(each, qos),)) for each in _FILTERS for qos in (1, 2))
    yield from (MqttSubscribe(9, (MqttFilter(each, 0),)) for each in ("t", "#"))
    yield MqttSubscribe(9, (MqttFilter("t", 0), MqttFilter("t/#", 2)))
    yield MqttSubscribe(9, (MqttFilter("/t", 0), MqttFilter("t", 2)))
    yield MqttSubscribe(9, (MqttFilter("+/u", 2), MqttFilter("t/u", 1)))
    if broker.new:
        number = (MqttProperty("subscription_id", 5),)
        yield from (MqttSubscribe(9, (MqttFilter("t", 1 | more),)) for more in (0x04, 0x08, 0x10, 0x20))
        yield MqttSubscribe(9, (MqttFilter("t", 1),), number)
        yield MqttSubscribe(9, (MqttFilter("#", 2 | 0x08),), (MqttProperty("subscription_id", 300),))
    if broker.new and link.shares:
        yield from (MqttSubscribe(9, (MqttFilter(f"{SHARE}g/t", qos),)) for qos in (1, 2))
