"""What every codec promises: values survive the wire, and hostile bytes raise only CodecError."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Final, TypeVar

from otf.codec import Codec, PortAction
from otf.errors import USERS_OWN, CodecError
from otf.testing.framing import damaged, noise
from otf.values import show

ROUNDS: Final = 500
T = TypeVar("T")


def check_codec(  # noqa: PLR0913 -- what is tested, and how much of it
    codec: Codec,
    values: Iterable[object] = (),
    *,
    inputs: Iterable[object] = (),
    frames: Iterable[tuple[str, bytes]] = (),
    ports: Iterable[str] = (),
    rounds: int = ROUNDS,
    seed: int = 0,
) -> None:
    """Test a codec; raise AssertionError that names the value or the bytes at fault.

    The codec must decode each of the `values` from its own bytes: `decode(port, encode(value)) == value`. The codec
    need not decode `inputs`, but must encode an input to equal bytes each time. `frames` are pairs of a port and the
    bytes of a frame that the system sends. The codec must decode each of the `frames`, and `encode` must return the
    frame's bytes again or raise CodecError. `check_codec` also passes `rounds` random and `rounds` damaged frames to
    `decode` on each known port and on each of `ports`; the `seed` determines them. `decode` may then raise nothing but
    CodecError. All values must belong to `codec.types`.

    A codec has `types`, `port`, `encode` and `decode`:

    >>> import struct
    >>> from dataclasses import dataclass
    >>> from otf.errors import CodecError
    >>> @dataclass(frozen=True)
    ... class Level:
    ...     number: int
    >>> class Levels:
    ...     types = (Level,)
    ...     def port(self, value): return "line"
    ...     def encode(self, value): return struct.pack(">BH", 1, value.number)
    ...     def decode(self, port, data):
    ...         if len(data) != 3 or data[0] != 1:
    ...             raise CodecError(f"not a level: {data!r}")
    ...         return Level(*struct.unpack(">H", data[1:]))
    >>> check_codec(Levels(), [Level(0), Level(65_535)], frames=[("line", bytes([1, 2, 3]))])

    It catches a codec that forgets to check the length:

    >>> class Careless(Levels):
    ...     def decode(self, port, data): return Level(*struct.unpack(">H", data[1:]))
    >>> check_codec(Careless(), [Level(0)])
    Traceback (most recent call last):
    AssertionError: decode('line', b'') raised error: unpack requires a buffer of 2 bytes; only CodecError may be raised
    """
    for value in inputs:
        _bytes_of(codec, value)
    samples = [*_round_trips(codec, values), *_frame_trips(codec, frames)]
    random = Random(seed)
    for port in dict.fromkeys([*(port for port, _ in samples), *ports]):
        own = [data for its, data in samples if its == port]
        for data in [*noise(random, rounds), *damaged(random, own, rounds)]:
            _decoded(codec, port, data)


def _bytes_of(codec: Codec, value: object) -> tuple[str, bytes | PortAction]:
    port, data = codec.port(value), _encoded(codec, value)
    if not isinstance(port, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- this is what is tested
        raise AssertionError(f"port({show(value)}) is {show(port)}; the name of a port is a text")  # noqa: TRY004 -- a test failed
    if data is None:
        raise AssertionError(f"encode({show(value)}) raised CodecError; each value to test has bytes")
    if _encoded(codec, value) != data:
        raise AssertionError(f"encode({show(value)}) gives other bytes the second time: a codec has no state")
    _of_types(codec, value, "a value to test")
    return port, data


def _round_trips(codec: Codec, values: Iterable[object]) -> Iterator[tuple[str, bytes]]:
    for value in values:
        port, data = _bytes_of(codec, value)
        if isinstance(data, PortAction):
            continue
        back = _decoded(codec, port, data)
        if back != value:
            raise AssertionError(f"decode({port!r}, {data!r}) is {show(back)}; these are the bytes of {show(value)}")
        yield port, data


def _frame_trips(codec: Codec, frames: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for port, data in frames:
        yield port, data
        value = _decoded(codec, port, data)
        if value is None:
            raise AssertionError(f"decode({port!r}, {data!r}) raised CodecError; each frame to test has a value")
        raw = _encoded(codec, value)
        if raw is not None and raw != data:
            raise AssertionError(f"encode({show(value)}) is {show(raw)}; this value was decoded from {data!r}")


def _encoded(codec: Codec, value: object) -> bytes | PortAction | None:
    """Return the bytes of a value; None if it has none."""
    call = f"encode({show(value)})"
    data = _only_codec_error(lambda: codec.encode(value), call)
    if not isinstance(data, bytes | PortAction | None):  # pyright: ignore[reportUnnecessaryIsInstance] -- the same
        raise AssertionError(f"{call} is {show(data)}; it returns bytes, or a PortAction")  # noqa: TRY004 -- the same
    return data


def _decoded(codec: Codec, port: str, data: bytes) -> object | None:
    """Return the value of some bytes; None if they have none."""
    call = f"decode({port!r}, {data!r})"
    value = _only_codec_error(lambda: codec.decode(port, data), call)
    if value is not None:
        _of_types(codec, value, call)
    return value


def _of_types(codec: Codec, value: object, what: str) -> None:
    # values of builtin types need no declaration: a trace holds them as they are
    if not isinstance(value, codec.types) and type(value).__module__ != "builtins":
        name = type(value).__name__
        raise AssertionError(
            f"{what} is {show(value)}; add {name} to the types of the codec, so that traces are read back"
        )


def _only_codec_error(call: Callable[[], T], what: str) -> T | None:
    try:
        return call()
    except CodecError:
        return None
    except USERS_OWN:
        raise
    except BaseException as error:
        name = type(error).__name__
        raise AssertionError(f"{what} raised {name}: {error}; only CodecError may be raised") from error
