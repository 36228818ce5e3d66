"""A port of a bench: what opens its line, and how the same is opened at another address."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from otf.adapter.line import Line
from otf.framing import Framing


@dataclass(frozen=True, slots=True)
class Port:
    """Opens a line when it is called; the adapters return it.

    `kind` is the name of the adapter, `framing` what it cuts a stream with (None where frames come as such), `at`
    makes the same port, with all its options, at another address; `url` is its address, where it has one.
    """

    open: Callable[[], AbstractAsyncContextManager[Line]]
    kind: str
    framing: Framing | None = None
    at: Callable[[str], Port] | None = None
    url: str = ""

    def __call__(self) -> AbstractAsyncContextManager[Line]:
        """Open a line."""
        return self.open()
