"""The cost of the judging core: `python -m benchmarks.core [--against CHECKOUT] [--long] [--json FILE]`.

Long answers, choices in a row, outputs in any order, new states, explanations, inputs in flight. Each line is measured
in a process of its own, with a limit of CPU time, so that exploding ones end. A table of medians of three, beside
those of another checkout, measured in turn. `step calls` and `hypotheses` do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

HERE: Final = Path(__file__).resolve().parent
LINES: Final[dict[str, Sequence[int]]] = {
    "long_answer": (1_000, 10_000, 100_000),
    "long_walk": (1_000, 10_000, 100_000),
    "one_of": (12, 15, 30),
    "one_of_alternating": (12, 15, 30),
    "any_order": (400, 1_000, 10_000),
    "any_order_same": (400, 10_000),
    "never_back": (20_000, 100_000),
    "forgetting": (100_000,),
    "one_explanation": (4, 8, 16),
    "one_event": (8, 16, 32),
    "taken_against_quiet": (4, 8),
    "new_values": (1, 100),
    "ordered": (4, 16),
    "commuting": (4, 12),
}
"""The sizes of each line; where one takes a third of the limit or more, the larger ones are not tried."""
LONG: Final[dict[str, Sequence[int]]] = {"never_back": (2_000_000,), "forgetting": (1_000_000,)}
LIMIT: Final = 60  # seconds of CPU time for a line
PATIENCE: Final = 20  # times the limit that a line of --long may take
Figures = dict[str, float]


class Line(NamedTuple):
    """One measurement: a function of `core_lines`, its size, the limit in seconds of CPU time."""

    name: str
    size: int
    limit: int


Found = tuple[Line, list[Figures | str]]


def measured(line: Line, checkout: Path) -> Figures | str:
    """Return the figures of one line in a process of its own, or the reason why there are none."""
    command = [sys.executable, "-P", str(HERE / "core_lines.py"), line.name, str(line.size), str(line.limit)]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 -- ours
    if done.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
        return f"over {line.limit} s"
    if done.returncode:
        return _why(done.stderr)
    figures = json.loads(done.stdout)
    assert Path(figures.pop("otf")).parent == checkout, f"{checkout} is not a checkout"
    return dict(figures)


def _why(stderr: str) -> str:
    last = (stderr.strip().splitlines() or ["nothing said"])[-1]
    return "over 4 GB" if "MemoryError" in last else last[:90]


def three(line: Line, checkouts: Sequence[Path], rounds: int) -> list[Figures | str]:
    """Return the medians of a line in each checkout, in turn; a line near a third of its limit is measured once."""
    found: dict[Path, list[Figures]] = {each: [] for each in checkouts}
    over: dict[Path, str] = {}
    for _ in range(rounds):
        for checkout, before in found.items():
            if checkout in over or any(_slow(each, line.limit) for each in before):
                continue
            figures = measured(line, checkout)
            if isinstance(figures, str):
                over[checkout] = figures
            else:
                before.append(figures)
    return [over.get(checkout) or _medians(each) for checkout, each in found.items()]


def _medians(found: Sequence[Figures]) -> Figures:
    return {name: median(each[name] for each in found) for name in found[0]}


def lines(*, limit: int, long: bool, only: Sequence[str]) -> Iterator[Line]:
    """Yield the requested lines, small sizes first."""
    for name, sizes in LINES.items():
        if not only or name in only:
            yield from (Line(name, size, limit) for size in sizes)
            yield from (Line(name, size, PATIENCE * limit) for size in LONG.get(name, ()) if long)


def all_of(asked: Iterable[Line], checkouts: Sequence[Path], rounds: int) -> Iterator[Found]:
    """Measure lines, and yield each as soon as it is there; after a slow one, no larger one is tried."""
    slow = set[tuple[str, Path]]()
    for line in asked:
        tried = [each for each in checkouts if (line.name, each) not in slow]
        once = line.size in LONG.get(line.name, ())
        found = dict(zip(tried, three(line, tried, 1 if once else rounds), strict=True))
        slow |= {(line.name, each) for each, figures in found.items() if _slow(figures, line.limit)}
        yield line, [found.get(each, "not tried") for each in checkouts]


def _slow(figures: Figures | str, limit: int) -> bool:
    return isinstance(figures, str) or figures["seconds"] > limit / 3


def _print(line: Line, found: Sequence[Figures | str]) -> None:
    cells = [f"{_cell(each):<96}" for each in found]
    print(f"{line.name:20}{line.size:>10,}  " + "".join(cells) + _ratio(found), flush=True)


def _cell(figures: Figures | str) -> str:
    if isinstance(figures, str):
        return figures
    rest = ", ".join(f"{name} {value:,.4g}" for name, value in figures.items() if name != "seconds" and value)
    return f"{figures['seconds']:.4f} s  {rest}"


def _ratio(found: Sequence[Figures | str]) -> str:
    seconds = [each["seconds"] for each in found if not isinstance(each, str)]
    return f"{seconds[0] / max(seconds[1], 1e-9):10.2f}" if len(seconds) == 2 else ""  # noqa: PLR2004 -- two checkouts


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core", description=__doc__)
    parser.add_argument("lines", nargs="*", help=f"these lines only: {', '.join(LINES)}")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, measured in turn with this")
    parser.add_argument("--long", action="store_true", help="also measure up to 2,000,000 new states in one call")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"seconds of CPU time for each line ({LIMIT})")
    parser.add_argument("--rounds", type=int, default=3, help="rounds for the medians (3)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.lines) - set(LINES):
        parser.error(f"there is no line {', '.join(sorted(unknown))}; there are {', '.join(LINES)}")
    checkouts = [HERE.parent, *([chosen.against.resolve()] if chosen.against else [])]
    print(f"{'':32}" + "".join(f"{each.name:<96}" for each in checkouts) + f"   load {os.getloadavg()[0]:.1f}")
    figures = dict[str, list[Figures | str]]()
    for line, found in all_of(lines(limit=chosen.limit, long=chosen.long, only=chosen.lines), checkouts, chosen.rounds):
        _print(line, found)
        figures[f"{line.name} {line.size}"] = found
    print(f"load {os.getloadavg()[0]:.1f}")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
