"""Messages from clients, and the acknowledgements of both sides (sections 3.3 to 3.7 and 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from otf.codec.mqtt import MqttPuback, MqttPubcomp, MqttPublish, MqttPubrec, MqttPubrel
from otf.models.mqtt.routing import by_share, flushed, matches, plain, routed
from otf.models.mqtt.state import QOS_2, Broker, InFlight, Publication, Session
from otf.models.mqtt.wants import FAILED, Plan, Want, property_of

SUCCESS: Final = frozenset({0, 0x10})
"""Reason codes of an acknowledgement: success, or no matching subscribers."""
FOUND: Final = frozenset({0, 0x92})
"""Reason codes for an unknown packet identifier."""


def published(plan: Plan, port: str, packet: MqttPublish) -> Iterator[Plan]:
    """Yield what may follow a PUBLISH of a connected client."""
    link, new = plan.state.link(port), plan.state.new
    if property_of(packet.properties, "topic_alias"):
        plan = plan.citing("", "3.3.2-12")
        plan = plan.then(plan.state.linking(port, replace(link, alias=packet.topic or link.alias)))
    if packet.dup:
        plan = plan.citing("3.3.1-3")
    packet = replace(packet, topic=packet.topic or link.alias)
    match packet.qos:
        case 0:
            yield from accepted(plan, _publication(packet), link.client)
        case 1:
            acknowledged = plan.wanting(port, Want(MqttPuback(packet.id), SUCCESS if new else frozenset()))
            acknowledged = acknowledged.citing("4.3.2-2 2.3.1-6 3.3.4-1", "4.3.2-4 4.3.2-5 2.2.1-5 3.3.4-1 3.4.2-1")
            yield from accepted(acknowledged, _publication(packet), link.client)
        case _:
            yield from _received(plan, port, packet)
    if new and packet.qos:
        kind = MqttPuback if packet.qos == 1 else MqttPubrec
        yield plan.wanting(port, Want(kind(packet.id), FAILED))  # the server may refuse any message


def _publication(packet: MqttPublish) -> Publication:
    properties = tuple(each for each in packet.properties if each.name != "topic_alias")
    return Publication(packet.topic, packet.payload, packet.qos, packet.retain, properties)


def accepted(plan: Plan, publication: Publication, publisher: str) -> Iterator[Plan]:
    """Yield the ways in which the server stores and delivers an accepted message."""
    if publication.retain:
        plan = plan.then(_retaining(plan.state, publication))
        if not publication.payload:
            plan = plan.citing("3.3.1-10", "3.3.1-6")
    else:
        plan = plan.then(plan.state.noting("passed", publication.topic))
    yield from routed(plan, publication, publisher)


def _retaining(state: Broker, publication: Publication) -> Broker:
    topic = publication.topic
    before = any(name == topic for name, _ in state.retained)
    after = state.retaining(topic, publication if publication.payload else None).forgetting(topic)
    if not publication.payload:
        return after.noting("emptied", topic)
    return after.noting("replaced", topic) if before and not publication.qos else after


def _received(plan: Plan, port: str, packet: MqttPublish) -> Iterator[Plan]:
    session = plan.state.session(plan.state.link(port).client)
    assert session is not None  # noqa: S101 -- the connection is up
    answered = plan.wanting(port, Want(MqttPubrec(packet.id), SUCCESS if plan.state.new else frozenset()))
    answered = answered.citing("4.3.3-2 2.3.1-6 3.3.4-1", "4.3.3-8 2.2.1-5 3.3.4-1 3.5.2-1")
    if packet.id in {number for number, *_ in session.incoming}:
        repeated = tuple(sorted({*session.repeated, packet.id}))
        again = answered.then(answered.state.holding(replace(session, repeated=repeated)))
        yield again.citing("4.3.3-2", "4.3.3-10")
        return
    message = _publication(packet)
    yield _owing(answered, session, packet.id, message, waits=True)
    yield from accepted(_owing(answered, session, packet.id, message, waits=False), message, session.client)


def _owing(plan: Plan, session: Session, number: int, message: Publication, *, waits: bool) -> Plan:
    incoming = (*session.incoming, (number, message, waits))
    return plan.then(plan.state.holding(replace(session, incoming=incoming)))


def released(plan: Plan, port: str, packet: MqttPubrel) -> Iterator[Plan]:
    """Yield what may follow a PUBREL of a connected client."""
    session = plan.state.session(plan.state.link(port).client)
    assert session is not None  # noqa: S101 -- the connection is up
    found = [(message, waits) for number, message, waits in session.incoming if number == packet.id]
    codes = frozenset({0}) if found else FOUND
    answered = plan.wanting(port, Want(MqttPubcomp(packet.id), codes if plan.state.new else frozenset()))
    answered = answered.citing("4.3.3-2", "4.3.3-11 4.3.3-12 3.7.2-1" if found else "4.3.3-11 3.7.2-1")
    left = tuple(each for each in session.incoming if each[0] != packet.id)
    repeated = tuple(each for each in session.repeated if each != packet.id)
    ways = [answered.then(answered.state.holding(replace(session, incoming=left, repeated=repeated)))]
    for message, waits in found:
        ways = list(accepted(ways[0], message, session.client)) if waits else ways
    yield from ways


def acknowledged(plan: Plan, port: str, packet: MqttPuback | MqttPubrec | MqttPubcomp) -> Iterator[Plan]:
    """Yield what may follow an acknowledgement of a message from the server."""
    session = plan.state.session(plan.state.link(port).client)
    assert session is not None  # noqa: S101 -- the connection is up
    found = next((each for each in session.flying if each.id == packet.id), None)
    if found is None or not _fits(found, packet):
        return
    if isinstance(packet, MqttPubrec) and (packet.reason or 0) < min(FAILED):
        flying = tuple(replace(each, released=True) if each is found else each for each in session.flying)
        after = plan.then(plan.state.holding(replace(session, flying=flying)))
        cited = after.citing("4.3.3-1 2.3.1-6", "4.3.3-4 2.2.1-5 3.6.2-1")
        if not any(matches(plain(each), found.publication.topic) for each in session.subscriptions):
            cited = cited.citing("3.10.4-3")
        yield cited.wanting(port, Want(MqttPubrel(packet.id)))
        return
    left = tuple(each for each in session.flying if each is not found)
    after = plan.then(plan.state.holding(replace(session, flying=left)))
    if (packet.reason or 0) >= min(FAILED):
        after = after.citing("", "4.4.0-2 4.8.2-6" if by_share(session, found.publication) else "4.4.0-2")
    if session.queue:
        after = after.citing("", "4.9.0-2 3.3.4-9")
    yield from flushed(after, session.client)


def _fits(found: InFlight, packet: MqttPuback | MqttPubrec | MqttPubcomp) -> bool:
    if isinstance(packet, MqttPubcomp):
        return found.released
    return found.publication.qos == (1 if isinstance(packet, MqttPuback) else QOS_2) and not found.released
