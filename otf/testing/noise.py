"""Random bytes, damaged frames, and cuts through a stream; all of it from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final

_LONG: Final = 64  # bytes: most mistakes need few
_EVERY: Final = 300  # bytes of a stream that is cut at each place
_CUTS: Final = 50


def noise(random: Random, rounds: int, longest: int = _LONG) -> Iterator[bytes]:
    """Yield random bytes, the empty frame first."""
    yield b""
    for _ in range(rounds):
        yield random.randbytes(random.randint(1, longest))


def damaged(random: Random, frames: Sequence[bytes], rounds: int) -> Iterator[bytes]:
    """Yield these frames with a byte changed, cut off, doubled or added: they get further than noise does."""
    for _ in range(rounds if frames else 0):
        data = random.choice(frames)
        at, byte = random.randint(0, len(data)), random.randbytes(1)
        changed, longer = data[:at] + byte + data[at + 1 :], data[:at] + byte + data[at:]
        yield random.choice((changed, longer, data[:at], data[at:], data * 2))


def cuts(random: Random, stream: bytes) -> Iterator[list[bytes]]:
    """Yield a stream whole, byte by byte, in two parts at each place (of a long one: at some), and in random parts."""
    yield [stream]
    yield [stream[at : at + 1] for at in range(len(stream))]
    inner = range(1, len(stream))
    for at in inner if len(inner) <= _EVERY else random.sample(inner, _CUTS):
        yield [stream[:at], stream[at:]]
    for _ in range(_CUTS):
        yield list(_parts(stream, sorted(random.sample(inner, min(len(inner), random.randint(0, 9))))))


def _parts(stream: bytes, places: Iterable[int]) -> Iterator[bytes]:
    before = 0
    for at in (*places, len(stream)):
        yield stream[before:at]
        before = at
