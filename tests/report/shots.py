"""Pictures of reports to look at, in Chromium: `python -m tests.report.shots DIR`.

Wide, narrow and dark; campaigns that pass, that fail in eight ways, that are inconclusive, with times, with several
clients, on a serial line, and with 1,000 paths; the page of a running campaign, models to walk in, two campaigns
compared, and the site. No test says whether a page is well made: run this after a change, and look. Beside each name it
prints what a machine sees: remarks in the console, a page that is wider than its window. Names after DIR take only the
pictures whose names begin with one of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.report.browser import Browser, browser
from tests.report.pictures import otf

WIDE: Final = 1280
NARROW: Final = 390
SETTLED: Final = 300  # milliseconds after which a page does not move any more
TALLEST: Final = 2_600  # pixels; what is below is cut off
DRAW_ALL: Final = """const view = document.getElementById('states-view');
view.value = 'everything'; view.dispatchEvent(new Event('change'))"""
SEARCH: Final = """document.querySelector('[data-md-toggle=search]').checked = true;
const field = document.querySelector('[data-md-component=search-query]');
field.focus(); field.value = 'flaky'; field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }))"""
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
PAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "large": ("explore", "jobs", "--limit", "500"),
    "small": ("explore", "conference"),
    "compared": ("compare", "passing", "failing"),
}
"""Commands that write a page of their own, in this order after the campaigns."""
LIVE: Final = ("conference", "--set", "fault=O7", "--traces", "1000", "--time", "120", "--seed", "5")
SITE: Final = ("index", "reference/adapter", "findings", "gallery", "commands")


@dataclass(frozen=True)
class Shot:
    """A picture: of which campaign or page, how wide, in which theme, at which part, after which script."""

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
    *(each for name in ("live", "compared") for each in (Shot(name), Shot(name, dark=True), Shot(name, width=NARROW))),
    *(each for name in ("large", "small") for each in (Shot(name), Shot(name, dark=True), Shot(name, width=NARROW))),
    Shot("large", "everything", script=DRAW_ALL),
    Shot("large", "everything", width=NARROW, script=DRAW_ALL),
    *(Shot("site", each.rpartition("/")[2], width) for each in SITE for width in (WIDE, NARROW)),
    *(Shot("site", each.rpartition("/")[2], dark=True) for each in SITE),
    *(Shot("site", "search", width, script=SEARCH) for width in (WIDE, NARROW)),
)
"""`FIRST` is the first path in the page: that of the first failure."""


def take(seen: Browser, shot: Shot, page: Path, folder: Path) -> str:
    """Take a picture, and return what is to be remarked about it."""
    seen.size(shot.width, dark=shot.dark)
    seen.open(page)
    seen.ask("localStorage.clear()")  # a page of the site remembers the theme that it was opened in
    at = f"#{seen.ask('embedded[0]?.name')}" if shot.at == "FIRST" else shot.at
    # a viewer is drawn after its path was unpacked
    drawn = "document.querySelector('#chart svg')" if at.startswith("#path-") else "true"
    seen.open(page, at, drawn)
    if shot.script:
        seen.ask(f"(() => {{ {shot.script} }})()")
    if shot.what == "search":
        seen.until("document.querySelector('.md-search-result__link')")
    seen.ask(f"new Promise(done => setTimeout(done, {SETTLED}))")
    part = shot.at if shot.at in {"#states", "#paths"} else ""
    top = seen.ask(f"document.querySelector('{part}').getBoundingClientRect().top + scrollY") if part else 0
    tall = min(TALLEST, seen.ask("document.documentElement.scrollHeight") - top)
    seen.picture(folder / f"{shot.name}.png", shot.width, max(int(tall), 1), top)
    wide = seen.ask("document.documentElement.scrollWidth")
    return "; ".join([*seen.console, *([f"{wide} pixels wide"] if wide > shot.width else [])])


def campaign(here: Path, name: str) -> Path:
    """Run a campaign, and return its report."""
    arguments = RUNS[name]
    if not (here / name).exists():
        otf(here, "run", *arguments, "--seed", "5", "--no-saved", "--out", name)
        given = ("--bench", *arguments[: arguments.index("--traces")]) if arguments[0] == "files.py" else ()
        otf(here, "report", name, *given)
    return here / name / "report.html"


def command(here: Path, name: str) -> Path:
    """Call a command that writes a page, after the campaigns that it reads, and return the page."""
    page = here / f"{name}.html"
    for each in RUNS.keys() & set(PAGES[name]):
        campaign(here, each)
    if not page.exists():
        otf(here, *PAGES[name], "--page", page)
    return page


def site(here: Path, what: str) -> Path:
    """Build the site, and return the page of this name."""
    page = "index" if what == "search" else next(each for each in SITE if each.endswith(what))
    if not (here / "site").exists():
        build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(here / "site")]
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        subprocess.run(build, cwd=Path(__file__).parents[2], env=quiet, check=True)
    return here / "site" / f"{page}.html"


@contextmanager
def running(here: Path) -> Generator[Path]:
    """Yield the page of a campaign that runs, as it is after its first failure."""
    page = here / "live.html"
    command = [str(Path(sys.executable).with_name("otf")), "run", *LIVE, "--page", str(page), "--out", "live"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None and not (page.exists() and '"kinds": 1' in page.read_text(encoding="utf-8")):
            time.sleep(0.1)
        try:
            yield page
        finally:
            child.send_signal(signal.SIGINT)


def page_of(here: Path, shot: Shot) -> Path:
    """Return the page of a picture; what it needs is run before, once."""
    if shot.run == "site":
        return site(here, shot.what)
    return command(here, shot.run) if shot.run in PAGES else campaign(here, shot.run)


def look(seen: Browser, shot: Shot, page: Path, folder: Path) -> None:
    """Take a picture of a page, if there is one, and print what a machine sees."""
    said = take(seen, shot, page, folder) if page.exists() else "no page: is the system installed?"
    sys.stdout.write(f"{shot.name}: {said or 'nothing to remark'}\n")


def main(arguments: Sequence[str]) -> None:
    """Take the pictures into the folder that was named."""
    folder, *names = arguments
    wanted = [each for each in SHOTS if each.name.startswith(tuple(names or ("",)))]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, browser(Path(temporary) / "profile") as seen:
        here = Path(temporary)
        (here / "files.py").write_text(FILES, encoding="utf-8")
        for shot in wanted:
            if shot.run != "live":
                look(seen, shot, page_of(here, shot), Path(folder))
        if live := [each for each in wanted if each.run == "live"]:
            with running(here) as page:
                for shot in live:
                    look(seen, shot, page, Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
