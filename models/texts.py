"""Text in the bytes of a system."""

from __future__ import annotations

from otf.errors import CodecError


def text_of(data: bytes, encoding: str = "utf-8") -> str:
    """Return the text of some bytes. Raises CodecError where they are none."""
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        raise CodecError(str(error)) from error
