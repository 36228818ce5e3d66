"""Memory stays flat, however long a run is: `python -m benchmarks.memory`.

Prints the resident megabytes after each tenth of the in-process steps (10 million by default), for a model
with few states; and for one in which no state ever repeats, with a tenth of the steps, each of which is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from random import Random
from resource import getpagesize
from typing import Any, Final

from benchmarks.campaigns import TESTERS, Notes
from benchmarks.machines import VendingMachine
from benchmarks.measure import command, positive, save
from otf.core import Model, Oracle, Routes, Session, Timing
from otf.models.vending import VENDING
from otf.simulate import System, TimeBounds, Walk, World, conduct
from otf.spec import Spec, Transition, goto
from otf.strategy import Strategy

WALK: Final = 100  # steps in a walk
PRIME: Final = 10**12 + 39

Go = Callable[[int], None]
"""What goes so many steps on."""


def _number(number: int, digit: int) -> int:
    return (10 * number + digit) % PRIME


def _appended(number: int, digit: int) -> Iterable[Transition[int]]:
    then = _number(number, digit)
    return [goto(then, then)] if digit % 2 else [goto(then)]


NEVER_BACK: Final[Spec[int, int]] = Spec(_appended, 0, range(2))
"""A model with so many states that no walk comes to one where another has been."""


class Number:
    """The system to that model."""

    def __init__(self) -> None:
        self.number = 0

    def step(self, digit: Any) -> Iterable[object]:
        """Append a digit."""
        self.number = _number(self.number, digit)
        return [self.number] if digit % 2 else []


def walks(oracle: Oracle, system: Callable[[], Callable[[object], Iterable[object]]]) -> Go:
    """Return a function that goes on in walks of a hundred steps through a Python object."""
    numbers = count(1)

    def go(steps: int) -> None:
        for _ in range(steps // WALK):
            assert Walk(oracle, system()).uniform(Random(next(numbers)), WALK).outcome == "pass"

    return go


def paths(spec: Spec[int, int], mode: str) -> Go:
    """Return a function that goes on in a simulated world, with paths of a hundred steps."""
    oracle, notes, numbers = Oracle(Model(spec, Routes(("line",)))), Notes(), count(1)
    timing, strategy = Timing(0.01, 0.001, 0.001), Strategy("random", "uioco", 1)

    def go(steps: int) -> None:
        for _ in range(steps // WALK):
            random = Random(next(numbers))
            world = World(System(spec, lambda _value: "line", random), TimeBounds(0.001, 0.001), random)
            pacing = TESTERS[mode].pacing(timing, notes)
            session = Session(oracle, strategy.path(next(numbers)), pacing, steps=WALK)
            assert conduct(session, world, lambda _value: "line").outcome == "pass"

    return go


def vending() -> Go:
    """Return walks through the vending machine."""
    return walks(Oracle(Model(VENDING)), lambda: VendingMachine().step)


def never_back() -> Go:
    """Return walks through states that never repeat."""
    return walks(Oracle(Model(NEVER_BACK)), lambda: Number().step)


def resident() -> float:
    """Return the megabytes of this process that are in memory (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * getpagesize() / 2**20


def tenths(go: Go, steps: int) -> list[float]:
    """Return the resident megabytes after each tenth of the steps."""
    found = list[float]()
    for _ in range(10):
        go(steps // 10)
        found.append(round(resident(), 1))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print a line for each model."""
    parser = command("memory", __doc__)
    parser.add_argument("--steps", type=positive, default=10_000_000, help="steps in all (10 million)")
    chosen = parser.parse_args(arguments)
    found = dict[str, list[float]]()
    for name, go, steps in (
        ("vending", vending(), chosen.steps),
        ("never back", never_back(), chosen.steps // 10),
    ):
        found[name] = tenths(go, steps)
        print(f"{name:12} MB after each tenth of {steps:,} steps: {found[name]}", flush=True)
    save(found, chosen.json)


if __name__ == "__main__":
    main()
