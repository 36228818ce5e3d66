"""The road of a step: the files and functions of otf that a warm strict step enters, `python -m benchmarks.road`.

`--first` prints those that a first run enters: `otf run coffee --steps 20 --traces 1`, which needs no device and no
clock, from the command line to the summary. What an import alone runs does not count.

The conference entity is tested strictly, with silence observed; a path of it is traced once others have warmed up what
is remembered. A step is what happens from one input to the next. Counted are functions (comprehensions and generators
too, as Python 3.11 calls them) that at least half of the steps of the second half enter, and the files that these are
in; files of others do not count. They are printed in the order in which a step enters them, each with how many of a
hundred steps do.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType

import otf
from otf.campaign import run
from otf.cli import called
from otf.core.session import Session
from otf.models.conference import bench
from otf.trace.events import Sent

ROOT = str(Path(otf.__file__).parent)
PATHS = 3  # of which the last counts
STEPS = 200


@dataclass
class Trace:
    """The functions that each step of the last session entered, by their code, in order of their first call."""

    steps: list[dict[CodeType, None]] = field(default_factory=list[dict[CodeType, None]])
    _session: object = None

    def note(self, frame: FrameType, event: str, _arg: object) -> None:
        """Take a call of a function, as `sys.setprofile` gives it."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT):
            return
        if code is Session.tell.__code__ and isinstance(frame.f_locals["event"], Sent):
            if self._session is not frame.f_locals["self"]:
                self._session = frame.f_locals["self"]
                self.steps.clear()
            self.steps.append({})
        if self.steps:
            self.steps[-1][code] = None

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Trace what is called until the context is left."""
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)


@dataclass(frozen=True)
class Road:
    """The functions that at least half of the steps enter, each with its share of the steps."""

    functions: dict[CodeType, float]

    @property
    def files(self) -> dict[str, list[CodeType]]:
        """Return the functions by file, in the order in which a step enters them."""
        found = defaultdict[str, list[CodeType]](list)
        for code in self.functions:
            found[code.co_filename.removeprefix(ROOT).lstrip("/")].append(code)
        return found


@dataclass
class FirstRun:
    """The functions that a run entered by file, imports left out, in order of their first call."""

    files: defaultdict[str, dict[CodeType, None]] = field(
        default_factory=lambda: defaultdict[str, dict[CodeType, None]](dict)
    )
    _importing: int = 0

    def note(self, frame: FrameType, event: str, _arg: object) -> None:
        """Take a call of a function, or its end, as `sys.setprofile` gives it."""
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += (event == "call") - (event == "return")
        # the body of a class is no function: it runs when the class is made
        elif event == "call" and not self._importing and code.co_flags & CO_OPTIMIZED and ROOT in code.co_filename:
            self.files[code.co_filename.removeprefix(ROOT).lstrip("/")][code] = None


def first_run(out: Path) -> FirstRun:
    """Run the first command of a user, with traces in a new folder `out`, and return what it entered."""
    found = FirstRun()
    sys.setprofile(found.note)
    try:
        called(["run", "coffee", "--steps", "20", "--traces", "1", "--seed", "1", "--out", str(out)])
    finally:
        sys.setprofile(None)
    return found


def road(steps: int = STEPS) -> Road:
    """Return the road of a warm step of the conference, in strict mode."""
    trace = Trace()
    with trace.tracing():
        run(bench(), traces=PATHS, steps=steps, seed=1, mode="strict")
    # where the machine is busy, a system is looked at more than once
    counted = sorted(trace.steps[steps // 2 : -1], key=len)[: steps // 4]
    shares = Counter(code for step in counted for code in step)
    often = max(counted, key=lambda step: sum(shares[code] for code in step))
    order = [*often, *(code for code in shares if code not in often)]
    return Road({code: shares[code] / len(counted) for code in order if 2 * shares[code] >= len(counted)})


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the road, and how long it is."""
    parser = ArgumentParser(prog="python -m benchmarks.road", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help=f"of each of the {PATHS} paths; default: {STEPS}")
    parser.add_argument("--first", action="store_true", help="print what a first run enters")
    given = parser.parse_args(arguments)
    if given.first:
        with TemporaryDirectory() as folder:
            files = first_run(Path(folder, "out")).files
        for name, entered in files.items():
            print(f"{name}: {', '.join(code.co_qualname for code in entered)}")
        print(f"{len(files)} files, {sum(map(len, files.values()))} functions")
        return
    found = road(given.steps)
    for name, codes in found.files.items():
        print(name)
        for code in codes:
            print(f"  {100 * found.functions[code]:3.0f} %  {code.co_qualname}")
    print(f"{len(found.files)} files, {len(found.functions)} functions")


if __name__ == "__main__":
    main()
