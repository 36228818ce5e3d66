"""What every framing promises: the same frames wherever the stream is cut, and bounded memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from random import Random
from typing import Final

from otf.errors import CodecError
from otf.framing import LARGEST, Frame, Framer, Framing

_LONG: Final = 64  # bytes: most mistakes need few
_EVERY: Final = 300  # bytes of a stream to cut at each place
_CUTS: Final = 50


def noise(random: Random, rounds: int, longest: int = _LONG) -> Iterator[bytes]:
    """Yield random bytes, the empty frame first."""
    yield b""
    for _ in range(rounds):
        yield random.randbytes(random.randint(1, longest))


def damaged(random: Random, frames: Sequence[bytes], rounds: int) -> Iterator[bytes]:
    """Yield these frames with a byte changed, cut off, doubled or added: a framing reads further into them."""
    for _ in range(rounds if frames else 0):
        data = random.choice(frames)
        at, byte = random.randint(0, len(data)), random.randbytes(1)
        changed, longer = data[:at] + byte + data[at + 1 :], data[:at] + byte + data[at:]
        yield random.choice((changed, longer, data[:at], data[at:], data * 2))


def cuts(random: Random, stream: bytes) -> Iterator[list[bytes]]:
    """Yield a stream whole, byte by byte, cut in two at each place (at some places if long), and in random parts."""
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


ROUNDS: Final = 200
FILLERS: Final = (b"\0", b"x", b"\xff")
_CHUNK: Final = 1024
_ROOM: Final = 1 << 15  # bytes beside the frames themselves


def letters(size: int) -> bytes:
    """Return a frame of a size."""
    return b"a" * size


def check_framing(  # noqa: PLR0913 -- each is a part of the protocol that not every framing has
    framing: Framing,
    frames: Iterable[bytes],
    *,
    wire: Callable[[bytes], bytes] | None = None,
    exchanges: Iterable[tuple[bytes, bytes]] = (),
    largest: int | None = None,
    sized: Callable[[int], bytes] = letters,
    endless: Iterable[bytes] = FILLERS,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> None:
    """Test a framing; raise an AssertionError that names the wrong cut, frame or bytes.

    The framing must return the `frames` unchanged and in order, at whatever places their stream is cut. `wire` returns
    the bytes of a frame as the system sends it (default: the bytes of `pack`). If a framing must see a request to know
    the length of the answer, pass `exchanges`: pairs of a request and the bytes of its answer on the wire.

    With `largest`, a frame of `largest` bytes must arrive whole. A frame of one byte more must arrive with its
    `trouble` set, and must not disturb the next frame. `sized` makes a frame of a given size. If a stream repeats one
    of the `endless` byte strings without end, the framer must need only bounded memory. Random bytes and damaged
    streams must not raise an exception.

    A framing is a function that makes framers; a framer has `gap`, `unfinished`, `begun`, `pack`, `feed` and `rest`. In
    this example an answer has as many bytes as the request asked for:

    >>> from otf.framing import Frame
    >>> class Asked:
    ...     gap = 0.0
    ...     def __init__(self):
    ...         self.begun, self.sizes = b"", []
    ...     @property
    ...     def unfinished(self): return bool(self.begun)
    ...     def pack(self, data):
    ...         self.sizes.append(data[-1])  # the last byte of a request says how many bytes are to be read
    ...         return data
    ...     def feed(self, chunk):
    ...         self.begun += chunk
    ...         frames = []
    ...         while self.sizes and len(self.begun) >= self.sizes[0]:
    ...             size = self.sizes.pop(0)
    ...             frames.append(Frame(self.begun[:size]))
    ...             self.begun = self.begun[size:]
    ...         if not self.sizes and self.begun:
    ...             frames += self.rest()  # no one has asked for it
    ...         return frames
    ...     def rest(self):
    ...         left, self.begun = self.begun, b""
    ...         return [Frame(left, "not asked for")] if left else []
    >>> check_framing(Asked, [], exchanges=[(b"read 2" + bytes([2]), b"ab"), (b"read 3" + bytes([3]), b"cde")])
    """
    random = Random(seed)
    own, packed = list(frames), wire or framing().pack
    _cut_anywhere(framing, own, [packed(frame) for frame in own], random)
    _answers(framing, list(exchanges), random)
    if largest is not None:
        _sizes(framing, packed, largest, sized)
    for filler in endless:
        _bounded(framing, filler, LARGEST if largest is None else largest)
    _unmoved(framing, [*noise(random, rounds), *damaged(random, [packed(frame) for frame in own], rounds)])


def _cut_anywhere(framing: Framing, frames: Sequence[bytes], raw: Sequence[bytes], random: Random) -> None:
    if framing().gap:  # silence ends each frame, so each is its own stream
        for frame, its in zip(frames, raw, strict=True):
            for parts in cuts(random, its):
                framer = framing()
                _expect([*_fed(framer, parts), *framer.rest()], [frame], parts)
                _rested(framer)
        return
    for parts in cuts(random, b"".join(raw)):
        framer = framing()
        _expect(_fed(framer, parts), frames, parts)
        framer.rest()
        _rested(framer)


def _answers(framing: Framing, exchanges: Sequence[tuple[bytes, bytes]], random: Random) -> None:
    for all_parts in zip(*(cuts(random, answer) for _, answer in exchanges), strict=False):
        framer = framing()
        for (request, answer), parts in zip(exchanges, all_parts, strict=True):
            framer.pack(request)
            _expect([*_fed(framer, parts), *(framer.rest() if framer.gap else ())], [answer], parts)


def _sizes(framing: Framing, packed: Callable[[bytes], bytes], largest: int, sized: Callable[[int], bytes]) -> None:
    for size in (largest, largest + 1):
        try:
            first, next_one = packed(sized(size)), packed(sized(1))
        except CodecError:
            continue  # no frame of this size can be written, so none can come
        framer = framing()
        came = framer.feed(first) + (framer.rest() if framer.gap else [])
        after = framer.feed(next_one) + (framer.rest() if framer.gap else [])
        _sized_right(came, size, largest)
        if after != [Frame(sized(1))]:
            raise AssertionError(f"after a frame of {size} bytes the next one came as {after}")


def _sized_right(came: list[Frame], size: int, largest: int) -> None:
    troubles = [frame.trouble for frame in came]
    if size <= largest and (troubles != [""] or len(came[0].data) != size):
        raise AssertionError(f"a frame of {size} bytes, the largest, came as {came}")
    if size > largest and not (len(came) == 1 and troubles[0] and len(came[0].data) <= largest):
        raise AssertionError(f"a frame of {size} bytes, one too many, came without trouble, or with more bytes: {came}")


def _bounded(framing: Framing, filler: bytes, largest: int) -> None:
    chunk = filler * (_CHUNK // len(filler))
    most = 2 * largest + _ROOM
    framer = framing()
    tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(2 * most // len(chunk)):
            framer.feed(chunk)
            if tracemalloc.get_traced_memory()[0] - before > most:
                raise AssertionError(f"a stream of {filler!r} without end takes more than {most} bytes of memory")
    finally:
        if not tracing:
            tracemalloc.stop()


def _unmoved(framing: Framing, streams: Iterable[bytes]) -> None:
    for stream in streams:
        framer = framing()
        try:
            came = [*framer.feed(stream[:1]), *framer.feed(stream[1:]), *framer.rest()]
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise AssertionError(f"the bytes {stream!r} raised {why}; give them as a frame with a trouble") from error
        if not all(isinstance(frame, Frame) for frame in came):  # pyright: ignore[reportUnnecessaryIsInstance] -- tested
            raise AssertionError(f"the bytes {stream!r} came as {came}; `feed` and `rest` return frames")
        _rested(framer)


def _fed(framer: Framer, parts: Iterable[bytes]) -> list[Frame]:
    return list(chain.from_iterable(map(framer.feed, parts)))


def _expect(came: list[Frame], frames: Sequence[bytes], parts: Sequence[bytes]) -> None:
    if came != [Frame(frame) for frame in frames]:
        raise AssertionError(f"the stream {list(parts)} came as {came}; its frames are {list(frames)}")


def _rested(framer: Framer) -> None:
    if framer.unfinished or framer.begun or framer.rest():
        raise AssertionError(
            f"after `rest` something is left: begun is {framer.begun!r}, unfinished {framer.unfinished}"
        )
