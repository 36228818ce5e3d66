"""Learning simulated machines: inputs to the last hypothesis, beside a perfect teacher's and AALpy's own loop.

`python -m benchmarks.learn --data DIR` takes the `.dot` files of a folder, such as the models of automata.cs.ru.nl or
of AALpy (`DotModels`). A perfect teacher knows the machine and returns a shortest counterexample. AALpy's own loop has
the same algorithm (KV), alphabet and kind of cache, its random Wp oracle, and as many inputs as otf sent in all. With
`--loss 0.01` one message in a hundred is lost in either direction: AALpy ends then, since its cache allows one answer.
With `--late 0.01` the machine stalls: one answer in a hundred comes with that to the next input.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from otf.explore import explore
from otf.learn.learning import ChoiceError, Learner, LearntMachine, OverError, as_learnt
from otf.notations import read_dot
from otf.suite import complete_machine, machine, minimise
from otf.suite.machine import NumberedMachine, Word

BUDGET: Final = 3_000_000  # inputs
SIZES: Final = (20, 45, 70, 100)  # states of drawn machines
TESTS: Final = 10_000  # of AALpy's oracle, for each hypothesis


class Outcome(NamedTuple):
    """What one run found: states, whether it is the machine, inputs to its last hypothesis and in all, CPU seconds."""

    states: int
    right: bool
    asked: int
    sent: int
    seconds: float
    extra: int | None = None
    why: str = ""

    def __str__(self) -> str:
        """Return it as a cell of a table."""
        mark = "" if self.right else " WRONG" if not self.why else f" {self.why}"
        suite = "" if self.extra is None else f" k={self.extra}"
        return f"{self.states}{mark} {self.asked:,} of {self.sent:,}{suite} {self.seconds:.1f}s"


class Simulated:
    """A machine behind a line that loses a share of the messages in either direction, and brings a share of them late.

    `sent` counts inputs.
    """

    def __init__(self, machine_: NumberedMachine, loss: float, seed: int, late: float = 0.0) -> None:
        self.sent = 0
        self._machine = machine_
        self._loss = loss
        self._late = late
        self._held = ""
        self._random = Random(f"{seed}/line")
        self._state = 0

    def path(self, word: Word) -> list[str]:
        """Return the answers to a word after a reset."""
        self.reset()
        return list(map(self.step, word))

    def reset(self) -> None:
        """Go to the initial state."""
        self._state, self._held = 0, ""

    def step(self, inp: int) -> str:
        """Return the answer to an input."""
        self.sent += 1
        here = self._state
        if self._loss and self._random.random() < self._loss:
            return "nothing"
        self._state = self._machine.next[here][inp]
        if self._loss and self._random.random() < self._loss:
            return "nothing"
        answer = self._held + str(self._machine.out[here][inp])
        self._held = ""
        if self._late and self._random.random() < self._late:
            self._held, answer = f"{answer}, ", "nothing"
        return answer


def apart(machine_: NumberedMachine, found: LearntMachine) -> Word | None:
    """Return a shortest word that a machine and a learnt one answer differently."""
    pairs: dict[tuple[int, int], Word] = {(0, 0): ()}
    for (here, there), word in (left := list(pairs.items())):
        for inp in range(len(machine_.inputs)):
            if str(machine_.out[here][inp]) != found.out[there][inp]:
                return (*word, inp)
            then = machine_.next[here][inp], found.next[there][inp]
            if then not in pairs:
                pairs[then] = (*word, inp)
                left.append((then, (*word, inp)))
    return None


class Perfect(Learner):
    """A learner whose teacher knows the machine."""

    truth: NumberedMachine

    def counterexample(self, hypothesis: LearntMachine, extra: int) -> Word | None:
        """Return a shortest counterexample."""
        del extra
        self.best, self.asked = hypothesis, self.sent
        return apart(self.truth, hypothesis)


def perfect(machine_: NumberedMachine) -> Outcome:
    """Learn with a perfect teacher."""
    system = Simulated(machine_, 0.0, 0)
    learner = Perfect(len(machine_.inputs), lambda words: list(map(system.path, words)))
    learner.truth = machine_
    return _run(learner, machine_, 0)


def by_otf(machine_: NumberedMachine, seed: int, loss: float, extra: int, late: float = 0.0) -> Outcome:
    """Learn as `otf learn` does."""
    system = Simulated(machine_, loss, seed, late)
    learner = Learner(
        len(machine_.inputs),
        lambda words: list(map(system.path, words)),
        seed=seed,
        over=lambda: system.sent > BUDGET,
    )
    return _run(learner, machine_, extra)


def _run(learner: Learner, machine_: NumberedMachine, extra: int) -> Outcome:
    began, why = time.process_time(), ""
    try:
        learner.run("kv", extra)
    except OverError:
        why = "over"
    except ChoiceError:
        why = "chooses"
    best = learner.best
    assert best is not None
    right = apart(machine_, best) is None
    seconds = time.process_time() - began
    return Outcome(best.size, right, learner.asked, learner.sent, seconds, best.progress.complete, "" if right else why)


class _SpentError(Exception):
    """AALpy has sent as many inputs as it may."""


def by_aalpy(machine_: NumberedMachine, seed: int, loss: float, budget: int, late: float = 0.0) -> Outcome:
    """Learn with AALpy's own loop: KV, its cache, and its random Wp oracle."""
    import random

    base: Any = import_module("aalpy.base")
    oracles: Any = import_module("aalpy.oracles")
    algorithms: Any = import_module("aalpy.learning_algs")
    system = Simulated(machine_, loss, seed, late)

    class System(base.SUL):  # type: ignore[misc]  # AALpy has no types
        def pre(self) -> None:
            system.reset()

        def post(self) -> None:
            pass

        def step(self, letter: int) -> str:
            if system.sent > budget:
                raise _SpentError
            return system.step(letter)

    class Counted(oracles.RandomWpMethodEqOracle):  # type: ignore[misc]  # as above
        best: Any = None
        asked = 0

        def find_cex(self, hypothesis: Any) -> Any:
            self.best, self.asked = hypothesis, system.sent
            return super().find_cex(hypothesis)

    random.seed(seed)
    began, why, inputs = time.process_time(), "", list(range(len(machine_.inputs)))
    sul = System()
    oracle = Counted(inputs, sul, num_tests=TESTS)
    try:
        algorithms.run_KV(inputs, sul, oracle, "mealy", print_level=0)
    except _SpentError:
        why = "over"
    except (SystemExit, Exception) as error:  # noqa: BLE001 -- it ends where the cache is contradicted
        why = type(error).__name__
    if oracle.best is None:
        return Outcome(0, right=False, asked=0, sent=system.sent, seconds=time.process_time() - began, why=why)
    found = as_learnt(oracle.best)
    right = apart(machine_, found) is None
    seconds = time.process_time() - began
    return Outcome(found.size, right, oracle.asked, system.sent, seconds, why="" if right else why)


