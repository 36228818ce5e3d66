"""The fields of MQTT packets: numbers, texts, and the properties of version 5, read and written by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from otf.errors import CodecError
from otf.values import show


@dataclass(frozen=True)
class MqttProperty:
    """A property of a version 5 packet, such as `MqttProperty("topic_alias", 1)`: see `PROPERTIES`."""

    name: str
    value: int | str | bytes | tuple[str, str]


MqttProperties: TypeAlias = tuple[MqttProperty, ...]

PROPERTIES: Final[dict[str, tuple[int, str]]] = {
    "payload_format": (0x01, "u8"),
    "message_expiry": (0x02, "u32"),
    "content_type": (0x03, "text"),
    "response_topic": (0x08, "text"),
    "correlation_data": (0x09, "data"),
    "subscription_id": (0x0B, "var"),
    "session_expiry": (0x11, "u32"),
    "assigned_client": (0x12, "text"),
    "server_keep_alive": (0x13, "u16"),
    "authentication_method": (0x15, "text"),
    "authentication_data": (0x16, "data"),
    "request_problem": (0x17, "u8"),
    "will_delay": (0x18, "u32"),
    "request_response": (0x19, "u8"),
    "response_information": (0x1A, "text"),
    "server_reference": (0x1C, "text"),
    "reason_string": (0x1F, "text"),
    "receive_maximum": (0x21, "u16"),
    "topic_alias_maximum": (0x22, "u16"),
    "topic_alias": (0x23, "u16"),
    "maximum_qos": (0x24, "u8"),
    "retain_available": (0x25, "u8"),
    "user": (0x26, "pair"),
    "maximum_packet": (0x27, "u32"),
    "wildcards_available": (0x28, "u8"),
    "subscription_ids_available": (0x29, "u8"),
    "shared_available": (0x2A, "u8"),
}
"""The properties (MQTT 5.0, section 2.2.2.2) by our names for them: identifier and format."""
_NAMES: Final = {number: name for name, (number, _) in PROPERTIES.items()}
_LARGEST: Final = 0x0FFF_FFFF
_MORE: Final = 0x80


class FieldReader:
    """Reads the fields of a packet one after another; each method raises CodecError at the end of the data."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def more(self) -> bool:
        """Return whether bytes are left."""
        return self._at < len(self._data)

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        end = self._at + size
        if end > len(self._data):
            raise CodecError("the packet ends within a field")
        self._at, taken = end, self._data[self._at : end]
        return taken

    def rest(self) -> bytes:
        """Return all remaining bytes."""
        return self.take(len(self._data) - self._at)

    def number(self, size: int) -> int:
        """Return an unsigned number of `size` bytes."""
        return int.from_bytes(self.take(size))

    def varying(self) -> int:
        """Return a number of one to four bytes."""
        number = 0
        for place in range(4):
            byte = self.number(1)
            number |= (byte & 0x7F) << 7 * place
            if not byte & _MORE:
                return number
        raise CodecError("a number of varying length has four bytes at most")

    def data(self) -> bytes:
        """Return bytes after their length."""
        return self.take(self.number(2))

    def text(self) -> str:
        """Return a text after its length."""
        data = self.data()
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise CodecError(f"{show(data)} is not a text: {error}") from error

    def properties(self) -> MqttProperties:
        """Return the properties after their length."""
        inner = FieldReader(self.take(self.varying()))
        return tuple(inner._each_property())

    def _each_property(self) -> Iterator[MqttProperty]:
        while self.more():
            number = self.varying()
            if number not in _NAMES:
                raise CodecError(f"there is no property {number:#x}")
            name = _NAMES[number]
            yield MqttProperty(name, READING[PROPERTIES[name][1]](self))


def varying_bytes(number: int) -> bytes:
    """Return the one to four bytes of a number. Raises CodecError for a larger one."""
    if not 0 <= number <= _LARGEST:
        raise CodecError(f"{number} does not fit into four bytes of seven bits")
    rest_of, size = number, bytearray()
    while not size or rest_of:
        rest_of, low = divmod(rest_of, _MORE)
        size.append(low | _MORE * (rest_of > 0))
    return bytes(size)


def _data_bytes(data: bytes) -> bytes:
    return len(data).to_bytes(2) + data


def _text_bytes(text: str) -> bytes:
    return _data_bytes(text.encode())


def _properties_bytes(properties: MqttProperties) -> bytes:
    body = b"".join(map(_property_bytes, properties))
    return varying_bytes(len(body)) + body


def _property_bytes(each: MqttProperty) -> bytes:
    number, kind = PROPERTIES[each.name]
    return varying_bytes(number) + WRITING[kind](each.value)


READING: Final[dict[str, Callable[[FieldReader], Any]]] = {
    "u8": lambda reader: reader.number(1),
    "u16": lambda reader: reader.number(2),
    "u32": lambda reader: reader.number(4),
    "var": FieldReader.varying,
    "data": FieldReader.data,
    "text": FieldReader.text,
    "pair": lambda reader: (reader.text(), reader.text()),
    "properties": FieldReader.properties,
    "rest": FieldReader.rest,
    "codes": lambda reader: tuple(reader.rest()),
}
"""The reader of each format."""
WRITING: Final[dict[str, Callable[[Any], bytes]]] = {
    "u8": lambda number: number.to_bytes(1),
    "u16": lambda number: number.to_bytes(2),
    "u32": lambda number: number.to_bytes(4),
    "var": varying_bytes,
    "data": _data_bytes,
    "text": _text_bytes,
    "pair": lambda pair: _text_bytes(pair[0]) + _text_bytes(pair[1]),
    "properties": _properties_bytes,
    "rest": bytes,
    "codes": bytes,
}
"""The writer of each format; a value that does not fit raises one of Python's errors."""
