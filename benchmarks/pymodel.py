"""PyModel's sample directories, explored: otf's numbers beside PyModel's own.

`python -m benchmarks.pymodel --data DIR`: DIR is the folder `samples` of the fork zlorb/PyModel (BSD licence, Jonathan
Jacky). Prints the table of docs/howto-pymodel.md; the exit status is 1 where a number is not PyModel's. Its numbers are
what its analyzer printed, with a bound that cuts nothing off (the fork needs three changed lines to start on 3.11).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from otf.compat.pymodel import load
from otf.compat.pymodel.product import Numbers, count_states


class Case(NamedTuple):
    """Modules of a sample directory, and PyModel's numbers of their product."""

    folder: str
    modules: str
    numbers: tuple[int, int, int, int, int, int]
    exclude: str = ""


def _cases() -> Iterator[Case]:
    for line in TABLE.strip().splitlines():
        folder, modules, *rest = line.split("|")
        names = [word for word in modules.split() if not word.startswith("-")]
        excluded = [word[1:] for word in modules.split() if word.startswith("-")]
        numbers = tuple(map(int, rest[0].split()))
        yield Case(folder.strip(), " ".join(names), numbers, " ".join(excluded))  # type: ignore[arg-type] # there are six


TABLE: Final = """
Marquee | Marquee | 2 2 2 0 0 0
Marquee | Marquee DisplayFive | 7 14 7 0 0 0
Marquee | LoadFirst | 2 2 2 0 0 0
Marquee | Marquee DisplayFive LoadFirst | 6 6 6 0 0 0
PowerSwitch | PowerSwitch | 2 2 1 0 0 0
PowerSwitch | SpeedControl | 3 3 1 0 0 0
PowerSwitch | SpeedControl PowerSwitch | 6 12 1 0 0 0
PowerSwitch | PowerSwitch -PowerOff | 2 1 1 0 0 1
PowerSwitch | Scenarios | 19 15 4 0 4 0
PowerSwitch | Scenarios PowerSwitch | 14 10 1 0 1 3
Socket | deterministic synchronous msocket | 7 8 1 0 0 0
Socket | synchronous | 4 4 1 0 0 0
Socket | msgsizes msocket all_observables | 53 42 8 0 8 3
Stack | Scenarios | 20 16 4 0 4 0
Stack | Stack StackDepthThree | 15 28 15 0 0 0
Stack | Stack StackOneScenario StackDepthThree | 4 6 4 0 0 0
Stack | Scenarios Stack | 11 7 1 0 1 3
Stack | Scenarios Stack Observables | 12 8 1 0 1 3
Stack | Scenarios Stack AllObservables | 14 10 2 0 2 2
Stack | StackOneScenario | 1 2 1 0 0 0
Stack | Stack Observables | 1 0 1 0 1 0
StackResult | Stack | 15 28 15 0 0 0
StackResult | Stack Filter3 | 15 28 15 0 0 0
StackResult | Stack StackOneScenario | 4 6 4 0 0 0
Timeout | Timeout | 4 3 1 0 1 0
abp | ABP | 5 13 3 0 0 0
abp | Scenarios | 14 12 2 0 2 0
abp | Scenarios ABP | 12 10 1 0 1 1
safety | oven | 3 5 1 0 0 0
safety | unsafe_oven | 4 8 1 1 0 0
tracemultiplexer | tracemultiplexer | 37 36 6 0 6 0
tracemultiplexer | unsynchronized tracemultiplexer | 207 234 42 30 42 0
WebApplication | WebModel | 46 289 10 0 0 0
WebApplication | OneUserDomain WebModel | 7 19 4 0 0 0
WebApplication | OneUserFilter WebModel | 7 25 4 0 0 0
WebApplication | OneUserNoIntScenario WebModel | 3 3 2 0 0 0
WebApplication | OneUserScenario WebModel | 7 16 4 0 0 0
WebApplication | OneUserScenario | 2 2 1 0 0 0
WebApplication | OneUserNoIntScenario | 2 2 1 0 0 0
WebApplication | TestIntSuccess TestIntWrong | 4 3 0 0 0 1
WebApplication | TestIntSuccess TestIntWrongLogout | 5 4 0 0 0 1
WebApplication | TestIntSuccess | 6 5 1 0 1 0
WebApplication | TestIntSuccessNoNone | 6 5 1 0 1 0
WebApplication | TestIntFailure | 7 6 1 0 1 0
WebApplication | TestIntWrong | 6 5 1 0 1 0
WebApplication | TestIntWrongLogout | 6 5 1 0 1 0
WebApplication | TestIntSuccess WebModel | 6 5 1 0 1 0
WebApplication | TestIntSuccessNoNone WebModel | 6 5 1 0 1 0
WebApplication | TestIntWrong WebModel | 4 3 0 0 0 1
WebApplication | TestIntTwoRuns | 13 11 2 0 2 0
WebApplication | TestIntTwoRuns WebModel | 13 11 1 0 1 1
WebApplication | TestIntTwoUsers | 16 15 1 0 1 0
WebApplication | TestIntTwoUsers WebModel | 16 15 1 0 1 0
WebApplication | TestLoginFiveFailures WebModel | 8 7 0 0 0 1
WebApplication | ScenarioLogin WebModel | 8 14 3 0 3 0
WebApplication | ScenarioLogin | 3 2 1 0 1 0
"""
CASES: Final = tuple(_cases())


def found(data: Path, case: Case) -> Numbers:
    """Return otf's numbers of a case."""
    loaded = load(*case.modules.split(), folder=data / case.folder, exclude=case.exclude.split())
    return count_states(loaded.spec)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pymodel", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder `samples` of the fork")
    data: Path = parser.parse_args(arguments).data
    wrong = 0
    print("| directory | modules | states | transitions | accepting | unsafe | finished | dead ends |")
    print("|---|---|---|---|---|---|---|---|")
    for case in CASES:
        numbers = found(data, case)
        same = numbers[:6] == case.numbers and numbers.whole
        wrong += not same
        cells = [f"{a}" if a == b else f"{a} (PyModel {b})" for a, b in zip(numbers, case.numbers, strict=False)]
        without = f" without `{case.exclude}`" if case.exclude else ""
        print(f"| {case.folder} | `{case.modules}`{without} | {' | '.join(cells)} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