def machines(folder: Path) -> Iterator[NumberedMachine]:
    """Yield the machines of a folder, completed and minimal."""
    for file in sorted(folder.glob("*.dot")):
        yield minimise(complete_machine(machine(explore(read_dot(file.read_text(encoding="utf-8"), file.stem)))))


def drawn(states: int, width: int, seed: int) -> NumberedMachine:
    """Return a drawn machine: each state is reached, and half of the answers are the same."""
    random = Random(f"{seed}/{states}")
    next_ = [[random.randrange(states) for _ in range(width)] for _ in range(states)]
    for state in range(1, states):
        next_[random.randrange(state)][random.randrange(width)] = state
    out = [[0 if random.random() < 0.5 else random.randrange(1, 4) for _ in range(width)] for _ in range(states)]  # noqa: PLR2004 -- half
    whole = NumberedMachine(f"drawn {states}", list(range(states)), list(range(width)), next_, out)
    return minimise(NumberedMachine(whole.name, *_reached(whole)))


def _reached(whole: NumberedMachine) -> tuple[list[int], Sequence[Any], list[list[int]], list[list[int]]]:
    order, numbers = [0], {0: 0}
    for state in order:
        for then in whole.next[state]:
            if numbers.setdefault(then, len(order)) == len(order):
                order.append(then)
    return (
        order,
        whole.inputs,
        [[numbers[each] for each in whole.next[state]] for state in order],
        [whole.out[state] for state in order],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each machine and seed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learn", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder of .dot files")
    parser.add_argument("--drawn", type=int, nargs="*", default=[], metavar="SEED", help="seeds of drawn machines")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--loss", type=float, default=0.0, help="the share of messages that the line loses")
    parser.add_argument("--late", type=float, default=0.0, help="the share of answers that come with the next one")
    parser.add_argument("--extra", type=int, default=1)
    parser.add_argument("--only", default="", help="only machines with this in their names")
    given = parser.parse_args(arguments)
    every = [*machines(given.data)] if given.data else []
    every += [drawn(size, 6, seed) for seed in given.drawn for size in SIZES]
    for each in every:
        if given.only not in each.name:
            continue
        best = perfect(each)
        print(f"{each.name}: {each.size} states, {len(each.inputs)} inputs; perfect teacher {best.asked:,}", flush=True)
        for seed in range(given.seeds):
            ours = by_otf(each, seed, given.loss, given.extra, given.late)
            theirs = by_aalpy(each, seed, given.loss, ours.sent, given.late)
            ratio = ours.asked / max(1, best.asked)
            print(f"  seed {seed}: otf {ours} ({ratio:.1f}); aalpy {theirs}", flush=True)


if __name__ == "__main__":
    main()
