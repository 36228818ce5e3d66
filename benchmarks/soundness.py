"""The promise, tried: `python -m benchmarks.soundness`.

Never a false alarm: conforming systems behind lines with random latencies within their bounds, in virtual time, in all
modes. Beside it the negative controls: testers that break a rule, and do raise false alarms. And its opposite, no
miss: seeded faults are found; `--runs 0 --controls 0 --faults 20` prints that table alone. The page
docs/topics-promise.md states the assumptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from benchmarks.campaigns import PATHS, TESTERS
from benchmarks.controls import CONTROLS, NO_EMITS, RUSHING, UNPROVEN
from benchmarks.measure import command, save
from benchmarks.seeded import MODES, Found
from benchmarks.trials import BOUND, Case, Cell, Controlled, alarms, controlled, hunted, sound, tried


def _print_sound(cells: Sequence[Cell]) -> None:
    print("\nConforming systems: paths and false alarms (a ? counts those that are inconclusive)")
    print(f"  {'':22}" + "".join(f"{mode:>22}" for mode in TESTERS) + f"{'steps':>12}")
    for subject in dict.fromkeys(cell.subject for cell in cells):
        row = {cell.mode: cell for cell in cells if cell.subject == subject}
        steps = sum(cell.steps for cell in row.values())
        print(f"  {subject:22}" + "".join(f"{_cell(row.get(mode)):>22}" for mode in TESTERS) + f"{steps:12,}")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    doubts = cell.verdicts["inconclusive"]
    return f"{cell.runs:,}: {len(cell.alarms)}" + (f" {doubts}?" if doubts else "")


def _print_alarm(case: Case) -> None:
    run = case.again(TESTERS[case.mode])
    print(f"\nFALSE ALARM {case}\n  {run.verdict.failure}")
    for event in run.events:
        print(f"  {event}")


def _print_controls(found: Iterable[Controlled]) -> None:
    print("\nNegative controls: false alarms in as many paths, without a rule and with it")
    for each in found:
        print(f"  {each.name:56}{each.runs:7,} paths   without {each.without:6,}   with {each.kept:4,}")


def _print_rule(runs: int, seed: int) -> None:
    """Print the effect of eager mode's rule for changing ports if the monitor keeps every order anyway."""
    print(
        "\nEager mode's rule for changing ports, with the whole monitor: false alarms, largest set, virtual ms a step"
    )
    for title, tester in (("without", RUSHING), ("with", UNPROVEN)):
        cells = [tried(name, "rule", tester, -(-runs // (3 * PATHS)), seed) for name in NO_EMITS]
        for cell in cells:
            pace = 1000 * cell.seconds / cell.steps
            print(f"  {title:8}{cell.subject:24}{len(cell.alarms):6}{cell.largest:8,}{pace:10.2f}")


def _print_hunted(found: Iterable[list[Found]]) -> Iterator[list[Found]]:
    """Print a row for each kind of fault in each subject as soon as it is there, and pass it on."""
    print("\nSeeded faults that can be seen: found, and the median of the steps that it took")
    print(f"  {'':22} {'':9}" + "".join(f"{mode:>22}" for mode in MODES))
    for each in found:
        row = "".join(f"{_rate([one for one in each if one.mode == mode]):>22}" for mode in MODES)
        print(f"  {each[0].name:22} {each[0].kind:9}{row}", flush=True)
        yield each


def _rate(found: Sequence[Found]) -> str:
    steps = [one.steps for one in found if one.steps is not None]
    return f"{len(steps)}/{len(found)}" + (f" in {median(steps):,.0f}" if steps else "")


def _counted(found: Iterable[list[Found]]) -> tuple[int, int]:
    """Return the number of faults in the modes in which they must be found, and the number of missed ones."""
    bound = [one for each in found for one in each if one.mode in BOUND]
    return len(bound), sum(one.steps is None for one in bound)


def conform(runs: int, seed: int) -> dict[str, object]:
    """Try conforming systems, print the table, and return the figures."""
    cells = list(sound(runs, seed)) if runs else []
    if runs:
        _print_sound(cells)
    for case in (case for cell in cells for case in cell.alarms):
        _print_alarm(case)
    return {
        "runs": sum(cell.runs for cell in cells),
        "false_alarms": alarms(cells),
        "inconclusive": sum(cell.verdicts["inconclusive"] for cell in cells),
    }


def control(runs: int, seed: int) -> dict[str, object]:
    """Try testers without a rule, print the table, and return the figures."""
    found = [controlled(name, runs, seed) for name in CONTROLS] if runs else []
    if runs:
        _print_controls(found)
        _print_rule(runs, seed)
    each = {one.name: {"runs": one.runs, "without": one.without, "with": one.kept} for one in found}
    return {"control_false_alarms": sum(one.without for one in found), "controls": each}


def seed_faults(faults: int, seed: int) -> dict[str, object]:
    """Seed a number of faults of each kind in each subject, print which are found, and return the figures."""
    found = list(_print_hunted(hunted(faults, seed))) if faults else []
    seeded, missed = _counted(found)
    return {"seeded": seeded, "missed": missed}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and measure."""
    parser = command("soundness", __doc__)
    parser.add_argument("--runs", type=int, default=2_000, help="paths against conforming systems; 0: none")
    parser.add_argument(
        "--controls", type=int, help="paths for each negative control (a twentieth of the runs); 0: none"
    )
    parser.add_argument("--faults", type=int, help="faults of each kind in each subject (2 or more); 0: none")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    runs, seed = chosen.runs, chosen.seed
    controls = max(100, min(runs // 20, 3_000)) if chosen.controls is None else chosen.controls
    faults = max(2, min(runs // 5_000, 20)) if chosen.faults is None else chosen.faults
    figures = conform(runs, seed) | control(controls, seed) | seed_faults(faults, seed)
    print("\n" + ", ".join(f"{name} {value:,}" for name, value in figures.items() if isinstance(value, int)))
    save(figures, chosen.json)


if __name__ == "__main__":
    main()
