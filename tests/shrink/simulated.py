"""A simulated system for the shrinker: candidates are judged at once, by the same monitor as live."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from benchmarks.shrink_classical import ALGORITHMS
from benchmarks.shrink_simulated import Simulated, Unpaused, drive, unpaused
from otf.core import Model, Oracle, Symbol
from otf.core.walk import Act
from otf.shrink import Candidate, Issue, Setting
from otf.spec import Spec, Transition, goto
from otf.strategy import Script

React: TypeAlias = Callable[[Any, Any], tuple[Any, Sequence[object]]]
"""A system: from its state and an input to its next state and its outputs."""


class Bench:
    """A spec, and a system as a function from its state and an input to its next state and its outputs."""

    def __init__(self, spec: Spec[object, object], react: React, initial: object = 0) -> None:
        self.setting = Setting(Oracle(Model(spec)))
        self.system = Simulated(self.setting.oracle, lambda: acting(react, initial))

    def issue(self, inputs: Iterable[object]) -> Issue | None:
        """Return the issue that these inputs show, None where they pass."""
        given = list(inputs)
        return self.system.run(Script(given), len(given))

    def failing(self, inputs: Iterable[object]) -> Issue:
        """Return the issue of inputs that fail."""
        issue = self.issue(inputs)
        assert issue is not None
        return issue

    def shrink(self, algorithm: str, inputs: Iterable[object]) -> list[object]:
        """Return the inputs that an algorithm shrinks a failing run to."""
        return self.drive(unpaused(self.failing(inputs), self.setting, ALGORITHMS[algorithm]))

    def drive(self, search: Unpaused) -> list[object]:
        """Return the inputs of the issue that a search finds."""
        return values(drive(search, self.system.shows).inputs)


def acting(react: React, state: object) -> Act:
    """Return a system as a function from an input to its outputs."""

    def act(inp: object) -> Sequence[object]:
        nonlocal state
        state, outputs = react(state, inp)
        return outputs

    return act


def sent(candidate: Candidate, bench: Bench) -> list[object]:
    """Return the inputs that a candidate sends to a system that conforms."""
    run = Sending(candidate)
    bench.system.run(run, candidate.limit)
    return run.values


class Sending:
    """Notes the choices of a candidate."""

    def __init__(self, candidate: Candidate) -> None:
        self._chooser = candidate.chooser()
        self.values: list[object] = []

    def choose(self, view: object) -> Symbol | None:
        """Pass the choice on."""
        symbol = self._chooser.choose(view)  # type: ignore[arg-type]
        if symbol is not None:
            self.values.append(symbol.value)
        return symbol


def values(inputs: Iterable[Symbol]) -> list[object]:
    """Return the values of symbols."""
    return [symbol.value for symbol in inputs]


# ---- a lamp --------------------------------------------------------------------------------------------------------


def _lamp(on: object, inp: object) -> Iterator[Transition[object]]:
    if inp == "press":
        yield goto(not on)
    elif inp == "look":
        yield goto(on, "on" if on else "off")
    elif inp == "wait":
        yield goto(on)


LAMP: Spec[object, object] = Spec(_lamp, initial=False, inputs=["press", "look", "wait"])


def lamp(presses: int) -> Bench:
    """Return a lamp that stays dark after so many presses, which the model does not count."""

    def react(pressed: int, inp: object) -> tuple[int, list[object]]:
        pressed += inp == "press"
        lit = pressed % 2 == 1 and pressed < presses
        return pressed, ["on" if lit else "off"] if inp == "look" else []

    return Bench(LAMP, react)
