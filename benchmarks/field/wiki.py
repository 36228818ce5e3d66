"""Models of network stacks that were learnt from real ones, as published with AALpy and on automata.cs.ru.nl.

Each model that is a deterministic machine is read, explored, and gets suites by four methods. The shortest is held
against up to 200 machines with one wrong transition each, all of which it has to find.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Final

from benchmarks.machine_mutants import MachineMutant, equal, mutated, passes, single_mutants
from otf.errors import OtfError
from otf.explore import explore
from otf.notations import read_dot
from otf.suite import METHODS, machine
from otf.suite.machine import Word

NAME: Final = "wiki"
SOURCE: Final = "github.com/DES-Lab/AALpy, DotModels"
LICENCE: Final = "MIT"
FOLDERS: Final = ("Bluetooth", "MQTT", "TCP", "TLS")
CHOSEN: Final = ("chain", "spy", "hsi", "w")
MUTANTS: Final = 200


@dataclass(frozen=True)
class Row:
    """What was made for one model: its size, and of each method the inputs and resets of the suite."""

    model: str
    states: int
    inputs: int
    suites: dict[str, tuple[int, int]]
    killed: str
    seconds: float

    def __str__(self) -> str:
        """Return the row as text."""
        suites = ", ".join(f"{name} {steps:,} in {paths:,} paths" for name, (steps, paths) in self.suites.items())
        size = f"{self.states} states, {self.inputs} inputs"
        return f"{self.model}: {size}; {suites}; mutants found by {CHOSEN[0]}: {self.killed}; {self.seconds:.1f} s"


def run(data: Path, seeds: int) -> Iterator[Row | str]:
    """Yield a row for each machine, and the reason for each file that is none."""
    for folder in FOLDERS:
        for file in sorted(data.rglob(f"DotModels/{folder}/*.dot")):
            try:
                yield _row(file, seeds)
            except OtfError as error:
                yield f"{file.stem}: not taken: {str(error)[:100]}"


def _row(file: Path, seed: int) -> Row:
    began = perf_counter()
    explored = machine(explore(read_dot(file.read_text())))
    suites, words = dict[str, tuple[int, int]](), list[Word]()
    for name in CHOSEN:
        made = METHODS[name].make(METHODS[name].machine(explored), 0)[0]
        suites[name] = sum(map(len, made)), len(made)
        words = words or made
    target = METHODS[CHOSEN[0]].machine(explored)
    mutants: list[MachineMutant] = [*single_mutants(target)]
    few = Random(seed).sample(mutants, min(MUTANTS, len(mutants)))
    wrong = [system for each in few if not equal(target, system := mutated(target, each))]
    killed = sum(not passes(target, system, words) for system in wrong)
    size = len(explored.transitions) // max(1, explored.size)
    return Row(file.stem, explored.size, size, suites, f"{killed} of {len(wrong)}", perf_counter() - began)
