"""Inputs after which servers are known to depart from the standards.

The bench leaves them out by default, so that it can test everything else: a path ends at the first departure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from otf.codec.mqtt import MqttConnect, MqttPublish, MqttPubrec, MqttSubscribe
from otf.models.mqtt.messages import MqttInput, MqttMessage, MqttViolation
from otf.models.mqtt.routing import SHARE, matches, plain
from otf.models.mqtt.state import QOS_2, Broker, InFlight, Session
from otf.models.mqtt.wants import property_of

TOPICS: Final = ("t", "t/u", "/t", "T", "\ufefft", "w")
"""The topics to which clients publish, and the topic of the wills."""
_OPTIONS: Final = 0x0C
"""No Local and Retain As Published, in the options of a subscription."""
_FAILED, _CLEAN, _WIDE = 0x80, 0x02, 65_535

_Has: TypeAlias = Callable[[Broker, MqttInput], bool]


def _violations(*names: str) -> _Has:
    return lambda _broker, inp: isinstance(inp, MqttViolation) and any(name in inp.name for name in names)


def _second(broker: Broker, inp: MqttInput) -> bool:
    link = broker.link(inp.client)
    session = broker.session(link.client)
    lasts = session is not None and session.lasting
    return isinstance(inp, MqttViolation) and inp.name == "second connect" and (link.will is not None or lasts)


def _subscribe(broker: Broker, inp: MqttInput) -> tuple[Session, dict[str, int]] | None:
    """Return the session of a SUBSCRIBE and the options that it requests; None for other inputs."""
    if not isinstance(inp, MqttMessage) or not isinstance(inp.packet, MqttSubscribe):
        return None
    client = broker.link(inp.client).client
    return broker.session(client) or Session(client), {each.topic: each.qos for each in inp.packet.filters}


def _options(broker: Broker, inp: MqttInput) -> bool:
    found = _subscribe(broker, inp)
    if found is None:
        return False
    session, asked = found
    before = {each.filter: each.options for each in session.subscriptions}
    return any(before.get(each, options) & _OPTIONS != options & _OPTIONS for each, options in asked.items())


def _overlap(broker: Broker, inp: MqttInput) -> bool:
    found = _subscribe(broker, inp)
    if found is None:
        return False
    session, asked = found
    levels = {each.filter: each.qos for each in session.subscriptions} | {each: qos & 3 for each, qos in asked.items()}
    return any(len({qos for each, qos in levels.items() if matches(each, topic)}) > 1 for topic in TOPICS)


def _share(broker: Broker, inp: MqttInput) -> bool:
    found = _subscribe(broker, inp)
    if found is not None:
        return bool(broker.retained) and any(each.startswith(SHARE) for each in found[1])
    return _violations("no local on a share", "a share without")(broker, inp)


def _quota(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    refuses = isinstance(packet, MqttPubrec) and (packet.reason or 0) >= _FAILED
    return refuses and broker.link(inp.client).window < _WIDE


def _granted(broker: Broker, inp: MqttInput) -> bool:
    found = _subscribe(broker, inp)
    if found is None:
        return False
    session, asked = found
    return any(qos & 3 < QOS_2 and (session.lasting or "#" in each or "+" in each) for each, qos in asked.items())


def _subscribers(broker: Broker, topic: str) -> Iterable[Session]:
    return (each for each in broker.sessions if any(matches(plain(one), topic) for one in each.subscriptions))


def _dup(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    return isinstance(packet, MqttPublish) and packet.dup and any(True for _ in _subscribers(broker, packet.topic))


def _again(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    session = broker.session(broker.link(inp.client).client)
    return isinstance(packet, MqttPublish) and packet.dup and session is not None and packet.id in session.repeated


def _reuse(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    if not isinstance(packet, MqttPublish) or packet.qos != QOS_2 or packet.dup:
        return False
    return ("unreleased", f"{broker.link(inp.client).client} {packet.id}") in broker.past


def _resumed(broker: Broker, inp: MqttInput) -> Session | None:
    """Return the session that a CONNECT resumes."""
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    if isinstance(packet, MqttConnect) and not packet.flags & _CLEAN:
        return broker.session(packet.client)
    return None


def _resend(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    if isinstance(packet, MqttPublish) and packet.retain and packet.qos:
        return any(not each.port for each in _subscribers(broker, packet.topic))
    session = _resumed(broker, inp)
    if session is None:
        return False
    wills = {(topic, kept.payload) for topic, kept in broker.retained}  # one with RETAIN may wait, too
    match session.flying:
        case () | (InFlight(released=True),):
            return any(each.qos and (each.topic, each.payload) in wills for each in session.queue)
        case _:
            return True


def _brief(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    session = _resumed(broker, inp)
    if session is None or not isinstance(packet, MqttConnect):
        return False
    return not property_of(packet.properties, "session_expiry") and bool(session.queue or session.flying)


def _over(broker: Broker, inp: MqttInput) -> bool:
    session = _resumed(broker, inp)
    return session is not None and bool(session.port) and not session.lasting and bool(session.subscriptions)


def _retained(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    session = broker.session(broker.link(inp.client).client)
    if not isinstance(packet, MqttPubrec) or session is None or not session.lasting:
        return False
    return any(each.id == packet.id and each.publication.retain for each in session.flying)


def _states(name: str) -> _Has:
    """Return whether a CONNECT states this property."""

    def has(broker: Broker, inp: MqttInput) -> bool:
        del broker
        packet = inp.packet if isinstance(inp, MqttMessage) else None
        return isinstance(packet, MqttConnect) and any(each.name == name for each in packet.properties)

    return has


def _numbers(broker: Broker, inp: MqttInput) -> bool:
    found = _subscribe(broker, inp)
    if found is None or not isinstance(inp, MqttMessage) or not isinstance(inp.packet, MqttSubscribe):
        return False
    session, asked = found
    numbered = {each.filter for each in session.subscriptions if each.number and each.filter not in asked}
    numbered |= asked.keys() if inp.packet.properties else set()
    filters = {each.filter for each in session.subscriptions} | asked.keys()
    overlap = any(sum(matches(each, topic) for each in filters) > 1 for topic in TOPICS)
    return bool(numbered) and (session.lasting or overlap)


def _empty(broker: Broker, inp: MqttInput) -> bool:
    session = _resumed(broker, inp)
    return session is not None and not session.subscriptions


def _connects(broker: Broker, inp: MqttInput) -> bool:
    packet = inp.packet if isinstance(inp, MqttMessage) else None
    nameless = isinstance(packet, MqttConnect) and not packet.client and not packet.flags & _CLEAN
    return nameless or _violations("level 9", "a will of QoS 3", "a password alone", "packet size 0")(broker, inp)


GROUPS: Final[dict[str, tuple[str, _Has]]] = {
    "again": ("a message of QoS 2 for the third time", _again),
    "brief": ("no Session Expiry Interval for a session with messages that wait, by MQTT 5.0", _brief),
    "connect": ("a CONNECT that has to be rejected", _connects),
    "dup": ("a message with DUP, for subscribers", _dup),
    "empty": ("resuming a session without subscriptions, by MQTT 3.1.1", _empty),
    "filter": ("a topic filter such as t#", _violations("subscribe to t#", "subscribe to t+")),
    "flags": ("a PINGREQ with wrong flags", _violations("pingreq with wrong flags")),
    "granted": ("a QoS of 0 or 1 for a topic filter with wildcards, or of a session that lasts", _granted),
    "identifier": (
        "a message with a subscription identifier, by MQTT 5.0",
        _violations("publish with a subscription identifier"),
    ),
    "large": ("a Maximum Packet Size of the client, by MQTT 5.0", _states("maximum_packet")),
    "length": ("a length with more bytes than it needs, by MQTT 5.0", _violations("length of two bytes")),
    "none": ("an UNSUBSCRIBE without a topic filter", _violations("unsubscribe from nothing")),
    "numbers": (
        "subscription identifiers of subscriptions that overlap, or of a session that lasts, by MQTT 5.0",
        _numbers,
    ),
    "options": ("other options for a topic filter that has a subscription, by MQTT 5.0", _options),
    "over": ("taking over a connection whose session does not last, by MQTT 5.0", _over),
    "overlap": ("subscriptions of a client that overlap and have another QoS", _overlap),
    "quota": ("refusing a message of QoS 2 with a Receive Maximum, by MQTT 5.0", _quota),
    "resend": ("messages for a client that comes back", _resend),
    "retained": ("a PUBREC for a retained message, in a session that lasts", _retained),
    "reuse": ("the identifier of a message of QoS 2 that an earlier session of the client left open", _reuse),
    "second": ("a second CONNECT of a client with a will, or with a session that lasts", _second),
    "share": ("shared subscriptions to retained messages, with No Local, and without a name or a filter", _share),
    "utf8": ("ill-formed UTF-8, and U+0000", _violations("ill-formed", "U+0000", "to a topic of")),
    "window": ("a Receive Maximum of the client, by MQTT 5.0", _states("receive_maximum")),
    "zero": ("a packet identifier of 0", _violations("publish with identifier 0", "subscribe with identifier 0")),
}
"""The groups of inputs by their names, with descriptions."""
ALSO: Final = {name: says for name, (says, _) in GROUPS.items()} | {"all": "all of these"}


def left_out(without: Iterable[str], broker: Broker, inp: MqttInput) -> bool:
    """Return whether an input is in one of these groups."""
    return any(GROUPS[each][1](broker, inp) for each in without)
