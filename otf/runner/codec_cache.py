"""The codec cache: systems exchange the same few messages over and over, and codecs are pure functions."""

from __future__ import annotations

from typing import Final

from otf.codec import Codec, PortAction

KEPT: Final = 4096  # values and frames; the next one clears the cache
SHORT: Final = 512  # bytes: longer frames hardly ever repeat, and would take much memory


class CodecCache:
    """A codec that remembers its recent results, but not its exceptions."""

    def __init__(self, codec: Codec) -> None:
        self.codec: Codec = codec
        # by the identity of values, which are kept alive here: a model's inputs are the same objects again and again
        self._encoded: dict[int, tuple[object, bytes | PortAction]] = {}
        self._decoded: dict[tuple[str, bytes], object] = {}

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or its port action. Raises any exception of the codec."""
        known = self._encoded.get(id(value))
        if known is None:
            known = value, self.codec.encode(value)
            if len(self._encoded) >= KEPT:
                self._encoded.clear()
            self._encoded[id(value)] = known
        return known[1]

    def decode(self, port: str, data: bytes) -> object:
        """Return the output of a frame. Raises any exception of the codec."""
        frame = port, data
        if frame in self._decoded:
            return self._decoded[frame]
        output = self.codec.decode(port, data)
        if len(data) <= SHORT:
            if len(self._decoded) >= KEPT:
                self._decoded.clear()
            self._decoded[frame] = output
        return output
