"""How connections begin and end, with sessions, take-overs and wills (sections 3.1, 3.2, 3.14 and 4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from otf.codec.mqtt import MqttConnack, MqttConnect, MqttDisconnect, MqttPubrel, MqttSuback
from otf.codec.mqtt_fields import DATA, MANY_PROPERTIES, TEXT
from otf.models.mqtt.publishing import accepted
from otf.models.mqtt.routing import SHARE, again, by_share, flushed, too_large
from otf.models.mqtt.state import QOS_2, Broker, InFlight, Link, Publication, Session
from otf.models.mqtt.wants import FAILED, Plan, Want, property_of

CLEAN, WILL, WILL_RETAIN = 0x02, 0x04, 0x20
REJECTED: Final = 2
TAKEN_OVER: Final = frozenset({0x8E})
WITH_WILL: Final = 4
END: Final = Want(None)
_DEFAULT_WINDOW: Final = 65_535


def connected(plan: Plan, port: str, packet: MqttConnect) -> Iterator[Plan]:
    """Yield what may follow a valid CONNECT."""
    state, clean = plan.state, bool(packet.flags & CLEAN)
    if not packet.client:
        yield from _nameless(plan, port, clean=clean)
        if not clean and not state.new:
            return
    link = _link(state, port, packet)
    before = state.session(link.client)
    taken = _taken_over(plan, before) if before is not None and before.port else [plan]
    for way in taken:
        for begun in _begun(way, link, clean=clean):
            current = begun.state.session(link.client)
            present = current is not None
            lasting = bool(property_of(packet.properties, "session_expiry")) if state.new else not clean
            session = replace(current or Session(link.client), port=port, lasting=lasting, will=None)
            linked = begun.state.forgetting(link.client).linking(port, replace(link, fresh=present))
            session = replace(session, flying=tuple(each for each in session.flying if _fits(linked, port, each)))
            after = begun.then(linked.holding(session))
            after = _cited(after, clean=clean, present=present, assigned=not packet.client)
            if not clean and not present and ("closed", link.client) in state.past:
                after = after.citing("", "4.1.0-2")
            resumed = after.wanting(
                port,
                Want(MqttConnack(int(present), 0), early=True),
                *(_resent(begun.state, each) for each in session.flying),
            )
            resumed = resumed.citing(*_RESENT) if session.flying else resumed
            if any(each.publication.qos == QOS_2 and by_share(session, each.publication) for each in session.flying):
                resumed = resumed.citing("", "4.8.2-4")
            yield from flushed(resumed, link.client)


_RESENT: Final = (
    "4.4.0-1 3.3.1-1 4.6.0-1 4.1.0-1 2.3.1-4",
    "4.4.0-1 3.3.1-1 4.3.2-3 4.3.3-3 4.3.3-5 4.3.3-6",
)


def _fits(state: Broker, port: str, each: InFlight) -> bool:
    return each.released or not too_large(state, port, each.publication)


def _resent(state: Broker, each: InFlight) -> Want:
    return Want(MqttPubrel(each.id), order="released") if each.released else again(state, each)


def _cited(plan: Plan, *, clean: bool, present: bool, assigned: bool) -> Plan:
    plan = plan.citing(
        "3.1.4-4 3.2.0-1 3.1.3-5 3.1.4-3 7.1.1-1",
        "3.1.4-5 3.2.0-1 3.2.0-2 3.1.3-5 3.1.4-4 3.2.2-1 3.2.2-8 4.2-1 4.12.0-6 3.1.2-28",
    )
    if clean:
        plan = plan.citing("3.1.2-6 3.2.2-1", "3.1.2-4 3.2.2-2")
    elif present:
        plan = plan.citing("3.1.2-4 3.2.2-2 3.1.3-2 4.1.0-1", "3.1.2-5 3.2.2-3 3.1.3-2 3.1.2-23 4.1.0-1")
    else:
        plan = plan.citing("3.2.2-3", "3.1.2-6 3.2.2-3")
    return plan.citing("3.1.3-6", "3.1.3-6 3.1.3-7 3.2.2-16") if assigned else plan


def _link(state: Broker, port: str, packet: MqttConnect) -> Link:
    will, delayed = _will(packet, new=state.new) if packet.flags & WILL else (None, False)
    return Link(
        "up",
        packet.client or f"?{port}",
        will,
        delayed,
        property_of(packet.properties, "receive_maximum", _DEFAULT_WINDOW),
        property_of(packet.properties, "maximum_packet"),
        bool(property_of(packet.properties, "request_problem", 1)),
    )


def _will(packet: MqttConnect, *, new: bool) -> tuple[Publication, bool]:
    more, retain = packet.more, bool(packet.flags & WILL_RETAIN)
    properties, at = MANY_PROPERTIES.read(more, 0, len(more)) if new else ((), 0)
    topic, at = TEXT.read(more, at, len(more))
    payload, _ = DATA.read(more, at, len(more))
    kept = tuple(each for each in properties if each.name != "will_delay")
    return Publication(topic, payload, packet.flags >> 3 & 3, retain, kept), kept != properties


def _nameless(plan: Plan, port: str, *, clean: bool) -> Iterator[Plan]:
    """Yield that the server rejects a client without a ClientId, as 3.1.1 demands if it asks for a session."""
    codes = FAILED if plan.state.new else frozenset[int]()
    code = 0 if plan.state.new else REJECTED
    shut = plan.then(plan.state.linking(port, Link("shut")))
    cited = shut.citing("3.2.2-4 3.2.2-5 3.1.3-9" if clean else "3.2.2-4 3.2.2-5 3.1.3-8 3.1.3-9", "3.2.2-6 3.2.2-7")
    yield cited.wanting(port, Want(MqttConnack(0, code), codes, early=True), END)


def _taken_over(plan: Plan, before: Session) -> Iterator[Plan]:
    plan = plan.citing("3.1.4-2 3.1.3-2", "3.1.4-3 3.1.3-2")
    for way in ended(plan, before.port):
        closed = way.then(way.state.linking(before.port, Link("shut"))).wanting(before.port, END)
        yield closed
        if plan.state.new:
            yield closed.wanting(before.port, Want(MqttDisconnect(), TAKEN_OVER))


def _begun(plan: Plan, link: Link, *, clean: bool) -> Iterator[Plan]:
    """Yield the ways in which the previous session is gone, or can be resumed."""
    before = plan.state.session(link.client)
    if before is None:
        yield plan
    elif not clean:
        yield plan.citing("", "3.1.3-9") if before.will else plan
    else:
        without = _gone(plan, before)
        yield without
        if before.will:  # the session ends, so the server may publish its will
            yield from accepted(without, before.will, link.client)


def _gone(plan: Plan, session: Session) -> Plan:
    """Return the plan after the end of a session; its unacknowledged shared messages go to nobody else."""
    topics = [topic for topic, _ in plan.state.retained]
    shares = {each.filter for each in session.subscriptions if each.filter.startswith(SHARE)}
    others = {each.filter for other in plan.state.sessions if other is not session for each in other.subscriptions}
    if shares & others and any(by_share(session, each.publication) for each in session.flying):
        plan = plan.citing("", "4.8.2-5")
    open_ones = (f"{session.client} {number}" for number, *_ in session.incoming)
    after = plan.state.without(session.client).noting("outlived", *topics)
    return plan.then(after.noting("unreleased", *open_ones))


def ended(plan: Plan, port: str, *, graceful: bool = False) -> Iterator[Plan]:
    """Yield how the end of a connection looks to others: the server publishes the will unless it ends gracefully."""
    link = plan.state.link(port)
    session = plan.state.session(link.client)
    assert session is not None  # noqa: S101 -- the connection was up
    plan = plan.then(plan.state.linking(port, Link("leaving")))
    will = None if graceful else link.will
    later = will if link.delayed and session.lasting else None
    left = replace(session, port="", will=later)
    after = plan.then(plan.state.holding(left)) if session.lasting else _gone(plan, session)
    if not session.lasting:
        after = after.then(after.state.noting("closed", link.client))
    if link.will and graceful:
        yield after.citing("3.14.4-3 3.1.2-10", "3.14.4-3 3.1.2-10")
    elif will and not later:
        after = after.citing("3.1.2-8 3.1.2-9", "3.1.2-7 3.1.2-8 3.1.2-9")
        kept = ("3.1.2-17", "3.1.2-15") if will.retain else ("3.1.2-16", "3.1.2-14")
        yield from accepted(after.citing(*kept), will, link.client)
    else:
        yield after


def disconnected(plan: Plan, port: str, packet: MqttDisconnect) -> Iterator[Plan]:
    """Yield what may follow a DISCONNECT: the server closes the connection, or leaves that to the client."""
    for way in ended(plan, port, graceful=not packet.reason):
        yield way.wanting(port, END).then(way.state.linking(port, Link("shut")))
        yield way


def halted(plan: Plan, port: str) -> Iterator[Plan]:
    """Yield what follows the end of a client's stream: the end of the connection."""
    ways = ended(plan, port) if plan.state.link(port).status == "up" else [plan]
    for way in ways:
        cited = way if plan.state.link(port).will else way.citing("3.1.2-12", "")
        yield cited.wanting(port, END).then(way.state.linking(port, Link("shut")))


