"""Codecs: pure functions between values and the bytes of a port."""

from typing import TYPE_CHECKING

from otf.codec.codec import Codec, LineCodec, PortAction, lines

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = ["Codec", "LineCodec", "PortAction", "lines"]
