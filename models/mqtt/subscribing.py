"""SUBSCRIBE and UNSUBSCRIBE (sections 3.8 to 3.11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final

from otf.codec.mqtt import MqttFilter, MqttSuback, MqttSubscribe, MqttUnsuback, MqttUnsubscribe
from otf.models.mqtt.routing import SHARE, delivered, matches, retained_for
from otf.models.mqtt.state import Past, Session, Subscription
from otf.models.mqtt.wants import Plan, Want, property_of

REFUSED: Final = 0x80
NONE_EXISTED: Final = 0x11
_HANDLING: Final = 4
"""The shift of Retain Handling in the options of a subscription."""
_IF_NEW, _NEVER = 1, 2


def subscribed(plan: Plan, port: str, packet: MqttSubscribe) -> Iterator[Plan]:
    """Yield what may follow a SUBSCRIBE: the server grants each filter at most the requested QoS."""
    number = property_of(packet.properties, "subscription_id")
    plan = plan.citing(
        "3.8.4-1 3.8.4-2 2.3.1-7 3.8.4-5 3.9.3-2", "3.8.4-1 3.8.4-2 2.2.1-6 3.8.4-6 3.8.4-7 3.9.3-2 2.2.2-1"
    )
    if len(packet.filters) > 1:
        plan = plan.citing("3.8.4-4 3.9.3-1", "3.8.4-5 3.9.3-1")
    for codes in product(*([*range(each.qos & 3, -1, -1), REFUSED] for each in packet.filters)):
        granted = plan.wanting(port, Want(MqttSuback(packet.id, codes)))
        ways = [granted]
        for each, code in zip(packet.filters, codes, strict=True):
            ways = [after for way in ways for after in _granted(way, port, each, code, number)]
        yield from ways


def _granted(plan: Plan, port: str, wanted: MqttFilter, code: int, number: int) -> Iterator[Plan]:
    session = plan.state.session(plan.state.link(port).client)
    if code == REFUSED or session is None:
        yield plan
        return
    subscription = Subscription(wanted.topic, wanted.qos & ~3 | code, number)
    existed = wanted.topic in {each.filter for each in session.subscriptions}
    after = plan.then(plan.state.holding(_with(session, subscription)))
    if existed:
        after = after.citing("3.8.4-3", "3.8.4-3")
    yield from _retained(after, session.client, subscription, existed=existed)


def _with(session: Session, subscription: Subscription) -> Session:
    others = [each for each in session.subscriptions if each.filter != subscription.filter]
    kept = sorted([*others, subscription], key=lambda each: each.filter)
    return replace(session, subscriptions=tuple(kept))


def _retained(plan: Plan, client: str, subscription: Subscription, *, existed: bool) -> Iterator[Plan]:
    handling = subscription.options >> _HANDLING
    sends = not subscription.filter.startswith(SHARE) and handling != _NEVER and not (handling == _IF_NEW and existed)
    for copies in retained_for(plan.state, subscription):
        if not sends:
            silent = plan.citing("", "3.3.1-11" if handling == _NEVER else "3.3.1-10" if handling else "")
            yield silent if copies else plan
            return
        brings = plan
        if copies:
            brings = plan.citing("3.3.1-5 3.3.1-6 3.3.1-8", "3.3.1-5 3.3.1-10" if handling else "3.3.1-5 3.3.1-9")
        if copies and existed:
            brings = brings.citing("3.8.4-3", "3.8.4-4")
        for what, name in plan.state.past:
            if matches(subscription.filter, name) and (
                what != "outlived" or any(each.topic == name for each in copies)
            ):
                brings = brings.citing(*_PAST.get(what, ("", "")))
        yield from delivered(brings, client, copies)


_PAST: Final[dict[Past, tuple[str, str]]] = {
    "emptied": ("3.3.1-11", "3.3.1-7"),
    "passed": ("3.3.1-12", "3.3.1-8"),
    "replaced": ("3.3.1-7", ""),
    "outlived": ("3.1.2-7", ""),
}


def unsubscribed(plan: Plan, port: str, packet: MqttUnsubscribe) -> Iterator[Plan]:
    """Yield what may follow an UNSUBSCRIBE."""
    session = plan.state.session(plan.state.link(port).client)
    assert session is not None  # noqa: S101 -- the connection is up
    asked = [each.topic for each in packet.topics]
    there = [each.filter for each in session.subscriptions]
    left = tuple(each for each in session.subscriptions if each.filter not in asked)
    after = plan.then(plan.state.holding(replace(session, subscriptions=left)))
    after = after.citing("3.10.4-4 2.3.1-7", "3.10.4-4 3.10.4-5 2.2.1-6 3.11.3-2")
    if any(each in there for each in asked):
        after = after.citing("3.10.4-1 3.10.4-2", "3.10.4-1 3.10.4-2")
    if any(each not in there for each in asked):
        after = after.citing("3.10.4-5")
    if len(asked) > 1:
        after = after.citing("3.10.4-6", "3.10.4-6 3.11.3-1")
    codes = product(*([0] if each in there else [0, NONE_EXISTED] for each in asked)) if plan.state.new else [()]
    for each in codes:
        yield after.wanting(port, Want(MqttUnsuback(packet.id, (), tuple(each))))
