"""All systems that pass a suite: it runs on a system whose transitions are chosen when they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field

from otf.suite import NumberedMachine
from otf.suite.machine import Word

Place = tuple[int, int]  # a state and an input


@dataclass
class System:
    """What is known of a system so far: next states that were chosen, and outputs that the suite has seen."""

    next: dict[Place, int] = field(default_factory=dict[Place, int])
    out: dict[Place, int] = field(default_factory=dict[Place, int])

    def choices(self, place: Place, states: int) -> list[System]:
        """The systems where this transition leads: to a state that was met, or to the next new one.

        So no two of them differ by the names of their states alone.
        """
        known = 1 + max(self.next.values(), default=0)
        return [System({**self.next, place: to}, dict(self.out)) for to in range(min(known + 1, states))]

    def run(self, model: NumberedMachine, words: list[Word]) -> Place | bool:
        """Run a suite: whether it passes, or the transition whose next state has to be known first."""
        for word in words:
            here = there = 0
            for left, inp in zip(range(len(word) - 1, -1, -1), word, strict=True):
                if self.out.setdefault((there, inp), model.out[here][inp]) != model.out[here][inp]:
                    return False
                if left and (there, inp) not in self.next:
                    return there, inp
                # where the last input leads this word does not see
                here, there = model.next[here][inp], self.next.get((there, inp), 0)
        return True

    def equal(self, model: NumberedMachine) -> Place | bool:
        """Whether it does what the model says; an output that no word saw may be a wrong one."""
        seen, left = {(0, 0)}, [(0, 0)]
        while left:
            here, there = left.pop()
            for inp, expected in enumerate(model.out[here]):
                if self.out.get((there, inp)) != expected:
                    return False
                if (there, inp) not in self.next:
                    return there, inp
                pair = model.next[here][inp], self.next[there, inp]
                if pair not in seen:
                    seen.add(pair)
                    left.append(pair)
        return True

    def unknown(self, words: list[Word]) -> Place | None:
        """The first transition on a way of these whose next state has to be known."""
        for word in words:
            here = 0
            for inp in word:
                if (here, inp) not in self.next:
                    return here, inp
                here = self.next[here, inp]
        return None


def fooled(model: NumberedMachine, words: list[Word], states: int, ways: list[Word] | None = None) -> System | None:
    """A system with at most so many states that passes a suite and is wrong, None where none is.

    With `ways`, one of any size whose states are those on these ways.
    """
    left = [System()]
    while left:
        system = left.pop()
        told = system.run(model, words)
        if ways is not None and told is not False:
            place = system.unknown(ways)
            if place is not None:
                left += system.choices(place, len(system.next) + 2)
                continue
            states = 1 + max(system.next.values(), default=0)
        if told is True:
            told = system.equal(model)
            if told is False:
                return system
        if isinstance(told, tuple):
            left += system.choices(told, states)
    return None
