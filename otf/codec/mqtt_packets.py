"""The packets of MQTT 3.1.1 and 5.0 as values.

Properties exist only in version 5, as do reasons that 3.1.1 does not have. A version 5 packet may end before its reason
or its properties, which are then None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

MqttVersion: TypeAlias = Literal[4, 5]
"""The version number on the wire: 4 is MQTT 3.1.1."""


@dataclass(frozen=True)
class MqttProperty:
    """A property of a version 5 packet, such as `MqttProperty("topic_alias", 1)`: see `PROPERTIES`."""

    name: str
    value: int | str | bytes | tuple[str, str]


MqttProperties: TypeAlias = tuple[MqttProperty, ...]


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
class _Acknowledgement:
    id: int
    reason: int | None = None
    properties: MqttProperties | None = None


class MqttPuback(_Acknowledgement):
    """The answer to a message of quality 1."""


class MqttPubrec(_Acknowledgement):
    """The first answer to a message of quality 2."""


class MqttPubrel(_Acknowledgement):
    """The sender's answer to `MqttPubrec`."""


class MqttPubcomp(_Acknowledgement):
    """The last answer to a message of quality 2."""


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
class _Reason:
    reason: int | None = None
    properties: MqttProperties | None = None


class MqttDisconnect(_Reason):
    """A client's last packet; in version 5 also a server's."""


class MqttAuth(_Reason):
    """Part of an authentication in version 5."""
