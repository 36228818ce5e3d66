"""The codec cache: systems exchange the same few messages over and over, and codecs are pure functions."""

from __future__ import annotations

import struct
from types import CoroutineType, GeneratorType
from typing import Final

from otf.adapter import Frame
from otf.adapter.third_party import stumbled
from otf.codec import Codec, PortAction, types_of
from otf.codec.malformed import MalformedCodec, Unreadable
from otf.errors import CodecError, ModelError
from otf.trace.events import Ended, Undecodable
from otf.values import show
from otf.values.arguments import brief
from otf.values.raised import blame, definition, describe, own_frames, own_line

KEPT: Final = 16_384  # values and frames; one more clears the cache. Of 10,000 inputs, 4,096 hardly ever came again
SHORT: Final = 512  # bytes: longer frames hardly ever repeat, and would take much memory


class Undecided(Exception):  # noqa: N818 -- a state of the run, not an error of the user
    """The line or the codec is at fault: later events decide nothing."""


class CodecCache:
    """A codec that remembers its recent results, but not its exceptions."""

    def __init__(self, codec: Codec) -> None:
        self.codec: Codec = codec
        self._types = (*found, Ended, Undecodable) if (found := types_of(codec)) else ()
        # by identity, which keeps the values alive: a model's inputs are the same objects again and again
        self._encoded: dict[int, tuple[object, bytes | PortAction]] = {}
        self._decoded: dict[tuple[str, bytes], object] = {}

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or its port action. Raises ModelError if the codec cannot encode it."""
        known = self._encoded.get(id(value))
        if known is None:
            known = value, self._bytes(value)
            if len(self._encoded) >= KEPT:
                self._encoded.clear()
            self._encoded[id(value)] = known
        return known[1]

    def _bytes(self, value: object) -> bytes | PortAction:
        try:
            data: object = self.codec.encode(value)
        except CodecError as error:
            message = f"the codec has no bytes for the input {show(value)}: {error}"
            raise ModelError(message + own_frames(error)) from error
        except Exception as error:
            raise blame(f"the codec raised for the input {show(value)}:", error, self.codec.encode) from error
        if isinstance(data, bytes | PortAction):  # pyright: ignore[reportUnnecessaryIsInstance] -- a user's codec may return anything
            return data
        advice = _lazy(data) or ("is a `return` missing?" if data is None else "use text.encode()")
        message = f"the codec gave {brief(data)} for the input {show(value)}, which is not bytes; {advice}"
        raise ModelError(message + definition(self.codec.encode))

    def decode(self, port: str, data: bytes) -> object:
        """Return the output of a frame. Raises any exception of the codec; ModelError if that lists no such type."""
        frame = port, data
        if frame in self._decoded:
            return self._decoded[frame]
        output = self.codec.decode(port, data)
        if (self._types or output is None) and not isinstance(output, self._types):
            advice = "perhaps a branch has no `return`" if output is None else f"add {type(output).__name__} to them"
            advice = _lazy(output) or advice
            message = f"the codec's decode returned {show(output)}, not a value of its `types`: {advice}"
            raise ModelError(message + definition(self.codec.decode))
        if len(data) <= SHORT:
            if len(self._decoded) >= KEPT:
                self._decoded.clear()
            self._decoded[frame] = output
        return output

    def output(self, port: str, frame: Frame) -> object:
        """Return the output of a frame as a run sees it. Raises Undecided if the codec fails."""
        if frame.trouble:
            # after malformed inputs any answer may come, even one that the framing cannot cut
            lenient = isinstance(self.codec, MalformedCodec)
            return Unreadable(frame.data) if lenient else Undecodable(frame.data, frame.trouble)
        try:
            return self.decode(port, frame.data)
        except (CodecError, ValueError, struct.error) as error:
            # what Python itself raises for bytes that are not a message: int(data), bytes.decode, json.loads,
            # struct.unpack
            return Undecodable(frame.data, str(error) if isinstance(error, CodecError) else _raised(error))
        except Exception as error:
            # a codec that fails proves nothing about the bytes: the mistake may be its own
            raise Undecided(stumbled(port, frame.data, error)) from error


def _lazy(result: object) -> str:
    wrong: dict[type, str] = {CoroutineType: "leave out `async`", GeneratorType: "write `return`, not `yield`"}
    return wrong.get(type(result), "")


def _raised(error: Exception) -> str:
    line = own_line(error)
    return f"{describe(error)} ({line})" if line else describe(error)
