"""Where the other end of a line is, as far as the line knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

Transport: TypeAlias = Literal["tcp", "udp"]

Bound: TypeAlias = tuple[str, int]
"""A (host, port)."""


class Unseen(Exception):  # noqa: N818 -- what happened, not an error
    """The rest of a system cannot be observed; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the other end of a line is: a process, or an address; `hidden`: why that cannot be known.

    A line that is not connected leads nowhere yet: it has none of them. `inside`: it is in this process, and answers
    before it returns.
    """

    pid: int = 0
    transport: Transport | None = None
    address: Bound | None = None
    hidden: str = ""
    inside: bool = False


@runtime_checkable
class Placed(Protocol):
    """A line that knows where its other end is."""

    def place(self) -> Place:
        """Return where the other end is now."""
        ...


@runtime_checkable
class Delaying(Protocol):
    """A line whose bytes may wait in the kernel after the system has written them."""

    def unsent(self) -> int:
        """Return how many bytes the system has written that have not arrived. Raises OSError where that is hidden."""
        ...
