"""What a broker's clients send and receive: packets, connecting and closing, each on its client's port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from otf.codec import PortAction
from otf.codec.mqtt import (
    MqttAuth,
    MqttCodec,
    MqttConnack,
    MqttConnect,
    MqttDisconnect,
    MqttPingreq,
    MqttPingresp,
    MqttPuback,
    MqttPubcomp,
    MqttPublish,
    MqttPubrec,
    MqttPubrel,
    MqttSuback,
    MqttSubscribe,
    MqttUnsuback,
    MqttUnsubscribe,
    MqttVersion,
    packet_size,
)
from otf.errors import CodecError
from otf.models.texts import with_sizes
from otf.values import show

CLIENTS: Final = ("a", "b", "c")
"""The ports: one connection each, which may end and be reopened."""

MqttPacket: TypeAlias = (
    MqttConnect
    | MqttConnack
    | MqttPublish
    | MqttPuback
    | MqttPubrec
    | MqttPubrel
    | MqttPubcomp
    | MqttSubscribe
    | MqttSuback
    | MqttUnsubscribe
    | MqttUnsuback
    | MqttPingreq
    | MqttPingresp
    | MqttDisconnect
    | MqttAuth
)


@dataclass(frozen=True, slots=True)
class MqttDial:
    """A client opens its connection."""

    client: str


@dataclass(frozen=True, slots=True)
class MqttHalt:
    """A client closes its half of the connection, so that it still gets what is in flight."""

    client: str


@dataclass(frozen=True, slots=True)
class MqttMessage:
    """A packet from a client, or to it."""

    client: str
    packet: MqttPacket


@dataclass(frozen=True, slots=True)
class MqttViolation:
    """Bytes from a client that break the rule `name`."""

    client: str
    name: str
    raw: bytes


MqttInput: TypeAlias = MqttDial | MqttHalt | MqttMessage | MqttViolation


@dataclass(frozen=True, slots=True)
class MqttClientsCodec:
    """The codec of all clients, for one version of MQTT."""

    version: MqttVersion = 4

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (MqttDial, MqttHalt, MqttMessage, MqttViolation, *MqttCodec().types)

    def port(self, value: object) -> str:
        """Return the client of a value."""
        return value.client if isinstance(value, (MqttDial, MqttHalt, MqttMessage, MqttViolation)) else ""

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or what it does to the connection. Raises CodecError."""
        match value:
            case MqttDial():
                return PortAction.CONNECT
            case MqttHalt():
                return PortAction.FINISH
            case MqttMessage(_, packet):
                return MqttCodec(version=self.version).encode(packet)
            case MqttViolation(_, _, raw):
                return raw
            case _:
                raise CodecError(f"{show(value)} is nothing that a client of MQTT does")

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the packets in some bytes. Raises CodecError if a server would wait for more."""
        del port
        return with_sizes(data, packet_size)

    def decode(self, port: str, data: bytes) -> MqttMessage:
        """Return the packet from a client, or to it. Raises CodecError."""
        packet = MqttCodec(version=self.version).decode(port, data)
        if not isinstance(packet, MqttPacket):
            raise CodecError(f"{show(packet)} is not a packet")
        return MqttMessage(port, packet)
