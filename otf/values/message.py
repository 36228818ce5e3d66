"""What a value carries: an envelope that names a port says nothing of what a message does."""

from __future__ import annotations

from functools import singledispatch


@singledispatch
def message_of(value: object) -> object:
    """Return the message in an envelope such as `otf.codec.by_port.At`; another value is a message itself.

    >>> message_of("ping")
    'ping'
    """
    return value
