"""Packets of MQTT as values."""

from __future__ import annotations

import pytest

from otf.codec import mqtt
from otf.codec.mqtt import MqttCodec, MqttProperty, MqttPublish, packet_size
from otf.errors import CodecError
from otf.framing import measured
from otf.testing import check_codec, check_framing

VALUES = [
    mqtt.MqttConnect(2, 60, "me"),
    mqtt.MqttConnack(0, 0),
    MqttPublish("a/b", b"hello"),
    MqttPublish("ä", bytes(130), 2, 65_535, retain=True, dup=True),
    mqtt.MqttPuback(1),
    mqtt.MqttPubrec(2),
    mqtt.MqttPubrel(3),
    mqtt.MqttPubcomp(4),
    mqtt.MqttSubscribe(5, (mqtt.MqttFilter("a/#", 1), mqtt.MqttFilter("b"))),
    mqtt.MqttSuback(5, (1, 128)),
    mqtt.MqttUnsubscribe(6, (mqtt.MqttTopic("a/#"),)),
    mqtt.MqttUnsuback(6),
    mqtt.MqttPingreq(),
    mqtt.MqttPingresp(),
    mqtt.MqttDisconnect(),
]
ALL = (
    *(MqttProperty("payload_format", 1), MqttProperty("message_expiry", 60), MqttProperty("content_type", "text")),
    *(
        MqttProperty("correlation_data", b"\xff"),
        MqttProperty("subscription_id", 300),
        MqttProperty("user", ("a", "ä")),
    ),
    *(MqttProperty("topic_alias", 1), MqttProperty("user", ("a", "b"))),
)
VALUES_5 = [
    mqtt.MqttConnect(2, 60, "me", properties=(MqttProperty("session_expiry", 1),)),
    mqtt.MqttConnack(0, 0, (MqttProperty("receive_maximum", 20),)),
    MqttPublish("a/b", b"hello"),
    MqttPublish("", b"x", 1, 1, properties=ALL),
    *(mqtt.MqttPuback(1), mqtt.MqttPubrec(2, 16), mqtt.MqttPubrel(3, 0, ()), mqtt.MqttPubcomp(4, 146, ALL)),
    mqtt.MqttSubscribe(5, (mqtt.MqttFilter("a/#", 0x2C),), ALL),
    mqtt.MqttSuback(5, (1, 128)),
    mqtt.MqttUnsubscribe(6, (mqtt.MqttTopic("a/#"),)),
    mqtt.MqttUnsuback(6, (), (0, 17)),
    *(mqtt.MqttPingreq(), mqtt.MqttPingresp()),
    *(mqtt.MqttDisconnect(), mqtt.MqttDisconnect(142), mqtt.MqttDisconnect(0, ALL), mqtt.MqttAuth(24, ())),
]


def test_the_codec_of_version_5_keeps_the_contract() -> None:
    """Properties in their order, and reasons and properties that a packet leaves out (MQTT 5.0, section 3.4.2)."""
    codec = MqttCodec("broker", 5)
    check_codec(codec, VALUES_5)
    assert codec.encode(mqtt.MqttPuback(1)) == b"\x40\x02\x00\x01"
    assert codec.encode(mqtt.MqttSuback(1, (2,)))[2:] == b"\x00\x01\x00\x02"


@pytest.mark.parametrize(
    "data",
    [
        *(b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x00\x00\x00", b"\x20\x02\x00\x00", b"\x20\x04\x00\x00\x00\x00"),
        *(b"\x20\x05\x00\x00\x02\x7f\x00", b"\x20\x04\x00\x00\x02\x21", b"\x20\x04\x00\x00\x80\x00"),
        *(b"\x30\x04\x00\x01a\x80", b"\x40\x05\x00\x01\x00\x00\x00", b"\x20\x07\x00\x00\xff\xff\xff\xff\x01"),
    ],
)
def test_what_is_no_packet_of_version_5_is_undecodable(data: bytes) -> None:
    """Another version, properties that are unknown or cut off, and lengths that are too long."""
    with pytest.raises(CodecError, match="not an MQTT packet"):
        MqttCodec(version=5).decode("", data)


@pytest.mark.parametrize(
    "value",
    [
        *(mqtt.MqttDisconnect(0), mqtt.MqttAuth(0), mqtt.MqttUnsuback(1, (), (0,)), mqtt.MqttConnack(0, 0, ALL)),
        *(mqtt.MqttPuback(1, None, ALL), MqttPublish("a", properties=ALL)),
    ],
)
def test_version_4_has_no_reasons_and_no_properties(value: object) -> None:
    """The error names the packet."""
    with pytest.raises(CodecError, match="not an MQTT packet"):
        MqttCodec().encode(value)


@pytest.mark.parametrize(
    "value",
    [
        mqtt.MqttPuback(1, None, ALL),
        mqtt.MqttAuth(0, (MqttProperty("unknown", 1),)),
        mqtt.MqttAuth(0, (MqttProperty("subscription_id", 1 << 28),)),
        mqtt.MqttAuth(0, (MqttProperty("topic_alias", "x"),)),
    ],
)
def test_what_is_no_packet_of_version_5_is_refused(value: object) -> None:
    """The error names it."""
    with pytest.raises(CodecError, match="not an MQTT packet"):
        MqttCodec(version=5).encode(value)


def test_the_codec_keeps_the_contract() -> None:
    """One form for each packet, by the examples of the standard (section 2.2.3) and of each type."""
    codec = MqttCodec("broker")
    check_codec(codec, VALUES)
    assert (codec.port(VALUES[0]), codec.encode(MqttPublish("", bytes(126)))[:3]) == ("broker", b"\x30\x80\x01")


def test_packets_are_cut_anywhere() -> None:
    """By the length in their heads; one of five bytes is broken."""
    check_framing(measured(packet_size), [MqttCodec().encode(value) for value in VALUES], endless=[], rounds=50)
    (frame,) = measured(packet_size)().feed(b"\x30\xff\xff\xff\xff\x01")
    assert "four bytes at most" in frame.trouble


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\xd0", b"\xd0\x01", b"\xd0\x01x", b"\xd1\x00", b"\xf0\x00", b"\xd0\x80\x00", b"\x40\x01\x00"),
        *(b"\x30\x01\x00", b"\x30\x02\x00\x01", b"\x30\x03\x00\x01\xff", b"\x32\x03\x00\x01a"),
        *(b"\x36\x05\x00\x01a\x00\x01", b"\xd0\xff\xff\xff\xff"),
    ],
)
def test_what_is_no_packet_is_undecodable(data: bytes) -> None:
    """Wrong lengths, flags, topics and qualities."""
    with pytest.raises(CodecError):
        MqttCodec().decode("", data)


@pytest.mark.parametrize(
    "value", ["x", MqttPublish("a", qos=3), MqttPublish("a", id=1), MqttPublish("\ud800"), MqttPublish("a" * 65_536)]
)
def test_what_is_no_packet_is_refused(value: object) -> None:
    """The error names it."""
    with pytest.raises(CodecError, match="not an MQTT packet"):
        MqttCodec().encode(value)
