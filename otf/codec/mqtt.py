"""MQTT packets of versions 3.1.1 and 5.0 as values, over `measured(packet_size)`.

No maintained library reads packets without I/O. mqttproto is not on PyPI, and mqtt-codec 1.0.2 can no longer be
installed. gmqtt, aiomqtt, amqtt and paho-mqtt are clients and brokers, which acknowledge and reconnect by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from otf.codec import OnePort
from otf.codec.mqtt_fields import PUBLISH, SHAPES, Maybe, MqttField, shape_of, varying
from otf.codec.mqtt_packets import (
    MqttAuth,
    MqttConnack,
    MqttConnect,
    MqttDisconnect,
    MqttFilter,
    MqttPingreq,
    MqttPingresp,
    MqttProperties,
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
from otf.errors import CodecError
from otf.values import show

__all__ = [
    "MqttAuth",
    "MqttCodec",
    "MqttConnack",
    "MqttConnect",
    "MqttDisconnect",
    "MqttFilter",
    "MqttPingreq",
    "MqttPingresp",
    "MqttProperties",
    "MqttProperty",
    "MqttPuback",
    "MqttPubcomp",
    "MqttPublish",
    "MqttPubrec",
    "MqttPubrel",
    "MqttSuback",
    "MqttSubscribe",
    "MqttTopic",
    "MqttUnsuback",
    "MqttUnsubscribe",
    "MqttVersion",
    "packet_size",
]

_HEADS: Final = {kind: head for head, (kind, _) in SHAPES.items()}
_ONLY_5: Final = {("codes", MqttUnsuback)}
_Head: TypeAlias = tuple[int, int]


def packet_size(begun: bytes) -> int | None:
    r"""Return the size of the packet that begins here, for `measured`; None while there are too few bytes.

    >>> from otf.framing import measured
    >>> [frame.data for frame in measured(packet_size)().feed(bytes([0xD0, 0, 0xD0]))]
    [b'\xd0\x00']
    """
    found = _head(begun)
    return None if found is None else sum(found)


def _head(begun: bytes) -> _Head | None:
    """Return the sizes of the head and of the body. Raises CodecError for a length of more than four bytes."""
    size = 0
    for place, byte in enumerate(begun[1:5]):
        size |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return place + 2, size
    if len(begun) > 4:  # noqa: PLR2004 -- the type, and four bytes that all say that more follow
        raise CodecError("the length of a packet has four bytes at most")
    return None


@dataclass(frozen=True, slots=True)
class MqttCodec(OnePort):
    r"""The codec of MQTT 3.1.1 packets, or with `version=5` of MQTT 5.0.

    >>> MqttCodec().encode(MqttPublish("a/b", b"hello"))
    b'0\n\x00\x03a/bhello'
    >>> MqttCodec(version=5).encode(MqttPublish("a/b", b"hello", properties=(MqttProperty("topic_alias", 1),)))
    b'0\x0e\x00\x03a/b\x03#\x00\x01hello'
    """

    name: str = ""
    version: MqttVersion = 4
    types: tuple[type, ...] = (*_HEADS, MqttPublish, MqttFilter, MqttTopic, MqttProperty)

    def encode(self, value: object) -> bytes:
        """Return the bytes of a packet. Raises CodecError."""
        try:
            head, body = self._written(value)
        except (CodecError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise CodecError(f"{show(value)} is not an MQTT packet: {error}") from error
        return bytes([head]) + varying.write(len(body)) + body

    def decode(self, port: str, data: bytes) -> object:
        """Return the packet in these bytes. Raises CodecError."""
        del port
        found = _head(data)
        if found is None or sum(found) != len(data):
            raise CodecError(f"{data[:80]!r} is not an MQTT packet: its length is wrong")
        try:
            value = self._read(data[0], data[found[0] :])
        except CodecError as error:
            raise CodecError(f"{data[:80]!r} is not an MQTT packet: {error}") from error
        if self.encode(value) != data:
            raise CodecError(f"{data[:80]!r} is not an MQTT packet: a length in it is longer than needed")
        return value

    def _written(self, value: object) -> tuple[int, bytes]:
        head = _publish_head(value) if isinstance(value, MqttPublish) else _HEADS[type(value)]
        kind, whole = shape_of(head)
        fields = self._own(kind, whole)
        ignored = {name for name, _ in whole} - {name for name, _ in fields}
        if any(getattr(value, name) not in {None, ()} for name in ignored):
            raise CodecError(f"version 3.1.1 has no {' and no '.join(sorted(ignored))}")
        if getattr(value, "reason", 0) is None and getattr(value, "properties", None) is not None:
            raise CodecError("properties come after a reason")
        protocol = MqttConnect.protocol + bytes([self.version]) if kind is MqttConnect else b""
        return head, protocol + b"".join(form.write(getattr(value, name)) for name, form in fields)

    def _read(self, head: int, body: bytes) -> object:
        (kind, whole), at = shape_of(head), 0
        values: dict[str, Any] = {}
        if kind is MqttAuth and self.version == 4:  # noqa: PLR2004 -- 3.1.1
            raise CodecError("its type or its flags are wrong")
        if kind is MqttConnect:
            at = len(MqttConnect.protocol) + 1
            if body[:at] != MqttConnect.protocol + bytes([self.version]):
                raise CodecError("its protocol or its version is another one")
        elif kind is MqttPublish:
            values = {"qos": head >> 1 & 3, "retain": bool(head & 1), "dup": bool(head & 8)}
        for name, form in self._own(kind, whole):
            values[name], at = form.read(body, at, len(body))
        if at < len(body):
            raise CodecError("it is longer than its fields")
        return kind(**values)

    def _own(self, kind: type, whole: tuple[MqttField, ...]) -> list[MqttField]:
        """Return the fields that a packet has in this version."""
        if self.version == 5:  # noqa: PLR2004 -- the version
            return list(whole)
        old = [(name, form) for name, form in whole if name != "properties" and not isinstance(form, Maybe)]
        return [(name, form) for name, form in old if (name, kind) not in _ONLY_5]


def _publish_head(value: MqttPublish) -> int:
    if value.qos not in {0, 1, 2} or (value.qos == 0 and value.id):
        raise CodecError("see its qos and its id")
    return PUBLISH << 4 | value.dup << 3 | value.qos << 1 | value.retain
