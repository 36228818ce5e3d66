"""The hostile day: `python -m benchmarks.hostile --json FILE`.

Each way to end or to harm a process (`hostile_ways`) is tried at each place of a bench (`hostile_bench`), in each
command that drives a system. One sentence is checked: *status 0 only if paths were driven, judged and said*. After a 0,
the last lines must say so, and the traces on the disk must hold as many paths, each driven to its end, with inputs and
a verdict. In some campaigns the system answers wrongly once it was struck: then 0 is wrong in any case. Told beside it:
failures that blame a system which did nothing wrong, ends without a word, what is called a defect of otf, and hangs.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.hostile_ways import HARMLESS, PRELOADED, SPEECHLESS, STRUCK, WAYS
from benchmarks.measure import command, positive, save

ROOT: Final = Path(__file__).parent.parent
BENCH: Final = Path(__file__).with_name("hostile_bench.py")
PATHS, STEPS = 3, 8
SECONDS: Final = 120.0  # for a command that takes two; ten workers may have to die first
_ASKED: Final = ("--seed", "1", "--traces", str(PATHS), "--steps", str(STEPS), "--no-saved")
_RUN: Final = ("run", str(BENCH), *_ASKED)
TEST: Final = f"""
from pathlib import Path
from benchmarks.hostile_bench import at, bench

