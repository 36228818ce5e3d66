"""How a message finds its subscribers, and when they get it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import permutations, product
from typing import Final

from otf.codec.mqtt import MqttCodec, MqttProperty, MqttPublish
from otf.models.mqtt.state import Broker, InFlight, Link, Publication, Session, Subscription
from otf.models.mqtt.wants import Plan, Want

NO_LOCAL, AS_PUBLISHED = 0x04, 0x08
SHARE: Final = "$share/"


@lru_cache(4096)
def matches(pattern: str, topic: str) -> bool:
    """Return whether a topic filter matches a topic name (section 4.7).

    >>> matches("t/#", "t"), matches("+", "t/u"), matches("#", "$x")
    (True, False, False)
    """
    if topic.startswith("$") and pattern[:1] in {"+", "#"}:
        return False
    levels, names = pattern.split("/"), topic.split("/")
    if levels[-1] == "#":
        levels, names = levels[:-1], names[: len(levels) - 1]
    return len(levels) == len(names) and all(level in {"+", name} for level, name in zip(levels, names, strict=True))


def plain(subscription: Subscription) -> str:
    """Return the topic filter of a subscription, without the name of its share."""
    text = subscription.filter
    return text.split("/", 2)[2] if text.startswith(SHARE) else text


def by_share(session: Session, publication: Publication) -> bool:
    """Return whether a session got a message only for a shared subscription."""
    found = [each.filter for each in session.subscriptions if matches(plain(each), publication.topic)]
    return bool(found) and all(each.startswith(SHARE) for each in found)


def routed(plan: Plan, publication: Publication, publisher: str) -> Iterator[Plan]:
    """Yield the ways in which a message from the client `publisher` reaches its subscribers."""
    ways = [plan]
    for session in plan.state.sessions:
        found = [each for each in session.subscriptions if matches(plain(each), publication.topic)]
        if publication.topic.startswith("$") and session.subscriptions:
            ways = [way.citing("4.7.2-1") for way in ways]
        own = [each for each in found if not each.filter.startswith(SHARE)]
        ways = [after for way in ways for after in _to_session(way, session.client, own, publication, publisher)]
    groups = {each.filter for session in plan.state.sessions for each in session.subscriptions}
    for name in sorted(group for group in groups if group.startswith(SHARE)):
        ways = [after for way in ways for after in _to_one_of(way, name, publication)]
    yield from ways


def _to_one_of(plan: Plan, name: str, publication: Publication) -> Iterator[Plan]:
    """Yield the ways in which one member of a share gets a message."""
    members = [
        (session.client, each)
        for session in plan.state.sessions
        for each in session.subscriptions
        if each.filter == name
    ]
    if not matches(plain(members[0][1]), publication.topic):
        yield plan
        return
    for client, subscription in members:
        yield from _sent(plan.citing("4.5.0-1", "4.8.2-3"), client, _copy(publication, [subscription]))


def _to_session(
    plan: Plan, client: str, found: list[Subscription], publication: Publication, publisher: str
) -> Iterator[Plan]:
    local = [each for each in found if each.options & NO_LOCAL and client == publisher]
    if local:
        plan = plan.citing("4.5.0-1", "3.8.3-3")
    wanted = [each for each in found if each not in local]
    if not wanted:
        yield plan
        return
    cited = _cited(plan, publication, wanted)
    if len(wanted) == 1:
        yield from _sent(cited, client, _copy(publication, wanted))
        return
    cited = cited.citing("3.3.5-1", "3.3.4-2")
    numbers = any(each.number for each in wanted)
    one = cited.citing("", "3.3.4-3 3.3.4-4") if numbers else cited
    for retain in sorted({_copy(publication, [each]).retain for each in wanted}):
        yield from _sent(one, client, replace(_copy(publication, wanted), retain=retain))
    # a server may send further copies, one for each additional subscription
    several = cited.citing("", "3.3.4-3 3.3.4-5") if numbers else cited
    copies = tuple(_copy(publication, [each]) for each in wanted)
    for order in dict.fromkeys(permutations(copies)) if _limited(plan.state, client) else [copies]:
        yield from delivered(several, client, order)


def _limited(state: Broker, client: str) -> bool:
    """Return whether a client gets only some messages now or on its return: then it matters which comes first."""
    session = state.session(client)
    if session is None or not session.port:
        return state.new  # it may come back with a Receive Maximum
    return state.link(session.port).window <= len(session.flying) + 1


def _cited(plan: Plan, publication: Publication, wanted: list[Subscription]) -> Plan:
    plan = plan.citing("4.5.0-1 3.3.2-3 3.8.4-6 3.3.1-3", "4.5.0-1 3.3.2-3 3.8.4-8 3.3.1-3 3.1.2-27")
    if any("+" in each.filter or "#" in each.filter for each in wanted):
        plan = plan.citing("4.7.1-2 4.7.1-3 3.8.3-2", "4.7.1-1 4.7.1-2")
    if publication.topic[0] in "/\ufeffT":
        plan = plan.citing("4.7.3-4 1.5.3-3", "4.7.3-4 1.5.4-3")
    if publication.retain:
        kept = all(each.options & AS_PUBLISHED for each in wanted)
        plan = plan.citing("3.3.1-9", "3.3.1-13" if kept else "3.3.1-12")
    for each in publication.properties:
        plan = plan.citing("", _UNALTERED.get(each.name, ""))
    return plan


_UNALTERED: Final = {
    "payload_format": "3.3.2-4",
    "message_expiry": "3.3.2-6",
    "response_topic": "3.3.2-15",
    "correlation_data": "3.3.2-16",
    "user": "3.3.2-17 3.3.2-18",
    "content_type": "3.3.2-20",
}


def _copy(publication: Publication, found: list[Subscription]) -> Publication:
    numbers = tuple(MqttProperty("subscription_id", each.number) for each in found if each.number)
    return replace(
        publication,
        qos=min(publication.qos, max(each.qos for each in found)),
        retain=publication.retain and any(each.options & AS_PUBLISHED for each in found),
        properties=publication.properties + numbers,
    )


def _sent(plan: Plan, client: str, copy: Publication) -> Iterator[Plan]:
    """Yield the ways in which a session gets its copy: now, later, or never."""
    session = plan.state.session(client)
    if session is None:
        yield plan
    elif not session.port:
        if copy.qos == 0:
            yield plan  # a server may choose to store these
        later = plan.then(plan.state.holding(replace(session, queue=(*session.queue, copy))))
        yield later.citing("3.1.2-5", "3.1.2-23") if copy.qos else later
    elif copy.qos == 0 or len(session.flying) < plan.state.link(session.port).window:
        yield from _now(plan, session, copy)
    else:
        later = plan.then(plan.state.holding(replace(session, queue=(*session.queue, copy))))
        yield later.citing("", "3.3.4-9 4.9.0-1 4.9.0-2")


def _now(plan: Plan, session: Session, copy: Publication) -> Iterator[Plan]:
    if not session.lasting:
        plan = plan.citing("4.1.0-2", "")
    if too_large(plan.state, session.port, copy):
        yield plan.citing("", "3.1.2-24 3.1.2-25")
    elif copy.qos == 0:
        yield plan.wanting(session.port, _want(copy)).citing("4.3.1-1 3.3.1-2 2.3.1-5", "4.3.1-1 3.3.1-2 2.2.1-2")
        if session.queue:  # only packets other than PUBLISH must not be delayed
            yield plan.then(plan.state.holding(replace(session, queue=(*session.queue, copy))))
    else:
        mark = min(set(range(1, len(session.flying) + 2)) - {each.mark for each in session.flying})
        flying = (*session.flying, InFlight(copy, mark))
        after = plan.then(plan.state.holding(replace(session, flying=flying)))
        numbers = "4.3.2-1 4.3.2-2" if copy.qos == 1 else "4.3.3-1 4.3.3-2"
        old = "4.3.2-1 2.3.1-4" if copy.qos == 1 else "4.3.3-1 2.3.1-4"
        yield after.wanting(session.port, _want(copy, mark)).citing(old, f"{numbers} 2.2.1-4")


def clear(state: Broker, link: Link, packet: MqttPublish) -> bool:
    """Return whether there are few explanations for what a session will get of a message that must wait.

    Each QoS 0 message for an absent client, and each message for several subscriptions, multiplies the explanations: a
    session has at most one such message at a time, with none behind it.
    """
    topic = packet.topic or link.alias
    for session in state.sessions:
        if session.queue and not (session.port and link.window > len(session.flying) + len(session.queue)):
            found = [each for each in session.subscriptions if matches(plain(each), topic)]
            shared = any(each.filter.startswith(SHARE) for each in found)
            if found and (shared or len(found) > 1 or not packet.qos or not found[0].qos):
                return False
    return True


def too_large(state: Broker, port: str, copy: Publication) -> bool:
    """Return whether a packet exceeds a client's Maximum Packet Size: then it counts as sent without being sent."""
    largest = state.link(port).largest
    return bool(largest) and len(MqttCodec(version=5).encode(_packet(copy))) > largest


