"""The known issues of brokers: each by the packets that a script without otf exchanged with the broker too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from otf import run
from otf.codec.mqtt import (
    MqttConnack,
    MqttConnect,
    MqttDisconnect,
    MqttFilter,
    MqttPingresp,
    MqttProperty,
    MqttPuback,
    MqttPubcomp,
    MqttPublish,
    MqttPubrec,
    MqttPubrel,
    MqttSuback,
    MqttSubscribe,
    MqttUnsuback,
    MqttVersion,
)
from otf.errors import ContactError, UsageError
from otf.models.mqtt import bench, requirements_of
from otf.models.mqtt.bench import VERSIONS
from otf.models.mqtt.groups import ALSO
from otf.models.mqtt.known import AEDES, AEDES_2, KNOWN, MOSQUITTO, groups_of
from otf.models.mqtt.messages import MqttDial, MqttHalt, MqttMessage, MqttPacket, MqttViolation
from otf.models.mqtt.violations import rules_of
from otf.spec.transition import requirements
from tests.models.test_mqtt import Step, after, at

Spoken: TypeAlias = Literal["3.1.1", "5"]
OPEN = at("c", MqttConnect(2, 0, "otfC"), MqttConnack(0, 0))
OTHER = at("a", MqttConnect(2, 0, "otfA"), MqttConnack(0, 0))
LASTS = at("c", MqttConnect(0, 0, "otfC"), MqttConnack(0, 0))
LONG = at("c", MqttConnect(0, 0, "otfC", b"", (MqttProperty("session_expiry", 3600),)), MqttConnack(0, 0))
GONE: tuple[Step, Step] = ((MqttHalt("c"), "end c"), (MqttDial("c"),))


def _breaks(name: str, *packets: MqttPacket, version: MqttVersion = 4, end: bool = False) -> Step:
    """Return a step with a violation, and what comes of the packets and the end of the connection."""
    answers = (MqttMessage("c", packet) for packet in packets)
    return MqttViolation("c", name, rules_of(version)[name].raw), *answers, *(["end c"] if end else [])


def _subscribes(topic: str, qos: int, *packets: MqttPacket) -> Step:
    return at("c", MqttSubscribe(9, (MqttFilter(topic, qos),)), MqttSuback(9, (qos & 3,)), *packets)


def _publishes(topic: str, qos: int, *packets: MqttPacket, retain: bool = False, dup: bool = False) -> Step:
    acknowledged: list[MqttPacket] = [MqttPuback(20)] if qos == 1 else [MqttPubrec(20)] if qos else []
    return at("c", MqttPublish(topic, b"y", qos, 20 if qos else 0, retain, dup), *acknowledged, *packets)


GRANTED, TAKEN = MqttSuback(7, (0,)), MqttConnack(0, 0)
OF_MOSQUITTO: dict[str, list[Step]] = {
    "answers a PINGREQ": [OPEN, _breaks("pingreq with wrong flags", MqttPingresp())],
    "for the third time": [
        OPEN,
        _publishes("t", 2),
        _publishes("t", 2, dup=True),
        (MqttMessage("c", MqttPublish("t", b"y", 2, 20, dup=True)), "end c"),
    ],
    "publishes no will": [
        OTHER,
        at("a", MqttSubscribe(9, (MqttFilter("w", 0),)), MqttSuback(9, (0,))),
        at("c", MqttConnect(6, 0, "otfC", b"\0\1w\0\4gone"), MqttConnack(0, 0)),
        _breaks("second connect", end=True),
    ],
    "ends the session": [
        LASTS,
        _breaks("second connect", end=True),
        (MqttDial("c"),),
        at("c", MqttConnect(0, 0, "otfC"), MqttConnack(0, 0)),
    ],
    "QoS of one of several": [
        OPEN,
        _subscribes("#", 2),
        _subscribes("t", 0),
        _publishes("t", 1, MqttPublish("t", b"y")),
    ],
}
RETAINED, STORED = MqttPublish("t", b"y", retain=True), _publishes("t", 0, retain=True)
OF_MOSQUITTO_5: dict[str, list[Step]] = {
    "a subscription identifier": [OPEN, _breaks("publish with a subscription identifier", version=5)],
    "a share with No Local": [OPEN, _breaks("no local on a share", GRANTED, version=5)],
    "a share without a name": [OPEN, _breaks("a share without a name", GRANTED, version=5)],
    "a share without a filter": [OPEN, _breaks("a share without a filter", GRANTED, version=5)],
    "retained messages to shares": [OPEN, STORED, _subscribes("$share/g/t", 0, RETAINED)],
    "keeps No Local": [
        OPEN,
        _subscribes("t", 0),
        _subscribes("t", 8),
        _publishes("t", 0, MqttPublish("t", b"y"), retain=True),
    ],
    "sends no more messages": [
        at("c", MqttConnect(2, 0, "otfC", b"", (MqttProperty("receive_maximum", 1),)), MqttConnack(0, 0)),
        _subscribes("t", 2),
        _publishes("t", 2, MqttPublish("t", b"y", 2, 1)),
        at("c", MqttPubrec(1, 0x80, ())),
        at("c", MqttPublish("t", b"z", 1, 10), MqttPuback(10)),
    ],
}
OF_AEDES: dict[str, list[Step]] = {
    "takes U+0000": [OPEN, _breaks("publish to U+0000")],
    "an ill-formed topic": [OPEN, _breaks("publish to a topic of 74ff")],
    "subscribes to an ill-formed": [OPEN, _breaks("subscribe to an ill-formed filter", GRANTED)],
    "unsubscribes from an ill-formed": [OPEN, _breaks("unsubscribe from an ill-formed filter", MqttUnsuback(7))],
    "an ill-formed CONNECT": [_breaks("connect with an ill-formed ClientId", TAKEN)],
    "the packet identifier 0": [OPEN, _breaks("subscribe with identifier 0", MqttSuback(0, (0,)))],
    "UNSUBSCRIBE without a filter": [OPEN, _breaks("unsubscribe from nothing", MqttUnsuback(7))],
    "the filter t#": [OPEN, _breaks("subscribe to t#", GRANTED)],
    "the filter t+": [OPEN, _breaks("subscribe to t+", GRANTED)],
    "a will of QoS 3": [_breaks("connect with a will of QoS 3", TAKEN)],
    "a password without a user": [_breaks("connect with a password alone", TAKEN)],
    "without a CONNACK": [_breaks("connect with level 9", end=True)],
    "without a ClientId": [at("c", MqttConnect(0, 0, ""), TAKEN)],
    "passes DUP on": [
        OPEN,
        _subscribes("t", 1),
        _publishes("t", 1, MqttPublish("t", b"y", 1, 9, dup=True), dup=True),
    ],
    "closes at the PUBREC": [
        LASTS,
        _publishes("t", 2, retain=True),
        _subscribes("t", 2, MqttPublish("t", b"y", 2, 9, retain=True)),
        (MqttMessage("c", MqttPubrec(9)), "end c"),
    ],
    "no session without subscriptions": [LASTS, *GONE, at("c", MqttConnect(0, 0, "otfC"), MqttConnack(0, 0))],
    "sends again": [
        LASTS,
        _subscribes("t", 1),
        _publishes("t", 1, MqttPublish("t", b"y", 1, 9)),
        *GONE,
        at("c", MqttConnect(0, 0, "otfC"), MqttConnack(1, 0), MqttPublish("t", b"y", 1, 9)),
    ],
    "one of several": [OPEN, _subscribes("#", 2), _subscribes("t", 0), _publishes("t", 1, MqttPublish("t", b"y"))],
    "higher QoS than it granted": [
        OPEN,
        _subscribes("t/#", 1),
        at("c", MqttPublish("t/u", b"y", 2, 20), MqttPublish("t/u", b"y", 2, 9), MqttPubrec(20)),
    ],
}
EXPIRY = MqttProperty("session_expiry", 3600)
AGAIN = at("c", MqttConnect(0, 0, "otfC", b"", (EXPIRY,)), MqttConnack(0, 0))
OF_AEDES_2: dict[str, list[Step]] = {
    "takes U+0000": [OPEN, _breaks("publish to U+0000", version=5)],
    "takes an ill-formed topic": [OPEN, _breaks("publish to a topic of 74ff", version=5)],
    "takes an ill-formed filter": [OPEN, _breaks("subscribe to an ill-formed filter", GRANTED, version=5)],
    "takes an ill-formed CONNECT": [_breaks("connect with an ill-formed ClientId", TAKEN, version=5)],
    "ill-formed text in a property": [OPEN, _breaks("ill-formed content type", version=5)],
    "the packet identifier 0": [OPEN, _breaks("subscribe with identifier 0", MqttSuback(0, (0,)), version=5)],
    "the filter t#": [OPEN, _breaks("subscribe to t#", GRANTED, version=5)],
    "the filter t+": [OPEN, _breaks("subscribe to t+", GRANTED, version=5)],
    "a will of QoS 3": [_breaks("connect with a will of QoS 3", TAKEN, version=5)],
    "a Maximum Packet Size of 0": [_breaks("maximum packet size 0", TAKEN, version=5)],
    "a subscription identifier in a message": [OPEN, _breaks("publish with a subscription identifier", version=5)],
    "a byte too many": [OPEN, _breaks("property length of two bytes", version=5)],
    "closes at the PUBREC": [
        LONG,
        _publishes("t", 2, retain=True),
        _subscribes("t", 2, MqttPublish("t", b"y", 2, 9, retain=True)),
        (MqttMessage("c", MqttPubrec(9)), "end c"),
    ],
    "keeps no session without subscriptions": [LONG, *GONE, AGAIN],
    "a take-over has ended": [
        at("a", MqttConnect(2, 0, "otfA"), MqttConnack(0, 0)),
        (
            *at("c", MqttConnect(0, 0, "otfA")),
            *at("a", MqttDisconnect(0x8E, ())),
            *at("c", MqttConnack(1, 0)),
            "end a",
        ),
    ],
    "keeps the messages of a session back": [
        LONG,
        _subscribes("t", 1),
        *GONE,
        OTHER,
        at("a", MqttPublish("t", b"y", 1, 10), MqttPuback(10)),
        at("c", MqttConnect(0, 0, "otfC"), MqttConnack(1, 0)),
    ],
    "sends again": [
        LONG,
        _subscribes("t", 1),
        _publishes("t", 1, MqttPublish("t", b"y", 1, 9)),
        *GONE,
        at("c", MqttConnect(0, 0, "otfC", b"", (EXPIRY,)), MqttConnack(1, 0), MqttPublish("t", b"y", 1, 9)),
    ],
    "more than the Receive Maximum": [
        at("c", MqttConnect(2, 0, "otfC", b"", (MqttProperty("receive_maximum", 1),)), MqttConnack(0, 0)),
        _subscribes("t", 1),
        _publishes("t", 1, MqttPublish("t", b"y", 1, 9)),
        _publishes("t", 1, MqttPublish("t", b"y", 1, 10)),
    ],
    "exceeds the Maximum Packet Size": [
        at("c", MqttConnect(2, 0, "otfC", b"", (MqttProperty("maximum_packet", 9),)), MqttConnack(0, 0)),
        _subscribes("t", 1),
        at("c", MqttPublish("t", b"large"), MqttPublish("t", b"large")),
    ],
    "not all subscription identifiers": [
        OPEN,
        at("c", MqttSubscribe(9, (MqttFilter("t", 1),), (MqttProperty("subscription_id", 5),)), MqttSuback(9, (1,))),
        _subscribes("#", 1),
        _publishes("t", 1, MqttPublish("t", b"y", 1, 9)),
    ],
    "one of several": [OPEN, _subscribes("#", 2), _subscribes("t", 0), _publishes("t", 1, MqttPublish("t", b"y"))],
    "higher QoS than it granted": [OPEN, _subscribes("t/#", 1), _publishes("t", 2, MqttPublish("t", b"y", 2, 9))],
    "of a session that has ended": [
        OTHER,
        at("a", MqttSubscribe(9, (MqttFilter("t", 0),)), MqttSuback(9, (0,))),
        OPEN,
        (*_publishes("t", 2), *at("a", MqttPublish("t", b"y"))),
        *GONE,
        OPEN,
        _publishes("t", 2),
        at("c", MqttPubrel(20), MqttPubcomp(20)),
    ],
}
SCRIPTS = {MOSQUITTO: OF_MOSQUITTO | OF_MOSQUITTO_5, AEDES: OF_AEDES, AEDES_2: OF_AEDES_2}
TABLES = [
    *((MOSQUITTO, says, script, 4) for says, script in OF_MOSQUITTO.items()),
    *((MOSQUITTO, says, script, 5) for says, script in OF_MOSQUITTO_5.items()),
    *((AEDES, says, script, 4) for says, script in OF_AEDES.items()),
    *((AEDES_2, says, script, 5) for says, script in OF_AEDES_2.items()),
]


@pytest.mark.parametrize(("server", "says", "script", "version"), TABLES)
def test_each_known_issue_is_recognized(server: str, says: str, script: list[Step], version: MqttVersion) -> None:
    """With the inputs of its group, the failure is this issue and no other of the group."""
    found = [each for each in KNOWN[server] if says in each.issue.says]
    assert len(found) == 1
    tested = bench(server=server, version="5" if version == 5 else "3.1.1", also=found[0].group)
    failure = after(*script, version=version).end().failure
    assert failure is not None
    assert next(each.says for each in tested.known_issues if each.shows(failure)) == found[0].issue.says


def test_every_known_issue_has_a_script() -> None:
    """None is listed that no packets show."""
    for server, scripts in SCRIPTS.items():
        assert len(scripts) == len(KNOWN[server])


@pytest.mark.parametrize(("server", "version"), [(AEDES, "5"), (AEDES_2, "3.1.1")])
def test_a_version_of_which_a_broker_is_not_tested_is_refused(server: str, version: Spoken) -> None:
    """Its known issues are those by the other version: the error says which."""
    with pytest.raises(UsageError, match=f"{server} by version="):
        bench(server=server, version=version)


@pytest.mark.parametrize(("server", "version"), [(MOSQUITTO, "3.1.1"), (AEDES, "3.1.1"), (AEDES_2, "5")])
def test_what_a_server_is_known_to_do_is_left_out_or_a_known_issue(server: str, version: Spoken) -> None:
    """Each group has known issues, which are there if it is asked for; another server has none."""
    assert not bench(version=version, server=server).known_issues
    issues = [bench(version=version, server=server, also=each).known_issues for each in groups_of(server)]
    assert all(issues)
    vague = sum(each.vague for each in KNOWN[server])
    assert len(bench(version=version, server=server, also="all").known_issues) == sum(map(len, issues)) - vague + 1
    assert not bench(server="broker {port}", also="all").known_issues
    assert set(groups_of(server)) < set(ALSO)
    cited = {
        number
        for each in bench(version=version, server=server, also="all").known_issues
        for number in requirements(each.req)
    }
    assert cited <= set(requirements_of(VERSIONS[version]))


@pytest.mark.real
@pytest.mark.slow
def test_a_broker_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    """The error of the contact has what the program printed: where aedes is not installed, how to install it."""
    program = tmp_path / "broker.py"
    program.write_text('import sys; sys.exit("no licence")')
    with pytest.raises(ContactError, match="no licence"):
        run(bench(server=f"{sys.executable} {program} {{port}}"), traces=1, steps=1, out=tmp_path / "out")
