"""Codecs: pure functions between values and the bytes of a port."""

from otf.codec.codec import Codec
from otf.codec.deed import Deed
from otf.codec.lines import Lines, lines

__all__ = ["Codec", "Deed", "Lines", "lines"]
