"""The packets of MQTT 3.1.1 and 5.0 as values.

Properties exist only in version 5, as do reasons that 3.1.1 does not have. A version 5 packet may end before its reason
or its properties, which are then None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias

from otf.codec.mqtt_fields import MqttProperties

MqttVersion: TypeAlias = Literal[4, 5]
"""The version number on the wire: 4 is MQTT 3.1.1."""


@dataclass(frozen=True)
class MqttConnect:
    """A client's first packet; `more` has the will, the user and the password, depending on the flags."""

    protocol: ClassVar[bytes] = b"\0\4MQTT"
    flags: int
    keep_alive: int
    client: str
    more: bytes = b""
    properties: MqttProperties = ()


@dataclass(frozen=True)
class MqttConnack:
    """The answer: whether a session is present, and 0 if the connection is accepted."""

    session: int
    code: int
    properties: MqttProperties = ()


@dataclass(frozen=True)
class MqttPublish:
    """A message; `id` is 0 if the quality of service is 0, which has no id."""

    topic: str
    payload: bytes = b""
    qos: int = 0
    id: int = 0
    retain: bool = False
    dup: bool = False
    properties: MqttProperties = ()


@dataclass(frozen=True)
class MqttPuback:
    """The answer to a message of quality 1."""

    id: int
    reason: int | None = None
    properties: MqttProperties | None = None


@dataclass(frozen=True)
class MqttPubrec:
    """The first answer to a message of quality 2."""

    id: int
    reason: int | None = None
    properties: MqttProperties | None = None


@dataclass(frozen=True)
class MqttPubrel:
    """The sender's answer to `MqttPubrec`."""

    id: int
    reason: int | None = None
    properties: MqttProperties | None = None


@dataclass(frozen=True)
class MqttPubcomp:
    """The last answer to a message of quality 2."""

    id: int
    reason: int | None = None
    properties: MqttProperties | None = None


@dataclass(frozen=True)
class MqttFilter:
    """A topic filter with the highest quality wanted; in version 5 `qos` is the byte of all options."""

    topic: str
    qos: int = 0


@dataclass(frozen=True)
class MqttTopic:
    """A topic filter."""

    topic: str


@dataclass(frozen=True)
class MqttSubscribe:
    """Subscribe to topics."""

    id: int
    filters: tuple[MqttFilter, ...]
    properties: MqttProperties = ()


@dataclass(frozen=True)
class MqttSuback:
    """The answer: one quality per filter, 128 or more if it is refused."""

    id: int
    codes: tuple[int, ...]
    properties: MqttProperties = ()


@dataclass(frozen=True)
class MqttUnsubscribe:
    """Unsubscribe from topics."""

    id: int
    topics: tuple[MqttTopic, ...]
    properties: MqttProperties = ()


@dataclass(frozen=True)
class MqttUnsuback:
    """The answer to `MqttUnsubscribe`; version 5 has a code for each topic."""

    id: int
    properties: MqttProperties = ()
    codes: tuple[int, ...] = ()


@dataclass(frozen=True)
class MqttPingreq:
    """A ping."""


@dataclass(frozen=True)
class MqttPingresp:
    """The answer to a ping."""


@dataclass(frozen=True)
class MqttDisconnect:
    """A client's last packet; in version 5 also a server's."""

    reason: int | None = None
    properties: MqttProperties | None = None


@dataclass(frozen=True)
class MqttAuth:
    """Part of an authentication in version 5."""

    reason: int | None = None
    properties: MqttProperties | None = None


MqttField: TypeAlias = tuple[str, str]
"""The name of a field, and its format."""
_PROPERTIES: Final[MqttField] = ("properties", "properties")
_ACK: Final[tuple[MqttField, ...]] = (("id", "u16"), ("reason", "u8?"), ("properties", "properties?"))
SHAPES: Final[dict[int, tuple[type, tuple[MqttField, ...]]]] = {
    0x10: (
        MqttConnect,
        (("flags", "u8"), ("keep_alive", "u16"), _PROPERTIES, ("client", "text"), ("more", "rest")),
    ),
    0x20: (MqttConnack, (("session", "u8"), ("code", "u8"), _PROPERTIES)),
    0x40: (MqttPuback, _ACK),
    0x50: (MqttPubrec, _ACK),
    0x62: (MqttPubrel, _ACK),
    0x70: (MqttPubcomp, _ACK),
    0x82: (MqttSubscribe, (("id", "u16"), _PROPERTIES, ("filters", "filters"))),
    0x90: (MqttSuback, (("id", "u16"), _PROPERTIES, ("codes", "codes"))),
    0xA2: (MqttUnsubscribe, (("id", "u16"), _PROPERTIES, ("topics", "topics"))),
    0xB0: (MqttUnsuback, (("id", "u16"), _PROPERTIES, ("codes", "codes"))),
    0xC0: (MqttPingreq, ()),
    0xD0: (MqttPingresp, ()),
    0xE0: (MqttDisconnect, _ACK[1:]),
    0xF0: (MqttAuth, _ACK[1:]),
}
"""The first byte of each packet, and its fields with their formats; a format with "?" may be left out."""