def pytest_runtest_teardown(): at("plugin")
def pytest_sessionfinish(): at("finish")
def test_it(otf_run): otf_run(bench, traces={PATHS}, steps={STEPS}, seed=1, out=Path("out"))
"""
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "run": (*_RUN, "--out", "out"),
    "json": (*_RUN, "--out", "out", "--json"),
    "jobs": (*_RUN, "--out", "out", "--jobs", "2"),
    "workers": (*_RUN, "--out", "out", "--processes", "2"),
    "page": (*_RUN, "--out", "out", "--page", "0"),
    "own": (*_RUN, "--out", "out", "--strategy", f"{BENCH}:Strategy"),
    "into": (*_RUN, "--into", "out"),
    "resume": ("run", str(BENCH), "--resume", "out"),
    "rerun": ("rerun", "old/path-0001.jsonl", "--bench", str(BENCH), "--out", "out"),
    "suite": ("suite", str(BENCH), "--method", "tour", "--out", "out"),
    "pytest": (),
}
"""What drives a system; pytest is called as itself."""
ALL: Final = ("import", "make", "inputs", "model", "encode", "decode", "start", "step", "thread", "hook", "exit")
PLACES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(COMMANDS, ("step", "model")),
    "run": ALL,
    "own": ("strategy",),
    "pytest": ("step", "model", "thread", "plugin", "finish"),
}
SYSTEM: Final = {"start", "step", "thread"}  # where what ends is the system's own end


@dataclass(frozen=True)
class Case:
    """One combination."""

    command: str
    place: str
    way: str
    wrong: bool = False

    def __str__(self) -> str:
        """Name it."""
        return f"{self.command}, {self.place}: {self.way}{', then wrong answers' if self.wrong else ''}"


def cases() -> Iterator[Case]:
    """Yield all combinations."""
    for name in COMMANDS:
        for place in PLACES[name]:
            for way in WAYS:
                yield Case(name, place, way)
                if place in {"step", "model"} and name in {"run", "rerun", "suite", "pytest"}:
                    yield Case(name, place, way, wrong=True)


def library(folder: Path) -> Path | None:
    """Return the library that is loaded before others; None if there is no compiler."""
    made = folder / "hostile.so"
    call = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(made), str(BENCH.with_name("hostile.c")), "-ldl"]
    if shutil.which("gcc") is None:
        return None
    subprocess.run(call, check=True)  # noqa: S603 -- the compiler of this machine
    return made


def prepare(folder: Path) -> None:
    """Drive the campaigns from which commands go on: a whole one, one with a path, and one whose end is cut off."""
    for out, paths in (("old", PATHS), ("begun", 1)):
        call = [*_RUN, "--out", out, "--traces", str(paths)]
        done = subprocess.run([sys.executable, "-m", "otf", *call], cwd=folder, env=_environment(), check=False)  # noqa: S603 -- otf
        assert done.returncode == 0
    shutil.copytree(folder / "old", folder / "cut")
    lines = (folder / "cut" / "campaign.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    counts = [at for at, line in enumerate(lines) if json.loads(line).get("event") == "path counted"]
    (folder / "cut" / "campaign.jsonl").write_text("".join(lines[: counts[0] + 1]), encoding="utf-8")
    for number in (2, 3):
        (folder / "cut" / f"path-{number:04}.jsonl").unlink()


def _environment(case: Case | None = None, preloaded: Path | None = None) -> dict[str, str]:
    own = {"PYTHONPATH": str(ROOT)}
    if case is not None:
        own |= {"HOSTILE_PLACE": case.place, "HOSTILE_WAY": case.way} | ({"HOSTILE_WRONG": "1"} if case.wrong else {})
    if preloaded is not None and case is not None and case.way in PRELOADED:
        own["LD_PRELOAD"] = str(preloaded)
    return {**os.environ, **own}


@dataclass(frozen=True)
class End:
    """How a case ended."""

    status: int
    out: str
    err: str
    folder: Path

    def driven(self, case: Case) -> int:
        """Return the number of paths whose trace has an input, and an end with the verdict pass; a suite keeps none."""
        if case.command == "suite":
            journal = (self.folder / "out" / "campaign.jsonl").read_text(encoding="utf-8")
            return sum('"event":"path counted"' in line and '"verdict":"pass"' in line for line in journal.splitlines())
        driven = set()
        # a command that is called in a folder may be moved to another before it writes anything; what a handler of the
        # exit removes after all was said lies in a copy of the folder that was made before it
        for trace in self.folder.glob("**/out/*-[0-9]*.jsonl"):
            with suppress(OSError, ValueError):
                lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
                inputs = any(line["event"] == "sent" for line in lines)
                if inputs and (lines[-1]["event"], lines[-1].get("verdict")) == ("end", "pass"):
                    driven.add(trace.name)
        return len(driven)

    def said(self, case: Case) -> bool:
        """Return whether the result was printed."""
        if case.command == "pytest":
            return " passed" in self.out
        if case.command == "json":
            with suppress(ValueError, LookupError):
                return bool(json.loads(self.out)["verdict"] == "pass")
            return False
        return any(line.startswith("PASS") for line in self.out.splitlines())


def run(case: Case, folder: Path, preloaded: Path | None) -> str:
    """Run a case in an empty folder; return what is wrong with its end, `right`, `not run` or `not reached`."""
    if case.way in PRELOADED and preloaded is None:
        return "not run"
    with TemporaryDirectory(dir=folder) as place:
        here = Path(place)
        source = {"into": "begun", "resume": "cut"}.get(case.command)
        if source is not None:
            shutil.copytree(folder / source, here / "out")
        if case.command == "rerun":
            shutil.copytree(folder / "old", here / "old")
        end = _ended(case, here, _environment(case, preloaded))
        while (here / "out").is_mount():  # where we have the rights for it
            subprocess.run(["umount", "--lazy", str(here / "out")], check=True)  # noqa: S603, S607 -- that of this machine
        if end is None:
            return "hangs"
        if (here / "not run").exists():
            return "not run"
        if not (here / STRUCK).exists() and case.place != "exit":
            return "not reached"
        return judged(case, end)


def _ended(case: Case, here: Path, environment: dict[str, str]) -> End | None:
    call = ["-m", "otf", *COMMANDS[case.command]]
    if case.command == "pytest":
        test = here / "test_it.py"
        test.write_text(TEST, encoding="utf-8")
        (here / "conftest.py").write_text("from test_it import *\n", encoding="utf-8")
        call = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(here), str(test)]
    out, err = here / "stdout", here / "stderr"
    with out.open("wb") as first, err.open("wb") as second:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": first, "stderr": second}
        process = subprocess.Popen([sys.executable, *call], cwd=here, env=environment, start_new_session=True, **pipes)  # type: ignore[call-overload]  # noqa: S603 -- otf
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    read = [each.read_text(encoding="utf-8", errors="replace") if each.exists() else "" for each in (out, err)]
    return End(status, read[0], read[1], here)


def judged(case: Case, end: End) -> str:
    """Return what is wrong with an end, or `right`."""
    return _earned(case, end) if end.status == 0 else _refused(case, end)


def _earned(case: Case, end: End) -> str:
    if (end.folder / "lied").exists():
        return "0 after wrong answers"
    if not end.said(case):
        return "0 without a word"
    asked = 1 if case.command in {"rerun", "suite"} else PATHS
    return "right" if (driven := end.driven(case)) >= asked else f"0 for {driven} paths of {asked}"


def _refused(case: Case, end: End) -> str:
    if case.way in HARMLESS and not case.wrong:
        return f"{end.status} for what harms nothing"
    if end.status == 1 and case.command != "pytest" and case.place not in SYSTEM and not case.wrong:
        return "a false alarm"
    if "defect of otf" in end.err:
        return "blames otf"
    return "right" if end.out or end.err or case.way in SPEECHLESS or end.status < 0 else "no word"


def day(chosen: Sequence[Case], jobs: int) -> dict[str, list[str]]:
    """Run the cases; return them by what is wrong with them."""
    found: dict[str, list[str]] = {}
    with TemporaryDirectory(prefix="hostile-") as place, ThreadPoolExecutor(jobs) as pool:
        folder = Path(place)
        preloaded = library(folder)
        prepare(folder)
        for case, verdict in zip(chosen, pool.map(lambda case: run(case, folder, preloaded), chosen), strict=True):
            found.setdefault(verdict, []).append(str(case))
            if verdict not in {"right", "not reached"}:
                print(f"{verdict:28} {case}", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how many ends were wrong, and which."""
    parser: ArgumentParser = command("hostile", __doc__)
    parser.add_argument("--first", type=positive, help="only so many, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of that draw")
    parser.add_argument("--jobs", type=positive, default=2, help="how many at the same time")
    parser.add_argument("--only", default="", help="only those whose name contains this")
    asked = parser.parse_args(arguments)
    chosen = [case for case in cases() if asked.only in str(case)]
    Random(asked.seed).shuffle(chosen)
    chosen = chosen[: asked.first]
    before = os.getloadavg()[0]
    found = day(chosen, asked.jobs)
    counts = Counter({verdict: len(names) for verdict, names in found.items()})
    wrong = sum(count for verdict, count in counts.items() if verdict.startswith("0 "))
    print(f"{len(chosen)} combinations of {sum(1 for _ in cases())}, {wrong} ended with a 0 that was not earned")
    print(", ".join(f"{verdict}: {count}" for verdict, count in counts.most_common()))
    print(f"load {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end")
    save({"cases": [asdict(case) for case in chosen], "found": found, "load": before}, asked.json)


if __name__ == "__main__":
    main()
