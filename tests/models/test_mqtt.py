"""The model of a broker: what it demands, and what it leaves to the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import pytest

from otf.adapter import Bench
from otf.codec.mqtt import (
    MqttConnack,
    MqttConnect,
    MqttDisconnect,
    MqttFilter,
    MqttProperty,
    MqttPuback,
    MqttPubcomp,
    MqttPublish,
    MqttPubrec,
    MqttPubrel,
    MqttSuback,
    MqttSubscribe,
    MqttTopic,
    MqttUnsuback,
    MqttUnsubscribe,
    MqttVersion,
)
from otf.core import Monitor
from otf.core.nodes import Node
from otf.core.requirement_evidence import RequirementEvidence
from otf.models.mqtt import bench, mqtt, requirements_of
from otf.models.mqtt.messages import MqttClientsCodec, MqttDial, MqttHalt, MqttMessage, MqttPacket, MqttViolation
from otf.models.mqtt.state import Broker
from otf.models.mqtt.violations import rules_of
from otf.testing import check_codec
from otf.trace.events import Closed, Event, Quiet, Seen, Sent

Step = tuple[object, ...]


def at(client: str, *packets: MqttPacket) -> Step:
    """Return a step: a packet from a client, and the packets that it gets."""
    return tuple(MqttMessage(client, packet) for packet in packets)


def _judged(*script: Step, version: MqttVersion = 4) -> str:
    """Return the outcome of a script, in which a text such as "end a" is the end of a connection."""
    return after(*script, version=version).end().outcome


def after(*script: Step, version: MqttVersion = 4) -> Monitor:
    """Return the judge of a script after its last step."""
    monitor = Monitor(_tested(version).oracle())
    for event in _events(script, version):
        monitor.tell(event)
    return monitor


def _covered(*script: Step, version: MqttVersion) -> set[str]:
    """Return the requirements without which the script has no explanation."""
    monitor, evidence = Monitor(_tested(version).oracle()), RequirementEvidence()
    for event in _events(script, version):
        assert monitor.tell(event) is None
        evidence.follow(event, monitor)
    return evidence.decided


def _tested(version: MqttVersion) -> Bench:
    return bench(version="5" if version == 5 else "3.1.1")


def _events(script: Iterable[Step], version: MqttVersion) -> Iterator[Event]:
    tested, at = _tested(version), 0.0
    for inp, *outputs in script:
        at += 1e-6
        yield Sent(inp, tested.port(inp), at)
        for output in outputs:
            ended = isinstance(output, str)
            yield Closed(str(output)[-1], "", at) if ended else Seen(output, tested.port(output), at)
        yield Quiet(at)


A = at("a", MqttConnect(2, 0, "otfA"), MqttConnack(0, 0))
B = at("b", MqttConnect(2, 0, "otfB"), MqttConnack(0, 0))
LASTING = at("b", MqttConnect(0, 0, "otfB"), MqttConnack(0, 0))
T = at("b", MqttSubscribe(9, (MqttFilter("t", 1),)), MqttSuback(9, (1,)))
ALL = at("b", MqttSubscribe(9, (MqttFilter("#", 1),)), MqttSuback(9, (1,)))
PUBLISH = at("a", MqttPublish("t", b"y", 1, 10), MqttPuback(10))
GOT = at("b", MqttPublish("t", b"y", 1, 5))
AWAY = (MqttHalt("b"), "end b")
DIAL = (MqttDial("b"),)
RESUMED = at("b", MqttConnect(0, 0, "otfB"), MqttConnack(1, 0))
RETAIN = at("a", MqttPublish("t", b"r", 1, 10, retain=True), MqttPuback(10))
WILL = at("b", MqttConnect(0x06, 0, "otfB", b"\0\1w\0\4away"), MqttConnack(0, 0))
HEARS = at("a", MqttSubscribe(9, (MqttFilter("w", 1),)), MqttSuback(9, (1,)))
LAST = at("a", MqttPublish("w", b"away"))
BROKEN = MqttViolation("c", "second connect", rules_of(4)["second connect"].raw)
C = at("c", MqttConnect(2, 0, "otfC"), MqttConnack(0, 0))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([A, B, T, PUBLISH + GOT], "pass"),
        ([A, B, T, (*GOT[:0], *PUBLISH[:1], *GOT, *PUBLISH[1:])], "pass"),
        ([A, B, T, PUBLISH], "fail"),
        ([A, B, T, PUBLISH + GOT + GOT], "fail"),
        ([A, B, PUBLISH + GOT], "fail"),
        ([A, B, T, PUBLISH + at("b", MqttPublish("t", b"y"))], "fail"),  # QoS 1 was granted
        ([A, B, T, ALL, PUBLISH + GOT], "pass"),
        ([A, B, T, ALL, PUBLISH + GOT + at("b", MqttPublish("t", b"y", 1, 6))], "pass"),  # a copy each
        ([A, B, T, ALL, PUBLISH + GOT + GOT], "fail"),  # two messages in flight have two identifiers
        ([A, RETAIN, B, (*T, *at("b", MqttPublish("t", b"r", 1, 5, retain=True)))], "pass"),
        ([A, RETAIN, B, T], "fail"),
        ([A, RETAIN, B, (*T, *at("b", MqttPublish("t", b"r", 1, 5)))], "fail"),
        ([A, B, T, at("b", MqttUnsubscribe(8, (MqttTopic("t"),)), MqttUnsuback(8)), PUBLISH], "pass"),
    ],
)
def test_messages_reach_their_subscribers(script: list[Step], outcome: str) -> None:
    """With the QoS that was granted, once or for each subscription, and retained ones to new subscriptions."""
    assert _judged(*script) == outcome


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (
            [A, LASTING, T, PUBLISH + GOT, AWAY, DIAL, (*RESUMED, *at("b", MqttPublish("t", b"y", 1, 5, dup=True)))],
            "pass",
        ),
        ([A, LASTING, T, PUBLISH + GOT, AWAY, DIAL, (*RESUMED, *at("b", MqttPublish("t", b"y", 1, 5)))], "fail"),
        ([A, LASTING, T, PUBLISH + GOT, AWAY, DIAL, RESUMED], "fail"),
        ([A, LASTING, T, AWAY, PUBLISH, DIAL, RESUMED + GOT], "pass"),
        ([A, LASTING, T, AWAY, PUBLISH, DIAL, RESUMED], "fail"),
        ([A, LASTING, T, AWAY, PUBLISH, DIAL, B], "pass"),
        ([A, B, T, AWAY, DIAL, RESUMED], "fail"),
        ([A, HEARS, WILL, (*AWAY, *LAST)], "pass"),
        ([A, HEARS, WILL, AWAY], "fail"),
        ([A, HEARS, WILL, (*at("b", MqttDisconnect()), "end b")], "pass"),
        ([A, HEARS, WILL, (*at("b", MqttDisconnect()), "end b", *LAST)], "fail"),
        ([C, (BROKEN, "end c")], "pass"),
        ([C, (BROKEN,)], "fail"),
        ([A, at("c", MqttConnect(2, 0, "otfA"), MqttConnack(0, 0))], "fail"),
        ([A, (*at("c", MqttConnect(2, 0, "otfA")), "end a", *at("c", MqttConnack(0, 0)))], "pass"),
    ],
)
def test_sessions_outlast_their_connections(script: list[Step], outcome: str) -> None:
    """Unacknowledged messages come again, others are kept, wills are published, and violations end a connection."""
    assert _judged(*script) == outcome


TWICE = at("a", MqttPublish("t", b"z", 2, 20), MqttPubrec(20))
Z = at("b", MqttPublish("t", b"z", 1, 3))
RELEASE = at("a", MqttPubrel(20), MqttPubcomp(20))
AGAIN = at("a", MqttPublish("t", b"z", 2, 20, dup=True), MqttPubrec(20))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([A, B, T, TWICE + Z, RELEASE], "pass"),
        ([A, B, T, TWICE, RELEASE + Z], "pass"),
        ([A, B, T, TWICE, AGAIN, RELEASE + Z], "pass"),
        ([A, B, T, TWICE + Z, AGAIN + Z, RELEASE], "fail"),
        ([A, B, T, TWICE, RELEASE], "fail"),
    ],
)
def test_exactly_once_is_delivered_before_or_after_the_release(script: list[Step], outcome: str) -> None:
    """Which of these is the server's choice; the same identifier brings no second message."""
    assert _judged(*script) == outcome