def _packet(copy: Publication, number: int = 0, *, again: bool = False) -> MqttPublish:
    return MqttPublish(copy.topic, copy.payload, copy.qos, number, copy.retain, again, copy.properties)


def _want(copy: Publication, mark: int = 0) -> Want:
    return Want(_packet(copy), mark=mark, order=f"{copy.topic} {copy.qos}")


def again(state: Broker, each: InFlight) -> Want:
    """Return that a message in flight comes once more, ordered among all messages in 3.1.1, per topic in 5.0."""
    order = f"{each.publication.topic} {each.publication.qos}" if state.new else "again"
    return Want(_packet(each.publication, each.id, again=True), mark=each.mark, order=order)


def flushed(plan: Plan, client: str) -> Iterator[Plan]:
    """Yield the ways in which a connected session gets its waiting messages, as far as its window allows."""
    session = plan.state.session(client)
    if session is None or not session.port or not session.queue:
        yield plan
        return
    payloads = {(each.topic, each.qos, each.payload) for each in session.queue}
    if len({each[:2] for each in payloads}) < len(payloads):
        plan = plan.citing("4.6.0-5 4.6.0-6")
    head, *others = session.queue
    if head.qos and len(session.flying) >= plan.state.link(session.port).window:
        yield plan
        return
    waiting = replace(session, queue=tuple(others))
    for way in _now(plan.then(plan.state.holding(waiting)), replace(waiting, queue=()), head):
        yield from flushed(_requeued(way, client, waiting), client)


def _requeued(plan: Plan, client: str, waiting: Session) -> Plan:
    session = plan.state.session(client)
    return plan if session is None else plan.then(plan.state.holding(replace(session, queue=waiting.queue)))


def retained_for(state: Broker, subscription: Subscription) -> Iterator[list[Publication]]:
    """Yield the retained messages that a new subscription may bring; in 3.1.1 those of QoS 0 may get lost."""
    found = [kept for topic, kept in state.retained if matches(subscription.filter, topic)]
    choices: Iterable[tuple[bool, ...]] = product(
        *([True, False] if kept.qos == 0 and not state.new else [True] for kept in found)
    )
    for choice in choices:
        yield [
            replace(_copy(kept, [subscription]), retain=True)
            for kept, there in zip(found, choice, strict=True)
            if there
        ]


def delivered(plan: Plan, client: str, copies: Iterable[Publication]) -> Iterator[Plan]:
    """Yield the ways in which a session gets several messages."""
    ways = [plan]
    for copy in copies:
        ways = [after for way in ways for after in _sent(way, client, copy)]
    yield from ways
