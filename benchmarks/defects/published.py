"""Published defects: which package shows one, up to which version, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from otf.adapter import Bench

Registry: TypeAlias = Literal["pypi", "npm"]
ServedBy: TypeAlias = Callable[[Sequence[str]], Bench]
"""Returns the bench of a protocol for servers that this command starts: a fresh one for each path."""
ServedAt: TypeAlias = Callable[[str], Bench]
"""Returns the bench of a protocol for a server that listens already at HOST:PORT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A defect of protocol behaviour in a released package: `bad` has it, `fixed` is the first version without it.

    `server` is a file (a name: one in the folder `servers`): it serves the package on 127.0.0.1, and prints its port
    first, as a line of digits. `advisory` is the number of an advisory, or the place in a changelog; `says` is its
    sentence. `pins` are other packages that these versions need, as pip or npm want them. `violates` are the
    requirements that it violates, as a person reads the advisory: no other difference of the versions is this defect.
    `at`: how to reach a server that keeps nothing from connection to connection, so that one serves many paths.
    """

    package: str
    bad: str
    fixed: str
    bench: ServedBy
    server: str
    advisory: str
    says: str
    registry: Registry = "pypi"
    pins: tuple[str, ...] = ()
    violates: tuple[str, ...] = ()
    at: ServedAt | None = None

    @property
    def name(self) -> str:
        """Return the name by which one is chosen."""
        return f"{self.package} {self.bad}: {self.advisory}"