def _connack(*properties: MqttProperty, session: int = 0) -> MqttConnack:
    return MqttConnack(session, 0, properties)


NEW = at("a", MqttConnect(2, 0, "otfA"), _connack(MqttProperty("topic_alias_maximum", 3)))
ONE = (MqttProperty("session_expiry", 3600), MqttProperty("receive_maximum", 1))
SLOW = at("b", MqttConnect(0, 0, "otfB", b"", ONE), _connack())
FIRST, SECOND = (at("b", MqttPublish("t", b"y", 1, number)) for number in (1, 2))
FIVE = (MqttProperty("subscription_id", 5),)
STORED = at("b", MqttConnect(0, 0, "otfB", b"", ONE[:1]), _connack())
NUMBERED = at("b", MqttSubscribe(9, (MqttFilter("#", 1),), FIVE), MqttSuback(9, (1,)))
BACK = at("b", MqttConnect(0, 0, "otfB", b"", ONE), _connack(session=1))
FIFTH = at("b", MqttPublish("t", b"y", 1, 1, properties=FIVE))
ALIAS = (MqttProperty("topic_alias", 1),)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([NEW, SLOW, T, PUBLISH + FIRST, PUBLISH, at("b", MqttPuback(1)) + SECOND], "pass"),
        ([NEW, SLOW, T, PUBLISH + FIRST, PUBLISH + SECOND], "fail"),
        ([NEW, SLOW, T, at("a", MqttPublish("t", b"y", 1, 10), MqttPuback(10, 0x97))], "pass"),  # it was refused
        # a copy for each subscription, of which a client that comes back gets either first
        ([NEW, STORED, T, NUMBERED, AWAY, PUBLISH, DIAL, (*BACK, *FIRST)], "pass"),
        ([NEW, STORED, T, NUMBERED, AWAY, PUBLISH, DIAL, (*BACK, *FIFTH)], "pass"),
        ([NEW, at("a", MqttPublish("t", b"i", properties=ALIAS))], "pass"),
        (
            [
                *(
                    NEW,
                    SLOW,
                    T,
                    (*at("a", MqttPublish("t", b"i", properties=ALIAS)), *at("b", MqttPublish("t", b"i"))),
                ),
                (*at("a", MqttPublish("", b"j", properties=ALIAS)), *at("b", MqttPublish("t", b"j"))),
            ],
            "pass",
        ),
        ([at("a", MqttConnect(2, 0, "otfA"), _connack(MqttProperty("response_information", "x")))], "fail"),
        ([at("c", MqttConnect(2, 0, ""), _connack(MqttProperty("assigned_client", "x")))], "pass"),
        ([at("c", MqttConnect(2, 0, ""), _connack())], "fail"),
        (
            [
                NEW,
                (
                    *at("c", MqttConnect(2, 0, "otfA")),
                    *at("a", MqttDisconnect(0x8E, ())),
                    "end a",
                    *at("c", _connack()),
                ),
            ],
            "pass",
        ),
        (
            [
                NEW,
                (
                    *at("c", MqttConnect(2, 0, "otfA")),
                    *at("a", MqttDisconnect(0x81, ())),
                    "end a",
                    *at("c", _connack()),
                ),
            ],
            "fail",
        ),
    ],
)
def test_version_5_has_reasons_and_properties(script: list[Step], outcome: str) -> None:
    """Receive Maximum, topic aliases, refused messages, and what a CONNACK and a DISCONNECT say."""
    assert _judged(*script, version=5) == outcome


