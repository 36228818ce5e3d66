"""Violations by clients, as bytes, with the statements that make the server end the connection.

An otherwise well-behaved client sends each. For an invalid topic filter, the server may also reject the subscription.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from otf.codec.mqtt import MqttCodec, MqttConnect, MqttVersion
from otf.codec.mqtt_fields import varying

NUMBER: Final = 7
"""The packet identifier in these packets."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A violation: its bytes, the statements by their numbers in 3.1.1 and in 5.0, and how the server may react.

    `first`: the client sends it in place of the CONNECT. `filter`: the server may refuse the subscription instead.
    """

    raw: bytes
    old: str
    new: str
    first: bool = False
    filter: bool = False
    answer: int = 0


def packet(head: int, *parts: bytes) -> bytes:
    r"""Return the bytes of a packet.

    >>> packet(0x62, b"ab")
    b'b\x02ab'
    """
    body = b"".join(parts)
    return bytes([head]) + varying.write(len(body)) + body


def _text(data: bytes | str) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return len(raw).to_bytes(2) + raw


_ID: Final = NUMBER.to_bytes(2)
_ILL: Final = (b"t\xff", b"t\xed\xa0\x80")
"""Ill-formed UTF-8: an impossible byte, and a surrogate."""


@cache
def rules_of(version: MqttVersion) -> dict[str, Rule]:
    """Return the violations of a version by their names."""
    none = b"\0" if version == 5 else b""  # noqa: PLR2004 -- 5.0: no properties
    both = _publishing(none) | _subscribing(none) | _others() | _first(version, none)
    return both | (_only_5() if none else _only_4())


def _publishing(none: bytes) -> dict[str, Rule]:
    def publish(head: int, topic: bytes | str, number: bytes = b"") -> bytes:
        return packet(head, _text(topic), number, none, b"x")

    named = {
        "publish with QoS 3": Rule(publish(0x36, "t", _ID), "3.3.1-4", "3.3.1-4"),
        "publish to a wildcard": Rule(publish(0x30, "t/+"), "3.3.2-2 4.7.1-1", "3.3.2-2 4.7.0-1"),
        "publish to all": Rule(publish(0x30, "#"), "3.3.2-2 4.7.1-1", "3.3.2-2 4.7.0-1"),
        "publish to an empty topic": Rule(publish(0x30, ""), "4.7.3-1", "4.7.3-1"),
        "publish to U+0000": Rule(publish(0x30, b"t\0"), "1.5.3-2 4.7.3-2", "1.5.4-2 4.7.3-2"),
        "publish with identifier 0": Rule(publish(0x32, "t", b"\0\0"), "2.3.1-1", "2.2.1-3"),
    }
    ill = {
        f"publish to a topic of {each.hex()}": Rule(publish(0x30, each), "1.5.3-1 3.3.2-1", "1.5.4-1 3.3.2-1")
        for each in _ILL
    }
    return named | ill


def _subscribing(none: bytes) -> dict[str, Rule]:
    def subscribe(topic: bytes | str = "t", options: int = 0, head: int = 0x82, number: bytes = _ID) -> bytes:
        return packet(head, number, none, _text(topic), bytes([options]))

    named = {
        "subscribe with wrong flags": Rule(subscribe(head=0x80), "3.8.1-1 2.2.2-1 2.2.2-2", "3.8.1-1 2.1.3-1"),
        "subscribe to nothing": Rule(packet(0x82, _ID, none), "3.8.3-3", "3.8.3-2"),
        "subscribe with QoS 3": Rule(subscribe(options=3), "3.8.3-4", ""),
        "subscribe with reserved bits": Rule(subscribe(options=0xC0), "3.8.3-4", "3.8.3-5"),
        "subscribe with identifier 0": Rule(subscribe(number=b"\0\0"), "2.3.1-1", "2.2.1-3"),
        "subscribe to U+0000": Rule(subscribe(b"t\0"), "1.5.3-2 4.7.3-2", "1.5.4-2 4.7.3-2"),
        "subscribe to an ill-formed filter": Rule(subscribe(_ILL[0]), "1.5.3-1 3.8.3-1", "1.5.4-1 3.8.3-1"),
        "subscribe to an empty filter": Rule(subscribe(""), "4.7.3-1", "4.7.3-1", filter=True),
        "unsubscribe with wrong flags": Rule(
            packet(0xA0, _ID, none, _text("t")), "3.10.1-1 2.2.2-2", "3.10.1-1 2.1.3-1"
        ),
        "unsubscribe from nothing": Rule(packet(0xA2, _ID, none), "3.10.3-2", "3.10.3-2"),
        "unsubscribe from an ill-formed filter": Rule(
            packet(0xA2, _ID, none, _text(_ILL[0])), "1.5.3-1 3.10.3-1", "1.5.4-1 3.10.3-1"
        ),
    }
    filters = {"t/#/u": ("4.7.1-2", "4.7.1-1"), "t#": ("4.7.1-2", "4.7.1-1"), "t+": ("4.7.1-3", "4.7.1-2")}
    return named | {
        f"subscribe to {each}": Rule(subscribe(each), *numbers, filter=True) for each, numbers in filters.items()
    }


def _others() -> dict[str, Rule]:
    return {
        "pubrel with wrong flags": Rule(packet(0x60, _ID), "3.6.1-1 2.2.2-2", "3.6.1-1 2.1.3-1"),
        "pingreq with wrong flags": Rule(packet(0xC1), "2.2.2-1 2.2.2-2", "2.1.3-1"),
        "disconnect with wrong flags": Rule(packet(0xE1), "3.14.1-1 2.2.2-2", "3.14.1-1 2.1.3-1"),
        "a packet of type 0": Rule(packet(0x00), "4.8.0-1", "4.13.1-1"),
        "a length of five bytes": Rule(b"\x30\xff\xff\xff\xff\x01", "4.8.0-1", "1.5.5-1"),
    }


def connect(version: int, flags: int, *payload: bytes, name: str = "MQTT", properties: bytes = b"") -> bytes:
    """Return the bytes of a CONNECT, possibly wrong."""
    own = varying.write(len(properties)) + properties if version == 5 else b""  # noqa: PLR2004 -- 5.0
    return packet(0x10, _text(name), bytes([version, flags]), b"\0\0", own, *payload)


def _first(version: MqttVersion, none: bytes) -> dict[str, Rule]:
    me, will = _text("otfX"), none + _text("w") + _text("gone")
    wrong = {
        "connect with a reserved flag": (connect(version, 0x03, me), "3.1.2-3", "3.1.2-3"),
        "connect with a will of QoS 3": (connect(version, 0x1E, me, will), "3.1.2-14", "3.1.2-12"),
        "connect with a QoS without a will": (connect(version, 0x0A, me), "3.1.2-13 3.1.2-11", "3.1.2-11"),
        "connect with a retained will that is none": (connect(version, 0x22, me), "3.1.2-15 3.1.2-11", "3.1.2-13"),
        "connect with a will that is missing": (connect(version, 0x06, me), "3.1.2-9", "3.1.2-9"),
        "connect without a ClientId": (connect(version, 0x02), "3.1.3-3", "3.1.3-3"),
        "connect with an ill-formed ClientId": (connect(version, 0x02, _text(_ILL[0])), "1.5.3-1", "1.5.4-1"),
        "connect with an ill-formed will topic": (
            connect(version, 0x06, me, none, _text(_ILL[0]), _text("gone")),
            "1.5.3-1",
            "3.1.3-11",
        ),
    }
    early = {
        "pingreq before connect": Rule(packet(0xC0), "3.1.0-1", "3.1.0-1 3.2.0-1", first=True),
        "publish before connect": Rule(packet(0x30, _text("t"), none, b"x"), "3.1.0-1", "3.1.0-1 3.2.0-1", first=True),
    }
    return early | {
        name: Rule(raw, f"3.1.4-1 {old}", f"3.1.4-1 {new}", first=True) for name, (raw, old, new) in wrong.items()
    }


def _only_4() -> dict[str, Rule]:
    level, told = connect(9, 0x02, _text("otfX")), "3.1.2-2 3.2.2-4 3.2.2-5"
    retained = packet(0x31, _text("t"), b"after")
    return {
        "second connect": Rule(MqttCodec().encode(MqttConnect(2, 0, "otfX")), "3.1.0-2", ""),
        "connect with level 9": Rule(level, told, "", first=True, answer=1),
        "publish after level 9": Rule(level + retained, f"{told} 3.1.4-5", "", first=True, answer=1),
        "connect with a password alone": Rule(
            connect(4, 0x42, _text("otfX"), _text("p")), "3.1.4-1 3.1.2-22", "", first=True
        ),
    }


def _only_5() -> dict[str, Rule]:
    def publish(properties: bytes, topic: str = "t") -> bytes:
        return packet(0x30, _text(topic), varying.write(len(properties)), properties, b"x")

    def subscribe(topic: str, options: int = 0, properties: bytes = b"") -> bytes:
        own = varying.write(len(properties)) + properties
        return packet(0x82, _ID, own, _text(topic), bytes([options]))

    me, bad = _text("otfX"), _text(_ILL[0])
    unknown = connect(5, 0x02, me, properties=b"\x15" + _text("otf-none"))
    up = {
        "second connect": Rule(MqttCodec(version=5).encode(MqttConnect(2, 0, "otfX")), "", "3.1.0-2"),
        "topic alias 0": Rule(publish(b"\x23\0\0"), "", "3.3.2-8"),
        "topic alias 65535": Rule(publish(b"\x23\xff\xff"), "", "3.3.2-9"),
        "unknown topic alias": Rule(publish(b"\x23\0\1", ""), "", "3.3.2-7"),
        "publish with a subscription identifier": Rule(publish(b"\x0b\1"), "", "3.3.4-6"),
        "ill-formed response topic": Rule(publish(b"\x08" + bad), "", "1.5.4-1 3.3.2-13"),
        "ill-formed content type": Rule(publish(b"\x03" + bad), "", "1.5.4-1 3.3.2-19"),
        "ill-formed user property": Rule(publish(b"\x26" + _text("k") + bad), "", "1.5.7-1"),
        "property length of two bytes": Rule(packet(0x30, _text("t"), b"\x80\0", b"x"), "", "1.5.5-1"),
        "an unknown property": Rule(publish(b"\x7f\1"), "", "4.13.1-1"),
        "subscription identifier 0": Rule(subscribe("t", properties=b"\x0b\0"), "", "4.13.1-1"),
        "no local on a share": Rule(subscribe("$share/g/t", 4), "", "3.8.3-4"),
        "a share without a name": Rule(subscribe("$share//t"), "", "4.8.2-1", filter=True),
        "a share with a wildcard": Rule(subscribe("$share/g+/t"), "", "4.8.2-2", filter=True),
        "a share without a filter": Rule(subscribe("$share/g"), "", "4.8.2-2", filter=True),
        "auth without a method": Rule(packet(0xF0, b"\x18\0"), "", "4.12.0-7"),
        "auth with wrong flags": Rule(packet(0xF1, b"\x18\0"), "", "3.15.1-1 2.1.3-1"),
    }
    first = {
        "connect to another protocol": Rule(connect(5, 0x02, me, name="MQTX"), "", "3.1.2-1", first=True),
        "unknown authentication": Rule(unknown, "", "4.12.0-1", first=True),
        "publish after unknown authentication": Rule(
            unknown + packet(0x31, _text("t"), b"\0", b"after"), "", "4.12.0-1 3.1.4-6", first=True
        ),
        "receive maximum 0": Rule(connect(5, 0x02, me, properties=b"\x21\0\0"), "", "3.1.4-1", first=True),
        "maximum packet size 0": Rule(connect(5, 0x02, me, properties=b"\x27\0\0\0\0"), "", "3.1.4-1", first=True),
    }
    return up | first
