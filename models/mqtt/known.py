"""The known issues of servers: their departures from the standards, by the groups of inputs that show them.

We saw each without otf too, byte by byte; `docs/findings/` has the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from otf.adapter import KnownIssue
from otf.codec.mqtt import MqttVersion
from otf.models.serving import known_issue
from otf.trace.verdict import Failure

MOSQUITTO, AEDES, AEDES_2 = "mosquitto", "aedes", "aedes2"
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class GroupIssue:
    """A known issue that a group of inputs shows; the statements by their numbers in 3.1.1 and in 5.0.

    `vague`: if the bench tries all groups, a failure does not distinguish it from other vague ones.
    """

    group: str
    issue: KnownIssue
    old: str = ""
    new: str = ""
    vague: bool = False


def _of(group: str, says: str, *words: str, old: str = "", new: str = "", vague: bool = False) -> GroupIssue:
    return GroupIssue(group, known_issue(says, *words), old, new, vague)


def _beta(group: str, says: str, *words: str, new: str, vague: bool = False) -> GroupIssue:
    return _of(group, f"aedes 2.0.0-beta.1 {says}", *words, new=new, vague=vague)


def _begins(group: str, says: str, connack: str, new: str) -> GroupIssue:
    """Return an issue of a CONNACK; the output may be the end of the connection that is taken over."""

    def shows(failure: Failure) -> bool:
        after = failure.kind == "ended" or "MqttDisconnect(" in failure.seen
        return any(connack in each for each in (failure.seen, *(failure.before if after else ())))

    return GroupIssue(group, KnownIssue(shows, f"aedes 2.0.0-beta.1 {says}"), new=new)


def _is_brief(failure: Failure) -> bool:
    return failure.kind == "missing" and "MqttConnect(" in failure.input and "session_expiry" not in failure.input


KNOWN: Final = {
    MOSQUITTO: (
        _of(
            "flags",
            "mosquitto 2.0.11 answers a PINGREQ with wrong flags",
            "pingreq with wrong flags",
            old="2.2.2-1 2.2.2-2",
            new="2.1.3-1",
        ),
        _of(
            "identifier",
            "mosquitto 2.0.11 takes a message with a subscription identifier",
            "publish with a subscription identifier",
            new="3.3.4-6",
        ),
        _of(
            "again",
            "mosquitto 2.0.11 closes when a message of QoS 2 comes for the third time",
            "dup=True",
            "ended",
            old="4.3.3-2",
            new="4.3.3-10",
        ),
        _of("share", "mosquitto 2.0.11 takes a share with No Local", "no local on a share", new="3.8.3-4"),
        _of("share", "mosquitto 2.0.11 takes a share without a name", "a share without a name", new="4.8.2-1"),
        _of("share", "mosquitto 2.0.11 takes a share without a filter", "a share without a filter", new="4.8.2-2"),
        _of("share", "mosquitto 2.0.11 sends retained messages to shares", "$share/", "MqttPublish("),
        _of(
            "second",
            "mosquitto 2.0.11 publishes no will of a client that sends a second CONNECT",
            "second connect",
            old="3.1.2-8",
            new="3.1.2-8",
        ),
        _of(
            "second",
            "mosquitto 2.0.11 ends the session at a second CONNECT",
            "MqttConnack(session=0",
            old="3.1.2-4",
            new="3.1.2-23",
        ),
        _of(
            "options",
            "mosquitto 2.0.11 keeps No Local and Retain As Published of the subscription that another one replaces",
            "MqttPublish(",
            new="3.8.4-3",
            vague=True,
        ),
        _of(
            "overlap",
            "mosquitto 2.0.11 sends a message with the QoS of one of several subscriptions, not with the highest",
            "MqttPublish(",
            old="3.3.5-1",
            new="3.3.4-2",
            vague=True,
        ),
        GroupIssue(
            "quota",
            KnownIssue(
                lambda failure: failure.kind == "missing",
                "mosquitto 2.0.11 sends no more messages after a PUBREC with an error if the Receive Maximum is 1",
            ),
            new="4.4.0-2",
        ),
    ),
    AEDES: (
        _of("utf8", "aedes 1.2.0 takes U+0000", "U+0000", old="1.5.3-2 4.7.3-2"),
        _of("utf8", "aedes 1.2.0 takes an ill-formed topic", "publish to a topic of", old="1.5.3-1 3.3.2-1"),
        _of(
            "utf8",
            "aedes 1.2.0 subscribes to an ill-formed filter",
            "subscribe to an ill-formed filter",
            old="1.5.3-1 3.8.3-1",
        ),
        _of(
            "utf8",
            "aedes 1.2.0 unsubscribes from an ill-formed filter",
            "from an ill-formed filter",
            old="1.5.3-1 3.10.3-1",
        ),
        _of("utf8", "aedes 1.2.0 takes an ill-formed CONNECT", "connect with an ill-formed", old="1.5.3-1 3.1.4-1"),
        _of("zero", "aedes 1.2.0 takes the packet identifier 0", "with identifier 0", old="2.3.1-1"),
        _of("none", "aedes 1.2.0 answers an UNSUBSCRIBE without a filter", "unsubscribe from nothing", old="3.10.3-2"),
        _of("filter", "aedes 1.2.0 takes the filter t#", "subscribe to t#", old="4.7.1-2"),
        _of("filter", "aedes 1.2.0 takes the filter t+", "subscribe to t+", old="4.7.1-3"),
        _of("connect", "aedes 1.2.0 takes a will of QoS 3", "a will of QoS 3", old="3.1.4-1 3.1.2-14"),
        _of("connect", "aedes 1.2.0 takes a password without a user", "a password alone", old="3.1.4-1 3.1.2-22"),
        _of("connect", "aedes 1.2.0 rejects another level without a CONNACK", "level 9", old="3.1.2-2"),
        _of("connect", "aedes 1.2.0 takes a lasting session without a ClientId", "client=''", old="3.1.3-8"),
        _of("dup", "aedes 1.2.0 passes DUP on to subscribers", "dup=True", old="3.3.1-3"),
        _of("retained", "aedes 1.2.0 closes at the PUBREC for a retained message", "MqttPubrec(", old="4.3.3-1"),
        _of("empty", "aedes 1.2.0 keeps no session without subscriptions", "MqttConnack(session=0", old="3.2.2-2"),
        _of(
            "resend", "aedes 1.2.0 sends again without DUP, with RETAIN, or not", "MqttConnect(", old="4.4.0-1 3.3.1-1"
        ),
        _of(
            "overlap",
            "aedes 1.2.0 sends a message with the QoS of one of several subscriptions",
            old="3.3.5-1",
            vague=True,
        ),
        _of("granted", "aedes 1.2.0 sends a message with a higher QoS than it granted", old="3.8.4-6", vague=True),
    ),
    AEDES_2: (
        _beta("utf8", "takes U+0000", "U+0000", new="1.5.4-2 4.7.3-2"),
        _beta("utf8", "takes an ill-formed topic", "publish to a topic of", new="1.5.4-1 3.3.2-1"),
        _beta("utf8", "takes an ill-formed filter", "an ill-formed filter", new="1.5.4-1"),
        _beta("utf8", "takes an ill-formed CONNECT", "connect with an ill-formed", new="3.1.4-1 1.5.4-1"),
        _beta("utf8", "takes ill-formed text in a property of a message", "'ill-formed ", new="1.5.4-1"),
        _beta("zero", "takes the packet identifier 0", "with identifier 0", new="2.2.1-3"),
        _beta("filter", "takes the filter t#", "subscribe to t#", new="4.7.1-1"),
        _beta("filter", "takes the filter t+", "subscribe to t+", new="4.7.1-2"),
        _beta("connect", "takes a will of QoS 3", "a will of QoS 3", new="3.1.4-1 3.1.2-12"),
        _beta("connect", "takes a Maximum Packet Size of 0", "maximum packet size 0", new="3.1.4-1"),
        _beta("identifier", "takes a subscription identifier in a message", "a subscription identifier", new="3.3.4-6"),
        _beta("length", "takes a length with a byte too many", "length of two bytes", new="1.5.5-1"),
        _beta("retained", "closes at the PUBREC for a retained message", "MqttPubrec(", new="4.3.3-4"),
        _begins("empty", "keeps no session without subscriptions", "MqttConnack(session=0", new="3.2.2-3"),
        _begins("over", "resumes a session that a take-over has ended", "MqttConnack(session=1", new="4.1.0-2"),
        GroupIssue(
            "brief",
            KnownIssue(_is_brief, "aedes 2.0.0-beta.1 keeps the messages of a session back"),
            new="3.1.2-5 4.4.0-1",
        ),
        _beta("resend", "sends again without DUP, with RETAIN, or not", "MqttConnect(", new="4.4.0-1 3.3.1-1"),
        _beta("window", "sends more than the Receive Maximum", "MqttPublish(", new="3.3.4-9 4.9.0-2", vague=True),
        _beta("large", "exceeds the Maximum Packet Size", "MqttPublish(", new="3.1.2-24", vague=True),
        _beta("numbers", "sends not all subscription identifiers", "MqttPublish(", new="3.3.4-3", vague=True),
        _beta(
            "overlap",
            "sends a message with the QoS of one of several subscriptions",
            "MqttPublish(",
            new="3.3.4-2",
            vague=True,
        ),
        _beta(
            "granted", "sends a message with a higher QoS than it granted", "MqttPublish(", new="3.8.4-8", vague=True
        ),
        _beta(
            "reuse", "remembers the messages of QoS 2 of a session that has ended", new="3.1.2-4 4.1.0-2", vague=True
        ),
    ),
}
"""The known issues by the names of the servers."""


def groups_of(server: str) -> tuple[str, ...]:
    """Return the groups of inputs after which a server departs from the standards."""
    return tuple(dict.fromkeys(each.group for each in KNOWN.get(server, ())))


def issues_of(server: str, version: MqttVersion, also: str) -> Iterator[KnownIssue]:
    """Yield the known issues that a group, or all of them, show, with the statements of a version."""
    found = [each for each in KNOWN.get(server, ()) if also in {each.group, ALL}]
    vague = [each for each in found if each.vague] if also == ALL else []
    for each in found:
        if each not in vague:
            numbers = (each.old if version == 4 else each.new).split()  # noqa: PLR2004 -- 3.1.1
            yield replace(each.issue, req=tuple(f"MQTT-{number}" for number in numbers))
    if vague:
        groups = ", ".join(each.group for each in vague)
        yield known_issue(
            f"{server}: a message departs; also= with one of {groups} shows which of its issues", "MqttPub"
        )