def refused(plan: Plan, port: str, old: str, new: str) -> Iterator[Plan]:
    """Yield what follows a violation: the connection ends; an MQTT 5.0 server may first say why."""
    if plan.state.link(port).status == "up":
        ways, last = ended(plan, port), Want(MqttDisconnect(), FAILED)
    else:
        ways, last = iter([plan]), Want(MqttConnack(0, 0), FAILED, early=True)
    for way in ways:
        shut = way.then(way.state.linking(port, Link("shut"))).wanting(port, END).citing(old, new)
        yield shut
        if plan.state.new:
            yield shut.wanting(port, last).citing(
                "", _SAID if isinstance(last.packet, MqttDisconnect) else _TURNED_AWAY
            )


_SAID: Final = "4.13.1-1 4.13.2-1 3.14.2-1 3.14.2-2 3.14.4-1 3.14.4-2"
_TURNED_AWAY: Final = "3.2.2-6 3.2.2-7 3.14.0-1"


def denied(plan: Plan, port: str, number: int, old: str, new: str) -> Iterator[Plan]:
    """Yield what follows an invalid filter: the end of the connection, or a failed subscription."""
    yield from refused(plan, port, old, new)
    yield plan.wanting(port, Want(MqttSuback(number, (min(FAILED),)))).citing(old, new)
