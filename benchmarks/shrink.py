"""How short, for how many transitions of the system: every algorithm on the same failing runs.

`python -m benchmarks.shrink`. The faulty systems are those of
`otf.models`; the tables are made like tables 1 to 3 of Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State
Based Testing". Transitions and resets are those of the search. A live search sends the original once more before it,
and the result four times after it. `rate` is the share of 200 re-runs of the result that show the failure. It takes
about ten minutes of CPU without Hypothesis, and as much for each of its seeds.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Any, Final

from benchmarks.measure import command, positive, save
from benchmarks.shrink_classical import ALGORITHMS, OWN, algorithms
from benchmarks.shrink_optimum import optimum
from benchmarks.shrink_peers import hypothesis_shrinks
from benchmarks.shrink_simulated import drive, unpaused
from benchmarks.shrink_subjects import SYSTEMS, Subject
from otf.shrink import Setting, again

SEEDS: Final = 10
PEERS: Final = 3  # seeds for Hypothesis, which takes longer than all others together, with failing runs of its own
RERUNS: Final = 200
PEER: Final = "hypothesis"


@dataclass(frozen=True)
class Row:
    """The result for one failing run: its length, that of the result and the shortest, and the cost."""

    fault: str
    seed: int
    algorithm: str
    issue: int
    length: int
    optimum: int
    transitions: int
    resets: int
    rate: float | None = None


def rows(subject: Subject, seed: int, names: Iterable[str]) -> Iterable[Row]:
    """Yield the result of each algorithm for the same failing run."""
    issue = subject.issue(seed)
    best = optimum(subject, issue.signature)
    assert best is not None
    known = algorithms(subject.inputs, seed)
    for name in names:
        system = subject.simulated(seed)
        found = drive(unpaused(issue, Setting(system.oracle), known[name]), system.shows)
        assert found.signature == issue.signature
        took = sum(system.lengths), len(system.lengths)
        rate = None
        if subject.chance is not None and name == OWN:
            candidate = again(found, system.oracle)
            rate = mean(_same(system.shows(candidate), found.signature) for _ in range(RERUNS))
        yield Row(subject.fault, seed, name, len(issue), len(found), best, *took, rate)


def _same(answer: Any, signature: object) -> bool:
    return answer is not None and answer.signature == signature


def peer(subject: Subject, seed: int) -> Row:
    """Return Hypothesis's result for a failing run of its own."""
    best = optimum(subject)
    assert best is not None
    return Row(subject.fault, seed, PEER, *hypothesis_shrinks(subject, seed, best))


@cache
def measured(subject: Subject, seeds: int, peers: int) -> list[Row]:
    """Return the rows of a subject, each algorithm after another."""
    found = [row for seed in range(seeds) for row in rows(subject, seed, ALGORITHMS)]
    if subject.chance is None and subject.judge is None:  # Hypothesis refuses what is not deterministic
        found += [peer(subject, seed) for seed in range(peers)]
    return found


def means(found: Sequence[Row]) -> dict[str, float]:
    """Return the means over rows."""
    fields = ("issue", "length", "optimum", "transitions", "resets")
    return {field: round(mean(getattr(row, field) for row in found), 3) for field in fields}


def of(found: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Return the rows by a key."""
    groups: dict[Any, list[Row]] = {}
    for row in found:
        groups.setdefault(key(row), []).append(row)
    return groups


def summary(found: Sequence[Row]) -> None:
    """Print the means of each algorithm."""
    print(f"  {'':16}{'issue':>8}{'length':>8}{'optimum':>9}{'over':>8}{'transitions':>14}{'resets':>9}{'rate':>8}")
    for algorithm, group in of(found, lambda row: row.algorithm).items():
        m = means(group)
        over = f"{m['length'] / m['optimum'] - 1:.1%}"
        rates = [row.rate for row in group if row.rate is not None]
        rate = f"{mean(rates):.1%}" if rates else ""
        line = f"  {algorithm:16}{m['issue']:8.1f}{m['length']:8.2f}{m['optimum']:9.2f}{over:>8}"
        print(f"{line}{m['transitions']:14,.1f}{m['resets']:9,.1f}{rate:>8}")


def columns(found: Sequence[Row], key: Callable[[Row], Any]) -> None:
    """Print the lengths and transitions of each algorithm in columns, as the paper does."""
    across = of(found, key)
    print(f"\n  {'':24}" + "".join(f"{name!s:>11}" for name in across) + f"{'mean':>11}")
    own = [row for row in found if row.algorithm != PEER]
    _line("issue", [mean(r.issue for r in own if key(r) == name) for name in across])
    _line("optimum", [mean(r.optimum for r in own if key(r) == name) for name in across])
    for algorithm, group in of(found, lambda row: row.algorithm).items():
        there = of(group, key)
        if there.keys() == across.keys():
            _line(algorithm, [mean(r.length for r in there[name]) for name in across])
            _line("  transitions", [mean(r.transitions for r in there[name]) for name in across])


def _line(name: str, numbers: Sequence[float]) -> None:
    print(f"  {name:24}" + "".join(f"{number:11,.1f}" for number in [*numbers, mean(numbers)]))


def options() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = command("shrink", __doc__)
    parser.add_argument("--seeds", type=positive, default=SEEDS, help="failing runs of each fault")
    parser.add_argument("--peers", type=int, default=PEERS, help=f"seeds of these for {PEER}, which takes longer")
    parser.add_argument("--system", choices=[*SYSTEMS], help="one of the faulty systems (all)")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and save the means."""
    chosen = options().parse_args(arguments)
    seeds, peers = chosen.seeds, chosen.peers
    result: dict[str, Mapping[str, dict[str, float]]] = {}
    for system in [chosen.system] if chosen.system else SYSTEMS:
        found = [row for subject in SYSTEMS[system] for row in measured(subject, seeds, min(seeds, peers))]
        print(f"\n{system}: {len(SYSTEMS[system])} faults, {seeds} seeds each ({PEER}: {min(seeds, peers)}); means")
        summary(found)
        columns(found, lambda row: row.fault)
        first = found[0].fault
        print(f"\n  {first} alone, by seed")
        columns([row for row in found if row.fault == first], lambda row: row.seed)
        result[system] = {name: means(group) for name, group in of(found, lambda row: row.algorithm).items()}
    save(result, chosen.json)


if __name__ == "__main__":
    main()
