"""Attacks on otf: `python -m benchmarks.attack --cases N --real N --seed S --json FILE`.

Damaged traces, captures, saved failures, descriptions of benches and file names go through replay, show, report,
shrink, rerun and run: in one process, and some of them through the real command. Each has to end within ten seconds and
300 MB with one of otf's exit statuses and without a traceback, and must not print control sequences; it must not write
outside the folder of the result, start a process, or contact an address. Each finding is printed with the seed of its
case, and is kept in a folder.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.damage import CAPTURE, DESCRIPTION, TRACE, damaged, name
from benchmarks.watched import Watch
from otf.cli import called
from otf.errors import Interruption
from tests.offline.captures import CaptureWriter

SECONDS: Final = 10.0  # of CPU time: the load of the machine does not count
PATIENCE: Final = 60.0  # seconds on the clock, after which a command hangs
MEGABYTES: Final = 300
STATUSES: Final = (0, 1, 2, 3)
ROOT: Final = Path(__file__).parent.parent
SHARES: Final = {"trace": 60, "capture": 10, "report": 8, "saved": 6, "description": 10, "name": 6}
"""How many of a hundred cases are of which kind."""

MINE: Final = """
from dataclasses import replace

from otf.adapters import inprocess, tcp
from otf.models import coffee
from otf.models.coffee import Machine

bench = replace(coffee.bench(), name="mine", quiescence=0.02, ports={"line": tcp("tcp://127.0.0.1:7000")})
"""


class SlowError(Interruption):
    """A case did not end in time."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Intact files of every kind in a folder; damaged copies go to `work`, results to `out`."""

    folder: Path
    traces: dict[str, bytes]
    capture: bytes
    described: bytes

    @property
    def out(self) -> Path:
        """Return the folder for results."""
        return self.folder / "out"


@dataclass(slots=True)
class Found:
    """The results of the cases."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    slowest: float = 0.0


def ground(folder: Path) -> Ground:
    """Make the intact files, with the tool itself."""
    (folder / "mine.py").write_text(MINE, encoding="utf-8")
    _quietly("run", "coffee", "--set", "fault=dry", "--seed", "1", "--traces", "2", "--steps", "20", "--out", "good")
    _quietly("run", "coffee", "--seed", "2", "--traces", "1", "--steps", "5", "--out", "fine")
    traces = {path.name: path.read_bytes() for path in sorted(folder.glob("*/path-*.jsonl"))}
    file = io.BytesIO()
    writer, client, system = CaptureWriter(file), ("127.0.0.1", 5000), ("127.0.0.1", 7000)
    sent, seen = 1, 1
    for at, out, data in ((1.0, True, b"coin 10\n"), (1.1, True, b"button\n"), (1.2, False, b"coffee\n")):
        writer.tcp(at, *((client, system) if out else (system, client)), sent if out else seen, data)
        sent, seen = sent + out * len(data), seen + (not out) * len(data)
    return Ground(folder, traces, file.getvalue(), b'bench = "coffee"\nquiescence = 0.01\n[set]\nfault = "dry"\n')


def _quietly(*arguments: str) -> None:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        called(arguments)


def case(draw: Random, made: Ground) -> tuple[str, list[str]]:
    """Make a case: its kind, and the command with its arguments."""
    kind = draw.choices([*SHARES], [*SHARES.values()])[0]
    trace = draw.choice([*made.traces.values()])
    out = str(made.out / "result")
    match kind:
        case "capture":
            path = _put(made, "damaged.pcap", damaged(draw, made.capture, CAPTURE))
            return kind, ["replay", path, "--bench", "mine.py", *draw.choice([[], ["--ended"], ["--lost-start"]])]
        case "report":
            _put(made, "report/path-0001.jsonl", damaged(draw, trace, TRACE))
            _put(made, "report/path-0002.jsonl", trace)
            made.out.mkdir()
            return kind, [
                "report",
                str(made.folder / "work" / "report"),
                "--out",
                f"{out}.html",
                "--junit",
                f"{out}.xml",
            ]
        case "saved":
            for kept in (made.folder / "otf-runs" / "failures").glob("coffee-*.jsonl"):
                kept.write_bytes(damaged(draw, trace, TRACE))
            return kind, ["run", "coffee", "--set", "fault=dry", "--traces", "1", "--steps", "2", "--out", out]
        case "description":
            path = _put(made, "mine.toml", damaged(draw, made.described, DESCRIPTION))
            whole = _put(made, "whole.jsonl", trace)
            return kind, [*_reads(draw, whole, out), "--bench", path]
        case "name":
            path = _put(made, name(draw), damaged(draw, trace, TRACE) if draw.random() < 0.5 else trace)  # noqa: PLR2004
            return kind, _reads(draw, path, out)
        case _:
            path = _put(made, "damaged.jsonl", damaged(draw, trace, TRACE))
            bench = draw.choice([[], [], ["--bench", "coffee"]])
            return kind, [*_reads(draw, path, out), *bench]


def _reads(draw: Random, path: str, out: str) -> list[str]:
    command = draw.choice(["replay", "show", "rerun", "shrink"])
    more = {"rerun": ["--out", out], "shrink": ["--out", out, "--budget", "200"]}.get(command, [])
    forms: list[list[str]] = [[], ["--json"]]
    if command == "show":
        forms += [["--chart"], ["--format", "svg"]]
    return [command, *more, *draw.choice(forms), path]


def _put(made: Ground, file: str, data: bytes) -> str:
    path = made.folder / "work" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def here(arguments: Sequence[str], watch: Watch) -> tuple[int, str]:
    """Call a command in this process, watched; return its status and what it printed."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    watch.on = True
    try:
        with redirect_stdout(out), redirect_stderr(out):
            status = called(arguments)
    except SlowError:
        status = -1
        out.write(traceback.format_exc())
    except BaseException as error:  # noqa: BLE001 -- whatever comes out is a finding
        status = -2
        out.write(f"{type(error).__name__}: {error!r}")
    finally:
        watch.on = False
        signal.setitimer(signal.ITIMER_PROF, 0)
    out.flush()
    out.seek(0)
    return status, out.read()


