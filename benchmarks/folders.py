"""Folders of campaigns that were edited or interrupted: `python -m benchmarks.folders --edits 1000 --stops 1000`.

Each case is a copy of a campaign's folder whose journal is edited at random (lines doubled, cut, swapped, changed, of
another campaign; with digests that fit each other or not), or a campaign that is killed at a random moment or has no
room left on its disk. `otf run --resume` goes on with it, in a fork of this process. A finding is a pass of a faulty
system, a pass without a passing trace for each path that it counts, a failure of a correct one, a traceback; and of a
campaign that was only interrupted any other result than that of one that was not.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, Final, NoReturn, TypeAlias

import msgspec

from benchmarks.damage import cut, field, flipped, grown
from benchmarks.measure import command, save
from otf.campaign.journal_reader import Past
from otf.cli import called
from otf.cli.benches import load
from otf.offline import judge
from otf.trace.reading import TraceReader
from otf.trace.record import LineChain

Edit: TypeAlias = Callable[[Random, list[bytes], list[bytes]], list[bytes]]

PATHS: Final = 6
BENCH: Final = '''\
"""A coffee machine in the same process."""

from otf import Bench, trace_may_set
from otf.models.coffee import Button, Coffee, Machine, coffee


@trace_may_set(fault=("none", "free"))
def bench(*, fault: str = "none") -> Bench:
    """Return the bench."""

    def system():
        machine = Machine(fault)

        def act(inp):
            line = b"button" if isinstance(inp, Button) else b"coin %d" % inp.cents
            return [Coffee()] if machine.take(line) else []

        return act

    return Bench.in_process(
        coffee, system, name="coffee", types=(Coffee,), inputs="mixed", parameters={"fault": fault}
    )
'''
FAULTS: Final = ("none", "free")
KINDS: Final = tuple((fault, keep) for fault in FAULTS for keep in ("all", "failures"))


def otf(folder: Path, *words: object, room: int | None = None) -> int:
    """Start the command in a fork, in a folder; return its process. `room`: the bytes that a file may have."""
    return os.fork() or _run(folder, [*map(str, words)], room)


def _run(folder: Path, words: list[str], room: int | None) -> NoReturn:
    status = 99
    try:
        os.chdir(folder)
        with (folder / "said").open("wb") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        if room is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        status = called(words)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def ended(pid: int) -> int:
    """Return the status of a process; -9 if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def call(fault: str, keep: str, seed: int = 3) -> tuple[object, ...]:
    """Return the command of a campaign."""
    set_up = ("run", "machine.py:bench", "--set", f"fault={fault}", "--seed", seed, "--traces", PATHS, "--steps", 12)
    return (*set_up, "--keep", keep, "--no-saved", "--no-shrink", "--json")


def again(fault: str) -> tuple[object, ...]:
    """Return the command that continues one."""
    return ("run", "machine.py:bench", "--set", f"fault={fault}", "--resume", "out", "--json")


def doubled(draw: Random, lines: list[bytes], _other: list[bytes]) -> list[bytes]:
    """Write a line twice."""
    at = draw.randrange(len(lines))
    return [*lines[: at + 1], lines[at], *lines[at + 1 :]]


def left_out(draw: Random, lines: list[bytes], _other: list[bytes]) -> list[bytes]:
    """Leave lines out."""
    first, last = sorted(draw.randrange(len(lines) + 1) for _ in range(2))
    return [*lines[:first], *lines[last:]]


def swapped(draw: Random, lines: list[bytes], _other: list[bytes]) -> list[bytes]:
    """Change the order of some lines."""
    found = [*lines]
    for _ in range(draw.randint(1, 4)):
        one, other = draw.randrange(len(found)), draw.randrange(len(found))
        found[one], found[other] = found[other], found[one]
    return found


def foreign(draw: Random, lines: list[bytes], other: list[bytes]) -> list[bytes]:
    """Put lines of another campaign in, or take its journal instead."""
    if not draw.randrange(3):
        return [*other]
    found = [*lines]
    for _ in range(draw.randint(1, 6)):
        found.insert(draw.randrange(len(found) + 1), draw.choice(other))
    return found


def damaged(draw: Random, lines: list[bytes], _other: list[bytes]) -> list[bytes]:
    """Change bytes or fields."""
    kind = draw.choice((flipped, cut, field, field, field, grown))
    return kind(draw, b"".join(lines)).splitlines(keepends=True)


