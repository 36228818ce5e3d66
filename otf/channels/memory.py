"""What a spec answered: it is asked once.

That is no matter of speed. A spec may yield a new `lambda` each time that it is asked for a transition; in the net,
outputs that are like it would be told apart from those that are like the next one, and there would be no end of states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, TypeGuard

from otf.errors import ModelError
from otf.values import key, show

REMEMBERED: Final = 100_000  # answers


class SpecAnswers:
    """The answers of one spec, by the state, and the input where there is one."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, list[Any]] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._answers)

    def asked(self, function: Callable[..., object], *arguments: object) -> list[Any]:
        """Return what the function yields. Raises ModelError where that is nothing to go through."""
        name = tuple(map(key, arguments))
        answer = self._answers.get(name)
        if answer is None:
            if len(self._answers) >= REMEMBERED:
                self._answers.clear()
            answer = self._answers[name] = _listed(function(*arguments))
        return answer


def _listed(yields: object) -> list[Any]:
    if _iterable(yields):
        return list(yields)
    message = f"it returned {show(yields)}; yield transitions (goto(state, output, …)), or return a list of them"
    raise ModelError(message)


def _iterable(yields: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(yields, Iterable)
