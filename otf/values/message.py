"""The message in a value: an envelope that names a port says nothing about what the message does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

ENVELOPES: Final[dict[type, Callable[[Any], object]]] = {}
"""The types of envelopes, each with the function that takes the message out."""


def message_of(value: object) -> object:
    """Return the message in an envelope such as `otf.codec.by_port.At`; any other value is itself the message.

    >>> message_of("ping")
    'ping'
    """
    opened = ENVELOPES.get(type(value))
    return value if opened is None else opened(value)
