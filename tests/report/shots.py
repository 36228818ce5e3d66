"""Pictures of reports to look at, in Chromium: `python -m tests.report.shots DIR`.

Wide, narrow and dark; campaigns that pass, that fail in eight ways, that are inconclusive, with times, with several
clients, on a serial line, and with 1,000 paths. No test says whether a page is well made: run this after a change, and
look. Beside each name it prints what a machine sees: remarks in the console, a page that is wider than its window.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.report.browser import Browser, browser
from tests.report.pictures import otf

WIDE: Final = 1280
NARROW: Final = 390
TALLEST: Final = 2_600  # pixels; what is below is cut off
OPEN_ALL: Final = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
FILES: Final = '''"""A file system that is wrong in eight ways; or in its second run only, and never again."""

from dataclasses import make_dataclass

from otf import Bench, Spec, goto, lines
from otf.adapters import inprocess

NAMES = ("Open", "Read", "Write", "Seek", "Lock", "Sync", "List", "Stat")
INPUTS = [make_dataclass(name, [("file", str)], frozen=True)("notes.txt") for name in NAMES]
FIELDS = [("file", str), ("size", int)]
DONE = {each: make_dataclass(f"{type(each).__name__}Done", FIELDS, frozen=True) for each in INPUTS}
CODEC = {type(each): f"{type(each).__name__} {{file}}" for each in INPUTS}
CODEC |= {done: f"{done.__name__} {{file}} {{size}}" for done in DONE.values()}
starts = 0


def step(size, inp):
    yield goto((size + 1) % 7, DONE[inp](inp.file, size))


def start(once):
    global starts
    taken, starts = 0, starts + 1
    wrong = not once or starts == 2

    def act(line):
        nonlocal taken
        name, file = line.decode().split()
        number, taken = NAMES.index(name), taken + 1
        right = not wrong or taken <= number // 2 + 1
        return f"{name}Done {file} {(taken - 1) % 7 if right else 99}".encode() if right or not number % 2 else None

    return act


def bench(once: bool = False):
    wait = 0.001 if once else 0
    times = {"quiescence": 5 * wait, "latency": wait, "busy": wait}
    spec = Spec(step, initial=0, inputs=INPUTS)
    return Bench.on_ports(spec, lines(CODEC), {"line": inprocess(lambda: start(once))}, **times)
'''
RUNS: Final[Mapping[str, tuple[str, ...]]] = {
    "passing": ("conference",),
    "eight": ("files.py", "--traces", "100"),
    "failing": ("conference", "--set", "fault=O7", "--traces", "20"),
    "inconclusive": ("files.py", "--set", "once=true", "--traces", "6"),
    "timed": ("session_device", "--set", "fault=late", "--traces", "4", "--time", "30"),
    "clients": ("jobs", "--traces", "4"),
    "irc": ("irc", "--traces", "3", "--time", "30"),
    "serial": ("modbus", "--traces", "2"),
    "thousand": ("coffee", "--traces", "1000", "--steps", "20", "--set", "fault=free"),
}


@dataclass(frozen=True)
class Shot:
    """A picture: of which campaign, how wide, in which theme, at which part, after which script."""

    run: str
    what: str = "report"
    width: int = WIDE
    dark: bool = False
    at: str = ""
    script: str = ""

    @property
    def name(self) -> str:
        """Return the name of the picture."""
        return f"{self.run}-{self.what}-{self.width}{'-dark' if self.dark else ''}"


SHOTS: Final = (
    Shot("passing"),
    Shot("passing", dark=True),
    Shot("passing", width=NARROW),
    Shot("eight"),
    Shot("eight", "opened", script=OPEN_ALL),
    Shot("eight", "opened", width=NARROW, dark=True, script=OPEN_ALL),
    Shot("eight", "viewer", at="FIRST"),
    Shot("eight", "viewer", width=NARROW, at="FIRST"),
    Shot("failing", dark=True),
    Shot("failing", "viewer", dark=True, at="FIRST"),
    Shot("failing", "scaled", at="FIRST", script="document.getElementById('scale').click()"),
    Shot("inconclusive"),
    Shot("timed"),
    Shot("timed", "viewer", at="FIRST"),
    Shot("timed", "viewer", width=NARROW, dark=True, at="FIRST"),
    Shot("clients", "viewer", at="#path-1/step-9"),
    Shot("irc", "states", at="#states"),
    Shot("serial", "viewer", at="#path-1/step-5"),
    Shot("thousand", "paths", at="#paths"),
    Shot("thousand", "report", width=NARROW, dark=True),
)
"""`FIRST` is the first path in the page: that of the first failure."""


def take(seen: Browser, shot: Shot, report: Path, folder: Path) -> str:
    """Take a picture, and return what is to be remarked about it."""
    seen.size(shot.width, dark=shot.dark)
    seen.open(report)
    at = f"#{seen.ask('embedded[0]?.name')}" if shot.at == "FIRST" else shot.at
    # a viewer is drawn after its path was unpacked
    drawn = "document.querySelector('#chart svg')" if at.startswith("#path-") else "true"
    seen.open(report, at, drawn)
    if shot.script:
        seen.ask(f"(() => {{ {shot.script} }})()")
    seen.ask("new Promise(done => setTimeout(done, 200))")
    part = shot.at if shot.at in {"#states", "#paths"} else ""
    top = seen.ask(f"document.querySelector('{part}').getBoundingClientRect().top + scrollY") if part else 0
    tall = min(TALLEST, seen.ask("document.documentElement.scrollHeight") - top)
    seen.picture(folder / f"{shot.name}.png", shot.width, max(int(tall), 1), top)
    wide = seen.ask("document.documentElement.scrollWidth")
    return "; ".join([*seen.console, *([f"{wide} pixels wide"] if wide > shot.width else [])])


def main() -> None:
    """Run the campaigns, report each, and take all pictures into the folder that was named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, browser(Path(temporary) / "profile") as seen:
        here = Path(temporary)
        (here / "files.py").write_text(FILES, encoding="utf-8")
        for name, arguments in RUNS.items():
            otf(here, "run", *arguments, "--seed", "5", "--no-saved", "--out", name)
            given = ("--bench", *arguments[: arguments.index("--traces")]) if arguments[0] == "files.py" else ()
            otf(here, "report", name, *given)
        for shot in SHOTS:
            report = here / shot.run / "report.html"
            said = take(seen, shot, report, folder) if report.exists() else "no report: is the system installed?"
            sys.stdout.write(f"{shot.name}: {said or 'nothing to remark'}\n")


if __name__ == "__main__":
    main()
