"""`codecs` combines the codecs of several ports into one codec; `At` states on which of the ports a message travels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from otf.codec import Codec, PortAction
from otf.errors import CodecError, UsageError, refuse
from otf.values import show
from otf.values.arguments import brief, checked
from otf.values.text import COMPARED, ENVELOPES


@dataclass(frozen=True, slots=True, repr=False)
class At:
    """A `message` with the name of its `port`, for a bench in which several ports carry the same types of message.

    >>> At("alice", "GET /")
    'GET /' on alice
    """

    port: str
    message: Any

    def __repr__(self) -> str:
        """Return the message and its port, the way that failures name ports."""
        return f"{show(self.message, COMPARED)} on {self.port}"


ENVELOPES[At] = attrgetter("message")


@dataclass(frozen=True, slots=True)
class PortCodecs:
    """A codec for several ports: `by_port` maps the name of each port to the port's codec.

    `alike` names the ports that carry the same messages: the codec wraps each message of these ports in an `At`.

    >>> from otf.codec import lines
    >>> codec = codecs(alice=lines({int: "{}"}), bob=lines({int: "{}"}))
    >>> codec.decode("bob", b"7"), codec.decode_input("bob", b"8")
    (7 on bob, 8 on bob)
    >>> codec.port(At("bob", 7)), codec.encode(At("bob", 7))
    ('bob', b'7')
    """

    by_port: Mapping[str, Codec]
    alike: frozenset[str]

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of the values on all ports."""
        kinds = dict.fromkeys(kind for codec in self.by_port.values() for kind in codec.types)
        return (*([At] if self.alike else []), *kinds)

    def port(self, value: object) -> str:
        """Return the port of a value. Raises CodecError if no port carries the value."""
        if isinstance(value, At) and value.port in self.alike:
            return value.port
        found = (port for port, codec in self.by_port.items() if port not in self.alike and type(value) in codec.types)
        port = next(found, None)
        if port is None:
            where = f"; of {', '.join(sorted(self.alike))} write At(port, message)" if self.alike else ""
            raise CodecError(f"{show(value)} belongs to none of the ports {', '.join(self.by_port)}{where}")
        return port

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes or the action that the port's codec returns for the input. Raises CodecError."""
        return self.by_port[self.port(value)].encode(value.message if isinstance(value, At) else value)

    def decode(self, port: str, data: bytes) -> object:
        """Return the output that the port's codec decodes from these bytes. Raises whatever that codec raises."""
        return self._at(port, self.by_port[port].decode(port, data))

    def decode_input(self, port: str, data: bytes) -> object:
        """Return the input that the port's codec decodes from these bytes. Raises whatever that codec raises."""
        codec = self.by_port[port]
        return self._at(port, getattr(codec, "decode_input", codec.decode)(port, data))

    def _at(self, port: str, message: object) -> object:
        return At(port, message) if port in self.alike else message


MORE: Final = "write codecs(bus=dbc(…), diag=records(…)), a codec for each port"  # what an error advises


@checked
def codecs(ports: Mapping[str, Codec] | None = None, **more: Codec) -> PortCodecs:
    """Return the codec of a bench with several ports, made of one codec for each port.

    Pass the codec of each port as a keyword argument with the port's name. If the name of a port is not a Python
    identifier, pass a dict from names to codecs. The type of a value determines its port. If two ports carry messages
    of one type, as two clients of a server do, wrap each message with its port: `At("alice", Get("/"))`. Raises
    UsageError if you name no port.

    >>> from otf.codec import lines
    >>> @dataclass(frozen=True)
    ... class Tick: pass
    >>> @dataclass(frozen=True)
    ... class Get: pass
    >>> device = codecs(bus=lines({Tick: "tick"}), diag=lines({Get: "get"}))
    >>> device.port(Get()), device.decode("bus", b"tick")
    ('diag', Tick())
    >>> server = codecs(alice=lines({Get: "get"}), bob=lines({Get: "get"}))
    >>> server.encode(At("bob", Get())), server.decode("alice", b"get")
    (b'get', Get() on alice)
    """
    by_port = {**(ports or {}), **more}
    if not by_port:
        raise UsageError(f"codecs(): no port is given: {MORE}")
    refuse("codecs: ", _no_codecs(by_port))
    common = Counter(kind for codec in by_port.values() for kind in {*codec.types})
    alike = {port for port, codec in by_port.items() if any(common[kind] > 1 for kind in codec.types)}
    return PortCodecs(by_port, frozenset(alike))


def _no_codecs(by_port: Mapping[str, object]) -> Iterator[str]:
    for port, codec in by_port.items():
        if isinstance(codec, type) or not hasattr(codec, "types"):
            yield f"{port}={brief(codec)}: a codec is needed, such as lines(…)"


__all__ = ["At", "PortCodecs", "codecs"]
