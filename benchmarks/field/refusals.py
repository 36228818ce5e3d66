"""What the strategy `novelty` learns of refusals, without a campaign around it: RERS 2017, problems 10 to 14.

The learner chooses, the program answers: no trace, no verdict, no shrinking, so a run takes seconds. Problems 12 and 14
were not looked at while it was written.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.field import rers
from otf.strategy.answers import LearntAnswers
from otf.trace.events import Seen, Sent

NAME: Final = "refusals"
SOURCE: Final = rers.SOURCE
LICENCE: Final = rers.LICENCE
PROBLEMS: Final = (*rers.SUMS, *rers.MORE)
DEEP: Final = {13: 28}  # the errors that a search knows, where the budget leaves the last of them to luck
LONG: Final = 5_000_000  # inputs in which to find them


@dataclass(frozen=True)
class Row:
    """What one run found with the budget of inputs."""

    problem: int
    chosen: str
    seed: int
    errors: int
    last: int
    refused: float

    def __str__(self) -> str:
        """Return the row as text."""
        found = f"{self.errors} errors (the last new one at {self.last:,}), {self.refused:.1%} refused"
        return f"problem {self.problem}, {self.chosen}, seed {self.seed}: {found}"


def run(data: Path, seeds: int) -> Iterator[Row]:
    """Yield the results of the learner and of chance, for each problem and seed."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = {number: rers.source(data, number, Path(folder)) for number in PROBLEMS}
        files = [Path(__file__).with_name("Serve.java"), *(Path(folder, f"Problem{each}.java") for each in PROBLEMS)]
        command = ["javac", "-nowarn", "-d", folder, *map(str, files)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- of this machine
        for number, names in inputs.items():
            for chosen in ("novelty", "random"):
                for seed in range(1, seeds + 1):
                    with rers.served(number, folder) as port:
                        yield _row(number, names, port, chosen, seed)
            for seed in range(1, seeds + 1 if number in DEEP else 1):
                with rers.served(number, folder) as port:
                    yield _row(number, names, port, "novelty", seed, (LONG, DEEP[number]))


def _row(
    number: int, names: list[str], port: int, chosen: str, seed: int, ends: tuple[int, int] = (rers.BUDGET, 1_000)
) -> Row:
    """Return what a run found that `ends` with so many inputs, or errors."""
    answers, random, errors, sent, refused = LearntAnswers(), Random(seed), dict[str, int](), 0, 0
    while sent < ends[0] and len(errors) < ends[1]:
        answers.begin()
        with socket.create_connection(("127.0.0.1", port)) as line, line.makefile("r") as replies:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(rers.STEPS):
                answers.settle()
                weights = [answers.weight(each) for each in names] if chosen == "novelty" else None
                (inp,) = random.choices(names, weights)
                line.sendall(f"{inp}\n".encode())
                answer, sent = replies.readline().strip(), sent + 1
                answers.observe(Sent(inp, "", 0.0))
                answers.observe(Seen(answer, "", 0.0))
                refused += answer == "invalid"
                if "error" in answer:
                    errors.setdefault(answer.split()[-1], sent)
                    break
    return Row(number, chosen, seed, len(errors), max(errors.values(), default=0), refused / sent)
