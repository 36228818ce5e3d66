"""Texts with the port before their first dot, and their codec: `p.ping` is the frame `ping` on the port `p`."""

from __future__ import annotations

from dataclasses import dataclass

from otf.errors import CodecError


@dataclass(frozen=True)
class Words:
    """The codec: a text up to its first dot is the port, the rest the frame."""

    types: tuple[type, ...] = ()

    def port(self, value: object) -> str:
        """Return the port of a value."""
        return str(value).partition(".")[0]

    def encode(self, value: object) -> bytes:
        """Return the frame of an input."""
        return str(value).partition(".")[2].encode()

    def decode(self, port: str, data: bytes) -> object:
        """Return the output of a frame."""
        try:
            return f"{port}.{data.decode()}"
        except UnicodeDecodeError as error:
            raise CodecError(str(error)) from error
