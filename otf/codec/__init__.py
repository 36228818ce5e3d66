"""Codecs: pure functions between values and the bytes of a port."""

from otf.codec.codec import Codec, PortAction
from otf.codec.lines import LineCodec, lines

__all__ = ["Codec", "LineCodec", "PortAction", "lines"]
