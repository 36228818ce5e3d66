"""A codec that remembers: systems say the same few things over and over, and codecs are pure functions."""

from __future__ import annotations

from typing import Final

from otf.codec import Codec, PortAction

KEPT: Final = 4096  # values and frames; with the next one all are forgotten
SHORT: Final = 512  # bytes: longer frames hardly ever come twice, and would take much room


class CodecCache:
    """Asks a codec what it was not asked lately. What it raises is not remembered."""

    def __init__(self, codec: Codec) -> None:
        self.codec: Codec = codec
        # by the identity of values, which are kept with it: the inputs of a model are the same objects again and again
        self._encoded: dict[int, tuple[object, bytes | PortAction]] = {}
        self._decoded: dict[tuple[str, bytes], object] = {}

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or its deed. Raises what the codec raises."""
        known = self._encoded.get(id(value))
        if known is None:
            known = value, self.codec.encode(value)
            if len(self._encoded) >= KEPT:
                self._encoded.clear()
            self._encoded[id(value)] = known
        return known[1]

    def decode(self, port: str, data: bytes) -> object:
        """Return the output that a frame stands for. Raises what the codec raises."""
        frame = port, data
        if frame in self._decoded:
            return self._decoded[frame]
        output = self.codec.decode(port, data)
        if len(data) <= SHORT:
            if len(self._decoded) >= KEPT:
                self._decoded.clear()
            self._decoded[frame] = output
        return output
