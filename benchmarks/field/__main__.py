"""Subjects that everybody knows, beside published figures: `python -m benchmarks.field --data DIR rers`.

A subject is a module of this package with NAME, LICENCE, SOURCE and `run(data, seeds) -> rows`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from benchmarks.field import dropbox, etcd, maelstrom, refusals, rers, torxakis, wiki

SUBJECTS: Final[dict[str, Any]] = {
    each.NAME: each for each in (dropbox, etcd, maelstrom, refusals, rers, torxakis, wiki)
}


def main() -> None:
    """Print the table of each subject that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the snapshots")
    parser.add_argument("--seeds", type=int, default=1, help="campaigns for each strategy")
    parser.add_argument("subjects", nargs="*", default=[*SUBJECTS], choices=[*SUBJECTS])
    chosen = parser.parse_args()
    for name in chosen.subjects:
        subject = SUBJECTS[name]
        print(f"{name}: {subject.SOURCE}, {subject.LICENCE}")
        for row in subject.run(chosen.data, chosen.seeds):
            print("  ", row, flush=True)


if __name__ == "__main__":
    main()