PASSES: Final[dict[str, Any]] = {"verdict": "pass", "signature": "", "exact": "", "known_issue": "", "why": ""}
NUMBERS: Final = (-5, -1, 0, 1, 2, 3, 7, 999, 900_000_000_000, 3_000_000_000, 2**63)


def passing(draw: Random, lines: list[bytes], _other: list[bytes]) -> list[bytes]:
    """Have counted paths pass, as somebody would who wants a green campaign."""
    found, digests = list[bytes](), draw.choice(("same", "none", "wrong"))
    for text in lines:
        line = json.loads(text)
        if line["event"] == "path counted":
            line |= PASSES
            line["digests"] = {} if digests == "none" else line["digests"]
            if digests == "wrong":
                line["digests"] = dict.fromkeys(line["digests"], "0" * 32)
            if not draw.randrange(4):
                line[draw.choice(("path", "steps", "late", "malformed"))] = draw.choice(NUMBERS)
            if not draw.randrange(4):
                line["trace"] = f"path-{draw.randint(1, PATHS):04}.jsonl"
        elif "about" in line and not draw.randrange(2):
            line["about"]["options"]["keep"] = "failures"
            if not draw.randrange(3):
                line["about"]["traces"] = draw.choice(NUMBERS)
        found.append(msgspec.json.encode(line) + b"\n")
    return found


EDITS: Final[tuple[Edit, ...]] = (doubled, left_out, swapped, foreign, damaged, passing, passing)


def linked(lines: Sequence[bytes]) -> bytes:
    """Return lines of which each has the digest of the one before, as far as they are JSON."""
    chain, text = LineChain(), b""
    for each in lines:
        try:
            line = json.loads(each)
            line.pop("after", None)
            written = chain.link(msgspec.json.encode(line) + b"\n")
        except (ValueError, AttributeError, RecursionError, msgspec.MsgspecError):
            written = each
        chain.take(written)
        text += written
    return text


def shown(folder: Path) -> int:
    """Return how many whole traces of paths there are that pass by their last lines and by the model."""
    bench, number = load(f"{folder.parent / 'machine.py'}:bench", {}), 0
    for file in folder.glob("path-????.jsonl"):
        with file.open("rb") as lines:
            found = judge(TraceReader(lines, str(file)), bench)
        number += found.verdict.outcome == found.recorded == "pass" and not found.doubt
    return number


def wrong(folder: Path, fault: str, status: int) -> str:
    """Return what is wrong with the end of a campaign; "" if nothing is."""
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    if "Traceback" in said or "defect of otf" in said or status not in {0, 1, 2, 3}:
        return f"it ended with {status}: {said[-600:]}"
    if status == 1 and fault == "none":
        return "a correct system failed"
    if status:
        return ""
    found = document(said)
    if fault != "none":
        return "a faulty system passed"
    # an edit may have the campaign drop traces: then those that it drove now are gone, too
    known = shown(folder / "out") + dropped(folder / "out")
    if found["passed"] - found["not_shown"] > known or found["passed"] == found["not_shown"]:
        return f"{found['passed']} paths passed, {found['not_shown']} are not shown, traces: {known}"
    return ""


def document(said: str) -> Any:
    """Return the document of a command; a long one told its progress before."""
    return json.loads(said[said.index("{\n") :])


def dropped(folder: Path) -> int:
    """Return how many paths counted since the campaign continued, and have no trace."""
    now = (folder / "campaign.jsonl").read_bytes().rpartition(b'"campaign started"')[2].splitlines()
    lines = [json.loads(line) for line in now if b'"path counted"' in line]
    return sum(not (folder / line["trace"]).exists() for line in lines)


def edited(base: Path, folder: Path, draw: Random) -> tuple[str, str]:
    """Edit a journal at random, and continue; return what happened, and what is wrong with it."""
    fault, keep = draw.choice(KINDS)
    shutil.copytree(base / f"{fault}-{keep}", folder)
    others = [each for each in KINDS if each != (fault, keep)]
    journal, other = folder / "out" / "campaign.jsonl", base / "-".join(draw.choice(others)) / "out" / "campaign.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    kinds = [draw.choice(EDITS) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
    # what reads JSON comes first, before others damage it
    for kind in sorted(kinds, key=lambda kind: kind is not passing):
        lines = kind(draw, lines or [b"\n"], other.read_bytes().splitlines(keepends=True))
    links = draw.random() < 0.5  # noqa: PLR2004 -- every other one
    journal.write_bytes(linked(lines) if links else b"".join(lines))
    status = ended(otf(folder, *again(fault)))
    finding = wrong(folder, fault, status)
    names = "+".join(kind.__name__ for kind in kinds)
    return f"edited, {fault}: status {status}", finding and f"{fault}, {keep}, {names}, linked {links}: {finding}"


