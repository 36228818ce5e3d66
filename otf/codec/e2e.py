"""Counters and checksums in CAN frames: the end-to-end protection of AUTOSAR, profiles 1, 2, 5 and 11."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from otf.codec import Codec, PortAction
from otf.codec.can import decode_can, encode_can
from otf.codec.library import import_library
from otf.errors import CodecError, UsageError
from otf.values import show
from otf.values.arguments import checked

PROFILES: Final[Mapping[int, str]] = {1: "p01", 2: "p02", 5: "p05", 11: "p11"}
"""The profiles for classic CAN and CAN FD, with their modules in the library autosar-e2e."""


@dataclass(frozen=True, slots=True)
class WrongChecksum:
    """A message whose checksum does not match its bytes, as an output that came or as an input to send.

    >>> WrongChecksum("speed").message
    'speed'
    """

    message: Any


@dataclass(frozen=True, slots=True)
class Protection:
    """How a message is protected: by an AUTOSAR profile, its data id, and the field of its checksum.

    `data_id` is a number; for profile 2, a list of 16 bytes. The counter of a message is a field like any other, and
    the model says its value (see `otf.compose.cyclic`). `options` are the library's options for this profile: `length`,
    `offset`, and `data_id_mode` for profiles 1 and 11. Raises UsageError for another profile.

    >>> Protection(1, 0x123, crc="checksum").profile
    1
    """

    profile: int
    data_id: int | bytes
    crc: str
    options: Mapping[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        """Raise UsageError for an unknown profile."""
        if self.profile not in PROFILES:
            known = ", ".join(map(str, PROFILES))
            raise UsageError(f"Protection({self.profile}): there are the profiles {known} of AUTOSAR")

    def made(self, data: bytes) -> bytes:
        """Return the bytes with the right checksum. Raises CodecError for bytes that do not fit the profile."""
        changed = bytearray(data)
        self._called("protect", changed, increment_counter=False)
        return bytes(changed)

    def fits(self, data: bytes) -> bool:
        """Return whether the checksum is right. Raises CodecError for bytes that do not fit the profile."""
        return bool(self._called("check", bytearray(data)))

    def _called(self, what: str, data: bytearray, **more: object) -> object:
        name = PROFILES[self.profile]
        function = getattr(getattr(import_library("e2e", "can"), name), f"e2e_{name}_{what}")
        try:
            return function(data, self.data_id, **self.options, **more)
        except (TypeError, ValueError, OverflowError) as error:
            shown = bytes(data).hex(" ")
            raise CodecError(f"{shown} cannot be protected by profile {self.profile}: {error}") from error


@dataclass(frozen=True, slots=True)
class ProtectedCodec:
    """A codec of CAN frames, some of which are protected; made by `protect`."""

    inner: Codec
    rules: Mapping[type, Protection]

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of the messages, and of messages with a wrong checksum."""
        return (*self.inner.types, WrongChecksum)

    def port(self, value: object) -> str:
        """Return the port of a message."""
        return self.inner.port(value.message if isinstance(value, WrongChecksum) else value)

    def encode(self, value: object) -> bytes | PortAction:
        """Return the frame of a message, with its checksum. Raises CodecError."""
        wrong = isinstance(value, WrongChecksum)
        message: object = value.message if isinstance(value, WrongChecksum) else value
        data, rule = self.inner.encode(message), self.rules.get(type(message))
        if rule is None or not isinstance(data, bytes):
            if wrong:
                raise CodecError(f"{show(message)} has no checksum that could be wrong")
            return data
        frame = decode_can(data)
        if wrong and rule.fits(frame.data):
            raise CodecError(f"the checksum of {show(message)} is right: give its field {rule.crc} another number")
        if not wrong and getattr(message, rule.crc):
            raise CodecError(f"{show(message)}: its field {rule.crc} is computed, and has to be 0 in a model")
        return data if wrong else encode_can(replace(frame, data=rule.made(frame.data)))

    def decode(self, port: str, data: bytes) -> object:
        """Return the message in a frame, with the checksum 0 if it is right. Raises CodecError."""
        message: Any = self.inner.decode(port, data)
        rule = self.rules.get(message.__class__)
        if rule is None:
            return message
        right = rule.fits(decode_can(data).data)
        return replace(message, **{rule.crc: 0}) if right else WrongChecksum(message)


@checked
def protect(codec: Codec, rules: Mapping[type, Protection]) -> ProtectedCodec:
    """Return the codec of CAN frames with protected messages: `protect(bus, {bus.messages["Speed"]: Protection(…)})`.

    In the values of a model the checksum is 0: it is computed when a message is sent, and checked when one arrives. A
    message with a wrong one arrives as `WrongChecksum(message)`, with the number it had, and can be sent as such. Needs
    the library autosar-e2e: `pip install 'otf[can]'`. Raises UsageError for a message without the field, or without the
    library.

    >>> from otf.codec.can import CanCodec, CanFrame
    >>> protect(CanCodec(), {CanFrame: Protection(1, 0x123, crc="checksum")})
    Traceback (most recent call last):
    otf.errors.UsageError: CanFrame has no field 'checksum'; it has id, data, extended, remote, fd, brs, esi
    """
    for kind, rule in rules.items():
        names: list[str] = [*getattr(kind, "__dataclass_fields__", {})]
        if rule.crc not in names:
            raise UsageError(f"{kind.__name__} has no field {rule.crc!r}; it has {', '.join(names)}")
    import_library("e2e", "can")
    return ProtectedCodec(codec, dict(rules))


__all__ = ["ProtectedCodec", "Protection", "WrongChecksum", "protect"]
