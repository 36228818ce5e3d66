"""What `otf run --spend` finds: `python -m benchmarks.spend --seeds N --seconds S --json FILE`.

Campaigns on the conference entity with each of its faults, over real UDP sockets and pipes, each with so many seconds.
A campaign ends at its first failure here, as with `--stop-first`: until then its paths are those of the whole time.
Then models in which one transition changed: how many steps until it is taken, with what changed first and without.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import mean, median
from time import monotonic
from typing import Any, Final

import anyio

from benchmarks.measure import command, positive, save
from benchmarks.worth import BENCHES
from otf.campaign import Campaign, Settings
from otf.campaign.changes import ChangedTransitions, TransitionPrints
from otf.campaign.journal_lines import named
from otf.campaign.settings import UNLIMITED
from otf.core import Chooser, Model, Oracle, Symbol, View
from otf.core.walk import Walk
from otf.models import conference
from otf.simulate.system import acting
from otf.spec import Spec
from otf.strategy import Strategy

WHOLE: Final = ("conference", "laundry", "coffee")
"""Models whose transitions are all known; in the others the changed one may lie anywhere."""
STEPS: Final = 50  # of a path
MOST: Final = 10_000  # steps of a campaign


def seconds_until(fault: str, seed: int, seconds: float) -> float | None:
    """Return the seconds until a fault of the conference entity is found, None if it is not."""
    folder = Path(tempfile.mkdtemp(prefix="otf-spend-"))
    settings = Settings(
        out=folder / "out",
        reference="conference",
        traces=UNLIMITED,
        time=seconds,
        spend=True,
        seed=seed,
        keep="failures",
        stop_first=True,
        shrink=False,
        aftermath=0.0,
    )
    began = monotonic()
    try:
        summary = anyio.run(Campaign(conference.bench(fault=fault), settings).run)
    finally:
        shutil.rmtree(folder)
    return monotonic() - began if summary.failures else None


def conference_faults(seeds: int, seconds: float) -> dict[str, Any]:
    """Return how many faults each seed found, the faults that some seed missed, and the seconds until the first."""
    faults = [name for name in conference.bench().mutants if name != "none"]
    load = os.getloadavg()[0]
    found = {fault: [seconds_until(fault, seed, seconds) for seed in range(1, seeds + 1)] for fault in faults}
    counts = [sum(row[at] is not None for row in found.values()) for at in range(seeds)]
    times = [each for row in found.values() for each in row if each is not None]
    return {
        "faults": len(faults),
        "seconds": seconds,
        "found": {"median": median(counts), "least": min(counts), "most": max(counts)},
        "missed": {fault: row.count(None) for fault, row in found.items() if None in row},
        "seconds until found": {"median": round(median(times), 3), "longest": round(max(times), 3)},
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
    }


class _Until:
    """Chooses as another chooser until a transition is taken, and counts the choices."""

    def __init__(self, chooser: Chooser, pair: tuple[str, str]) -> None:
        self._chooser, self._pair = chooser, pair
        self.steps = 0
        self.taken = False

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None once the transition is taken."""
        chosen = None if self.taken else self._chooser.choose(view)
        if chosen is not None:
            self.steps += 1
            self.taken = any((named(node.key), named(chosen.key)) == self._pair for node in view.nodes)
        return chosen


def steps_until(spec: Spec[Any, Any], pair: str, seed: int, *, first: bool) -> int:
    """Return the steps until a changed transition is taken, at most `MOST`."""
    state, _, inp = pair.partition(" ")
    changed = ChangedTransitions([pair]).first(0, 1) if first else None
    oracle, make = Oracle(Model(spec)), acting(spec, seed=seed)
    strategy, steps, path = Strategy("alternating", "uioco", seed, changed=changed), 0, 0
    while steps < MOST:
        path += 1
        chooser = _Until(strategy.path(path), (state, inp))
        Walk(oracle, make(), keep=None).chosen(chooser, STEPS)
        steps += chooser.steps
        if chooser.taken:
            break
    return min(steps, MOST)


def changes(seeds: int) -> dict[str, dict[str, float]]:
    """Return the mean steps until a changed transition is taken, over transitions drawn at random."""
    rows = dict[str, dict[str, float]]()
    for name in WHOLE:
        prints, random = TransitionPrints.of(BENCHES[name]), Random(name)
        pairs = [f"{state} {inp}" for state, inputs in prints.states.items() for inp in inputs]
        drawn = [random.choice(pairs) for _ in range(seeds)]
        until = {
            what: mean(steps_until(BENCHES[name], pair, seed, first=first) for seed, pair in enumerate(drawn, 1))
            for what, first in (("changed first", True), ("without", False))
        }
        rows[name] = {"transitions": len(pairs), **until}
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how many faults are found, and what putting changes first is worth; write it if asked to."""
    parser = command("spend", __doc__)
    parser.add_argument("--seeds", type=positive, default=20, help="campaigns for each fault and model")
    parser.add_argument("--seconds", type=positive, default=60, help="the time of each campaign")
    parser.add_argument("--only", choices=("faults", "changes"), help="only this part")
    chosen = parser.parse_args(arguments)
    data: dict[str, Any] = {}
    if chosen.only != "faults":
        data["changes"] = changes(10 * chosen.seeds)
        for name, row in data["changes"].items():
            print(f"{name:12} {'  '.join(f'{what} {number:.4g}' for what, number in row.items())}")
    if chosen.only != "changes":
        data["faults"] = conference_faults(chosen.seeds, float(chosen.seconds))
        print("\n".join(f"{what:20} {value}" for what, value in data["faults"].items()))
    save(data, chosen.json)


if __name__ == "__main__":
    main()
