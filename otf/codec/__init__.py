"""Codecs: pure functions between values and the bytes of a port."""

from otf.codec.codec import Codec
from otf.codec.lines import LineCodec, lines
from otf.codec.port_action import PortAction

__all__ = ["Codec", "LineCodec", "PortAction", "lines"]
