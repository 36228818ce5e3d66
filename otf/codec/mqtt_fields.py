"""The formats of the fields of MQTT packets, by packet; the properties of version 5 are read and written by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from typing import Any, Final, TypeAlias

from otf.codec.composed import items, sized
from otf.codec.fields import Format, Number, raw, rest, text, u8, u16be, u32be
from otf.codec.mqtt_packets import (
    MqttAuth,
    MqttConnack,
    MqttConnect,
    MqttDisconnect,
    MqttFilter,
    MqttPingreq,
    MqttPingresp,
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
)
from otf.errors import CodecError

_LARGEST: Final = 0x0FFF_FFFF
_MORE: Final = 0x80


class _Varying(Number):
    """A number of one to four bytes, seven bits in each."""

    def read(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        number = 0
        for place in range(4):
            byte, at = u8.read(data, at, end)
            number |= (byte & 0x7F) << 7 * place
            if not byte & _MORE:
                return number, at
        raise CodecError("a number of varying length has four bytes at most")

    def write(self, value: int) -> bytes:
        if not 0 <= value <= _LARGEST:
            raise CodecError(f"{value} does not fit into four bytes of seven bits")
        left, size = value, bytearray()
        while not size or left:
            left, low = divmod(left, _MORE)
            size.append(low | _MORE * (left > 0))
        return bytes(size)


class _FieldRow(Format):
    """Fields one after another, as the parts of a value."""

    def __init__(self, make: Callable[..., Any], parts: Callable[[Any], tuple[Any, ...]], *forms: Format) -> None:
        self._make, self._parts, self._forms = make, parts, forms

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        values = list[Any]()
        for form in self._forms:
            value, at = form.read(data, at, end)
            values.append(value)
        return self._make(*values), at

    def write(self, value: Any) -> bytes:
        return b"".join(form.write(each) for form, each in zip(self._forms, self._parts(value), strict=True))


class _Property(Format):
    """A property: its identifier, and a value of its own format."""

    def read(self, data: bytes, at: int, end: int) -> tuple[MqttProperty, int]:
        number, at = varying.read(data, at, end)
        if number not in _NAMES:
            raise CodecError(f"there is no property {number:#x}")
        value, at = PROPERTIES[_NAMES[number]][1].read(data, at, end)
        return MqttProperty(_NAMES[number], value), at

    def write(self, value: MqttProperty) -> bytes:
        number, form = PROPERTIES[value.name]
        return varying.write(number) + form.write(value.value)


class Maybe(Format):
    """A field that a packet may leave out at its end: then it is None."""

    def __init__(self, form: Format) -> None:
        self._form = form

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        """Return the value, or None at the end of the packet."""
        return self._form.read(data, at, end) if at < end else (None, at)

    def write(self, value: Any) -> bytes:
        """Return its bytes; none for None."""
        return b"" if value is None else self._form.write(value)


def _many(each: Format) -> Format:
    return items(rest).bound(tuple[Any, ...], lambda _: each)


varying: Final = _Varying(4)
"""The format of a length, for instance."""
TEXT: Final = text(u16be)
DATA: Final = raw(u16be)
MANY_PROPERTIES: Final = sized(varying).bound(Any, lambda _: _many(_Property()))

PROPERTIES: Final[dict[str, tuple[int, Format]]] = {
    "payload_format": (0x01, u8),
    "message_expiry": (0x02, u32be),
    "content_type": (0x03, TEXT),
    "response_topic": (0x08, TEXT),
    "correlation_data": (0x09, DATA),
    "subscription_id": (0x0B, varying),
    "session_expiry": (0x11, u32be),
    "assigned_client": (0x12, TEXT),
    "server_keep_alive": (0x13, u16be),
    "authentication_method": (0x15, TEXT),
    "authentication_data": (0x16, DATA),
    "request_problem": (0x17, u8),
    "will_delay": (0x18, u32be),
    "request_response": (0x19, u8),
    "response_information": (0x1A, TEXT),
    "server_reference": (0x1C, TEXT),
    "reason_string": (0x1F, TEXT),
    "receive_maximum": (0x21, u16be),
    "topic_alias_maximum": (0x22, u16be),
    "topic_alias": (0x23, u16be),
    "maximum_qos": (0x24, u8),
    "retain_available": (0x25, u8),
    "user": (0x26, _FieldRow(lambda *pair: pair, tuple, TEXT, TEXT)),
    "maximum_packet": (0x27, u32be),
    "wildcards_available": (0x28, u8),
    "subscription_ids_available": (0x29, u8),
    "shared_available": (0x2A, u8),
}
"""The properties (MQTT 5.0, section 2.2.2.2) by our names for them: identifier and format."""
_NAMES: Final = {number: name for name, (number, _) in PROPERTIES.items()}

MqttField: TypeAlias = tuple[str, Format]
"""The name of a field, and its format."""
_ID: Final[MqttField] = ("id", u16be)
_PROPERTIES: Final[MqttField] = ("properties", MANY_PROPERTIES)
_CODES: Final[MqttField] = ("codes", _many(u8))
_FILTERS: Final[MqttField] = ("filters", _many(_FieldRow(MqttFilter, astuple, TEXT, u8)))
_TOPICS: Final[MqttField] = ("topics", _many(_FieldRow(MqttTopic, astuple, TEXT)))
_ACK: Final[tuple[MqttField, ...]] = (_ID, ("reason", Maybe(u8)), ("properties", Maybe(MANY_PROPERTIES)))
SHAPES: Final[dict[int, tuple[type, tuple[MqttField, ...]]]] = {
    0x10: (
        MqttConnect,
        (("flags", u8), ("keep_alive", u16be), _PROPERTIES, ("client", TEXT), ("more", raw(rest))),
    ),
    0x20: (MqttConnack, (("session", u8), ("code", u8), _PROPERTIES)),
    0x40: (MqttPuback, _ACK),
    0x50: (MqttPubrec, _ACK),
    0x62: (MqttPubrel, _ACK),
    0x70: (MqttPubcomp, _ACK),
    0x82: (MqttSubscribe, (_ID, _PROPERTIES, _FILTERS)),
    0x90: (MqttSuback, (_ID, _PROPERTIES, _CODES)),
    0xA2: (MqttUnsubscribe, (_ID, _PROPERTIES, _TOPICS)),
    0xB0: (MqttUnsuback, (_ID, _PROPERTIES, _CODES)),
    0xC0: (MqttPingreq, ()),
    0xD0: (MqttPingresp, ()),
    0xE0: (MqttDisconnect, _ACK[1:]),
    0xF0: (MqttAuth, _ACK[1:]),
}
"""The first byte of each packet but PUBLISH, and its fields."""


def shape_of(head: int) -> tuple[type, tuple[MqttField, ...]]:
    """Return the type of a packet, and its fields, by its first byte. Raises CodecError if there is none."""
    if head >> 4 == PUBLISH:
        number = (_ID,) if head & 6 else ()  # a quality above 0
        return MqttPublish, (("topic", TEXT), *number, _PROPERTIES, ("payload", raw(rest)))
    if head not in SHAPES:
        raise CodecError("its type or its flags are wrong")
    return SHAPES[head]


PUBLISH: Final = 3
"""The upper half of the first byte of PUBLISH; the lower half has its flags."""
