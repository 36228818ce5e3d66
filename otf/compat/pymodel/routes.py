"""Observable actions on ports of their own: which ones overtook which is not known."""

from __future__ import annotations

from dataclasses import dataclass

from otf.adapter.bench import SYSTEM
from otf.errors import CodecError
from otf.fronts import Call


@dataclass(frozen=True)
class Apiece:
    """The codec of a system in this process, whose observable actions have a port each."""

    ports: tuple[str, ...]
    types: tuple[type, ...]

    def port(self, value: object) -> str:
        """Return the port of a value: the name of an observable action, or the one for everything else."""
        return value.name if isinstance(value, Call) and value.name in self.ports else SYSTEM

    def encode(self, value: object) -> bytes:
        """Refuse: nothing is sent as bytes."""
        raise CodecError(f"{value!r} is not sent: the system is in this process")

    def decode(self, port: str, data: bytes) -> object:
        """Refuse: nothing comes as bytes."""
        raise CodecError(f"{data!r} does not come on {port}: the system is in this process")
