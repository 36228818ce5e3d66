"""A channel in the model: its members, operators, guests, topic and modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from otf.models.irc.messages import Say
from otf.spec import Transition

CHANNEL: Final = "#x"
NOWHERE: Final = "#nope"
NO_ONE: Final = "nobody"


@dataclass(frozen=True, slots=True)
class Channel:
    """The members, the operators among them, the invited; the topic, and the modes t and i."""

    members: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    invited: frozenset[str] = frozenset()
    topic: str = ""
    modes: frozenset[str] = frozenset()

    def without(self, client: str) -> Channel:
        """Return the channel after a client has left; a channel ends with its last member."""
        members = self.members - {client}
        return replace(self, members=members, operators=self.operators - {client}) if members else Channel()

    def names(self) -> str:
        """Return the sorted names of the members, as listed."""
        return " ".join(sorted(f"{'@' * (each in self.operators)}{each}" for each in self.members))


Step: TypeAlias = Iterator[Transition[Channel]]
Command: TypeAlias = Callable[[Channel, Say], Step]