THREE = [at("b", MqttSubscribe(9, (MqttFilter(each, 1),)), MqttSuback(9, (1,))) for each in ("t", "#", "t/#")]


def test_the_set_of_explanations_stays_small() -> None:
    """Equal copies are one explanation in any order, and what a client that is away may get is not multiplied."""
    copies = tuple(MqttMessage("b", MqttPublish("t", b"y", 1, number)) for number in (5, 6, 7))
    assert len(after(A, LASTING, *THREE, PUBLISH + copies).belief.hypotheses) == 1
    away = after(A, LASTING, T, AWAY, at("a", MqttPublish("t", b"x"))).belief
    assert len(away.hypotheses) == 2  # it was stored, or not
    again = MqttMessage("a", MqttPublish("t", b"x"))
    states = [cast("Broker", each.position.value) for each in away.hypotheses if isinstance(each.position, Node)]
    assert sorted(mqtt().specifies(each, again) for each in states) == [False, True]


@pytest.mark.parametrize("version", [4, 5])
def test_every_input_has_bytes_and_every_number_is_in_the_table(version: MqttVersion) -> None:
    """No group of inputs names a violation, or a statement, that there is not."""
    codec, spec = MqttClientsCodec(version), mqtt(version)
    messages = [each for each in spec.inputs(spec.initial) if isinstance(each, MqttMessage)]
    check_codec(codec, messages, rounds=20)
    numbers = {
        f"MQTT-{each}"
        for rule in rules_of(version).values()
        for each in (rule.new if version == 5 else rule.old).split()
    }
    assert numbers <= set(requirements_of(version))