REAL: Final = """
import os, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from benchmarks.watched import Watch
watch = Watch([Path(each) for each in {allowed!r}])
from otf.cli import called
from otf.cli.signals import SIGNALS
SIGNALS.install()
watch.on = True
status = called(sys.argv[1:])
watch.on = False
print(*watch.found, sep="\\n", file=open({found!r}, "a", encoding="utf-8", errors="replace")) if watch.found else None
sys.exit(status)
"""


def there(arguments: Sequence[str], made: Ground, watch: Watch) -> tuple[int, str]:
    """Call the real command, watched from within its process; return its status and what it printed."""
    found = made.folder / "found.txt"
    script = REAL.format(root=str(ROOT), allowed=[str(made.out), str(made.folder / "otf-runs")], found=str(found))
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    call = [sys.executable, "-c", script, *(each.replace("\0", "") for each in arguments)]
    try:
        done = subprocess.run(call, check=False, capture_output=True, timeout=PATIENCE, env=environment)  # noqa: S603 -- our own
    except subprocess.TimeoutExpired:
        return -1, ""
    if found.exists():
        watch.found += found.read_text(encoding="utf-8").splitlines()
        found.unlink()
    return done.returncode, (done.stdout + done.stderr).decode(errors="backslashreplace")


def wrong(status: int, said: str, watch: Watch) -> list[str]:
    """Return the defects of a command's run."""
    found = [f"it {each}" for each in watch.found]
    watch.found.clear()
    if status not in STATUSES:
        found.append("it took too long" if status == -1 else f"status {status}")
    found += [f"it said {word!r}: {said[-600:]!r}" for word in ("Traceback", "defect of otf") if word in said]
    if any(not (char.isprintable() or char == "\n") for char in said):
        found.append(f"it printed what a terminal obeys: {said[:300]!r}")
    return found


def attacked(made: Ground, cases: range, seed: int, watch: Watch, *, real: bool) -> Found:
    """Try cases, by their numbers."""
    found = Found()
    for number in cases:
        shutil.rmtree(made.out, ignore_errors=True)
        kind, arguments = case(Random(f"{seed}/{real}/{number}"), made)
        began = _spent()
        status, said = there(arguments, made, watch) if real else here(arguments, watch)
        found.slowest = max(found.slowest, _spent() - began)
        found.statuses[f"{kind} {status}"] += 1
        what = [f"case {seed}/{real}/{number} ({' '.join(arguments)!r}): {each}" for each in wrong(status, said, watch)]
        found.wrong += what
        print(*what, sep="\n", end="\n" * bool(what), flush=True)
        shutil.rmtree(made.folder / "work", ignore_errors=True)
    return found


def _spent() -> float:
    """Return the CPU seconds of this process and its children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _slow(_number: int, _frame: object) -> None:
    raise SlowError


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, and print the findings; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--real", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case in one process")
    options = parser.parse_args(arguments)
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGPROF, _slow)
    home, load = Path.cwd(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="otf-attack-") as folder:
        os.chdir(folder)
        made = ground(Path(folder))
        watch = Watch([made.out, made.folder / "otf-runs"])
        rows = {
            "in one process": attacked(made, _range(options.first, options.cases), options.seed, watch, real=False),
            "the real command": attacked(made, _range(0, options.real), options.seed, watch, real=True),
        }
        os.chdir(home)
    return _told(rows, load, options.json)


def _range(first: int, number: int) -> range:
    return range(first, first + number)


def _told(rows: dict[str, Found], load: float, file: Path | None) -> int:
    memory = {
        "in one process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "the real command": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }
    for title, found in rows.items():
        statuses = ", ".join(f"{key}: {count}" for key, count in sorted(found.statuses.items()))
        print(f"{title}: {found.statuses.total()} cases, slowest {found.slowest:.1f} s, {memory[title]} MB at most")
        print(f"  {statuses}\n  found: {len(found.wrong)}")
    print(f"load at the start: {load:.1f}")
    if file is not None:
        data = {title: {"statuses": found.statuses, "wrong": found.wrong, "slowest": found.slowest, "mb": memory[title]}
                for title, found in rows.items()}  # fmt: skip
        file.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    over = any(each > MEGABYTES for each in memory.values())
    return int(over or any(found.wrong for found in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
