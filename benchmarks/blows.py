"""Blows at random moments: `python -m benchmarks.blows --blows 1000 --seed 1 --json FILE`.

Systems behind every adapter, each killed, stopped or cut off at a random moment of an eager run, on asyncio, uvloop and
trio in turn. Each time the verdict has to be the right one, in time, on record, and nothing may be left behind. Most
runs are those of tests/e2e/test_harm.py; the last two rows are campaigns on servers that the bench does not start.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from benchmarks import bus_blows, library_blows, measure
from benchmarks.raising import raising
from otf.testing.leaks import SETTLING, Baseline
from tests.e2e import test_harm, test_standing
from tests.e2e.counting import GRACE, Counting
from tests.e2e.harm import NEVER, Harm
from tests.e2e.harmed import LOOPS, MARGIN, assert_on_record

HANGS: Final = 60.0  # seconds after which a run that should long be over counts as one that hangs
POOLS: Final = ("AnyIO worker", "Trio thread", "asyncio_")
WORDS: Final = ("ended", "missing", "stopped", "trouble", "undecodable", "no contact", "passed")

Blow: TypeAlias = Callable[[Random, str], tuple[str, str] | None]
"""Strikes once, on a loop of this kind; returns the verdict and the word for its right result, empty if it was wrong.

None where the run was over before.
"""


@dataclass
class Row:
    """The results of the blows at one wire."""

    wire: str
    words: Counter[str] = field(default_factory=Counter[str])
    wrong: Counter[str] = field(default_factory=Counter[str])
    loops: Counter[str] = field(default_factory=Counter[str])
    hangs: int = 0
    left: Counter[str] = field(default_factory=Counter[str])
    longest: float = 0.0

    @property
    def total(self) -> int:
        """Return the number of blows."""
        return self.words.total() + self.wrong.total()


def on_a_wire(wire: str, seed: int) -> Blow:
    """Return a function that strikes a counter behind a wire."""
    rig, draws = Counting(wire), test_harm.moments(Random(f"{seed}/{wire}"), wire)
    for loop in LOOPS:
        rig.run(Harm(), loop)  # this run finds the quiet states, so that the next one is eager

    def blow(_: Random, loop: str) -> tuple[str, str] | None:
        harm = next(draws)
        ran = rig.run(harm, loop)
        if harm.struck == NEVER:
            return None
        try:
            word = test_harm.came_to(wire, harm, ran)
            assert_on_record(rig, harm, ran)
            assert ran.over - harm.struck < test_harm.WAITS[word] + 2 * GRACE + MARGIN
        except AssertionError as error:
            print(f"  {wire}, {loop}: {harm.how} after {harm.after}: {ran.result.verdict}: {error}")
            word = ""
        return ran.result.verdict.outcome, word

    return blow


def at_a_server(wire: str, seed: int) -> Blow:
    """Return a function that strikes a server, which the bench does not start again, in the middle of a campaign."""
    draws, number = test_standing.moments(Random(f"{seed}/{wire}")), iter(range(1_000_000))

    def blow(_: Random, loop: str) -> tuple[str, str] | None:
        harm = next(draws)
        summary = test_standing.struck(wire, f"{wire}-{next(number)}", harm, loop)
        if harm.struck == NEVER:
            return None
        try:
            word = test_standing.came_to(wire, harm, summary)
        except AssertionError as error:
            print(f"  server, {wire}, {loop}: {harm.how} after {harm.after}: {summary}: {error}")
            word = ""
        return summary.verdict, word

    return blow


def blows(seed: int) -> Iterator[tuple[str, Blow]]:
    """Yield each wire, with the function that strikes it."""
    for wire in test_harm.REASONS:
        yield wire, on_a_wire(wire, seed)
    yield "inprocess", raising
    yield "can", bus_blows.on_a_bus("can")
    yield "isotp", bus_blows.on_a_bus("isotp")
    yield "visa", bus_blows.at_an_instrument
    yield from library_blows.blows()
    for wire in test_standing.WIRES:
        yield f"server, {wire}", at_a_server(wire, seed)


def struck(wire: str, blow: Blow, number: int, random: Random) -> Row:
    """Strike a number of times, on each loop in turn."""
    row, loops = Row(wire), cycle(LOOPS)
    while row.total < number:
        before, threads, loop, began = Baseline(), threading.enumerate(), next(loops), time.monotonic()
        faulthandler.dump_traceback_later(5 * HANGS, exit=True)  # shows where it hangs
        came = blow(random, loop)
        faulthandler.cancel_dump_traceback_later()
        took = time.monotonic() - began
        row.left.update(leak.name for leak in before.lasting_leaks())
        row.left.update(_lasting_threads(threads))
        if came is None:
            continue
        verdict, word = came
        row.loops[loop] += 1
        row.hangs += took > HANGS
        row.longest = max(row.longest, took)
        if word:
            row.words[word] += 1
        else:
            row.wrong[verdict] += 1
    return row


def _lasting_threads(before: list[threading.Thread]) -> list[str]:
    """Return the threads of an adapter or its library that do not end; those of an event loop's pool end later."""
    until, left = time.monotonic() + SETTLING, list[str]()
    for thread in threading.enumerate():
        if thread not in before and not thread.name.startswith(POOLS):
            # one that was told to end may need a moment on a busy machine, as descriptors do
            thread.join(max(0.0, until - time.monotonic()))
            left += [thread.name] if thread.is_alive() else []
    return left


def shown(rows: list[Row]) -> None:
    """Print the table, as Markdown."""
    heads = ("blows", *WORDS, "hangs", "false passes", "false failures", "other wrong", "left behind", "longest")
    print(f"| wire | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
    for row in rows:
        wrong = row.wrong["pass"], row.wrong["fail"], row.wrong["inconclusive"]
        cells = (row.total, *(row.words[word] for word in WORDS), row.hangs, *wrong, row.left.total())
        print(f"| {row.wire} | {' | '.join(map(str, cells))} | {row.longest:.1f} s |")
    total = sum(row.total for row in rows)
    print(f"\n{total} blows; load {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors")


def main(arguments: Sequence[str] | None = None) -> None:
    """Strike, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blows", description=__doc__)
    parser.add_argument("--blows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wires", nargs="*", help="only these; all blows are theirs")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rows = list[Row]()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        wires = [*test_harm.REASONS, "inprocess", *bus_blows.WIRES, *library_blows.WIRES, *test_standing.WIRES]
        wires = options.wires or wires
        each = -(-options.blows // len(wires))
        for wire, blow in blows(options.seed):
            if wire not in wires:
                continue
            Path(wire).mkdir()
            with chdir(wire):
                rows.append(struck(wire, blow, each, Random(options.seed)))
            print(f"  {wire}: {dict(rows[-1].words)} {dict(rows[-1].wrong)} {dict(rows[-1].loops)}", flush=True)
    shown(rows)
    measure.save([vars(row) for row in rows], options.json)


if __name__ == "__main__":
    main()
