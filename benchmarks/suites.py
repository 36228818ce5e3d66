"""Suites of the conference protocol: table 8.1 of the paper, suites of its largest machine, and the faults they find.

Run `python -m benchmarks.suites`. Table: Koopman and Plasmeijer, "Testing Reactive Systems with GAST".
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from benchmarks.machine_mutants import MachineMutant, mutated, passes, single_mutants
from benchmarks.measure import command, save
from otf.errors import UsageError
from otf.explore import explore
from otf.models.conference import Sizes, conference
from otf.suite import METHODS, NumberedMachine, complete_machine, machine, minimise
from otf.suite.machine import Word
from otf.suite.tour import a2

MANY: Final = 10_000  # paths: for more than these, the paper gives no number
PAPER: Final = {
    # entities, nicknames, conferences, messages: states, transitions, paths by A2 (0: more than 10,000), A3, A4
    (1, 1, 1, 1): (2, 2, 1, 1, 1),
    (2, 1, 1, 1): (3, 9, 118, 4, 3),
    (3, 1, 1, 1): (5, 28, 0, 11, 6),
    (2, 2, 1, 1): (7, 30, 0, 14, 8),
    (2, 1, 2, 1): (5, 18, 27_848, 7, 6),
    (2, 1, 1, 2): (3, 12, 7_827, 4, 3),
    (2, 2, 2, 2): (13, 80, 0, 26, 16),
    (3, 3, 3, 3): (145, 2070, 0, 567, 282),
}
COLLECTED: Final = 30_000  # of A2's paths


def entity(sizes: tuple[int, ...]) -> NumberedMachine:
    """Return the machine of an entity."""
    return machine(explore(conference(Sizes(*sizes))))


def figure_81() -> None:
    """Print the table of the paper, ours beside it; states, transitions and A2 have to be the same."""
    print("table 8.1: entities, nicknames, conferences, messages; A3 and A4 depend on the order of transitions")
    print(f"  {'':10} {'states':>7} {'transitions':>12} {'A2':>9}   {'A3 (paper)':>12} {'A4 (paper)':>12}")
    for sizes, (states, transitions, paths, third, fourth) in PAPER.items():
        explored = entity(sizes)
        number = sum(1 for _ in islice(a2(explored), COLLECTED))
        assert (explored.size, len(explored.transitions)) == (states, transitions)
        assert number == paths or (not paths and number > MANY)
        found = [len(METHODS[name].make(explored, 0)[0]) for name in ("a3", "a4")]
        said = f"{number:,}" if paths else f">{MANY:,}"
        rest = f"{found[0]:>4} ({third:>3})    {found[1]:>4} ({fourth:>3})"
        print(f"  {','.join(map(str, sizes)):10} {states:>7} {transitions:>12} {said:>9}    {rest}")


def made(explored: NumberedMachine, name: str) -> tuple[list[Word], float, NumberedMachine]:
    """Return the suite of a machine by a method, the seconds that it took, and the machine that it is for."""
    before = time.perf_counter()
    target = METHODS[name].machine(explored)
    paths, _ = METHODS[name].make(target, 0)
    return paths, time.perf_counter() - before, target


def large() -> dict[str, dict[str, Any]]:
    """Print the suites of the largest machine."""
    explored = entity((3, 3, 3, 3))
    whole = minimise(complete_machine(explored))
    print(
        f"\n3,3,3,3: {explored.size} states, {len(explored.transitions):,} transitions; completed and minimised ",
        end="",
    )
    print(f"{whole.size} states, {len(whole.transitions):,} transitions")
    print(f"  {'method':8} {'paths':>9} {'steps':>11} {'seconds':>8}")
    found: dict[str, dict[str, Any]] = {}
    for name in METHODS:
        try:
            paths, seconds, _ = made(explored, name)
        except UsageError as error:
            print(f"  {name:8} {str(error).partition(': ')[2]}")
            continue
        found[name] = {"paths": len(paths), "steps": sum(map(len, paths)), "seconds": round(seconds, 3)}
        print(f"  {name:8} {len(paths):>9,} {sum(map(len, paths)):>11,} {seconds:>8.2f}   {METHODS[name].says}")
    return found


def faults() -> dict[str, dict[str, int]]:
    """Print how many of all single faults of 2,2,2,2 each method finds; methods that promise all have to."""
    explored = entity((2, 2, 2, 2))
    whole = complete_machine(explored)
    every = list(single_mutants(explored))
    kinds = {kind: sum(fault.kind == kind for fault in every) for kind in ("output", "transfer", "ignored")}
    print(f"\n2,2,2,2: {len(every):,} single faults of {len(explored.transitions)} specified transitions")
    print(
        f"  {'method':8} {'steps':>7}   " + "".join(f"{f'{kind} ({number:,})':>18}" for kind, number in kinds.items())
    )
    found: dict[str, dict[str, int]] = {}
    for name, method in METHODS.items():
        try:
            paths, _, _ = made(explored, name)
        except UsageError:
            continue
        hits = {kind: sum(_finds(whole, fault, paths) for fault in every if fault.kind == kind) for kind in kinds}
        assert not method.complete or hits == kinds
        found[name] = {"steps": sum(map(len, paths)), **hits}
        print(f"  {name:8} {found[name]['steps']:>7,}   " + "".join(f"{hits[kind]:>18,}" for kind in kinds))
    return found


def _finds(whole: NumberedMachine, fault: MachineMutant, paths: list[Word]) -> bool:
    return not passes(whole, mutated(whole, fault), paths)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all tables and, if asked to, write them as JSON."""
    chosen = command("suites", __doc__).parse_args(arguments)
    figure_81()
    data: dict[str, Any] = {"3,3,3,3": large(), "faults": faults()}
    save(data, chosen.json)


if __name__ == "__main__":
    main()
