"""Mutants of the models of all shipped benches: `python -m benchmarks.mutation --most 60 --json FILE [BENCH …]`.

For each bench: how many mutants are killed, equivalent (proved) and open, within five minutes of virtual time each, and
the reasons of those that are open. No system is started. A bench whose library is not installed is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from time import process_time
from typing import Any

from benchmarks.measure import command, positive, save
from otf.cli.benches import load
from otf.cli.catalogue import sources
from otf.errors import OtfError
from otf.mutation import Fate, HuntBudget, MutationAnalysis


def measured(name: str, most: int, budget: HuntBudget, seconds: float) -> dict[str, Any]:
    """Return the counts of one bench; after so many seconds of CPU no more mutants are tried."""
    began = process_time()
    analysis = MutationAnalysis(load(name), 1, budget, "eager")
    report = analysis.report
    for mutant in analysis.mutants(most):
        if process_time() - began > seconds:
            break
        report.results.append(analysis.judge.of(mutant))
    reasons = Counter(str(each.why) for each in report.of(Fate.OPEN))
    return {
        **report.counts,
        "tried": len(report.results),
        "possible": report.possible,
        "rules": report.rules,
        "whole": report.whole,
        "control": None if report.control is None else report.control.kind,
        "reasons": dict(reasons),
        "unserved": list(report.unserved),
        "virtual_seconds": round(report.seconds, 1),
        "cpu_seconds": round(process_time() - began, 1),
    }


def rows(names: Iterable[str], most: int, budget: HuntBudget, seconds: float) -> dict[str, dict[str, Any]]:
    """Return the counts of all benches, and print each as it comes."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        try:
            row = measured(name, most, budget, seconds)
        except OtfError as error:
            print(f"{name:15} left out: {error}")
            continue
        found[name] = row
        counts = "  ".join(f"{row[fate.value]:4} {fate.value}" for fate in Fate)
        print(
            f"{name:15} {counts}  of {row['possible']:4}  {row['cpu_seconds']:6.1f} s  {row['reasons'] or ''}",
            flush=True,
        )
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each bench; write all if asked to."""
    parser = command("mutation", __doc__)
    parser.add_argument("benches", nargs="*", help="default: all that are shipped")
    parser.add_argument("--most", type=positive, default=60, help="mutants for each bench")
    parser.add_argument("--steps", type=positive, default=20_000, help="inputs for each mutant")
    parser.add_argument("--seconds", type=float, default=300.0, help="virtual time for each mutant")
    parser.add_argument("--cpu", type=float, default=120.0, help="CPU time for each bench")
    chosen = parser.parse_args(arguments)
    data = rows(chosen.benches or [*sources()], chosen.most, HuntBudget(chosen.steps, chosen.seconds), chosen.cpu)
    tried, still = (sum(row[what] for row in data.values()) for what in ("tried", "open"))
    print(f"{still} of {tried} open")
    save({"benches": data, "tried": tried, "open": still}, chosen.json)


if __name__ == "__main__":
    main()