def interrupted(base: Path, folder: Path, draw: Random) -> tuple[str, str]:  # noqa: PLR0915 -- one story
    """Interrupt a campaign at random, and continue; return what happened, and what is wrong with it."""
    fault, keep = draw.choice(KINDS)
    whole = base / f"{fault}-{keep}"
    folder.mkdir()
    (folder / "machine.py").write_text(BENCH, encoding="utf-8")
    words: tuple[object, ...] = (*call(fault, keep), "--out", "out")
    for _ in range(draw.choice((1, 1, 2))):
        how = draw.choice(("killed", "killed", "no room"))
        seconds = float((whole / "seconds").read_text(encoding="utf-8"))
        if how == "killed":
            pid = otf(folder, *words)
            sleep(draw.uniform(0, 0.9 * seconds))
            os.kill(pid, signal.SIGKILL)
            ended(pid)
        else:
            ended(otf(folder, *words, room=draw.randrange(12_000)))
        if Past(folder / "out").about is not None:
            words = again(fault)
        else:
            shutil.rmtree(folder / "out", ignore_errors=True)  # nothing was begun: it begins anew
    had_ended = Past(folder / "out").completed
    unshown = keep == "failures" and fault == "none"
    status = ended(otf(folder, *words))
    finding = wrong(folder, fault, status)
    expected = {1} if fault != "none" else {3} if had_ended else {0, 3} if unshown else {0}
    if not finding and status not in expected:
        finding = f"status {status}, not {expected}: {(folder / 'said').read_text(encoding='utf-8')[-900:]}"
    if not finding and status < 2:  # noqa: PLR2004 -- a verdict
        told = [document((each / "said").read_text(encoding="utf-8")) for each in (whole, folder)]
        finding = _differs(told[0], told[1])
    when = "after its end" if had_ended else how if words[1:] and "--resume" in words else "before its start"
    return (
        f"interrupted ({when}), {fault}, keep {keep}: status {status}",
        finding and f"{fault}, {keep}, {how}: {finding}",
    )


def _differs(one: dict[str, Any], other: dict[str, Any]) -> str:
    for name in ("verdict", "paths", "steps", "passed", "truncated"):
        if one[name] != other[name]:
            return f"{name} {other[name]}, not {one[name]}"
    counts = [sorted((each["signature"], each["count"]) for each in found["failures"]) for found in (one, other)]
    return "" if counts[0] == counts[1] else f"failures {counts[1]}, not {counts[0]}"


def prepared(base: Path) -> None:
    """Run one campaign of each kind to its end; one in this process first, whose imports all forks have then."""
    with redirect_stdout(StringIO()):
        called(["run", "coffee", "--traces", "1", "--steps", "3", "--no-saved", "--json", "--out", str(base / "first")])
    for at, (fault, keep) in enumerate(KINDS):
        folder = base / f"{fault}-{keep}"
        folder.mkdir()
        (folder / "machine.py").write_text(BENCH, encoding="utf-8")
        began = monotonic()
        status = ended(otf(folder, *call(fault, keep), "--out", "out"))
        (folder / "seconds").write_text(str(monotonic() - began), encoding="utf-8")
        if status != FAULTS.index(fault):
            raise RuntimeError(at, status, (folder / "said").read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how often each end came, and the findings."""
    parser = command("folders", __doc__)
    parser.add_argument("--edits", type=int, default=1000, help="how many journals are edited")
    parser.add_argument("--stops", type=int, default=1000, help="how many campaigns are interrupted")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    sys.setrecursionlimit(10_000)
    draw, began, load = Random(chosen.seed), monotonic(), os.getloadavg()[0]
    ends, findings = Counter[str](), list[str]()
    with TemporaryDirectory() as name:
        base = Path(name)
        prepared(base)
        for number in range(chosen.edits + chosen.stops):
            case, folder = edited if number < chosen.edits else interrupted, base / f"case-{number}"
            end, finding = case(base, folder, Random(draw.random()))
            ends[end] += 1
            if finding:
                findings.append(f"{number}: {finding}")
                print(findings[-1], flush=True)
            shutil.rmtree(folder)
    for end, times in sorted(ends.items()):
        print(f"{times:6,}  {end}")
    about = {"altered": len(findings), "seconds": round(monotonic() - began), "load": [load, os.getloadavg()[0]]}
    print(about)
    save({**about, "ends": dict(ends), "what": findings}, chosen.json)


if __name__ == "__main__":
    main()
