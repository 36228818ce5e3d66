"""A stack: push puts a value on top, pop takes it off and returns it.

Source: Jacky, "PyModel: Model-based testing in Python", section "Infinite Models". There are two versions of the model:
a function of a tuple (`STACK`), and actions with enabling conditions over an object, as in PyModel (`PROGRAM`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from otf.notations import action, actions
from otf.spec import Spec, Transition, goto

VALUES: Final = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Push:
    """Put a value on top."""

    value: int


@dataclass(frozen=True, slots=True)
class Pop:
    """Take the value on top; there must be one."""


Items: TypeAlias = tuple[int, ...]
EMPTY: Final[Items] = ()


def step(items: Items, inp: Push | Pop) -> Iterator[Transition[Items]]:
    """Yield what may happen; the value on top comes first in the state."""
    if isinstance(inp, Push):
        yield goto((inp.value, *items))
    elif items:
        yield goto(items[1:], items[0])


STACK: Final[Spec[Items, Push | Pop]] = Spec(step, EMPTY, (*map(Push, VALUES), Pop()), name="stack")


class Program:
    """The model program of the paper."""

    def __init__(self) -> None:
        self.stack: list[int] = []

    @action(x=[0, 1])
    def push(self, x: int) -> None:
        """Push is always enabled."""
        self.stack.insert(0, x)

    def filled(self) -> bool:
        """Return whether it is not empty."""
        return bool(self.stack)

    @action(enabled=filled)
    def pop(self) -> int:
        """Pop is enabled when the stack is not empty."""
        return self.stack.pop(0)


PROGRAM: Final = actions(Program, accepting=lambda program: not program.stack, name="stack program")
