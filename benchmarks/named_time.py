"""Whether each second of a campaign belongs to a named part: `python -m benchmarks.named_time [--campaigns 100]`.

The parts that `otf run --json` names are compared with the wall clock around the command. Campaigns pass, fail and
shrink, or are cut by their time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

from benchmarks.measure import command, positive, save

WAYS: Final = (
    ("conference", "--traces", "15"),
    ("conference", "--time", "4"),
    ("conference", "--set", "fault=O8", "--traces", "10"),
    ("conference", "--set", "fault=O6", "--time", "5"),
    ("conference", "--set", "fault=O3", "--traces", "10", "--jobs", "2"),
)
MOST: Final = 0.02


def measured(way: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the wall clock of a campaign, and the sum of its parts."""
    with TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "otf", "run", *way, "--seed", str(seed), "--no-saved", "--json"]
        begun = monotonic()
        done = subprocess.run(  # noqa: S603 -- the command is ours
            [*argv, "--out", str(Path(folder, "out"))], capture_output=True, text=True, check=False
        )
        wall = monotonic() - begun
    named = sum(json.loads(done.stdout)["parts"].values())
    return {"way": " ".join(way), "seed": seed, "wall": round(wall, 3), "named": round(named, 3)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the campaigns of which more has no name, then how many these are."""
    parser = command("named_time", __doc__)
    parser.add_argument("--campaigns", type=positive, default=100)
    chosen = parser.parse_args(arguments)
    rows = [measured(WAYS[at % len(WAYS)], at) for at in range(chosen.campaigns)]
    over = [each for each in rows if abs(each["wall"] - each["named"]) > MOST * each["wall"]]
    for each in over:
        print(each)
    longest = max(abs(each["wall"] - each["named"]) for each in rows)
    print(f"{len(over)} of {len(rows)} campaigns are over {MOST:.0%}; at most {1000 * longest:.0f} ms have no name")
    save({"rows": rows}, chosen.json)


if __name__ == "__main__":
    main()