def test_a_server_without_shared_subscriptions_is_not_asked_for_them() -> None:
    """It says so in its CONNACK: neither a share nor a wrong one is tried."""
    monitor = after(at("c", MqttConnect(2, 0, "otfC"), _connack(MqttProperty("shared_available", 0))), version=5)
    (node,) = (each.position for each in monitor.belief.hypotheses)
    state = cast("Broker", cast("Node", node).value)
    assert not any("share" in repr(each) for each in mqtt(5).inputs(state))


CLEARED = at("a", MqttPublish("t", b"", retain=True))
KEPT = (*T, *at("b", MqttPublish("t", b"r", 1, 5, retain=True)))
STALE = (*T, *at("b", MqttPublish("t", b"q", retain=True)))
LATE = at("a", MqttPublish("t", b"r", 1, 10), MqttPuback(10))
BOTH = RESUMED + GOT + at("b", MqttPublish("t", b"r", 1, 6))
TAKEN = at("b", MqttSubscribe(9, (MqttFilter("t", 2),)), MqttSuback(9, (2,)))
TOLD = (*TWICE, *at("b", MqttPublish("t", b"z", 2, 3)))
LEFT = at("b", MqttUnsubscribe(8, (MqttTopic("t"),)), MqttUnsuback(8))
RELEASED = at("b", MqttPubrec(3), MqttPubrel(3))
ENDS = (MqttHalt("a"), "end a")


@pytest.mark.parametrize(
    ("script", "old", "new"),
    [
        ([A, B, RETAIN, CLEARED, T], "3.3.1-11", "3.3.1-7"),
        ([A, B, RETAIN, at("a", MqttPublish("t", b"x")), KEPT], "3.3.1-12", "3.3.1-8"),
        ([A, B, RETAIN, at("a", MqttPublish("t", b"q", retain=True)), STALE], "3.3.1-7", ""),
        ([A, B, RETAIN, ENDS, KEPT], "3.1.2-7", ""),
        ([A, LASTING, T, AWAY, PUBLISH, LATE, DIAL, BOTH], "4.6.0-6", ""),
        ([A, B, TAKEN, TOLD, LEFT, RELEASED], "3.10.4-3", ""),
        ([A, B, T, PUBLISH + GOT], "4.1.0-2", ""),
    ],
)
def test_what_happened_before_decides_a_statement_later(script: list[Step], old: str, new: str) -> None:
    """Retained messages that are gone or stay, messages in their order, and what was begun and is completed."""
    assert f"MQTT-{old}" in _covered(*script, version=4)
    assert not new or f"MQTT-{new}" in _covered(*script, version=5)


SHARED = at("b", MqttSubscribe(9, (MqttFilter("$share/g/t", 2),)), MqttSuback(9, (2,)))
SHORT = at("b", MqttConnect(0, 0, "otfB"), _connack())
OWNER = at("a", MqttConnect(0, 0, "otfA", b"", ONE[:1]), _connack())
OWNED = at("a", MqttConnect(0, 0, "otfA", b"", ONE[:1]), _connack(session=1))
DIAL_A = (MqttDial("a"),)
QUIETLY = at("b", MqttConnect(2, 0, "otfB", b"", (MqttProperty("request_problem", 0),)), _connack())
SENT = (*TWICE, *at("b", MqttPublish("t", b"z", 2, 3)))
RESENT = (*BACK, *at("b", MqttPublish("t", b"z", 2, 3, dup=True)))


@pytest.mark.parametrize(
    ("script", "number"),
    [
        ([SHORT, AWAY, DIAL, SHORT], "4.1.0-2"),
        ([OWNER, TWICE, ENDS, DIAL_A, OWNED, AGAIN], "4.3.3-10"),
        ([QUIETLY, T], "3.1.2-29"),
        ([NEW, STORED, SHARED, SENT, at("b", MqttPubrec(3, 0x80, ()))], "4.8.2-6"),
        ([NEW, STORED, SHARED, SENT, AWAY, DIAL, RESENT], "4.8.2-4"),
    ],
)
def test_statements_of_5(script: list[Step], number: str) -> None:
    """Sessions that end with their connection, repeated messages, problem information, and shares."""
    assert f"MQTT-{number}" in _covered(*script, version=5)
