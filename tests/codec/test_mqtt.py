"""Packets of MQTT as values."""

from __future__ import annotations

import pytest

from otf.codec import mqtt
from otf.codec.mqtt import MqttCodec, MqttPublish, packet_size
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
    with pytest.raises(CodecError, match="no packet of MQTT"):
        MqttCodec().encode(value)
