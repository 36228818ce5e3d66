"""Random specs, small and with all at once: Accept, windows, named timers, memory, ports, cyclic messages, no rest.

Each spec has systems that conform. Specs that no judge could decide are not drawn: a spontaneous output that may come
at once leads to another state, so that no system makes endless moves in no time; and an optional output comes seldom
enough for silence in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, TypeAlias

from benchmarks.blueprints import ANY, REMEMBERED, Blueprint, Branch, Part, Picked, Shuffled, Storing, Stretch
from benchmarks.subjects import TICK

LETTERS: Final = ("x", "y", "z")
FOREVER: Final = float("inf")
Wording: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True)
class Odds:
    """The probability of each feature: in a spec, or (`accept` to `unspecified`) in a branch of it.

    Of `named` timers: in a spec, that a branch starts or stops one, that something comes after one in a state.
    """

    two_inputs: float = 0.5
    three_inputs: float = 0.35
    two_outputs: float = 0.6
    memory: float = 0.4
    cyclic: float = 0.35
    restless: float = 0.3
    timers: float = 0.3
    spontaneous: float = 0.25
    accept: float = 0.2
    window: float = 0.35
    row: float = 0.1
    shuffled: float = 0.1
    ambiguous: float = 0.25
    unspecified: float = 0.05
    named: float = 0.35
    starts: float = 0.5
    stops: float = 0.1
    expires: float = 0.6


@dataclass(frozen=True)
class Drawing:
    """The names in a spec, and the random source for it."""

    random: Random
    odds: Odds
    states: tuple[str, ...]
    inputs: dict[str, str]
    outputs: dict[str, str]
    memory: int

    def happens(self, probability: float) -> bool:
        """Return true with this probability."""
        return self.random.random() < probability

    def answer(self) -> Branch:
        """Return the branches for an input."""
        random, odds = self.random, self.odds
        window = self.window((0, 0, 1, 4, 40), (0, 1, 4, 40, 100)) if self.happens(odds.window) else None
        if self.happens(odds.accept):
            return self.accept(self.states, window)
        items = self.wording(random.choice((0, 1, 1, 1, 2, 3)))
        store: Storing = random.choice(("same", "same", "input", "more")) if self.memory > 1 else "same"
        return Branch(random.choice(self.states), items, window if items else None, store)

    def wording(self, length: int) -> Wording:
        """Return the items of a transition."""
        random = self.random
        if self.happens(self.odds.row):
            return tuple(Picked(tuple(random.sample(LETTERS, 2))) for _ in range(random.randint(1, 4)))
        if self.happens(self.odds.shuffled):
            bag = Shuffled(tuple(random.choices([*LETTERS, ANY], k=random.randint(2, 3))))
            return (bag, *(self.item() for _ in range(random.randint(0, 1))))
        return tuple(self.item() for _ in range(length))

    def item(self) -> str:
        """Return one expected output."""
        more = [ANY] if self.happens(0.1) else [REMEMBERED] * (self.memory > 1)
        return self.random.choice([*LETTERS, *more])

    def accept(self, states: Sequence[str], within: Stretch | None) -> Branch:
        """Return an Accept of one or two outputs: ids that the state remembers, or letters that tell the next state.

        No sequence is a prefix of another, which would be ambiguous.
        """
        random = self.random
        port = random.choice(sorted(set(self.outputs.values())))
        here = [each for each, home in self.outputs.items() if home == port]
        firsts = random.sample(here, random.randint(1, min(3, len(here))))
        longer = [each for each in firsts if self.happens(0.25)]
        pairs = [(each, random.choice(here)) for each in longer]
        found = [(each,) for each in firsts if each not in longer] + pairs
        targets = [tuple(random.sample(states, 2 if self.happens(0.15) and len(states) > 1 else 1)) for _ in found]
        store: Storing = "seen" if self.memory > 1 and self.happens(0.7) else "same"
        return Branch(states[0], (), within, store, tuple(zip(found, targets, strict=True)), port)

    def window(self, starts: Sequence[int], widths: Sequence[int]) -> Stretch:
        """Return a window in whole ticks."""
        lo = self.random.choice(starts)
        return lo * TICK, (lo + self.random.choice(widths)) * TICK

    def later(self, state: str) -> tuple[str, ...]:
        """Return the states that come after this one: a way through them ends."""
        return self.states[self.states.index(state) + 1 :]

    def timer(self, state: str) -> Branch:
        """Return the branches that must happen in a state, soon if they lead to another state."""
        on = self.later(state)
        if on and self.happens(0.5):
            return self.led(on, self.window((0, 1, 8, 30), (0, 1, 8)))
        silent = bool(on) and self.happens(0.1)
        return self.led(self.states, self.window((100, 200, 400), (0, 4, 100)), silent=silent)

    def led(self, states: Sequence[str], within: Stretch | None, *, silent: bool = False) -> Branch:
        """Return a spontaneous branch that leads to one of these states."""
        if self.happens(self.odds.accept) and not silent:
            return self.accept(states, within)
        items = () if silent else self.wording(self.random.choice((1, 1, 2))) or ("x",)
        target = self.random.choice([each for each in states if not silent or each != self.states[0]])
        return Branch(target, items, within, self.random.choice(("same", "more")) if self.memory > 1 else "same")

    def tick(self, state: str, within: Stretch | None) -> Branch:
        """Return a cyclic message of a state."""
        if self.happens(self.odds.accept / 2):
            return self.accept((state,), within)
        return Branch(state, (self.random.choice(LETTERS),), within)

    def by_itself(self, state: str) -> tuple[Branch, ...]:
        """Return the spontaneous branches of a state."""
        odds, found = self.odds, list[Branch]()
        if self.happens(odds.timers):
            found += [self.timer(state) for _ in range(self.random.choice((1, 1, 2)))]
        if self.happens(odds.spontaneous):
            on = self.later(state)
            found.append(self.led(on or self.states, None))
        return tuple(found)

    def cyclic(self, state: str) -> tuple[Branch, ...]:
        """Return a cyclic message, beside a timer that ends it, or beside another cyclic message."""
        period = self.random.choice((2, 10, 40, 100))
        tick = self.tick(state, self.window((period,), (0, 1, period // 2)))
        length = period * self.random.choice((2, 3, 5))
        other = self.window((length,), (0, period // 2, length // 2))
        others = [each for each in self.states if each != state]
        return tick, self.tick(state, other) if self.happens(0.2) else self.led(others, other)

    def restless(self) -> dict[str, tuple[Branch, ...]]:
        """Return branches that keep a system from ever resting: demanded, or allowed, again and again."""
        if self.happens(0.5):
            begin = self.random.choice((10, 40, 100)) * TICK
            return {each: (self.tick(each, (begin, FOREVER)),) for each in self.states}
        period = self.random.choice((2, 10, 40, 100))
        within = self.window((period,), (0, 1, period // 2))
        if self.happens(0.3):
            # from state to state and round again, instead of over and over in one
            following = zip(self.states, (*self.states[1:], self.states[0]), strict=True)
            return {state: (Branch(then, (self.random.choice(LETTERS),), within),) for state, then in following}
        return {each: (self.tick(each, within),) for each in self.states}

    def naming(self, branch: Branch, names: Sequence[str]) -> Branch:
        """Return a branch that does something to named timers as well."""
        starts = tuple(
            (each, self.window((8, 40, 150), (0, 4, 40))) for each in names if self.happens(self.odds.starts)
        )
        stops = tuple(each for each in names if self.happens(self.odds.stops))
        return replace(branch, starts=starts, stops=tuple(each for each in stops if each not in dict(starts)))

    def expiring(self, names: Sequence[str]) -> tuple[Branch, ...]:
        """Return the branches after named timers in a state; one timer may have none."""
        found = [each for each in names if self.happens(self.odds.expires)]
        return tuple(replace(self.led(self.states, None, silent=self.happens(0.1)), after=each) for each in found)


def drawn(random: Random, odds: Odds | None = None) -> Blueprint:
    """Return a random spec: up to three states, two to five inputs on one to three ports, outputs on one or two."""
    odds = odds or Odds()
    two = random.random() < odds.two_inputs
    memory = 3 if random.random() < odds.memory else 1
    inputs = {"a": "A", "b": "B" if two else "A"}
    if random.random() < odds.three_inputs:
        inputs["d"] = "C"
    if memory > 1:
        inputs |= dict.fromkeys(("c1", "c2"), random.choice("AB") if two else "A")
    aside = "Q" if random.random() < odds.two_outputs else "P"
    outputs = {"x": "P", "y": aside, "z": "P"}
    if memory > 1:
        outputs |= dict.fromkeys((f"m{number}" for number in range(memory)), random.choice(("P", aside)))
    states = tuple(f"s{number}" for number in range(random.randint(2, 3)))
    return _made(Drawing(random, odds, states, inputs, outputs, memory))


def _made(drawing: Drawing) -> Blueprint:
    random, odds = drawing.random, drawing.odds
    steps = {
        (state, inp): tuple(drawing.answer() for _ in range(1 + drawing.happens(odds.ambiguous)))
        for state in drawing.states
        for inp in drawing.inputs
        if not drawing.happens(odds.unspecified)
    }
    spontaneous = {state: drawing.by_itself(state) for state in drawing.states}
    if drawing.happens(odds.cyclic):
        state = random.choice(drawing.states[:2])
        spontaneous[state] = drawing.cyclic(state)
    if drawing.happens(odds.restless):
        spontaneous = drawing.restless()
    if drawing.happens(odds.named):
        names = ("t", "u")[: random.randint(1, 2)]
        spontaneous = {state: (*found, *drawing.expiring(names)) for state, found in spontaneous.items()}
        steps = {each: tuple(drawing.naming(branch, names) for branch in found) for each, found in steps.items()}
        spontaneous = {
            each: tuple(drawing.naming(branch, names) for branch in found) for each, found in spontaneous.items()
        }
    spontaneous = {state: found for state, found in spontaneous.items() if found}
    return Blueprint(steps, spontaneous, drawing.inputs, drawing.outputs, drawing.memory)
